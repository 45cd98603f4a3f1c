// GGUF files for tests, put together byte by byte, right or wrong.

/** The program that asks Python's own library for the format, and the modules that it needs. */
export const PEER: string = new URL("peer.py", import.meta.url).pathname;
export const PEER_MODULES = ["numpy", "gguf"];

/** A value of the metadata: its type, and its bytes. */
export interface GgufField {
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** One tensor to write. */
export interface GgufPart {
  readonly name: string;
  /** ggml's number of the type. */
  readonly type: number;
  /** Sizes, innermost first as in the file. */
  readonly sizes: readonly (number | bigint)[];
  readonly data: Uint8Array;
  /** The offset to claim; behind the tensor before it by default. */
  readonly offset?: number | bigint;
}

/** A file to write; counts and the version can be claimed to be others. */
export interface GgufParts {
  readonly metadata?: Readonly<Record<string, GgufField>>;
  readonly tensors?: readonly GgufPart[];
  readonly version?: number;
  readonly tensorCount?: bigint;
  readonly valueCount?: bigint;
  readonly alignment?: number;
}

/** Puts a file together. */
export function ggufOf(
  { metadata = {}, tensors = [], ...claims }: GgufParts,
): Uint8Array<ArrayBuffer> {
  const { version = 3, alignment = 32 } = claims;
  const fields = Object.entries(metadata);
  const parts: Uint8Array[] = [
    new TextEncoder().encode("GGUF"),
    uint32(version),
    uint64(claims.tensorCount ?? tensors.length),
    uint64(claims.valueCount ?? fields.length),
    ...fields.flatMap(([name, { type, bytes }]) => [textBytes(name), uint32(type), bytes]),
  ];
  let end = 0;
  const data: Uint8Array[] = [];
  for (const tensor of tensors) {
    const { name, type, sizes, offset = end } = tensor;
    parts.push(textBytes(name), uint32(sizes.length), ...sizes.map(uint64), uint32(type));
    parts.push(uint64(offset));
    const padding = (alignment - tensor.data.byteLength % alignment) % alignment;
    data.push(tensor.data, new Uint8Array(padding));
    end += tensor.data.byteLength + padding;
  }
  const headerBytes = byteCount(parts);
  const padding = tensors.length === 0 ? 0 : (alignment - headerBytes % alignment) % alignment;
  return joined([...parts, new Uint8Array(padding), ...data]);
}

/** A text of the metadata. */
export function textField(text: string): GgufField {
  return { type: 8, bytes: textBytes(text) };
}

/** A whole number of 16 or 32 bits, as the metadata of split files and the alignment are. */
export function wholeField(value: number, type: 2 | 4 | 5 = 4): GgufField {
  return { type, bytes: type === 2 ? uint32(value).slice(0, 2) : uint32(value) };
}

/** An array: its element type, the number to claim, and the elements' bytes. */
export function arrayField(type: number, count: number | bigint, bytes: Uint8Array): GgufField {
  return { type: 9, bytes: joined([uint32(type), uint64(count), bytes]) };
}

export function textBytes(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return joined([uint64(bytes.byteLength), bytes]);
}

export function uint32(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}

export function uint64(value: number | bigint): Uint8Array {
  return new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteCount(parts));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.byteLength;
  }
  return bytes;
}

function byteCount(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
