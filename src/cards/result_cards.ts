// The cards of results: the time of a piece of work, and a summary of a buffer's values.

import type { BufferSummary } from "../buffers/summary.ts";
import type { Timing } from "../measure/timing.ts";
import { formatBytes, formatSeconds, formatSpeed } from "../words/format.ts";
import type { Card } from "./card.ts";
import { textOf } from "./preview.ts";

/** Makes the card of a timing. */
export function timingCard(timing: Timing): Card {
  const { gpuSeconds, hostSeconds, copiedBytes, gigabytesPerSecond } = timing;
  const copied: (readonly [string, string])[] = copiedBytes === 0 ? [] : [
    ["copied", formatBytes(copiedBytes)],
    ["speed", formatSpeed(gigabytesPerSecond)],
  ];
  return {
    title: formatSeconds(gpuSeconds),
    kind: "Timing",
    summary: "on the GPU's clock",
    parts: [{ type: "facts", facts: [["host", formatSeconds(hostSeconds)], ...copied] }],
  };
}

/** Makes the card of a summary. */
export function summaryCard(summary: BufferSummary): Card {
  const { name, type, length, sampleCount, nonFiniteCount, zeroCount } = summary;
  const { lowest, highest, mean, histogram } = summary;
  const seen = sampleCount === length
    ? `all ${length.toLocaleString("en-US")} values`
    : `${sampleCount.toLocaleString("en-US")} of ${length.toLocaleString("en-US")} values, ` +
      `evenly spread`;
  const card = { title: name, kind: "BufferSummary", summary: `${type}, ${seen}` };
  if (lowest === null || highest === null || mean === null) {
    return { ...card, parts: [{ type: "note", text: `${nonFiniteCount} NaN or infinite` }] };
  }
  const facts: [string, string][] = [
    ["lowest", textOf(lowest)],
    ["mean", textOf(mean)],
    ["highest", textOf(highest)],
    ["zero", String(zeroCount)],
    ["NaN or infinite", String(nonFiniteCount)],
  ];
  return {
    ...card,
    parts: [
      { type: "facts", facts },
      { type: "histogram", counts: histogram, lowest: textOf(lowest), highest: textOf(highest) },
    ],
  };
}
