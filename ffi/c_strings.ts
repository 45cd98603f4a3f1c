// C strings: encoded for parameters, and read from memory that C has written.

/**
 * Encodes a text for a `const char *` parameter: UTF-8 with a NUL at its end.
 *
 * @throws TypeError when the text has a NUL inside, where C would see its end.
 */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    throw new TypeError(`Cannot pass ${JSON.stringify(text)} to C: it has a NUL at index ${nul}`);
  }
  return new TextEncoder().encode(`${text}\0`);
}

/**
 * Reads a text that C wrote: bytes up to the first NUL, or to their end. An address must hold a
 * NUL-terminated string.
 *
 * @throws TypeError when the address is null.
 */
export function readCString(source: Uint8Array | bigint): string {
  if (typeof source === "bigint") {
    const pointer = Deno.UnsafePointer.create(source);
    if (pointer === null) throw new TypeError("Cannot read a C string: its address is null");
    return Deno.UnsafePointerView.getCString(pointer);
  }
  const nul = source.indexOf(0);
  return new TextDecoder().decode(nul < 0 ? source : source.subarray(0, nul));
}
