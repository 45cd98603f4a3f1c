// Graphs: the work of a capture, made ready, and queued as a whole by each launch. A launch runs
// the same code as the calls would, so the same rules hold its work.

import { requireValue } from "../errors.ts";
import type { Branch, Capture, CapturedMark, CapturedWork } from "../model/capture.ts";
import type { Context } from "../model/context.ts";
import { GraphAllocation, type GraphReserve } from "../model/graph_memory.ts";
import type { Machine } from "../model/machine.ts";
import { type Operation, Stream } from "../model/stream.ts";
import { requireUnchanged } from "./submission.ts";

export class Graph {
  readonly handle: bigint;
  readonly capture: Capture;
  readonly allocations: readonly GraphAllocation[];
  /** Memory of other graphs that each launch frees. */
  readonly foreignFrees: readonly GraphAllocation[];
  /** Number of executable graphs created from it and not destroyed. */
  execCount = 0;

  constructor(handle: bigint, capture: Capture) {
    this.handle = handle;
    this.capture = capture;
    const works = capture.works();
    this.allocations = [...new Set(works.flatMap(graphMemoryOf))]
      .filter((allocation) => allocation.capture === capture);
    this.foreignFrees = works.filter(({ call }) => call === "cuMemFreeAsync")
      .flatMap(graphMemoryOf)
      .filter((allocation) => allocation.capture !== capture);
  }

  /** Returns whether a launch allocates or frees memory, or was to free memory of no graph. */
  get hasMemory(): boolean {
    return this.allocations.length > 0 || this.foreignFrees.length > 0 ||
      this.capture.hasRefusedFree;
  }

  get reserves(): ReadonlySet<GraphReserve> {
    return new Set(this.allocations.map(({ reserve }) => reserve));
  }

  /** Returns the context of the stream on which the capture began. */
  get context(): Context {
    return this.capture.origin.context;
  }
}

/** A graph that is ready for launches. */
export class GraphExec {
  /** The graph that it was last made of, which may be destroyed. */
  graph: Graph;
  #machine: Machine;
  #freesOnLaunch: boolean;
  /** Streams that the launches queue branches on. */
  #streams = new Map<Branch, Stream>();
  #last: Operation | undefined;

  /** Makes a graph ready; with `freesOnLaunch`, a launch frees what the one before has left. */
  constructor(machine: Machine, graph: Graph, { freesOnLaunch }: { freesOnLaunch: boolean }) {
    this.#machine = machine;
    this.graph = graph;
    this.#freesOnLaunch = freesOnLaunch;
  }

  /** Takes the parameters of another graph, which fits: launches from now on do what that says. */
  update(graph: Graph): void {
    this.graph.execCount--;
    graph.execCount++;
    this.graph = graph;
    this.#streams.clear();
  }

  /** Queues all recorded work after the launch before; throws before anything is queued. */
  launch(stream: Stream): void {
    const { scheduler } = this.#machine;
    this.#takeMemory(stream);
    const start = this.#last === undefined
      ? scheduler.mark(stream)
      : scheduler.follow(stream, this.#last);
    const end = this.#queueSteps(stream, start);
    this.#last = end.stream === stream ? end : scheduler.follow(stream, end);
    for (const reserve of this.graph.reserves) reserve.needFor(this.#last);
  }

  #takeMemory(stream: Stream): void {
    const { capture, allocations, foreignFrees, reserves } = this.graph;
    requireValue(this.#freesOnLaunch || !allocations.some(({ isThere }) => isThere));
    requireValue(foreignFrees.every(({ isThere }) => isThere));
    for (const work of capture.works()) requireUnchanged(this.#machine, capture, work);
    for (const reserve of reserves) reserve.memory.requireRoom(reserve, stream);
    for (const reserve of reserves) reserve.memory.hold(reserve, stream);
    for (const allocation of allocations) allocation.launch();
  }

  /** Queues the steps and returns the end of the origin's, behind which nothing is left to run. */
  #queueSteps(stream: Stream, start: Operation): Operation {
    const { scheduler, site } = this.#machine;
    const { steps, branches } = this.graph.capture;
    const targets = new Map<Branch, Stream>();
    for (const branch of branches) targets.set(branch, this.#targetFor(branch, { stream, start }));
    const marks = new Map<CapturedMark, Operation>();
    for (const step of steps) {
      const target = targets.get(step.branch) ?? stream;
      if (step.kind === "work") site.during(step.work.call, () => step.work.queue(target));
      else if (step.kind === "record") marks.set(step.mark, scheduler.mark(target));
      else scheduler.follow(target, marks.get(step.mark) ?? start);
    }
    const [origin] = targets.values();
    return scheduler.mark(origin ?? stream);
  }

  /** Finds the stream for a branch: the launch's own for the origin's, where its context allows. */
  #targetFor(branch: Branch, launch: { stream: Stream; start: Operation }): Stream {
    const isOrigin = branch === this.graph.capture.branches[0];
    if (isOrigin && branch.context === launch.stream.context) return launch.stream;
    const target = this.#streams.getOrInsertComputed(branch, () => {
      const group = this.#machine.streamsOf(branch.context);
      const made = this.#machine.register((handle) =>
        new Stream(group, handle, "nonblocking", "a branch of a graph")
      );
      this.#machine.forget(made.handle);
      return made;
    });
    // The context drops a stream without a handle whenever its work is done.
    target.group.add(target);
    this.#machine.scheduler.follow(target, launch.start);
    return target;
  }
}

function graphMemoryOf({ regions }: CapturedWork): GraphAllocation[] {
  return regions.flatMap(({ segments }) =>
    segments.flatMap(({ owner }) => owner instanceof GraphAllocation ? [owner] : [])
  );
}
