// readMemorySnapshot(): PyTorch's memory snapshots, from pickles or JSON.

import { fileNameOf, type FilePath, pathOf } from "../disk/file_path.ts";
import { reasonOf } from "../disk/system_error.ts";
import { readBytes } from "../disk/whole_file.ts";
import { Pauses } from "../order/waiting.ts";
import { visibleText } from "../words/format.ts";
import { Parts } from "../words/parts.ts";
import { MemorySnapshot } from "./memory_snapshot.ts";
import { PickleReader } from "./pickle_reader.ts";
import { SnapshotForm } from "./snapshot_form.ts";

/** Bytes of a pickle that are read without a pause. */
const STRETCH_BYTES = 2 ** 16;

/** Starts of files that are known, and are no snapshots. */
const OTHER_FILES: readonly (readonly [start: string, sort: string])[] = [
  ["\x1f", "compressed by gzip, unpack it first"],
  ["PK\x03\x04", "a zip archive, as torch.save() writes it"],
  ["<", "a web page"],
  ["version https://git-lfs", "a pointer of Git LFS, run git lfs pull"],
];

/**
 * Reads a memory snapshot that PyTorch has written with `torch.cuda.memory._dump_snapshot()`: a
 * pickle of protocol 2 to 5, or the same as JSON. No code of the file is run. The bytes of a file
 * may be given in place of its path. The event loop has its turns meanwhile, except while JSON is
 * parsed. Needs `--allow-read` for a path.
 *
 * @throws SyntaxError when it is no snapshot, was cut off, or could run code.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { readMemorySnapshot } from "vramkit/notebook";
 *
 * using gpu = CudaDevice.open(0, { driver: "auto" });
 * gpu.timeline.start();
 * using weights = gpu.zeros("float32", [1024], { label: "weights" });
 * const snapshot = await readMemorySnapshot(gpu.timeline.toMemoryViz()); // or a path
 * console.log(snapshot.allocatedBytes === weights.byteLength); // true
 * console.log(snapshot.largestStacks()[0]?.stack.name.startsWith("weights")); // true
 * ```
 */
export async function readMemorySnapshot(source: FilePath | Uint8Array): Promise<MemorySnapshot> {
  const isBytes = source instanceof Uint8Array;
  const name = isBytes ? "these bytes" : fileNameOf(pathOf(source));
  try {
    const bytes = isBytes ? source : await readBytes(pathOf(source));
    const pauses = new Pauses();
    const pause = () => pauses.whenDue();
    const { value, count } = await parse(bytes, pause);
    const contents = await new SnapshotForm(count, pause).read(value);
    return new MemorySnapshot(
      new Parts({ name: isBytes ? "snapshot" : visibleText(name), ...contents }),
    );
  } catch (cause) {
    const { NotFound, IsADirectory, PermissionDenied } = Deno.errors;
    const Kind = [SyntaxError, TypeError, NotFound, IsADirectory, PermissionDenied]
      .find((each) => cause instanceof each);
    if (Kind === undefined) throw cause;
    throw new Kind(visibleText(`Cannot read ${name} as a memory snapshot: ${reasonOf(cause)}`));
  }
}

/** Returns the contents of a file, and the number of records that they may have. */
async function parse(bytes: Uint8Array, pause: () => Promise<void>) {
  if (bytes[0] === 0x80) {
    const reader = new PickleReader(bytes);
    while (!reader.read(STRETCH_BYTES)) await pause();
    return { value: reader.value, count: reader.containerCount };
  }
  const start = new TextDecoder().decode(bytes.subarray(0, 100)).trimStart(); // without a BOM
  const other = OTHER_FILES.find(([text]) => start.startsWith(text))?.[1];
  if (other !== undefined) throw new SyntaxError(`it is ${other}`);
  if (!/^[[{]/.test(start)) {
    throw new SyntaxError("it is neither a pickle of protocol 2 to 5 nor JSON");
  }
  requireShallow(bytes);
  return { value: JSON.parse(new TextDecoder().decode(bytes)), count: bytes.byteLength };
}

/** Rejects JSON that nests or repeats empty parts: V8 takes much memory before it finds an end. */
function requireShallow(bytes: Uint8Array): void {
  let [count, depth, isText] = [0, 0, false];
  for (let at = 0; at < bytes.byteLength; at++) {
    const code = bytes[at];
    if (code === 0x22) isText = !isText;
    else if (isText) at += code === 0x5c ? 1 : 0; // a backslash, and what it escapes
    else if (code === 0x5b || code === 0x7b) [count, depth] = [count + 1, depth + 1];
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > 32 || count > 1024 + bytes.byteLength / 8) {
      throw new SyntaxError(`it nests or repeats parts at byte ${at}, as no snapshot does`);
    }
  }
}
