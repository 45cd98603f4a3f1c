// The messages on a pool's socket: a request with a key and the memory's handle, and an answer with
// the pool.

import { CU_IPC_HANDLE_SIZE } from "../../ffi/constants.ts";
import { struct, u32 } from "../../ffi/struct.ts";

/** An answer: the state of the memory, and its pool. */
const ANSWER = struct({ state: u32, pool: u32 });
const STATE = { there: 1, freed: 2 } as const;

const KEY_BYTES = 16;

const REQUEST_BYTES = KEY_BYTES + CU_IPC_HANDLE_SIZE;

/** A request: a ticket's statements about memory, in hexadecimal digits. */
export interface PoolRequest {
  /** The secret that opens it. */
  readonly key: string;
  /** The driver's description of it, compared so that the driver gets none that was changed. */
  readonly handle: string;
}

export function encodeRequest({ key, handle }: PoolRequest): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(key + handle);
}

/** Reads a request; undefined for anything else. */
export function decodeRequest(bytes: Uint8Array<ArrayBuffer>): PoolRequest | undefined {
  if (bytes.byteLength !== REQUEST_BYTES) return undefined;
  const [key, handle] = [bytes.subarray(0, KEY_BYTES), bytes.subarray(KEY_BYTES)];
  return { key: key.toHex(), handle: handle.toHex() };
}

export interface PoolAnswer {
  /** The memory is still there. */
  readonly isThere: boolean;
  /** Number of the pool among those of the socket. */
  readonly pool: number;
}

export function encodeAnswer({ isThere, pool }: PoolAnswer): Uint8Array<ArrayBuffer> {
  return ANSWER.encode({ state: isThere ? STATE.there : STATE.freed, pool });
}

/** Reads an answer; undefined for anything else. */
export function decodeAnswer(bytes: Uint8Array<ArrayBuffer>): PoolAnswer | undefined {
  if (bytes.byteLength !== ANSWER.byteLength) return undefined;
  const { state, pool } = ANSWER.decode(bytes);
  const isThere = state === STATE.there;
  return isThere || state === STATE.freed ? { isThere, pool } : undefined;
}

/** Makes a secret that nobody can guess, as 32 hexadecimal digits. */
export function randomWord(): string {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toHex();
}
