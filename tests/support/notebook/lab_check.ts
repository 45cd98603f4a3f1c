// Opens every notebook in JupyterLab in a real browser, runs it twice and looks at what is drawn, as a
// program: `deno run -A lab_check.ts [NAME...]`. Pictures go to .jupyter/pictures/.

import { fileURLToPath } from "node:url";
import { notebookNames } from "../../../jupyter/notebook_file.ts";
import { WORK_FOLDER } from "../../../jupyter/python.ts";
import { type Check, checkInBrowser, faultless, watch } from "../browser_checks.ts";
import { JupyterServer } from "./jupyter_server.ts";
import { LabPage } from "./lab_page.ts";
import { checksOf, placed, wantedOf } from "./notebook_checks.ts";

const PICTURES = new URL("pictures/", WORK_FOLDER);
const PICTURE_WIDTHS = [1280, 800] as const;
const THEMES = { light: "JupyterLab Light", dark: "JupyterLab Dark" } as const;

async function checkNotebook(lab: LabPage, name: string): Promise<Check[]> {
  const wanted = await wantedOf(name);
  await lab.open(name);
  const run = async () => {
    await lab.runAll(wanted.plotCount);
    return checksOf(await lab.look(), wanted);
  };
  const checks = await placed(run);
  if (wanted.plotCount > 0) {
    const found = await lab.hover();
    checks.push({ name: "hover shows values", passed: /\d/.test(found.join()), found });
  }
  for (const [theme, fullName] of Object.entries(THEMES)) {
    await lab.show(fullName);
    const { paleCards, cardCount } = await lab.look();
    const passed = paleCards.length === 0 && cardCount === wanted.cardCount;
    checks.push({ name: `cards can be read in the ${theme} theme`, passed, found: paleCards });
    for (const width of PICTURE_WIDTHS) {
      await lab.picture(fileURLToPath(new URL(`${name}_${theme}_${width}.png`, PICTURES)), width);
    }
  }
  const second = await placed(run);
  const found = second.filter(({ passed }) => !passed);
  return [...checks, { name: "a second run shows the same", passed: found.length === 0, found }];
}

if (import.meta.main) {
  const names = Deno.args.length > 0 ? Deno.args : notebookNames();
  Deno.mkdirSync(PICTURES, { recursive: true });
  await using server = await JupyterServer.start("jupyterlab");
  await checkInBrowser(async (browser, report) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const { faults } = watch(page, (url) => url.startsWith(server.origin));
    const lab = new LabPage(page);
    await lab.enter(server.origin);
    for (const name of names) await report(name, () => checkNotebook(lab, name));
    await report("JupyterLab", async () => {
      const answer = await lab.interrupt();
      const name = "interrupting a cell keeps the kernel";
      return [{ name, passed: answer === "42", found: answer }, faultless(faults)];
    });
  });
}
