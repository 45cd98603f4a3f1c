// The kit in one file, as a release has it, and programs that are bundled with the kit: nothing of it
// may depend on lying in a folder of its own.

import { assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { BUNDLED_ENTRIES, bundleProgram } from "../../release/bundle.ts";
import { type ChildResult, runDeno, runElsewhere } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** More than what transfers that block move without lanes. */
const LARGE_BYTES = 160 << 20;

const PROGRAM = `
using gpu = CudaDevice.open(0, { driver: "simulated" });
using x = gpu.alloc("uint8", ${LARGE_BYTES}, { label: "x" });
const array = new Uint8Array(${LARGE_BYTES}).fill(7);
array[${LARGE_BYTES - 3}] = 9;
x.uploadSync(array);
const back = x.downloadSync();
console.log(back.indexOf(9) === ${LARGE_BYTES - 3} && back.lastIndexOf(7) === ${LARGE_BYTES - 1});
const bundle = x[Symbol.for("Jupyter.display")]();
console.log(bundle["text/plain"].split("\\n")[0], bundle["text/html"].startsWith("<div"));
console.log(gpu.live().objects[0]?.origin ?? "unknown");
`;

Deno.test("bundleProgram() gives one file that runs by URL with --allow-ffi alone", async () => {
  const text = await bundleProgram();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(text, { headers: { "content-type": "text/javascript" } }),
  );
  const host = `127.0.0.1:${server.addr.port}`;
  const program = `import { CudaDevice } from "http://${host}/vramkit.js";\n${PROGRAM}`;
  const result = await runElsewhere(program, [
    "--no-check",
    "--allow-ffi",
    `--allow-import=${host}`,
  ]);
  assertPrinted(result, "program.ts:4:15");
});

Deno.test("bundleProgram() has every name of its entries", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("vramkit.js", await bundleProgram());
  const names = new Set<string>();
  for (const entry of BUNDLED_ENTRIES) {
    const module = await import(new URL(config.exports[entry], PROJECT_ROOT).href);
    for (const name of Object.keys(module)) names.add(name);
  }
  const { stdout } = await runDeno([
    "eval",
    `console.log(Object.keys(await import("file://${path}")).sort().join())`,
  ]);
  assertEquals(stdout.trim(), [...names].sort().join());
});

Deno.test("a program that deno bundle joined with the kit runs with --allow-ffi alone", async () => {
  using folder = new TemporaryFolder();
  const mod = new URL("mod.ts", PROJECT_ROOT).href;
  const source = folder.write("source.ts", `import { CudaDevice } from "${mod}";\n${PROGRAM}`);
  const output = `${folder.path}/bundled.js`;
  const bundled = await runDeno(["bundle", "--no-config", "-o", output, source]);
  assertEquals(bundled.code, 0, bundled.stderr);
  const result = await runElsewhere(Deno.readTextFileSync(output), ["--allow-ffi"]);
  assertPrinted(result, "unknown");
});

function assertPrinted({ stdout, stderr }: ChildResult, origin: string): void {
  const [isMoved, card, place] = stdout.split("\n");
  assertEquals(isMoved, "true", stderr);
  assertStringIncludes(card ?? "", "DeviceBuffer x: uint8[");
  assertStringIncludes(card ?? "", "true");
  assertEquals(place, origin);
}
