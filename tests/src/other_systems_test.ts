// The kit on systems that it was not written on: everything but files works without
// the C library, and files are refused in words.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { denoJson } from "../support/child_deno.ts";
import type { OtherSystemResult } from "../support/other_system_program.ts";
import { inTurn } from "../support/test_unless.ts";

const PROGRAM = new URL("../support/other_system_program.ts", import.meta.url).pathname;

/** Steps that need Linux, and how the refusal begins. */
const REFUSED: Readonly<Record<string, string>> = {
  calibrate: "CudaUnavailableError: Cannot calibrate transfers: threads that copy need Linux",
  share: "CudaError: Cannot complete cuIpcGetMemHandle: CUDA_ERROR_NOT_SUPPORTED",
  writeFile: "LibraryError: Cannot open the C library: there is none for",
  uploadFile: "LibraryError: Cannot open the C library: there is none for",
  saveSafetensors: "LibraryError: Cannot open the C library: there is none for",
  loadSafetensors: "LibraryError: Cannot open the C library: there is none for",
};

for (const system of ["windows", "darwin"]) {
  Deno.test(
    inTurn(`the kit on ${system} works without the C library, except with files`),
    async () => {
      const result = await denoJson<OtherSystemResult>([
        "run",
        "-A",
        "--no-check",
        PROGRAM,
        system,
      ]);
      for (const [step, outcome] of Object.entries(result)) {
        const refusal = REFUSED[step];
        if (refusal === undefined) assertEquals(outcome, "done", step);
        else assertStringIncludes(outcome, refusal, step);
      }
    },
  );
}
