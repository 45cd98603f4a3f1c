// What does it cost that every live buffer is accounted for? Nanoseconds and bytes for a buffer, on a
// resource that costs nothing. `deno task bench ledger [--out FILE]`; needs --v8-flags=--expose-gc.

import { CudaDevice } from "../mod.ts";
import { nextId, timeOfMaking } from "../src/accounting/clock.ts";
import { Ledger, type LedgerEntry } from "../src/accounting/ledger.ts";
import { type Owner, unwatch, watch } from "../src/order/safety_net.ts";
import { freeResource } from "../tests/support/free_resource.ts";
import { readOptions } from "./arguments.ts";
import { type BenchRow, median, report } from "./result_file.ts";

const CALL_COUNT = 100_000;
const SAMPLE_COUNT = 15;
const FEW = 100_000;
const MANY = 1_000_000;
const BUFFER_BYTES = 1024;

/** A record with nothing behind it: the ledger's own cost is what remains. */
class Entry implements LedgerEntry, Owner {
  readonly id = nextId();
  readonly kind = "device";
  readonly byteLength = BUFFER_BYTES;
  readonly label = undefined;
  readonly address = 0n;
  readonly streamHandle = 0n;
  readonly released = false;
  createdAt = 0;
  stack: readonly string[] | undefined;
  origin: string | undefined;
  scope: string | undefined;
  slot = -1;
  release(): void {}
  lose(): void {}
}

/** An object that a program holds as it holds a buffer. */
class Holder {
  readonly entry = new Entry();
}

const { out } = readOptions({ out: { type: "string" } });
const { gc } = globalThis as { gc?: () => void };
if (gc === undefined) throw new Error("Cannot measure bytes: run with --v8-flags=--expose-gc");

using gpu = CudaDevice.open(0, { driver: "auto" });
const { stream } = gpu;
const { resource } = freeResource(gpu);
const ledger = new Ledger();

const bare = time(() => {
  resource.deallocate(resource.allocate(BUFFER_BYTES, stream), BUFFER_BYTES, stream);
});
const record = time(() => void new Holder());
const accounted = time(() => {
  const { entry } = account(new Holder());
  unwatch(entry);
  ledger.remove(entry);
});
const whole = time(() => gpu.alloc("uint8", BUFFER_BYTES, { resource }).dispose());
gpu.timeline.start();
const recorded = time(() => gpu.alloc("uint8", BUFFER_BYTES, { resource }).dispose());
gpu.timeline.stop().clear();
const few = await liveBuffers(FEW);
const many = await liveBuffers(MANY);
const holderBytes = await heapBytes(() => new Holder());
const accountedBytes = await heapBytes(() => account(new Holder()), ({ entry }) => {
  ledger.remove(entry);
  unwatch(entry);
});

await report(gpu, [
  promised("ledger: add and remove a buffer", accounted - record, {
    unit: "s",
    most: 150e-9,
    text: "at most 150 ns",
  }),
  promised("ledger: a live buffer", accountedBytes - holderBytes, {
    unit: "bytes",
    most: 400,
    text: "at most 400 bytes",
  }),
  promised("allocate and dispose, over the resource", whole - bare, {
    unit: "s",
    most: 600e-9,
    text: "at most 600 ns",
  }),
  {
    name: "the same with the timeline on",
    value: recorded - bare,
    unit: "s",
    reference: { name: "off", value: whole - bare },
  },
  {
    name: `allocate each of ${MANY} live buffers`,
    value: many.allocate,
    unit: "s",
    reference: { name: `of ${FEW}`, value: few.allocate },
  },
  {
    name: `list and filter each of ${MANY}`,
    value: many.list,
    unit: "s",
    reference: { name: `of ${FEW}`, value: few.list },
  },
  {
    name: `release each of ${MANY}`,
    value: many.release,
    unit: "s",
    reference: { name: `of ${FEW}`, value: few.release },
  },
], out);

/** Does for a record what is done for each allocation. */
function account(holder: Holder): Holder {
  const { entry } = holder;
  entry.createdAt = timeOfMaking(BUFFER_BYTES);
  entry.stack = ledger.origins.find(BUFFER_BYTES, entry.createdAt);
  entry.scope = ledger.add(entry);
  watch(holder, entry);
  return holder;
}

/** Seconds for one call: the middle of several long loops. */
function time(call: () => void): number {
  const samples = Array.from({ length: SAMPLE_COUNT }, () => {
    const start = performance.now();
    for (let i = 0; i < CALL_COUNT; i++) call();
    return (performance.now() - start) / 1000 / CALL_COUNT;
  });
  return median(samples);
}

/** Seconds for each of many buffers that are alive at once. */
async function liveBuffers(
  count: number,
): Promise<{ allocate: number; list: number; release: number }> {
  const mark = gpu.mark();
  const held: Disposable[] = [];
  const start = performance.now();
  for (let i = 0; i < count; i++) held.push(gpu.alloc("uint8", 1 + i % 2, { resource }));
  const allocated = performance.now();
  if (gpu.live({ minSize: 2 }).count !== count / 2) {
    throw new Error("Cannot trust this: rows lost");
  }
  const listed = performance.now();
  gpu.disposeSince(mark);
  const released = performance.now();
  await settle();
  const each = (milliseconds: number) => milliseconds / 1000 / count;
  return {
    allocate: each(allocated - start),
    list: each(listed - allocated),
    release: each(released - listed),
  };
}

/** Bytes of JavaScript memory for each of many objects. */
async function heapBytes<T>(make: () => T, drop?: (made: T) => void): Promise<number> {
  const held: T[] = new Array(FEW);
  await settle();
  const before = Deno.memoryUsage().heapUsed;
  for (let i = 0; i < FEW; i++) held[i] = make();
  await settle();
  const bytes = (Deno.memoryUsage().heapUsed - before) / FEW;
  if (drop !== undefined) { for (const made of held) drop(made); }
  return bytes;
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 10));
  gc?.();
}

/** A row with an upper bound. */
function promised(
  name: string,
  value: number,
  { unit, most, text }: { unit: BenchRow["unit"]; most: number; text: string },
): BenchRow {
  return { name, value, unit, promise: { text, holds: value <= most } };
}
