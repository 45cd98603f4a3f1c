// The card of an archive of numpy's: its arrays, largest first. The entry for numpy loads it, because
// archives need Node's modules, which mod.ts leaves out.

import { NpzArrays } from "../interop/numpy/npz_arrays.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { type Card, factsPart } from "./card.ts";
import { tensorParts } from "./model_card.ts";
import { show } from "./show_card.ts";

function archiveCard(archive: NpzArrays): Card {
  const { disposed, unreadable } = archive;
  const arrays = [...archive];
  const byteLength = arrays.reduce((sum, [, array]) => sum + array.byteLength, 0);
  const facts = factsPart([["not loaded", unreadable.join(", ") || undefined]]);
  return {
    title: formatCount(arrays.length, "array"),
    kind: "NpzArrays",
    state: disposed ? "disposed" : undefined,
    summary: `${formatBytes(byteLength)} of device memory`,
    parts: disposed ? [] : [...facts, ...tensorParts(arrays, "size")],
  };
}

show(NpzArrays, archiveCard);
