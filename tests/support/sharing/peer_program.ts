// Another process with a device of its own, which does what it is told: one command in JSON a line, and
// one answer. `deno run -A peer_program.ts`; VRAMKIT_TEST_DRIVER chooses the driver.

import { TextLineStream } from "./text_lines.ts";
import { CudaDevice, type CudaEvent, type DeviceBuffer } from "../../../mod.ts";
import { allocateBy, type PeerAnswer, type PeerCommand } from "./peer_words.ts";

using gpu = CudaDevice.open(0, {
  driver: Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda" ? "cuda" : "simulated",
});
const buffers = new Map<string, DeviceBuffer>();
const events = new Map<string, CudaEvent>();

for await (const line of Deno.stdin.readable.pipeThrough(new TextLineStream())) {
  const answer = JSON.stringify(await answerTo(JSON.parse(line)));
  await Deno.stdout.write(new TextEncoder().encode(`${answer}\n`));
}

async function answerTo(command: PeerCommand): Promise<PeerAnswer> {
  try {
    return { value: await obey(command) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { reason } = error as Partial<Record<"reason", string>>;
    return { error: { name: error.name, message: error.message, reason } };
  }
}

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
