// Checks ffi/ against what a C++ compiler says about cuda.h, nvml.h, nvrtc.h, dlpack.h and nccl.h, and that
// this check can fail. The compiler's answers lie in cuda_abi.json and its like; `deno run -A tests/support/abi/generate.ts` writes
// them anew.

import { assertEquals } from "@std/assert";
import { struct, u16, u64, u8 } from "../../ffi/struct.ts";
import { compareAbi } from "../support/abi/compare.ts";
import answer from "../support/abi/cuda_abi.json" with { type: "json" };
import dlpackAnswer from "../support/abi/dlpack_abi.json" with { type: "json" };
import type { AbiManifest } from "../support/abi/manifest.ts";
import ncclAnswer from "../support/abi/nccl_abi.json" with { type: "json" };
import nvmlAnswer from "../support/abi/nvml_abi.json" with { type: "json" };
import nvrtcAnswer from "../support/abi/nvrtc_abi.json" with { type: "json" };
import {
  type AbiSubjects,
  CUDA_SUBJECTS,
  DLPACK_SUBJECTS,
  NCCL_SUBJECTS,
  NVML_SUBJECTS,
  NVRTC_SUBJECTS,
  placesOf,
} from "../support/abi/subjects.ts";

const NOTHING: AbiSubjects = { functions: {}, structs: {}, constants: {} };

function differences(subjects: Partial<AbiSubjects>): string[] {
  return compareAbi({ ...NOTHING, ...subjects }, answer as AbiManifest);
}

Deno.test("CUDA binds every function as cuda.h declares it", () => {
  assertEquals(differences({ functions: CUDA_SUBJECTS.functions }), []);
});

Deno.test("structs.ts places every member as cuda.h does", () => {
  assertEquals(differences({ structs: CUDA_SUBJECTS.structs }), []);
});

Deno.test("constants.ts has the numbers of cuda.h", () => {
  assertEquals(differences({ constants: CUDA_SUBJECTS.constants }), []);
});

Deno.test("NVML and its structs and constants are as nvml.h has them", () => {
  assertEquals(compareAbi(NVML_SUBJECTS, nvmlAnswer as AbiManifest), []);
});

Deno.test("NVRTC and its constants are as nvrtc.h has them", () => {
  assertEquals(compareAbi(NVRTC_SUBJECTS, nvrtcAnswer as AbiManifest), []);
});

Deno.test("dlpack.ts places every member as dlpack.h does, and has its numbers", () => {
  assertEquals(compareAbi(DLPACK_SUBJECTS, dlpackAnswer as AbiManifest), []);
});

Deno.test("NCCL, its configuration and its constants are as nccl.h has them", () => {
  assertEquals(compareAbi(NCCL_SUBJECTS, ncclAnswer as AbiManifest), [
    "ncclConfig_t: has 24 bytes, 80 in the header", // the kit gives its start, and says so in it
  ]);
});

Deno.test("compareAbi() names a function with a parameter of the wrong width", () => {
  const functions = { cuMemAlloc_v2: { parameters: ["buffer", "u32"], result: "i32" } } as const;
  assertEquals(differences({ functions }), [
    "cuMemAlloc_v2: parameter 2 is bound as u32, u64 in the header",
  ]);
});

Deno.test("compareAbi() names a function with a parameter of the wrong sign", () => {
  const functions = { cuInit: { parameters: ["i32"], result: "i32" } } as const;
  assertEquals(differences({ functions }), [
    "cuInit: parameter 1 is bound as i32, u32 in the header",
  ]);
});

Deno.test("compareAbi() names a function that lacks a parameter", () => {
  const functions = { cuMemAlloc_v2: { parameters: ["buffer"], result: "i32" } } as const;
  assertEquals(differences({ functions }), [
    "cuMemAlloc_v2: has 1 parameters, 2 in the header",
  ]);
});

Deno.test("compareAbi() names a function with a result of the wrong width", () => {
  const functions = { cuCtxSynchronize: { parameters: [], result: "u64" } } as const;
  assertEquals(differences({ functions }), [
    "cuCtxSynchronize: result is bound as u64, enum 4 in the header",
  ]);
});

Deno.test("compareAbi() names a function that takes a struct of another size by value", () => {
  const functions = {
    cuIpcOpenEventHandle: { parameters: ["buffer", { struct: ["u64", "u8"] }], result: "i32" },
  } as const;
  assertEquals(differences({ functions }), [
    "cuIpcOpenEventHandle: parameter 2 is bound as struct 16, struct 64 in the header",
  ]);
});

Deno.test("compareAbi() checks a row with another name against the function it binds", () => {
  const functions = {
    waitNonblocking: {
      name: "cuStreamSynchronize",
      parameters: ["u32"],
      result: "i32",
      nonblocking: true,
    },
  } as const;
  assertEquals(differences({ functions }), [
    "waitNonblocking: parameter 1 is bound as u32, pointer in the header",
  ]);
});

Deno.test("compareAbi() tells an old signature from the version that replaced it", () => {
  const { cuMemAdvise } = (answer as AbiManifest).functions;
  assertEquals(cuMemAdvise?.parameters, ["u64", "u64", "enum 4", "i32"]);
});

Deno.test("compareAbi() names what the manifest lacks", () => {
  const functions = { cuNew: { parameters: [], result: "i32" } } as const;
  assertEquals(differences({ functions, constants: { CU_NEW: 1 } }), [
    "cuNew: not in the manifest, run deno run -A tests/support/abi/generate.ts",
    "CU_NEW: not in the manifest, run deno run -A tests/support/abi/generate.ts",
  ]);
});

Deno.test("compareAbi() names a member at the wrong offset", () => {
  const allocFlags = struct({ usage: u16, compressionType: u8 });
  const structs = {
    CUmemAllocationProp: placesOf(struct({ win32HandleMetaData: u64, allocFlags })),
  };
  assertEquals(differences({ structs }), [
    "CUmemAllocationProp: has 16 bytes, 32 in the header",
    "CUmemAllocationProp.win32HandleMetaData: 8 bytes at 0, 8 bytes at 16 in the header",
    "CUmemAllocationProp.allocFlags: 4 bytes at 8, 8 bytes at 24 in the header",
    "CUmemAllocationProp.allocFlags.usage: 2 bytes at 8, 2 bytes at 26 in the header",
    "CUmemAllocationProp.allocFlags.compressionType: 1 bytes at 10, 1 bytes at 24 in the header",
  ]);
});

Deno.test("compareAbi() names a constant with another number", () => {
  assertEquals(differences({ constants: { CUDA_ERROR_OUT_OF_MEMORY: 3 } }), [
    "CUDA_ERROR_OUT_OF_MEMORY: is 3, 2 in the header",
  ]);
});
