// Python in this process: source text, values, and arrays that both sides use without copies.

import { LibraryError } from "../../ffi/library.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { StridedView } from "../buffers/strided_view.ts";
import { libraryStream } from "../dlpack/dlpack_tensor.ts";
import { deleterAddress } from "../dlpack/handed_out.ts";
import { DTYPE, type DType } from "../dtype.ts";
import { bufferFromDLPack, type FromDLPackOptions } from "../interop/from_dlpack.ts";
import { addressOf } from "../memory/host_memory.ts";
import { contextOf, type ContextOwner } from "../memory/memory_resource.ts";
import { type CudaStream, foreignHandle, foreignStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { describeValue } from "../words/format.ts";
import {
  ANYTHING,
  CALLBACK,
  FLAG,
  OptionSet,
  requireKind,
  TEXT,
  warnOfFailure,
} from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { findPython } from "./environment.ts";
import { Interpreter } from "./interpreter.ts";
import { PythonError, type PythonFailure } from "./python_error.ts";
import { SharedArrays } from "./shared_arrays.ts";
import { fromWire, type PythonInput, type PythonValue, toWire } from "./values.ts";

/** Options for {@link startPython}; they count when Python is started, which is once for a process. */
export interface PythonOptions {
  /**
   * Python program whose packages are used; by default that of the active environment, or the first
   * on the PATH.
   */
  readonly executable?: string | undefined;
  /** File of Python's library; that of the program by default. */
  readonly libraryPath?: string | undefined;
  /** Called with what Python prints; by default it goes to the console. */
  readonly onPrint?: ((text: string) => void) | undefined;
}

const PYTHON_OPTIONS = new OptionSet<PythonOptions>({
  executable: TEXT,
  libraryPath: TEXT,
  onPrint: CALLBACK,
});

/** Options for {@link Python.buffer}. */
export interface PythonBufferOptions<D extends DType = DType>
  extends Omit<FromDLPackOptions<D>, "versioned"> {
  /** Device that uses the memory: `CudaDevice.open()`. */
  readonly gpu: ContextOwner;
}

const PYTHON_BUFFER_OPTIONS = new OptionSet<PythonBufferOptions>({
  gpu: ANYTHING,
  dtype: DTYPE,
  stream: STREAM,
  label: TEXT,
  strided: FLAG,
});

/** Options for {@link Python.stream}. */
export interface PythonStreamOptions {
  /** Device that the stream belongs to: `CudaDevice.open()`. */
  readonly gpu: ContextOwner;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

const PYTHON_STREAM_OPTIONS = new OptionSet<PythonStreamOptions>({ gpu: ANYTHING, label: TEXT });

interface Reply {
  readonly value?: unknown;
  readonly error?: PythonFailure & { readonly made: readonly number[] };
  readonly printed: string;
  readonly complained: string;
  readonly released: readonly number[];
}

let running: Python | undefined;

/**
 * Starts Python in this process, or returns the one that runs. It needs Linux, a `libpython`, and
 * `--allow-ffi` without a path.
 *
 * @throws PythonUnavailableError when there is no Python library, or no permission.
 */
export function startPython(options: PythonOptions = {}): Python {
  options = PYTHON_OPTIONS.read(options, "startPython");
  const { onPrint } = options;
  if (running !== undefined) return running;
  try {
    const interpreter = new Interpreter(findPython(options));
    return running = new Python(new Parts({ interpreter, onPrint }));
  } catch (error) {
    if (error instanceof LibraryError) throw new PythonUnavailableError(error);
    throw error;
  }
}

/** Reports that Python cannot be started. */
export class PythonUnavailableError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "PythonUnavailableError";
  /** Files and names that were tried, in order. */
  readonly tried: readonly string[];

  /** @ignore Creates the error. */
  constructor(cause: LibraryError) {
    super(cause.message, { cause });
    this.tried = cause.tried;
  }
}

/**
 * Python in this process, from {@link startPython}. It runs source text in Python's `__main__`, on
 * the JavaScript thread: a call returns when the source is done.
 */
export class Python {
  /** Version, such as `"3.11.7"`. */
  readonly version: string;
  /** Python program whose packages are used. */
  readonly executable: string;
  /** File of the library that was opened. */
  readonly libraryPath: string;
  readonly #interpreter: Interpreter;
  readonly #onPrint: ((text: string) => void) | undefined;
  readonly #arrays: SharedArrays;
  #sourceCount = 0;

  /** @ignore Adopts an interpreter. */
  constructor(
    parts: Parts<Pick<PythonOptions, "onPrint"> & { readonly interpreter: Interpreter }>,
  ) {
    const { interpreter, onPrint } = partsOf(parts, new.target);
    this.#interpreter = interpreter;
    this.#onPrint = onPrint;
    this.#arrays = new SharedArrays(() => void this.#exchange({ work: "nothing" }));
    const cell = `${addressOf(this.#arrays.cell)}`;
    const deleter = `${deleterAddress()}`;
    const [version, executable] = this.#exchange({ work: "start", cell, deleter }) as [
      string,
      string,
    ];
    this.version = version;
    this.executable = executable;
    this.libraryPath = interpreter.libraryPath;
  }

  /** Number of JavaScript's arrays that Python still holds. */
  get arrayCount(): number {
    this.#exchange({ work: "nothing" });
    return this.#arrays.givenCount;
  }

  /**
   * Runs source text: statements, as in a file.
   *
   * @throws PythonError when it raises an error.
   */
  run(source: string): void {
    requireKind(source, TEXT, "run");
    this.#call({ work: "run", source: dedented(source), name: this.#nextName() });
  }

  /**
   * Returns the value of an expression: numbers, strings, lists, dicts with string keys, bytes, and
   * numpy arrays as a copy, flat and in C order. Integers beyond 2^53 are bigints.
   *
   * @throws PythonError when it raises an error, or its value is of another kind.
   */
  evaluate(expression: string): PythonValue {
    requireKind(expression, TEXT, "evaluate");
    const source = expression.trim();
    return this.#received(this.#call({ work: "evaluate", source, name: this.#nextName() }));
  }

  /**
   * Assigns a value to a Python name. Buffers and views are shared without a copy, by DLPack and
   * `__cuda_array_interface__`, and their memory is kept until Python releases it; typed arrays are
   * copied into numpy arrays.
   *
   * @throws TypeError for values that Python cannot represent, such as functions.
   * @throws PythonError when numpy is needed and not there.
   */
  set(name: string, value: PythonInput): void {
    requireKind(name, NAME, "set");
    const given: number[] = [];
    const share = (object: object) => {
      if (!(object instanceof GpuBuffer || object instanceof StridedView)) return undefined;
      const facts = this.#arrays.give(object);
      given.push(facts.number);
      return ["array", facts];
    };
    try {
      const wire = toWire(value, share);
      this.#call({ work: "assign", variable: name, value: wire }, given);
    } catch (error) {
      if (!(error instanceof PythonError)) {
        for (const number of given) this.#arrays.letGo(number);
      }
      throw error;
    }
  }

  /**
   * Uses an array of Python without a copy: one of CuPy, PyTorch or any library with DLPack or
   * `__cuda_array_interface__`. It is kept until the buffer is disposed and the GPU is done.
   *
   * @param expression The array, as Python source.
   *
   * @throws PythonError when the expression raises an error, or is no such array.
   * @throws TypeError for memory that the GPU's driver does not know, and types that buffers lack.
   * @throws RangeError when it is not contiguous; pass `{ strided: true }`.
   */
  buffer<D extends DType = DType>(
    expression: string,
    options: PythonBufferOptions<D> & { readonly strided: true },
  ): StridedView<NoInfer<D>, DeviceBuffer<NoInfer<D>>>;
  /** Uses a contiguous array of Python without a copy. */
  buffer<D extends DType = DType>(
    expression: string,
    options: PythonBufferOptions<D>,
  ): DeviceBuffer<NoInfer<D>>;
  buffer<D extends DType = DType>(
    expression: string,
    options: PythonBufferOptions<D>,
  ): DeviceBuffer<D> | StridedView<D, DeviceBuffer<D>> {
    requireKind(expression, TEXT, "buffer");
    const { gpu, dtype, stream, label, strided } = PYTHON_BUFFER_OPTIONS.read(options, "buffer");
    const context = contextOf(gpu, "use an array of Python's on");
    const source = expression.trim();
    const theirs = libraryStream(context, stream, "an array of Python's");
    const request = { work: "take", source, name: this.#nextName(), stream: Number(theirs.handle) };
    const { address, versioned } = this.#call(request) as { address: string; versioned: boolean };
    const facts = { versioned, stream, label, strided };
    let isUsed = false;
    try {
      const expected = dtype === undefined ? facts : { ...facts, dtype };
      const taken = bufferFromDLPack<D>(context, BigInt(address), expected);
      isUsed = true;
      this.#arrays.take(taken instanceof StridedView ? taken.buffer : taken);
      return taken;
    } finally {
      this.#exchange({ work: "taken", address, isUsed });
    }
  }

  /**
   * Uses a stream of Python: one of CuPy, PyTorch or any library with `__cuda_stream__()`. Python keeps
   * it until the stream here is disposed.
   *
   * @param expression The stream, as Python source.
   *
   * @throws PythonError when the expression raises an error, or is no stream.
   * @throws TypeError for the handle 0, which stands for 1 or 2 by the way in which a library was compiled.
   */
  stream(expression: string, options: PythonStreamOptions): CudaStream {
    requireKind(expression, TEXT, "stream");
    const { gpu, label } = PYTHON_STREAM_OPTIONS.read(options, "stream");
    const context = contextOf(gpu, "use a stream of Python's on");
    const request = { work: "keep", source: expression.trim(), name: this.#nextName() };
    const [number, text] = this.#call(request) as [number, string];
    const letGo = () => void this.#exchange({ work: "drop", number });
    try {
      return foreignStream(context, { handle: foreignHandle(BigInt(text)), label, letGo });
    } catch (error) {
      letGo();
      throw error;
    }
  }

  /** Returns its name for messages: `Python(3.11.7)`. */
  toString(): string {
    return `Python(${this.version})`;
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this} ${this.executable}`;
  }

  /** Returns the name of the next source in tracebacks. */
  #nextName(): string {
    return `<python ${++this.#sourceCount}>`;
  }

  /** Makes a request that may use arrays, in the order of the calls on both sides. */
  #call(request: object, given: readonly number[] = []): unknown {
    this.#arrays.orderForPython();
    return this.#exchange(request, given);
  }

  #exchange(request: object, given: readonly number[] = []): unknown {
    const reply = this.#interpreter.exchange(request) as Reply;
    this.#arrays.drained();
    for (const number of reply.released) this.#arrays.letGo(number);
    this.#print(reply);
    const { error } = reply;
    if (error === undefined) return reply.value;
    for (const number of given) if (!error.made.includes(number)) this.#arrays.letGo(number);
    throw new PythonError(error);
  }

  #received(wire: unknown): PythonValue {
    const addresses: number[] = [];
    const value = fromWire(wire, {
      find: (number) => this.#arrays.find(number),
      copied: (address) => addresses.push(address),
    });
    if (addresses.length > 0) this.#exchange({ work: "copied", addresses });
    return value;
  }

  #print({ printed, complained }: Reply): void {
    if (this.#onPrint !== undefined) {
      if (printed !== "") warnOfFailure(this.#onPrint(printed), "onPrint() failed");
    } else if (printed !== "") console.log(printed.replace(/\n$/, ""));
    if (complained !== "") console.error(complained.replace(/\n$/, ""));
  }
}

comesFrom(Python, "startPython()");

/** Words of Python's, which are no names. */
const KEYWORDS: ReadonlySet<string> = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally " +
    "for from global if import in is lambda nonlocal not or pass raise return try while with yield " +
    "__debug__").split(" "),
);

const NAME = {
  expected: "a name, such as x",
  accepts: (value: unknown) => {
    return typeof value === "string" && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(value) &&
      !KEYWORDS.has(value.normalize("NFKC"));
  },
  describe: (value: unknown) => {
    const isWord = typeof value === "string" && KEYWORDS.has(value.normalize("NFKC"));
    return isWord ? `${describeValue(value)}, a word of Python's own` : describeValue(value);
  },
};

/** Removes the first line's indentation from all lines, so that templates can be indented. */
function dedented(source: string): string {
  const lines = source.split("\n");
  const first = lines.find((line) => line.trim() !== "") ?? "";
  const indent = /^[ \t]*/.exec(first)?.[0] ?? "";
  if (indent === "") return source;
  return lines.map((line) => line.startsWith(indent) ? line.slice(indent.length) : line).join("\n");
}
