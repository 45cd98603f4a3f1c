// What the host's memory and cores allow, from C++: built with the system's compiler, run as a child.

import { outputOf } from "./process.ts";

/** One figure, of the number of threads that did best. */
export interface HostLimit {
  /** What was measured. */
  readonly name: string;
  /** Number of threads. */
  readonly threads: number;
  /** The median, in GB/s. */
  readonly value: number;
  /** What it is the median of. */
  readonly samples: readonly number[];
}

/** The part to measure: memory alone, what moves between it and devices, or both. */
export type LimitKind = "host" | "chains" | "all";

/** Measures with several numbers of threads; nothing, with the reason on the console, without a compiler. */
export async function hostLimits(
  { byteLength, kind }: { readonly byteLength: number; readonly kind: LimitKind },
): Promise<HostLimit[]> {
  const folder = await Deno.makeTempDir({ prefix: "vramkit-bench-" });
  try {
    const program = `${folder}/host_limits`;
    const source = decodeURIComponent(new URL("host_limits.cpp", import.meta.url).pathname);
    const flags = ["-O3", "-std=c++17", "-pthread", "-o", program, source, "-ldl"];
    await outputOf("g++", flags);
    const args = [...kind === "all" ? [] : [kind], `${byteLength}`, ...threadCounts().map(String)];
    const { rows, error } = JSON.parse(await outputOf(program, args));
    if (error !== "") console.error(`host_limits: ${error}`);
    const byName = Map.groupBy(rows as HostLimit[], ({ name }) => name);
    for (const [name, found] of byName) {
      console.log(`C++: ${name}:`, found.map((one) => `${one.threads}: ${one.value}`).join(", "));
    }
    return [...byName.values()].flatMap((found) =>
      found.toSorted((a, b) => b.value - a.value)[0] ?? []
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return [];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** From a quarter of the cores to all but one. */
function threadCounts(): number[] {
  const most = Math.max(1, navigator.hardwareConcurrency - 1);
  const counts = [0.25, 0.375, 0.5, 0.625, 0.75, 0.875].map((share) =>
    Math.round(share * (most + 1))
  );
  return [...new Set([...counts, most])].filter((count) => count > 0 && count <= most);
}
