// The random allocation trace that every pool replays, made as python/trace.py makes it.
// Whole numbers only, so that both languages draw the same steps; a test pins the trace.

const STEP_COUNT = 100_000;
const LIVE_LIMIT_COUNT = 192;
const SEED = 0x5eed1234;
const MIN_EXPONENT = 8;
const OCTAVE_COUNT = 20;

/** Holds allocations and frees in order, and the most bytes that are live at once. */
export interface AllocationTrace {
  /** Step n > 0 allocates n bytes; -n frees live block n - 1, and the last takes its place. */
  readonly steps: Int32Array;
  readonly peakLiveBytes: number;
}

/** Draws 32-bit numbers from Marsaglia's xorshift32 with the shifts 13, 17 and 5. */
function xorshift32(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/**
 * Makes the trace: 256 B to 256 MiB, all octaves equally likely, at most 192 blocks live.
 *
 * Each step draws an octave, a place in it and a choice; five in eight allocate while the limit
 * holds, and a free draws its victim.
 */
export function allocationTrace(stepCount: number = STEP_COUNT): AllocationTrace {
  const draw = xorshift32(SEED);
  const steps = new Int32Array(stepCount);
  const live: number[] = [];
  let liveBytes = 0;
  let peakLiveBytes = 0;
  for (let step = 0; step < stepCount; step++) {
    const octaveBytes = 2 ** (MIN_EXPONENT + draw() % OCTAVE_COUNT);
    const byteLength = octaveBytes + draw() % octaveBytes;
    const wants = draw() % 8 < 5;
    if (live.length === 0 || (wants && live.length < LIVE_LIMIT_COUNT)) {
      steps[step] = byteLength;
      live.push(byteLength);
      liveBytes += byteLength;
      peakLiveBytes = Math.max(peakLiveBytes, liveBytes);
      continue;
    }
    const victim = draw() % live.length;
    steps[step] = -victim - 1;
    liveBytes -= takeOut(live, victim) ?? 0;
  }
  return { steps, peakLiveBytes };
}

/** Replays a trace through a pool, gives every block back, and returns the seconds a step took. */
export function replayTrace<Block>(
  trace: AllocationTrace,
  pool: { allocate(byteLength: number): Block; free(block: Block): void },
): number {
  const live: Block[] = [];
  const start = performance.now();
  for (const step of trace.steps) {
    if (step > 0) {
      live.push(pool.allocate(step));
      continue;
    }
    const block = takeOut(live, -step - 1);
    if (block !== undefined) pool.free(block);
  }
  const seconds = (performance.now() - start) / 1e3;
  for (const block of live) pool.free(block);
  return seconds / trace.steps.length;
}

/** Removes one element in constant time: the last takes its place. */
function takeOut<Element>(elements: Element[], index: number): Element | undefined {
  const taken = elements[index];
  const last = elements.pop();
  if (last !== undefined && index < elements.length) elements[index] = last;
  return taken;
}
