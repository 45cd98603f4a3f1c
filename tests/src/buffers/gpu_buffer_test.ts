// Runs the contract of buffers over the plain kinds.

import { testBuffer } from "../../support/buffer_contract.ts";
import { allocateByGraph } from "../../support/graph_buffer.ts";

testBuffer({
  name: "DeviceBuffer",
  make: (gpu, { dtype, shape, ...options }) => gpu.alloc(dtype, shape, options),
});
testBuffer({
  name: "DeviceBuffer",
  title: "DeviceBuffer of a graph",
  make: allocateByGraph,
});
testBuffer({
  name: "PinnedBuffer",
  make: (gpu, { dtype, shape, ...options }) => gpu.pinned(dtype, shape, options),
});
