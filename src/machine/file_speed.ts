// The speed of a file on its way to a GPU: out of the page cache, and from the disk after the system was
// asked to forget the file's pages.

import { join } from "node:path";
import { findHost } from "../../ffi/host.ts";
import type { CudaDevice } from "../device/device.ts";
import { fillPattern } from "../measure/pattern.ts";
import { type Spread, spreadOf } from "../measure/samples.ts";
import { readSystemText, type ReadText } from "./host_facts.ts";

const SAMPLE_COUNT = 3;

/** Advice to the system: the pages are not needed any more. */
const POSIX_FADV_DONTNEED = 4;
const O_RDONLY = 0;

/** The speeds in GB/s. */
export interface FileSpeed {
  readonly byteLength: number;
  readonly cached: Spread;
  /** From the disk; undefined where the system keeps the pages. */
  readonly disk: Spread | undefined;
  /** The kind of file system, such as `"ext4"`; undefined where the system does not say. */
  readonly system: string | undefined;
}

/** Measures with a temporary file in a folder; it is gone afterwards. */
export async function measureFileSpeed(
  gpu: CudaDevice,
  { folder, byteLength, signal }: {
    readonly folder: string | undefined;
    readonly byteLength: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<FileSpeed> {
  const path = await Deno.makeTempFile({
    ...(folder === undefined ? {} : { dir: folder }),
    prefix: "vramkit-machine-",
  });
  try {
    await writeFile(path, byteLength);
    const sample = async () => {
      signal?.throwIfAborted();
      const start = performance.now();
      using _buffer = await gpu.uploadFile(path);
      return byteLength / (performance.now() - start) / 1e6;
    };
    await sample(); // the first one starts threads
    const cached = await samplesOf(sample);
    const disk = forgetPages(path)
      ? await samplesOf(async () => {
        forgetPages(path);
        return await sample();
      })
      : undefined;
    return { byteLength, cached, disk, system: fileSystemOf(path) };
  } finally {
    await Deno.remove(path);
  }
}

async function samplesOf(sample: () => Promise<number>): Promise<Spread> {
  const speeds: number[] = [];
  for (let i = 0; i < SAMPLE_COUNT; i++) speeds.push(await sample());
  return spreadOf(speeds);
}

/** Writes and flushes the file: the system forgets only what is on the disk. */
async function writeFile(path: string, byteLength: number): Promise<void> {
  using file = await Deno.open(path, { write: true });
  const part = new Uint8Array(16 * 2 ** 20);
  fillPattern(part, byteLength);
  for (let at = 0; at < byteLength; at += part.length) {
    const wanted = part.subarray(0, Math.min(part.length, byteLength - at));
    for (let done = 0; done < wanted.length;) done += await file.write(wanted.subarray(done));
  }
  await file.sync();
}

/** Asks the system to forget a file's pages (posix_fadvise). */
function forgetPages(path: string): boolean {
  const host = findHost();
  if (host === undefined) return false;
  const descriptor = host.open(new TextEncoder().encode(`${path}\0`), O_RDONLY, 0);
  if (descriptor < 0) return false;
  const status = host.posix_fadvise(descriptor, 0n, 0n, POSIX_FADV_DONTNEED);
  host.close(descriptor);
  return status === 0;
}

/** Finds the kind of the file system by the longest place in the list of mounts that the path is in. */
export function fileSystemOf(path: string, read: ReadText = readSystemText): string | undefined {
  const real = join(path, ".");
  const lines = (read("/proc/self/mounts") ?? "").split("\n").map((line) => line.split(" "));
  const around = lines.filter(([, place = "?"]) =>
    real === place || real.startsWith(place.endsWith("/") ? place : `${place}/`)
  );
  return around.toSorted(([, a = ""], [, b = ""]) => b.length - a.length)[0]?.[2];
}
