// The driver's own blocking copies of ordinary memory, bound here to be measured beside ours. The
// kit does not call them: they use the legacy stream, and an upload may return before it is over.

import { openDriver } from "../../ffi/library.ts";
import type { CudaDevice } from "../../mod.ts";

/** The two calls, or on the simulated driver the queued calls and a wait. */
export interface BlockingCalls {
  /** cuMemcpyHtoD. */
  upload(address: bigint, bytes: Uint8Array<ArrayBuffer>): void;
  /** cuMemcpyDtoH. */
  download(bytes: Uint8Array<ArrayBuffer>, address: bigint): void;
}

/** Finds the calls of the driver that the device was opened with. */
export function blockingCalls(gpu: CudaDevice): BlockingCalls {
  return gpu.name === "Simulated" ? queuedCalls(gpu) : driverCalls();
}

function driverCalls(): BlockingCalls {
  const { cuMemcpyHtoD_v2, cuMemcpyDtoH_v2 } = Deno.dlopen(openDriver().path, {
    // CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
    cuMemcpyHtoD_v2: { parameters: ["u64", "buffer", "usize"], result: "i32" },
    // CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
    cuMemcpyDtoH_v2: { parameters: ["buffer", "u64", "usize"], result: "i32" },
  }).symbols;
  return {
    upload: (address, bytes) => {
      const status = cuMemcpyHtoD_v2(address, bytes, BigInt(bytes.byteLength));
      if (status !== 0) throw new Error(`Cannot measure cuMemcpyHtoD: it returned ${status}`);
    },
    download: (bytes, address) => {
      const status = cuMemcpyDtoH_v2(bytes, address, BigInt(bytes.byteLength));
      if (status !== 0) throw new Error(`Cannot measure cuMemcpyDtoH: it returned ${status}`);
    },
  };
}

function queuedCalls({ context, stream }: CudaDevice): BlockingCalls {
  const { driver } = context;
  return {
    upload: (address, bytes) => {
      const size = BigInt(bytes.byteLength);
      driver.call("cuMemcpyHtoDAsync_v2", address, bytes, size, stream.handle);
      stream.synchronizeSync();
    },
    download: (bytes, address) => {
      const size = BigInt(bytes.byteLength);
      driver.call("cuMemcpyDtoHAsync_v2", bytes, address, size, stream.handle);
      stream.synchronizeSync();
    },
  };
}
