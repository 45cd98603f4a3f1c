// Nothing moves bytes of an array after the call that moves them has returned, or its promise is settled,
// whoever moves them: the program writes into its arrays at once, while other calls keep from running all
// threads that the runtime has.

import { assertGreater } from "@std/assert";
import type { CudaDevice } from "../../src/device/device.ts";
import { nextTurn } from "../../src/order/waiting.ts";
import { adoptEngine, engineOf } from "../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../src/transfer/engine.ts";
import { sleep } from "../../src/words/timer.ts";
import { BusyThreads } from "../support/busy_threads.ts";
import { assertHoldsOnly, assertSameBytes, patternBytes } from "../support/contents.ts";
import { type Random, runSeeds, share } from "../support/random.ts";
import { TINY_LIMITS } from "../support/tiny_engine.ts";
import { takingTurns, testOnLinux } from "../support/test_unless.ts";
import { withDevice } from "../support/with_device.ts";

/** Transfers from 4 KiB on go through slots of that size. */
const LIMITS = {
  ...TINY_LIMITS,
  slotCount: 16,
  laneCount: 7,
  sharedLaneCount: 7,
  ringFromBytes: 4096,
};

const MAX_BYTES = 100_000;

/** An array, what must be in it, and until when nobody else may write into it. */
class Watched {
  readonly bytes: Uint8Array<ArrayBuffer>;
  #value = 0;

  constructor(byteLength: number) {
    this.bytes = new Uint8Array(byteLength);
  }

  /** Fills it, as a program does that uses its array again. */
  fill(value: number): void {
    this.#value = value;
    this.bytes.fill(value);
  }

  check(): void {
    assertHoldsOnly(this.bytes, this.#value);
  }
}

/** Lets some microtasks pass, or a turn of the event loop that needs no thread. */
async function someMoments(random: Random): Promise<void> {
  for (let count = random.below(6); count > 0; count--) await undefined;
  if (random.below(3) === 0) await sleep(0);
}

/**
 * Makes one call or some, and writes into the arrays as soon as that is allowed. Returns the number of lent
 * threads that were still to do what a call that blocked had done in their place.
 */
async function moveAndWrite(
  gpu: CudaDevice,
  random: Random,
  watched: Watched[],
): Promise<number> {
  const engine = engineOf(gpu.context);
  let lateCount = 0;
  const size = random.pick([1000, 4096, 20_000, MAX_BYTES]) ?? 0;
  const [seed, value] = [random.below(200), 1 + random.below(200)];
  using x = gpu.zeros("uint8", size);
  const sent = patternBytes(size, seed);
  const array = new Watched(size);
  watched.push(array);
  const { bytes } = array;
  switch (random.below(6)) {
    case 0: // blocking both ways
      x.uploadSync(sent);
      sent.fill(value);
      x.downloadSync(bytes);
      assertSameBytes(bytes, patternBytes(size, seed));
      break;
    case 1: { // a call that blocks finishes one that was under way
      x.uploadSync(sent);
      const moving = x.download(bytes);
      await someMoments(random);
      x.downloadSync(bytes);
      assertSameBytes(bytes, patternBytes(size, seed));
      array.fill(value);
      await moving;
      array.check();
      break;
    }
    case 2: { // the same for an upload, whose array is written into
      bytes.set(sent);
      const moving = x.upload(bytes);
      await someMoments(random);
      assertSameBytes(x.downloadSync(), patternBytes(size, seed));
      lateCount = engine.lentCount;
      array.fill(value);
      await moving;
      assertSameBytes(x.downloadSync(), patternBytes(size, seed));
      break;
    }
    case 3: // awaited both ways
      await x.upload(sent);
      sent.fill(value);
      await x.download(bytes);
      assertSameBytes(bytes, patternBytes(size, seed));
      break;
    case 4: { // a new array, which a call that blocks finishes
      x.uploadSync(sent);
      const moving = x.download();
      await someMoments(random);
      x.uploadSync(new Uint8Array(size));
      lateCount = engine.lentCount;
      const made = await moving;
      assertSameBytes(made, patternBytes(size, seed));
      bytes.set(made);
      made.fill(value);
      await nextTurn();
      assertHoldsOnly(made, value);
      break;
    }
    default: { // aborted at some moment
      bytes.set(sent);
      const abort = new AbortController();
      const moving = x.download(bytes, { signal: abort.signal }).catch(() => {});
      await someMoments(random);
      abort.abort();
      await moving;
    }
  }
  array.fill(value);
  return lateCount;
}

for (const hasLanes of [false, true]) {
  const who = hasLanes ? "lanes run" : "no lanes run";
  takingTurns(testOnLinux)(
    `no transfer touches an array when its call is over, where ${who} and threads starve`,
    () =>
      withDevice(async (gpu) => {
        const engine = adoptEngine(gpu.context, new TransferEngine(gpu.context, LIMITS));
        if (hasLanes) await engine.runLanes();
        let lateCount = 0;
        await runSeeds(share(24, { parts: 3 }), async ({ random }) => {
          const watched: Watched[] = [];
          for (let call = 0; call < 12; call++) {
            const busy = new BusyThreads();
            const freeing = sleep(2 + random.below(8)).then(() => busy[Symbol.asyncDispose]());
            lateCount += await moveAndWrite(gpu, random, watched);
            await freeing;
          }
          await engine.atRest();
          for (const array of watched) array.check();
        });
        if (!hasLanes) assertGreater(lateCount, 0, "no thread was late");
      }),
  );
}
