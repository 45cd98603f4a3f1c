// Options of groups and of their calls.

import { GpuBuffer } from "../buffers/gpu_buffer.ts";
import type { DType } from "../dtype.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import { listOf, NUMBER, type OptionKind, OptionSet, SIGNAL, TEXT } from "../words/options.ts";
import { REDUCTION, type Reduction } from "./element_types.ts";

/** Options for {@link DeviceList.group}. */
export interface GroupOptions {
  /** Longest time that an awaited call may take; 600 seconds by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

/** Checks the options above. */
export const GROUP_OPTIONS: OptionSet<GroupOptions> = new OptionSet({
  timeoutSeconds: NUMBER,
  label: TEXT,
});

/** Options of every call of a group. */
export interface CollectiveOptions {
  /** A stream of each device, by rank; the devices' default streams by default. */
  readonly streams?: readonly CudaStream[] | undefined;
  /** Longest time that `await` waits before it ends the group; the group's own by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Ends the group while the call is awaited. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link DeviceGroup.allReduce} and {@link DeviceGroup.reduceScatter}. */
export interface ReduceAllOptions<D extends DType> extends CollectiveOptions {
  /** The operation; `"sum"` by default. */
  readonly op?: Reduction | undefined;
  /** Buffers that take the results, by rank; without them the call works in place. */
  readonly into?: readonly GpuBuffer<D>[] | undefined;
}

/** Options for {@link DeviceGroup.reduce}. */
export interface ReduceOptions<D extends DType> extends CollectiveOptions {
  /** The operation; `"sum"` by default. */
  readonly op?: Reduction | undefined;
  /** The rank that gets the result; 0, or that of `into`, by default. */
  readonly root?: number | undefined;
  /** Buffer that takes the result; without it that of the root does. */
  readonly into?: GpuBuffer<D> | undefined;
}

/** Options for {@link DeviceGroup.broadcast} in place. */
export interface BroadcastOptions extends CollectiveOptions {
  /** The rank whose elements all others get; 0 by default. */
  readonly root?: number | undefined;
}

/** Options for calls that write into a buffer of each rank. */
export interface IntoAllOptions<D extends DType> extends CollectiveOptions {
  /** Buffers that take the results, by rank. */
  readonly into: readonly GpuBuffer<D>[];
}

/** Options for {@link DeviceGroup.allGather}. */
export interface GatherAllOptions<D extends DType> extends CollectiveOptions {
  /** Buffers that take the results, by rank; without them the call works in place. */
  readonly into?: readonly GpuBuffer<D>[] | undefined;
}

/** Options for {@link DeviceGroup.gather}. */
export interface GatherOptions<D extends DType> extends CollectiveOptions {
  /** Buffer that takes the elements of all ranks, on any of them. */
  readonly into: GpuBuffer<D>;
}

/** Options for {@link DeviceGroup.send}. */
export interface SendOptions {
  /** The rank that receives. */
  readonly to: number;
}

/** Options for {@link DeviceGroup.recv}. */
export interface ReceiveOptions {
  /** The rank that sends. */
  readonly from: number;
}

const BUFFER: OptionKind = {
  expected: "a buffer",
  accepts: (value) => value instanceof GpuBuffer,
};

const COLLECTIVE_KINDS = {
  streams: listOf(STREAM),
  timeoutSeconds: NUMBER,
  signal: SIGNAL,
} as const;

/** Checks the options of calls that have no others. */
export const COLLECTIVE_OPTIONS: OptionSet<CollectiveOptions> = new OptionSet(COLLECTIVE_KINDS);

/** Checks the options of reductions for all ranks. */
export const REDUCE_ALL_OPTIONS: OptionSet<ReduceAllOptions<DType>> = new OptionSet({
  ...COLLECTIVE_KINDS,
  op: REDUCTION,
  into: listOf(BUFFER),
});

/** Checks the options of a reduction for one rank. */
export const REDUCE_OPTIONS: OptionSet<ReduceOptions<DType>> = new OptionSet({
  ...COLLECTIVE_KINDS,
  op: REDUCTION,
  root: NUMBER,
  into: BUFFER,
});

/** Checks the options of a broadcast of either kind. */
export const BROADCAST_OPTIONS: OptionSet<BroadcastOptions & Partial<IntoAllOptions<DType>>> =
  new OptionSet({ ...COLLECTIVE_KINDS, root: NUMBER, into: listOf(BUFFER) });

/** Checks the options of calls that write into a buffer of each rank. */
export const INTO_ALL_OPTIONS: OptionSet<GatherAllOptions<DType>> = new OptionSet({
  ...COLLECTIVE_KINDS,
  into: listOf(BUFFER),
});

/** Checks the options of a gathering. */
export const GATHER_OPTIONS: OptionSet<Partial<GatherOptions<DType>>> = new OptionSet({
  ...COLLECTIVE_KINDS,
  into: BUFFER,
});

/** Checks the options of a send. */
export const SEND_OPTIONS: OptionSet<Partial<SendOptions>> = new OptionSet({ to: NUMBER });

/** Checks the options of a receive. */
export const RECEIVE_OPTIONS: OptionSet<Partial<ReceiveOptions>> = new OptionSet({ from: NUMBER });
