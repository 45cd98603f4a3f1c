// One block of memory that a program has allocated or registered.
// Virtual memory has no Allocation: there, mappings stand in reservations.

import type { Rule } from "../stricter.ts";
import type { Ranged } from "./address_map.ts";
import type { Advice } from "./advice.ts";
import type { Context } from "./context.ts";
import type { Device } from "./device.ts";
import type { MemoryPool } from "./memory_pool.ts";
import type { Owner } from "./region.ts";
import type { SharedBytes } from "./shared_bytes.ts";
import type { Storage } from "./storage.ts";

/** Origin of a block, which decides who may free and who may use it. */
export type AllocationKind =
  | "device"
  | "pool"
  | "graph"
  | "pinned"
  | "registered"
  | "managed"
  | "imported";

/** User of an address: a call, a running kernel, or a capture that records a free. */
export type Asker = "call" | "kernel" | "free";

/** The reason why memory cannot be used. */
export interface Absence {
  /** The rule that its use breaks. */
  readonly rule: Rule;
  /** Words that follow a name of the memory. */
  readonly words: string;
}

/** Memory that was given back. */
export const FREED: Absence = { rule: "freed", words: "was freed" };

/** Memory of another process that was given back there. */
const FREED_ELSEWHERE: Absence = {
  rule: "freed",
  words: "was freed by the process that shared it",
};

/** The driver's knowledge of a block. */
export class Allocation implements Ranged, Owner {
  readonly address: number;
  readonly byteLength: number;
  readonly kind: AllocationKind;
  readonly context: Context;
  /** Number that no other block of the machine has. */
  readonly id: number;
  readonly storage: Storage;
  readonly flags: number;
  readonly pool: MemoryPool | undefined;
  /** A free is queued: no later call can use the address. */
  isFreed = false;
  advice: Advice | undefined;
  /** The bytes that other processes reach as well. */
  shared: SharedBytes | undefined;
  /** Number of times that memory of another process was opened. */
  openCount = 1;

  constructor(
    place: Ranged,
    options:
      & Pick<Allocation, "kind" | "context" | "id" | "storage">
      & { readonly flags?: number; readonly pool?: MemoryPool },
  ) {
    this.address = place.address;
    this.byteLength = place.byteLength;
    this.kind = options.kind;
    this.context = options.context;
    this.id = options.id;
    this.storage = options.storage;
    this.flags = options.flags ?? 0;
    this.pool = options.pool;
  }

  /** Returns the device that holds the bytes or made the block. */
  get device(): Device {
    return this.pool?.device ?? this.context.device;
  }

  /** Returns whether the bytes follow whoever touches them, and so are the host's and all devices'. */
  get isManaged(): boolean {
    return this.kind === "managed" || this.pool?.kind === "managed";
  }

  get label(): string {
    return `the ${this.byteLength} bytes of ${this.kind} memory`;
  }

  /** Returns the reason when the memory cannot be used now; a queued free comes after kernels. */
  absence(asker: Asker): Absence | undefined {
    if (this.shared?.isThere === false) return FREED_ELSEWHERE;
    return this.isFreed && asker !== "kernel" ? FREED : undefined;
  }

  get isForeign(): boolean {
    return this.kind === "imported" || this.pool?.isImported === true;
  }

  /** Ends what other processes see of the memory; of another's memory, what is seen here. */
  endSharing(): void {
    if (this.isForeign) this.shared?.close();
    else this.shared?.revoke();
  }

  giveBack(): void {
    if (this.kind === "device") this.device.discharge(this.byteLength);
    this.pool?.giveBack(this.byteLength);
  }

  permits(context: Context): boolean {
    if (this.isManaged) return true;
    if (this.pool !== undefined) return this.pool.accessOf(context.device.ordinal) !== 0;
    if (this.storage.onHost || context.device === this.device) return true;
    return context.peers.has(this.context);
  }
}
