// What a step that succeeded has changed: what is gone, who captures, what is mapped, what is busy.

import { FUNCTIONS } from "./functions.ts";
import type { DriverFunction } from "../../../ffi/cuda.ts";
import { namesIn, parseReference, type Step } from "./notation.ts";
import { valueOf } from "./arguments.ts";
import type { World } from "./world.ts";

/** Statuses with which an end of a capture leaves the capture as it is. */
const NOT_ENDED = [201, 400, 401, 903];

/** Notes what a step has changed, by its status. */
export function note(step: Step, call: DriverFunction, world: World, status: number): void {
  const { words } = step;
  const [first = "", second = ""] = words;
  if (call === "cuStreamEndCapture" && !NOT_ENDED.includes(status)) endCapture(first, world);
  if (status !== 0) return;
  const { stream, ends } = FUNCTIONS[call];
  if (stream !== undefined) noteWork(words, words[stream] ?? "", world);
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
    case "cuMemHostRegister_v2":
      world.registered.set(valueOf(first, world), Number(second));
      return;
    case "cuMemMap":
      world.mapped.set(valueOf(first, world), Number(second));
      return;
    case "cuMemUnmap":
      return noteUnmap(valueOf(first, world), BigInt(second), world);
    case "cuDevicePrimaryCtxRetain":
      return count(world.retained, Number(second), 1);
    case "cuDevicePrimaryCtxRelease_v2":
      return count(world.retained, Number(first), -1);
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
  if (call !== "cuMemHostUnregister") return world.end(thing);
  world.registered.delete(valueOf(word, world));
  world.disturbed.add(thing.name);
}

function beginCapture(stream: string, world: World): void {
  const notes = { origin: stream, streams: new Set([stream]), uses: new Set<string>() };
  world.captures.add({ ...notes, isOpen: true, isLaunched: false });
}

function endCapture(stream: string, world: World): void {
  for (const capture of world.captures) {
    if (capture.origin !== stream) continue;
    capture.isOpen = false;
    world.captures.delete(capture);
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
