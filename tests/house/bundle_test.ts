// The kit in a few files, as a release has it, and programs that are bundled with the kit: nothing of it
// may depend on lying in a folder of its own.

import { assertEquals, assertGreater, assertLess, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { bundlePrograms, RELEASE_FILES } from "../../release/bundle.ts";
import { type ChildResult, runDeno, runElsewhere } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { inTurn } from "../support/test_unless.ts";

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

/** The files of a release. */
const texts = await bundlePrograms();

Deno.test(
  inTurn("bundlePrograms() gives files that run by URL with --allow-ffi alone"),
  async () => {
    const served: string[] = [];
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ url }) => {
        const name = new URL(url).pathname.slice(1);
        served.push(name);
        return new Response(texts.get(name) ?? null, {
          status: texts.has(name) ? 200 : 404,
          headers: { "content-type": "text/javascript" },
        });
      },
    );
    const host = `127.0.0.1:${server.addr.port}`;
    const program = `import { CudaDevice } from "http://${host}/vramkit.js";\n${PROGRAM}`;
    const flags = ["--no-check", "--allow-ffi", `--allow-import=${host}`];
    assertPrinted(await runElsewhere(program, flags), "program.ts:4:15");
    assertEquals(served.filter((name) => /cli|notebook|bench|plotly|map/.test(name)), []);
    assertLess(served.length, 20);
    assertEquals(new Set(served).size, served.length);
  },
);

Deno.test(
  inTurn("the files of a release have every name of their entries, and one CudaDevice"),
  async () => {
    using folder = new TemporaryFolder();
    for (const [name, text] of texts) folder.write(name, text);
    for (const [file, entries] of Object.entries(RELEASE_FILES)) {
      const names = new Set<string>();
      for (const entry of entries) {
        const module = await import(new URL(config.exports[entry], PROJECT_ROOT).href);
        for (const name of Object.keys(module)) names.add(name);
      }
      const { stdout, stderr } = await runDeno([
        "eval",
        `console.log(Object.keys(await import("file://${folder.path}/${file}.js")).sort().join())`,
      ]);
      assertEquals(stdout.trim(), [...names].sort().join(), `${file}: ${stderr}`);
    }
    const program = folder.write(
      "vramkit_program.ts",
      `import { CudaDevice } from "./vramkit.js";
    import { plotMemoryMap } from "./vramkit_notebook.js";
    using gpu = CudaDevice.open(0, { driver: "simulated" });
    using x = gpu.alloc("uint8", 32 << 20);
    plotMemoryMap(gpu);
    console.log(gpu.live().objects[0]?.origin);`,
    );
    const { stdout, stderr } = await runDeno(["run", "--no-config", "--allow-ffi", program]);
    assertEquals({ stdout, stderr }, { stdout: "vramkit_program.ts:4:19\n", stderr: "" });
    const help = await runDeno(["run", `${folder.path}/vramkit_cli.js`, "--version"]);
    assertEquals(help.stdout, `${config.version}\n`);
  },
);

Deno.test("a notebook with the files of a release is told of a call that was not awaited", async () => {
  using folder = new TemporaryFolder();
  for (const [name, text] of texts) folder.write(name, text);
  const program = folder.write(
    "program.ts",
    `const kernel = Object.create(Deno, { jupyter: { value: { display: async () => {} } } });
    Object.defineProperty(globalThis, "Deno", { value: kernel });
    addEventListener("unhandledrejection", (event) => event.preventDefault());
    const { CudaDevice } = await import("./vramkit.js");
    using gpu = CudaDevice.open(0, { driver: "simulated" });
    using x = gpu.zeros("float32", 4, { label: "x" });
    x.upload(new Float32Array(3));
    await new Promise((resolve) => setTimeout(resolve, 1));`,
  );
  const { stderr } = await runDeno(["run", "-A", "--no-config", "--no-check", program]);
  assertStringIncludes(stderr, "vramkit: a call that was not awaited failed: Cannot upload to");
});

Deno.test("what a release loads when it is first called is the code of that call", async () => {
  const loads = [...texts].flatMap(([name, text]) =>
    [...text.matchAll(/const \{ (\w+) \} = await import\("\.\/(\w+\.js)"\)/g)]
      .map(([, called = "", file = ""]) => ({ name, called, file }))
  );
  assertGreater(loads.length, 3);
  using folder = new TemporaryFolder();
  for (const [name, text] of texts) folder.write(name, text);
  const missing = await Promise.all(loads.map(async ({ called, file }) => {
    const module = await import(`file://${folder.path}/${file}`) as Record<string, unknown>;
    return called in module ? [] : [`${called} of ${file}`];
  }));
  assertEquals(missing.flat(), []);
});

Deno.test("the source maps of a release name the sources and their lines", () => {
  let count = 0;
  for (const [name, text] of texts) {
    if (!name.endsWith(".map")) continue;
    const { sources } = JSON.parse(text) as { sources: readonly string[] };
    count += sources.length;
    assertEquals(sources.filter((path) => path.includes(":") || path.startsWith("/")), []);
  }
  assertGreater(count, 300);
});

Deno.test(
  inTurn("a program that deno bundle joined with the kit runs with --allow-ffi alone"),
  async () => {
    using folder = new TemporaryFolder();
    const mod = new URL("mod.ts", PROJECT_ROOT).href;
    const source = folder.write("source.ts", `import { CudaDevice } from "${mod}";\n${PROGRAM}`);
    const output = `${folder.path}/bundled.js`;
    const bundled = await runDeno(["bundle", "--no-config", "-o", output, source]);
    assertEquals(bundled.code, 0, bundled.stderr);
    const result = await runElsewhere(Deno.readTextFileSync(output), ["--allow-ffi"]);
    assertPrinted(result, "unknown");
  },
);

function assertPrinted({ stdout, stderr }: ChildResult, origin: string): void {
  const [isMoved, card, place] = stdout.split("\n");
  assertEquals(isMoved, "true", stderr);
  assertStringIncludes(card ?? "", "DeviceBuffer x: uint8[");
  assertStringIncludes(card ?? "", "true");
  assertEquals(place, origin);
}
