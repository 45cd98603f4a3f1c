// A capture: what its streams are given between a begin and an end is recorded and not run.
// What it has recorded when it ends is what the launches of its graph queue.

import type { CUresult } from "../constants.ts";
import type { Context } from "./context.ts";
import type { Device } from "./device.ts";
import { refuse } from "./errors.ts";
import type { GraphAllocation, GraphReserve } from "./graph_memory.ts";
import { happensBefore, type Moment, Timeline } from "./happens_before.ts";
import type { Region } from "./region.ts";
import type { Operation, Stream } from "./stream.ts";

/** Work that each launch queues. */
export interface CapturedWork {
  /** Driver function that was given the work. */
  readonly call: string;
  /** Memory that the work names; empty for kernels, which name it when they run. */
  readonly regions: readonly Region[];
  /** Queues the work on a stream that is not being captured. */
  queue(target: Stream): Operation;
}

/** One thing that a launch does: work, a mark, or waiting for a mark. */
export type Step =
  | { readonly kind: "work"; readonly branch: Branch; readonly work: CapturedWork }
  | { readonly kind: "record" | "wait"; readonly branch: Branch; readonly mark: CapturedMark };

/** The work of one stream in a capture. */
export class Branch {
  /** Context of the stream. */
  readonly context: Context;
  /** Order of the stream's steps against those of others in the capture. */
  readonly timeline: Timeline;
  /** Place of the last work. */
  lastWork: Moment | undefined;

  /** Starts the part of a stream. */
  constructor(stream: Stream) {
    this.context = stream.context;
    this.timeline = new Timeline(stream.timeline.label, stream.timeline.waits);
  }
}

/** The mark that an event leaves in a capture. */
export class CapturedMark {
  /** Capture that the event was recorded in. */
  readonly capture: Capture;
  /** Its place in the order of the capture. */
  readonly moment: Moment;

  /** Notes a place. */
  constructor(capture: Capture, moment: Moment) {
    this.capture = capture;
    this.moment = moment;
  }
}

/** Records what the streams that take part are given. */
export class Capture {
  /** Stream on which the capture began. */
  readonly origin: Stream;
  /** Restrictions on other calls meanwhile, by the driver's number. */
  readonly mode: number;
  /** The recorded steps, in the order of the calls. */
  readonly steps: Step[] = [];
  /** Memory that the graph allocates, by device. */
  readonly reserves: Map<Device, GraphReserve> = new Map();
  /** Memory of other graphs that this one frees. */
  readonly foreignFrees: GraphAllocation[] = [];
  #isOpen = true;
  #isInvalid = false;
  #branches = new Map<Stream, Branch>();

  /** Begins to record what a stream is given. */
  constructor(origin: Stream, mode: number) {
    this.origin = origin;
    this.mode = mode;
    this.#join(origin);
  }

  /** Returns whether the capture has not ended. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Returns whether the capture goes on and no call has invalidated it. */
  get isValid(): boolean {
    return this.#isOpen && !this.#isInvalid;
  }

  /** Returns the parts of the streams; that of the origin comes first. */
  get branches(): Branch[] {
    return [...this.#branches.values()];
  }

  /** Returns how many nodes the graph has. */
  get nodeCount(): number {
    return this.works().length;
  }

  /** Lists the work that was recorded. */
  works(): CapturedWork[] {
    return this.steps.flatMap((step) => step.kind === "work" ? [step.work] : []);
  }

  /** Returns whether the graph allocates or frees memory. */
  get hasMemory(): boolean {
    return this.reserves.size > 0 || this.foreignFrees.length > 0;
  }

  /** Throws when a call has invalidated the capture. */
  requireValid(): void {
    if (this.#isInvalid) refuse("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  }

  /** Makes the capture come to nothing. */
  spoil(): void {
    this.#isInvalid = true;
  }

  /** Rejects a call and invalidates the capture. */
  invalidate(status: keyof typeof CUresult): never {
    this.spoil();
    return refuse(status);
  }

  /** Records work of a stream that takes part. */
  add(stream: Stream, work: CapturedWork): void {
    this.requireValid();
    const branch = this.#branchOf(stream);
    branch.lastWork = branch.timeline.advance();
    this.steps.push({ kind: "work", branch, work });
  }

  /** Leaves a mark behind what a stream was given so far. */
  mark(stream: Stream): CapturedMark {
    this.requireValid();
    const branch = this.#branchOf(stream);
    const mark = new CapturedMark(this, branch.timeline.advance());
    this.steps.push({ kind: "record", branch, mark });
    return mark;
  }

  /** Orders what a stream is given from here on behind a mark; the stream then takes part. */
  wait(stream: Stream, mark: CapturedMark): void {
    if (stream.capture !== undefined && stream.capture !== this) {
      stream.capture.requireValid();
      stream.capture.spoil();
      this.invalidate("CUDA_ERROR_STREAM_CAPTURE_MERGE");
    }
    if (stream.role === "legacy") this.invalidate("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
    this.requireValid();
    const branch = this.#branchOf(stream);
    branch.timeline.join(mark.moment);
    this.steps.push({ kind: "wait", branch, mark });
  }

  /** Ends the recording, so that its streams run work again; throws when there is no graph. */
  end(): void {
    this.#isOpen = false;
    for (const stream of this.#branches.keys()) stream.capture = undefined;
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
    const branch = new Branch(stream);
    this.#branches.set(stream, branch);
    stream.capture = this;
    return branch;
  }
}
