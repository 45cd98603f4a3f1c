// Memory that outlives its program: made once by a function, kept by the keeper, and opened by name by
// whoever asks for the same next.

import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { canBeShared } from "../memory/virtual_memory.ts";
import { requireNoCapture } from "../order/capture.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";
import { visibleText } from "../words/format.ts";
import { CALLBACK, FLAG, OptionSet, requireKind, SIGNAL, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import type { Persistable } from "./contents.ts";
import { KeeperConnection } from "./keeper_connection.ts";
import type { KeptFacts } from "./keeper_words.ts";
import { makeKept, namesBeingMade, type PersistRequest } from "./making.ts";
import { knownHere, openKept, type OpenPersisted } from "./open_persisted.ts";
import { differenceFrom, originWords, type PersistOrigin } from "./origin.ts";
import { PersistError, refusalOf } from "./persist_error.ts";
import { PersistedTable } from "./persisted_table.ts";
import { Persistence } from "./persistence.ts";
import { readText } from "./state_page.ts";

/** Options for {@link CudaDevice.persist}. */
export interface PersistOptions {
  /** The program's own key: a name that was made with another one is not opened. */
  readonly key?: string | undefined;
  /** Makes it anew, whatever is there under that name. */
  readonly replace?: boolean | undefined;
  /**
   * Moves memory that the function allocated elsewhere, buffer by buffer; without this it is refused.
   */
  readonly move?: boolean | undefined;
  /** Ends the wait for another program that makes the same name. */
  readonly signal?: AbortSignal | undefined;
}

const PERSIST_OPTIONS = new OptionSet<PersistOptions>({
  key: TEXT,
  replace: FLAG,
  move: FLAG,
  signal: SIGNAL,
});

/** The longest wait for the end of a process that was killed while it had memory open. */
const ENDING_MILLISECONDS = 60_000;

/**
 * Opens what is persisted under a name, or makes it.
 *
 * @throws PersistError when it is of another origin, of a kind that cannot be persisted, or there can be no
 *   keeper.
 */
export async function persistMemory(
  context: Context,
  { name, make, resources }: PersistRequest,
  options: PersistOptions,
): Promise<Persistable> {
  options = PERSIST_OPTIONS.read(options, "persist");
  requireKind(name, TEXT, "persist");
  requireKind(make, CALLBACK, "persist");
  requireNoCapture("persist memory");
  requireShareable(context);
  if (namesBeingMade().has(name)) {
    const call = `persist("${visibleText(name)}")`;
    throw new TypeError(
      `Cannot call ${call} in the function that makes it: give one of the two another name`,
    );
  }
  const turns = turnsOf.getOrInsertComputed(context, () => new Map());
  const turn = (turns.get(name) ?? Promise.resolve()).then(() => {
    return persistNow(context, { name, make, resources }, options);
  });
  const over = turn.then(() => {}, () => {});
  turns.set(name, over);
  try {
    return await turn;
  } finally {
    if (turns.get(name) === over) turns.delete(name);
  }
}

/** The calls for each name, one after another: the second returns what the first has made. */
const turnsOf = new WeakMap<Context, Map<string, Promise<void>>>();

async function persistNow(
  context: Context,
  { name, make, resources }: PersistRequest,
  options: PersistOptions,
): Promise<Persistable> {
  const { key, replace = false, move = false, signal } = options;
  const known = replace ? undefined : knownHere(context, name);
  if (known !== undefined && await isListed(known.open)) {
    requireOrigin(name, known.open.persistence, key);
    return known.value as Persistable;
  }
  const device = deviceUuid(context);
  const connection = await KeeperConnection.open(signal);
  using undo = new DisposableStack();
  undo.use(connection);
  connection.tell({ op: "want", name, device, anew: replace });
  let answer = await connection.hear({ signal });
  while (answer.state === "making" || answer.state === "ending") {
    const late = answer.state === "ending" ? stillEnding(name, answer.pids) : undefined;
    const patience = late === undefined ? Infinity : ENDING_MILLISECONDS;
    answer = await connection.hear({ signal, patience, late });
  }
  if (answer.state === "there" && answer.facts !== undefined) {
    const { facts, slot = 0, descriptors } = answer;
    requireOrigin(name, JSON.parse(facts.origin), key);
    try {
      const opened = await openKept(context, connection, { facts, slot, descriptors });
      undo.move(); // the connection lasts as long as the memory is open
      return opened;
    } finally {
      descriptors.forEach(closeDescriptor);
    }
  }
  if (answer.state !== "make") throw refusalOf(name, answer);
  const made = await makeKept(context, connection, { name, make, resources, key, move });
  undo.move();
  return made;
}

/** Lists what is persisted on a device, oldest first; on all devices without one. */
export async function listPersisted(device?: string): Promise<readonly Persistence[]> {
  using connection = await KeeperConnection.find();
  if (connection === undefined) return [];
  const { descriptors: [list = -1] } = await connection.ask({ op: "list" });
  try {
    const facts: readonly KeptFacts[] = JSON.parse(readText(list));
    return facts.filter((each) => device === undefined || each.device === device)
      .map((each) => new Persistence(new Parts({ facts: each, wasThere: true })));
  } finally {
    closeDescriptor(list);
  }
}

/** Lists what is persisted as a table, on one device or on all. */
export async function persistedTable(device?: string): Promise<PersistedTable> {
  return new PersistedTable(new Parts(await listPersisted(device)));
}

/** Gives a name up: its memory is freed when the last program lets go. Returns whether there was one. */
export async function forgetPersisted(
  { name, device }: { readonly name: string; readonly device: string },
): Promise<boolean> {
  using connection = await KeeperConnection.find();
  const answer = await connection?.ask({ op: "forget", name, device });
  return answer?.found === true;
}

/** Returns whether the keeper still has what this program has open. */
async function isListed({ connection }: OpenPersisted): Promise<boolean> {
  try {
    return (await connection.ask({ op: "check" })).found === true;
  } catch (error) {
    if (error instanceof PersistError) return false; // the keeper is gone
    throw error;
  }
}

function requireShareable(context: Context): void {
  if (Deno.build.os === "linux" && canBeShared(context)) return;
  const needs = "that needs Linux, and a driver that passes memory by file descriptors";
  throw new PersistError(
    "unsupported",
    `Cannot persist memory of device ${context.ordinal}: ${needs}`,
  );
}

function requireOrigin(name: string, origin: PersistOrigin, key: string | undefined): void {
  const difference = differenceFrom(origin, { key });
  if (difference === undefined) return;
  const made = `"${visibleText(name)}", made of ${originWords(origin)}`;
  const fix = "pass { replace: true } to make it anew, or use another name";
  throw new PersistError("origin", `Cannot open ${made}: ${difference}; ${fix}`);
}

function stillEnding(name: string, pids: readonly number[] = []): PersistError {
  const words =
    `process ${pids.join(", ")}, which had it open, let go without a word and still runs, so ` +
    "that its work may not be over; end it";
  return new PersistError("ending", `Cannot open "${visibleText(name)}": ${words}`);
}
