// Page-locked memory of pages of 2 MiB: the system's own memory, registered with the driver. To make it
// takes a third of the time of cuMemHostAlloc, which makes 512 small pages for each large one.

import { CU_MEMHOSTREGISTER, CUresult } from "../../ffi/constants.ts";
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
import { makePagesAt } from "../lanes/fresh_pages.ts";
import { BaseMemoryResource } from "../memory/base_memory_resource.ts";
import type { ContextOwner } from "../memory/memory_resource.ts";
import { PinnedHostMemoryResource } from "../memory/pinned_host_memory_resource.ts";
import { HUGE_PAGE_BYTES } from "./ways.ts";

const PAGE = BigInt(HUGE_PAGE_BYTES);

/** Memory that the system has mapped, around the part that is used. */
interface Mapping {
  readonly start: bigint;
  readonly byteLength: bigint;
}

/** Page-locked host memory for large blocks; from the driver where the system gives none. */
export class HugePinnedMemory extends BaseMemoryResource {
  readonly #driver: PinnedHostMemoryResource;
  readonly #node: number | undefined;
  /** Mappings by the address of their used part. */
  readonly #mappings = new Map<bigint, Mapping>();

  /** Takes memory through a device's context, from one NUMA node as long as that has some. */
  constructor(owner: ContextOwner, { node }: { readonly node?: number | undefined } = {}) {
    super(owner, { isHostAccessible: true });
    this.#driver = new PinnedHostMemoryResource(owner);
    this.#node = node;
  }

  /** Allocates now, whatever the stream has queued. */
  allocate(byteLength: number): bigint {
    return this.#map(byteLength) ?? this.#driver.allocate(byteLength);
  }

  /** Frees now: the caller has made sure that no queued copy still needs the memory. */
  deallocate(address: bigint): void {
    const mapping = this.#mappings.get(address);
    if (mapping === undefined) return this.#driver.deallocate(address);
    this.#mappings.delete(address);
    this.context.giveBack("cuMemHostUnregister", address);
    findHost()?.munmap(mapping.start, mapping.byteLength);
  }

  get #canRegister(): boolean {
    const { context } = this;
    return context.attribute("CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED") === 1 &&
      context.attribute("CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM") === 1;
  }

  /** Maps and registers memory; undefined for little, and when the system or the driver refuses. */
  #map(byteLength: number): bigint | undefined {
    const host = findHost();
    const size = BigInt(byteLength);
    if (host === undefined || size < PAGE || !this.#canRegister) return undefined;
    const mappedBytes = size + PAGE; // some of it lies before the first large page
    const flags = MAP.PRIVATE | MAP.ANONYMOUS;
    const start = host.mmap(0n, mappedBytes, PROT.READ | PROT.WRITE, flags, -1, 0n);
    if (start === MAP_FAILED) return undefined;
    const address = (start + PAGE - 1n) / PAGE * PAGE;
    host.madvise(address, size, MADV.HUGEPAGE);
    if (this.#node !== undefined) preferNode(host, { address, size, node: this.#node });
    makePagesAt(host, address, byteLength); // the driver takes longer for that
    const { PORTABLE, DEVICEMAP } = CU_MEMHOSTREGISTER;
    const status = this.context.status(
      "cuMemHostRegister_v2",
      address,
      size,
      PORTABLE | DEVICEMAP,
    );
    if (status !== CUresult.CUDA_SUCCESS) {
      host.munmap(start, mappedBytes);
      return undefined;
    }
    this.#mappings.set(address, { start, byteLength: mappedBytes });
    return address;
  }
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
