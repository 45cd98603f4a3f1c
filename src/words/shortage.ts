// A lack of memory in words: the request, the holders of memory, and advice.

import { formatBytes, formatCount } from "./format.ts";

/** A live allocation as an out-of-memory error names it. */
export interface LiveBlock {
  /** The label, or the kind and number of an unlabelled one. */
  readonly name: string;
  /** Its size in bytes. */
  readonly byteLength: number;
}

/** Persisted memory of a device, which nvidia-smi shows without a process. */
export interface PersistedAmount {
  readonly byteLength: number;
  /** The keeper's process. */
  readonly pid: number;
}

/** The amounts that explain a lack of memory, in bytes. */
export interface MemoryAmounts {
  readonly ordinal: number;
  /** Place of the requested memory; the device by default. The other amounts are of this place. */
  readonly place?: "device" | "host";
  readonly requestedBytes: number;
  readonly freeBytes: number;
  /** The device takes the system's memory: then free bytes are those that the system can give. */
  readonly isSystemMemory?: boolean;
  /** Bytes of the device's whole memory. */
  readonly totalBytes: number;
  /** Bytes that `gpu.limit()`, or the resource that failed, allows; undefined without a limit. */
  readonly limitBytes?: number | undefined;
  /** Way to raise the limit of the resource that failed; undefined when none did. */
  readonly remedy?: string | undefined;
  /** Half as much was allocated for a try, after the request failed with enough free. */
  readonly isHalfThere?: boolean;
  /** Bytes that this program's live buffers hold. */
  readonly liveBytes: number;
  readonly liveCount: number;
  /** Bytes that caches still keep for reuse, after they were trimmed. */
  readonly cachedBytes?: number;
  /** Bytes of these that were disposed while a transfer, a stream or a graph uses them. */
  readonly keptBytes?: number;
  /** Memory that is persisted on the device, by whatever program; undefined when none is known. */
  readonly persisted?: PersistedAmount | undefined;
  /** The largest live buffers, largest first. */
  readonly largest: readonly LiveBlock[];
}

/** Describes the request: `8 GiB on device 0`. */
export function formatNeed({ requestedBytes, place, ordinal }: MemoryAmounts): string {
  const where = place === "host" ? "of page-locked host memory" : `on device ${ordinal}`;
  return `${formatBytes(requestedBytes)} ${where}`;
}

/** Describes the free memory and the holders of the rest. */
export function formatHolders(amounts: MemoryAmounts): string {
  const { place, freeBytes, totalBytes, limitBytes, liveBytes, liveCount, largest } = amounts;
  const { keptBytes = 0, persisted } = amounts;
  const free = place === "host"
    ? []
    : [`${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free${systemWords(amounts)}`];
  const limit = limitBytes === undefined ? [] : [`limited to ${formatBytes(limitBytes)}`];
  const top = largest[0];
  const named = top === undefined ? "" : ` (largest: ${top.name} ${formatBytes(top.byteLength)})`;
  const held = liveCount === 0
    ? "no live buffers"
    : `${formatBytes(liveBytes)} in ${formatCount(liveCount, "live buffer")}${named}`;
  const kept = keptBytes === 0
    ? []
    : [`${formatBytes(keptBytes)} disposed, but in use by a transfer, a stream or a graph`];
  const outliving = persisted === undefined
    ? []
    : [`${formatBytes(persisted.byteLength)} persisted by the keeper, process ${persisted.pid}`];
  return [...free, ...limit, held, ...kept, ...outliving].join(", ");
}

/** Says where the free memory is, when it is not the device's own. */
function systemWords({ isSystemMemory }: MemoryAmounts): string {
  return isSystemMemory === true
    ? " in the system's memory (the page cache counts as free, swap does not)"
    : "";
}

/** Returns the bytes that this program does not know of: the context, others, and rounding. */
export function otherBytesOf(
  amounts: Pick<MemoryAmounts, "totalBytes" | "freeBytes" | "liveBytes" | "cachedBytes">,
): number {
  const { totalBytes, freeBytes, liveBytes, cachedBytes = 0 } = amounts;
  return Math.max(0, totalBytes - freeBytes - liveBytes - cachedBytes);
}

/** Returns advice. */
export function hintFor(amounts: MemoryAmounts): string {
  const { requestedBytes, freeBytes, totalBytes, limitBytes, liveBytes } = amounts;
  const { cachedBytes = 0, place, liveCount, remedy } = amounts;
  const dispose = "dispose what is no longer needed, see gpu.live()";
  if (remedy !== undefined) return `${remedy}, or ${dispose}`;
  if (place === "host") return `${dispose}, or raise the system's limit on locked memory`;
  if (limitBytes !== undefined && liveBytes + cachedBytes + requestedBytes > limitBytes) {
    return `raise gpu.limit(), or ${dispose}`;
  }
  if (requestedBytes > totalBytes) return "it is more than the device has: split it";
  if (freeBytes >= requestedBytes) {
    return amounts.isHalfThere === true
      ? "enough is free, but in pieces: allocate the largest buffers first"
      : `the driver refuses it although enough seems free; wait for queued work, or ${dispose}`;
  }
  const missingBytes = requestedBytes - freeBytes;
  if (cachedBytes >= missingBytes) {
    return `caches keep ${formatBytes(cachedBytes)} that is partly in use: ${dispose}`;
  }
  const otherBytes = otherBytesOf(amounts);
  if (otherBytes >= missingBytes && otherBytes > liveBytes) {
    if (2 * (amounts.persisted?.byteLength ?? 0) >= otherBytes) {
      return "gpu.forget() persisted memory that is no longer needed, see gpu.persisted()";
    }
    return amounts.isSystemMemory === true
      ? `the system and other programs hold ${formatBytes(otherBytes)}, see free -h and top`
      : `other programs hold ${formatBytes(otherBytes)}, see nvidia-smi`;
  }
  return liveCount === 0 ? "ask for less, or split it" : dispose;
}
