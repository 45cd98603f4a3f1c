// The cores near a device: those of the NUMA node that its bus ends at. Memory of another node is reached
// over a link between the processors, which all devices and threads of both sides share.

import { readCString } from "../../ffi/c_strings.ts";
import { CPU_SET_BYTES, findHost } from "../../ffi/host.ts";
import type { Driver } from "../driver/driver.ts";

/** Processors of the node that a device is at. */
export interface NearCores {
  /** Number of the node. */
  readonly node: number;
  /** Number of the processors. */
  readonly count: number;
  /** The processors as the system's calls take them: bit 0 of byte 0 is processor 0. */
  readonly set: Uint8Array<ArrayBuffer>;
}

/** Calls that ask the system about its cores. */
export interface CoreSystem {
  /** Returns the text of a file below `/sys`; undefined where it is not there or must not be read. */
  read(path: string): string | undefined;
  /** Returns the processors that this program may use; undefined where the system does not say. */
  allowed(): Uint8Array | undefined;
}

/** The system that the program runs on. */
export const OWN_SYSTEM: CoreSystem = {
  read: (path) => readSystemText(`/sys/${path}`),
  allowed: allowedHere,
};

/**
 * Finds the cores near a device, as far as the program may use them. Returns undefined where there is
 * nothing to choose: on a machine of one node, for a device that is at no node, for a program that was
 * bound to cores of one node or of others, where fewer cores are near than are wanted at least, and where
 * the system cannot be asked.
 */
export function findNearCores(
  askBusId: () => string,
  { fewest, system = OWN_SYSTEM }: { readonly fewest: number; readonly system?: CoreSystem },
): NearCores | undefined {
  const nodes = numbersOf(system.read("devices/system/node/online"));
  if (nodes.length < 2) return undefined;
  const text = system.read(`bus/pci/devices/${askBusId().toLowerCase()}/numa_node`);
  const node = Number(text?.trim() || -1); // -1 stands for no node there, too
  if (!nodes.includes(node)) return undefined;
  const near = numbersOf(system.read(`devices/system/node/node${node}/cpulist`));
  const allowed = system.allowed();
  if (allowed === undefined) return undefined;
  const set = new Uint8Array(allowed.length);
  for (const core of near) set[core >> 3] = (set[core >> 3] ?? 0) | 1 << (core & 7);
  for (const [at, cores] of allowed.entries()) set[at] = (set[at] ?? 0) & cores;
  const count = countOf(set);
  return count < fewest || count === countOf(allowed) ? undefined : { node, count, set };
}

/** Returns the name of a device's place on the bus, as files below `/sys` have it; empty without one. */
export function busIdOf(driver: Driver, deviceHandle: number): string {
  const text = new Uint8Array(64);
  const status = driver.status("cuDeviceGetPCIBusId", text, text.length, deviceHandle);
  return status === 0 ? readCString(text) : "";
}

/** Returns the numbers of a list such as `0-3,8,10-11`; none where it is something else. */
export function numbersOf(text = ""): number[] {
  const numbers: number[] = [];
  for (const part of text.trim().split(",")) {
    const [, first, last = first] = /^\s*(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (first === undefined) return [];
    for (let number = Number(first); number <= Number(last); number++) numbers.push(number);
  }
  return numbers;
}

function countOf(set: Uint8Array): number {
  let count = 0;
  for (let bits of set) for (; bits !== 0; bits &= bits - 1) count++;
  return count;
}

/**
 * Reads a file of the system, without the space around it. Deno opens files below `/sys` and `/proc` for
 * programs that may do everything; nobody is asked for that.
 */
export function readSystemText(path: string): string | undefined {
  try {
    if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return undefined;
    return Deno.readTextFileSync(path).trim();
  } catch {
    return undefined;
  }
}

function allowedHere(): Uint8Array | undefined {
  const set = new Uint8Array(CPU_SET_BYTES);
  const status = findHost()?.sched_getaffinity(0, BigInt(set.length), set);
  return status === 0 ? set : undefined;
}
