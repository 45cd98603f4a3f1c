// Leaves a driver as a sequence found it, so that the next one in the same process meets nothing of
// it: captures end, everything made is freed, pools and counters are set back.

import { CUgraphMem_attribute, CUmemPool_attribute } from "../../../ffi/constants.ts";
import type { DriverApi } from "../../../ffi/cuda.ts";
import { CUmemAccessDesc } from "../../../ffi/structs.ts";
import type { Base } from "./base.ts";
import type { Thing, World } from "./world.ts";

/** Statuses after which a context refuses all work until the process ends. */
const STICKY: ReadonlySet<number> = new Set([
  ...[214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999],
]);

/** The default stream of the calling thread. */
const THREAD_STREAM = 2n;

/** Cleans up behind a sequence; false when the process cannot go on with another. */
export function cleanUp(api: DriverApi, base: Base, world: World): boolean {
  const { deviceCount } = base;
  // The sequence's own pools are destroyed here, so that nothing may be asked of them afterwards.
  const ownPools = ownOf(world.alive("memoryPool"));
  const pools = world.alive("memoryPool").filter((pool) => !ownPools.includes(pool));
  for (const stream of world.alive("stream")) endCapture(api, stream.value);
  const contexts = world.alive("context").filter(({ name }) => /^ctx\d$/.test(name));
  for (const { value } of contexts) {
    api.cuCtxPushCurrent_v2(value);
    endCapture(api, THREAD_STREAM);
    api.cuCtxPopCurrent_v2(new BigUint64Array(1));
  }
  base.reset();
  const wait = () => contexts.every(({ value }) => STICKY.has(waitFor(api, value)) === false);
  if (!wait()) return false;
  for (const kind of ["exec", "graph"] as const) {
    for (const { value } of world.alive(kind)) {
      if (kind === "exec") api.cuGraphExecDestroy(value);
      else api.cuGraphDestroy(value);
    }
  }
  for (const { value } of world.alive("pooled")) api.cuMemFreeAsync?.(value, 0n);
  if (!wait()) return false;
  for (const { value } of world.alive("device", "managed")) api.cuMemFree_v2(value);
  for (const { value } of world.alive("pinned")) api.cuMemFreeHost(value);
  for (const address of world.registered.keys()) api.cuMemHostUnregister(address);
  for (const [address, byteLength] of world.mapped) api.cuMemUnmap?.(address, BigInt(byteLength));
  for (const { value } of world.alive("physical")) api.cuMemRelease?.(value);
  for (const { value, byteLength } of world.alive("reservation")) {
    api.cuMemAddressFree?.(value, BigInt(byteLength));
  }
  for (const { value } of world.alive("event")) api.cuEventDestroy_v2(value);
  for (const { value } of world.alive("stream")) api.cuStreamDestroy_v2(value);
  for (const { value } of ownPools) api.cuMemPoolDestroy?.(value);
  for (const { value } of ownOf(world.alive("module"))) api.cuModuleUnload(value);
  for (const { value } of world.alive("library")) api.cuLibraryUnload?.(value);
  for (const { value } of world.alive("link")) api.cuLinkDestroy(value);
  for (const [ordinal, count] of world.retained) {
    for (let i = 0; i < count; i++) api.cuDevicePrimaryCtxRelease_v2(ordinal);
  }
  separate(api, contexts);
  for (const { value } of pools) resetPool(api, { pool: value, deviceCount });
  for (let ordinal = 0; ordinal < deviceCount; ordinal++) resetGraphMemory(api, ordinal);
  base.reset();
  return wait() && isEmpty(api, { pools, deviceCount });
}

/** Tells whether pools and graphs hold nothing: what a graph was to free and did not can be left. */
function isEmpty(
  api: DriverApi,
  { pools, deviceCount }: { pools: readonly Thing[]; deviceCount: number },
): boolean {
  const { CU_MEMPOOL_ATTR_USED_MEM_CURRENT } = CUmemPool_attribute;
  const { CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT } = CUgraphMem_attribute;
  const cell = new BigUint64Array(1);
  const hasUsedPool = pools.some(({ value }) => {
    api.cuMemPoolGetAttribute?.(value, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, cell);
    return cell[0] !== 0n;
  });
  const ordinals = Array.from({ length: deviceCount }, (_, ordinal) => ordinal);
  return !hasUsedPool && !ordinals.some((ordinal) => {
    api.cuDeviceGetGraphMemAttribute(ordinal, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, cell);
    return cell[0] !== 0n;
  });
}

/** Lists what the sequence has made itself: what is there always has a device's number in its name. */
function ownOf(things: readonly Thing[]): Thing[] {
  return things.filter(({ name }) => !/^(pool|module)\d$/.test(name));
}

function endCapture(api: DriverApi, stream: bigint): void {
  const graph = new BigUint64Array(1);
  if (api.cuStreamEndCapture(stream, graph) === 0) api.cuGraphDestroy(graph[0] ?? 0n);
}

function waitFor(api: DriverApi, context: bigint): number {
  api.cuCtxPushCurrent_v2(context);
  const status = api.cuCtxSynchronize();
  api.cuCtxPopCurrent_v2(new BigUint64Array(1));
  return status;
}

/** Takes back what contexts may do with each other's memory. */
function separate(api: DriverApi, contexts: readonly Thing[]): void {
  for (const { value } of contexts) {
    api.cuCtxPushCurrent_v2(value);
    for (const other of contexts) {
      if (other.value !== value) api.cuCtxDisablePeerAccess(other.value);
    }
    api.cuCtxPopCurrent_v2(new BigUint64Array(1));
  }
}

function resetPool(
  api: DriverApi,
  { pool, deviceCount }: { pool: bigint; deviceCount: number },
): void {
  for (let id = 0; id < deviceCount; id++) {
    // A device keeps the right to its own pool, so that one call of these is refused.
    api.cuMemPoolSetAccess?.(pool, CUmemAccessDesc.encode({ location: { type: 1, id } }), 1n);
  }
  const {
    CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: first,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: last,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: threshold,
    CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: reservedHigh,
    CU_MEMPOOL_ATTR_USED_MEM_HIGH: usedHigh,
  } = CUmemPool_attribute;
  for (let reuse: number = first; reuse <= last; reuse++) {
    api.cuMemPoolSetAttribute?.(pool, reuse, Int32Array.of(1));
  }
  api.cuMemPoolSetAttribute?.(pool, threshold, new BigUint64Array(1));
  api.cuMemPoolTrimTo?.(pool, 0n);
  for (const high of [reservedHigh, usedHigh]) {
    api.cuMemPoolSetAttribute?.(pool, high, new BigUint64Array(1));
  }
}

function resetGraphMemory(api: DriverApi, ordinal: number): void {
  const { CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH } =
    CUgraphMem_attribute;
  api.cuDeviceGraphMemTrim(ordinal);
  for (const high of [CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH]) {
    api.cuDeviceSetGraphMemAttribute(ordinal, high, new BigUint64Array(1));
  }
}
