// Compiles CUDA C++ to a kernel that can be launched, or finds it among earlier results.

import { LibraryError } from "../../ffi/library.ts";
import { findNvrtc, type NvrtcSource } from "../../ffi/nvrtc_library.ts";
import type { Context } from "../driver/context.ts";
import { isPtx } from "../launch/image.ts";
import { requireNoCapture } from "../order/capture.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { describeValue } from "../words/format.ts";
import { FLAG, listOf, OptionSet, requireKind, TEXT } from "../words/options.ts";
import { cacheKey, findCode, keepCode } from "./compile_cache.ts";
import { architectureFor, type CompiledCode, compileText } from "./compiler.ts";
import type { CudaKernel } from "./cuda_kernel.ts";
import { loadForKernel } from "./cuda_module.ts";

/** Options for {@link CudaDevice.compile}. */
export interface CompileOptions {
  /**
   * Name of the kernel; not needed when the source has one kernel. An instance of a template is named
   * as in C++: `scale<float>`.
   */
  readonly name?: string | undefined;
  /** Further options of NVRTC, such as `--use_fast_math`. */
  readonly options?: readonly string[] | undefined;
  /** Folders with headers of your own. Code that uses them is compiled again each time. */
  readonly include?: readonly string[] | undefined;
  /** Architecture to compile for, such as `sm_90a`; the device's own by default. */
  readonly architecture?: string | undefined;
  /** Reuses code that was compiled before; true by default. */
  readonly cache?: boolean | undefined;
  /** Name of the module in tables and errors; the kernel's by default. */
  readonly label?: string | undefined;
}

const COMPILE_OPTIONS = new OptionSet<CompileOptions>({
  name: TEXT,
  options: listOf(TEXT),
  include: listOf(TEXT),
  architecture: TEXT,
  cache: FLAG,
  label: TEXT,
});

/** Options that make the result depend on files. */
const READS_FILES = /^(-I|--include-path|-include|--pre-include|--use-bundled-headers)/;

/**
 * Compiles CUDA C++ and loads its kernel.
 *
 * @throws CompileError with the lines that have mistakes.
 * @throws CudaUnavailableError when there is no NVRTC.
 */
export async function compileKernel(
  context: Context,
  source: string,
  options: CompileOptions = {},
): Promise<CudaKernel> {
  options = COMPILE_OPTIONS.read(options, "compile");
  requireSource(source);
  const { name, label } = options;
  requireNoCapture("compile a kernel");
  const code = await compiledCode(context, source, options);
  const symbol = code.symbol ?? name ?? onlyOf(code);
  const { image: bytes, entries } = code;
  return loadForKernel(context, { bytes, entries }, { symbol, label: label ?? name ?? symbol });
}

/** Refuses other texts than CUDA C++, of which the compiler would only say that they are mistakes. */
function requireSource(source: string): void {
  requireKind(source, TEXT, "compile");
  if (isPtx(source)) {
    throw new TypeError("Cannot compile PTX: it is compiled already, gpu.loadModule() loads it");
  }
  if (!/^\S+\.cuh?$/.test(source)) return;
  throw new TypeError(
    `Cannot compile ${describeValue(source)}: it is a path, pass await Deno.readTextFile(path)`,
  );
}

async function compiledCode(
  context: Context,
  source: string,
  options: CompileOptions,
): Promise<CompiledCode> {
  const { name, cache = true, include = [] } = options;
  const nvrtc = findNvrtc(context.driver.api);
  const capability = context.attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR") * 10 +
    context.attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR");
  const given = options.options ?? [];
  const all = [...given, ...[...include, ...nvrtc.includeFolders].map((path) => `-I${path}`)];
  const file = `${name?.replace(/\W.*/, "") || "kernel"}.cu`;
  // A plain name is found in the code, whichever parameters it has.
  const expression = name === undefined || /^\w+$/.test(name) ? undefined : name;
  const isKept = cache && include.length === 0 && !given.some((each) => READS_FILES.test(each));
  const target = options.architecture ?? capability;
  const parts = [source, file, expression, target, all, nvrtc.identity];
  const key = isKept ? await cacheKey(parts) : undefined;
  const found = key === undefined ? undefined : await findCode(key);
  if (found !== undefined) return found;
  const api = openCompiler(nvrtc);
  const architecture = options.architecture ?? architectureFor(api, capability);
  const code = await compileText(api, { source, file, expression, architecture, options: all });
  if (key !== undefined) await keepCode(key, code);
  return code;
}

/** Opens the compiler; throws for a missing one as for a missing driver. */
function openCompiler(nvrtc: NvrtcSource): NvrtcSource["api"] {
  try {
    return nvrtc.api;
  } catch (error) {
    if (!(error instanceof LibraryError)) throw error;
    throw new CudaUnavailableError(error.reason, error.message, { cause: error });
  }
}

function onlyOf({ entries }: CompiledCode): string {
  const [only, ...others] = entries.keys();
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    throw new TypeError("Cannot compile a kernel: the source has none, mark one __global__");
  }
  throw new TypeError(
    `Cannot choose a kernel: the source has ${[only, ...others].join(", ")}; pass { name }`,
  );
}
