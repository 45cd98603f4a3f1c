// The cards of persisted memory: the list of names, and one of them.

import { timeWords } from "../persist/origin.ts";
import { cellsOf, HEADER, PersistedTable } from "../persist/persisted_table.ts";
import { Persistence } from "../persist/persistence.ts";
import { formatBytes, formatCount } from "../words/format.ts";
import { type Card, factsPart, hiddenNote, table } from "./card.ts";
import { show } from "./show_card.ts";

show(PersistedTable, persistedCard);
show(Persistence, persistenceCard);

const SHOWN_ROWS = 30;

function persistedCard({ rows, byteLength, count }: PersistedTable): Card {
  const columns = HEADER.map((name) => [name, name === "size" ? "right" : "left"] as const);
  const shown = table(
    Object.fromEntries(columns),
    rows.slice(0, SHOWN_ROWS).map((row) => ({ cells: cellsOf(row), amount: row.byteLength })),
  );
  return {
    title: formatCount(count, "persisted name"),
    kind: "PersistedTable",
    summary: count === 0
      ? "nothing outlives its program"
      : `${formatBytes(byteLength)} of device memory; gpu.forget(name) frees it`,
    parts: count === 0 ? [] : [shown, ...hiddenNote(count - SHOWN_ROWS)],
  };
}

function persistenceCard(persistence: Persistence): Card {
  const { name, what, byteLength, madeAt, madeBy, files, key, state } = persistence;
  const { openedBy, unfinishedBy, asleepIn } = persistence;
  const parts = factsPart([
    ["writes", unfinishedBy === undefined ? state : `${state}, by process ${unfinishedBy}`],
    ["made", `${timeWords(madeAt)}, by process ${madeBy}`],
    ...files.map(({ path }) => ["of", path] as const),
    ["key", key],
    ["open in", openedBy.length === 0 ? "no process" : `process ${openedBy.join(", ")}`],
    ["asleep in", asleepIn],
  ]);
  return {
    title: name,
    kind: "Persistence",
    state: state === "dirty" ? "warning" : undefined,
    summary: `${what}, ${formatBytes(byteLength)} of device memory`,
    parts,
  };
}
