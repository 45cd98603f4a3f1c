// The card of gpu.live(): objects that hold memory, largest first, and those left by re-run cells.

import { LiveTable } from "../device/live.ts";
import { LiveGroups } from "../device/live_groups.ts";
import type { LiveObject } from "../device/live_query.ts";
import { formatBytes, formatCount, formatSeconds } from "../words/format.ts";
import { type Card, type CardPart, hiddenNote, note, table } from "./card.ts";
import { show } from "./show_card.ts";

show(LiveTable, ({ objects, hint }) => liveCard(objects, hint));
show(LiveGroups, groupsCard);

/** The most rows shown, so that the card stays small. */
const SHOWN_ROWS = 30;

/** Makes the card of live objects, which come largest first. */
export function liveCard(objects: readonly LiveObject[], hint = ""): Card {
  return {
    title: `${objects.length} live`,
    kind: "LiveTable",
    summary: heldWords(objects),
    parts: objects.length === 0 ? [] : [rows(objects), ...hiddenWords(objects), ...note(hint)],
  };
}

function groupsCard({ key, heading, groups, hint }: LiveGroups): Card {
  const rows = groups.slice(0, SHOWN_ROWS).map(({ name = "unknown", count, byteLength }) => ({
    cells: [name, String(count), sizeText(byteLength)],
    amount: byteLength,
  }));
  const shown = table({ [heading]: "left", count: "right", size: "right" }, rows);
  return {
    title: `live by ${key}`,
    kind: "LiveGroups",
    summary: heldWords(groups),
    parts: groups.length === 0 ? [] : [shown, ...hiddenWords(groups), ...note(hint)],
  };
}

/** Makes one warning for groups of blocks, each of one place of a cell and several runs of it. */
export function rerunCard(groups: readonly (readonly LiveObject[])[]): Card {
  const blocks = groups.flat();
  const amount = `${formatBytes(sumOf(blocks))} in ${formatCount(blocks.length, "block")}`;
  const places = groups.length === 1 ? "the same place" : `${groups.length} places`;
  return {
    title: "Memory of an earlier run is still held",
    kind: "notebook",
    state: "warning",
    summary: `${amount}, made at ${places} of a cell that ran again`,
    parts: [
      rows(blocks),
      ...note(
        "Nothing disposes a cell's variables when it runs again. gpu.slot(name, make) frees " +
          "the former holder, gpu.scope(...) frees at its end, gpu.disposeAll() frees everything",
      ),
    ],
  };
}

function rows(objects: readonly LiveObject[]): CardPart {
  const shown = objects.slice(0, SHOWN_ROWS);
  const hasScopes = shown.some(({ scope }) => scope !== undefined);
  const columns = {
    name: "left",
    kind: "left",
    size: "right",
    age: "right",
    "made at": "left",
  } as const;
  return table(
    hasScopes ? { ...columns, track: "left" } : columns,
    shown.map(({ name, kind, byteLength, ageSeconds, origin = "", scope = "", asleep }) => {
      const kindWords = asleep === undefined ? kind : `${kind}, asleep`;
      const cells = [name, kindWords, sizeText(byteLength), formatSeconds(ageSeconds), origin];
      return { cells: hasScopes ? [...cells, scope] : cells, amount: byteLength };
    }),
  );
}

/** Returns a size as text; empty for streams and events, which hold no memory. */
function sizeText(byteLength: number): string {
  return byteLength === 0 ? "" : formatBytes(byteLength);
}

function hiddenWords(objects: readonly { readonly byteLength: number }[]): CardPart[] {
  const hidden = objects.slice(SHOWN_ROWS);
  return hiddenNote(hidden.length, `more with ${formatBytes(sumOf(hidden))}`);
}

function heldWords(objects: readonly { readonly byteLength: number }[]): string {
  return objects.length === 0 ? "nothing is held" : `${formatBytes(sumOf(objects))} held`;
}

function sumOf(objects: readonly { readonly byteLength: number }[]): number {
  return objects.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
