// The program of a process that persists memory as a test tells it.

import { CudaDevice, type DeviceBuffer } from "../../../mod.ts";
import type { Persisted } from "../../../src/persist/open_persisted.ts";
import { obeyCommands } from "../obedient_program.ts";
import type { PersistAnswer, PersistCommand } from "./peer.ts";

const isOnGpu = Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda";
const devices = [...CudaDevice.all({ driver: isOnGpu ? "cuda" : "simulated" })];

let held: Persisted<{ x: DeviceBuffer<"uint8"> }> | undefined;

function holding(): Persisted<{ x: DeviceBuffer<"uint8"> }> {
  if (held === undefined) throw new Error("nothing is open");
  return held;
}

async function persist(command: PersistCommand & { do: "persist" }): Promise<PersistAnswer> {
  const { name, byteLength = 1000, value = 1, key, replace, how, device = 0 } = command;
  const gpu = devices[device] as CudaDevice;
  let wasMade = false;
  const start = performance.now();
  held = await gpu.persist(name, async () => {
    wasMade = true;
    const x = gpu.alloc("uint8", byteLength).fill(value);
    if (how === "fails") {
      gpu.alloc("uint8", 2 ** 26);
      throw new RangeError("as the test wants it");
    }
    if (how === "hangs") await new Promise(() => setInterval(() => x.fill(value), 1));
    if (how === "writes on") setInterval(() => x.fill(value), 1);
    return { x };
  }, { key, replace });
  const milliseconds = performance.now() - start;
  const { state, openedBy } = held.persistence;
  const bytes = [await held.x.at(0) as number, await held.x.at(-1) as number];
  return { wasMade, state, openedBy, milliseconds, bytes };
}

await obeyCommands(async (command: PersistCommand) => {
  const gpu = devices[0] as CudaDevice;
  switch (command.do) {
    case "persist":
      return await persist(command);
    case "checksum":
      return await holding().x.checksum();
    case "fill":
      holding().x.fill(command.value);
      if (command.waits) await gpu.synchronize();
      return holding().persistence.state;
    case "fill and die":
      holding().x.fill(command.value);
      return Deno.kill(Deno.pid, "SIGKILL");
    case "dispose":
      holding().dispose();
      await gpu.synchronize();
      return gpu.live().byteLength;
    case "hand out":
      return holding().x.ptr === 0n;
    case "free bytes":
      await gpu.synchronize();
      return gpu.memory.freeBytes;
    case "forget":
      return await gpu.forget(command.name);
    case "list":
      return await gpu.persisted();
    case "sleep":
      return await gpu.sleep(holding(), { to: command.to, path: command.path });
    case "stats":
      return holding().persistence.state;
  }
});
