// A random walk through a caching resource that checks its books at every step: what is used and
// what is kept make up what the upstream gave, and no two blocks overlap.

import type { CudaStream } from "../mod.ts";
import type { CachingResourceAdaptor } from "../src/entries/memory.ts";
import { isOutOfMemory } from "../src/words/errors.ts";

/** Blocks start at multiples of this, and their sizes count in it. */
const UNIT_BYTES = 512;

/** Sizes go from 1 byte to this, each octave equally likely. */
const MAX_EXPONENT = 26;

/** Steps between two comparisons of all live blocks with each other. */
const OVERLAP_STEPS = 5_000;

/** Options of a walk. */
export interface WalkOptions {
  /** Number of allocations and frees. */
  readonly stepCount: number;
  /** Streams to allocate and free on, each equally likely. */
  readonly streams: readonly CudaStream[];
  /** Most blocks live at once. */
  readonly liveCount: number;
  /** Bytes that the upstream says it has given. */
  readonly upstreamBytes: () => number;
  /** Called every few thousand steps. */
  readonly onPause?: () => void;
}

/** The result of a walk. */
export interface WalkResult {
  /** Allocations that were refused for lack of memory. */
  readonly refusedCount: number;
  /** Seconds that a step took, checks included. */
  readonly secondsPerStep: number;
}

interface LiveBlock {
  readonly address: bigint;
  readonly byteLength: number;
  readonly stream: CudaStream;
}

/**
 * Walks, gives everything back, and trims.
 *
 * @throws Error at the first step after which the books are wrong.
 */
export function walkAllocations(cache: CachingResourceAdaptor, options: WalkOptions): WalkResult {
  const { stepCount, streams, liveCount, upstreamBytes, onPause } = options;
  const draw = drawNumbers();
  const live: LiveBlock[] = [];
  let usedBytes = 0;
  let refusedCount = 0;

  function check(step: number): void {
    const sums = [cache.usedBytes + cache.cachedBytes, cache.reservedBytes, upstreamBytes()];
    if (cache.usedBytes === usedBytes && new Set(sums).size === 1) return;
    throw new Error(`Step ${step}: used ${cache.usedBytes} of ${usedBytes}, sums ${sums}`);
  }

  function allocate(stream: CudaStream): void {
    const octave = 2 ** (draw() % MAX_EXPONENT);
    const byteLength = octave + draw() % octave;
    try {
      live.push({ address: cache.allocate(byteLength, stream), byteLength, stream });
      usedBytes += roundUp(byteLength);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      refusedCount++;
    }
  }

  function free(index: number, stream: CudaStream): void {
    const block = live[index];
    const last = live.pop();
    if (block === undefined || last === undefined) return;
    if (block !== last) live[index] = last;
    stream.wait(block.stream);
    cache.deallocate(block.address, block.byteLength, stream);
    usedBytes -= roundUp(block.byteLength);
  }

  const start = performance.now();
  for (let step = 0; step < stepCount; step++) {
    const stream = streams[draw() % streams.length];
    if (stream === undefined) throw new TypeError("Cannot walk: no streams were given");
    const grows = live.length < liveCount && (live.length === 0 || draw() % 8 < 5);
    if (grows) allocate(stream);
    else free(draw() % live.length, stream);
    check(step);
    if (step % OVERLAP_STEPS > 0) continue;
    requireApart(live);
    onPause?.();
  }
  const secondsPerStep = (performance.now() - start) / 1000 / stepCount;
  const [first] = streams;
  while (live.length > 0 && first !== undefined) free(0, first);
  cache.trim();
  check(stepCount);
  if (upstreamBytes() > 0) throw new Error(`The end: ${upstreamBytes()} bytes are not given back`);
  return { refusedCount, secondsPerStep };
}

function requireApart(live: readonly LiveBlock[]): void {
  const sorted = live.toSorted((a, b) => a.address < b.address ? -1 : 1);
  for (const [index, { address, byteLength }] of sorted.entries()) {
    const next = sorted[index + 1];
    if (address % 256n > 0n) {
      throw new Error(`Block at ${address} is not aligned`);
    }
    if (next !== undefined && address + BigInt(byteLength) > next.address) {
      throw new Error(`Blocks at ${address} and ${next.address} overlap`);
    }
  }
}

function roundUp(byteLength: number): number {
  return Math.ceil(byteLength / UNIT_BYTES) * UNIT_BYTES;
}

/** Numbers below 2^32, the same in each run (Marsaglia's xorshift32). */
function drawNumbers(): () => number {
  let state = 0x2545f491;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
