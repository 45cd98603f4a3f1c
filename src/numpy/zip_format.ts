// The records of ZIP archives, as their specification has them (APPNOTE.TXT).

/** A file of an archive, as its directory describes it. */
export interface ZipFile {
  readonly name: string;
  /** It is deflated; otherwise it is stored uncompressed. */
  readonly isDeflated: boolean;
  /** Checksum of its contents. */
  readonly crc: number;
  /** Its size in the archive. */
  readonly packedBytes: number;
  readonly byteLength: number;
  /** Offset of its own header. */
  readonly offset: number;
}

/** The longest name of a file. */
export const MAX_NAME_BYTES = 0xffff;

/** More than a directory of half a million files. */
export const MAX_DIRECTORY_BYTES = 64 << 20;

/** Sizes of the records, without names, comments and extra fields. */
export const RECORD_BYTES = { end: 22, locator: 20, end64: 56, central: 46, local: 30 } as const;

/** First four bytes of each record. */
export const SIGNATURES = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  locator: 0x07064b50,
  end64: 0x06064b50,
} as const;

/** Ways to pack a file. */
export const METHODS = { stored: 0, deflated: 8 } as const;

/** Bits of a file's flags. */
export const FLAGS = {
  encrypted: 1,
  /** Sizes and checksum follow the contents. */
  descriptor: 1 << 3,
  patched: 1 << 5,
  stronglyEncrypted: 1 << 6,
  utf8: 1 << 11,
} as const;

/** The value of 16 bits that says that the number is in a record of 64 bits. */
export const IN_64_BITS_SHORT = 0xffff;

/** The value of 32 bits that says that the number is in a field of 64 bits. */
export const IN_64_BITS = 0xffff_ffff;

/** The extra field with sizes of 64 bits. */
export const ZIP64_EXTRA = 1;

/** Returns a view of the same bytes. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
