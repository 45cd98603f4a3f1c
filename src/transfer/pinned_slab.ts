// Page-locked memory that transfers pass through, and the fences of the copies that use it. Its pages are of
// 2 MiB where they can be had: the system's own memory, registered with the driver. To make it takes a third
// of the time of cuMemHostAlloc, which makes 512 small pages for each large one.

import { CU_MEMHOSTALLOC, CU_MEMHOSTREGISTER, CUresult } from "../../ffi/constants.ts";
import {
  findHost,
  type HostApi,
  MADV,
  MAP,
  MAP_FAILED,
  MPOL_PREFERRED,
  PROT,
  SYS_MBIND,
} from "../../ffi/host.ts";
import type { Context } from "../driver/context.ts";
import { take64 } from "../driver/driver.ts";
import { tryRelease } from "../driver/release.ts";
import { makePagesAt } from "../lanes/fresh_pages.ts";
import { Fence } from "../order/fence.ts";
import { HUGE_PAGE_BYTES } from "./ways.ts";

const PAGE = BigInt(HUGE_PAGE_BYTES);

/** The size and the place of a slab. */
export interface SlabRequest {
  readonly byteLength: number;
  readonly fenceCount: number;
  /** Names it, for a warning when it cannot be given back. */
  readonly name: string;
  /** The NUMA node whose memory it takes, as long as that has some; any when left out. */
  readonly node?: number | undefined;
}

/** Memory that the system has mapped, around the part that is used. */
interface Mapping {
  readonly address: bigint;
  readonly start: bigint;
  readonly byteLength: bigint;
}

/** One page-locked block; from the driver where the system gives none. */
export class PinnedSlab {
  readonly address: bigint;
  readonly fences: readonly Fence[];
  readonly #context: Context;
  readonly #name: string;
  readonly #mapping: Mapping | undefined;

  /** Takes memory through a context, and makes the fences; a failure leaves nothing behind. */
  constructor(context: Context, request: SlabRequest) {
    const { byteLength, fenceCount, name } = request;
    const fences: Fence[] = [];
    this.#context = context;
    this.#name = name;
    this.fences = fences;
    this.#mapping = mapHuge(context, request);
    this.address = this.#mapping?.address ??
      take64(context, "cuMemHostAlloc", BigInt(byteLength), CU_MEMHOSTALLOC.PORTABLE);
    try {
      while (fences.length < fenceCount) fences.push(new Fence(context));
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /** Frees it now: no queued copy still needs it. A failure is reported. */
  dispose(): void {
    for (const fence of this.fences) fence.dispose();
    tryRelease(this.#context.driver, this.#name, () => this.#free());
  }

  #free(): void {
    if (this.#mapping === undefined) return this.#context.giveBack("cuMemFreeHost", this.address);
    this.#context.giveBack("cuMemHostUnregister", this.address);
    findHost()?.munmap(this.#mapping.start, this.#mapping.byteLength);
  }
}

/** Maps and registers memory; undefined for little, and when the system or the driver refuses. */
function mapHuge(context: Context, { byteLength, node }: SlabRequest): Mapping | undefined {
  const host = findHost();
  const size = BigInt(byteLength);
  const canRegister = () =>
    context.attribute("CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED") === 1 &&
    context.attribute("CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM") === 1;
  if (host === undefined || size < PAGE || !canRegister()) return undefined;
  const mappedBytes = size + PAGE; // some of it lies before the first large page
  const flags = MAP.PRIVATE | MAP.ANONYMOUS;
  const start = host.mmap(0n, mappedBytes, PROT.READ | PROT.WRITE, flags, -1, 0n);
  if (start === MAP_FAILED) return undefined;
  const address = (start + PAGE - 1n) / PAGE * PAGE;
  host.madvise(address, size, MADV.HUGEPAGE);
  if (node !== undefined) preferNode(host, { address, size, node });
  makePagesAt(host, address, byteLength); // the driver takes longer for that
  const { PORTABLE, DEVICEMAP } = CU_MEMHOSTREGISTER;
  const status = context.status("cuMemHostRegister_v2", address, size, PORTABLE | DEVICEMAP);
  if (status === CUresult.CUDA_SUCCESS) return { address, start, byteLength: mappedBytes };
  host.munmap(start, mappedBytes);
  return undefined;
}

/** Has pages that are not there yet come from a node; where the system refuses it, from any. */
function preferNode(
  host: HostApi,
  { address, size, node }: {
    readonly address: bigint;
    readonly size: bigint;
    readonly node: number;
  },
): void {
  const nodes = new BigUint64Array((node >> 6) + 1);
  nodes[node >> 6] = 1n << BigInt(node & 63);
  const most = BigInt(64 * nodes.length + 1); // the system reads one bit less
  host.mbind(SYS_MBIND, address, size, MPOL_PREFERRED, nodes, most, 0);
}
