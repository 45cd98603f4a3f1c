// What a table of driver functions may bring instead of NVIDIA's libraries and the machine around them:
// the simulated driver brings all of it, and tests give others.

import type { DriverApi } from "./cuda.ts";
import type { NcclApi } from "./nccl.ts";
import type { NvmlApi } from "./nvml.ts";
import type { NvrtcApi } from "./nvrtc.ts";

/** The name of these parts in such a table. */
export const OWN: unique symbol = Symbol("own parts");

/** Checks that bytes are unchanged; throws when they are not. */
export type HostCheck = () => void;

/** A connection to the ranks of other processes. */
export interface NcclWire {
  /** Sends bytes to a rank; they arrive in order. */
  send(rank: number, bytes: Uint8Array<ArrayBuffer>): void;
}

/** Receives bytes that a rank of another process has sent. */
export type NcclReceiver = (rank: number, bytes: Uint8Array<ArrayBuffer>) => void;

/** A driver's own parts. */
export interface OwnParts {
  /** The identity of its machine: 16 bytes in hexadecimal digits. */
  readonly machine: string;
  /** Records bytes that a transfer uses; the result checks later that they are unchanged. */
  readonly watchHost: (bytes: Uint8Array<ArrayBufferLike>) => HostCheck;
  /** Returns the bytes that the system could give to an integrated device. */
  readonly availableBytes: (ordinal: number) => number;
  readonly nccl: NcclApi;
  /**
   * Connects that NCCL, which has no network, to the other processes' ranks that find each other under
   * an id, before a communicator is started there.
   */
  readonly wire: (id: Uint8Array, wire: NcclWire) => NcclReceiver;
  readonly nvml: NvmlApi;
  readonly nvrtc: NvrtcApi;
}

const NONE: Partial<OwnParts> = {};

/** Returns the parts that a driver brings; NVIDIA's has none. */
export function ownParts(driver: DriverApi): Partial<OwnParts> {
  return (driver as DriverApi & { readonly [OWN]?: Partial<OwnParts> })[OWN] ?? NONE;
}
