// The description of a memory resource, for consoles and cards: each adaptor with its counters.

import { classNameOf, formatBytes, messageOf } from "../words/format.ts";
import type { MemoryResource } from "./memory_resource.ts";

/** Returns a resource and its upstreams as plain data; without counters that cannot be read. */
export function resourceData(resource: MemoryResource): Readonly<Record<string, unknown>> {
  const { upstream, context } = resource as MemoryResource & { upstream?: MemoryResource };
  return {
    name: classNameOf(resource),
    device: context.ordinal,
    ...readable(() => Object.fromEntries(countersOf(resource)), () => ({})),
    ...(upstream === undefined ? {} : { upstream: resourceData(upstream) }),
  };
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

/** Lists a resource and its upstreams, the outermost first, with their counters and limits in words. */
export function stackOf(resource: MemoryResource): {
  readonly name: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}[] {
  const own = { name: classNameOf(resource), facts: factsOf(resource) };
  const { upstream } = resource as { upstream?: MemoryResource };
  return upstream === undefined ? [own] : [own, ...stackOf(upstream)];
}

function factsOf(resource: MemoryResource): [string, string][] {
  const facts = () =>
    countersOf(resource).map(([key, value]): [string, string] => {
      return [wordsOf(key), key.endsWith("Bytes") ? formatBytes(value) : String(value)];
    });
  return readable(facts, (error) => [["not readable:", messageOf(error)]]);
}

/** A display may not throw, and the counters of a disposed resource cannot be read. */
function readable<T>(read: () => T, otherwise: (error: unknown) => T): T {
  try {
    return read();
  } catch (error) {
    return otherwise(error);
  }
}

/** Reads the counters of any resource: the properties whose names end like sizes and counts. */
function countersOf(resource: object): [name: string, value: number][] {
  return counterNames(resource).flatMap((key): [string, number][] => {
    const value: unknown = Reflect.get(resource, key);
    return typeof value === "number" && Number.isFinite(value) ? [[key, value]] : [];
  });
}

/** Lists them as the classes declare them, those of a base class first. */
function counterNames(resource: object): string[] {
  const prototypes: object[] = [];
  for (let at = Object.getPrototypeOf(resource); at !== null; at = Object.getPrototypeOf(at)) {
    if (at !== Object.prototype) prototypes.unshift(at);
  }
  const keys = [Object.keys(resource), ...prototypes.map(Object.getOwnPropertyNames)].flat();
  return [...new Set(keys)].filter((key) => /(Bytes|Count)$/.test(key));
}

/** Turns `"peakReservedBytes"` into `"peak reserved"`, and `"usedCount"` into `"used count"`. */
function wordsOf(key: string): string {
  return key.replace(/Bytes$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
