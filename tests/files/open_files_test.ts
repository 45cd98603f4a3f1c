// A process that may open no more files: calls say so, leave nothing open, and work again afterwards.

import { assertEquals } from "@std/assert";
import { runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOnLinux } from "../support/test_unless.ts";

/** `RLIMIT_NOFILE` of sys/resource.h. */
const RLIMIT_NOFILE = 7;

const REASON = "the program has too many files open; raise its limit (ulimit -n)";

testOnLinux("files cannot be opened where the process has too many, as errors say", async () => {
  using folder = new TemporaryFolder();
  const program = folder.write(
    "program.ts",
    `import { saveSafetensors } from ${url("src/interop/safetensors/save.ts")};
       import { loadNpz, saveNpz } from ${url("src/entries/numpy.ts")};
       import { openTestDevice } from ${url("tests/support/driver.ts")};
       const { getrlimit, setrlimit } = Deno.dlopen("libc.so.6", {
         getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
         setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
       }).symbols;
       const path = Deno.args[0] + "/saved";
       using gpu = openTestDevice();
       using x = gpu.zeros("uint8", 64);
       const ways = [
         () => x.writeFile(path),
         () => x.writeFile(path, { inPlace: true }),
         () => gpu.uploadFile(path).then((y) => y.dispose()),
         () => saveSafetensors(path, { x }),
         () => gpu.loadSafetensors(path).then((model) => model.dispose()),
         () => saveNpz(path, { x }),
         () => loadNpz(path, gpu).then((arrays) => arrays.dispose()),
         () => x.saveNpy(path),
       ];
       for (const way of ways) await way(); // what they need once is there
       const descriptors = () => [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => name);
       const isOfRuntime = (name) => { // it opens a pair of sockets when it comes to that
         try { return Deno.statSync("/proc/self/fd/" + name).isSocket } catch { return true }
       };
       const openCount = () => descriptors().filter((name) => !isOfRuntime(name)).length;
       const before = openCount();
       const limits = new BigUint64Array(2);
       getrlimit(${RLIMIT_NOFILE}, limits);
       limits[0] = BigInt(descriptors().length + 8);
       setrlimit(${RLIMIT_NOFILE}, limits);
       const messages = [];
       {
         using files = new DisposableStack();
         try {
           for (;;) files.use(Deno.openSync("/dev/null"));
         } catch {}
         for (const way of ways) messages.push(await way().then(() => "none", (e) => e.message));
       }
       for (const way of ways) await way();
       for (let tries = 0; openCount() > before && tries < 1000; tries++) { // other threads close files
         await new Promise((resolve) => setTimeout(resolve, 10));
       }
       const names = [...Deno.readDirSync(Deno.args[0])].map(({ name }) => name).sort();
       console.log(JSON.stringify({ messages, leftCount: openCount() - before, names }));`,
  );
  const config = new URL("deno.json", PROJECT_ROOT).pathname;
  const flags = ["-A", "--quiet", "--no-check", "--no-lock", "--config", config];
  const { code, stdout, stderr } = await runDeno(["run", ...flags, program, folder.path]);
  assertEquals(code, 0, stderr);
  const { messages, leftCount, names } = JSON.parse(stdout);
  const endings = messages.map((message: string) => message.slice(-REASON.length));
  assertEquals(endings, Array(8).fill(REASON), messages.join("\n"));
  assertEquals([leftCount, names], [0, ["program.ts", "saved"]]);
});

function url(path: string): string {
  return JSON.stringify(new URL(path, PROJECT_ROOT).href);
}
