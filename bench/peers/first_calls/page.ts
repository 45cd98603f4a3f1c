// The page of a run of first calls: for every call and size this kit's speed beside the best peer's,
// coloured by their ratio. Plain HTML, readable without scripts and in both themes.

import { formatBytes } from "../../../src/words/format.ts";
import { median } from "../../result_file.ts";
import { type Call, type CallRun, CALLS, type CallSummary, type Phase } from "./plan.ts";

/** Name of this kit in a run. */
const OURS = "vramkit";

/** A ratio from which on this kit is called as fast: the rest is noise. */
const EVEN = 0.97;

/** A ratio below which this kit counts as much slower. */
const FAR_BELOW = 0.8;

/** Rounds that differ by more than this part are marked. */
const STEADY = 0.03;

const TITLES: readonly { readonly phase: Phase; readonly form: CallSummary["form"] }[] = [
  { phase: "warm", form: "awaited" },
  { phase: "warm", form: "blocking" },
  { phase: "cold", form: "awaited" },
  { phase: "cold", form: "blocking" },
];

/** One call at one size, ours beside the best peer. */
export interface CallCell {
  /** Median seconds of ours. */
  readonly seconds: number;
  /** The fastest peer. */
  readonly best: { readonly peer: string; readonly seconds: number };
  /** Time of the best peer, as a part of ours: more than 1 is faster. */
  readonly ratio: number;
  /** Largest difference of a round's ratio from another's, as a part; 0 for one round. */
  readonly spread: number;
}

/** A place in the tables. */
export interface CellQuery {
  readonly call: Call;
  readonly phase: Phase;
  readonly form: CallSummary["form"];
  readonly byteLength: number;
}

/** Compares ours with the best peer, which always blocks; undefined where one of them is missing. */
export function cellOf(run: CallRun, query: CellQuery): CallCell | undefined {
  const ours = secondsOf(run, OURS, query);
  const peers = [...new Set(run.documents.map(({ peer }) => peer))].filter((peer) => peer !== OURS);
  const found = peers.flatMap((peer) => {
    const all = secondsOf(run, peer, { ...query, form: "blocking" });
    return all.length === 0 ? [] : [{ peer, seconds: median(all), all }];
  });
  const best = found.toSorted((a, b) => a.seconds - b.seconds)[0];
  if (best === undefined || ours.length === 0) return undefined;
  const seconds = median(ours);
  const rounds = ours.map((own, round) => (best.all[round] ?? best.seconds) / own);
  return {
    seconds,
    best: { peer: best.peer, seconds: best.seconds },
    ratio: best.seconds / seconds,
    spread: Math.max(...rounds) / Math.min(...rounds) - 1,
  };
}

function secondsOf({ documents }: CallRun, name: string, query: CellQuery): number[] {
  return documents.filter(({ peer }) => peer === name).flatMap(({ results }) =>
    results.filter(({ call, phase, form, byteLength }) =>
      call === query.call && phase === query.phase && form === query.form &&
      byteLength === query.byteLength
    ).map(({ seconds }) => seconds)
  );
}

/** Writes the page of a run. */
export function pageOf(run: CallRun): string {
  const { device, coreCount, date } = run;
  const cells = TITLES.flatMap((title) => cellsOf(run, title));
  const slower = cells.filter(({ cell }) => cell.ratio < EVEN);
  const versions = run.documents.map(({ peer, versions }) =>
    `${peer}: ${Object.entries(versions).map(([name, value]) => `${name} ${value}`).join(", ")}`
  );
  const peers = [...new Set(run.documents.map(({ peer }) => peer))].filter((peer) => peer !== OURS);
  const lines = [...new Set(versions)].map((line) => `<li>${escaped(line)}</li>`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>First calls, ${escaped(device)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>First calls beside ${escaped(peers.join(", "))}</h1>
<p>${escaped(device)}, ${coreCount} cores, ${date.slice(0, 10)}. A cell has the speed of this kit
in GB/s, its ratio to the fastest of the others, which always block, and below it the other's speed
and name. Cells are green from a ratio of ${EVEN} on, and red below ${FAR_BELOW}. “~” marks ratios of
which two rounds differ by more than ${100 * STEADY} %. One size was drawn at random.</p>
<p class="sum">${cells.length - slower.length} of ${cells.length} cells are as fast or faster.</p>
${TITLES.map((title) => tableOf(run, title)).join("\n")}
<h2>Versions</h2>
<ul>${lines}</ul>
</body>
</html>
`;
}

function cellsOf(
  run: CallRun,
  { phase, form }: typeof TITLES[number],
): { readonly query: CellQuery; readonly cell: CallCell }[] {
  return (Object.keys(CALLS) as Call[]).flatMap((call) =>
    run.sizes.flatMap((byteLength) => {
      const query = { call, phase, form, byteLength };
      const cell = cellOf(run, query);
      return cell === undefined ? [] : [{ query, cell }];
    })
  );
}

function tableOf(run: CallRun, title: typeof TITLES[number]): string {
  const { phase, form } = title;
  const found = cellsOf(run, title);
  const words = phase === "warm" ? "after some seconds" : "the first calls of a program";
  const head = run.sizes.map((size) => `<th scope="col">${formatBytes(size)}</th>`).join("");
  const rows = (Object.entries(CALLS) as [Call, string][]).map(([call, meaning]) => {
    const cells = run.sizes.map((byteLength) =>
      cellHtml(
        byteLength,
        found.find(({ query }) => query.call === call && query.byteLength === byteLength)?.cell,
      )
    );
    return `<tr><th scope="row">${call}<small>${meaning}</small></th>${cells.join("")}</tr>`;
  });
  return `<h2>${words}, ${form}</h2>
<div class="wide"><table><thead><tr><th></th>${head}</tr></thead><tbody>${rows.join("")}</tbody>
</table></div>`;
}

function cellHtml(byteLength: number, cell: CallCell | undefined): string {
  if (cell === undefined) return "<td>–</td>";
  const { seconds, best, ratio, spread } = cell;
  const level = ratio < FAR_BELOW ? "low" : ratio < EVEN ? "under" : ratio < 1.2 ? "even" : "over";
  const speed = (value: number) => (byteLength / value / 1e9).toPrecision(3);
  const mark = spread > STEADY ? "~" : "";
  return `<td class="${level}"><b>${speed(seconds)}</b> <i>${mark}${ratio.toFixed(2)}</i>` +
    `<small>${speed(best.seconds)} ${escaped(best.peer)}</small></td>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1400px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.sum { font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 2px; font-variant-numeric: tabular-nums;
  font-size: 12.5px; line-height: 1.4; }
th { font-weight: 500; text-align: left; padding: 2px 4px; white-space: nowrap; }
tbody th { position: sticky; left: 0; background: Canvas; }
thead th { text-align: right; }
td { padding: 2px 4px; text-align: right; white-space: nowrap; border-radius: 3px; }
small { display: block; font-size: 10px; opacity: 0.75; }
i { font-style: normal; }
.low { background: light-dark(#f3c1ba, #7a2f27); }
.under { background: light-dark(#fae3c3, #6b4a1c); }
.even { background: light-dark(#e3ecd9, #34452a); }
.over { background: light-dark(#bfe0c4, #1f5a35); }
`;
