// The words between programs and the keeper of persisted memory: JSON in messages of a socket, with
// descriptors beside them. Texts that may be long travel in files without names.

import type { LoadedFile } from "../disk/loaded_files.ts";

/** Version of this protocol; a keeper of another one is named, listed and stopped, and nothing more. */
export const KEEPER_PROTOCOL = 2;

/** The most descriptors that go with one message. */
export const MAX_DESCRIPTORS = 64;

/** The longest message in bytes. */
export const MAX_MESSAGE_BYTES = 60_000;

/** Bytes of the page of a name, and of one process's place in it. */
export const NAME_PAGE_BYTES = 4096;
export const OPENER_BYTES = 32;

/** The states of a place in a page. */
export const SLOT_STATE = { free: 0, clean: 1, dirty: 2, unknown: 3 } as const;

/** Says whether all writes to persisted memory were finished. */
export type Wholeness = "clean" | "dirty" | "unknown";

/** A process that ended, or let go, while writes were not known to be finished. */
export interface Taint {
  readonly state: Exclude<Wholeness, "clean">;
  readonly pid: number;
  /** When it was noticed, in milliseconds since 1970. */
  readonly at: number;
}

/** A process that has persisted memory open. */
export interface Opener {
  readonly pid: number;
  readonly state: Wholeness;
}

/** The place of persisted memory that is asleep. */
export interface AsleepFacts {
  /** The process that put it to sleep. */
  readonly pid: number;
  /** Where its contents are: `"host memory"`, or a file. */
  readonly where: string;
  /** The file that has them, by which they outlive that process; null for any other place. */
  readonly file: LoadedFile | null;
}

/** The maker's words about its memory. */
export interface KeptWords {
  /** Bytes of device memory; in the keeper's answers 0 while it is asleep. */
  readonly byteLength: number;
  /** Its kind, in words: `"model of 3 tensors"`. */
  readonly what: string;
  /** Its origin, in JSON. */
  readonly origin: string;
}

/** The keeper's words about a name. */
export interface KeptFacts extends KeptWords {
  readonly name: string;
  /** The device, as in `gpu.info.uuid`. */
  readonly device: string;
  /** When it was made, in milliseconds since 1970. */
  readonly madeAt: number;
  readonly madeBy: number;
  readonly descriptorCount: number;
  readonly openers: readonly Opener[];
  readonly taint: Taint | null;
  readonly asleep: AsleepFacts | null;
}

export type KeeperRequest =
  | { readonly op: "hello"; readonly vramkit: number; readonly kit: string }
  | { readonly op: "list" }
  | { readonly op: "stop" }
  | { readonly op: "close" }
  | { readonly op: "check" }
  | { readonly op: "forget"; readonly name: string; readonly device: string }
  | { readonly op: "want"; readonly name: string; readonly device: string; readonly anew: boolean }
  | { readonly op: "more"; readonly from: number }
  | (KeptWords & { readonly op: "publish"; readonly descriptorCount: number })
  | { readonly op: "part" }
  | { readonly op: "sleep"; readonly where: string }
  | { readonly op: "away"; readonly file: LoadedFile | null }
  | { readonly op: "wake"; readonly descriptorCount: number };

export interface KeeperAnswer {
  readonly vramkit?: number;
  readonly kit?: string;
  readonly pid?: number;
  readonly refused?: "words" | "descriptors" | "openers" | "open" | "asleep";
  /**
   * For a want: it is there, to be made by whoever asks, or asleep in another process; first that another
   * process makes it, or that a dead one may still use it.
   */
  readonly state?: "there" | "make" | "asleep" | "making" | "ending";
  readonly facts?: KeptFacts;
  /** The number of the place in the page. */
  readonly slot?: number;
  readonly found?: boolean;
  readonly pids?: readonly number[];
  readonly limit?: number;
  readonly used?: number;
}
