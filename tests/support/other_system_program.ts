// Does what programs do, on a machine that says it is another system, where there is no C library:
// `deno run other_system_program.ts windows`. Prints for each step "done" or what it was told.

import { TemporaryFolder } from "./temporary_folder.ts";

/** Each step by its name, and what came of it. */
export type OtherSystemResult = Readonly<Record<string, string>>;

if (import.meta.main) {
  Object.defineProperty(Deno, "build", { value: { ...Deno.build, os: Deno.args[0] } });
  console.log(JSON.stringify(await runSteps()));
}

async function runSteps(): Promise<OtherSystemResult> {
  const { CudaDevice } = await import("../../mod.ts"); // reads Deno.build
  const { calibrate, CALIBRATION_BYTES } = await import("../../src/measure/calibrate.ts");
  // With this many lanes the ring would be the way for all of these, if it were to be had.
  const transfers = { laneCount: 8, ringFromSize: "4 MiB" } as const;
  using gpu = CudaDevice.open(0, { driver: "simulated", transfers });
  const [small, large] = [new Float32Array(10).fill(1), new Float32Array(8 * 2 ** 20).fill(2)];
  using folder = new TemporaryFolder();
  const path = `${folder.path}/values`;

  const steps: Readonly<Record<string, () => unknown>> = {
    "arrays that are awaited": async () => {
      for (const array of [small, large]) {
        using x = await gpu.upload(array);
        check((await x.download()).at(-1) === array.at(-1));
      }
    },
    "arrays that block": () => {
      for (const array of [small, large]) {
        using x = gpu.uploadSync(array);
        check(x.downloadSync().at(-1) === array.at(-1));
      }
    },
    "many arrays": async () => {
      using packed = await gpu.uploadAll([small, large, small]);
      const [first] = await gpu.downloadAll([...packed.buffers]);
      check(first?.at(-1) === 1);
    },
    "streams": async () => {
      using x = await gpu.from(new Blob([large]), { dtype: "float32" });
      check((await new Response(x.readable).arrayBuffer()).byteLength === large.byteLength);
    },
    "page-locked, mapped, managed and registered memory": async () => {
      using pinned = gpu.pinned("float32", 10);
      using mapped = gpu.mapped("float32", 10);
      check(mapped.flags.mapped);
      using managed = gpu.managed("float32", 10);
      using registered = gpu.register(small);
      using x = gpu.alloc("float32", 10);
      x.copyFrom(pinned.fill(3));
      managed.copyFrom(x);
      await gpu.synchronize();
      check((await managed.download()).at(-1) === 3 && registered.byteLength === 40);
    },
    "what the system says": () => check(gpu.system().unavailable === undefined),
    "calibrate": async () => {
      using x = gpu.alloc("uint8", CALIBRATION_BYTES);
      await calibrate(x);
    },
    "writeFile": async () => {
      using x = await gpu.upload(small);
      await x.writeFile(path);
    },
    "uploadFile": async () => void await gpu.uploadFile(path),
    "saveSafetensors": async () => {
      using x = await gpu.upload(small);
      await gpu.saveSafetensors(path, { x });
    },
    "loadSafetensors": async () => void await gpu.loadSafetensors(path),
    "share": async () => {
      using x = gpu.zeros("uint8", 10, { shareable: true });
      await x.share();
    },
    "handOver": async () => {
      using x = gpu.takeOver(await gpu.zeros("uint8", 10).handOver());
      check(await x.at(-1) === 0);
    },
    "what is left": () => check(gpu.live().objects.length === 0),
  };

  const result: Record<string, string> = {};
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step();
      result[name] = "done";
    } catch (error) {
      result[name] = String(error);
    }
  }
  return result;
}

function check(isRight: boolean): void {
  if (!isRight) throw new Error("a wrong result");
}
