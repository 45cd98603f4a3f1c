// The name of a bench of transfers: `deno bench --json` has no field for bytes or a device, so they
// follow the name in brackets, from where a report reads them.

/** Direction in which a bench moves bytes; `"device"` for copies that stay on one device. */
export type BenchDirection = "up" | "down" | "device";

export interface BenchFacts {
  readonly name: string;
  readonly byteLength: number;
  /** Calls that are timed together. */
  readonly callCount: number;
  /** Direction, where the program named one. */
  readonly direction: BenchDirection | undefined;
  readonly device: string;
}

const PATTERN = /^(.*) \[(?:(\d+) x )?(\d+) bytes(?: (up|down|device))?, (.+)\]$/s;

/** Writes a bench's name with its facts. */
export function formatBenchName(facts: BenchFacts): string {
  const { name, byteLength, callCount, direction, device } = facts;
  const calls = callCount === 1 ? "" : `${callCount} x `;
  const where = direction === undefined ? "" : ` ${direction}`;
  return `${name} [${calls}${byteLength} bytes${where}, ${device}]`;
}

/** Reads a bench's name; undefined for a bench of something else. */
export function parseBenchName(text: string): BenchFacts | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, name = "", calls = "1", bytes, direction, device = ""] = match;
  const [byteLength, callCount] = [Number(bytes), Number(calls)];
  if (byteLength === 0 || callCount === 0) return undefined;
  return { name, byteLength, callCount, direction: direction as BenchDirection, device };
}
