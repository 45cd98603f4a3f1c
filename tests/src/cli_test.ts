// Runs the commands as processes: exit codes, files, JSON, and what is said about wrong words.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { CudaDevice } from "../../src/device/device.ts";
import { parseNvbandwidth } from "../../src/measure/nvbandwidth.ts";
import { VERSION } from "../../src/words/version.ts";
import { builtKit } from "../support/built_kit.ts";
import { type ChildResult, runDeno } from "../support/child_deno.ts";
import { KeeperScene } from "../support/persist/keeper_scene.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { shareOf } from "../support/random.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { inTurn, takingTurns, testOfAll, testOnLinux } from "../support/test_unless.ts";

const cli = (await builtKit()).addressOf("./cli");

const NO_GPU = { VRAMKIT_CUDA: "/nowhere/libcuda.so.1" };

function runCli(
  args: readonly string[],
  env: Record<string, string> = NO_GPU,
): Promise<ChildResult> {
  return runDeno(["run", "-A", "--quiet", "--no-check", cli, ...args], { env });
}

/** A text whose sentences were broken into lines. */
function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** Runs a command with these permissions, or other flags, instead of -A. */
function runRestricted(
  args: readonly string[],
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<ChildResult> {
  return runDeno(["run", "--quiet", "--no-check", ...flags, cli, ...args], {
    env: { ...NO_GPU, ...env },
  });
}

Deno.test("cli.ts without a command shows how it is used", async () => {
  const { code, stdout } = await runCli([]);
  assertEquals(code, 0);
  for (const word of ["demo", "bandwidth", "doctor", "--device"]) {
    assertStringIncludes(stdout, word);
  }
});

Deno.test("cli.ts --help shows how it is used", async () => {
  const [long, short] = await Promise.all([runCli(["--help"]), runCli(["help", "-h"])]);
  assertEquals([long.code, short.code], [0, 0]);
  assertEquals(long.stdout, short.stdout);
  for (const line of long.stdout.split("\n")) assert(line.length <= 80, line);
});

Deno.test("cli.ts COMMAND --help shows the options of that command alone", async () => {
  const { code, stdout } = await runCli(["doctor", "--help"]);
  assertEquals(code, 0);
  assertEquals((await runCli(["help", "doctor"])).stdout, stdout);
  assertStringIncludes(stdout, "Usage: deno run -A cli.ts doctor [OPTIONS]");
  assertStringIncludes(stdout, "--driver NAME");
  assertEquals(/--cases|--largest|--remove/.test(stdout), false, stdout);
});

takingTurns(testOnLinux)("cli.ts persisted lists, forgets, starts and stops", async () => {
  await using scene = new KeeperScene();
  using gpu = CudaDevice.open(0, { driver: "simulated" });
  const run = (...words: string[]) => runCli(["persisted", ...words], scene.env);
  assertStringIncludes((await run()).stdout, "no keeper runs");
  assertStringIncludes((await run("start")).stdout, "holds 0 names, 0 B");
  {
    using _x = await gpu.persist("a name", () => gpu.zeros("uint8", [2, 3]));
    const { stdout } = await run();
    assertStringIncludes(stdout, "a name  uint8[2, 3]  64 MiB");
    assertStringIncludes(stdout, "holds 1 name, 64 MiB");
    const [row] = JSON.parse((await run("--json")).stdout);
    assertEquals([row.name, row.openedBy, row.state], ["a name", [Deno.pid], "clean"]);
    const doctor = await runCli(["doctor", "--driver", "simulated"], scene.env);
    assertStringIncludes(doctor.stdout, "keeps 1 name, 64 MiB");
    const forgot = await run("forget", "a name");
    assertStringIncludes(forgot.stdout, `its memory is freed when process ${Deno.pid} lets go`);
  }
  const missing = await run("forget", "a name");
  assertEquals([missing.code, missing.stderr.trim()], [
    1,
    'Cannot forget "a name": nothing of that name is persisted',
  ]);
  assertStringIncludes((await run("stop")).stdout, "stopped the keeper, process");
  assertEquals((await run("stop")).stdout, "there is no keeper\n");
});

const WRONG: Record<string, [args: string[], message: string]> = {
  "an unknown command": [["fly"], 'Cannot run "fly": it is not a command'],
  "a command with a slip": [["doctr"], "it is not a command (did you mean doctor?)"],
  "an unknown word": [
    ["persisted", "forgt"],
    "expected forget, start or stop (did you mean forget?)",
  ],
  "a word without its name": [["persisted", "forget"], "a name is missing"],
  "a word too many": [["persisted", "stop", "now"], 'unexpected "now"'],
  "an unknown option": [["demo", "--fast"], "Cannot use --fast: there is no such option\n"],
  "an option with a slip": [["demo", "--divice=1"], "no such option (did you mean --device?)"],
  "a value for a flag": [["bandwidth", "--json=yes"], "Cannot use --json: it takes no value"],
  "a second word": [["doctor", "now"], 'unexpected "now"'],
  "an option of another command": [["doctor", "--out=a"], "Cannot run doctor with --out"],
  "a device that is no number": [["demo", "--device", "first"], "expected a number from 0"],
  "a negative device": [["demo", "--device=-1"], "expected a number from 0"],
  "a value that looks like an option": [["demo", "--device", "-1"], "--device: it needs a value"],
  "an unknown driver": [["bandwidth", "--driver", "opencl"], "expected auto, cuda or simulated"],
  "a word for a size": [["demo", "--largest", "64k"], 'Cannot read --largest "64k"'],
  "a size below the smallest": [["demo", "--largest", "1 KiB"], "expected at least 4 KiB"],
  "an option without its value": [["demo", "--out"], "Cannot use --out: it needs a value"],
  "a folder without a name": [["demo", "--out="], 'Cannot use --out "": expected a folder'],
  "a file without a name": [
    ["bandwidth", "--compare="],
    'Cannot use --compare "": expected a file',
  ],
  "a file to compare with that is missing": [
    ["bandwidth", "--compare", "/nowhere.txt"],
    "Cannot compare with /nowhere.txt: it does not exist",
  ],
  "help about an unknown command": [["help", "docter"], "not a command (did you mean doctor?)"],
  "a device to compare with": [
    ["bandwidth", "--compare", "/dev/null"],
    "Cannot compare with /dev/null: it is a device, expected a file",
  ],
  "two sizes": [
    ["demo", "--full", "--largest", "4 KiB"],
    "--full with --largest: each names a size",
  ],
  "the size of a sweep for cases": [
    ["bandwidth", "--cases", "--full"],
    "Cannot use --full with --cases: their copies have one size, --largest",
  ],
  "a comparison in JSON": [
    ["bandwidth", "--compare", "/nowhere.txt", "--json"],
    "Cannot use --compare with --json: the comparison is a table",
  ],
};

for (const [name, [args, message]] of shareOf(Object.entries(WRONG), { least: 4 })) {
  Deno.test(`cli.ts refuses ${name} with exit code 2`, async () => {
    const { code, stdout, stderr } = await runCli(args);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, message);
    assertStringIncludes(stderr, "Usage:");
    assertEquals(stderr.trimEnd().split("\n").length, 3, stderr); // the message is not scrolled away
  });
}

Deno.test("cli.ts --version prints the version", async () => {
  const { code, stdout } = await runCli(["--version"]);
  assertEquals([code, stdout], [0, `${VERSION}\n`]);
});

Deno.test("cli.ts doctor says what is wrong and how to mend it, with exit code 1", async () => {
  const { code, stdout } = await runCli(["doctor"]);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "FAIL  Cannot open the CUDA driver: ");
  assertStringIncludes(stdout, "-> ");
  assert(stdout.endsWith("\nThe places:\n  /nowhere/libcuda.so.1\n"), stdout); // advice comes first
  for (const line of stdout.split("\n")) assert(line.length <= 80, line);
  assertEquals(stdout.match(/simulated/g)?.length, 1, stdout);
});

Deno.test("cli.ts bandwidth says in a sentence that there is not enough memory", async () => {
  const { code, stdout, stderr } = await runCli(["bandwidth", "--largest", "100 TiB"]);
  assertEquals([code, stdout], [1, ""]);
  assertMatch(
    stderr.replaceAll(/^Measuring.*\n/gm, ""),
    /^Cannot allocate 100 TiB .*: split it\n$/,
  );
});

Deno.test("cli.ts doctor ends with exit code 0 when a device works", async () => {
  const { code, stdout } = await runCli(["doctor", "--driver", "simulated"]);
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "ok    4 KiB went there and back unchanged");
  assertStringIncludes(stdout, "ok    modelled values, driver simulated: 0 % busy");
  assertStringIncludes(stdout, "      power: 100 of 500 W");
  assertStringIncludes(stdout, "ok    the simulated device, no GPU, can be used");
});

Deno.test("cli.ts doctor shows where NVIDIA's libraries are, and how to get those that are missing", async () => {
  using folder = new TemporaryFolder();
  const file = folder.write("libmine.so", "");
  const env = { ...NO_GPU, VRAMKIT_NVRTC: file, VRAMKIT_NCCL: "/nowhere/libnccl.so.2" };
  const { code, stdout } = await runCli(["doctor", "--driver", "simulated"], env);
  assertEquals(code, 0, stdout);
  const words = unwrapped(stdout);
  assertStringIncludes(words, `ok NVRTC, NVIDIA's compiler: ${file} (VRAMKIT_NVRTC)`);
  assertStringIncludes(words, "note NCCL: not found; pip install nvidia-nccl-cu12");
});

Deno.test("cli.ts doctor --json prints what it found, and nothing else", async () => {
  const [bad, good] = await Promise.all([
    runCli(["doctor", "--json"]),
    runCli(["doctor", "--json", "--driver", "simulated"]),
  ]);
  assertEquals([bad.code, good.code], [1, 0]);
  const [found, fine] = [JSON.parse(bad.stdout), JSON.parse(good.stdout)];
  assertEquals([found.usable, fine.usable, found.vramkit], [false, true, VERSION]);
  assertEquals(found.findings[0].tried, ["/nowhere/libcuda.so.1"]);
  assert(found.findings[0].fixes.length > 0);
});

/** An empty home, in which Jupyter would look for kernels. */
class Home extends TemporaryFolder {
  readonly env: Record<string, string> = {
    ...NO_GPU,
    HOME: this.path,
    XDG_DATA_HOME: this.pathOf(".local/share"),
    JUPYTER_DATA_DIR: "",
    JUPYTER_PATH: "",
    VIRTUAL_ENV: "",
    CONDA_PREFIX: "",
  };
  readonly kernel: string = this.pathOf(".local/share/jupyter/kernels/deno/kernel.json");

  read(): Record<string, unknown> {
    return JSON.parse(Deno.readTextFileSync(this.kernel));
  }
}

takingTurns(testOnLinux)(
  "cli.ts kernel installs a kernel that Stop does not end, and takes it away",
  async () => {
    using home = new Home();
    const { code, stdout } = await runCli(["kernel"], home.env);
    assertEquals(code, 0);
    assertStringIncludes(stdout, "Notebooks have every permission");
    for (const line of stdout.split("\n").slice(1)) assert(line.length <= 80, line);
    const { argv, ...rest } = home.read();
    assertEquals(argv, [Deno.execPath(), "jupyter", "--kernel", "--conn", "{connection_file}"]);
    assertEquals(rest, {
      display_name: "Deno",
      language: "typescript",
      interrupt_mode: "message",
      env: { VRAMKIT_KERNEL: "1" },
    });
    assertStringIncludes((await runCli(["doctor"], home.env)).stdout, "survives Stop:");
    assertEquals((await runCli(["kernel"], home.env)).code, 0);
    assertEquals((await runCli(["kernel", "--remove"], home.env)).code, 0);
    assertEquals([...Deno.readDirSync(home.pathOf(".local/share/jupyter/kernels"))], []);
    const again = await runCli(["kernel", "--remove"], home.env);
    assertEquals(again.code, 0);
    assertStringIncludes(again.stdout, "There is no");
  },
);

takingTurns(testOnLinux)(
  "cli.ts kernel keeps the specification of Deno itself, and puts it back",
  async () => {
    using home = new Home();
    const installed = await runDeno(["jupyter", "--install"], { env: home.env });
    assertEquals(installed.code, 0, installed.stderr);
    const stock = Deno.readTextFileSync(home.kernel);
    const warned = unwrapped((await runCli(["doctor"], home.env)).stdout);
    assertStringIncludes(warned, "Stop ends Jupyter's kernel, and frees its GPU memory:");
    assertStringIncludes(warned, '-> the command "kernel" installs one');
    const refused = await runCli(["kernel", "--remove"], home.env);
    assertEquals([refused.code, Deno.readTextFileSync(home.kernel)], [1, stock]);
    assertStringIncludes(refused.stderr, "another program installed the kernel");

    for (let times = 0; times < 2; times++) {
      assertEquals((await runCli(["kernel"], home.env)).code, 0);
      assertEquals(home.read().interrupt_mode, "message");
    }
    assertEquals((await runCli(["kernel", "--remove"], home.env)).code, 0);
    assertEquals(Deno.readTextFileSync(home.kernel), stock);
  },
);

takingTurns(testOnLinux)("cli.ts kernel changes nothing that it cannot read or write", async () => {
  using home = new Home();
  Deno.mkdirSync(dirname(home.kernel), { recursive: true });
  Deno.writeTextFileSync(home.kernel, "{ not JSON");
  const unread = await runCli(["kernel"], home.env);
  assertEquals([unread.code, Deno.readTextFileSync(home.kernel)], [1, "{ not JSON"]);
  assertStringIncludes(unread.stderr, "the kernel.json that is there is not JSON");
  const denied = await runRestricted(["kernel"], ["--allow-env", "--allow-read"], home.env);
  assertEquals([denied.code, denied.stdout], [1, ""]);
  assertMatch(denied.stderr, /^Cannot write .*kernels\/deno: /);
  const homeless = await runRestricted(["kernel"], []);
  assertStringIncludes(homeless.stderr, "Cannot find Jupyter's folder: no HOME; run with -A");
});

Deno.test("cli.ts doctor says that the simulated driver needs --allow-ffi as well", async () => {
  const { code, stdout } = await runRestricted(["doctor"], ["--allow-env", "--allow-read"]);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "-> run Deno with --allow-ffi (or -A)");
  assertStringIncludes(unwrapped(stdout), "uses a simulated one; it needs --allow-ffi as well");
});

Deno.test("cli.ts ends with exit code 1 for a device that there is not", async () => {
  const { code, stderr } = await runCli(["bandwidth", "--driver", "simulated", "--device", "7"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Cannot open device 7: this machine has 2");
});

Deno.test("cli.ts bandwidth with cuda ends with exit code 1 where there is no GPU", async () => {
  const { code, stderr } = await runCli(["bandwidth", "--driver", "cuda"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Cannot open the CUDA driver");
});

Deno.test("cli.ts calibrate says in a sentence that there is no GPU, or no such device", async () => {
  const [noGpu, noDevice] = await Promise.all([
    runCli(["calibrate", "--driver", "cuda"]),
    runCli(["calibrate", "--driver", "simulated", "--device", "7"]),
  ]);
  assertEquals([noGpu.code, noDevice.code], [1, 1]);
  assertMatch(noGpu.stderr, /^Cannot open the CUDA driver: [^\n]+\n$/);
  assertEquals(noDevice.stderr, "Cannot open device 7: this machine has 2 (0 to 1)\n");
});

testOfAll(
  "cli.ts calibrate gives no advice from a simulated device, and the figures of a disk",
  async () => {
    using folder = new TemporaryFolder();
    const args = ["calibrate", "--driver", "simulated", "--folder", folder.path];
    const { code, stdout, stderr } = await runCli(args);
    assertEquals(code, 0, stderr);
    assertMatch(
      stdout,
      /\n128 MiB .+\none core copies .+\n128 MiB: upload\(\) takes .+\n.+: a file of 1 MiB reaches the GPU with \S+ GB\/s from the page cache, and with \S+ from this disk \(\w+\)\nThe device is simulated: no number means a speed\n$/,
    );
    assertEquals([...Deno.readDirSync(folder.path)], []);
  },
);

for (const command of ["calibrate", "machine"]) {
  Deno.test(`cli.ts ${command} says that a folder cannot be written, before it measures`, async () => {
    using folder = new TemporaryFolder();
    const inFile = `${folder.write("file", "")}/in`;
    const { code, stdout, stderr } = await runCli([
      ...[command, "--driver", "simulated", "--json", "--folder", inFile],
    ]);
    assertEquals([code, stdout], [1, ""], stderr);
    assertStringIncludes(stderr, `Cannot write into ${inFile}: `);
  });
}

Deno.test("cli.ts bandwidth --json prints JSON and nothing else", async () => {
  const { code, stdout, stderr } = await runCli([
    ...["bandwidth", "--driver", "simulated", "--json", "--largest", "64 KiB"],
  ]);
  assertEquals(code, 0, stderr);
  const result = JSON.parse(stdout);
  assertEquals(result.provenance.device, "Simulated");
  assertEquals(result.points.length, 15);
  assert(result.points.every(({ verified }: { verified: boolean }) => verified));
});

Deno.test(
  inTurn(
    "cli.ts bandwidth --cases prints nvbandwidth's cases, beside its own output, and its JSON",
  ),
  async () => {
    using folder = new TemporaryFolder();
    const theirs = folder.write("nvbandwidth.txt", "SUM device_local_copy 2000\n");
    const common = ["bandwidth", "--driver", "simulated", "--largest", "4 KiB"];
    const beside = await runCli([...common, "--compare", theirs]);
    assertEquals(beside.code, 0, beside.stderr);
    assertStringIncludes(beside.stdout, "host_to_device_bidirectional_memcpy_ce");
    assertStringIncludes(beside.stdout, "modelled");
    assertMatch(beside.stdout, /^device_local_copy +\S+ +2000 +\S+$/m);
    const json = await runCli([...common, "--cases", "--json"]);
    assertEquals(parseNvbandwidth(json.stdout).size, 9, json.stderr);
    const wrong = await runCli([...common, "--compare", folder.write("wrong.txt", "nothing")]);
    assertEquals(wrong.code, 2);
    assertStringIncludes(wrong.stderr, "it has no case with a speed");
  },
);

Deno.test(inTurn("cli.ts demo moves arrays, and writes the result and the page"), async () => {
  using folder = new TemporaryFolder();
  const out = `${folder.path}/new/folder`;
  const { code, stdout, stderr } = await runCli(["demo", "--out", out, "--largest", "64 KiB"]);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stdout, "a simulated device stands in");
  assertStringIncludes(stdout, "110 of 110 came back with every byte right");
  const result = JSON.parse(Deno.readTextFileSync(`${out}/bandwidth.json`));
  assertEquals(result.provenance.device, "Simulated");
  const page = Deno.readTextFileSync(`${out}/bandwidth.html`);
  assertStringIncludes(page, "Simulated");
  assert(page.length > 1_000_000, "plotly.js is inside");
});

Deno.test(
  inTurn("cli.ts demo writes the numbers and says why there is no chart without plotly.js"),
  async () => {
    using folder = new TemporaryFolder();
    const out = `${folder.path}/out`;
    const source = new URL("src/cli.ts", PROJECT_ROOT).pathname; // a release brings plotly.js
    const flags = ["--quiet", "--no-check", "-A", "--cached-only", "--no-npm"];
    const { code, stdout, stderr } = await runDeno(
      [
        "run",
        ...flags,
        source,
        "demo",
        "--driver",
        "simulated",
        "--out",
        out,
        "--largest",
        "4 KiB",
      ],
      { env: NO_GPU },
    );
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stdout,
      `Wrote ${out}/bandwidth.json; no page: Cannot load plotly.js from npm: `,
    );
    assertEquals([...Deno.readDirSync(out)].map(({ name }) => name), ["bandwidth.json"]);
  },
);

Deno.test("cli.ts demo measures nothing when it may not write what it finds", async () => {
  using folder = new TemporaryFolder();
  const { code, stdout, stderr } = await runRestricted(
    ["demo", "--driver", "simulated", "--out", folder.path, "--largest", "64 KiB"],
    ["--allow-env", "--allow-read", "--allow-ffi"],
  );
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, `Cannot write into ${folder.path}: run again with --allow-write`);
});

Deno.test("cli.ts demo measures nothing when its folder cannot be made", async () => {
  using folder = new TemporaryFolder();
  const file = folder.write("file", "");
  const { code, stdout, stderr } = await runCli(["demo", "--out", `${file}/out`]);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, `Cannot write into ${file}/out: `);
});

const SMALL = ["--driver", "simulated", "--largest", "4 KiB"];

for (
  const args of [["help"], ["bandwidth", ...SMALL], ["bandwidth", "--json", ...SMALL], [
    "doctor",
    "--driver",
    "simulated",
  ], ["demo", ...SMALL]]
) {
  const name = `cli.ts ${args.join(" ")} ends with a sentence when its output cannot be written`;
  testOnLinux(name, async () => {
    using folder = new TemporaryFolder();
    const options = args[0] === "demo" ? ["--out", folder.path] : [];
    const words = [Deno.execPath(), "run", "-A", "--quiet", "--no-check", cli, ...args, ...options];
    const command = `${words.map((word) => `'${word}'`).join(" ")} > /dev/full`;
    const { code, stderr } = await new Deno.Command("sh", { args: ["-c", command] }).output();
    const text = new TextDecoder().decode(stderr).replaceAll(/^[\w ]+: \d+ %\n/gm, "").trim();
    assertEquals([code, text], [
      1,
      "Cannot write the output: No space left on device (os error 28)",
    ]);
  });
}

testOfAll("cli.ts demo ends with a sentence when a file of its cannot be written", async () => {
  using folder = new TemporaryFolder();
  Deno.mkdirSync(`${folder.path}/bandwidth.json`);
  const { code, stderr } = await runCli(["demo", "--largest", "4 KiB", "--out", folder.path]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "Cannot write the output: Is a directory");
  assertEquals(stderr.includes("    at "), false);
});

testOfAll("cli.ts machine writes a report and its page", async () => {
  using folder = new TemporaryFolder();
  const flags = ["--driver", "simulated", "--device", "0", "--out", folder.path];
  const { code, stdout } = await runCli(["machine", ...flags]);
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "Simulated GPU");
  const json = Deno.readTextFileSync(folder.pathOf("machine.json"));
  assertEquals(JSON.parse(json).machine.gpus.length, 1);
  assert(parseNvbandwidth(json).size > 0);
  assertStringIncludes(Deno.readTextFileSync(folder.pathOf("machine.html")), "Simulated");
});

Deno.test(inTurn("cli.ts machine says what is wrong with its reports"), async () => {
  using folder = new TemporaryFolder();
  const other = folder.write("other.json", '{"points": []}');
  const cases: [readonly string[], string][] = [
    [["--compare", other, other], "its format is not"],
    [["--compare", folder.pathOf("none.json"), other], "none.json"],
    [["--compare", folder.write("cut.json", "{"), other], "JSON"],
    [["--json", "--compare", other], "the comparison is a page"],
    [["a.json", "b.json"], 'unexpected "a.json"'],
  ];
  for (const [args, words] of cases) {
    const { code, stderr } = await runCli(["machine", "--out", folder.path, ...args]);
    assertEquals(code, 2, stderr);
    assertStringIncludes(unwrapped(stderr), words);
  }
});

takingTurns(testOnLinux)(
  "cli.ts machine leaves what it had when it is interrupted, and compares it",
  async () => {
    using folder = new TemporaryFolder();
    const args = ["run", "-A", "--quiet", "--no-check", cli, "machine"];
    const child = new Deno.Command(Deno.execPath(), {
      args: [...args, "--driver", "simulated", "--out", folder.path],
      env: NO_GPU,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const told = child.stderr.pipeThrough(new TextDecoderStream());
    let isSent = false;
    for await (const part of told) { // its progress bar begins once it listens
      if (!isSent && part.includes("Measuring")) child.kill("SIGINT");
      isSent ||= part.includes("Measuring");
    }
    const [{ code }, text] = await Promise.all([
      child.status,
      new Response(child.stdout).text(),
    ]);
    assertEquals(code, 130, text);
    const path = folder.pathOf("machine.json");
    const { machine } = JSON.parse(Deno.readTextFileSync(path));
    assertEquals(machine.unfinished, "interrupted: Ctrl+C");
    assert(machine.rows.length > 10);
    const compared = await runCli(["machine", "--out", folder.path, "--compare", path, path]);
    assertEquals(compared.code, 0, compared.stderr);
    assertStringIncludes(Deno.readTextFileSync(folder.pathOf("machines.html")), "side by side");
  },
);
