// A machine of several NUMA nodes for tests: the files below `/sys` as a folder's, and the processors that
// the program may use.

import { dirname, join } from "node:path";
import { CPU_SET_BYTES } from "../../ffi/host.ts";
import type { CoreSystem } from "../../src/lanes/near_cores.ts";

/** The nodes and cores of such a machine. */
export interface SimulatedNodes {
  /** Each node's number and its list of processors, as the system writes it. */
  readonly nodes: ReadonlyMap<number, string>;
  /** The node of each device, by its place on the bus; -1 says that it is at none. */
  readonly devices: ReadonlyMap<string, number>;
  /** The processors that the program may use; undefined where the system does not say. */
  readonly allowed: readonly number[] | undefined;
}

/** Writes the machine's files into a folder, and reads them there. */
export function systemIn(folder: string, machine: SimulatedNodes): CoreSystem {
  const write = (path: string, text: string) => {
    Deno.mkdirSync(dirname(join(folder, path)), { recursive: true });
    Deno.writeTextFileSync(join(folder, path), `${text}\n`);
  };
  write("devices/system/node/online", [...machine.nodes.keys()].join());
  for (const [node, list] of machine.nodes) write(`devices/system/node/node${node}/cpulist`, list);
  for (const [id, node] of machine.devices) write(`bus/pci/devices/${id}/numa_node`, String(node));
  return {
    read(path) {
      try {
        return Deno.readTextFileSync(join(folder, path));
      } catch {
        return undefined;
      }
    },
    allowed: () => machine.allowed && setOf(machine.allowed),
  };
}

/** Makes a set as the system's calls take it. */
export function setOf(cores: Iterable<number>): Uint8Array<ArrayBuffer> {
  const set = new Uint8Array(CPU_SET_BYTES);
  for (const core of cores) set[core >> 3] = (set[core >> 3] ?? 0) | 1 << (core & 7);
  return set;
}

/** Returns the processors of a set. */
export function coresIn(set: Uint8Array): number[] {
  return Array.from({ length: 8 * set.length }, (_, core) => core)
    .filter((core) => ((set[core >> 3] ?? 0) >> (core & 7) & 1) === 1);
}
