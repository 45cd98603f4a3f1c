// Presses JupyterLab's Stop button while a cell computes, with the kernel that the command `kernel`
// installs and with Deno's own, as a program: `deno run -A stop_check.ts`. After the one the memory is
// there, and the other has ended; each one's first card says so beforehand.

import { checkInBrowser, faultless, watch } from "../browser_checks.ts";
import { JupyterServer } from "./jupyter_server.ts";
import { LabPage } from "./lab_page.ts";

const CELLS = [
  'import { CudaDevice } from "vramkit";\n' +
  'const gpu = CudaDevice.open(0, { driver: "auto" });\n' +
  'const x = await gpu.upload(new Float32Array([1, 2, 3]), { label: "kept" });\n' +
  "gpu;",
  "while (true);",
  "console.log(`${x.label} ${await x.download()}`);",
];

if (import.meta.main) {
  await checkInBrowser(async (browser, report) => {
    for (const kernel of ["kit", "deno"] as const) {
      await using server = await JupyterServer.start("jupyterlab", { kernel, cells: CELLS });
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const { faults } = watch(page, (url) => url.startsWith(server.origin));
      const lab = new LabPage(page);
      await lab.enter(server.origin);
      await lab.open("cells");
      await report(`Stop with the kernel of ${kernel}`, async () => {
        const warned = (await lab.runFirst()).includes("Stop ends this kernel");
        const answer = await lab.stopSecond();
        return kernel === "kit"
          ? [
            { name: "the first card does not warn", passed: !warned, found: warned },
            { name: "memory is kept", passed: answer.includes("kept 1,2,3"), found: answer },
            faultless(faults),
          ]
          : [
            { name: "the first card warns", passed: warned, found: warned },
            { name: "memory is gone", passed: !answer.includes("kept"), found: answer },
          ];
      });
      await page.close();
    }
  });
}
