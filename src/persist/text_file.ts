// Texts and pages in files without names, which go to other processes by their descriptors.

import { cString } from "../../ffi/c_strings.ts";
import { MFD_CLOEXEC } from "../../ffi/host.ts";
import { lastErrno, openSystem, systemError } from "../disk/system_error.ts";
import { closeDescriptor } from "../sharing/local_socket.ts";

/** Returns a descriptor of a file without a name that holds a text, for the caller to close. */
export function textFile(text: string): number {
  return newFile(new TextEncoder().encode(text));
}

/** Returns a descriptor of a file without a name that holds bytes, for the caller to close. */
export function newFile(bytes: Uint8Array<ArrayBuffer>): number {
  const { memfd_create, pwrite, addressOf } = openSystem();
  const descriptor = memfd_create(cString("vramkit-persisted"), MFD_CLOEXEC);
  if (descriptor < 0) throw systemError("make a file in memory", lastErrno());
  const address = addressOf(bytes, bytes, 0n);
  const size = BigInt(bytes.byteLength);
  if (pwrite(descriptor, address, size, 0n) === size) return descriptor;
  const errno = lastErrno();
  closeDescriptor(descriptor);
  throw systemError("write a file in memory", errno);
}

/** Reads the text of a file without a name. */
export function readText(descriptor: number): string {
  const { pread, addressOf } = openSystem();
  const decoder = new TextDecoder();
  let text = "";
  for (let at = 0;;) {
    const part = new Uint8Array(1 << 16);
    const count = Number(
      pread(descriptor, addressOf(part, part, 0n), BigInt(part.length), BigInt(at)),
    );
    if (count <= 0) return text + decoder.decode();
    text += decoder.decode(part.subarray(0, count), { stream: true });
    at += count;
  }
}
