// The styles of a card's parts, for style attributes: notebooks that are not trusted, and viewers of
// notebooks, drop style elements. JupyterLab keeps only what its list of properties and values has:
// no color-mix(), max() or repeating gradients. Greys and hues read on white and on black.

import type { BarSegment } from "./card.ts";

const FAINT_LINE = "1px solid rgba(128,128,128,0.35)";
const FAINT = "opacity:0.7";
const MARK = "display:inline-block;padding:0 8px;border-radius:9px;font-size:11px";
const CELL = "padding:2px 14px 2px 0;border:0;vertical-align:baseline;max-width:none";

const HEADING = `${CELL};font-weight:400;${FAINT};border-bottom:${FAINT_LINE};white-space:nowrap`;

/** The style of each part of a card. */
export const STYLE = {
  card: "box-sizing:border-box;max-width:760px;margin:4px 0;padding:10px 14px 12px;" +
    `border:${FAINT_LINE};border-radius:8px;font-family:system-ui,sans-serif;font-size:13px;` +
    "line-height:1.5;overflow-wrap:break-word",
  title: "font-size:15px;margin-right:10px",
  kind: `${FAINT};margin-right:10px`,
  name: FAINT,
  summary: "margin-bottom:6px;white-space:pre-line",
  disposed: `${MARK};border:1px dashed gray;${FAINT}`,
  warning: `${MARK};border:1px solid #b37300;background:#b3730033`,
  error: `${MARK};border:1px solid #cf3a3a;background:#cf3a3a33`,
  facts: "display:flex;flex-wrap:wrap;margin:4px 0",
  fact: "margin:0 24px 1px 0;max-width:100%",
  bar: `display:flex;height:14px;margin:5px 0 4px;border:${FAINT_LINE};border-radius:4px;` +
    "overflow:hidden",
  legend: "display:flex;flex-wrap:wrap",
  entry: "margin:0 18px 2px 0;white-space:nowrap",
  swatch: `display:inline-block;width:11px;height:11px;margin-right:6px;border:${FAINT_LINE};` +
    "border-radius:2px;vertical-align:-1px",
  note: "margin-top:6px;padding-left:9px;border-left:3px solid rgba(128,128,128,0.45);" +
    "white-space:pre-line",
  scroll: "overflow-x:auto",
  table:
    "table-layout:auto;width:100%;margin:4px 0;border-collapse:collapse;border:0;font-size:13px",
  row: "background:none",
  left: `${CELL};text-align:left;white-space:normal;overflow-wrap:normal`,
  right: `${CELL};text-align:right;white-space:nowrap`,
  headingLeft: `${HEADING};text-align:left`,
  headingRight: `${HEADING};text-align:right`,
  track: "width:22%;min-width:70px;padding:2px 0;border:0;text-align:left",
  trackBar: "display:inline-block;height:9px;border-radius:2px;background:#2f81c7",
  values: "margin:2px 0 0;padding:0;overflow-x:auto;background:none;font-size:12px;" +
    "line-height:1.5;font-family:ui-monospace,Menlo,Consolas,monospace",
  histogram: "display:flex;align-items:flex-end;height:64px;margin-top:6px;" +
    `border-bottom:${FAINT_LINE}`,
  bin: "flex:1 1 0;margin-right:1px;background:#2f81c7",
  ends: `display:flex;justify-content:space-between;${FAINT}`,
  scale: "display:flex;width:320px;max-width:100%;height:10px;margin-top:6px",
  scaleEnds: `display:flex;width:320px;max-width:100%;justify-content:space-between;${FAINT}`,
  picture: "max-width:100%;height:auto",
} as const;

/** The look of each fill, which differs without colour, too. */
export const FILL: Readonly<Record<BarSegment["fill"], string>> = {
  solid: "background:#2f81c7",
  hatched: "background:linear-gradient(90deg,#c98a1b 50%,#c98a1b66 50%);background-size:6px",
  dotted: "background:linear-gradient(90deg,#8a8f98 25%,#8a8f9855 25%);background-size:4px",
  empty: "background:none",
};
