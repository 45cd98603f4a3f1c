// The sockets by which a process hands memory of pools to others, as the system lists them.

import { sleep } from "../../src/words/timer.ts";

const PATIENCE_MILLISECONDS = 5000;

/**
 * Resolves when this process offers no memory of a pool any more, and nobody has it open.
 *
 * @throws Error when that takes too long.
 */
export async function untilNothingIsOffered(): Promise<void> {
  const end = performance.now() + PATIENCE_MILLISECONDS;
  while (isOffering()) {
    if (performance.now() > end) throw new Error("Memory of a pool is still offered, or open");
    await sleep(10);
  }
}

function isOffering(): boolean {
  const own = new Set([...Deno.readDirSync("/proc/self/fd")].map(({ name }) => linkOf(name)));
  return Deno.readTextFileSync("/proc/net/unix").split("\n").some((line) => {
    const [, , , , , , inode, name] = line.split(/\s+/);
    return name?.startsWith("@vramkit-") === true && own.has(`socket:[${inode}]`);
  });
}

/** Returns the file of a descriptor; undefined for one that is closed already. */
function linkOf(descriptor: string): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
