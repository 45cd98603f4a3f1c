// Steps of the failure sweep: memory and events for another process, which a second simulated driver
// stands for, and memory for another Worker.

import { assertEquals } from "@std/assert";
import { simulateDriver } from "../../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../../src/device/device.ts";
import type { HandedOver } from "../../../../src/sharing/hand_over.ts";
import { untilNothingIsOffered } from "../../pool_offers.ts";
import { TicketError } from "../../../../src/ticket.ts";
import { allocateBy, endPoolOf, WAYS } from "../../sharing/peer_words.ts";
import type { Step } from "../scene.ts";

const BYTES = 4096;

/** Opens a device whose driver never fails. */
function openOther(): CudaDevice {
  return CudaDevice.open(0, { driver: simulateDriver(), origins: "none" });
}

/** Ends what a device shares, also after a failure. */
function atEnd(...devices: readonly CudaDevice[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const gpu of devices) endPoolOf(gpu);
      await untilNothingIsOffered();
    },
  };
}

/** Takes over what a failed call has left, and gives it back. */
function takeAgain(gpu: CudaDevice, handed: HandedOver): void {
  try {
    gpu.takeOver(handed).dispose();
  } catch (error) {
    if (!(error instanceof TicketError)) throw error;
  }
}

/** Steps with another process. */
export const SHARING_STEPS: readonly Step[] = [
  ...WAYS.map((way): Step => ({
    name: `${way} memory that another process opens`,
    async run({ gpu }) {
      using other = openOther();
      await using _end = atEnd(gpu);
      using x = allocateBy(gpu, { way, byteLength: BYTES, value: 3 });
      const ticket = await x.share();
      using y = await other.open(ticket);
      assertEquals(await y.at(-1), 3);
    },
  })),
  ...WAYS.map((way): Step => ({
    name: `${way} memory of another process, opened twice`,
    async run({ gpu }) {
      using other = openOther();
      await using _end = atEnd(other);
      using x = allocateBy(other, { way, byteLength: BYTES, value: 3 });
      const ticket = await x.share();
      using y = await gpu.open(ticket);
      using z = await gpu.open(ticket);
      assertEquals([y.downloadSync()[0], z.downloadSync()[1]], [3, 3]);
    },
  })),
  {
    name: "events of two processes",
    async run({ gpu }) {
      using other = openOther();
      using mine = gpu.createEvent({ shareable: true });
      using seen = other.openEvent(mine.share());
      using theirs = other.createEvent({ shareable: true });
      using opened = gpu.openEvent(theirs.share());
      gpu.stream.record(mine);
      await seen.synchronize();
      other.stream.record(theirs);
      gpu.stream.wait(opened);
      await opened.synchronize();
      await gpu.synchronize();
    },
  },
  {
    name: "memory that is handed over and back",
    async run({ gpu }) {
      using x = gpu.zeros("uint8", BYTES);
      const handed = await x.handOver();
      try {
        using y = gpu.takeOver(handed);
        assertEquals(await y.at(0), 0);
      } catch (error) {
        takeAgain(gpu, handed); // unless the failure came later, it is still to be had
        throw error;
      }
    },
  },
];
