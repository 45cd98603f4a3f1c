// Checks what ffi/cuda.ts says beyond the header: its groups and the release of each function.
// Signatures are checked in abi_test.ts.

import { assertEquals } from "@std/assert";
import { CUDA, CUDA_GROUPS, CUDA_SINCE } from "../../ffi/cuda.ts";

Deno.test("CUDA_SINCE names the release of exactly the optional functions", () => {
  const optional = Object.entries(CUDA).filter(([, row]) => "optional" in row && row.optional);
  assertEquals(Object.keys(CUDA_SINCE).sort(), optional.map(([name]) => name).sort());
});

Deno.test("CUDA_GROUPS hold each function once", () => {
  const names = CUDA_GROUPS.flatMap((group) => Object.keys(group));
  assertEquals(names.sort(), Object.keys(CUDA).sort());
});
