// New arrays that lanes make ahead: ordinary, cleared and each in memory of its own, and
// no more of them than the program asks for.

import { assert, assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { ArrayMaker } from "../../../src/lanes/array_maker.ts";
import { CopyLanes } from "../../../src/lanes/copy_lanes.ts";
import { CONTROL } from "../../../src/lanes/lane_program.ts";
import { adoptEngine } from "../../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../../src/transfer/engine.ts";
import { DEFAULT_LIMITS, MAX_AHEAD_BYTES, MAX_ARRAYS_ASKED } from "../../../src/transfer/ways.ts";
import { sleep } from "../../../src/words/timer.ts";
import { assertHoldsOnly, patternBytes } from "../../support/contents.ts";
import { inTurn } from "../../support/test_unless.ts";
import { withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

/** Lanes that a test ends. */
class TestLanes implements Disposable {
  readonly lanes = new CopyLanes(4, { laneCount: 3, sharedLaneCount: 3 });
  readonly maker = this.lanes.arrays;

  constructor() {
    this.lanes.start();
  }

  /** Asks for arrays of a size until so many came that were made ahead. */
  async take(byteLength: number, count: number): Promise<ArrayBuffer[]> {
    const arrays: ArrayBuffer[] = [];
    for (let look = 0; arrays.length < count; look++) {
      assertLessOrEqual(look, 10_000, "no array is ready");
      this.lanes.rouse();
      const array = this.maker.expect(byteLength) ? this.maker.take(byteLength) : undefined;
      if (array === undefined) await sleep(1);
      else arrays.push(array);
    }
    return arrays;
  }

  [Symbol.dispose](): void {
    this.lanes.dispose();
  }
}

Deno.test(
  inTurn("ArrayMaker gives arrays of the size asked for, cleared, each with memory of its own"),
  async () => {
    using lanes = new TestLanes();
    for (const byteLength of [MIB / 2, MIB + 1, 3 * MIB + 12, 32 * MIB]) {
      for (const array of await lanes.take(byteLength, byteLength > 4 * MIB ? 2 : 6)) {
        assertEquals(array.byteLength, byteLength);
        assert(!array.resizable);
        const words = new Uint8Array(array);
        assertHoldsOnly(words, 0);
        words.fill(255); // the next one is none of these
      }
    }
  },
);

Deno.test(inTurn("ArrayMaker gives arrays of two sizes in turn"), async () => {
  using lanes = new TestLanes();
  for (let round = 0; round < 6; round++) {
    const [one] = await lanes.take(2 * MIB, 1);
    const [other] = await lanes.take(3 * MIB, 1);
    assertEquals([one?.byteLength, other?.byteLength], [2 * MIB, 3 * MIB]);
  }
});

Deno.test("ArrayMaker makes nothing for a size that is asked for once, and for sizes that gain nothing", () => {
  using lanes = new TestLanes();
  const { maker } = lanes;
  for (const byteLength of [2 * MIB, 3 * MIB, 4 * MIB, 2 * MIB, 3 * MIB]) {
    assert(!maker.expect(byteLength));
  }
  for (let round = 0; round < 3; round++) {
    assert(!maker.expect(MIB / 2 - 1));
    assert(!maker.expect(32 * MIB + 1));
    assertEquals(maker.take(MIB / 2 - 1), undefined);
  }
  assertEquals(maker.byteLength, 0);
});

Deno.test(
  inTurn("ArrayMaker has a bounded number of bytes ahead, and none once it dropped them"),
  async () => {
    using lanes = new TestLanes();
    const { maker } = lanes;
    await lanes.take(2 * MIB, 1);
    for (let round = 0; round < 10; round++) {
      for (const byteLength of [32 * MIB, 32 * MIB, 7 * MIB, 7 * MIB]) maker.expect(byteLength);
      assertGreater(maker.byteLength, 0);
      assertLessOrEqual(maker.byteLength, MAX_AHEAD_BYTES);
      lanes.lanes.rouse();
      await sleep(1);
    }
    maker.trim();
    assertEquals(maker.byteLength, 0);
    await lanes.take(5 * MIB, 3);
  },
);

/** An array maker whose lane is the test: it is asked for as many arrays as may be on their way. */
class ScriptedLane implements Disposable {
  readonly words = new Int32Array(new SharedArrayBuffer(4 * CONTROL.queue));
  readonly maker = new ArrayMaker(this.words);
  readonly #ports = this.maker.openPorts(1);

  constructor(sizes = [2 * MIB, 3 * MIB]) {
    for (const byteLength of sizes) {
      this.maker.expect(byteLength);
      this.maker.expect(byteLength);
    }
  }

  /** Sizes that are asked for and not begun, in their order. */
  get asked(): number[] {
    const [begun = 0, asked = 0] = [CONTROL.arraysBegun, CONTROL.arraysAsked].map((at) =>
      this.words[at]
    );
    const places = Array.from({ length: asked - begun }, (_, at) => begun + at);
    return places.map((at) => this.words[CONTROL.arraySizes + at % MAX_ARRAYS_ASKED] ?? 0);
  }

  /** Makes all arrays that are asked for. */
  send(): void {
    for (const byteLength of this.asked) {
      Atomics.add(this.words, CONTROL.arraysBegun, 1);
      this.#ports[0]?.postMessage(new ArrayBuffer(byteLength));
      Atomics.add(this.words, CONTROL.arraysSent, 1);
    }
  }

  [Symbol.dispose](): void {
    this.maker.dispose();
    for (const port of this.#ports) port.close();
  }
}

Deno.test("ArrayMaker.trim() has lanes make nothing more of what was asked for", () => {
  using lane = new ScriptedLane();
  const { length } = lane.asked;
  assertGreater(length, 12);
  lane.maker.trim();
  assertEquals(lane.asked, Array.from({ length }, () => 0));
});

Deno.test("ArrayMaker.trim() takes what lanes have sent, which makes room for other sizes", () => {
  using lane = new ScriptedLane();
  lane.send();
  lane.maker.trim();
  lane.maker.expect(6 * MIB);
  assertEquals(lane.maker.take(6 * MIB), undefined);
  assertEquals(lane.asked, Array.from({ length: 8 }, () => 6 * MIB));
});

Deno.test("ArrayMaker has lanes make no arrays of sizes that it has forgotten", () => {
  using lane = new ScriptedLane();
  lane.maker.expect(4 * MIB);
  const counts = [0, 2, 3].map((size) => lane.asked.filter((asked) => asked === size * MIB).length);
  assertEquals(counts, [8, 0, 8]);
});

for (const [byteLength, isAwaited] of [[MIB, false], [4 * MIB, true]] as const) {
  const which = isAwaited ? "that comes in time" : "only when it is there";
  Deno.test(`ArrayMaker.expect() promises an array of ${byteLength} bytes ${which}`, () => {
    using lane = new ScriptedLane([]);
    const { maker } = lane;
    for (let round = 0; round < 2; round++) maker.expect(byteLength);
    const sentCount = lane.asked.filter((asked) => asked === byteLength).length;
    assertGreater(sentCount, 1);
    lane.send();
    for (let taken = 0; taken < sentCount; taken++) {
      assert(maker.expect(byteLength));
      assertEquals(maker.take(byteLength)?.byteLength, byteLength);
    }
    assertGreater(lane.asked.length, 0);
    assertEquals(maker.expect(byteLength), isAwaited);
  });
}

Deno.test("ArrayMaker gives none once lanes end, and leaves nothing open", {
  sanitizeOps: true,
  sanitizeResources: true,
}, async () => {
  const lanes = new TestLanes();
  await lanes.take(2 * MIB, 1);
  lanes[Symbol.dispose]();
  for (let round = 0; round < 3; round++) assert(!lanes.maker.expect(2 * MIB));
});

/** Enough lanes, also on a machine with few cores. */
const LIMITS = { ...DEFAULT_LIMITS, laneCount: 7, sharedLaneCount: 7 };

Deno.test(
  inTurn(
    "downloads into new arrays of 0.5 to 32 MiB bring their bytes, whatever became of those before",
  ),
  () =>
    withDevice(async (gpu) => {
      const engine = adoptEngine(gpu.context, new TransferEngine(gpu.context, LIMITS));
      await engine.runLanes();
      for (const byteLength of [MIB / 2, MIB + 8, 4 * MIB + 8, 8 * MIB, 32 * MIB]) {
        const values = patternBytes(byteLength, byteLength % 97);
        using x = gpu.uploadSync(new Float64Array(values.buffer));
        const kept: Float64Array<ArrayBuffer>[] = [];
        const rounds = byteLength > 8 * MIB ? 5 : 17;
        for (let round = 0; round < rounds; round++) {
          const array = round % 2 === 0 ? await x.download() : x.downloadSync();
          assertEquals([array.buffer.byteLength, array.byteOffset], [byteLength, 0]);
          assert(array.constructor === Float64Array);
          if (round % 3 === 0) structuredClone(array.buffer, { transfer: [array.buffer] });
          else if (round % 3 === 1) array.fill(-1);
          else if (kept.length < 4) kept.push(array);
          if (round % 16 === 0) assertEquals(new Uint8Array(x.downloadSync().buffer), values);
        }
        for (const array of kept) assertEquals(new Uint8Array(array.buffer), values);
      }
      const kept = () => gpu.report().data.caches.find(({ name }) => name === "new arrays");
      assertGreater(kept()?.byteLength ?? 0, 0);
      gpu.trim();
      assertEquals(kept()?.byteLength, 0);
    }),
);
