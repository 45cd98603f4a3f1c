// What the ABI check covers, read from the tables themselves so that a new row cannot be forgotten.
// The generator asks the compiler about these names; the comparison holds them against its answer.

import * as constants from "../../../ffi/constants.ts";
import { CUDA } from "../../../ffi/cuda.ts";
import * as dlpack from "../../../ffi/dlpack.ts";
import { NCCL } from "../../../ffi/nccl.ts";
import * as ncclNumbers from "../../../ffi/nccl_constants.ts";
import { NVML } from "../../../ffi/nvml.ts";
import * as nvmlConstants from "../../../ffi/nvml_constants.ts";
import * as nvmlStructs from "../../../ffi/nvml_structs.ts";
import { NVRTC, nvrtcResult } from "../../../ffi/nvrtc.ts";
import type { Members, Struct } from "../../../ffi/struct.ts";
import * as structs from "../../../ffi/structs.ts";

/** The place of a member, counted from the start of the outermost struct. */
export interface MemberPlace {
  readonly offset: number;
  readonly byteLength: number;
}

/** A struct's size and members; a nested member goes by its path, such as `location.type`. */
export interface StructPlaces {
  readonly byteLength: number;
  readonly members: Readonly<Record<string, MemberPlace>>;
}

/** Everything that a header fixes. */
export interface AbiSubjects {
  /** Rows of a symbol table; two rows can bind one C function. */
  readonly functions: Readonly<Record<string, Deno.ForeignFunction>>;
  /** Structs by their C name. */
  readonly structs: Readonly<Record<string, StructPlaces>>;
  /** Enumerators and macros by their C name. */
  readonly constants: Readonly<Record<string, number>>;
}

/** The statements of ffi/ about cuda.h. */
export const CUDA_SUBJECTS: AbiSubjects = {
  functions: CUDA,
  structs: Object.fromEntries(
    Object.entries(structs).map(([name, struct]) => [name, placesOf(struct)]),
  ),
  constants: Object.fromEntries(Object.entries(constants).flatMap(namesOf)),
};

const { structVersion, ...NVML_STRUCTS } = nvmlStructs;
const { NOT_AVAILABLE_32: _32, NOT_AVAILABLE_64: _64, ...NVML_CONSTANTS } = nvmlConstants;

/** The statements of ffi/ about nvml.h. */
export const NVML_SUBJECTS: AbiSubjects = {
  functions: NVML,
  structs: Object.fromEntries(
    Object.entries(NVML_STRUCTS).map(([name, struct]) => [name, placesOf(struct)]),
  ),
  constants: {
    ...Object.fromEntries(Object.entries(NVML_CONSTANTS).flatMap(namesOf)),
    nvmlMemory_v2: structVersion(NVML_STRUCTS.nvmlMemory_v2_t.byteLength, 2),
    nvmlTemperature_v1: structVersion(NVML_STRUCTS.nvmlTemperature_v1_t.byteLength, 1),
  },
};

/** The statements of ffi/ about nvrtc.h. */
export const NVRTC_SUBJECTS: AbiSubjects = {
  functions: NVRTC,
  structs: {},
  constants: nvrtcResult,
};

const { DLPACK_VERSION, DLDeviceType, DLDataTypeCode, DLPACK_FLAG_BITMASK, ...DLPACK_STRUCTS } =
  dlpack;

/** The statements of ffi/ about dlpack.h. */
export const DLPACK_SUBJECTS: AbiSubjects = {
  functions: {},
  structs: Object.fromEntries(
    Object.entries(DLPACK_STRUCTS).map(([name, struct]) => [name, placesOf(struct)]),
  ),
  constants: {
    DLPACK_MAJOR_VERSION: DLPACK_VERSION.major,
    ...DLDeviceType,
    ...DLDataTypeCode,
    ...Object.fromEntries(Object.entries({ DLPACK_FLAG_BITMASK }).flatMap(namesOf)),
  },
};

const { ncclConfig_t, NCCL_CONFIG_MAGIC: _magic, ...NCCL_CONSTANTS } = ncclNumbers;

/** The statements of ffi/ about nccl.h. */
export const NCCL_SUBJECTS: AbiSubjects = {
  functions: NCCL,
  structs: { ncclConfig_t: placesOf(ncclConfig_t) },
  constants: Object.fromEntries(Object.entries(NCCL_CONSTANTS).flatMap(namesOf)),
};

/** Finds the C function that a row binds. */
export function symbolOf(key: string, row: Deno.ForeignFunction): string {
  return row.name ?? key;
}

/** Lists all members of a struct, those of nested structs included. */
export function placesOf(struct: Struct<Members>): StructPlaces {
  const members: Record<string, MemberPlace> = {};
  for (const [name, member] of Object.entries(struct.members)) {
    const offset = struct.offsets[name] ?? NaN;
    members[name] = { offset, byteLength: member.byteLength };
    if (!("members" in member)) continue;
    const nested = placesOf(member as Struct<Members>);
    for (const [path, place] of Object.entries(nested.members)) {
      members[`${name}.${path}`] = { ...place, offset: offset + place.offset };
    }
  }
  return { byteLength: struct.byteLength, members };
}

/** Spells a constant as C does: `CU_MEMHOSTALLOC.PORTABLE` is the macro CU_MEMHOSTALLOC_PORTABLE. */
function namesOf(
  [group, value]: [string, number | Readonly<Record<string, number>>],
): [string, number][] {
  if (typeof value === "number") return [[group, value]];
  return Object.entries(value).map(([key, number]) => [
    /^(CU|NVML_|nvml|nccl)/.test(key) ? key : `${group}_${key}`,
    number,
  ]);
}
