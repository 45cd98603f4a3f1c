// Takes the README's picture of a notebook, light and dark, as a program:
// `deno run -A readme_pictures.ts FOLDER`. It shows outputs as they were saved on a GPU.

import { NOTEBOOKS } from "../../../jupyter/notebook_file.ts";
import { checkInBrowser } from "../browser_checks.ts";
import { JupyterServer } from "./jupyter_server.ts";
import { LabPage } from "./lab_page.ts";

const NAME = "03_bandwidth";
const SIZE = { width: 1000, height: 1180 };
/** The picture begins below the notebook's title, and ends below the first plot. */
const [TITLE_HEIGHT, HEIGHT] = [190, 780];

if (import.meta.main) {
  const [folder = "."] = Deno.args;
  await using server = await JupyterServer.start("jupyterlab", { outputs: NOTEBOOKS });
  await checkInBrowser(async (browser, report) => {
    const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: 1 });
    const lab = new LabPage(page);
    await lab.enter(server.origin);
    await lab.open(NAME);
    for (const theme of ["light", "dark"] as const) {
      await report(theme, async () => {
        await lab.show(theme === "light" ? "JupyterLab Light" : "JupyterLab Dark");
        const panel = page.locator(".jp-NotebookPanel-notebook").first();
        const box = await panel.boundingBox();
        if (box === null) throw new Error("Cannot find the notebook");
        await page.waitForTimeout(1500);
        const clip = { ...box, y: box.y + TITLE_HEIGHT, height: HEIGHT };
        await page.screenshot({ path: `${folder}/readme_${theme}.png`, clip });
        return [{ name: "picture", passed: true, found: box }];
      });
    }
  });
}
