// NCCL's functions with their statuses checked, and its version.

import { readCString } from "../../ffi/c_strings.ts";
import type { DriverApi } from "../../ffi/cuda.ts";
import { findLibrary, openInstalled } from "../../ffi/installed_libraries.ts";
import { LibraryError } from "../../ffi/library.ts";
import { NCCL, type NcclApi, type NcclFunction } from "../../ffi/nccl.ts";
import { NCCL_UNIQUE_ID_BYTES, ncclResult } from "../../ffi/nccl_constants.ts";
import { ownParts } from "../../ffi/own_parts.ts";
import type { Driver } from "../driver/driver.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { GroupError } from "./group_error.ts";

/** The oldest version that has all functions of the table that are not optional. */
const OLDEST_VERSION = 21400;

const NAMES = new Map<number, string>(
  Object.entries(ncclResult).map(([name, code]) => [code, name]),
);

/** A failure of NCCL, and the place where it was seen. */
export interface NcclFailure {
  readonly status: number;
  /** The function, or the call of the group, that failed. */
  readonly call: string;
  /** The communicator that reported it. */
  readonly communicator?: bigint | undefined;
  /** The rank of that communicator. */
  readonly rank?: number | undefined;
}

/** Libraries that were opened, by their paths. */
const opened = new Map<string, NcclApi>();

/**
 * Opens the NCCL that a driver brings, or else the system's or a Python package's, once for a process. The
 * environment variable VRAMKIT_NCCL names another file, where it may be read without a prompt.
 *
 * @throws LibraryError when there is none, or it cannot be used.
 */
export function openNccl(driver: DriverApi): NcclApi {
  const own = ownParts(driver).nccl;
  if (own !== undefined) return own;
  const found = findLibrary("nccl");
  return opened.getOrInsertComputed(
    found.path ?? "",
    () => openInstalled("nccl", found, NCCL).api,
  );
}

/** The NCCL library that was found. */
export class Nccl {
  /** The functions, for calls whose status is checked later. */
  readonly api: NcclApi;
  /** Its version, such as `"2.28.9"`. */
  readonly version: string;

  private constructor(api: NcclApi) {
    this.api = api;
    const code = new Int32Array(1);
    this.check(api.ncclGetVersion(code), "ncclGetVersion");
    const [version = 0] = code;
    this.version = formatVersion(version);
    if (version >= OLDEST_VERSION) return;
    throw new CudaUnavailableError(
      "driver-too-old",
      `Cannot use NCCL ${this.version}: it must be 2.14 or newer; pip install nvidia-nccl-cu12, or ` +
        `set VRAMKIT_NCCL`,
    );
  }

  /**
   * Opens the NCCL that goes with a driver.
   *
   * @throws CudaUnavailableError when there is none, or it is too old.
   */
  static open(driver: Driver): Nccl {
    try {
      return new Nccl(openNccl(driver.api));
    } catch (error) {
      if (!(error instanceof LibraryError)) throw error;
      throw new CudaUnavailableError(error.reason, error.message, { cause: error });
    }
  }

  /** Creates the id by which the ranks of a new group find each other. */
  createId(): Uint8Array<ArrayBuffer> {
    const id = new Uint8Array(NCCL_UNIQUE_ID_BYTES);
    this.check(this.api.ncclGetUniqueId(id), "ncclGetUniqueId");
    return id;
  }

  /** Throws the error of a status. */
  check(status: number, call: NcclFunction): void {
    if (status !== ncclResult.ncclSuccess) throw this.error({ status, call });
  }

  /** Creates the error for a failure, with NCCL's own words for it. */
  error(failure: NcclFailure, action: string = failure.call): GroupError {
    const { status, call, communicator = 0n, rank } = failure;
    const codeName = NAMES.get(status) ?? "ncclUnlisted";
    const who = rank === undefined ? "" : `rank ${rank} reports `;
    return new GroupError(
      `Cannot complete ${action}: ${who}${codeName} (${status})${this.#words(communicator)}`,
      { reason: "nccl", call, rank, code: status, codeName },
    );
  }

  /** Returns the last words of a communicator, which may be from an earlier failure. */
  #words(communicator: bigint): string {
    try {
      const words = readCString(this.api.ncclGetLastError(communicator)).trim();
      return words === "" ? "; NCCL_DEBUG=WARN makes NCCL say more" : `, ${words}`;
    } catch {
      return ""; // a flag with paths lets nobody read texts
    }
  }
}

/** Formats a version as NCCL's releases are named. */
function formatVersion(code: number): string {
  const scale = code < 10000 ? 1000 : 10000;
  return [Math.floor(code / scale), Math.floor(code % scale / 100), code % 100].join(".");
}
