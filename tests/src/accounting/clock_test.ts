// Checks which objects share a reading of the clock: a few small ones of one turn, and no others.

import { assertEquals } from "@std/assert";
import { endTurn, timeOfMaking } from "../../../src/accounting/clock.ts";
import { testOnDevice } from "../../support/with_device.ts";

const LARGE_BYTES = 2 ** 20;

Deno.test("timeOfMaking() shares a reading among at most four small blocks", () => {
  using _clock = new SteppingClock();
  endTurn();
  const times = Array.from({ length: 9 }, () => timeOfMaking(256));
  assertEquals(times, [1, 1, 1, 1, 2, 2, 2, 2, 3]);
});

Deno.test("timeOfMaking() reads the clock for each large block", () => {
  using _clock = new SteppingClock();
  endTurn();
  const sizes = [256, LARGE_BYTES, LARGE_BYTES, 256];
  assertEquals(sizes.map(timeOfMaking), [1, 2, 3, 3]);
});

testOnDevice("CudaDevice.alloc() of a later turn has a time of its own", async (gpu) => {
  using clock = new SteppingClock();
  endTurn();
  using first = gpu.alloc("uint8", 256);
  using second = gpu.alloc("uint8", 256);
  await Promise.resolve();
  clock.time += 1000;
  using third = gpu.alloc("uint8", 256);
  const made = [first, second, third].map(({ span }) => span.allocation.createdAt);
  assertEquals(made, [1, 1, 1002]);
});

/** A clock that goes on by a millisecond each time somebody looks. */
class SteppingClock implements Disposable {
  time = 0;
  readonly #now = Date.now;

  constructor() {
    Date.now = () => ++this.time;
  }

  [Symbol.dispose](): void {
    Date.now = this.#now;
  }
}
