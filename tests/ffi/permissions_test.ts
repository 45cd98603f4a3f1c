// A program with less than all of --allow-ffi hears at once which permission it lacks.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { runWith } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { testOnLinux } from "../support/test_unless.ts";

/** Opens a device in a child with these flags, and tells what came of it. */
async function openWith(flags: readonly string[], options: object): Promise<string> {
  const mod = new URL("mod.ts", PROJECT_ROOT).href;
  const program = `import { CudaDevice } from "${mod}";
    try {
      CudaDevice.open(0, ${JSON.stringify(options)});
      console.log("opened");
    } catch (error) {
      console.log(error.name, error.reason, error.message);
    }`;
  return (await runWith(flags, program)).stdout;
}

for (const flags of [[], ["--allow-ffi=/lib/x86_64-linux-gnu/libc.so.6"]]) {
  const name = `CudaDevice.open() of the simulated driver names what ${flags[0] ?? "no flag"} ` +
    `lacks`;
  Deno.test(name, async () => {
    const said = await openWith(flags, { driver: "simulated" });
    assertStringIncludes(said, "CudaUnavailableError permission Cannot use the simulated driver");
    assertStringIncludes(said, "run again with --allow-ffi, without paths");
  });
}

testOnLinux("CudaDevice.open() lists the libraries that --allow-ffi must name", async () => {
  for (const driver of ["cuda", "auto"]) {
    const said = await openWith(["--allow-ffi=/nowhere/libother.so"], { driver });
    assertStringIncludes(said, "CudaUnavailableError permission Cannot open the CUDA driver");
    assertStringIncludes(said, "libcuda.so.1,");
    assertStringIncludes(said, "libc.so.6 (the usual places)");
    assertEquals(said.includes(", which is enough where there is a GPU"), driver === "auto");
  }
});

Deno.test("CudaDevice.open() with auto says that a library which was named is missing", async () => {
  const libraryPath = "/nowhere/libcuda.so.1";
  const said = await openWith(["--allow-ffi"], { driver: "auto", libraryPath });
  assertStringIncludes(said, "CudaUnavailableError no-library Cannot open the CUDA driver: tried");
  assertStringIncludes(said, libraryPath);
  assertStringIncludes(said, "leave libraryPath out for a simulated GPU where there is none");
  assertEquals(
    await openWith(["--allow-ffi"], { driver: "auto" }).then((text) => text.trim()),
    "opened",
  );
});
