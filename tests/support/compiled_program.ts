// A program that a release compiles with `deno compile`, and runs.

import { CudaDevice } from "../../mod.ts";

using gpu = CudaDevice.open(0, { driver: "simulated" });
using x = await gpu.upload(new Float32Array([1, 2, 3]));
console.log((await x.download()).join());
