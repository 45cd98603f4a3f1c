// The notebooks as they are shipped can be read before anybody trusts or runs them.

import { assertEquals } from "@std/assert";
import {
  type CellOutput,
  codeCells,
  joined,
  notebookNames,
  readNotebook,
} from "../../jupyter/notebook_file.ts";

const PLOTLY = "application/vnd.plotly.v1+json";

for (const name of notebookNames()) {
  const saved = codeCells(readNotebook(name)).map(({ outputs = [] }) => outputs);

  Deno.test(`${name} is saved with pictures, and with cards that keep their style`, () => {
    const unreadable = saved.flat().filter(({ data }) => {
      const html = joined(data?.["text/html"] as string);
      const isBareCard = html.includes('class="vk-card"') &&
        !html.includes('class="vk-card" style=');
      return isBareCard ||
        (data !== undefined && PLOTLY in data && !html.includes('src="data:image/svg+xml;base64,'));
    });
    assertEquals(unreadable.map(wordsOf), []);
  });
}

function wordsOf({ data }: CellOutput): string {
  return joined(data?.["text/plain"] as string).split("\n")[0] ?? "";
}
