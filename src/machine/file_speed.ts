// The speed of a file on its way to a GPU: out of the page cache, and from the disk after the system was
// asked to forget the file's pages.

import type { CudaDevice } from "../device/device.ts";
import { FileReading } from "../disk/file_reading.ts";
import { readSystemText } from "../lanes/near_cores.ts";
import { fillPattern } from "../measure/pattern.ts";
import { type Spread, spreadOf } from "../measure/samples.ts";
import type { ReadText } from "./host_facts.ts";

/** Bytes of the file; few on the simulated driver, where they are no result. */
const FILE_BYTES = 512 * 2 ** 20;
const SIMULATED_BYTES = 2 ** 20;
const SAMPLE_COUNT = 3;
const PART_BYTES = 16 * 2 ** 20;

/** The speeds in GB/s. */
export interface FileSpeed {
  readonly byteLength: number;
  readonly cached: Spread;
  readonly disk: Spread;
  /** The kind of file system, such as `"ext4"`; undefined where the system does not say. */
  readonly system: string | undefined;
}

/** Measures with a temporary file of at most `mostBytes`, which is gone afterwards. */
export async function measureFileSpeed(
  gpu: CudaDevice,
  { dir, mostBytes = Infinity, signal }: {
    readonly dir: string | undefined;
    readonly mostBytes?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<FileSpeed> {
  const byteLength = Math.floor(
    Math.min(gpu.isSimulated ? SIMULATED_BYTES : FILE_BYTES, mostBytes),
  );
  const path = await Deno.makeTempFile({
    prefix: "vramkit-",
    ...(dir === undefined ? {} : { dir }),
  });
  try {
    await writeFile(path, byteLength);
    const samples = async (prepare?: () => Promise<void>) => {
      const speeds: number[] = [];
      for (let i = 0; i < SAMPLE_COUNT; i++) {
        await prepare?.();
        const start = performance.now();
        using _buffer = await gpu.uploadFile(path, { signal });
        speeds.push(byteLength / (performance.now() - start) / 1e6);
      }
      return spreadOf(speeds);
    };
    await samples(); // the first ones start threads
    const cached = await samples();
    const disk = await samples(() => forgetPages(path));
    return { byteLength, cached, disk, system: fileSystemOf(path) };
  } finally {
    await Deno.remove(path);
  }
}

/** Writes and flushes the file: the system forgets only pages that are on the disk. */
async function writeFile(path: string, byteLength: number): Promise<void> {
  using file = await Deno.open(path, { write: true });
  const part = new Uint8Array(Math.min(PART_BYTES, byteLength));
  fillPattern(part, byteLength);
  for (let left = byteLength; left > 0;) left -= await file.write(part.subarray(0, left));
  await file.sync();
}

async function forgetPages(path: string): Promise<void> {
  using reading = new FileReading(path);
  const { file } = await reading.opened();
  file.dropCached();
}

/** Finds the kind of the file system by the longest place in the list of mounts that the path is in. */
export function fileSystemOf(path: string, read: ReadText = readSystemText): string | undefined {
  const mounts = (read("/proc/self/mounts") ?? "").split("\n").map((line) => line.split(" "));
  const around = mounts.filter(([, place = "?"]) => path.startsWith(place.replace(/\/?$/, "/")));
  return around.toSorted(([, a = ""], [, b = ""]) => b.length - a.length)[0]?.[2];
}
