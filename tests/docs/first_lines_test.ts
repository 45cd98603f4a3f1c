// The README's first lines do what they say when they are pasted into a terminal: the repository's
// address is answered by a copy of this tree, and nothing else stands in for anything.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delimiter, dirname } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { addressIn } from "../../release/address.ts";
import { type ChildResult, runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT, projectFiles } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { takingTurns, testOfAll, testOnLinux } from "../support/test_unless.ts";

const readme = Deno.readTextFileSync(new URL("README.md", PROJECT_ROOT));
const [first = "", notebook = "", doctor = ""] = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)]
  .map(([, lines]) => lines);

/** A folder in which the lines run: its home is empty, and `git` finds this tree at the address. */
class Terminal extends TemporaryFolder {
  constructor() {
    super();
    Deno.mkdirSync(this.pathOf("home"));
    Deno.mkdirSync(this.pathOf("repository"));
    for (const { path, text } of projectFiles([".ts", ".json", ".md", ".py"])) {
      if (/^(tests|bench|notebooks)\//.test(path)) continue;
      Deno.mkdirSync(this.pathOf(`repository/${dirname(path)}`), { recursive: true });
      this.write(`repository/${path}`, text);
    }
  }

  paste(lines: string, folder = ""): ChildResult {
    const { code, stdout, stderr } = new Deno.Command("bash", {
      args: ["-euc", lines],
      cwd: this.pathOf(folder),
      env: {
        HOME: this.pathOf("home"),
        XDG_DATA_HOME: "",
        JUPYTER_DATA_DIR: "",
        PATH: [dirname(Deno.execPath()), this.path, Deno.env.get("PATH") ?? ""].join(delimiter),
        NO_COLOR: "1",
        DENO_NO_PROMPT: "1",
        VRAMKIT_CUDA: "/nowhere/libcuda.so.1",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: `url.file://${this.pathOf("repository")}.insteadOf`,
        GIT_CONFIG_VALUE_0: addressIn(readme),
      },
      stdin: "null",
    }).outputSync();
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    return { code, stdout: out ?? "", stderr: err ?? "" };
  }
}

takingTurns(testOnLinux)(
  "the README's first lines clone the kit, make a project and run its program",
  () => {
    using terminal = new Terminal();
    const author = "-c user.name=a -c user.email=a@example.com -c commit.gpgsign=false";
    const committed = terminal.paste(
      `git init -q && git add . && git ${author} commit -qm a`,
      "repository",
    );
    assertEquals(committed.code, 0, committed.stderr);
    const { code, stdout, stderr } = terminal.paste(first);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "Float32Array(6) [ 1, 2, 3, 0, 0, 0 ]");
    assertStringIncludes(stdout, "\n1 live, 24 B\n");

    terminal.write("jupyter", '#!/bin/sh\necho "jupyter $*"\n');
    Deno.chmodSync(terminal.pathOf("jupyter"), 0o755);
    const opened = terminal.paste(notebook, "project");
    assertEquals(opened.code, 0, opened.stderr);
    assert(opened.stdout.endsWith("jupyter lab\n"), opened.stdout);
    const specification = "home/.local/share/jupyter/kernels/deno/kernel.json";
    assertStringIncludes(Deno.readTextFileSync(terminal.pathOf(specification)), '"message"');

    const found = terminal.paste(doctor, "project");
    assertStringIncludes(found.stdout, "install NVIDIA's driver");
  },
);

(Deno.build.os === "linux" ? testOfAll : testOnLinux)(
  "a project like the README's finds every entry, and the compiler its types",
  async () => {
    using folder = new TemporaryFolder();
    const [, settings = ""] = /deno\.json <<'END'\n(.*?)^END$/ms.exec(first) ?? [];
    Deno.mkdirSync(folder.pathOf("project"));
    Deno.symlinkSync(PROJECT_ROOT, folder.pathOf("vramkit"));
    folder.write("project/deno.json", settings);
    const entries = Object.keys(config.exports).map((name) => name.slice(1));
    const program = entries.map((name, index) => `import * as a${index} from "vramkit${name}";`);
    const names = entries.map((_, index) => `a${index}`).join(", ");
    const lines = [...program, `console.log([${names}].every((a) => Object.keys(a).length > 0));`];
    folder.write("project/all.ts", lines.join("\n"));
    const { code, stdout, stderr } = await runDeno(["run", "-A", "--quiet", "--check", "all.ts"], {
      cwd: folder.pathOf("project"),
    });
    assertEquals([code, stdout], [0, "true\n"], stderr);
  },
);

Deno.test("the README's project asks for this version: another one would be asked of the network", () => {
  const ranges = [...readme.matchAll(/jsr:\/?@vramkit\/vramkit@\^([\d.]+)/g)].map(([, of]) => of);
  assertEquals(ranges, [config.version, config.version]);
});
