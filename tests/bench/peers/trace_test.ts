// The allocation trace is the same in every language, or the pools were not asked the same.
// The digest below is the one that python/trace.py's steps have.

import { assertEquals, assertLess, assertLessOrEqual } from "@std/assert";
import { allocationTrace, replayTrace } from "../../../bench/peers/trace.ts";

Deno.test("allocationTrace() draws the steps that Python draws", () => {
  const { steps, peakLiveBytes } = allocationTrace();
  assertEquals(peakLiveBytes, 6_444_534_869);
  assertEquals(fnv1a(steps), 3_287_575_956);
});

Deno.test("allocationTrace() keeps to its sizes and its limit of live blocks", () => {
  let liveCount = 0;
  for (const step of allocationTrace().steps) {
    liveCount += step > 0 ? 1 : -1;
    assertLessOrEqual(liveCount, 192);
    if (step <= 0) continue;
    assertLessOrEqual(256, step);
    assertLess(step, 256 * 1024 ** 2);
  }
});

Deno.test("replayTrace() frees every block once and in the trace's order", () => {
  const trace = allocationTrace(1000);
  const live = new Set<{ readonly byteLength: number }>();
  let liveBytes = 0;
  let peakLiveBytes = 0;
  replayTrace(trace, {
    allocate(byteLength): { readonly byteLength: number } {
      const block = { byteLength };
      live.add(block);
      liveBytes += byteLength;
      peakLiveBytes = Math.max(peakLiveBytes, liveBytes);
      return block;
    },
    free(block): void {
      assertEquals(live.delete(block), true);
      liveBytes -= block.byteLength;
    },
  });
  assertEquals(live.size, 0);
  assertEquals(peakLiveBytes, trace.peakLiveBytes);
});

function fnv1a(values: Int32Array): number {
  return values.reduce((hash, value) => Math.imul(hash ^ value, 0x01000193) >>> 0, 0x811c9dc5);
}
