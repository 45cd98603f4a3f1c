// The card of gpu.live(): objects that hold memory, largest first, and those left by re-run cells.

import { LiveTable } from "../device/live.ts";
import { LiveGroups } from "../device/live_groups.ts";
import type { LiveObject } from "../device/live_query.ts";
import { formatBytes, formatCount, formatSeconds } from "../words/format.ts";
import { type Card, type CardPart, table } from "./card.ts";
import { show } from "./show_card.ts";

show(LiveTable, ({ objects, hint }) => liveCard(objects, hint));
show(LiveGroups, groupsCard);

/** The most rows shown, so that the card stays small. */
const SHOWN_ROWS = 30;

/** Makes the card of live objects, which come largest first. */
export function liveCard(objects: readonly LiveObject[], hint = ""): Card {
  const bytes = sumOf(objects);
  return {
    title: `${objects.length} live`,
    kind: "LiveTable",
    summary: objects.length === 0 ? "nothing is held" : `${formatBytes(bytes)} held`,
    parts: objects.length === 0 ? [] : [rows(objects), ...hiddenNote(objects), ...noteOf(hint)],
  };
}

function groupsCard({ key, heading, groups, hint }: LiveGroups): Card {
  const bytes = sumOf(groups);
  const largest = groups.reduce((most, { byteLength }) => Math.max(most, byteLength), 1);
  const rows = groups.slice(0, SHOWN_ROWS).map(({ name = "unknown", count, byteLength }) => ({
    cells: [name, String(count), sizeText(byteLength)],
    share: byteLength / largest,
  }));
  const shown = table({ [heading]: "left", count: "right", size: "right" }, rows);
  return {
    title: `live by ${key}`,
    kind: "LiveGroups",
    summary: groups.length === 0 ? "nothing is held" : `${formatBytes(bytes)} held`,
    parts: groups.length === 0 ? [] : [shown, ...hiddenNote(groups), ...noteOf(hint)],
  };
}

/** Makes one warning for groups of blocks, each of one place of a cell and several runs of it. */
export function rerunCard(groups: readonly (readonly LiveObject[])[]): Card {
  return {
    title: "Memory of an earlier run is still held",
    kind: "notebook",
    state: "warning",
    summary:
      `${formatBytes(sumOf(groups.flat()))} in ${
        formatCount(groups.flat().length, "block")
      }, made at ` +
      `${groups.length === 1 ? "the same place" : `${groups.length} places`} of a cell that ` +
      `ran again`,
    parts: [
      rows(groups.flat()),
      {
        type: "note",
        text:
          "Nothing disposes a cell's variables when it runs again. gpu.slot(name, make) frees " +
          "the former holder, gpu.scope(...) frees at its end, gpu.disposeAll() frees everything",
      },
    ],
  };
}

function rows(objects: readonly LiveObject[]): CardPart {
  const largest = objects.reduce((most, { byteLength }) => Math.max(most, byteLength), 1);
  const shown = objects.slice(0, SHOWN_ROWS);
  const hasScopes = shown.some(({ scope }) => scope !== undefined);
  return {
    type: "table",
    header: ["name", "kind", "size", "age", "made at", ...(hasScopes ? ["track"] : [])],
    align: ["left", "left", "right", "right"],
    rows: shown.map(({ name, kind, byteLength, ageSeconds, origin = "", scope = "", asleep }) => {
      const kindWords = asleep === undefined ? kind : `${kind}, asleep`;
      const cells = [name, kindWords, sizeText(byteLength), formatSeconds(ageSeconds), origin];
      return { cells: hasScopes ? [...cells, scope] : cells, share: byteLength / largest };
    }),
  };
}

/** Returns a size as text; empty for streams and events, which hold no memory. */
function sizeText(byteLength: number): string {
  return byteLength === 0 ? "" : formatBytes(byteLength);
}

function noteOf(text: string): CardPart[] {
  return text === "" ? [] : [{ type: "note", text }];
}

function hiddenNote(objects: readonly { readonly byteLength: number }[]): CardPart[] {
  const hidden = objects.slice(SHOWN_ROWS);
  if (hidden.length === 0) return [];
  return [{
    type: "note",
    text: `and ${hidden.length} more with ${formatBytes(sumOf(hidden))}`,
  }];
}

function sumOf(objects: readonly { readonly byteLength: number }[]): number {
  return objects.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
