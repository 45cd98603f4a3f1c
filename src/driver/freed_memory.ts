// Memory that was freed in the order of streams and is not back yet. The driver's pools notice that a
// free is done only in a call that synchronises something behind it, never by queries or with time.

export interface FreeingStream {
  /** Bytes freed on it that pools have not given back. */
  readonly freedBytes: number;
  /** Has pools notice the frees, if the GPU is done with the stream's work; never waits for that. */
  noticeFrees(): void;
  /** Blocks until the GPU is done with the stream's work, and has pools notice the frees. */
  waitForFrees(): void;
  /** Takes note that pools have noticed the frees. */
  forgetFrees(): void;
  /** Runs an action, which never throws, once pools have noticed the frees. */
  afterFrees(action: () => void): void;
}

/** The streams of a context on which memory was freed that is not back yet. */
export class FreedMemory {
  readonly streams: Set<FreeingStream> = new Set();
  /** Bytes that were freed and are not back yet; the streams count them. */
  byteLength = 0;
  /** Number of those that wait for pools to notice frees, however little was freed. */
  awaitedCount = 0;

  /** Has pools give back what the GPU is done with; does not wait. */
  notice(): void {
    for (const stream of this.streams) stream.noticeFrees();
  }

  /** Blocks until the GPU is done with the stream on which most was freed; false when there is none. */
  waitForMost(): boolean {
    const [most] = [...this.streams].sort((a, b) => b.freedBytes - a.freedBytes);
    most?.waitForFrees();
    return most !== undefined;
  }

  /** Runs an action, which never throws, once pools have noticed all that was freed so far. */
  afterAll(action: () => void): void {
    let unnoticedCount = this.streams.size;
    if (unnoticedCount === 0) return action();
    const note = () => void (--unnoticedCount === 0 && action());
    for (const stream of this.streams) stream.afterFrees(note);
  }

  /** Takes note that the host has waited for the whole context, which tells all pools. */
  forget(): void {
    for (const stream of this.streams) stream.forgetFrees();
  }
}
