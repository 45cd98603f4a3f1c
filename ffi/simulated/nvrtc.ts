// The compiler of a simulated machine: it finds the kernels and parameters that CUDA C++ declares,
// and writes PTX with empty kernels. Kernels are JavaScript there.

import { cString, readCString } from "../c_strings.ts";
import { type NvrtcApi, nvrtcResult } from "../nvrtc.ts";
import { UNKNOWN_PARAMETER } from "../ptx.ts";
import { bytesOf, type Cell, get64, getText, put32, put64 } from "./calls/cells.ts";
import { type CppType, CppTypes } from "./cpp_types.ts";
import { hostAddress } from "./model/address_space.ts";

const FIRST_HANDLE = 0x7100_0000n;

const VERSION = { major: 12, minor: 0 } as const;

const ARCHITECTURES = [52, 60, 70, 75, 80, 90] as const;

/** The reason why a template's instance, or a name within a namespace, is not found. */
const NO_TEMPLATES =
  "the compiler of simulated machines finds kernels by plain names, and makes no templates";

/** A program, and the results of its compilation. */
interface Program {
  readonly source: string;
  /** The expressions whose names the caller wants. */
  readonly expressions: string[];
  ptx: Uint8Array<ArrayBuffer>;
  log: Uint8Array<ArrayBuffer>;
}

/** Makes a compiler; programs of two of them share nothing. */
export function simulateNvrtc(): NvrtcApi {
  const programs = new Map<bigint, Program>();
  const texts: Uint8Array[] = [];
  let next = FIRST_HANDLE;

  /** Does something with a program; a handle that names none is refused. */
  function on(handle: number | bigint, action: (program: Program) => number | void): number {
    const program = programs.get(BigInt(handle));
    if (program === undefined) return nvrtcResult.NVRTC_ERROR_INVALID_OPTION;
    return action(program) ?? nvrtcResult.NVRTC_SUCCESS;
  }

  return {
    nvrtcGetErrorString: () => 0n,
    nvrtcVersion(major, minor) {
      put32(major, VERSION.major);
      put32(minor, VERSION.minor);
      return 0;
    },
    nvrtcGetNumSupportedArchs(count) {
      put32(count, ARCHITECTURES.length);
      return 0;
    },
    nvrtcGetSupportedArchs(list) {
      bytesOf(list).set(new Uint8Array(Int32Array.from(ARCHITECTURES).buffer));
      return 0;
    },
    nvrtcCreateProgram(handle, source) {
      const empty = { expressions: [], ptx: new Uint8Array(), log: cString("") };
      programs.set(next, { source: getText(source), ...empty });
      put64(handle, next++);
      return 0;
    },
    nvrtcDestroyProgram(handle) {
      programs.delete(get64(handle));
      put64(handle, 0n);
      return 0;
    },
    nvrtcCompileProgramNonblocking(handle, count, options) {
      const architecture = architectureOf(count, options);
      return Promise.resolve(on(handle, (program) => {
        const unknown = program.expressions.find((each) => !declares(program.source, each));
        if (unknown !== undefined) {
          program.log = cString(`no kernel is called "${unknown}"; ${NO_TEMPLATES}`);
          return nvrtcResult.NVRTC_ERROR_COMPILATION;
        }
        program.ptx = cString(ptxOf(program.source, architecture));
        return nvrtcResult.NVRTC_SUCCESS;
      }));
    },
    nvrtcGetPTXSize: (handle, size) => on(handle, ({ ptx }) => put64(size, ptx.byteLength)),
    nvrtcGetPTX: (handle, target) => on(handle, ({ ptx }) => bytesOf(target).set(ptx)),
    nvrtcGetCUBINSize: (handle, size) => on(handle, () => put64(size, 0)),
    nvrtcGetCUBIN: (handle) => on(handle, () => {}),
    nvrtcGetProgramLogSize: (handle, size) => on(handle, ({ log }) => put64(size, log.byteLength)),
    nvrtcGetProgramLog: (handle, target) => on(handle, ({ log }) => bytesOf(target).set(log)),
    nvrtcAddNameExpression: (handle, expression) =>
      on(handle, ({ expressions }) => void expressions.push(getText(expression))),
    nvrtcGetLoweredName: (handle, expression, lowered) =>
      on(handle, ({ source }) => {
        const name = getText(expression);
        if (!declares(source, name)) return nvrtcResult.NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
        const text = cString(name);
        texts.push(text);
        return put64(lowered, hostAddress(text));
      }),
  };
}

function architectureOf(count: number, options: Cell): string {
  for (let index = 0; index < count; index++) {
    const text = readCString(get64(options, index));
    const found = /^--gpu-architecture=(?:compute|sm)_(\w+)$/.exec(text);
    if (found !== null) return `sm_${found[1]}`;
  }
  return "sm_52";
}

/** Writes PTX whose kernels do nothing. */
function ptxOf(source: string, architecture: string): string {
  const entries = kernelsOf(source).map(({ name, parameters }) => {
    const list = parameters.map((type, index) => {
      const known = type === undefined ? undefined : declarationOf(`${name}_${index}`, type);
      return `\t${known ?? UNKNOWN_PARAMETER}`;
    });
    return `.visible .entry ${name}(\n${list.join(",\n")}\n)\n{\n\tret;\n}\n`;
  });
  const head = `.version 7.0\n.target ${architecture}\n.address_size 64\n`;
  return [head, ...entries].join("\n");
}

function declares(source: string, name: string): boolean {
  return kernelsOf(source).some((kernel) => kernel.name === name);
}

interface DeclaredKernel {
  readonly name: string;
  /** The types of its parameters; undefined for one of unknown size. */
  readonly parameters: readonly (CppType | undefined)[];
}

/** Finds the kernels that a text declares, with the types of their parameters. */
function kernelsOf(source: string): DeclaredKernel[] {
  const plain = source.replace(/\/\*[^]*?\*\/|\/\/.*/g, " ");
  const types = new CppTypes(plain);
  const found = plain.matchAll(
    /__global__[^;{(]*?(?:__launch_bounds__\s*\([^)]*\))?[^;{(]*?(\w+)\s*\(([^)]*)\)/g,
  );
  return [...found].map(([, name = "", list = ""]) => ({
    name,
    parameters: list.split(",").map((part) => part.trim().replaceAll(/\s+/g, " "))
      .filter((part) => part !== "" && part !== "void")
      .map((text) => types.ofParameter(text)),
  }));
}

function declarationOf(name: string, { byteLength, alignment, letter }: CppType): string {
  if (letter === undefined) return `.param .align ${alignment} .b8 ${name}[${byteLength}]`;
  return `.param .${letter}${8 * byteLength} ${name}`;
}
