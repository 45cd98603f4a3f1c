// The intended differences from the real driver, as docs/simulated_driver.md shows them. Everything
// else must agree with recordings of the real driver.

/** One difference that is wanted. */
export interface Strictness {
  /** Kind of difference: an error is thrown, a call is refused, or an answer differs. */
  readonly kind: "throws" | "refuses" | "answers";
  readonly simulated: string;
  readonly real: string;
  /** Functions whose answers differ; for errors and refusals the driver names the rule itself. */
  readonly calls?: readonly string[];
  /** Statuses that differ: the real driver's, and the simulated one's. */
  readonly statuses?: readonly (readonly [real: number, simulated: number])[];
  /** Whether the functions' outputs differ. */
  readonly outputs?: boolean;
}

/** Every wanted difference, by the name of its rule. */
export const STRICTER = {
  race: {
    kind: "throws",
    simulated: "throws when two streams use the same bytes without order and one of them writes",
    real: "runs both; the bytes depend on which comes first",
  },
  unwritten: {
    kind: "throws",
    simulated: "throws when work reads device bytes that nobody has written",
    real: "reads what was there before, often another program's bytes",
  },
  hostChanged: {
    kind: "throws",
    simulated: "throws when the host changed bytes that a queued copy still needed",
    real: "copies the old bytes, the new ones, or some of each",
  },
  bounds: {
    kind: "throws",
    simulated: "throws when a range leaves its allocation or its array",
    real: "refuses it, writes into the neighbour, or breaks the context by a fault",
  },
  freed: {
    kind: "throws",
    simulated: "throws when a range is in memory that was freed or never allocated",
    real: "refuses it, uses what lies there now, or breaks the context by a fault",
  },
  unmapped: {
    kind: "throws",
    simulated: "throws when a part of a range of virtual memory has no memory behind it",
    real: "refuses it, or breaks the context by a fault",
  },
  rights: {
    kind: "throws",
    simulated:
      "throws when a device has no right to memory, and when a kernel meets ordinary arrays",
    real: "refuses it, or breaks the context by a fault",
  },
  overlap: {
    kind: "throws",
    simulated: "throws when a copy's source and destination, or two copies of a batch, share bytes",
    real: "copies in no certain order, so the bytes can differ from run to run",
  },
  inUse: {
    kind: "throws",
    simulated: "throws when memory is freed or unmapped that work still needs, instead of waiting",
    real: "waits for some kinds of memory and breaks the context by a fault for others",
  },
  notLaunched: {
    kind: "throws",
    simulated: "throws when memory that a graph allocates is used before a launch brings it",
    real: "ends the process when the memory is read",
  },
  goneFromGraph: {
    kind: "throws",
    simulated: "throws when a graph is made ready or launched whose copies use freed memory",
    real: "ends the process, waits for ever, or uses what lies there now",
  },
  arrayInGraph: {
    kind: "throws",
    simulated: "throws when a capture records work that uses an ordinary array",
    real: "records it and uses at each launch whatever lies at the address then",
  },
  unloaded: {
    kind: "throws",
    simulated: "throws when a launch of a graph meets a kernel whose module was unloaded",
    real: "runs what lies at the kernel's former place, or breaks the context by a fault",
  },
  unterminated: {
    kind: "throws",
    simulated: "throws when a text of PTX has no zero byte at its end",
    real: "reads on behind the text",
  },
  collective: {
    kind: "throws",
    simulated:
      "throws when the ranks of a group differ in the order, operation, element type, count or " +
      "root of their calls, when one of them is missing or a send has no receive, and when calls " +
      "share bytes",
    real: "waits for ever, or leaves bytes that nobody can tell",
  },
  communicatorInUse: {
    kind: "throws",
    simulated:
      "throws when a communicator is destroyed before its work is done, or before it was finalized " +
      "where other processes have ranks, and when a stream gets work, memory that comes or " +
      "goes aside, between a call of such a communicator and its end",
    real: "waits for that work, or for the other ranks; runs the streams' work before the call's",
  },
  blockedForProcess: {
    kind: "throws",
    simulated: "throws when a call blocks for work that needs ranks of other processes",
    real: "waits for them",
  },
  deadlock: {
    kind: "throws",
    simulated: "throws when the host waits for work that nothing can set going any more",
    real: "waits for ever",
  },
  endsProcess: {
    kind: "throws",
    simulated:
      "throws for a name of 0 bytes, for a pool's attribute without a value, for a pool that is " +
      "destroyed before its memory is freed, when a stream waits for another device's event that is for other processes or such an event is handed " +
      "out with another device's context current, when a copy crosses from " +
      "physical memory of the host to that of a device, and when one between the plain memory " +
      "of a device and mapped memory of another meets no current context",
    real: "ends the process by a fault",
  },
  packed: {
    kind: "refuses",
    simulated: "refuses a pitch or a height of 0 for more than one row or slice",
    real: "takes 0 for rows or slices without a gap",
  },
  reserved: {
    kind: "refuses",
    simulated: "refuses reserved members, and levels of arrays, that are not 0",
    real: "ignores them",
  },
  noPeerContext: {
    kind: "refuses",
    simulated: "refuses a copy between devices that leaves out a context",
    real: "takes the current context",
  },
  graphUpdate: {
    kind: "refuses",
    simulated:
      "refuses to update a graph by copies of rows, by fills of rows of other sizes, and by memory " +
      "of a pool in the place of other memory or the other way round, and tells the first reason " +
      "that it finds",
    real: "takes some of them, or tells another reason",
  },
  goneEvent: {
    kind: "refuses",
    simulated: "refuses the handle of another process's event that was destroyed",
    real: "opens it, with a mark that means nothing",
  },
  external: {
    kind: "refuses",
    simulated: "refuses to record a wait for an event from outside (flag 1)",
    real: "records it, and each launch waits for the event",
  },
  beyond: {
    kind: "refuses",
    simulated: "refuses to map memory, or to unmap a range, that reaches beyond its reservation",
    real: "does it where the addresses behind allow it",
  },
  numbers: {
    kind: "answers",
    simulated: "describes a device of round numbers, called Simulated",
    real: "describes the device",
    calls: [
      "cuDeviceGetName",
      "cuDeviceGetUuid_v2",
      "cuDeviceTotalMem_v2",
      "cuDeviceGetAttribute",
      "cuDeviceGetPCIBusId",
      "cuMemGetInfo_v2",
      "cuEventElapsedTime",
    ],
  },
  uncompiled: {
    kind: "answers",
    simulated: "reads the version and the target of PTX; kernels are functions in JavaScript",
    real: "compiles PTX, and refuses programs with mistakes",
    calls: ["cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryGetKernel"],
    statuses: [[218, 0]],
  },
  progress: {
    kind: "answers",
    simulated: "runs queued work only when a call asks for it, one piece for each question",
    real: "runs it meanwhile, so that a question is answered by 0 or 600, and a pool holds less",
    calls: ["cuStreamQuery", "cuEventQuery", "cuEventElapsedTime", "cuMemPoolGetAttribute"],
    statuses: [[0, 600], [600, 0]],
    outputs: true,
  },
  neighbours: {
    kind: "answers",
    simulated: "keeps each managed block's hints, and each page-locked block's flags, for itself",
    real: "shares pages between small blocks, so that those of one show on the next",
    calls: ["cuMemRangeGetAttribute", "cuMemHostGetFlags"],
    outputs: true,
  },
} as const satisfies Record<string, Strictness>;

/**
 * Name of a wanted difference.
 *
 * @internal
 */
export type Rule = keyof typeof STRICTER;
