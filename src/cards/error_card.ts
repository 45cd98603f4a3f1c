// The cards of errors: the failed call, and for a lack of memory the amounts that explain it.

import type { CudaError, OutOfMemoryError } from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";
import type { Card, CardPart } from "./card.ts";
import { limitBar, memoryBar } from "./memory_bar.ts";

/** Makes the card of an error. */
export function errorCard({ name, message }: Error): Card {
  return { title: name, kind: "", state: "error", summary: message, parts: [] };
}

/** Makes the card of a failed driver call. */
export function cudaErrorCard(error: CudaError): Card {
  const { call, code, codeName } = error;
  const facts = [["call", call], ["status", `${codeName} (${code})`]] as const;
  return { ...errorCard(error), parts: [{ type: "facts", facts }] };
}

/** Makes the card of a lack of memory. */
export function shortageCard(error: OutOfMemoryError): Card {
  const { requestedBytes, largest } = error;
  const asked: CardPart = { type: "facts", facts: [["asked for", formatBytes(requestedBytes)]] };
  const top = largest[0]?.byteLength ?? 1;
  const holders: CardPart = {
    type: "table",
    header: ["largest live", "size"],
    align: ["left", "right"],
    rows: largest.map(({ name, byteLength }) => ({
      cells: [name, formatBytes(byteLength)],
      share: byteLength / top,
    })),
  };
  const parts = [
    asked,
    ...limitBar(error),
    memoryBar(error),
    ...(largest.length === 0 ? [] : [holders]),
  ];
  return { ...errorCard(error), parts };
}
