// What does a view cost the host? Made and disposed, no driver call in it; the target is 300 ns.
// Each measure makes a thousand: divide by the count in its name.

import { CudaDevice } from "../mod.ts";

const VIEW_COUNT = 1000;

const gpu = CudaDevice.open(0, { driver: "auto" });
const matrix = gpu.alloc("float32", [1024, 1024]);

benchViews("a row: view(1)", () => matrix.view(1));
benchViews("a range: subarray(10, 20)", () => matrix.subarray(10, 20));
benchViews("another shape: reshape([512, 2048])", () => matrix.reshape([512, 2048]));
benchViews("another type: as(int32)", () => matrix.as("int32"));
benchViews("other axes: transpose()", () => matrix.transpose());

/** Registers a measure of making and disposing one kind of view. */
function benchViews(name: string, make: () => Disposable): void {
  Deno.bench(`${gpu.name}: ${name}, ${VIEW_COUNT} times`, { group: "views" }, () => {
    for (let i = 0; i < VIEW_COUNT; i++) make()[Symbol.dispose]();
  });
}
