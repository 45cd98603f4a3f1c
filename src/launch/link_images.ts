// Links several pieces of code with the driver's linker: one may define what another declares extern.

import { cString, readCString } from "../../ffi/c_strings.ts";
import { CUjit_option, CUjitInputType } from "../../ffi/constants.ts";
import type { Context } from "../driver/context.ts";
import { tryRelease } from "../driver/release.ts";
import { addressOf } from "../memory/host_memory.ts";
import { ELF_MAGIC, FATBIN_MAGIC, type ModuleImage } from "./image.ts";
import { visibleLines } from "../words/format.ts";

/** Bytes for messages of the driver's compiler and linker about code that they refuse. */
const LOG_BYTES = 16384;

/** The machine in a cubin's header; object files for the host have another one. */
const EM_CUDA = 190;

/** One piece, with a name for the linker's messages. */
export interface ImagePiece {
  readonly image: ModuleImage;
  readonly name: string;
}

/**
 * Links pieces into a cubin for the device (cuLinkCreate, cuLinkAddData, cuLinkComplete).
 *
 * @param name The module's name, for errors.
 *
 * @throws TypeError with the linker's messages for code that it refuses, or a name that no piece
 *   defines.
 * @throws CudaError when it fails without a message, as for code of another kind of GPU.
 */
export function linkImages(
  context: Context,
  pieces: readonly ImagePiece[],
  name: string,
): ModuleImage {
  return withLog(`Cannot link ${name}: the driver's linker refuses it`, (options, values) => {
    const state = new BigUint64Array(1);
    context.call("cuLinkCreate_v2", 2, options, values, state);
    const [link = 0n] = state;
    try {
      for (const { image: { bytes }, name } of pieces) {
        const size = BigInt(bytes.byteLength);
        const label = cString(name.replaceAll("\0", ""));
        context.call("cuLinkAddData_v2", link, typeOf(bytes), bytes, size, label, 0, null, null);
      }
      const [address, size] = [new BigUint64Array(1), new BigUint64Array(1)];
      context.call("cuLinkComplete", link, address, size);
      return { bytes: copyOf(address[0] ?? 0n, Number(size[0] ?? 0n)), entries: entriesOf(pieces) };
    } finally {
      tryRelease(context.driver, "a link", () => context.giveBack("cuLinkDestroy", link));
    }
  });
}

/** Runs calls of the driver's compiler, whose messages become the error; without `refused` they are left. */
export function withLog<T>(
  refused: string | undefined,
  run: (options: Int32Array<ArrayBuffer>, values: BigUint64Array<ArrayBuffer>) => T,
): T {
  const log = new Uint8Array(LOG_BYTES);
  const options = Int32Array.of(
    CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
    CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
  );
  // Small arrays move while they have no buffer of their own, and a link writes into this until it is over.
  const values = new BigUint64Array(new ArrayBuffer(16));
  values.set([addressOf(log), BigInt(LOG_BYTES)]);
  try {
    return run(options, values);
  } catch (error) {
    const words = readCString(log).trim();
    if (words === "" || refused === undefined) throw error;
    throw new TypeError(`${refused}\n${visibleLines(words)}`, { cause: error });
  } finally {
    void [log.byteLength, values.byteLength];
  }
}

function typeOf(bytes: Uint8Array<ArrayBuffer>): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = bytes.byteLength < 20 ? 0 : view.getUint32(0, true);
  if (magic === ELF_MAGIC) {
    return view.getUint16(18, true) === EM_CUDA
      ? CUjitInputType.CU_JIT_INPUT_CUBIN
      : CUjitInputType.CU_JIT_INPUT_OBJECT;
  }
  const { CU_JIT_INPUT_FATBINARY: fatBinary, CU_JIT_INPUT_PTX: ptx } = CUjitInputType;
  return magic === FATBIN_MAGIC ? fatBinary : ptx;
}

/** The kernels of all pieces; undefined when one of them does not tell. */
function entriesOf(pieces: readonly ImagePiece[]): ModuleImage["entries"] {
  const all = pieces.map(({ image }) => image.entries);
  if (all.includes(undefined)) return undefined;
  return new Map(all.flatMap((entries) => [...entries ?? []]));
}

function copyOf(address: bigint, byteLength: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  const pointer = Deno.UnsafePointer.create(address);
  if (pointer !== null) new Deno.UnsafePointerView(pointer).copyInto(bytes);
  return bytes;
}
