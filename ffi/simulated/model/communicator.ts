// Communicators of a simulated NCCL: the ranks that found each other under one name, each on a device.

import type { NcclWire } from "../../own_parts.ts";
import type { Context } from "./context.ts";
import type { Operation } from "./stream.ts";

/** Memory that a communicator takes on its device. */
const COMMUNICATOR_BYTES = 8 << 20;

export class Clique {
  readonly size: number;
  readonly members: Communicator[] = [];
  /** A rank was aborted: work that waits for others ends, and moves no bytes. */
  isAborted = false;
  /** The ranks in other processes; undefined when all are in this one. */
  readonly remote: RemoteRanks | undefined;

  /** Makes a clique whose ranks are still to come. */
  constructor(size: number, remote?: RemoteRanks) {
    this.size = size;
    this.remote = remote;
  }

  /** Tells whether every rank that was there has ended. */
  get isOver(): boolean {
    return !this.members.some(({ isOpen }) => isOpen);
  }
}

export class Communicator {
  readonly handle: bigint;
  readonly clique: Clique;
  readonly rank: number;
  readonly context: Context;
  /** Status that a question for an error returns. */
  asyncStatus = 0;
  /** It was neither destroyed nor aborted. */
  isOpen = true;
  /** Work that was queued and may not be done. */
  readonly #queued = new Set<Operation>();
  /** Its calls return only when they are done. */
  readonly isBlocking: boolean;
  /** Continues a call that returned before it was done; returns whether it is done now. */
  inProgress: (() => boolean) | undefined;
  /** An error of its queued work that nobody was told of yet. */
  fault: { readonly error: unknown } | undefined;
  isFinal = false;
  /** Number of its calls so far, by what they are compared with. */
  readonly callCounts: Map<string, number> = new Map();

  /** Takes memory on the device; throws when there is too little. */
  constructor(
    clique: Clique,
    fields: { handle: bigint; rank: number; context: Context; isBlocking?: boolean },
  ) {
    this.isBlocking = fields.isBlocking ?? true;
    this.handle = fields.handle;
    this.clique = clique;
    this.rank = fields.rank;
    this.context = fields.context;
    this.context.device.charge(COMMUNICATOR_BYTES);
    clique.members.push(this);
  }

  /** Notes work that was queued, and forgets what is done by now. */
  note(operation: Operation): void {
    for (const earlier of this.#queued) {
      if (!earlier.isDone) break;
      this.#queued.delete(earlier);
    }
    this.#queued.add(operation);
  }

  /** Throws the error of its queued work, once. */
  throwFault(): void {
    const { fault } = this;
    this.fault = undefined;
    if (fault !== undefined) throw fault.error;
  }

  /** Tells whether work that was queued is still to be done. */
  get isBusy(): boolean {
    for (const operation of this.#queued) if (operation.isDone) this.#queued.delete(operation);
    return this.#queued.size > 0;
  }

  /** Ends it; the last one of a clique gives back what all ranks hold. */
  close(): void {
    this.isOpen = false;
    const ended = this.clique.isOver ? this.clique.members.splice(0) : [];
    for (const { context } of ended) context.device.discharge(COMMUNICATOR_BYTES);
  }
}

/** The parts that a rank brings to a call. */
export interface Arrival {
  /** The call in words, which must be the same on all ranks. */
  readonly words: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const LINE_END = 10;

/** The connection to other processes, and the messages from there. */
export class RemoteRanks {
  readonly #wire: NcclWire;
  readonly #arrivals = new Map<string, Arrival>();

  constructor(wire: NcclWire) {
    this.#wire = wire;
  }

  send(rank: number, call: string, { words, bytes }: Arrival): void {
    const head = new TextEncoder().encode(`${JSON.stringify([call, words])}\n`);
    const message = new Uint8Array(head.byteLength + bytes.byteLength);
    message.set(head);
    message.set(bytes, head.byteLength);
    this.#wire.send(rank, message);
  }

  receive(rank: number, message: Uint8Array<ArrayBuffer>): void {
    const end = message.indexOf(LINE_END);
    const [call, words] = JSON.parse(new TextDecoder().decode(message.subarray(0, end)));
    this.keep(rank, call, { words, bytes: message.slice(end + 1) });
  }

  keep(rank: number, call: string, arrival: Arrival): void {
    this.#arrivals.set(`${rank} ${call}`, arrival);
  }

  has(rank: number, call: string): boolean {
    return this.#arrivals.has(`${rank} ${call}`);
  }

  /** Returns a rank's part of a call, and forgets it. */
  take(rank: number, call: string): Arrival | undefined {
    const name = `${rank} ${call}`;
    const arrival = this.#arrivals.get(name);
    this.#arrivals.delete(name);
    return arrival;
  }
}
