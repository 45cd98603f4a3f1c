// A Jupyter of its own on a free port: its settings, its data and its notebooks lie in one folder that
// is made anew, so that nothing of this machine's user is read or changed.

import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { notebookNames, NOTEBOOKS, readNotebook } from "../../../jupyter/notebook_file.ts";
import { findPython, jupyterEnvironment, WORK_FOLDER } from "../../../jupyter/python.ts";
import { PROJECT_ROOT } from "../project_files.ts";

/** The time a server may take to start. */
const START_SECONDS = 60;

/** JupyterLab's settings by plugin: it shall ask nobody for news, and draw all cells of a notebook. */
const SETTINGS: Readonly<Record<string, object>> = {
  "apputils-extension/notification": { checkForUpdates: false, fetchNews: "false" },
  "notebook-extension/tracker": { windowingMode: "none" },
};

const SWITCHES = [
  ...["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"],
  ...["--IdentityProvider.token=", "--ServerApp.password="],
];

/** The front ends by their Python modules, and the switches that only they know. */
const SWITCHES_OF = {
  jupyterlab: [
    ...["--expose-app-in-browser", "--LabApp.extension_manager=readonly", "--LabApp.news_url="],
  ],
  notebook: ["--expose-app-in-browser"],
  nbclassic: [],
  jupyter_server: ["--ServerApp.disable_check_xsrf=True"],
} as const;

/** A Python module that serves notebooks. */
export type FrontEnd = keyof typeof SWITCHES_OF;

/** The notebooks that a Jupyter has, and its kernel. */
export interface ServedNotebooks {
  /** Folder with executed notebooks. */
  readonly outputs?: URL;
  /** A kernel that is installed for it: this kit's or Deno's own; else this project's is used. */
  readonly kernel?: "kit" | "deno";
  /** Sources of the cells of `cells.ipynb`. */
  readonly cells?: readonly string[];
}

/** A running Jupyter. */
export class JupyterServer implements AsyncDisposable {
  /** Its address, such as `http://127.0.0.1:40123`. */
  readonly origin: string;
  readonly #process: Deno.ChildProcess;

  private constructor(origin: string, process: Deno.ChildProcess) {
    this.origin = origin;
    this.#process = process;
  }

  /**
   * Starts it on copies of all notebooks, which lie in this project as well. They have no outputs, or
   * those of the notebooks in a folder. With `cells` there is one notebook of these instead.
   */
  static async start(
    frontEnd: FrontEnd,
    { outputs, kernel, cells }: ServedNotebooks = {},
  ): Promise<JupyterServer> {
    const python = await findPython([frontEnd]);
    const folder = new URL(`served/${frontEnd}/`, WORK_FOLDER);
    await Deno.remove(folder, { recursive: true }).catch(() => {}); // not there the first time
    if (cells === undefined) copyNotebooks(new URL("notebooks/", folder), outputs);
    else writeNotebook(new URL("notebooks/", folder), cells);
    Deno.symlinkSync(new URL("tests", PROJECT_ROOT), new URL("tests", folder)); // notebooks read samples
    writeSettings(new URL("settings/", folder));
    const port = freePort();
    const at = (name: string) => fileURLToPath(new URL(name, folder));
    if (kernel !== undefined) await installKernel(kernel, at("jupyter"));
    const process = new Deno.Command(python, {
      args: ["-m", frontEnd, `--ServerApp.port=${port}`, ...SWITCHES, ...SWITCHES_OF[frontEnd]],
      cwd: at("notebooks"),
      env: {
        ...jupyterEnvironment(),
        ...(kernel === undefined ? {} : { JUPYTER_PATH: "" }),
        HOME: at("home"),
        JUPYTER_CONFIG_DIR: at("config"),
        JUPYTER_DATA_DIR: at("jupyter"),
        JUPYTER_RUNTIME_DIR: at("runtime"),
        JUPYTERLAB_SETTINGS_DIR: at("settings"),
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const server = new JupyterServer(`http://127.0.0.1:${port}`, process);
    await server.#ready();
    return server;
  }

  /** Stops it and its kernels. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.status;
  }

  async #ready(): Promise<void> {
    for (let tries = 0; tries < START_SECONDS * 4; tries++) {
      try {
        const { ok, body } = await fetch(`${this.origin}/api/status`);
        await body?.cancel();
        if (ok) return;
      } catch {
        // nobody listens yet
      }
      await delay(250);
    }
    await this[Symbol.asyncDispose]();
    throw new Error(`Cannot start Jupyter: no answer within ${START_SECONDS} s`);
  }
}

/** Installs a kernel as a user would. */
async function installKernel(kernel: "kit" | "deno", data: string): Promise<void> {
  const cli = fileURLToPath(new URL("src/cli.ts", PROJECT_ROOT));
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: kernel === "kit" ? ["run", "-A", "--quiet", cli, "kernel"] : ["jupyter", "--install"],
    // Deno writes to <XDG_DATA_HOME>/jupyter, and Jupyter reads what this variable names.
    env: { JUPYTER_DATA_DIR: data, XDG_DATA_HOME: dirname(data) },
    stdout: "null",
    stderr: "null",
  }).output();
  if (code !== 0) throw new Error(`Cannot install the kernel of ${kernel}: exit code ${code}`);
}

function writeNotebook(folder: URL, sources: readonly string[]): void {
  Deno.mkdirSync(folder, { recursive: true });
  const cells = sources.map((source, index) => ({
    cell_type: "code",
    execution_count: null,
    id: `cell-${index + 1}`,
    metadata: {},
    outputs: [],
    source,
  }));
  const metadata = { kernelspec: { name: "deno", display_name: "Deno", language: "typescript" } };
  const notebook = { cells, metadata, nbformat: 4, nbformat_minor: 5 };
  Deno.writeTextFileSync(new URL("cells.ipynb", folder), JSON.stringify(notebook));
}

function copyNotebooks(folder: URL, outputs: URL | undefined): void {
  Deno.mkdirSync(folder, { recursive: true });
  for (const name of notebookNames()) {
    const notebook = readNotebook(new URL(`${name}.ipynb`, outputs ?? NOTEBOOKS));
    const cells = notebook.cells.map((cell) => {
      const isBare = cell.cell_type === "code" && outputs === undefined;
      return isBare ? { ...cell, outputs: [] } : cell;
    });
    const file = new URL(`${name}.ipynb`, folder);
    Deno.writeTextFileSync(file, JSON.stringify({ ...notebook, cells }));
  }
}

function writeSettings(folder: URL): void {
  for (const [plugin, settings] of Object.entries(SETTINGS)) {
    const file = new URL(`@jupyterlab/${plugin}.jupyterlab-settings`, folder);
    Deno.mkdirSync(new URL("./", file), { recursive: true });
    Deno.writeTextFileSync(file, JSON.stringify(settings));
  }
}

/** A port that is free now; the server refuses to start when somebody takes it meanwhile. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}
