// Buffers over memory of another process, and over memory that another Worker has handed over.

import { DeviceBuffer } from "../buffers/device_buffer.ts";
import { PLACE_KINDS, type PlaceOptions } from "../buffers/place_options.ts";
import type { Context } from "../driver/context.ts";
import { DTYPE, type DType } from "../dtype.ts";
import { Allocation } from "../memory/allocation.ts";
import { ForeignMemoryResource } from "../memory/foreign_memory_resource.ts";
import { DEVICE_ONLY } from "../memory/pointer_attributes.ts";
import { requireNoCapture } from "../order/capture.ts";
import type { CudaStream } from "../order/stream.ts";
import { streamOn } from "../order/stream_choice.ts";
import { type HandedOver, takeOverMemory } from "../sharing/hand_over.ts";
import { openMemory } from "../sharing/open_memory.ts";
import type { OpenedMemory } from "../sharing/opened_memory.ts";
import { type MemoryTicket, readMemoryTicket } from "../ticket.ts";
import { NUMBER, OptionSet, SIGNAL } from "../words/options.ts";
import { Parts } from "../words/parts.ts";

/** Options for {@link CudaDevice.open}. */
export interface OpenTicketOptions extends PlaceOptions {
  /** The longest wait for a process that shares a pool; 10 by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Ends the wait for that process. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a ticket, with the expected element type. */
type OpenTypedOptions = OpenTicketOptions & { readonly dtype?: DType | undefined };

const OPEN_TICKET_OPTIONS = new OptionSet<OpenTypedOptions>({
  ...PLACE_KINDS,
  dtype: DTYPE,
  timeoutSeconds: NUMBER,
  signal: SIGNAL,
});

/** Options for {@link CudaDevice.takeOver}. */
export interface TakeOverOptions extends PlaceOptions {
  /** Name shown in tables and errors; the one that it had before by default. */
  readonly label?: string | undefined;
}

const TAKE_OVER_OPTIONS = new OptionSet<TakeOverOptions>(PLACE_KINDS);

const TIMEOUT_SECONDS = 10;

/**
 * Opens a ticket.
 *
 * @throws TicketError when it is not a ticket, belongs to another device or to this process, or its
 *   memory is gone.
 * @throws TypeError when its elements are not of the expected type.
 */
export async function openTicket(
  context: Context,
  given: string | MemoryTicket,
  options: OpenTypedOptions,
): Promise<DeviceBuffer> {
  options = OPEN_TICKET_OPTIONS.read(options, "open");
  const { timeoutSeconds = TIMEOUT_SECONDS, signal, label, dtype } = options;
  if (!(timeoutSeconds >= 0)) {
    throw new RangeError(`Cannot wait ${timeoutSeconds} seconds: expected 0 or more`);
  }
  requireNoCapture("open a ticket");
  const ticket = readMemoryTicket(given);
  if (dtype !== undefined && ticket.dtype !== dtype) {
    throw new TypeError(`Cannot open the ticket as ${dtype}: its memory is ${ticket.dtype}`);
  }
  const stream = streamOn(context, options, "memory");
  context.retain(); // the device may be closed while this waits
  try {
    const memory = await openMemory(context, ticket, { signal, timeoutSeconds });
    try {
      return show(memory, ticket, { stream, label });
    } catch (error) {
      memory.letGo();
      throw error;
    }
  } finally {
    context.release();
  }
}

/**
 * Takes over memory of another Worker.
 *
 * @throws TicketError when another Worker has taken it already.
 */
export function takeOver(
  context: Context,
  given: HandedOver,
  options: TakeOverOptions,
): DeviceBuffer {
  options = TAKE_OVER_OPTIONS.read(options, "takeOver");
  requireNoCapture("take over memory");
  const stream = streamOn(context, options, "memory");
  const { allocation, handed } = takeOverMemory(context, given, { stream, label: options.label });
  const { dtype, shape } = handed;
  return new DeviceBuffer(new Parts({ allocation, dtype, shape: Object.freeze(shape) }));
}

function show<D extends DType>(
  memory: OpenedMemory,
  ticket: MemoryTicket<D>,
  { stream, label }: { readonly stream: CudaStream; readonly label: string | undefined },
): DeviceBuffer<D> {
  const { context, address } = memory.fields;
  const { offset, byteLength, dtype, shape } = ticket;
  const deallocate = () => memory.letGo();
  const resource = new ForeignMemoryResource(context, { attributes: DEVICE_ONLY, deallocate });
  const block = { kind: "imported", byteLength, resource, stream, label, lender: memory } as const;
  const allocation = new Allocation(block, address + BigInt(offset));
  return new DeviceBuffer<D>(new Parts({ allocation, dtype, shape: Object.freeze(shape) }));
}
