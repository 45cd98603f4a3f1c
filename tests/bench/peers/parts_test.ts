// Benches beside other libraries run in parts, and write what is known after each of them.

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { CallRun } from "../../../bench/peers/first_calls/plan.ts";
import { runPeers } from "../../../bench/peers/run.ts";
import { runDeno } from "../../support/child_deno.ts";
import { ON_GPU } from "../../support/driver.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { inTurn } from "../../support/test_unless.ts";

Deno.test("runPeers() runs the libraries that are named, and tells of each at once", {
  ignore: ON_GPU, // there it would measure
}, async () => {
  const counts: number[] = [];
  const { documents } = await runPeers({
    peers: ["jax", "cuda_core"],
    onResult: (report) => {
      counts.push(report.documents.length);
      return Promise.resolve();
    },
  });
  assertEquals(documents.map(({ peer }) => peer), ["JAX", "cuda.core"]);
  assertEquals(counts, [1, 2]);
});

Deno.test(inTurn("bench:calls makes the calls that are named, and writes them"), async () => {
  const path = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const flags = ["--rounds", "1", "--largest", "4 KiB", "--calls", "upload", "--phases", "cold"];
    const { code } = await runBench([...flags, "--peers", "", "--out", path]);
    assertEquals(code, 0);
    const { documents, sizes }: CallRun = JSON.parse(await Deno.readTextFile(path));
    assertEquals(sizes, [4096]);
    assertEquals(
      documents.flatMap(({ results }) =>
        results.map(({ call, form, phase }) => `${call} ${form} ${phase}`)
      ),
      ["upload awaited cold", "upload blocking cold"],
    );
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("bench:calls refuses a call that it does not know", async () => {
  const { code, stderr } = await runBench(["--calls", "upload,dowload"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'Cannot measure "dowload": expected upload');
});

function runBench(flags: readonly string[]) {
  return runDeno(["run", "-A", "--no-check", "bench/peers/first_calls.ts", ...flags], {
    cwd: PROJECT_ROOT,
  });
}
