// Several groups that joinGroup() made, one for each rank, called as if they were one: each call is made on
// all of them, in the order of a random program.

import type { GpuBuffer } from "../../../src/buffers/gpu_buffer.ts";
import type { DeviceGroup } from "../../../src/group/device_group.ts";
import type { CollectiveOptions } from "../../../src/group/group_options.ts";
import type { CudaStream } from "../../../src/order/stream.ts";

/** Options of any call. */
interface AnyOptions {
  readonly streams?: readonly CudaStream[];
  readonly into?: GpuBuffer | readonly GpuBuffer[];
  readonly root?: number;
  readonly op?: string;
  readonly to?: number;
  readonly from?: number;
}

type Call = (given: unknown, options: unknown) => PromiseLike<void>;

/** Returns the groups of all ranks as the one group that has them all. */
export function asOneGroup(groups: readonly DeviceGroup[]): DeviceGroup {
  const rankOf = (buffer: GpuBuffer) => buffer.deviceOrdinal; // each rank opens the device of its number
  const all = (name: string, of: (rank: number) => [given: unknown, options: object]) => {
    const works = groups.map((group, rank) => {
      const call = group[name as keyof DeviceGroup] as unknown as Call;
      const [given, options] = of(rank);
      return call.call(group, given, options);
    });
    return together(works);
  };
  const own = ({ streams, ...rest }: AnyOptions, rank: number) => {
    const stream = streams?.[rank];
    return stream === undefined ? rest : { ...rest, streams: [stream] };
  };
  const each = (name: string) => (buffers: readonly GpuBuffer[], options: AnyOptions = {}) =>
    all(name, (rank) => {
      const { into } = options;
      const list = Array.isArray(into) ? { into: into[rank] } : {};
      return [buffers[rank], { ...own(options, rank), ...list }];
    });
  const toRoot = (name: string) => (buffers: readonly GpuBuffer[], options: AnyOptions) => {
    const { into, ...rest } = options;
    const root = into === undefined ? options.root ?? 0 : rankOf(into as GpuBuffer);
    return all(name, (rank) => {
      const place = rank === root && into !== undefined ? { into } : { root };
      return [buffers[rank], { ...own(rest, rank), ...place }];
    });
  };
  const one = (name: string) => (buffer: GpuBuffer, options: AnyOptions) => {
    const group = groups[rankOf(buffer)];
    return (group?.[name as keyof DeviceGroup] as unknown as Call).call(group, buffer, options);
  };
  const batch = (body: () => void, options: AnyOptions = {}) => {
    const works: PromiseLike<void>[] = [];
    const nest = (rank: number): void => {
      const group = groups[rank];
      if (group === undefined) return body();
      works.push(group.batch(() => nest(rank + 1), own(options, rank) as CollectiveOptions));
    };
    nest(0);
    return together(works);
  };
  return {
    size: groups.length,
    allReduce: each("allReduce"),
    allGather: each("allGather"),
    reduceScatter: each("reduceScatter"),
    allToAll: each("allToAll"),
    reduce: toRoot("reduce"),
    gather: toRoot("gather"),
    broadcast(source: GpuBuffer | readonly GpuBuffer[], options: AnyOptions = {}) {
      if (Array.isArray(source)) return each("broadcast")(source, options);
      const root = rankOf(source as GpuBuffer);
      const { into, ...rest } = options;
      const targets = into as readonly GpuBuffer[];
      return all(
        "broadcast",
        (rank) =>
          rank === root
            ? [source, { ...own(rest, rank), into: targets[rank] }]
            : [targets[rank], { ...own(rest, rank), root }],
      );
    },
    scatter(source: GpuBuffer, { into, ...options }: AnyOptions) {
      const root = rankOf(source);
      const targets = into as readonly GpuBuffer[];
      return all("scatter", (rank) => [
        rank === root ? source : undefined,
        { ...own(options, rank), into: targets[rank], root },
      ]);
    },
    send: one("send"),
    recv: one("recv"),
    batch,
  } as unknown as DeviceGroup;
}

/** Waits for all works once it is awaited, and not before, as each of them does. */
function together(works: readonly PromiseLike<void>[]): PromiseLike<unknown> {
  return { then: (onDone, onFailed) => Promise.all(works).then(onDone, onFailed) };
}
