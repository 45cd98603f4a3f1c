// The driver's own copies of ordinary memory, made to block: what the kit's small transfers are
// measured beside. Two ways: on the same stream with a wait, and the calls that block by themselves,
// which use the legacy stream and after which an upload may still be on its way.

import { openDriver } from "../../ffi/library.ts";
import type { CudaDevice } from "../../mod.ts";

/** One way to copy up and down, blocking. */
export interface BlockingCalls {
  /** Copies to the device. */
  upload(address: bigint, bytes: Uint8Array<ArrayBuffer>): void;
  /** Copies from the device. */
  download(bytes: Uint8Array<ArrayBuffer>, address: bigint): void;
}

/** cuMemcpyHtoDAsync or cuMemcpyDtoHAsync, and cuStreamSynchronize. */
export function callsOnStream({ context, stream }: CudaDevice): BlockingCalls {
  const { api } = context.driver;
  const { handle } = stream;
  return {
    upload: (address, bytes) => {
      const status = api.cuMemcpyHtoDAsync_v2(address, bytes, BigInt(bytes.byteLength), handle);
      check(status || api.cuStreamSynchronize(handle), "cuMemcpyHtoDAsync");
    },
    download: (bytes, address) => {
      const status = api.cuMemcpyDtoHAsync_v2(bytes, address, BigInt(bytes.byteLength), handle);
      check(status || api.cuStreamSynchronize(handle), "cuMemcpyDtoHAsync");
    },
  };
}

/** cuMemcpyHtoD and cuMemcpyDtoH; undefined on the simulated driver, which lacks them. */
export function callsOnLegacyStream(gpu: CudaDevice): BlockingCalls | undefined {
  if (gpu.name === "Simulated") return undefined;
  const { cuMemcpyHtoD_v2, cuMemcpyDtoH_v2 } = Deno.dlopen(openDriver().path, {
    // CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
    cuMemcpyHtoD_v2: { parameters: ["u64", "buffer", "usize"], result: "i32" },
    // CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
    cuMemcpyDtoH_v2: { parameters: ["buffer", "u64", "usize"], result: "i32" },
  }).symbols;
  return {
    upload: (address, bytes) => {
      check(cuMemcpyHtoD_v2(address, bytes, BigInt(bytes.byteLength)), "cuMemcpyHtoD");
    },
    download: (bytes, address) => {
      check(cuMemcpyDtoH_v2(bytes, address, BigInt(bytes.byteLength)), "cuMemcpyDtoH");
    },
  };
}

function check(status: number, name: string): void {
  if (status !== 0) throw new Error(`Cannot measure ${name}: it returned ${status}`);
}
