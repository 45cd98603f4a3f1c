// Physical memory that is held by descriptors, found from outside: any process of the machine may hold
// it, also one without a driver, and after a kill nothing else tells of it. So the system is asked.

import { FILE_NAME } from "./shared_bytes.ts";

/** Memory that a descriptor holds. */
export interface DescribedMemory {
  /** Number that no other memory has. */
  readonly id: string;
  readonly byteLength: number;
}

/** Returns the words about physical memory that the name of its file ends with. */
export function describeMemory(
  machine: string,
  { ordinal, byteLength, id }: DescribedMemory & { readonly ordinal: number },
): string {
  return ` ${ordinal} ${byteLength} ${id} ${encodeURIComponent(machine)}.`;
}

/** Finds the memory of a named machine's device that any process of this user holds by a descriptor. */
export function describedMemory(machine: string, ordinal: number): DescribedMemory[] {
  const found = new Map<string, DescribedMemory>();
  const [end, start] = [`${encodeURIComponent(machine)}.`, `/memfd:${FILE_NAME} `];
  for (const target of openFiles()) {
    if (!target.startsWith(start)) continue;
    const [at, bytes, id = "", name] = target.slice(start.length).split(" ");
    if (Number(at) === ordinal && name === end) found.set(id, { id, byteLength: Number(bytes) });
  }
  return [...found.values()];
}

/** Lists what the descriptors of this user's processes stand for; nothing where that is hidden. */
function* openFiles(): Generator<string> {
  if (Deno.permissions.querySync({ name: "read", path: "/proc" }).state !== "granted") return;
  for (const pid of namesIn("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of namesIn(folder)) {
      try {
        yield Deno.readLinkSync(`${folder}/${descriptor}`);
      } catch {
        // closed meanwhile
      }
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return []; // of another user, or over
  }
}
