// The cards of errors: the failed call, and for a lack of memory the amounts that explain it.

import { GroupError } from "../group/group_error.ts";
import { PersistError } from "../persist/persist_error.ts";
import {
  CudaError,
  CudaUnavailableError,
  DisposedError,
  OutOfMemoryError,
} from "../words/errors.ts";
import { formatBytes } from "../words/format.ts";
import { type Card, factsPart, table } from "./card.ts";
import { limitBar, memoryBar } from "./memory_bar.ts";
import { showInCells } from "./show_card.ts";

showInCells(CudaError, cudaErrorCard);
showInCells(OutOfMemoryError, shortageCard);
for (const kind of [CudaUnavailableError, DisposedError, GroupError, PersistError]) {
  showInCells<Error>(kind, errorCard);
}

export function errorCard({ name, message }: Error): Card {
  return { title: name, kind: "", state: "error", summary: message, parts: [] };
}

function cudaErrorCard(error: CudaError): Card {
  const { call, code, codeName } = error;
  const parts = factsPart([["call", call], ["status", `${codeName} (${code})`]]);
  return { ...errorCard(error), parts };
}

function shortageCard(error: OutOfMemoryError): Card {
  const { requestedBytes, largest } = error;
  const rows = largest.map(({ name, byteLength }) => ({
    cells: [name, formatBytes(byteLength)],
    amount: byteLength,
  }));
  const parts = [
    ...factsPart([["asked for", formatBytes(requestedBytes)]]),
    ...limitBar(error),
    memoryBar(error),
    ...(rows.length === 0 ? [] : [table({ "largest live": "left", size: "right" }, rows)]),
  ];
  return { ...errorCard(error), parts };
}
