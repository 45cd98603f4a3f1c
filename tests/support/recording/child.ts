// A process of the recorder: plays sequences on a driver, one after another, and says what comes of
// each step at once, so that the step that ends the process is known.

import { readCString } from "../../../ffi/c_strings.ts";
import { CUdevice_attribute as Attribute } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { openDriver } from "../../../ffi/library.ts";
import { simulateDriver, SimulationError } from "../../../ffi/simulated/driver.ts";
import { TextLineStream } from "../text_lines.ts";
import { Base } from "./base.ts";
import { cleanUp } from "./cleanup.ts";
import { generate } from "./generate.ts";
import { SIMULATED_KERNELS } from "./images.ts";
import type { Message, Task } from "./messages.ts";
import type { Sequence } from "./notation.ts";
import { Player } from "./player.ts";
import type { RecordingFacts } from "./recording.ts";

function say(message: Message): void {
  const line = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
  for (let done = 0; done < line.byteLength;) done += Deno.stdout.writeSync(line.subarray(done));
}

/** Finds out what of a machine decides how calls go. */
function factsOf(api: DriverApi, deviceCount: number): RecordingFacts {
  const cell = new Int32Array(1);
  const ask = (call: (cell: Int32Array<ArrayBuffer>) => number): number => {
    cell[0] = 0;
    return call(cell) === 0 ? cell[0] : 0;
  };
  const has = (attribute: number) =>
    ask((cell) => api.cuDeviceGetAttribute(cell, attribute, 0)) === 1;
  const name = new Uint8Array(256);
  api.cuDeviceGetName(name, name.byteLength, 0);
  return {
    device: readCString(name),
    devices: deviceCount,
    driverVersion: ask((cell) => api.cuDriverGetVersion(cell)),
    driverRelease: driverRelease(),
    poolsSupported: has(Attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED),
    concurrentManagedAccess: has(Attribute.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
    peerAccess: deviceCount > 1 && ask((cell) => api.cuDeviceCanAccessPeer(cell, 0, 1)) === 1,
    date: new Date().toISOString().slice(0, 10),
    seed: 0,
  };
}

/** Reads the driver's own version, where the kernel tells it. */
function driverRelease(): string {
  try {
    const text = Deno.readTextFileSync("/proc/driver/nvidia/version");
    return /Kernel Module.*? (\d+\.[\d.]+) /.exec(text)?.[1] ?? "";
  } catch {
    return "";
  }
}

/** Plays a sequence and tells whether the process can play another. */
async function playSequence(
  { isFresh, lines }: Sequence,
  { api, base }: { api: DriverApi; base: Base | undefined },
): Promise<boolean> {
  const player = new Player(api);
  base?.addTo(player.world);
  for (const line of lines) {
    const { outcome } = await player.play(line);
    say({ outcome });
  }
  say({ isPlayed: true });
  if (isFresh || base === undefined) return false;
  try {
    return cleanUp(api, base, player.world);
  } catch (error) {
    // Waiting shows races to the simulated driver, when that is the one that is recorded.
    if (error instanceof SimulationError) return false;
    throw error;
  }
}

if (import.meta.main) {
  const [driver = "cuda", start = "base", mostDevices = "1"] = Deno.args;
  const api = driver === "simulated"
    ? simulateDriver({ devices: Number(mostDevices), kernels: { ...SIMULATED_KERNELS } })
    : openDriver().api;
  const base = start === "fresh" ? undefined : new Base(api, Number(mostDevices));
  const facts = base === undefined ? undefined : factsOf(api, base.deviceCount);
  if (facts !== undefined) say({ facts });
  for await (const line of Deno.stdin.readable.pipeThrough(new TextLineStream())) {
    const task: Task = JSON.parse(line);
    const sequence = "sequence" in task || facts === undefined
      ? (task as { sequence: Sequence }).sequence
      : await generate(facts, task);
    say({ sequence });
    const canGoOn = await playSequence(sequence, { api, base });
    say({ canGoOn });
    if (!canGoOn) break;
  }
  // Contexts are the driver's to end: the process does not wait for that.
  Deno.exit(0);
}
