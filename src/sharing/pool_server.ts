// The exporter's end of shared pools: it hands a pool to processes that have a ticket, and keeps the
// memory while one of them has it open. It polls between turns of the event loop, and does not keep
// the program running.

import { CUmemPoolPtrExportData } from "../../ffi/structs.ts";
import type { Driver } from "../driver/driver.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { DriverPool } from "../memory/driver_pool.ts";
import { closeDescriptor, LocalSocket } from "./local_socket.ts";
import { decodeRequest, encodeAnswer, randomWord } from "./pool_words.ts";

/** Time between two looks at the socket. */
const LOOK_MILLISECONDS = 10;

/** The longest silence of a process that connects. */
const MAX_SILENCE_MILLISECONDS = 5000;

/** The most connections that are heard at the same time; others wait to be accepted. */
const MAX_WAITING = 64;

/** The most connections of open memory that a look asks, in turn: each takes three microseconds. */
const MAX_ASKED = 64;

/** A block that tickets name. */
export interface Offer {
  readonly socket: string;
  /** The secret that opens it. */
  readonly key: string;
  /** The driver's description of the memory, as hexadecimal digits. */
  readonly handle: string;
}

interface Block {
  readonly allocation: Allocation;
  /** Start of the driver's allocation, of which the block may be a part. */
  readonly base: bigint;
  readonly pool: DriverPool;
}

interface OpenOffer extends Offer {
  readonly allocation: Allocation;
  readonly pool: SharedPool;
}

/** A pool with offered blocks, and its descriptor. */
interface SharedPool {
  readonly pool: DriverPool;
  readonly number: number;
  readonly descriptor: number;
}

/** Hands out pools under one name, as long as blocks are offered. */
class PoolServer {
  readonly name: string = `vramkit-${randomWord()}`;
  readonly #socket: LocalSocket = LocalSocket.listen(this.name);
  readonly offers: Map<string, OpenOffer> = new Map();
  readonly #pools = new Map<DriverPool, SharedPool>();
  /** Connections that have not sent anything, and since when. */
  readonly #waiting = new Map<LocalSocket, number>();
  /** Connections of processes that have memory open, and the memory. */
  readonly #leases = new Map<LocalSocket, OpenOffer>();
  readonly #timer = setInterval(() => this.look(), LOOK_MILLISECONDS);
  #poolCount = 0;

  constructor() {
    Deno.unrefTimer(this.#timer);
    globalThis.addEventListener("unload", this.#end);
  }

  /**
   * Stops listening, also at the end of the program: its process may go on, because `deno run --watch`
   * starts the program anew there, and who connects to the old socket would wait.
   */
  readonly #end = (): void => {
    globalThis.removeEventListener("unload", this.#end);
    clearInterval(this.#timer);
    for (const socket of [...this.#waiting.keys(), ...this.#leases.keys()]) socket.dispose();
    for (const { descriptor } of this.#pools.values()) closeDescriptor(descriptor);
    this.#socket.dispose();
    if (server === this) server = undefined;
  };

  offer(block: Block): Offer {
    const known = [...this.offers.values()].find(({ allocation }) =>
      allocation === block.allocation
    );
    const { socket, key, handle } = known ?? this.#add(block);
    return { socket, key, handle };
  }

  /** Answers requests, and releases blocks that nobody has open any more. */
  look(): void {
    while (this.#waiting.size < MAX_WAITING) {
      const next = this.#socket.accept();
      if (next === undefined) break;
      if (next.isOfSameUser) this.#waiting.set(next, performance.now());
      else next.dispose();
    }
    for (const [socket, since] of this.#waiting) this.#hear(socket, since);
    for (const [socket, offer] of this.#leases.entries().take(MAX_ASKED).toArray()) {
      const received = socket.receive();
      received?.descriptors.forEach(closeDescriptor);
      this.#leases.delete(socket);
      if (received === undefined) {
        this.#leases.set(socket, offer); // behind all others
        continue;
      }
      // Any message is the end: an opener has nothing more to send.
      socket.dispose();
      offer.allocation.letGo();
    }
    this.#tidy();
  }

  #add({ allocation, base, pool: source }: Block): OpenOffer {
    const pool = this.#share(source); // first: the driver refuses memory of a pool that nobody was given
    const data = CUmemPoolPtrExportData.encode({});
    allocation.context.call("cuMemPoolExportPointer", data, base);
    const handle = CUmemPoolPtrExportData.decode(data).reserved.toHex();
    const offer = { socket: this.name, key: randomWord(), handle, allocation, pool };
    this.offers.set(offer.key, offer);
    return offer;
  }

  #hear(socket: LocalSocket, since: number): void {
    const received = socket.receive();
    const isLate = performance.now() - since > MAX_SILENCE_MILLISECONDS;
    if (received === undefined && !isLate) return;
    this.#waiting.delete(socket);
    if (received === undefined) return socket.dispose();
    received.descriptors.forEach(closeDescriptor);
    const request = decodeRequest(received.bytes);
    const offer = request === undefined ? undefined : this.offers.get(request.key);
    if (offer === undefined || offer.handle !== request?.handle || offer.allocation.released) {
      if (!received.isEnd) socket.send(encodeAnswer({ isThere: false, pool: 0 }));
      return socket.dispose();
    }
    const { number, descriptor } = offer.pool;
    offer.allocation.keep();
    if (socket.send(encodeAnswer({ isThere: true, pool: number }), [descriptor])) {
      this.#leases.set(socket, offer);
      return;
    }
    socket.dispose();
    offer.allocation.letGo();
  }

  #share(pool: DriverPool): SharedPool {
    return this.#pools.getOrInsertComputed(
      pool,
      () => ({ pool, number: ++this.#poolCount, descriptor: pool.exportDescriptor() }),
    );
  }

  #tidy(): void {
    for (const [key, { allocation }] of this.offers) {
      if (allocation.released) this.offers.delete(key);
    }
    const used = new Set([...this.offers.values(), ...this.#leases.values()].map((o) => o.pool));
    for (const shared of this.#pools.values()) {
      if (used.has(shared)) continue;
      this.#pools.delete(shared.pool);
      closeDescriptor(shared.descriptor);
    }
    if (used.size === 0) this.#end();
  }
}

let server: PoolServer | undefined;

/** Offers a block of a pool to processes that know its key, the same each time. */
export function offerBlock(block: Block): Offer {
  server ??= new PoolServer();
  try {
    return server.offer(block);
  } finally {
    server?.look(); // ends at once when there is nothing to offer after all
  }
}

/** Returns whether a block was offered here, by the same driver. */
export function isOfferedHere(key: string, driver: Driver): boolean {
  return server?.offers.get(key)?.allocation.context.driver === driver;
}

/** Returns whether a block was offered here, by any driver: tests have several in one process. */
export function isOfferedInThread(key: string): boolean {
  return server?.offers.has(key) === true;
}
