// Makes up random sequences of driver calls, with arguments that are mostly right: the same seed and
// number give the same sequence, as long as moves and simulated driver stay as they are.

import { Random } from "../random.ts";
import { Draft, NothingFits } from "./draft.ts";
import { COPY_MOVES } from "./moves/copies.ts";
import { MEMORY_MOVES } from "./moves/memory.ts";
import type { Chain, Move, WeightedMoves } from "./moves/move.ts";
import { PEER_MOVES } from "./moves/peers.ts";
import { QUEUE_MOVES } from "./moves/queues.ts";
import { SPACE_MOVES } from "./moves/spaces.ts";
import type { Sequence } from "./notation.ts";
import { type MachineFacts, simulate } from "./simulation.ts";

/** Moves by how often each is in the list. */
const MOVES = spread([...MEMORY_MOVES, ...COPY_MOVES, ...QUEUE_MOVES, ...SPACE_MOVES]);
const MOVES_OF_TWO = [...MOVES, ...spread(PEER_MOVES)];

function spread(moves: WeightedMoves): readonly Move[] {
  return moves.flatMap(([weight, move]) => Array.from({ length: weight }, () => move));
}

/** Moves of a sequence, before what it has made is looked at. */
const MIN_MOVES = 6;
const MAX_MOVES = 24;
/** Blocks whose bytes are looked at in the end, and how many bytes of each. */
const MAX_LOOKS = 6;
const LOOK_BYTES = 64;

/** One sequence in so many stays that ends where the simulated driver finds a race, or its like. */
const BROKEN_SHARE = 15;

/** Makes up the sequence of a seed and a number. */
export async function generate(
  facts: MachineFacts,
  { seed, number }: { seed: number; number: number },
): Promise<Sequence> {
  const random = new Random(Math.imul(seed, 0x9e3779b1) + Math.imul(number, 0x85ebca6b));
  // The first numbers of neighbouring seeds are alike, and so are thrown away.
  for (let i = 0; i < 8; i++) random.below(2);
  let draft = await write(facts, random);
  while (draft.isSpoiled || (draft.isBroken && random.below(BROKEN_SHARE) > 0)) {
    draft = await write(facts, random);
  }
  return { id: `random ${seed}.${number}`, isFresh: false, lines: draft.lines };
}

async function write(facts: MachineFacts, random: Random): Promise<Draft> {
  const player = simulate(facts, { isFresh: false });
  const draft = new Draft(player, { random, deviceCount: facts.devices });
  await takeMove(draft, () => `cuStreamCreateWithPriority &${draft.name("s")} 1 0`);
  const moveCount = MIN_MOVES + random.below(MAX_MOVES - MIN_MOVES);
  for (let count = 0; count < moveCount && !draft.isOver; count++) {
    const move = random.pick(facts.devices > 1 ? MOVES_OF_TWO : MOVES);
    if (move !== undefined) await takeMove(draft, move);
  }
  await lookAtAll(draft);
  return draft;
}

async function takeMove(draft: Draft, move: Move): Promise<void> {
  for (const chain of chainsOf(draft, move)) {
    for (const line of chain) if (!await draft.add(line)) break;
  }
}

function chainsOf(draft: Draft, move: Move): readonly Chain[] {
  try {
    const made = move(draft) ?? [];
    if (typeof made === "string") return [[made]];
    return isChain(made) ? [made] : made;
  } catch (error) {
    if (error instanceof NothingFits) return [];
    throw error;
  }
}

function isChain(made: Chain | readonly Chain[]): made is Chain {
  return typeof made[0] === "string";
}

/** Ends what is open, waits for all work, and looks at bytes of what was made. */
async function lookAtAll(draft: Draft): Promise<void> {
  for (const { origin } of [...draft.world.captures]) {
    await draft.add(`cuStreamEndCapture ${origin} &${draft.name("g")}`);
  }
  await draft.add("cuCtxSetCurrent ctx0");
  await draft.add("settle");
  const blocks = draft.world.alive("device", "pooled", "pinned", "managed").slice(-MAX_LOOKS);
  for (const block of blocks) {
    const array = draft.name("h");
    const { name, byteLength } = block;
    const part = draft.part({ word: name, byteLength }, LOOK_BYTES);
    await draft.add(`array ${array} ${part.byteLength}`);
    const copy = `cuMemcpyAsync ${array} ${part.word} ${part.byteLength} 0`;
    if (!await draft.add(copy)) continue;
    await draft.add("settle");
    await draft.add(`look ${array} ${part.byteLength}`);
  }
}
