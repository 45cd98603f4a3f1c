// A timeline in the form of PyTorch's memory snapshots, as data and as a pickle that PyTorch's viewer
// reads: protocol 2 with few opcodes.

import { isInCell } from "./cell_runs.ts";
import type { TimelineEvent } from "./timeline_event.ts";

/** An event with the places on the stack where its object was made. */
export interface PlacedEvent extends TimelineEvent {
  readonly stack: readonly string[] | undefined;
}

type Row = Record<string, unknown>;

/** Kinds of memory on the device; all others are on the host. */
const DEVICE_KINDS: ReadonlySet<string> = new Set(["device", "managed", "virtual"]);

/** An address that no driver gives: of memory whose own was lost, or is that of a live block. */
const MADE_UP = 2 ** 52;

const BEFORE = "allocated before the timeline";

/** Writes events as a snapshot, in which device 0 is the device and device 1 the host. */
export function memoryVizOf(events: readonly PlacedEvent[]): Row {
  const traces: Row[][] = [[], []];
  const live = new Map<number, Row>();
  const taken = new Set<unknown>();
  const marks: Row[] = [];
  /** Device memory from before that is still there. */
  let olderBytes: number | undefined;
  for (const event of events) {
    const { action, id, name, byteLength, deviceBytes } = event;
    const time_us = Math.round(1e6 * event.timeSeconds);
    const device = DEVICE_KINDS.has(event.kind) ? 0 : 1;
    const ownBytes = device === 0 ? byteLength : 0;
    const known = live.get(id);
    let address = Number(BigInt(event.address));
    let steps: readonly string[] = [];
    if (action === "begin" || action === "end") {
      marks.push({ stage: action === "begin" ? "START" : "END", name, device: 0, time_us });
    } else if (action === "allocate") {
      olderBytes ??= deviceBytes - ownBytes;
      if (taken.has(address)) address = MADE_UP + id * 2 ** 20;
      steps = ["segment_alloc", "alloc"];
    } else if (action === "free") {
      olderBytes = (olderBytes ?? deviceBytes + ownBytes) - (known === undefined ? ownBytes : 0);
      steps = ["free_requested", "free_completed", "segment_free"];
    }
    if (steps.length === 0) continue;
    const block = known ?? blockOf(event, { device, address });
    const { address: addr, total_size: size, stream, frames } = block;
    for (const action of steps) {
      traces[device]?.push({ action, addr, size, stream, time_us, frames });
    }
    if (action === "allocate") {
      live.set(id, block);
      taken.add(addr);
    } else {
      live.delete(id);
      taken.delete(addr);
    }
  }
  const [first] = events;
  const byteLength = olderBytes ?? first?.deviceBytes ?? 0;
  if (byteLength > 0 && first !== undefined) {
    const older = {
      ...first,
      kind: "device",
      name: BEFORE,
      byteLength,
      stack: [],
      cell: undefined,
    };
    live.set(0, blockOf(older, { device: 0, address: MADE_UP }));
  }
  return {
    segments: [...live.values()],
    device_traces: traces,
    allocator_settings: {},
    external_annotations: marks,
  };
}

function blockOf(
  event: PlacedEvent,
  { device, address }: { device: number; address: number },
): Row {
  const { name, kind, cell, byteLength: size, stack = [] } = event;
  const places = stack.map((place) => {
    const [, file = place, line = "0"] = /^(.*):(\d+):\d+$/.exec(place) ?? [];
    return { filename: isInCell(place) ? cell ?? file : file, line: Number(line) };
  });
  const [own = { filename: cell ?? "", line: 0 }, ...callers] = places;
  const sort = { name: `${kind} memory`, filename: "", line: 0 };
  const isNamed = name !== `${kind}#${event.id}`;
  const frames = [
    { name: isNamed ? name : sort.name, ...own },
    ...callers.map((place) => ({ name: "caller", ...place })),
    ...isNamed ? [sort] : [],
  ];
  const stream = Number(BigInt(event.stream));
  return {
    device,
    address,
    total_size: size,
    allocated_size: size,
    active_size: size,
    requested_size: size,
    stream,
    segment_type: size < 2 ** 20 ? "small" : "large",
    segment_pool_id: [0, 0],
    is_expandable: false,
    frames,
    blocks: [{ address, size, requested_size: size, state: "active_allocated", frames }],
  };
}

/** Writes lists, records, texts, whole numbers and booleans as a pickle. */
export function pickle(value: unknown): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [0x80, 2];
  const memo = new Map<unknown, number>();
  const uint32 = (number: number) => [0, 8, 16, 24].map((shift) => number >>> shift & 255);
  /** Writes a reference to a value that was written before; tells whether there is one. */
  const recall = (each: unknown): boolean => {
    const index = memo.get(each);
    if (index !== undefined) bytes.push(0x6a, ...uint32(index)); // LONG_BINGET
    return index !== undefined;
  };
  const remember = (each: unknown) => {
    bytes.push(0x72, ...uint32(memo.size)); // LONG_BINPUT
    memo.set(each, memo.size);
  };
  const write = (each: unknown): void => {
    if (typeof each === "boolean") bytes.push(each ? 0x88 : 0x89);
    else if (typeof each === "number") {
      const signed = new Uint8Array(new BigInt64Array([BigInt(each)]).buffer);
      if (each === (each | 0)) bytes.push(0x4a, ...uint32(each)); // BININT
      else bytes.push(0x8a, 8, ...signed); // LONG1
    } else if (recall(each)) return;
    else if (typeof each === "string") {
      const text = new TextEncoder().encode(each);
      bytes.push(0x58, ...uint32(text.byteLength)); // BINUNICODE
      for (const byte of text) bytes.push(byte);
      remember(each);
    } else if (Array.isArray(each)) {
      bytes.push(0x5d); // EMPTY_LIST
      remember(each);
      for (const item of each) {
        write(item);
        bytes.push(0x61); // APPEND
      }
    } else {
      bytes.push(0x7d); // EMPTY_DICT
      remember(each);
      for (const [key, item] of Object.entries(each as Row)) {
        write(key);
        write(item);
        bytes.push(0x73); // SETITEM
      }
    }
  };
  write(value);
  bytes.push(0x2e); // STOP
  return new Uint8Array(bytes);
}
