// What a notebook shows of a memory resource: the stack of adaptors, each with its counters.

import { type DisplayBundle, showCard } from "../cards/card.ts";
import { resourceCard, type ResourceFacts } from "../cards/resource_card.ts";
import { formatBytes } from "../format.ts";
import type { MemoryResource } from "./memory_resource.ts";

/** Shows a resource, and all that it takes memory from, in a notebook. */
export function showResource(resource: MemoryResource): DisplayBundle {
  return showCard(() => resourceCard(stackOf(resource), placeOf(resource)));
}

function placeOf({ isDeviceAccessible, isHostAccessible, context }: MemoryResource): string {
  const users = isHostAccessible ? (isDeviceAccessible ? "host and GPU" : "the host") : "the GPU";
  return `memory for ${users} of device ${context.ordinal}`;
}

function stackOf(resource: MemoryResource): ResourceFacts[] {
  const own = { name: resource.constructor.name, facts: countersOf(resource) };
  const { upstream } = resource as { upstream?: MemoryResource };
  return upstream === undefined ? [own] : [own, ...stackOf(upstream)];
}

/**
 * Reads whatever counters a resource has, also one that a program wrote: properties whose names end
 * as all sizes and counts here do.
 */
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
