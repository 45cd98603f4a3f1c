// Tells whether ranges of memory overlap, for copies that the driver may run in any order.
// Ascending addresses, which most new buffers have, are compared in one pass.

import type { AddressRange } from "../accounting/ledger.ts";

/** Returns whether no copy writes bytes that another one reads or writes. */
export function areIndependent(
  copies: readonly Readonly<Record<"destination" | "source", AddressRange>>[],
): boolean {
  const destinations = copies.map(({ destination }) => destination);
  const sources = copies.map(({ source }) => source);
  const written = hullInOrder(destinations);
  const read = hullInOrder(sources);
  if (written !== undefined && read !== undefined) {
    if (written.end <= read.start || read.end <= written.start) return true;
  }
  return noneCollides({ written: destinations, read: sources });
}

/** Returns whether no two ranges share a byte. */
export function areApart(ranges: readonly AddressRange[]): boolean {
  return hullInOrder(ranges) !== undefined || noneCollides({ written: ranges, read: [] });
}

/**
 * Returns the range from the first to the last of ascending ranges; undefined when they do not
 * ascend.
 */
function hullInOrder(ranges: readonly AddressRange[]): { start: bigint; end: bigint } | undefined {
  let end = 0n;
  for (const { address, byteLength } of ranges) {
    if (address < end) return undefined;
    end = address + BigInt(byteLength);
  }
  return { start: ranges[0]?.address ?? 0n, end };
}

function noneCollides(
  ranges: { readonly written: readonly AddressRange[]; readonly read: readonly AddressRange[] },
): boolean {
  const all = [
    ...ranges.written.map((range) => ({ ...range, isWritten: true })),
    ...ranges.read.map((range) => ({ ...range, isWritten: false })),
  ].sort((a, b) => a.address < b.address ? -1 : 1);
  let endOfAll = 0n;
  let endOfWrites = 0n;
  for (const { address, byteLength, isWritten } of all) {
    if (address < (isWritten ? endOfAll : endOfWrites)) return false;
    const end = address + BigInt(byteLength);
    if (end > endOfAll) endOfAll = end;
    if (isWritten && end > endOfWrites) endOfWrites = end;
  }
  return true;
}
