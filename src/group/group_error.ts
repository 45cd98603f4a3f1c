// The error of a group: NCCL refused a call or reported a failure, time ran out, or the group is gone.

import { ANYTHING, NUMBER, oneOf, OptionSet, requireKind, TEXT } from "../words/options.ts";

/** The reason of a group's failure. */
export type GroupFailure =
  | "nccl"
  | "timeout"
  | "signal"
  | "ended"
  | "lost"
  | "refused"
  | "address";

/** The fields of a {@link GroupError}. */
export interface GroupErrorFields {
  /** Reason of the failure. */
  readonly reason: GroupFailure;
  /** The call of the group, or of NCCL, that failed. */
  readonly call: string;
  /** The rank that reported it or that it concerns, when known. */
  readonly rank?: number | undefined;
  /** NCCL's status. */
  readonly code?: number | undefined;
  /** The name of NCCL's status, such as `"ncclRemoteError"`. */
  readonly codeName?: string | undefined;
  /** The error that it follows from. */
  readonly cause?: unknown;
}

const GROUP_ERROR_FIELDS = new OptionSet<GroupErrorFields>({
  reason: oneOf("nccl", "timeout", "signal", "ended", "lost", "refused", "address"),
  call: TEXT,
  rank: NUMBER,
  code: NUMBER,
  codeName: TEXT,
  cause: ANYTHING,
});

/**
 * A call of a group failed: NCCL refused it or reported a failure (`"nccl"`), it took too long
 * (`"timeout"`), its signal was aborted (`"signal"`), the process of a rank has ended (`"lost"`), or the
 * group was ended by an earlier failure or by another rank (`"ended"`). The group is gone then; a new one
 * can be made at once. `joinGroup()` also fails when rank 0 lets a process not in (`"refused"`), and when
 * it cannot listen (`"address"`).
 */
export class GroupError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "GroupError";
  /** Reason of the failure. */
  readonly reason: GroupFailure;
  /** The call of the group, or of NCCL, that failed. */
  readonly call: string;
  /** The rank that reported it or that it concerns, when known. */
  readonly rank: number | undefined;
  /** NCCL's status; undefined when NCCL reported nothing. */
  readonly code: number | undefined;
  /** The name of NCCL's status, such as `"ncclRemoteError"`. */
  readonly codeName: string | undefined;

  /** Creates an error for a failed call. */
  constructor(message: string, fields: GroupErrorFields) {
    requireKind(message, TEXT, "new GroupError");
    const { reason, call, rank, code, codeName, cause } = GROUP_ERROR_FIELDS.read(
      fields,
      "new GroupError",
    );
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.call = call;
    this.rank = rank;
    this.code = code;
    this.codeName = codeName;
  }
}
