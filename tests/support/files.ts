// For tests of files: a device whose ring is small, bytes that differ everywhere, what a folder has.

import { CudaDevice } from "../../src/device/device.ts";
import { testDriver } from "./driver.ts";
import type { TemporaryFolder } from "./temporary_folder.ts";

/** Opens a device with the smallest ring, 8 MiB, so that a file of a few MiB is larger. */
export function openWithSmallRing(): CudaDevice {
  return CudaDevice.open(0, { driver: testDriver(), transfers: { ringSize: "8 MiB" } });
}

/** Bytes in which every aligned word occurs once, so that no two places look alike. */
export function countedBytes(byteLength: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(byteLength / 4);
  for (let i = 0; i < words.length; i++) words[i] = i;
  return new Uint8Array(words.buffer);
}

/** The names in a folder, sorted. */
export function namesIn({ path }: TemporaryFolder): string[] {
  return [...Deno.readDirSync(path)].map(({ name }) => name).sort();
}

/** Lists the paths in a folder that this process has open. */
export function openPathsIn({ path: folder }: TemporaryFolder): string[] {
  const paths = [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      return [Deno.readLinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return []; // the descriptor that listed the folder is closed again
    }
  });
  return paths.filter((path) => path.startsWith(folder));
}

/** Counts the bytes that this process has read by calls of the system. */
export function countReadBytes(): number {
  return Number(/rchar: (\d+)/.exec(Deno.readTextFileSync("/proc/self/io"))?.[1]);
}

/** Makes a pipe in a folder, and returns its path. */
export async function makePipe(folder: TemporaryFolder, name: string): Promise<string> {
  const path = folder.pathOf(name);
  await new Deno.Command("mkfifo", { args: [path] }).output();
  return path;
}
