// Makes the example of a difference short: steps are left out one by one, on both drivers, as long as
// the last step still makes the same difference.

import type { Sequence } from "./notation.ts";
import type { ProcessPool } from "./process_pool.ts";
import { type Difference, emptyReplay, replaySequence } from "./replay.ts";
import type { MachineFacts } from "./simulation.ts";

/** Leaves out of a difference's sequence what the difference does not need. */
export async function shrink(
  difference: Difference,
  { pool, facts }: { pool: ProcessPool; facts: MachineFacts },
): Promise<Difference> {
  let shortest = difference;
  for (let index = shortest.lines.length - 2; index >= 0; index--) {
    const lines = shortest.lines.toSpliced(index, 1);
    const found = await recordAgain({ ...shortest, lines }, { pool, facts });
    const again = found.find(({ call, real, simulated }) =>
      call === difference.call && real === difference.real && simulated === difference.simulated
    );
    if (again !== undefined) shortest = again;
  }
  return shortest;
}

async function recordAgain(
  { id, isFresh, lines }: Sequence,
  { pool, facts }: { pool: ProcessPool; facts: MachineFacts },
): Promise<readonly Difference[]> {
  const [result] = await pool.playAll([{ sequence: { id, isFresh, lines } }]);
  const found = emptyReplay();
  if (result !== undefined) await replaySequence(result.recorded, facts, found);
  return found.differences;
}
