// Copies each device's share of an array to all others over the links between them, so that the
// bytes cross the host's bus once, however many devices there are.

import type { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { partOf, queueCopyNow } from "../copies/copy.ts";
import { peerRoute } from "../copies/peer_link.ts";
import { defaultStreamOf } from "../order/stream.ts";
import type { FollowingWork } from "../transfer/host_transfer.ts";

/** One device's share of the whole. */
export interface Share {
  /** Place of the device in the list. */
  readonly rank: number;
  /** Bytes before it in the whole. */
  readonly offset: number;
  readonly byteLength: number;
}

/**
 * Returns the work by which a device gives its share to all others, once the share has arrived.
 *
 * @param buffers Room for the whole on each device.
 */
export function handingOn(buffers: readonly GpuBuffer[], share: Share): FollowingWork {
  const spans = buffers.map(({ span }) => partOf(span, share));
  const [source] = spans.splice(share.rank, 1);
  if (source === undefined) return { uses: [], queue: () => {} };
  // Each device begins with a different one, so that not all of them write to the same device.
  const targets = [...spans.slice(share.rank), ...spans.slice(0, share.rank)];
  const stream = defaultStreamOf(source.allocation.context);
  return {
    uses: targets.map((target) => ({ ...target, access: "write" })),
    queue: () => {
      for (const target of targets) queueCopyNow(target, source, stream);
    },
  };
}

/** Resolves when the work queued on the devices' default streams is done. */
export async function settled(buffers: readonly GpuBuffer[]): Promise<void> {
  const streams = buffers.map(({ context }) => defaultStreamOf(context));
  await Promise.all(streams.map((stream) => stream.synchronize()));
}

/** Returns whether the devices of buffers can access each other's memory without the host. */
export function areLinked(buffers: readonly GpuBuffer[]): boolean {
  return buffers.every(({ context: from }, index) =>
    buffers.slice(index + 1).every(({ context: to }) => peerRoute(from, to) === "peer")
  );
}
