// The words between a test and the process of a rank.

import type { DType } from "../../../src/dtype.ts";
import type { Reduction } from "../../../src/group/element_types.ts";

/** The options a rank joins with; the token is the test's own unless given. */
export interface JoinWords {
  readonly rendezvous: string;
  readonly rank: number;
  readonly size: number;
  readonly token?: string;
  readonly timeoutSeconds?: number;
  /** The device; that of the rank's number unless given. */
  readonly ordinal?: number;
  /** Milliseconds until its signal is aborted. */
  readonly abortAfter?: number;
  /** Whether options come from the environment. */
  readonly isFromEnvironment?: boolean;
}

/** A call of the group on the bytes of a file, whose result goes into another. */
export interface CaseWords {
  readonly id: string;
  readonly folder: string;
  readonly call: string;
  readonly dtype: DType;
  readonly operation: Reduction;
  readonly root: number;
}

/** A command; groups go by a name, "world" unless given. */
export type RankCommand =
  & { readonly group?: string }
  & (
    | { readonly do: "join" } & JoinWords
    | {
      readonly do: "reduce";
      readonly length: number;
      readonly value: number;
      readonly timeoutSeconds?: number;
      readonly abortAfter?: number;
    }
    | { readonly do: "case" } & CaseWords
    /** It makes a file once some are over. */
    | {
      readonly do: "reduceOften";
      readonly length: number;
      readonly count: number;
      readonly mark: string;
    }
    | { readonly do: "split"; readonly color?: number; readonly key?: number; readonly as: string }
    | { readonly do: "shrink"; readonly exclude?: readonly number[]; readonly as: string }
    | { readonly do: "block"; readonly milliseconds: number }
    | { readonly do: "disposeBusy"; readonly length: number }
    | {
      readonly do:
        | "dispose"
        | "disposeAll"
        | "end"
        | "awaitEnds"
        | "barrier"
        | "left"
        | "failure"
        | "free";
    }
  );

/** The token of the tests' groups. */
export const TOKEN = "a long word of these tests";
