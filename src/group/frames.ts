// Messages on a connection between processes of a group: a record, and bytes with it. Sizes are
// checked before memory is allocated for them, because the other end may be anything.

import { isRecord } from "../words/options.ts";

export interface Frame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Limits for the size of a message. */
export interface FrameLimits {
  /** The most bytes of its record, as JSON. */
  readonly headBytes: number;
  /** The most bytes that come with it. */
  readonly bytes: number;
}

export const STRANGER: FrameLimits = { headBytes: 16 << 10, bytes: 0 };

/** Limits for a rank of the group. */
export const MEMBER: FrameLimits = { headBytes: 8 << 20, bytes: 1 << 30 };

/** The first bytes of a message, which distinguish it from other protocols. */
const MAGIC = new TextEncoder().encode("vkG1");

/** Bytes before the record: the magic word and two lengths. */
const PREFIX_BYTES = 12;

/** Bytes allocated at first for a message. */
const FIRST_ROOM_BYTES = 64 << 10;

const NOTHING = new Uint8Array();

export class FrameConnection {
  /** Limits of what the other end may send. */
  limits: FrameLimits;
  readonly #connection: Deno.Conn;
  #sending: Promise<void> = Promise.resolve();
  #unsentCount = 0;
  #isClosed = false;

  /** Adopts a connection, which does not keep the program running. */
  constructor(connection: Deno.Conn, limits: FrameLimits) {
    this.#connection = connection;
    this.limits = limits;
    (connection as Partial<Deno.TcpConn>).unref?.();
  }

  /** The address of the other end; undefined where it has none. */
  get address(): string | undefined {
    const { remoteAddr } = this.#connection;
    return "hostname" in remoteAddr ? remoteAddr.hostname : undefined;
  }

  /** Tells whether it was closed, or could not be written to. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Tells whether messages wait until the other end takes them. */
  get isBehind(): boolean {
    return this.#unsentCount > 0;
  }

  /** Sends a message after those before it; a failure closes the connection. */
  send(head: Readonly<Record<string, unknown>>, bytes: Uint8Array<ArrayBuffer> = NOTHING): void {
    if (this.#isClosed) return;
    const record = new TextEncoder().encode(JSON.stringify(head));
    const message = new Uint8Array(PREFIX_BYTES + record.byteLength + bytes.byteLength);
    message.set(MAGIC);
    const view = new DataView(message.buffer);
    view.setUint32(4, record.byteLength);
    view.setUint32(8, bytes.byteLength);
    message.set(record, PREFIX_BYTES);
    message.set(bytes, PREFIX_BYTES + record.byteLength);
    this.#unsentCount++;
    this.#sending = this.#sending.then(() => this.#write(message)).then(() => {
      this.#unsentCount--;
    }, () => this.close());
  }

  /** Resolves when all messages so far are sent, or cannot be. */
  sent(): Promise<void> {
    return this.#sending;
  }

  /** Reads the next message; undefined at the end of the connection, and for other bytes. */
  async next(): Promise<Frame | undefined> {
    try {
      const prefix = await this.#read(PREFIX_BYTES);
      if (MAGIC.some((byte, at) => prefix[at] !== byte)) return undefined;
      const view = new DataView(prefix.buffer, prefix.byteOffset);
      const [headLength, byteLength] = [view.getUint32(4), view.getUint32(8)];
      if (headLength > this.limits.headBytes || byteLength > this.limits.bytes) return undefined;
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await this.#read(headLength));
      const head: unknown = JSON.parse(text);
      if (!isRecord(head)) return undefined;
      return { head, bytes: byteLength === 0 ? NOTHING : await this.#read(byteLength) };
    } catch {
      return undefined; // closed, reset by the other end, or no JSON
    }
  }

  /**
   * Stops sending, once everything is sent; the other end may still send. Closing at once would make the
   * system discard messages that the other end has not read.
   */
  async finish(): Promise<void> {
    await this.#sending;
    if (this.#isClosed) return;
    try {
      await (this.#connection as Deno.TcpConn).closeWrite();
    } catch {
      this.close(); // the other end is gone
    }
  }

  /** Closes it; a second time does nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#connection.close();
    } catch {
      // the other end has closed it
    }
  }

  async #read(byteLength: number): Promise<Uint8Array<ArrayBuffer>> {
    // Memory grows as bytes arrive, because claiming a length costs the sender nothing.
    let result = new Uint8Array(Math.min(byteLength, FIRST_ROOM_BYTES));
    for (let done = 0; done < byteLength;) {
      if (done === result.byteLength) {
        result = new Uint8Array(result.buffer.transfer(Math.min(byteLength, done * 2)));
      }
      const count = await this.#connection.read(result.subarray(done));
      if (count === null) throw new Error("the connection has ended");
      done += count;
    }
    return result;
  }

  async #write(message: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let done = 0; done < message.byteLength;) {
      done += await this.#connection.write(message.subarray(done));
    }
  }
}
