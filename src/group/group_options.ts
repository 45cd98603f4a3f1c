// Options of groups and of their calls.

import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import { GpuBuffer } from "../buffers/gpu_buffer.ts";
import { Context } from "../driver/context.ts";
import type { DType } from "../dtype.ts";
import type { CudaStream } from "../order/stream.ts";
import { STREAM } from "../order/stream_choice.ts";
import {
  eitherOf,
  listOf,
  NUMBER,
  type OptionKind,
  OptionSet,
  SIGNAL,
  TEXT,
} from "../words/options.ts";
import { REDUCTION, type Reduction } from "./element_types.ts";

/** Options for {@link DeviceList.group}. */
export interface GroupOptions {
  /**
   * Longest time that an awaited call may take, and that joining other processes may take. By default
   * 600 seconds; for a group that is made from another one, the time of that group.
   */
  readonly timeoutSeconds?: number | undefined;
  /** Name shown in tables and errors. */
  readonly label?: string | undefined;
}

const GROUP_KINDS = { timeoutSeconds: NUMBER, label: TEXT } as const;
const MADE_KINDS = { ...GROUP_KINDS, signal: SIGNAL } as const;

/** Checks the options above. */
export const GROUP_OPTIONS: OptionSet<GroupOptions> = new OptionSet(GROUP_KINDS);

/** Options for {@link joinGroup}. */
export interface JoinOptions extends GroupOptions {
  /**
   * The meeting point of the processes: `"tcp://host:port"`, where rank 0 listens; `"file:/path"`, a
   * socket for processes of one machine; or `"env:"`, as a launcher such as torchrun has set
   * MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE.
   */
  readonly rendezvous: string;
  /** This process's rank, counted from 0; RANK by default with `"env:"`. */
  readonly rank?: number | undefined;
  /** Number of ranks; WORLD_SIZE by default with `"env:"`. */
  readonly size?: number | undefined;
  /**
   * A secret of at least 16 characters that all processes have, and nobody else; VRAMKIT_TOKEN by
   * default with `"env:"`. With a file it can be left out.
   */
  readonly token?: string | undefined;
  /** This rank's device, which no other rank may have. */
  readonly device: DeviceAllocator;
  /** Ends the joining; calls of the group have signals of their own. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link DeviceGroup.split}. */
export interface SplitOptions extends GroupOptions {
  /** Ranks of the same color become a group; a rank without a color joins none. */
  readonly color?: number | undefined;
  /** Order of the ranks in their new group; ranks with equal keys keep their old order. */
  readonly key?: number | undefined;
  /** Ends the split. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link DeviceGroup.shrink}. */
export interface ShrinkOptions extends GroupOptions {
  /** Ranks to leave out, the same on all others; by default those whose process has ended. */
  readonly exclude?: readonly number[] | undefined;
  /** Ends the start of the new group. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks the options for joining. */
export const JOIN_OPTIONS: OptionSet<JoinOptions> = new OptionSet({
  ...GROUP_KINDS,
  rendezvous: TEXT,
  rank: NUMBER,
  size: NUMBER,
  token: TEXT,
  device: {
    expected: "a device, such as CudaDevice.open()",
    accepts: (value) => {
      const device = value as Partial<DeviceAllocator> | null | undefined;
      return device?.context instanceof Context && typeof device.alloc === "function";
    },
  },
  signal: SIGNAL,
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

/** A list with a buffer for each rank of this process; for a single rank also just the buffer. */
export type RankBuffers<D extends DType = DType> = GpuBuffer<D> | readonly GpuBuffer<D>[];

/** Options for {@link DeviceGroup.allReduce} and {@link DeviceGroup.reduceScatter}. */
export interface ReduceAllOptions<D extends DType> extends GatherAllOptions<D> {
  /** The operation; `"sum"` by default. */
  readonly op?: Reduction | undefined;
}

/** Options for {@link DeviceGroup.reduce}. */
export interface ReduceOptions<D extends DType> extends CollectiveOptions {
  /** The operation; `"sum"` by default. */
  readonly op?: Reduction | undefined;
  /** The rank that gets the result; by default the rank of `into`, or 0. */
  readonly root?: number | undefined;
  /** Buffer that takes the result; by default the root's own buffer. */
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
  readonly into: RankBuffers<D>;
}

/** Options for {@link DeviceGroup.allGather}. */
export interface GatherAllOptions<D extends DType> extends CollectiveOptions {
  /** Buffers that take the results, by rank; without them the call works in place. */
  readonly into?: RankBuffers<D> | undefined;
}

/** Options for {@link DeviceGroup.gather}. */
export interface GatherOptions<D extends DType> extends CollectiveOptions {
  /** Buffer that takes the elements of all ranks, on any of them. */
  readonly into?: GpuBuffer<D> | undefined;
  /** The rank of that buffer, when it is in another process. */
  readonly root?: number | undefined;
}

/** Options for {@link DeviceGroup.scatter}. */
export interface ScatterOptions<D extends DType> extends IntoAllOptions<D> {
  /** The rank of the source, when it is in another process. */
  readonly root?: number | undefined;
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

export const BUFFER: OptionKind = {
  expected: "a buffer",
  accepts: (value) => value instanceof GpuBuffer,
};

const BUFFERS = eitherOf(listOf(BUFFER), BUFFER);

const COLLECTIVE_KINDS = {
  streams: listOf(STREAM),
  timeoutSeconds: NUMBER,
  signal: SIGNAL,
} as const;

const INTO_ALL = { ...COLLECTIVE_KINDS, into: BUFFERS } as const;
const REDUCED = { ...INTO_ALL, op: REDUCTION } as const;

/** Checks of the options of a group's calls. */
export const CALL_OPTIONS = {
  allGather: new OptionSet<GatherAllOptions<DType>>(INTO_ALL),
  allReduce: new OptionSet<ReduceAllOptions<DType>>(REDUCED),
  allToAll: new OptionSet<GatherAllOptions<DType>>(INTO_ALL),
  barrier: new OptionSet<CollectiveOptions>(COLLECTIVE_KINDS),
  batch: new OptionSet<CollectiveOptions>(COLLECTIVE_KINDS),
  broadcast: new OptionSet<BroadcastOptions & Partial<IntoAllOptions<DType>>>({
    ...INTO_ALL,
    root: NUMBER,
  }),
  gather: new OptionSet<GatherOptions<DType>>({ ...COLLECTIVE_KINDS, root: NUMBER, into: BUFFER }),
  recv: new OptionSet<Partial<ReceiveOptions>>({ from: NUMBER }),
  reduce: new OptionSet<ReduceOptions<DType>>({ ...REDUCED, into: BUFFER, root: NUMBER }),
  reduceScatter: new OptionSet<ReduceAllOptions<DType>>(REDUCED),
  scatter: new OptionSet<Partial<ScatterOptions<DType>>>({ ...INTO_ALL, root: NUMBER }),
  send: new OptionSet<Partial<SendOptions>>({ to: NUMBER }),
  shrink: new OptionSet<ShrinkOptions>({ ...MADE_KINDS, exclude: listOf(NUMBER) }),
  split: new OptionSet<SplitOptions>({ ...MADE_KINDS, color: NUMBER, key: NUMBER }),
} as const;
