// A capture: work that its streams are given between a begin and an end is recorded and not run.
// The launches of its graph queue the recorded work.

import { type CUresult, CUstreamCaptureMode as Mode } from "../../constants.ts";
import type { DriverFunction } from "../../cuda.ts";
import { refuse } from "../errors.ts";
import type { LaunchShape } from "../options.ts";
import type { Extent } from "./access_history.ts";
import type { Context } from "./context.ts";
import { happensBefore, type Moment, Timeline } from "./happens_before.ts";
import type { Region } from "./region.ts";
import type { SharedMark } from "./shared_mark.ts";
import type { Operation, Stream } from "./stream.ts";

export interface CapturedKernel extends LaunchShape {
  readonly handle: bigint;
  readonly context: Context;
  /** All of its blocks run at the same time. */
  readonly isCooperative: boolean;
}

/** Work that each launch queues. */
export interface CapturedWork {
  /** Driver function that was given the work. */
  readonly call: string;
  /** Memory that the work names; empty for kernels, which name it when they run. */
  readonly regions: readonly Region[];
  /** Parts of the regions that it uses, in their order. */
  readonly extents?: readonly Extent[];
  /** The kernel, where it is one. */
  readonly kernel?: CapturedKernel;
  /** Queues the work on a stream that is not being captured. */
  queue(target: Stream): Operation;
}

/** One thing that a launch does: work, a mark, or waiting for a mark. */
export type Step =
  | { readonly kind: "work"; readonly branch: Branch; readonly work: CapturedWork }
  | { readonly kind: "record" | "wait"; readonly branch: Branch; readonly mark: CapturedMark };

/** The work of one stream in a capture. */
export interface Branch {
  readonly context: Context;
  /** Order of the stream's steps against those of others in the capture. */
  readonly timeline: Timeline;
  lastWork: Moment | undefined;
}

/** The mark that an event leaves in a capture. */
export interface CapturedMark {
  /** Capture that the event was recorded in. */
  readonly capture: Capture;
  readonly moment: Moment;
}

/** A mark in a stream. */
export class StreamEvent {
  readonly context: Context;
  readonly flags: number;
  /** The mark; undefined until the event is recorded, and when that was in a capture. */
  record: Operation | undefined;
  /** The mark when the event was last recorded in a capture. */
  mark: CapturedMark | undefined;
  /** The mark as other processes see it; undefined until one of them can. */
  shared: SharedMark | undefined;
  /** Threads beside the program's that wait for it. */
  waitingThreads = 0;

  constructor(context: Context, flags: number) {
    this.context = context;
    this.flags = flags;
  }

  /** Throws when the mark is a part of a capture, for which the host cannot wait. */
  requireAwaitable(): void {
    const { mark } = this;
    if (mark === undefined) return;
    if (mark.capture.isValid) mark.capture.invalidate("CUDA_ERROR_CAPTURED_EVENT");
    refuse("CUDA_ERROR_INVALID_VALUE");
  }
}

/** Records the work of the streams that take part. */
export class Capture {
  readonly origin: Stream;
  /** Restrictions on other calls meanwhile, by the driver's number. */
  readonly mode: number;
  readonly steps: Step[] = [];
  /** A free was refused because no graph had allocated the memory. */
  hasRefusedFree = false;
  isOpen = true;
  #isInvalid = false;
  #branches = new Map<Stream, Branch>();

  constructor(origin: Stream, mode: number) {
    this.origin = origin;
    this.mode = mode;
    this.#join(origin);
  }

  /** Returns whether the capture goes on and no call has invalidated it. */
  get isValid(): boolean {
    return this.isOpen && !this.#isInvalid;
  }

  /** Returns the parts of the streams; that of the origin comes first. */
  get branches(): Branch[] {
    return [...this.#branches.values()];
  }

  get nodeCount(): number {
    return this.works().length;
  }

  works(): CapturedWork[] {
    return this.steps.flatMap((step) => step.kind === "work" ? [step.work] : []);
  }

  requireValid(): void {
    if (this.#isInvalid) refuse("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  }

  /** Makes the capture invalid, so that it yields no graph. */
  spoil(): void {
    this.#isInvalid = true;
  }

  invalidate(status: keyof typeof CUresult): never {
    this.spoil();
    return refuse(status);
  }

  has(stream: Stream): boolean {
    return this.#branches.has(stream);
  }

  /** Records work of a stream that takes part. */
  add(stream: Stream, work: CapturedWork): void {
    this.requireValid();
    const branch = this.#branchOf(stream);
    branch.lastWork = branch.timeline.advance();
    this.steps.push({ kind: "work", branch, work });
  }

  /** Returns the place of the last step of a stream that takes part. */
  latestOn(stream: Stream): Moment {
    return this.#branchOf(stream).timeline.latest;
  }

  /** Leaves a mark after the work that a stream was given so far. */
  mark(stream: Stream): CapturedMark {
    this.requireValid();
    const branch = this.#branchOf(stream);
    const mark = { capture: this, moment: branch.timeline.advance() };
    this.steps.push({ kind: "record", branch, mark });
    return mark;
  }

  /** Orders the later work of a stream after a mark; the stream then takes part. */
  wait(stream: Stream, mark: CapturedMark): void {
    if (stream.role === "legacy") this.invalidate("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
    this.requireValid();
    const branch = this.#branchOf(stream);
    branch.timeline.join(mark.moment);
    this.steps.push({ kind: "wait", branch, mark });
  }

  /** Ends the recording; throws when there is no graph. */
  end(): void {
    this.isOpen = false;
    this.requireValid();
    const end = this.#branchOf(this.origin).timeline.latest;
    for (const { lastWork } of this.#branches.values()) {
      const isJoined = lastWork === undefined || happensBefore(lastWork, end);
      if (!isJoined) refuse("CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
    }
  }

  #branchOf(stream: Stream): Branch {
    return this.#branches.get(stream) ?? this.#join(stream);
  }

  #join(stream: Stream): Branch {
    const { context, timeline: { label, waits } } = stream;
    const branch: Branch = { context, timeline: new Timeline(label, waits), lastWork: undefined };
    this.#branches.set(stream, branch);
    return branch;
  }
}

/** Functions that any capture but a relaxed one forbids, before anything else is checked. */
export const DISTURBING: ReadonlySet<string> = new Set(
  [
    "cuMemFree_v2",
    "cuMemFreeHost",
    "cuMemHostUnregister",
    "cuMemPoolTrimTo",
    "cuMemPoolSetAttribute",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAccess",
    "cuMemPoolGetAccess",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolExportToShareableHandle",
    "cuMemPoolExportPointer",
    "cuMemPoolImportPointer",
    "cuGraphExecDestroy",
  ] satisfies DriverFunction[],
);

export type CallingThread = "capturing" | "other";

/** The captures that have not ended, and what their modes forbid meanwhile; relaxed ones forbid nothing. */
export class OpenCaptures extends Set<Capture> {
  of(stream: Stream): Capture | undefined {
    for (const capture of this) if (capture.has(stream)) return capture;
    return undefined;
  }

  /** Rejects a call that a stream's capture cannot record, and invalidates the capture. */
  requireUncaptured(stream: Stream): void {
    this.of(stream)?.invalidate("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  }

  /** Rejects work on a stream that would wait for a captured one, even work of no bytes. */
  requireNoneBefore(stream: Stream): void {
    if (this.size === 0) return;
    const met = [...stream.predecessors].map((other) => this.of(other));
    for (const capture of met) capture?.spoil();
    met.find((capture) => capture !== undefined)?.invalidate("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
  }

  /** Orders the later work of a stream after a mark; the stream then takes part in its capture. */
  follow(stream: Stream, mark: CapturedMark): void {
    const own = this.of(stream);
    if (own !== undefined && own !== mark.capture) {
      own.requireValid();
      own.spoil();
      mark.capture.invalidate("CUDA_ERROR_STREAM_CAPTURE_MERGE");
    }
    mark.capture.wait(stream, mark);
  }

  /** Tells whether a call disturbs a capture, which becomes invalid then. */
  disturb(thread: CallingThread): boolean {
    const disturbed = [...this].filter(({ mode }) =>
      mode === Mode.CU_STREAM_CAPTURE_MODE_GLOBAL ||
      (mode === Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && thread === "capturing")
    );
    for (const capture of disturbed) capture.spoil();
    return disturbed.length > 0;
  }
}
