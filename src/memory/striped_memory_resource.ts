// One range of addresses over several devices: its stripes lie on the devices in turn, and every device
// can access all of it.

import { roundUp } from "../../ffi/alignment.ts";
import type { Context } from "../driver/context.ts";
import type { CudaStream } from "../order/stream.ts";
import { CudaUnavailableError } from "../words/errors.ts";
import { type ByteSize, parseBytes } from "../words/format.ts";
import { isIterable, OptionSet, SIZE } from "../words/options.ts";
import { BaseMemoryResource, requireBytes } from "./base_memory_resource.ts";
import { canReach } from "./device_access.ts";
import { contextOf, type ContextOwner } from "./memory_resource.ts";
import {
  freeAddresses,
  giveAccess,
  granularityOf,
  hasVirtualMemory,
  mapMemory,
  reserveAddresses,
  takeRange,
  unmapMemory,
} from "./virtual_memory.ts";
import { freeWhenPassed } from "./when_passed.ts";

/** Options for {@link StripedMemoryResource}. */
export interface StripeOptions {
  /** Size of a stripe, rounded up to what the devices map; 32 MiB by default. */
  readonly stripeSize?: ByteSize | undefined;
}

/** Checks the options above. */
const STRIPE_OPTIONS: OptionSet<StripeOptions> = new OptionSet({ stripeSize: SIZE });

const DEFAULT_STRIPE_BYTES = 32 * 2 ** 20;

const WHAT = "striped memory";

interface StripedRange {
  readonly reservedBytes: number;
  /** Sizes of the stripes that are mapped, from the start. */
  readonly stripes: number[];
}

/**
 * Memory over several devices in one range of addresses (cuMemAddressReserve, cuMemCreate on each
 * device, cuMemMap): stripe 0 lies on the first device, stripe 1 on the second, and so on in turn.
 * Copies, fills and kernels of each of these devices can access all of it. Its buffers count as
 * memory of the first device.
 *
 * @example
 * ```ts
 * import { CudaDevice } from "vramkit";
 * import { StripedMemoryResource } from "vramkit/group";
 *
 * using gpus = CudaDevice.openMany([0, 1], { driver: "simulated" });
 * const [first, second] = [...gpus] as [CudaDevice, CudaDevice];
 * const resource = new StripedMemoryResource(gpus, { stripeSize: "2 MiB" });
 * using wide = first.alloc("uint8", 4 * 2 ** 20, { resource });
 * wide.fill(7, { stream: second.stream });
 * console.log(await wide.at(-1)); // 7
 * ```
 */
export class StripedMemoryResource extends BaseMemoryResource {
  /** The contexts of the devices, in the order of their stripes. */
  readonly contexts: readonly Context[];
  /** Bytes of one stripe. */
  readonly stripeBytes: number;
  readonly #granularity: number;
  readonly #ranges = new Map<bigint, StripedRange>();

  /**
   * Takes memory from devices, in the order given.
   *
   * @throws TypeError when they are not devices, or one is named twice.
   * @throws CudaUnavailableError when a device has no virtual memory, or two cannot access each
   *   other's memory; the message names them.
   */
  constructor(owners: Iterable<ContextOwner>, options: StripeOptions = {}) {
    const contexts = contextsOf(owners);
    const { stripeSize = DEFAULT_STRIPE_BYTES } = STRIPE_OPTIONS.read(
      options,
      "new StripedMemoryResource",
    );
    const wanted = parseBytes(stripeSize, "size of a stripe");
    super({ context: contexts[0] as Context });
    for (const context of contexts) requireVirtualMemory(context);
    requireLinks(contexts);
    this.contexts = contexts;
    this.#granularity = Math.max(...contexts.map(granularityOf));
    this.stripeBytes = roundUp(Math.max(1, wanted), this.#granularity);
  }

  /** The numbers of the devices, in the order of their stripes. */
  get ordinals(): readonly number[] {
    return this.contexts.map(({ ordinal }) => ordinal);
  }

  /** Allocates at once; when one device has too little memory, nothing stays allocated. */
  allocate(byteLength: number): bigint {
    requireBytes(byteLength);
    const reservedBytes = roundUp(byteLength, this.#granularity);
    const { context } = this;
    const address = reserveAddresses(context, reservedBytes);
    const range: StripedRange = { reservedBytes, stripes: [] };
    try {
      for (let at = 0; at < reservedBytes; at += this.stripeBytes) {
        const size = Math.min(this.stripeBytes, reservedBytes - at);
        const device = this.contexts[range.stripes.length % this.contexts.length] as Context;
        mapMemory(device, { address: address + BigInt(at), byteLength: size, what: WHAT });
        range.stripes.push(size);
      }
      const access = this.contexts.map((device) => [device, "readwrite"] as const);
      giveAccess(context, { address, byteLength: reservedBytes }, access);
    } catch (error) {
      this.#free(address, range);
      throw error;
    }
    this.#ranges.set(address, range);
    return address;
  }

  /** Gives memory and addresses back once the work queued on `stream` is done. */
  deallocate(address: bigint, _byteLength: number, stream: CudaStream): void {
    const range = takeRange(this.#ranges, address);
    const block = { kind: "virtual", byteLength: range.reservedBytes } as const;
    freeWhenPassed(stream, block, () => this.#free(address, range));
  }

  /** A failure is reported: the stripe that it names stays, and the addresses with it. */
  #free(address: bigint, { reservedBytes, stripes }: StripedRange): void {
    const { context } = this;
    let isEmpty = true;
    let at = address;
    for (const byteLength of stripes) {
      isEmpty = unmapMemory(context, { address: at, byteLength, what: WHAT }) && isEmpty;
      at += BigInt(byteLength);
    }
    if (isEmpty) freeAddresses(context, { address, byteLength: reservedBytes });
  }
}

/** Returns whether a resource stripes memory over several devices, of which one is this. */
export function isStripedOver(resource: unknown, context: Context): boolean {
  return resource instanceof StripedMemoryResource && resource.contexts.includes(context);
}

function contextsOf(owners: unknown): readonly Context[] {
  if (!isIterable(owners)) {
    throw new TypeError(
      "Cannot make a StripedMemoryResource: expected a list of devices, such as CudaDevice.all()",
    );
  }
  const contexts = ([...owners] as ContextOwner[]).map((owner) =>
    contextOf(owner, "make a StripedMemoryResource of")
  );
  if (contexts.length === 0) {
    throw new TypeError("Cannot make a StripedMemoryResource of no devices: name at least one");
  }
  const twice = contexts.find((context, at) => contexts.indexOf(context) !== at);
  if (twice === undefined) return contexts;
  throw new TypeError(
    `Cannot make a StripedMemoryResource: device ${twice.ordinal} is named twice`,
  );
}

function requireVirtualMemory(context: Context): void {
  if (hasVirtualMemory(context)) return;
  throw new CudaUnavailableError(
    "not-supported",
    `Cannot stripe memory over device ${context.ordinal}: the device or its driver has no virtual ` +
      `memory`,
  );
}

function requireLinks(contexts: readonly Context[]): void {
  for (const from of contexts) {
    for (const to of contexts) {
      if (from === to || canReach(from, to)) continue;
      throw new CudaUnavailableError(
        "not-supported",
        `Cannot stripe memory over devices ${from.ordinal} and ${to.ordinal}: device ` +
          `${from.ordinal} does not reach the memory of device ${to.ordinal}`,
      );
    }
  }
}
