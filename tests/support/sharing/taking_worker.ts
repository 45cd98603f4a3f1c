// A Worker that takes over what it is posted, checks and changes it, and hands it back.

import { CudaDevice } from "../../../mod.ts";
import type { HandedOver } from "../../../src/entries/sharing.ts";

/** The Worker's own scope, of which the compiler knows nothing here. */
const scope = globalThis as unknown as Pick<Worker, "onmessage" | "postMessage">;

scope.onmessage = async ({ data: handed }: MessageEvent<HandedOver<"uint8">>) => {
  try {
    using gpu = CudaDevice.open(0);
    const buffer = gpu.takeOver(handed);
    const value = await buffer.at(-1);
    buffer.fill(value + 1);
    scope.postMessage({ handed: await buffer.handOver() });
  } catch (error) {
    scope.postMessage({ error: String(error) });
  }
};
