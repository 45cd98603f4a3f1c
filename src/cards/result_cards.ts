// The cards of results: the time of work, a summary of a buffer's values, and a buffer shown as a picture.

import { colorAt } from "../buffers/color_map.ts";
import { BufferImage } from "../buffers/image.ts";
import { BufferSummary } from "../buffers/summary.ts";
import { OverlapTrace } from "../measure/overlap.ts";
import { Timing } from "../measure/timing.ts";
import { formatBytes, formatCount, formatSeconds, formatSpeed } from "../words/format.ts";
import { type Card, type CardPart, factsPart, hiddenNote, MODELLED, note, table } from "./card.ts";
import { textOf } from "./preview.ts";
import { show } from "./show_card.ts";

show(Timing, timingCard);
show(OverlapTrace, overlapCard);
show(BufferSummary, summaryCard);
show(BufferImage, imageCard);

const SHOWN_SPANS = 20;

/** Colours of the scale below a picture. */
const SCALE_STEPS = 24;

function timingCard(timing: Timing): Card {
  const { gpuSeconds, hostSeconds, copiedBytes, gigabytesPerSecond, isModelled } = timing;
  const isCopy = copiedBytes > 0;
  return {
    title: formatSeconds(gpuSeconds),
    kind: "Timing",
    summary: isModelled ? MODELLED : "on the GPU's clock",
    parts: factsPart([
      ["host", formatSeconds(hostSeconds)],
      ["copied", isCopy ? formatBytes(copiedBytes) : undefined],
      ["speed", isCopy ? formatSpeed(gigabytesPerSecond) : undefined],
    ]),
  };
}

function overlapCard(trace: OverlapTrace): Card {
  const { device, spans, activeSeconds, parallelism, gigabytesPerSecond, isModelled } = trace;
  const sorted = spans.toSorted((a, b) => a.startSeconds - b.startSeconds);
  const rows = sorted.slice(0, SHOWN_SPANS).map(({ name, lane, startSeconds, endSeconds }) => ({
    cells: [name, lane, formatSeconds(startSeconds), formatSeconds(endSeconds - startSeconds)],
    share: activeSeconds === 0 ? 0 : (endSeconds - startSeconds) / activeSeconds,
  }));
  return {
    title: device,
    kind: "OverlapTrace",
    summary: `${isModelled ? "modelled: " : ""}${formatCount(spans.length, "piece")} in ` +
      `${formatSeconds(activeSeconds)}, ${parallelism.toFixed(2)} at a time on average, ` +
      `${formatSpeed(gigabytesPerSecond)} together`,
    parts: [
      table({ piece: "left", stream: "left", begins: "right", takes: "right" }, rows),
      ...hiddenNote(spans.length - rows.length),
    ],
  };
}

function summaryCard(summary: BufferSummary): Card {
  const { name, type, length, sampleCount, nonFiniteCount, zeroCount } = summary;
  const { lowest, highest, mean, meanError, deviation, quartiles, histogram } = summary;
  const seen = sampleCount === length
    ? `all ${length.toLocaleString("en-US")} values`
    : `${sampleCount.toLocaleString("en-US")} of ${length.toLocaleString("en-US")} values, ` +
      `evenly spread`;
  const card = { title: name, kind: "BufferSummary", summary: `${type}, ${seen}` };
  if (lowest === null || highest === null || mean === null || quartiles === null) {
    return {
      ...card,
      parts: note(length === 0 ? "no values" : `${nonFiniteCount} NaN or infinite`),
    };
  }
  // Two digits: an error is known no better.
  const error = meanError ? ` ± ${textOf(Number(meanError.toPrecision(2)))}` : "";
  const facts: [string, string][] = [
    ["lowest", textOf(lowest)],
    ["mean", `${textOf(mean)}${error}`],
    ["highest", textOf(highest)],
    ["deviation", textOf(deviation ?? NaN)],
    ["quartiles", quartiles.map(textOf).join(", ")],
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

function imageCard(image: BufferImage): Card {
  const { name, width, height, step, range, colors, png } = image;
  const [rowStep, columnStep] = step;
  const thinned = rowStep === 1 && columnStep === 1
    ? "every element"
    : `1 of ${rowStep} rows, 1 of ${columnStep} columns`;
  const [lowest, highest] = range.map(textOf);
  const scale: CardPart[] = colors === null ? [] : [{
    type: "scale",
    colors: Array.from(
      { length: SCALE_STEPS },
      (_, at) => `rgb(${colorAt(colors, at / (SCALE_STEPS - 1)).join(",")})`,
    ),
    lowest: lowest ?? "",
    highest: highest ?? "",
  }];
  return {
    title: name,
    kind: "BufferImage",
    summary: `${thinned}${colors === null ? `, from ${lowest} to ${highest}` : ""}`,
    parts: [
      {
        type: "picture",
        source: `data:image/png;base64,${png.toBase64()}`,
        width,
        height,
        words: `${width} by ${height} pixels`,
      },
      ...scale,
    ],
  };
}
