// Models in the cache of huggingface_hub, laid out by its own code and by hand.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { CudaDevice } from "../../../mod.ts";
import { hubModel, localPath, SafetensorsError } from "../../../src/entries/safetensors.ts";
import { runDeno } from "../../support/child_deno.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { runPython, testsWith } from "../../support/python.ts";
import { fileOf } from "../../support/safetensors/files.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { takingTurns } from "../../support/test_unless.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const PEER = new URL("../../support/hub/peer.py", import.meta.url).pathname;
const testWithPeer = await testsWith("huggingface_hub");

const [OLD, NEW] = ["a".repeat(40), "b".repeat(40)];
const INDEX = "model.safetensors.index.json";
const SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;

/** A file with one tensor of one byte. */
function one(name: string, value: number): Uint8Array {
  const header = { [name]: { dtype: "U8", shape: [1], data_offsets: [0, 1] } };
  return fileOf({ header, data: Uint8Array.of(value) });
}

/** The files of one revision in two shards. */
function sharded(value: number): Record<string, string | Uint8Array> {
  const [first, second] = SHARDS;
  return {
    [INDEX]: JSON.stringify({ weight_map: { a: first, b: second } }),
    [first]: one("a", value),
    [second]: one("b", value + 1),
  };
}

/** Lays out a cache as huggingface_hub does, and returns the repository's folder. */
function layOut(
  cache: string,
  repository: string,
  revisions: Readonly<Record<string, Readonly<Record<string, string | Uint8Array>>>>,
  refs: Readonly<Record<string, string>>,
): string {
  const folder = `${cache}/models--${repository.replace("/", "--")}`;
  Deno.mkdirSync(`${folder}/blobs`, { recursive: true });
  for (const [commit, files] of Object.entries(revisions)) {
    for (const [file, contents] of Object.entries(files)) {
      const path = `${folder}/snapshots/${commit}/${file}`;
      const blob = `${commit.slice(0, 4)}-${file.replaceAll("/", "-")}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
      Deno.writeFileSync(`${folder}/blobs/${blob}`, bytes);
      Deno.symlinkSync(`${"../".repeat(file.split("/").length + 1)}blobs/${blob}`, path);
    }
  }
  for (const [ref, commit] of Object.entries(refs)) {
    const path = `${folder}/refs/${ref}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, commit);
  }
  return folder;
}

async function valuesOf(gpu: CudaDevice, ...given: Parameters<typeof optionsOf>): Promise<unknown> {
  using model = await hubModel(given[0], gpu, optionsOf(...given));
  const values: Record<string, number | undefined> = {};
  for (const [name, tensor] of model) values[name] = (await tensor.as("uint8").download())[0];
  return values;
}

function optionsOf(_repository: string, cacheDir: string, more: object = {}): object {
  return { cacheDir, ...more };
}

takingTurns(testWithPeer)(
  "localPath() finds what huggingface_hub finds in a cache of its own",
  async () => {
    using folder = new TemporaryFolder();
    const files = { ...sharded(1), "sub/x.txt": "x" };
    for (const commit of [OLD, NEW]) {
      for (const [name, contents] of Object.entries(files)) {
        const path = folder.pathOf(`${commit}/${name}`);
        Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
        const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
        Deno.writeFileSync(path, bytes);
      }
    }
    folder.write("refs.json", JSON.stringify({ main: NEW, v1: OLD, "refs/pr/7": OLD }));
    const cacheDir = folder.pathOf("cache");
    const names = [...Object.keys(files), "absent.txt"];
    for (const revision of ["main", "refs/pr/7"]) {
      const found: Record<string, string | null> = JSON.parse(
        await runPython([PEER, cacheDir, folder.path, "org/name", revision, ...names]),
      );
      for (const [file, path] of Object.entries(found)) {
        const options = { cacheDir, revision, file };
        if (path !== null) assertEquals(localPath("org/name", options), path);
        else {assertThrows(
            () => localPath("org/name", options),
            Deno.errors.NotFound,
            "no such file",
          );}
      }
      assertEquals(Object.values(found).filter((path) => path === null).length, 1);
    }
    await withDevice(async (gpu) => {
      assertEquals(await valuesOf(gpu, "org/name", cacheDir), { a: 1, b: 2 });
    });
  },
);

testOnDevice(
  "hubModel() loads single and sharded models, of the revision that is named",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const { path: cache } = folder;
    layOut(cache, "org/name", { [OLD]: sharded(1), [NEW]: sharded(5) }, {
      main: NEW,
      v1: `${OLD}\n`,
      "refs/pr/1": OLD,
    });
    assertEquals(await valuesOf(gpu, "org/name", cache), { a: 5, b: 6 });
    for (const revision of ["v1", "refs/pr/1", OLD]) {
      assertEquals(await valuesOf(gpu, "org/name", cache, { revision }), { a: 1, b: 2 });
    }
    assertEquals(await valuesOf(gpu, "org/name", cache, { file: SHARDS[1] }), { b: 6 });
    const filter = ({ name }: { name: string }) => name === "a";
    assertEquals(await valuesOf(gpu, "org/name", cache, { filter }), { a: 5 });
    // Such repositories have a second copy of the weights; the first is what programs load.
    const twice = { "model.safetensors": one("w", 7), "consolidated.safetensors": one("w", 8) };
    layOut(cache, "plain", { [NEW]: twice }, { main: NEW });
    assertEquals(await valuesOf(gpu, "plain", cache), { w: 7 });
    layOut(cache, "o/parts", { [NEW]: { "unet/x.safetensors": one("u", 3) } }, { main: NEW });
    assertEquals(await valuesOf(gpu, "o/parts", cache, { file: "unet" }), { u: 3 });
    await assertRejects(() => valuesOf(gpu, "o/parts", cache), SafetensorsError, "without files");
  },
);

testOnDevice("hubModel() names what is missing, and the command that brings it", async (gpu) => {
  using folder = new TemporaryFolder();
  const { path: cacheDir } = folder;
  const repository = layOut(cacheDir, "org/name", { [NEW]: sharded(1) }, { main: NEW, v2: OLD });
  const missing = (name: string, options: object, reason: string) => {
    return assertRejects(
      () => hubModel(name, gpu, { cacheDir, ...options }),
      Deno.errors.NotFound,
      reason,
    );
  };
  await missing(
    "org/other",
    {},
    `there is no ${cacheDir}/models--org--other; \`hf download org/other\``,
  );
  await missing(
    "org/name",
    { revision: "v2" },
    "it has no such snapshot, and the revisions main, v2",
  );
  await missing("org/name", { revision: "v3" }, "`hf download org/name --revision v3` brings it");
  await missing(
    "org/name",
    { file: "x.safetensors" },
    "org/name/x.safetensors at main: it was not downloaded",
  );
  const blob = `${repository}/blobs/bbbb-${SHARDS[1]}`;
  Deno.removeSync(blob);
  await missing("org/name", { file: SHARDS[1] }, `its blob ${blob} is missing`);
  await missing(
    "org/name",
    {},
    `../../blobs/bbbb-${SHARDS[1]}, which does not exist; \`hf download`,
  );
  Deno.removeSync(`${repository}/snapshots/${NEW}/${SHARDS[1]}`);
  await missing("org/name", {}, `${SHARDS[1]}: it does not exist; \`hf download org/name\``);
  layOut(cacheDir, "org/parts", { [NEW]: { "config.json": "{}" } }, { main: NEW });
  const bare = (name: string, reason: string) =>
    assertRejects(() => hubModel(name, gpu, { cacheDir }), SafetensorsError, reason);
  await bare(
    "org/parts",
    "config.json; pass a folder of it as { file }, or `hf download org/parts`",
  );
  layOut(cacheDir, "org/quant", { [NEW]: { "m.gguf": "x" } }, { main: NEW });
  await bare("org/quant", 'm.gguf; loadGguf() of "vramkit/gguf"');
});

Deno.test("localPath() stays in its folder, whatever it is given and finds", () => {
  using folder = new TemporaryFolder();
  const { path: cacheDir } = folder;
  const repository = layOut(cacheDir, "org/name", { [NEW]: sharded(1) }, {
    main: NEW,
    up: "../..",
  });
  const refused = (name: string, options: object, reason: string) => {
    assertThrows(() => localPath(name, { cacheDir, ...options }), TypeError, reason);
  };
  for (const name of ["", "../x", "a/b/c", "a/..", "a b", "a\0"]) {
    refused(name, {}, 'as "org/name"');
  }
  for (const file of ["../x", "/etc/passwd", "a//b", "a/", ".", "a\0b"]) {
    refused("org/name", { file }, "file");
  }
  for (const revision of ["../main", "", "/x"]) refused("org/name", { revision }, "revision");
  assertThrows(() => localPath("org/name", { cacheDir, revision: "up" }), Deno.errors.NotFound);
  Deno.writeTextFileSync(`${repository}/refs/long`, "z".repeat(100_000));
  const long = { cacheDir, revision: "long" };
  const error = assertThrows(() => localPath("org/name", long), Deno.errors.NotFound);
  assert(error.message.length < 1000);
  assertEquals(localPath("org/name", { cacheDir }), `${repository}/snapshots/${NEW}`);
});

Deno.test("localPath() takes the cache from the variables that huggingface_hub reads", async () => {
  using folder = new TemporaryFolder();
  const { path } = folder;
  layOut(`${path}/hub`, "org/name", { [NEW]: sharded(1) }, { main: NEW });
  layOut(`${path}/.cache/huggingface/hub`, "org/name", { [NEW]: sharded(1) }, { main: NEW });
  layOut(`${path}/xdg/huggingface/hub`, "org/name", { [NEW]: sharded(1) }, { main: NEW });
  const environments: [Record<string, string>, string][] = [
    [{ HF_HUB_CACHE: `${path}/hub`, HF_HOME: "/nowhere" }, `${path}/hub`],
    [{ HUGGINGFACE_HUB_CACHE: `${path}/hub` }, `${path}/hub`],
    [{ HF_HOME: path, XDG_CACHE_HOME: "/nowhere" }, `${path}/hub`],
    [{ HF_HOME: "~" }, `${path}/hub`],
    [{ HF_HOME: "$BASE/.", BASE: path }, `${path}/hub`],
    [{ HF_HUB_CACHE: "${BASE}/hub", BASE: path }, `${path}/hub`],
    [{ XDG_CACHE_HOME: `${path}/xdg` }, `${path}/xdg/huggingface/hub`],
    [{}, `${path}/.cache/huggingface/hub`],
  ];
  const program = folder.write(
    "program.ts",
    `import { localPath } from ${JSON.stringify(new URL("src/interop/hub.ts", PROJECT_ROOT).href)};
     for (const given of ${JSON.stringify(environments.map(([given]) => given))}) {
       const names = Object.entries({ HOME: ${JSON.stringify(path)}, ...given });
       for (const [name, value] of names) Deno.env.set(name, value);
       console.log(localPath("org/name"));
       for (const [name] of names) Deno.env.delete(name);
     }`,
  );
  const { stdout, stderr } = await runDeno(["run", "-A", "--quiet", program]);
  const expected = environments.map(([, cache]) => `${cache}/models--org--name/snapshots/${NEW}`);
  assertEquals([stdout.trim().split("\n"), stderr], [expected, ""]);
});

Deno.test("localPath() refuses a file outside of the repository, downloaded or not", () => {
  using folder = new TemporaryFolder();
  for (const file of ["../../x", "/etc/x", "a//b", ""]) {
    const refused = () => localPath("org/name", { cacheDir: folder.path, file });
    assertThrows(refused, TypeError, "expected a path in the repository");
  }
});
