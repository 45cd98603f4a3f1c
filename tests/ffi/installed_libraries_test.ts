// The finder of NVIDIA's libraries: each place, in its order, and what is told when there is none.

import { assert, assertEquals } from "@std/assert";
import { INSTALLED_LIBRARIES } from "../../ffi/installed_libraries.ts";
import { runWith } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** Variables that name files, as if they were not set. */
const OWN = {
  ...Object.fromEntries(Object.values(INSTALLED_LIBRARIES).map(({ variable }) => [variable, ""])),
  CUDA_ROOT: "",
  CUDAToolkit_ROOT: "",
  PYTHONPATH: "",
  PYENV_ROOT: "",
};

/** Finds libraries in a process of its own, whose environment is known. */
async function find(
  names: readonly string[],
  env: Record<string, string>,
  { flags = ["-A"], current }: { flags?: readonly string[]; current?: string } = {},
): Promise<{ path?: string; place?: string; identity?: string; tried: string[] }[]> {
  const { stdout, stderr } = await runWith(
    flags,
    `
    import { findLibrary } from "${new URL("ffi/installed_libraries.ts", PROJECT_ROOT)}";
    const current = ${JSON.stringify(current)};
    if (current !== undefined) Deno.chdir(current);
    console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => findLibrary(name))));
  `,
    { CUDA_HOME: "", CUDA_PATH: "", CONDA_PREFIX: "", VIRTUAL_ENV: "", ...OWN, ...env },
  );
  assert(stdout !== "", stderr);
  return JSON.parse(stdout);
}

/** Makes files, and the folders above them. */
function plant(folder: TemporaryFolder, paths: readonly string[]): void {
  for (const path of paths) {
    const whole = `${folder.path}/${path}`;
    Deno.mkdirSync(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(whole, path);
  }
}

Deno.test("findLibrary() looks in CUDA's folder, conda and Python's packages, in this order", async () => {
  using folder = new TemporaryFolder();
  const pip = "venv/lib/python3.12/site-packages/nvidia";
  plant(folder, [
    "cuda/lib64/libnvrtc.so.12",
    "conda/lib/libnvrtc.so.12",
    `${pip}/cuda_nvrtc/lib/libnvrtc.so.12`,
    `${pip}/nccl/lib/libnccl.so.2`,
    "venv/lib/libpython3.12.so.1.0",
  ]);
  const env = {
    CUDA_HOME: `${folder.path}/cuda`,
    CONDA_PREFIX: `${folder.path}/conda`,
    VIRTUAL_ENV: `${folder.path}/venv`,
  };
  const found = await find(["nvrtc", "nccl", "python"], env);
  assertEquals(found.map(({ path, place }) => [path?.replace(`${folder.path}/`, ""), place]), [
    ["cuda/lib64/libnvrtc.so.12", "CUDA_HOME"],
    [`${pip}/nccl/lib/libnccl.so.2`, "pip"],
    ["venv/lib/libpython3.12.so.1.0", "pip"],
  ]);
  assert(found.every(({ path = "", identity }) => identity?.startsWith(`${path} `)));
  plant(folder, ["conda/lib/libnccl.so.2"]);
  const [before] = await find(["nccl"], env);
  assertEquals(before?.place, "CONDA_PREFIX");
});

Deno.test("findLibrary() takes the newest version of a place", async () => {
  using folder = new TemporaryFolder();
  plant(folder, ["cuda/lib64/libnvrtc.so.12", "cuda/lib64/libnvrtc.so.13"]);
  const [found] = await find(["nvrtc"], { CUDA_HOME: `${folder.path}/cuda` });
  assertEquals(found?.path, `${folder.path}/cuda/lib64/libnvrtc.so.13`);
});

Deno.test("findLibrary() obeys a variable that names the file, also where it is not there", async () => {
  using folder = new TemporaryFolder();
  plant(folder, ["cuda/lib64/libnvrtc.so.12", "mine/libmine.so"]);
  const env = { CUDA_HOME: `${folder.path}/cuda`, VRAMKIT_NVRTC: `${folder.path}/mine/libmine.so` };
  const [found] = await find(["nvrtc"], env);
  assertEquals([found?.path, found?.place], [env.VRAMKIT_NVRTC, "VRAMKIT_NVRTC"]);
  const [absent] = await find(["nvrtc"], { ...env, VRAMKIT_NVRTC: "/nowhere.so" });
  assertEquals([absent?.path, absent?.tried], [undefined, ["/nowhere.so"]]);
});

Deno.test("findLibrary() names what to open where nothing may be read", async () => {
  const [found] = await find(["nvrtc"], {}, { flags: ["--allow-env"] });
  assertEquals([found?.path, found?.tried[0]], [undefined, "libnvrtc.so.13"]);
});

Deno.test("findLibrary() looks where other tools of the field find CUDA and Python's packages", async () => {
  using folder = new TemporaryFolder();
  const pip = "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
  plant(folder, [
    `pyenv/versions/3.12.1/${pip}`,
    "target/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    "cuda/lib64/libnvrtc.so.12",
    "cuda/bin/nvcc",
    "sbsa/targets/sbsa-linux/lib/libnvrtc.so.13",
    `project/.venv/${pip}`,
  ]);
  const at = (name: string) => `${folder.path}/${name}`;
  const places: readonly (readonly [Record<string, string>, path: string, place: string])[] = [
    [{ PYENV_ROOT: at("pyenv") }, `pyenv/versions/3.12.1/${pip}`, "pip"],
    [
      { PYTHONPATH: `:${at("target")}` },
      "target/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
      "PYTHONPATH",
    ],
    [{ PATH: at("cuda/bin") }, "cuda/bin/../lib64/libnvrtc.so.12", "nvcc in PATH"],
    [{ CUDA_ROOT: at("cuda") }, "cuda/lib64/libnvrtc.so.12", "CUDA_ROOT"],
    [{ CUDAToolkit_ROOT: at("cuda") }, "cuda/lib64/libnvrtc.so.12", "CUDAToolkit_ROOT"],
    [{ CUDA_HOME: at("sbsa") }, "sbsa/targets/sbsa-linux/lib/libnvrtc.so.13", "CUDA_HOME"],
  ];
  for (const [env, path, place] of places) {
    const [found] = await find(["nvrtc"], { PATH: "/nowhere", HOME: "/nowhere", ...env });
    assertEquals([found?.path, found?.place], [at(path), place]);
  }
  const env = { PATH: "/nowhere", HOME: "/nowhere" };
  const [here] = await find(["nvrtc"], env, { current: at("project") });
  const isInstalled = here?.path?.startsWith(folder.path) === false; // what is installed comes first
  assert(isInstalled || here?.path === at(`project/.venv/${pip}`), here?.path);
});
