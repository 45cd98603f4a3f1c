// Memory snapshots that PyTorch 2.11 made on an H100, by torch_snapshots/make.py: frames are cut, and
// everything else is as PyTorch wrote it. The figures are PyTorch's own at the same moment.

import { gunzipSync } from "node:zlib";
import figures from "./torch_snapshots/figures.json" with { type: "json" };

/** Names of the snapshots. */
export type TorchSnapshot = keyof typeof figures.snapshots;

/** PyTorch's figures of each snapshot. */
export const TORCH_FIGURES = Object.entries(figures.snapshots) as [
  TorchSnapshot,
  typeof figures.snapshots[TorchSnapshot],
][];

/** Returns the bytes of a snapshot: `"mlp_after.pickle"`, `"mlp_before.json"`. */
export function torchSnapshot(file: string): Uint8Array<ArrayBuffer> {
  const url = new URL(`torch_snapshots/${file}.gz`, import.meta.url);
  return new Uint8Array(gunzipSync(Deno.readFileSync(url)));
}
