// Unpacks texts that repeat themselves, as PTX does, in about a millisecond: to load node:zlib for the
// first launch would take 20 to 30.

/** The digits of numbers: characters that JSON writes as they are. */
export const DIGITS =
  "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}";

/** Stands before a repetition: a digit for its length, and three for the distance to look back. */
export const MARK = "~";

/** The length that the first digit stands for: a shorter text needs no repetition. */
export const MIN_LENGTH = 6;

/** The characters of a repetition, its mark included. */
export const REPETITION_LENGTH = 5;

/** Returns a text of ASCII characters from its packed form. */
export function unpackText(packed: string): string {
  const bytes = new Uint8Array(packed.length / REPETITION_LENGTH * (MIN_LENGTH + DIGITS.length));
  let length = 0;
  for (let at = 0; at < packed.length;) {
    if (packed[at] !== MARK) {
      bytes[length++] = packed.charCodeAt(at++);
      continue;
    }
    const count = MIN_LENGTH + digitAt(packed, at + 1);
    const distance = (digitAt(packed, at + 2) * DIGITS.length + digitAt(packed, at + 3)) *
        DIGITS.length + digitAt(packed, at + 4);
    bytes.copyWithin(length, length - distance, length - distance + count);
    length += count;
    at += REPETITION_LENGTH;
  }
  return new TextDecoder().decode(bytes.subarray(0, length));
}

function digitAt(text: string, at: number): number {
  return DIGITS.indexOf(text.charAt(at));
}
