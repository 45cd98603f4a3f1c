// The handshake of a group's processes, after which each has a connection to rank 0 and NCCL's name for the
// group.

import { VERSION } from "../words/version.ts";
import { arrive } from "./arrival.ts";
import { type Introduction, Secret } from "./handshake.ts";
import { Limit, type MeetingFields, type Met } from "./meeting_limit.ts";
import { Reception } from "./reception.ts";
import type { Appointment } from "./rendezvous_address.ts";

/**
 * Meets the processes of a group.
 *
 * @throws GroupError when a rank does not come in time, this one is refused, or the signal is aborted.
 */
export async function meet(fields: MeetingFields): Promise<Met> {
  using limit = new Limit(fields);
  const secret = await Secret.of(fields.appointment.token);
  const { rank } = fields.appointment;
  return rank === 0
    ? await new Reception(fields, secret, limit).gather()
    : await arrive(fields, secret, limit);
}

/** Returns a process's description of itself. */
export function introductionOf(
  { rank, size }: Appointment,
  { device, nccl, isSimulated }: Pick<Introduction, "device" | "nccl" | "isSimulated">,
): Introduction {
  return { kit: VERSION, nccl, size, rank, pid: Deno.pid, device, isSimulated };
}
