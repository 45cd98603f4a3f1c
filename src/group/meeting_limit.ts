// The parts of a handshake that both sides share: its inputs, its time limit, and its errors.

import { visibleText } from "../words/format.ts";
import { timerMilliseconds, within } from "../words/timer.ts";
import { GroupError } from "./group_error.ts";
import type { GroupLink } from "./group_link.ts";
import type { Introduction } from "./handshake.ts";
import { type Appointment, formatPlace, type MeetingPlace } from "./rendezvous_address.ts";

/** The call, for errors. */
export const CALL = "joinGroup";

/** The longest silence of a process that connects. */
export const MAX_SILENCE_MILLISECONDS = 5000;

/** Pause before the next attempt to reach rank 0, or to listen. */
const RETRY_MILLISECONDS = 100;

/** Ranks that a message names at most. */
const MAX_NAMES = 8;

/** The parts that a process brings to the handshake. */
export interface MeetingFields {
  /** The meeting place, with this process's rank and the number of ranks. */
  readonly appointment: Appointment;
  /** This process's description of itself. */
  readonly introduction: Introduction;
  /** Makes NCCL's id of the group; called on rank 0 when all ranks are there. */
  readonly createId: () => Uint8Array<ArrayBuffer>;
  /** Longest time for the handshake. */
  readonly timeoutSeconds: number;
  /** Ends the handshake. */
  readonly signal: AbortSignal | undefined;
}

/** The parts that all processes have after it. */
export interface Met {
  readonly link: GroupLink;
  /** NCCL's name for the group. */
  readonly id: Uint8Array<ArrayBuffer>;
}

/** The end of a handshake, by its time or its signal. */
export class Limit {
  /** Resolves with the reason when it is over. */
  readonly over: Promise<"timeout" | "signal">;
  readonly #endsAt: number;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #stop: () => void;

  constructor({ timeoutSeconds, signal }: MeetingFields) {
    const { promise, resolve } = Promise.withResolvers<"timeout" | "signal">();
    this.over = promise;
    this.#endsAt = performance.now() + timeoutSeconds * 1000;
    this.#signal = signal;
    this.#stop = () => resolve("signal");
    this.#timer = setTimeout(() => resolve("timeout"), timerMilliseconds(1000 * timeoutSeconds));
    signal?.addEventListener("abort", this.#stop);
  }

  get reason(): "timeout" | "signal" | undefined {
    if (this.#signal?.aborted === true) return "signal";
    return performance.now() >= this.#endsAt ? "timeout" : undefined;
  }

  get left(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Waits before the next attempt; returns early when the limit is over. */
  async pause(): Promise<void> {
    await within(Math.min(RETRY_MILLISECONDS, this.left), this.over);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#stop);
  }
}

/** Names the missing ranks, with the verb. */
export function absent(ranks: readonly number[], size: number): string {
  const words = ranks.slice(0, MAX_NAMES).map((rank) => `rank ${rank}`).join(", ");
  const more = ranks.length - MAX_NAMES;
  const all = more > 0 ? `${words} and ${more} others` : words;
  return `${all} of ${size} ${ranks.length === 1 ? "has" : "have"}`;
}

/** Creates the error for an aborted signal. */
export function stopped(place: MeetingPlace, signal: AbortSignal | undefined): GroupError {
  return new GroupError(
    `Cannot join the group at ${formatPlace(place)}: its signal was aborted`,
    { reason: "signal", call: CALL, cause: signal?.reason },
  );
}

/** Shortens a text of another process for a message. */
export function shortened(words: unknown): string {
  return visibleText(String(words).slice(0, 1000));
}
