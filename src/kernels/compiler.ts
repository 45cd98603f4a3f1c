// NVRTC, which compiles CUDA C++ for one kind of GPU. It runs on a thread of its own, and needs
// neither a GPU nor a driver.

import { cString, readCString } from "../../ffi/c_strings.ts";
import { type NvrtcApi, nvrtcResult } from "../../ffi/nvrtc.ts";
import { type KernelEntries, readEntries } from "../../ffi/ptx.ts";
import { addressOf } from "../memory/host_memory.ts";
import { CompileError } from "./compile_error.ts";

export interface CompileRequest {
  readonly source: string;
  /** Its name in the compiler's messages. */
  readonly file: string;
  /** A kernel to look for by an expression, such as `scale<float>`. */
  readonly expression: string | undefined;
  /** The architecture, such as `sm_90` or `compute_90`. */
  readonly architecture: string;
  /** Further options of the compiler. */
  readonly options: readonly string[];
}

export interface CompiledCode {
  /** A cubin, or PTX text with a zero byte at its end. */
  readonly image: Uint8Array<ArrayBuffer>;
  /** The kernels and their parameters. */
  readonly entries: KernelEntries;
  /** The name that the requested expression has in the code. */
  readonly symbol: string | undefined;
  /** The compiler's warnings; empty when there are none. */
  readonly log: string;
}

/** Chooses a device's architecture, or the newest before it, which the driver compiles further. */
export function architectureFor(api: NvrtcApi, capability: number): string {
  const known = supportedArchitectures(api);
  if (known.includes(capability)) return `sm_${capability}`;
  const older = known.filter((each) => each < capability);
  return `compute_${older.at(-1) ?? capability}`;
}

/**
 * Compiles a text.
 *
 * @throws CompileError with the lines that have mistakes.
 * @throws TypeError for an option that the compiler does not know.
 */
export async function compileText(api: NvrtcApi, request: CompileRequest): Promise<CompiledCode> {
  const { source, file, expression, architecture } = request;
  const options = [`--gpu-architecture=${architecture}`, ...request.options];
  const handle = new BigUint64Array(1);
  check(
    api,
    api.nvrtcCreateProgram(handle, cString(source), cString(file), 0, null, null),
    "nvrtcCreateProgram",
  );
  const [program = 0n] = handle;
  try {
    const wanted = expression === undefined ? undefined : cString(expression);
    if (wanted !== undefined) {
      check(api, api.nvrtcAddNameExpression(program, wanted), "nvrtcAddNameExpression");
    }
    const list = stringList(options);
    const status = await api.nvrtcCompileProgramNonblocking(program, options.length, list);
    const log = readCString(bytesOf(api, program, "ProgramLog"));
    if (status === nvrtcResult.NVRTC_ERROR_COMPILATION) {
      throw new CompileError({ file, source, log });
    }
    if (status === nvrtcResult.NVRTC_ERROR_INVALID_OPTION) {
      throw new TypeError(`Cannot compile ${file}: ${log.trim() || "an option is unknown"}`);
    }
    check(api, status, "nvrtcCompileProgram");
    const ptx = bytesOf(api, program, "PTX");
    const cubin = api.nvrtcGetCUBINSize === null
      ? new Uint8Array()
      : bytesOf(api, program, "CUBIN");
    const entries = readEntries(readCString(ptx));
    const symbol = wanted === undefined ? undefined : symbolOf(api, program, wanted);
    return { image: cubin.byteLength > 0 ? cubin : ptx, entries, symbol, log };
  } finally {
    api.nvrtcDestroyProgram(handle);
  }
}

/** The architectures that this version compiles for, oldest first; none known before CUDA 11.2. */
function supportedArchitectures(api: NvrtcApi): number[] {
  const { nvrtcGetNumSupportedArchs: count, nvrtcGetSupportedArchs: list } = api;
  if (count === null || list === null) return [];
  const cell = new Int32Array(1);
  check(api, count(cell), "nvrtcGetNumSupportedArchs");
  const found = new Int32Array(cell[0] ?? 0);
  check(api, list(found), "nvrtcGetSupportedArchs");
  return [...found].sort((a, b) => a - b);
}

/** Writes C strings and a table of their addresses, which must stay alive during the call. */
function stringList(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoded = texts.map(cString);
  const tableBytes = texts.length * 8;
  const byteLength = encoded.reduce((sum, text) => sum + text.byteLength, tableBytes);
  const list = new Uint8Array(byteLength);
  const view = new DataView(list.buffer);
  const start = addressOf(list);
  let offset = tableBytes;
  for (const [index, text] of encoded.entries()) {
    view.setBigUint64(index * 8, start + BigInt(offset), true);
    list.set(text, offset);
    offset += text.byteLength;
  }
  return list;
}

/** Reads an output of the compilation: first its size, then its bytes. */
function bytesOf(
  api: NvrtcApi,
  program: bigint,
  what: "PTX" | "CUBIN" | "ProgramLog",
): Uint8Array<ArrayBuffer> {
  const size = new BigUint64Array(1);
  check(api, api[`nvrtcGet${what}Size`]?.(program, size) ?? 0, `nvrtcGet${what}Size`);
  const bytes = new Uint8Array(Number(size[0] ?? 0n));
  if (bytes.byteLength === 0) return bytes;
  check(api, api[`nvrtcGet${what}`]?.(program, bytes) ?? 0, `nvrtcGet${what}`);
  return bytes;
}

function symbolOf(api: NvrtcApi, program: bigint, expression: Uint8Array<ArrayBuffer>): string {
  const cell = new BigUint64Array(1);
  check(api, api.nvrtcGetLoweredName(program, expression, cell), "nvrtcGetLoweredName");
  return readCString(cell[0] ?? 0n);
}

function check(api: NvrtcApi, status: number, call: string): void {
  if (status === nvrtcResult.NVRTC_SUCCESS) return;
  const text = api.nvrtcGetErrorString(status);
  const words = text === 0n ? `status ${status}` : readCString(text);
  throw new Error(`Cannot complete ${call}: ${words} (${status})`);
}
