// Opens events of other processes.

import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { CudaEvent } from "../order/event.ts";
import { type EventTicket, readEventTicket } from "../ticket.ts";
import { OptionSet, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import { refusedHandle, requireDevice } from "./refusals.ts";

/** Options for {@link CudaDevice.openEvent}. */
export interface OpenEventOptions {
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

/** Checks the options above. */
export const OPEN_EVENT_OPTIONS: OptionSet<OpenEventOptions> = new OptionSet({ label: TEXT });

/**
 * Opens the event of a ticket (cuIpcOpenEventHandle).
 *
 * @throws TicketError when it is not a ticket, is one of another device or of this process, or nothing is
 *   there.
 */
export function openEvent(
  context: Context,
  given: string | EventTicket,
  { label }: OpenEventOptions,
): CudaEvent {
  const ticket = readEventTicket(given);
  requireDevice(context, ticket, "open");
  let handle: bigint;
  try {
    handle = take64(context, "cuIpcOpenEventHandle", Uint8Array.fromHex(ticket.handle));
  } catch (error) {
    throw refusedHandle(error, { pid: ticket.pid, what: "event" });
  }
  return new CudaEvent(new Parts({ context, handle, shareable: true, label }));
}
