// Persisted memory and sleep, timed: how long a kernel's successor waits for its weights, beside loading them
// again, and how fast memory sleeps and wakes, beside page-locked copies. Kills a process of its own on the
// way. `deno task bench persisted [GiB]`; on the simulated driver it shows that it works, and no speed.

import type { DeviceBuffer } from "../src/buffers/device_buffer.ts";
import { CudaDevice } from "../src/device/device.ts";
import { saveSafetensors } from "../src/interop/safetensors/save.ts";
import { VirtualMemoryResource } from "../src/memory/virtual_memory_resource.ts";
import { KeeperConnection } from "../src/persist/keeper_connection.ts";
import { readWords } from "./arguments.ts";

const GIB = 2 ** 30;
const NAME = "bench of persisted memory";
const MODEL = "bench of a persisted model";

/** Buffers of a persisted object. */
const COUNT = 8;

const [first = "8", part, ...rest] = readWords({ most: 3 });
const gib = Number(first);
const bytesEach = Math.floor(gib * GIB / COUNT);

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(3)} s`;
}

function open(virtual = false): CudaDevice {
  const resource = (gpu: ConstructorParameters<typeof VirtualMemoryResource>[0]) => {
    return new VirtualMemoryResource(gpu);
  };
  return CudaDevice.open(0, { driver: "auto", ...(virtual ? { resource } : {}) });
}

function used(gpu: CudaDevice): string {
  const { totalBytes, freeBytes } = gpu.memory;
  return `${((totalBytes - freeBytes) / GIB).toFixed(2)} GiB used`;
}

/** Makes buffers of one value each. */
function make(gpu: CudaDevice): Record<string, DeviceBuffer<"uint8">> {
  const names = Array.from({ length: COUNT }, (_, i) => `w${i}`);
  return Object.fromEntries(
    names.map((name, i) => [name, gpu.alloc("uint8", bytesEach).fill(i + 1)]),
  );
}

/** Checks some bytes of every buffer. */
async function check(buffers: Readonly<Record<string, DeviceBuffer>>): Promise<void> {
  for (const [name, buffer] of Object.entries(buffers)) {
    for (let i = 0; i < 16; i++) {
      const at = i === 0
        ? 0
        : i === 1
        ? buffer.length - 1
        : Math.floor(Math.random() * buffer.length);
      const value = await buffer.at(at);
      if (value !== Number(name.slice(1)) + 1) throw new Error(`${name}[${at}] is ${value}`);
    }
  }
}

/** Runs a part in another process, and kills that when it says so. */
async function runPart(part: string, ...rest: string[]): Promise<void> {
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.filename ?? "", `${gib}`, part, ...rest],
    stdout: "piped",
    stderr: "inherit",
    env: { STARTED: `${performance.timeOrigin + started}` },
  }).spawn();
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("KILL ME")) child.kill("SIGKILL");
  }
  await child.status;
  console.log(text.replace("KILL ME\n", "(killed)\n").trimEnd());
}

function sinceStart(): string {
  const started = Number(Deno.env.get("STARTED"));
  return `${
    (performance.timeOrigin + performance.now() - started).toFixed(0)
  } ms after the process was started`;
}

const PARTS: Readonly<Record<string, (...rest: string[]) => Promise<void>>> = {
  async make() {
    const gpu = open();
    const start = performance.now();
    const kept = await gpu.persist(NAME, () => make(gpu));
    console.log(
      `persist() of ${gib} GiB: ${seconds(start)}, ${kept.persistence.descriptorCount} descriptors`,
    );
    console.log("KILL ME");
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
  async open() {
    const gpu = open();
    const opened = performance.now();
    const kept = await gpu.persist(NAME, () => make(gpu));
    const milliseconds = performance.now() - opened;
    const value = await kept["w0"]?.at(0);
    console.log(
      `open of ${gib} GiB: ${
        milliseconds.toFixed(1)
      } ms after CudaDevice.open; first use (${value}) ` +
        `${sinceStart()}; was there: ${kept.persistence.wasThere}, ${kept.persistence.state}`,
    );
    kept.dispose();
    await gpu.synchronize();
    const again = performance.now();
    const second = await gpu.persist(NAME, () => make(gpu));
    console.log(`open a second time: ${(performance.now() - again).toFixed(1)} ms`);
    await check(second);
    console.log("all bytes that were looked at are right");
  },
  async model(path = "") {
    const gpu = open();
    const opened = performance.now();
    const model = await gpu.persist(MODEL, () => gpu.loadSafetensors(path));
    const milliseconds = performance.now() - opened;
    const value = await model.tensor("w3").at(-1);
    console.log(
      `a model of ${(model.byteLength / GIB).toFixed(1)} GiB, ${
        model.persistence.wasThere ? "opened" : "loaded"
      }: ${milliseconds.toFixed(1)} ms; first use (${value}) ${sinceStart()}`,
    );
  },
};

async function sleepAndWake(): Promise<void> {
  using gpu = open(true);
  const buffers = make(gpu);
  const source = buffers["w0"];
  const target = buffers["w1"];
  if (source === undefined || target === undefined) return;
  using graph = gpu.capture(() => {
    target.copyFrom(source);
    source.subarray(0, 1024).fill(99);
    source.subarray(0, 1024).as("float32").fill(1);
  });
  const small = Math.min(bytesEach, GIB);
  using pinned = gpu.pinned("uint8", small);
  const part = source.subarray(0, small);
  const down = await gpu.time(() => pinned.copyFrom(part));
  const again = await gpu.time(() => pinned.copyFrom(part));
  const up = await gpu.time(() => part.copyFrom(pinned));
  console.log(
    `page-locked copies: ${down.gigabytesPerSecond.toFixed(1)}, ` +
      `${again.gigabytesPerSecond.toFixed(1)} GB/s down, ${up.gigabytesPerSecond.toFixed(1)} up`,
  );
  const bytes = bytesEach * COUNT;
  for (const round of ["first", "second", "third"]) {
    const before = used(gpu);
    const start = performance.now();
    await gpu.sleep(buffers);
    const asleep = performance.now() - start;
    const during = used(gpu);
    const waking = performance.now();
    await gpu.wake(buffers);
    const awake = performance.now() - waking;
    const speeds = [asleep, awake].map((ms) =>
      `${(ms / 1000).toFixed(3)} s, ${(bytes / ms / 1e6).toFixed(1)} GB/s`
    );
    console.log(`${round} sleep: ${speeds[0]} (${before}, then ${during}); wake: ${speeds[1]}`);
    await check(Object.fromEntries(Object.entries(buffers).slice(2)));
  }
  await gpu.sleep(buffers);
  const start = performance.now();
  graph.launch(); // wakes what it uses
  await gpu.synchronize();
  const values = [
    await target.at(5000),
    await target.at(-1),
    await source.subarray(0, 1024).as("float32").at(3),
  ];
  console.log(
    `a graph launched while its memory sleeps: ${seconds(start)}, values ${values} (1, 1, 1)`,
  );
  for (const buffer of Object.values(buffers)) buffer.dispose();
}

if (part !== undefined) {
  await PARTS[part]?.(...rest);
} else {
  using gpu = open();
  console.log(`${gpu}, ${used(gpu)}`);
  await runPart("make");
  console.log(`after the kill: ${used(gpu)}`);
  const keeper = await KeeperConnection.find();
  if (keeper !== undefined) {
    const status = Deno.readTextFileSync(`/proc/${keeper.pid}/status`);
    const files = [...Deno.readDirSync(`/proc/${keeper.pid}/fd`)].map(({ name }) => {
      return Deno.readLinkSync(`/proc/${keeper.pid}/fd/${name}`);
    });
    console.log(
      `the keeper: ${/VmRSS:\s+(.*)/.exec(status)?.[1]}, files: ${[...new Set(files)].join(" ")}`,
    );
    keeper[Symbol.dispose]();
  }
  if (!gpu.isSimulated) {
    const words = ["--query-compute-apps=pid,used_memory", "--format=csv,noheader"];
    const { stdout } = await new Deno.Command("nvidia-smi", { args: words }).output();
    console.log(
      `nvidia-smi names these processes: ${
        new TextDecoder().decode(stdout).trim().replaceAll("\n", "; ")
      }`,
    );
  }
  await runPart("open");
  console.log(`${await gpu.persisted()}`);
  await gpu.forget(NAME);
  await gpu.synchronize();
  console.log(`after forget(): ${used(gpu)}`);
  const path = Deno.makeTempFileSync({ suffix: ".safetensors" });
  {
    const count = Math.min(bytesEach, GIB / 2);
    const tensors = Object.fromEntries(
      Array.from({ length: COUNT }, (_, i) => [`w${i}`, gpu.alloc("uint8", count).fill(i + 1)]),
    );
    await saveSafetensors(path, tensors);
    for (const tensor of Object.values(tensors)) tensor.dispose();
  }
  await runPart("model", path);
  await runPart("model", path);
  await gpu.forget(MODEL);
  Deno.removeSync(path);
  await gpu.synchronize();
  console.log(`after forget(): ${used(gpu)}`);
  gpu.dispose();
  await sleepAndWake();
}
