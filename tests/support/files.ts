// For tests of files: a folder for them, a device whose ring is small, bytes that differ everywhere.

import { join } from "node:path";
import { CudaDevice } from "../../src/device/device.ts";
import { testDriver } from "./driver.ts";

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

/** A folder of files that is removed when it is disposed. */
export class FileFolder implements Disposable {
  /** Where it is, without links. */
  readonly path: string = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "vramkit-" }));

  /** Writes a file and returns its path. */
  write(name: string, bytes: Uint8Array): string {
    const path = this.pathOf(name);
    Deno.writeFileSync(path, bytes);
    return path;
  }

  /** The path of a file in the folder. */
  pathOf(name: string): string {
    return join(this.path, name);
  }

  /** Removes it and all that is in it. */
  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

/** The names in a folder, sorted. */
export function namesIn({ path }: FileFolder): string[] {
  return [...Deno.readDirSync(path)].map(({ name }) => name).sort();
}

/** What this process has open in a folder. */
export function openPathsIn({ path: folder }: FileFolder): string[] {
  const paths = [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      return [Deno.readLinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return []; // the descriptor that listed the folder is closed again
    }
  });
  return paths.filter((path) => path.startsWith(folder));
}

/** Makes a pipe in a folder, and returns its path. */
export async function makePipe(folder: FileFolder, name: string): Promise<string> {
  const path = folder.pathOf(name);
  await new Deno.Command("mkfifo", { args: [path] }).output();
  return path;
}
