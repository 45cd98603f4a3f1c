// Restarts the kernel of a notebook by JupyterLab's own button, in a real browser, and looks whether what it
// persisted is still there, as a program: `deno run -A restart_check.ts`. Pictures go to .jupyter/pictures/.

import { fileURLToPath } from "node:url";
import { WORK_FOLDER } from "../../../jupyter/python.ts";
import { forgetPersisted, listPersisted } from "../../../src/persist/persist.ts";
import { type Check, checkInBrowser, faultless, watch } from "../browser_checks.ts";
import { JupyterServer } from "./jupyter_server.ts";
import { LabPage } from "./lab_page.ts";

const PICTURES = new URL("pictures/", WORK_FOLDER);
const NAME = "11_persisted_memory";

/** The cell that lists what is persisted: those above it make or open it. */
const LIST = "await gpu.persisted()";

async function checkRestart(lab: LabPage): Promise<Check[]> {
  await lab.open(NAME);
  const look = async (picture: string) => {
    await lab.runAbove(LIST);
    await lab.picture(fileURLToPath(new URL(`${NAME}_${picture}.png`, PICTURES)), 1000);
    return await lab.outputText();
  };
  const before = await look("before_restart");
  await lab.restart();
  const after = await look("after_restart");
  const madeBy = (text: string) => /by process (\d+)/.exec(text)?.[1];
  return [
    { name: "the first kernel makes it", passed: before.includes("made now"), found: before },
    {
      name: "the next kernel has it",
      passed: after.includes("it was there before this kernel"),
      found: after,
    },
    {
      name: "the card names the kernel that is gone",
      passed: madeBy(before) !== undefined && madeBy(after) === madeBy(before),
      found: [madeBy(before), madeBy(after)],
    },
  ];
}

if (import.meta.main) {
  Deno.mkdirSync(PICTURES, { recursive: true });
  for (const { name, device } of await listPersisted()) {
    if (name === "notebook 11") await forgetPersisted({ name, device }); // of a check that failed
  }
  await using server = await JupyterServer.start("jupyterlab");
  await checkInBrowser(async (browser, report) => {
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
    const { faults } = watch(page, (url) => url.startsWith(server.origin));
    const lab = new LabPage(page);
    await lab.enter(server.origin);
    await report("a restart by JupyterLab's button", async () => {
      const checks = await checkRestart(lab);
      await lab.runAll(0); // which forgets it
      return [...checks, faultless(faults)];
    });
  });
}
