// Work of steps that a call finished which blocks: its promise waits for threads that still work for it.

import { assertEquals } from "@std/assert";
import { nextTurn } from "../../../src/order/waiting.ts";
import { type Step, SteppedWork } from "../../../src/transfer/stepped_work.ts";
import { testOnDevice } from "../../support/with_device.ts";

testOnDevice("SteppedWork's promise waits for steps that a blocking call finished", async (gpu) => {
  using x = gpu.zeros("uint8", 4);
  const thread = Promise.withResolvers<void>();
  const order: string[] = [];
  function* steps(): Generator<Step, void> {
    yield { promise: thread.promise, finishNow: () => order.push("finished") > 0 };
  }
  const uses = [{ ...x.span, access: "read", stream: gpu.stream } as const];
  const work = new SteppedWork({ uses, steps: steps() });
  const over = work.promise.then(() => order.push("over"));
  await nextTurn();
  x.fill(1);
  assertEquals(x.downloadSync(), Uint8Array.of(1, 1, 1, 1));
  await nextTurn();
  assertEquals(order, ["finished"], "a thread works");
  thread.resolve();
  await over;
  assertEquals(order, ["finished", "over"]);
});
