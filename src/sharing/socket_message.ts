// A message of a socket in the C library's form, with descriptors beside its bytes. The keeper's program has
// this class as text, so it uses only what it is given, and its functions are methods.

/** The system, as a message needs it. */
export interface MessageSystem {
  /** Returns the address of an array: memcpy of 0 bytes. */
  readonly addressOf: (array: BufferSource, same: BufferSource, byteLength: bigint) => bigint;
  readonly SOL_SOCKET: number;
  readonly SCM_RIGHTS: number;
}

interface MessageFields {
  /** Its bytes, or room for them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Descriptors to send with them. */
  readonly descriptors?: readonly number[];
  /** The most descriptors that it can receive; the system closes those that do not fit. */
  readonly room?: number;
}

/** A message to send or to fill; sizes and offsets are those of sys/socket.h and sys/uio.h for 64 bits. */
export class SocketMessage {
  /** The `struct msghdr`, which points to the rest. */
  readonly head: Uint8Array<ArrayBuffer> = new Uint8Array(56);
  readonly #system: MessageSystem;
  /** The `struct cmsghdr` and the descriptors behind it. */
  readonly #control: DataView<ArrayBuffer>;
  /** Kept here, because the head has only its address: a `struct iovec`, and the bytes. */
  readonly kept: readonly [BigUint64Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];

  constructor(
    system: MessageSystem,
    { bytes, descriptors = [], room = descriptors.length }: MessageFields,
  ) {
    this.#system = system;
    const control = new DataView(new ArrayBuffer(room === 0 ? 0 : (16 + 4 * room + 7) & ~7));
    if (descriptors.length > 0) {
      control.setBigUint64(0, BigInt(16 + 4 * descriptors.length), true);
      control.setInt32(8, system.SOL_SOCKET, true);
      control.setInt32(12, system.SCM_RIGHTS, true);
    }
    for (const [at, descriptor] of descriptors.entries()) {
      control.setInt32(16 + 4 * at, descriptor, true);
    }
    const piece = new BigUint64Array([this.#addressOf(bytes), BigInt(bytes.byteLength)]);
    const head = new DataView(this.head.buffer);
    head.setBigUint64(16, this.#addressOf(piece), true);
    head.setBigUint64(24, 1n, true);
    head.setBigUint64(32, room === 0 ? 0n : this.#addressOf(control), true);
    head.setBigUint64(40, BigInt(control.byteLength), true);
    this.#control = control;
    this.kept = [piece, bytes];
  }

  /** Returns the descriptors that were received. */
  descriptors(): number[] {
    const { SOL_SOCKET, SCM_RIGHTS } = this.#system;
    const control = this.#control;
    const written = Number(new DataView(this.head.buffer).getBigUint64(40, true));
    const end = Math.min(control.byteLength, written);
    const found: number[] = [];
    for (let at = 0; at + 16 <= end;) {
      const byteLength = Number(control.getBigUint64(at, true));
      if (byteLength < 16) break;
      const isRights = control.getInt32(at + 8, true) === SOL_SOCKET &&
        control.getInt32(at + 12, true) === SCM_RIGHTS;
      for (let i = at + 16; isRights && i + 4 <= Math.min(end, at + byteLength); i += 4) {
        found.push(control.getInt32(i, true));
      }
      at += (byteLength + 7) & ~7;
    }
    return found;
  }

  #addressOf(array: BufferSource): bigint {
    return this.#system.addressOf(array, array, 0n);
  }
}
