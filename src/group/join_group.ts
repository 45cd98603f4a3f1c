// joinGroup(): processes with a rank each, on one machine or several, meet and start NCCL together.

import { deviceUuid } from "../driver/device_uuid.ts";
import { requireNoCapture } from "../order/capture.ts";
import { Parts } from "../words/parts.ts";
import { VERSION } from "../words/version.ts";
import { arrive } from "./arrival.ts";
import { checkTimeout, DEFAULT_TIMEOUT_SECONDS, DeviceGroup } from "./device_group.ts";
import { GroupError } from "./group_error.ts";
import { JOIN_OPTIONS, type JoinOptions } from "./group_options.ts";
import { Secret } from "./handshake.ts";
import { Limit, type MeetingFields, type Met } from "./meeting_limit.ts";
import { Nccl } from "./nccl.ts";
import { ProcessGroup } from "./process_group.ts";
import { Reception } from "./reception.ts";
import { readAppointment } from "./rendezvous_address.ts";

/** The name of the first group on its connections; names of groups made from it begin with it. */
const FIRST_GROUP = "0";

/**
 * Joins a group of several processes over NVIDIA's NCCL, each with one rank and one device, on one
 * machine or several. All of them call it with the same rendezvous, size and token; it resolves when all
 * have joined. Meanwhile rank 0 listens at the rendezvous, and the others connect to it.
 *
 * Versions of this kit and of NCCL, sizes, ranks, devices and the token are compared before NCCL starts.
 * NCCL then opens sockets of its own, which are outside of Deno's permissions and which the token does not
 * protect: `docs/several_gpus.md` says more.
 *
 * @throws TypeError and RangeError for invalid options.
 * @throws CudaUnavailableError when there is no NCCL.
 * @throws GroupError when a rank does not join in time (the message names it), this process is refused,
 *   the signal is aborted, or NCCL cannot start.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { joinGroup } from "vramkit/group";
 *
 * using gpu = CudaDevice.open(0, { driver: "simulated" });
 * await using group = await joinGroup({
 *   rendezvous: "tcp://127.0.0.1:4100",
 *   rank: 0,
 *   size: 1, // with more, each process passes its rank
 *   token: "the same long secret in all processes",
 *   device: gpu,
 * });
 * using gradients = gpu.iota("float32", 4);
 * await group.allReduce(gradients, { op: "avg" });
 * console.log(await gradients.download()); // Float32Array(4) [0, 1, 2, 3]
 * ```
 */
export async function joinGroup(options: JoinOptions): Promise<DeviceGroup> {
  options = JOIN_OPTIONS.read(options, "joinGroup");
  const { rendezvous, device, signal, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
  if (rendezvous === undefined) {
    throw new TypeError('Cannot join a group: pass { rendezvous }, such as "tcp://10.0.0.1:4100"');
  }
  if (device === undefined) throw new TypeError("Cannot join a group: pass { device }");
  checkTimeout(timeoutSeconds, "joinGroup");
  const appointment = readAppointment(options);
  requireNoCapture("join a group");
  const { context } = device;
  const nccl = Nccl.open(context.driver);
  const { rank, size } = appointment;
  if (signal?.aborted === true) {
    throw new GroupError("Cannot join the group: its signal was aborted", {
      reason: "signal",
      call: "joinGroup",
      cause: signal.reason,
    });
  }
  const introduction = {
    kit: VERSION,
    nccl: nccl.version,
    size,
    rank,
    pid: Deno.pid,
    device: deviceUuid(context),
    isSimulated: context.driver.isSimulated,
  };
  context.retain(); // the device may be disposed meanwhile
  try {
    const startedAt = performance.now();
    const createId = () => nccl.createId();
    const fields = { appointment, introduction, createId, timeoutSeconds, signal };
    const { link, id } = await meet(fields);
    const leftSeconds = timeoutSeconds - (performance.now() - startedAt) / 1000;
    const processes = new ProcessGroup({
      link,
      id: FIRST_GROUP,
      ranks: Array.from({ length: size }, (_, each) => each),
      rank,
      nccl,
      device,
    });
    const group = await processes.start(id, {
      options: { ...options, timeoutSeconds },
      leftSeconds: Math.max(leftSeconds, 1),
    });
    return new DeviceGroup(new Parts(group));
  } finally {
    context.release();
  }
}

/** Connects this process with the others, as rank 0 or as another rank. */
async function meet(fields: MeetingFields): Promise<Met> {
  using limit = new Limit(fields);
  const { rank, token } = fields.appointment;
  const secret = await Secret.of(token);
  return rank === 0
    ? await new Reception(fields, secret, limit).gather()
    : await arrive(fields, secret, limit);
}
