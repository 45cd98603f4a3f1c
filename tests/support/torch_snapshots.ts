// Memory snapshots that PyTorch 2.11 made on H100s and H200s, by torch_snapshots/make.py: frames are cut, and
// everything else is as PyTorch wrote it. The figures are PyTorch's own at the same moment.

import { gunzipSync } from "node:zlib";
import figures from "./torch_snapshots/figures.json" with { type: "json" };

/** Names of the snapshots. */
export type TorchSnapshot = keyof typeof figures;

/** PyTorch's figures of each snapshot, and of each of its devices. */
export const TORCH_FIGURES = Object.entries(figures) as [
  TorchSnapshot,
  typeof figures[TorchSnapshot],
][];

/** Returns the bytes of a snapshot: `"mlp_after.pickle"`, `"mlp_before.json"`. */
export function torchSnapshot(file: string): Uint8Array<ArrayBuffer> {
  const url = new URL(`torch_snapshots/${file}.gz`, import.meta.url);
  return new Uint8Array(gunzipSync(Deno.readFileSync(url)));
}
