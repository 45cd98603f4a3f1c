// The words between a test and its other process.

import type { CudaDevice, DeviceBuffer } from "../../../mod.ts";
import { CudaAsyncMemoryResource, CudaMemoryResource } from "../../../src/entries/memory.ts";
import type { EventTicket, MemoryTicket } from "../../../src/entries/sharing.ts";

/** Ways to memory that other processes open. */
export type Way = "shareable" | "plain" | "pool";

/** All of them. */
export const WAYS: readonly Way[] = ["shareable", "plain", "pool"];

/** Memory to allocate, as bytes of one value. */
export interface AllocateCommand {
  readonly way: Way;
  readonly byteLength: number;
  readonly value: number;
}

/** A command; `name` is that of a buffer or an event, "x" when left out. */
export type PeerCommand =
  & { readonly name?: string }
  & (
    | { readonly do: "alloc" } & AllocateCommand
    | { readonly do: "open"; readonly ticket: MemoryTicket }
    | { readonly do: "fill"; readonly value: number; readonly waits?: boolean }
    | { readonly do: "openEvent"; readonly ticket: EventTicket }
    | {
      readonly do:
        | "share"
        | "read"
        | "last"
        | "checksum"
        | "dispose"
        | "createEvent"
        | "record"
        | "wait"
        | "disposeEvent"
        | "disposeAll";
    }
  );

const pools = new WeakMap<CudaDevice, CudaAsyncMemoryResource>();

/** Returns a device's pool with file descriptors, made when it is first asked for. */
export function poolOf(gpu: CudaDevice): CudaAsyncMemoryResource {
  const known = pools.get(gpu);
  if (known !== undefined && !known.disposed) return known;
  const made = new CudaAsyncMemoryResource(gpu, { handleType: "fileDescriptor" });
  pools.set(gpu, made);
  return made;
}

/** Ends the pool of a device, where it has one. */
export function endPoolOf(gpu: CudaDevice): void {
  pools.get(gpu)?.dispose();
}

/** Allocates bytes of one value, in one of the ways. */
export function allocateBy(
  gpu: CudaDevice,
  { way, byteLength, value }: AllocateCommand,
): DeviceBuffer<"uint8"> {
  const options = way === "shareable"
    ? { shareable: true }
    : { resource: way === "plain" ? new CudaMemoryResource(gpu) : poolOf(gpu) };
  const buffer = gpu.alloc("uint8", byteLength, options);
  try {
    return buffer.fill(value);
  } catch (error) {
    buffer.dispose();
    throw error;
  }
}
