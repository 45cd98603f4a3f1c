// What must not be asked of a real driver, because it is undefined there: a graph over memory that is
// gone, memory that a graph has still to bring, an unmapped range, a look at memory in use.

import type { DriverFunction } from "../../../ffi/cuda.ts";
import { FUNCTIONS, type ThingKind } from "./functions.ts";
import { namesIn, parseReference, type Step } from "./notation.ts";
import { bytesAt, type CaptureNotes, type World } from "./world.ts";

/** Calls that say something of an address and do not touch what lies there. */
const ASKING: ReadonlySet<string> = new Set(
  [
    "cuPointerGetAttribute",
    "cuMemGetAddressRange_v2",
    "cuMemHostGetFlags",
    "cuMemHostGetDevicePointer_v2",
    "cuMemFree_v2",
    "cuMemFreeAsync",
  ] satisfies DriverFunction[],
);

/** Calls that must meet memory or a module in peace. */
const ALONE: ReadonlySet<string> = new Set(
  [
    "cuMemUnmap",
    "cuMemFreeHost",
    "cuMemHostUnregister",
    "cuModuleUnload",
  ] satisfies DriverFunction[],
);

/** The kinds of things that work uses, and that a graph of it uses, too. */
const USED: ReadonlySet<ThingKind> = new Set(
  ["device", "pooled", "pinned", "managed", "array", "reservation", "function"] as const,
);

/** Says why a step must not be made; undefined when it is safe. */
export function dangerOf({ call, words }: Step, world: World): string | undefined {
  const names = words.flatMap(namesIn);
  const isUnsettled = !world.isQuiet && (ALONE.has(call) || call === "look" || call === "poke");
  if (isUnsettled) return "work may be running";
  const isFree = call === "cuMemFreeAsync" || call === "cuMemFree_v2";
  if (isFree && isFreedByStream(words[0] ?? "", world)) return "a stream has freed it";
  if (call === "settle" && world.captures.size > 0) return "a stream is being captured";
  if (call === "cuDevicePrimaryCtxRelease_v2") return releaseDanger(Number(words[0]), world);
  if (call === "cuStreamDestroy_v2" && world.captureOf(words[0] ?? "") !== undefined) {
    return "the stream is being captured";
  }
  if (call === "cuStreamWaitValue32_v2") return waitDanger(words, world);
  if (/^cuGraph(InstantiateWithFlags|Launch|ExecUpdate_v2)$/.test(call)) {
    return graphDanger(names, world);
  }
  return ASKING.has(call) ? undefined : absenceDanger(call as DriverFunction, words, world);
}

/** The driver does not notice that a stream has freed memory of no pool already, and frees it twice. */
function isFreedByStream(word: string, world: World): boolean {
  const { name = "", isGone = false } = parseReference(word) ?? {};
  const isPlain = world.things.get(name)?.kind === "device";
  return isGone && isPlain && world.freedByStreams.has(name);
}

/** A wait for a value must end by itself: the host sees now that the word fits. */
function waitDanger(words: readonly string[], world: World): string | undefined {
  const [, place = "", value = "0", flags = "0"] = words;
  const { name, offset } = parseReference(place) ?? { name: "", offset: 0 };
  const thing = world.find(name);
  if (thing?.kind !== "pinned" || offset % 4 !== 0) return undefined;
  const bytes = bytesAt(thing.value + BigInt(offset), 4);
  const word = new DataView(bytes.buffer, bytes.byteOffset, 4).getInt32(0, true);
  const wanted = Number(value) | 0;
  const fits = [((word - wanted) | 0) >= 0, word === wanted, (word & wanted) !== 0, true];
  return fits[Number(flags) & 3] === true ? undefined : "the wait may never end";
}

/** The child's own use of the context must stay. */
function releaseDanger(ordinal: number, world: World): string | undefined {
  const isBase = world.things.has(`ctx${ordinal}`);
  const isOwn = (world.retained.get(ordinal) ?? 0) > 0;
  return isBase && !isOwn ? "others use the context" : undefined;
}

function graphDanger(names: readonly string[], world: World): string | undefined {
  for (const name of names) {
    const thing = world.things.get(name);
    const capture = thing?.capture ?? thing?.source?.capture;
    const gone = [...capture?.uses ?? []].find((used) => isGone(used, capture, world));
    if (gone !== undefined) return `${gone} is gone, and the graph uses it`;
  }
  return undefined;
}

function isGone(name: string, own: CaptureNotes | undefined, world: World): boolean {
  const thing = world.things.get(name);
  if (thing === undefined || !USED.has(thing.kind)) return false;
  if (world.disturbed.has(name)) return true;
  // What the graph allocates comes and goes with its launches.
  if (thing.capture !== undefined) return thing.capture !== own && !isThere(thing.capture, thing);
  return !thing.isAlive;
}

function absenceDanger(
  call: DriverFunction,
  words: readonly string[],
  world: World,
): string | undefined {
  const place = FUNCTIONS[call]?.stream;
  const stream = place === undefined ? "" : words[place] ?? "";
  const capture = world.captureOf(stream);
  for (const name of words.flatMap(namesIn)) {
    const thing = world.find(name);
    if (thing?.kind !== "pooled" || thing.capture === undefined) continue;
    const isInside = thing.capture.isOpen && thing.capture === capture;
    if (!isInside && !isThere(thing.capture, thing)) return `${name} has no memory yet`;
  }
  return undefined;
}

function isThere(capture: CaptureNotes, { isAlive }: { isAlive: boolean }): boolean {
  return isAlive && capture.isLaunched;
}
