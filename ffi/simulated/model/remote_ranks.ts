// The ranks of a clique that are in other processes: what they have sent, by call. A message is a line
// of JSON, and the bytes of the rank.

import type { NcclWire } from "../../nccl_library.ts";

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

  /** Sends this process's part of a call. */
  send(rank: number, call: string, { words, bytes }: Arrival): void {
    const head = new TextEncoder().encode(`${JSON.stringify([call, words])}\n`);
    const message = new Uint8Array(head.byteLength + bytes.byteLength);
    message.set(head);
    message.set(bytes, head.byteLength);
    this.#wire.send(rank, message);
  }

  /** Takes a message of a rank. */
  receive(rank: number, message: Uint8Array<ArrayBuffer>): void {
    const end = message.indexOf(LINE_END);
    const [call, words] = JSON.parse(new TextDecoder().decode(message.subarray(0, end)));
    this.keep(rank, call, { words, bytes: message.slice(end + 1) });
  }

  /** Notes a rank's part of a call. */
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
