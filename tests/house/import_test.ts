// What importing the kit sets off: nothing; and what it asks of a program elsewhere: two flags.
// Both are seen from a second process with an empty cache, so nothing of this checkout helps it.

import { assertEquals, assertStringIncludes } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { denoJson, runElsewhere } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { inTurn, testOfAll } from "../support/test_unless.ts";

const ROUND_TRIP = `
using gpu = CudaDevice.open(0, { driver: "simulated" });
using x = await gpu.upload(new Float32Array([1, 2, 3, 4]));
console.log(gpu.info.name, (await x.download()).join());
`;

Deno.test("import of mod.ts opens nothing and needs no permission", async () => {
  const mod = new URL("mod.ts", PROJECT_ROOT).href;
  const program = `import * as kit from "${mod}"; console.log(typeof kit.CudaDevice);`;
  const { stdout, stderr } = await runElsewhere(program, []);
  assertEquals({ stdout, stderr }, { stdout: "function\n", stderr: "" });
});

Deno.test("import of mod.ts loads none of Node's modules", async () => {
  const mod = new URL("mod.ts", PROJECT_ROOT).href;
  const { modules } = await denoJson<ModuleGraph>(["info", "--json", mod]);
  const graph = new Map(modules.map((module) => [module.specifier, module]));
  const reached = new Set([mod]);
  for (const specifier of reached) {
    for (const { code, isDynamic } of graph.get(specifier)?.dependencies ?? []) {
      if (code?.specifier !== undefined && isDynamic !== true) reached.add(code.specifier);
    }
  }
  const builtins = [...reached].filter((specifier) => specifier.startsWith("node:"));
  assertEquals(builtins, []);
});

Deno.test(
  inTurn("import of each entry where Deno.dlopen is missing says where it works"),
  async () => {
    const entries = Object.values(config.exports).map((path) => new URL(path, PROJECT_ROOT).href);
    const program = `Reflect.deleteProperty(Deno, "dlopen");
    for (const entry of ${JSON.stringify(entries)}) {
      await import(entry).catch((error) => console.log(JSON.stringify(error.message)));
    }`;
    const { stdout } = await runElsewhere(program, ["--allow-read"]);
    const messages = stdout.trim().split("\n");
    assertEquals(messages.length, entries.length, stdout);
    for (const message of messages) {
      assertStringIncludes(message, "Cannot load vramkit in Deno/");
      assertStringIncludes(message, "Node, Bun and Deno Deploy lack");
    }
  },
);

Deno.test(inTurn("import of mod.ts in a Deno that is too old says which is needed"), async () => {
  const program = `Reflect.deleteProperty(Map.prototype, "getOrInsertComputed");
    await import("${new URL(
    "mod.ts",
    PROJECT_ROOT,
  )}").catch((error) => console.log(error.message));`;
  const { stdout } = await runElsewhere(program, []);
  assertStringIncludes(stdout, 'it needs Deno 2.8 or newer; run "deno upgrade"');
});

Deno.test("import of mod.ts from a URL round-trips an array with two permissions", async () => {
  await using server = serveProject();
  const program = `import { CudaDevice } from "${server.origin}/mod.ts";\n${ROUND_TRIP}`;
  const { code, stdout, stderr } = await runElsewhere(program, [
    `--allow-import=${server.host}`,
    "--allow-ffi",
  ]);
  assertEquals(stdout, "Simulated 1,2,3,4\n", stderr);
  assertEquals(code, 0);
  // It loads ffi/ and src/, and no entry beside it.
  const outside = server.served.filter((path) => !/^\/(mod\.ts|ffi\/.+|src\/.+)$/.test(path));
  const entries = server.served.filter((path) =>
    /^\/src\/(notebook\/|cli|(memory|safetensors|testing)\.ts)/.test(path)
  );
  assertEquals([...outside, ...entries], []);
  assertStringIncludes(server.served.join("\n"), "/src/device/device.ts");
});

for (const type of ["video/mp2t", "text/plain", "application/octet-stream"]) {
  Deno.test(inTurn(`import of mod.ts from a server that calls it ${type} works`), async () => {
    await using server = serveProject(type);
    const program = `import { VERSION } from "${server.origin}/mod.ts"; console.log(VERSION);`;
    const { stdout, stderr } = await runElsewhere(program, [`--allow-import=${server.host}`]);
    assertEquals(stdout, `${config.version}\n`, stderr);
  });
}

testOfAll("import of mod.ts from a URL passes the type check elsewhere", async () => {
  await using server = serveProject();
  const program = `import { CudaDevice } from "${server.origin}/mod.ts";\n${ROUND_TRIP}`;
  const { code, stderr } = await runElsewhere(program, [`--allow-import=${server.host}`], "check");
  assertEquals(code, 0, stderr);
});

/** The part of `deno info --json` that this file reads; `code` is missing where types are imported. */
interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly isDynamic?: boolean;
    }[];
  }[];
}

/** The checkout behind an HTTP server on a free port of this machine. */
interface ProjectServer extends AsyncDisposable {
  readonly host: string;
  readonly origin: string;
  /** Paths asked for so far. */
  readonly served: readonly string[];
}

function serveProject(type = "application/typescript"): ProjectServer {
  const served: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    served.push(pathname);
    return readProjectFile(pathname, type);
  });
  const host = `127.0.0.1:${server.addr.port}`;
  return {
    host,
    origin: `http://${host}`,
    served,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function readProjectFile(pathname: string, type: string): Promise<Response> {
  try {
    const body = await Deno.readFile(new URL(`.${pathname}`, PROJECT_ROOT));
    return new Response(body, { headers: { "content-type": type } });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Response(null, { status: 404 });
    throw error;
  }
}
