// The structs that other libraries hold, by address, and the one function that ends them: libraries
// call it from C when they are done.

import { formatAddress, messageOf } from "../words/format.ts";
import { givePlace, type StructPlace } from "./struct_memory.ts";

/** A struct that is in use, and what to do at its end. */
export interface HandedOut {
  /** Its memory. */
  readonly place: StructPlace;
  /** Lets go of the array. */
  readonly letGo: () => void;
}

const structs = new Map<bigint, HandedOut>();

/** Notes a struct, whose end {@link endStruct} is. */
export function addStruct(struct: HandedOut): void {
  structs.set(struct.place.address, struct);
}

/** Whether a struct of ours is in use at an address. */
export function isHandedOut(address: bigint): boolean {
  return structs.has(address);
}

/** Ends a struct: lets go of its array. Returns false where none is in use at that address. */
export function endStruct(address: bigint): boolean {
  const struct = structs.get(address);
  if (struct === undefined) return false;
  structs.delete(address);
  givePlace(struct.place);
  struct.letGo();
  return true;
}

let deleter: Deno.UnsafeCallback<{ parameters: ["u64"]; result: "void" }> | undefined;

/**
 * The address of the function that ends a struct. It may be called from any thread: another one than
 * JavaScript's waits there until the event loop has its turn. It keeps no program alive.
 */
export function deleterAddress(): bigint {
  deleter ??= new Deno.UnsafeCallback(
    { parameters: ["u64"], result: "void" },
    (address) => endFromC(BigInt(address)),
  );
  return Deno.UnsafePointer.value(deleter.pointer);
}

/** An error must not pass through C. */
function endFromC(address: bigint): void {
  try {
    if (endStruct(address)) return;
    console.warn(
      `vramkit: a library called the deleter of the DLPack struct ${
        formatAddress(address)
      }, which ` +
        `is not in use: it did so twice, or never had it`,
    );
  } catch (error) {
    console.warn(`vramkit: a DLPack struct could not be ended: ${messageOf(error)}`);
  }
}
