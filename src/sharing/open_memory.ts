// Opens the memory of tickets: an allocation by its handle, or a pool, received over a socket, and
// then an allocation of it.

import { CUipcMem_flags } from "../../ffi/constants.ts";
import { CUmemPoolPtrExportData } from "../../ffi/structs.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { releaseAll, tryRelease } from "../driver/release.ts";
import { DriverPool } from "../memory/driver_pool.ts";
import { pointerAttributes } from "../memory/pointer_attributes.ts";
import { CudaEvent } from "../order/event.ts";
import {
  type EventTicket,
  isPoolTicket,
  type MemoryTicket,
  type PoolTicket,
  readEventTicket,
} from "../ticket.ts";
import { finished } from "../words/finished.ts";
import { OptionSet, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import { OpenedMemory } from "./opened_memory.ts";
import { askForPool, type OpenWaiting, type PoolConnection } from "./pool_client.ts";
import { cannotOpen, refusedHandle, refusedPool, requireDevice } from "./refusals.ts";

/**
 * Opens the memory of a ticket, or finds it open already; the caller must release it.
 *
 * @throws TicketError when it belongs to another device or to this process, or does not exist.
 */
export async function openMemory(
  context: Context,
  ticket: MemoryTicket,
  waiting: OpenWaiting,
): Promise<OpenedMemory> {
  requireDevice(context, ticket, "open");
  const memory = isPoolTicket(ticket)
    ? await openFromPool(context, ticket, waiting)
    : openAllocation(context, ticket);
  const { byteLength } = memory.fields;
  if (ticket.offset + ticket.byteLength <= byteLength) return memory;
  memory.letGo();
  throw cannotOpen(
    "length",
    `it names ${ticket.byteLength} bytes at ${ticket.offset}, the allocation has ${byteLength}`,
  );
}

function openAllocation(context: Context, { handle, pid }: MemoryTicket): OpenedMemory {
  const found = OpenedMemory.find(context, handle);
  if (found !== undefined) return found;
  const { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS } = CUipcMem_flags;
  const address = openHandle({ pid, what: "memory" }, () => {
    const bytes = Uint8Array.fromHex(handle);
    return take64(context, "cuIpcOpenMemHandle_v2", bytes, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  });
  const close = () => context.giveBack("cuIpcCloseMemHandle", address);
  return adopt(context, { key: handle, address, close });
}

async function openFromPool(
  context: Context,
  ticket: PoolTicket,
  waiting: OpenWaiting,
): Promise<OpenedMemory> {
  const { socket, key: word, handle, pid } = ticket;
  const key = `${socket} ${word}`;
  const found = OpenedMemory.find(context, key);
  if (found !== undefined) return found;
  using rest = new DisposableStack();
  const connection = rest.use(await askForPool(context, ticket, waiting));
  // While this call waited, another one may have opened the same ticket.
  const since = OpenedMemory.find(context, key);
  if (since !== undefined) return since;
  const pool = importPool(context, ticket, connection);
  rest.defer(() => pool.letGo());
  const address = openHandle({ pid, what: "memory" }, () => {
    const data = CUmemPoolPtrExportData.encode({ reserved: Uint8Array.fromHex(handle) });
    return take64(context, "cuMemPoolImportPointer", pool.handle, data);
  });
  // The other process frees the memory when the connection is closed, so that comes after the free
  // here.
  const held = rest.move();
  const close = () =>
    releaseAll(context.driver, "memory of another process", [
      () => context.giveBack("cuMemFree_v2", address),
      () => held.dispose(),
    ]);
  return adopt(context, { key, address, close });
}

/** Opens what a ticket names; the driver's refusal becomes an error about the ticket. */
function openHandle(about: Parameters<typeof refusedHandle>[1], open: () => bigint): bigint {
  try {
    return open();
  } catch (error) {
    throw refusedHandle(error, about);
  }
}

/** Makes the record of opened memory; closes the memory again on failure. */
function adopt(
  context: Context,
  fields: {
    readonly key: string;
    readonly address: bigint;
    readonly close: () => void;
  },
): OpenedMemory {
  try {
    const { remainingBytes: byteLength } = pointerAttributes(context, fields.address);
    if (byteLength !== undefined && byteLength !== Infinity) {
      return new OpenedMemory({ ...fields, context, byteLength });
    }
    throw cannotOpen("length", "the driver does not tell how large its memory is");
  } catch (error) {
    tryRelease(context.driver, "memory of another process", fields.close);
    throw error;
  }
}

/** A pool of another process, imported once, and destroyed with the last of its memory here. */
interface ImportedPool {
  readonly handle: bigint;
  keep(): void;
  letGo(): void;
}

const imported = new WeakMap<Context, Map<string, ImportedPool>>();

function importPool(
  context: Context,
  { socket }: PoolTicket,
  { answer, descriptor }: PoolConnection,
): ImportedPool {
  const pools = imported.getOrInsertComputed(context, () => new Map());
  const key = `${socket} ${answer.pool}`;
  const known = pools.get(key);
  if (known !== undefined) {
    known.keep();
    return known;
  }
  let pool: DriverPool;
  try {
    pool = DriverPool.import(context, descriptor);
  } catch (error) {
    throw refusedPool(error);
  }
  finished(pool, () => {
    if (!pool.openTo(context)) throw cannotOpen("gone", "its pool gives this device no access");
  });
  let holders = 1;
  const record = {
    handle: pool.handle,
    keep: () => void holders++,
    letGo() {
      if (--holders > 0) return;
      pools.delete(key);
      pool.dispose();
    },
  };
  pools.set(key, record);
  return record;
}

/** Options for {@link CudaDevice.openEvent}. */
export interface OpenEventOptions {
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

const OPEN_EVENT_OPTIONS = new OptionSet<OpenEventOptions>({ label: TEXT });

/**
 * Opens the event of a ticket (cuIpcOpenEventHandle).
 *
 * @throws TicketError when it is not a ticket, is one of another device or of this process, or nothing is
 *   there.
 */
export function openEvent(
  context: Context,
  given: string | EventTicket,
  options: OpenEventOptions,
): CudaEvent {
  const { label } = OPEN_EVENT_OPTIONS.read(options, "openEvent");
  const ticket = readEventTicket(given);
  requireDevice(context, ticket, "open");
  const handle = openHandle({ pid: ticket.pid, what: "event" }, () => {
    return take64(context, "cuIpcOpenEventHandle", Uint8Array.fromHex(ticket.handle));
  });
  return new CudaEvent(new Parts({ context, handle, shareable: true, label }));
}
