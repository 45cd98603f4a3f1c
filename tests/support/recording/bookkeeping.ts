// What a step that succeeded has changed: what is gone, who captures, what is mapped, what is busy.

import type { DriverFunction } from "../../../ffi/cuda.ts";
import { valueOf } from "./arguments.ts";
import { FUNCTIONS } from "./functions.ts";
import { namesIn, parseReference, type Step } from "./notation.ts";
import type { CaptureNotes, Thing, World } from "./world.ts";

/** Statuses with which an end of a capture leaves the capture as it is. */
const NOT_ENDED = [201, 400, 401, 903, 906];

/** Notes what a step has changed, by its status. */
export function note(step: Step, call: DriverFunction, world: World, status: number): void {
  const { words } = step;
  const [first = "", second = ""] = words;
  if (call === "cuStreamEndCapture" && !NOT_ENDED.includes(status)) {
    endCapture(first, { world, hasGraph: status === 0 });
  }
  if (status !== 0) return;
  const { stream, ends } = FUNCTIONS[call];
  if (stream !== undefined) noteWork(words, words[stream] ?? "", world);
  if (call === "cuMemFreeAsync") {
    world.isFreeing = true;
    world.freedByStreams.add(first);
  }
  if (ends !== undefined) noteEnd(call, words[ends] ?? "", world);
  switch (call) {
    case "cuStreamBeginCapture_v2":
      return beginCapture(first, world);
    case "cuEventRecord":
      return noteRecord(first, second, world);
    case "cuStreamWaitEvent": {
      const capture = world.capturedEvents.get(second);
      if (capture?.isOpen) capture.streams.add(first);
      return;
    }
    case "cuGraphLaunch": {
      const capture = world.find(first)?.source?.capture;
      if (capture !== undefined) capture.isLaunched = true;
      return;
    }
    case "cuGraphExecUpdate_v2": {
      const [exec, source] = [world.find(first), world.find(second)];
      if (exec !== undefined && source !== undefined) world.add({ ...exec, source });
      return;
    }
    case "cuMemHostRegister_v2":
      world.registered.set(valueOf(first, world), Number(second));
      return;
    case "cuMemMap":
      world.mapped.set(valueOf(first, world), Number(second));
      return;
    case "cuMemUnmap":
      return noteUnmap(valueOf(first, world), BigInt(second), world);
    case "cuDevicePrimaryCtxRetain":
      world.contexts.set(first.slice(1), Number(second));
      return count(world.retained, Number(second), 1);
    case "cuDevicePrimaryCtxRelease_v2":
      count(world.retained, Number(first), -1);
      return noteRelease(Number(first), world);
  }
}

function noteWork(words: readonly string[], stream: string, world: World): void {
  world.isQuiet = false;
  const capture = world.captureOf(stream);
  // A capture that is not this stream's may have it by a way that went unseen.
  for (const open of capture === undefined ? world.captures : [capture]) {
    for (const name of words.flatMap(namesIn)) open.uses.add(name);
  }
}

function noteEnd(call: DriverFunction, word: string, world: World): void {
  const reference = parseReference(word);
  const thing = reference === undefined ? undefined : world.find(reference.name);
  if (thing === undefined) return;
  if (call !== "cuMemHostUnregister") {
    world.end(thing);
    return noteGraphEnd(thing, world);
  }
  world.registered.delete(valueOf(word, world));
  world.disturbed.add(thing.name);
}

function beginCapture(stream: string, world: World): void {
  const notes = { origin: stream, streams: new Set([stream]), uses: new Set<string>() };
  world.captures.add({ ...notes, isOpen: true, isLaunched: false });
}

function endCapture(
  stream: string,
  { world, hasGraph }: { world: World; hasGraph: boolean },
): void {
  for (const capture of world.captures) {
    if (capture.origin !== stream) continue;
    capture.isOpen = false;
    world.captures.delete(capture);
    if (!hasGraph) endMemoryOf(capture, world);
  }
}

/** Ends what a capture has allocated: its addresses can come back. */
function endMemoryOf(capture: CaptureNotes, world: World): void {
  for (const thing of world.alive("pooled")) if (thing.capture === capture) world.end(thing);
}

/** Ends what a graph would have allocated, once nothing is left that could launch it. */
function noteGraphEnd(thing: Thing, world: World): void {
  if (thing.kind !== "graph" && thing.kind !== "exec") return;
  const { capture } = thing.kind === "exec" ? thing.source ?? thing : thing;
  if (capture === undefined || capture.isLaunched) return;
  const isLeft = world.alive("graph", "exec").some((other) =>
    (other.capture ?? other.source?.capture) === capture
  );
  if (!isLeft) endMemoryOf(capture, world);
}

/** Ends what was made in a context that its last user has released. */
function noteRelease(ordinal: number, world: World): void {
  const isBase = world.find(`ctx${ordinal}`) !== undefined;
  if (isBase || (world.retained.get(ordinal) ?? 0) > 0) return;
  for (const thing of [...world.things.values()]) {
    const { home = "", kind, isAlive } = thing;
    if (isAlive && kind !== "context" && world.contexts.get(home) === ordinal) world.end(thing);
  }
}

function noteRecord(event: string, stream: string, world: World): void {
  const capture = world.captureOf(stream);
  if (capture === undefined) world.capturedEvents.delete(event);
  else world.capturedEvents.set(event, capture);
}

function noteUnmap(address: bigint, byteLength: bigint, world: World): void {
  const reservation = world.at(address);
  if (reservation !== undefined) world.disturbed.add(reservation.name);
  for (const start of world.mapped.keys()) {
    if (start >= address && start < address + byteLength) world.mapped.delete(start);
  }
}

function count(counts: Map<number, number>, key: number, change: number): void {
  counts.set(key, (counts.get(key) ?? 0) + change);
}
