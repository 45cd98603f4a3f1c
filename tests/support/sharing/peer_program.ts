// Another process with a device of its own, which does what it is told: one command in JSON a line, and
// one answer. `deno run -A peer_program.ts`; VRAMKIT_TEST_DRIVER chooses the driver.

import { CudaDevice, type CudaEvent, type DeviceBuffer } from "../../../mod.ts";
import { obeyCommands } from "../obedient_program.ts";
import { allocateBy, endPoolOf, type PeerCommand } from "./peer_words.ts";

using gpu = CudaDevice.open(0, {
  driver: Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda" ? "cuda" : "simulated",
});
const buffers = new Map<string, DeviceBuffer>();
const events = new Map<string, CudaEvent>();

await obeyCommands(obey);

async function obey(command: PeerCommand): Promise<unknown> {
  const { name = "x" } = command;
  switch (command.do) {
    case "alloc":
      buffers.set(name, allocateBy(gpu, command));
      return buffer(name).byteLength;
    case "share":
      return await buffer(name).share();
    case "open":
      buffers.set(name, await gpu.open(command.ticket));
      return [buffer(name).dtype, ...buffer(name).shape];
    case "read":
      return [...new Uint8Array((await buffer(name).as("uint8").download()).buffer)];
    case "last":
      return await buffer(name).as("uint8").at(-1);
    case "checksum":
      return await buffer(name).checksum();
    case "fill":
      buffer(name).as("uint8").fill(command.value);
      if (command.waits !== false) await gpu.synchronize();
      return true;
    case "dispose":
      buffer(name).dispose();
      buffers.delete(name);
      await gpu.synchronize();
      return gpu.live().count;
    case "createEvent":
      events.set(name, gpu.createEvent({ shareable: true }));
      return event(name).share();
    case "openEvent":
      events.set(name, gpu.openEvent(command.ticket));
      return true;
    case "record":
      gpu.stream.record(event(name));
      return true;
    case "wait":
      gpu.stream.wait(event(name));
      return event(name).isComplete;
    case "disposeAll":
      gpu.disposeAll();
      endPoolOf(gpu);
      buffers.clear();
      events.clear();
      await gpu.synchronize();
      return gpu.live().count;
    case "disposeEvent":
      event(name).dispose();
      events.delete(name);
      return true;
  }
}

function buffer(name: string): DeviceBuffer {
  return buffers.get(name) ?? fail(`there is no buffer ${name}`);
}

function event(name: string): CudaEvent {
  return events.get(name) ?? fail(`there is no event ${name}`);
}

function fail(message: string): never {
  throw new Error(message);
}
