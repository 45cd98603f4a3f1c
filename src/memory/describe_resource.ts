// The description of a memory resource, for consoles and cards: each adaptor with its counters.

import { formatBytes, messageOf } from "../words/format.ts";
import type { MemoryResource } from "./memory_resource.ts";

/** One resource of a stack of adaptors. */
export interface ResourceFacts {
  readonly name: string;
  /** Its counters and limits, each with its name. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** Describes a resource in one line, and each of its upstreams in one more line. */
export function describeResource(resource: MemoryResource): string {
  const [own = "", ...upstreams] = stackOf(resource).map(({ name, facts }) =>
    [name, facts.map(([fact, value]) => `${fact} ${value}`).join(", ")]
      .filter((words) => words !== "").join(": ")
  );
  return [`${own} (${placeOf(resource)})`, ...upstreams.map((line) => `  over ${line}`)].join("\n");
}

/** Describes who can use a resource's memory. */
export function placeOf({ isDeviceAccessible, isHostAccessible, context }: MemoryResource): string {
  const users = isHostAccessible ? (isDeviceAccessible ? "host and GPU" : "the host") : "the GPU";
  return `memory for ${users} of device ${context.ordinal}`;
}

/** Lists a resource and its upstreams, the outermost first. */
export function stackOf(resource: MemoryResource): ResourceFacts[] {
  const own = { name: resource.constructor.name, facts: factsOf(resource) };
  const { upstream } = resource as { upstream?: MemoryResource };
  return upstream === undefined ? [own] : [own, ...stackOf(upstream)];
}

/** A display may not throw, and the counters of a disposed resource cannot be read. */
function factsOf(resource: MemoryResource): [string, string][] {
  try {
    return countersOf(resource);
  } catch (error) {
    return [["not readable:", messageOf(error)]];
  }
}

/** Reads the counters of any resource: the properties whose names end like sizes and counts. */
function countersOf(resource: object): [string, string][] {
  return counterNames(resource).flatMap((key): [string, string][] => {
    const value: unknown = Reflect.get(resource, key);
    if (typeof value !== "number" || !Number.isFinite(value)) return [];
    const isSize = key.endsWith("Bytes");
    return [[wordsOf(key), isSize ? formatBytes(value) : String(value)]];
  });
}

function counterNames(resource: object): string[] {
  const keys = new Set<string>(Object.keys(resource));
  for (
    let prototype = Object.getPrototypeOf(resource);
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const key of Object.getOwnPropertyNames(prototype)) keys.add(key);
  }
  return [...keys].filter((key) => /(Bytes|Count)$/.test(key));
}

/** Turns `"peakReservedBytes"` into `"peak reserved"`, and `"usedCount"` into `"used count"`. */
function wordsOf(key: string): string {
  return key.replace(/Bytes$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
