// Lays out a C struct from its members and turns it into bytes and back.
// Offsets follow the C rules of 64-bit little-endian machines: the only ones CUDA runs on.

import { roundUp } from "./alignment.ts";

/** Reads and writes one value at a place in memory: a number, a block of bytes or a struct. */
export interface Member<Value, Given = Value> {
  readonly byteLength: number;
  /** Alignment of such a member in bytes: its offset is a multiple of it. */
  readonly alignment: number;
  read(view: DataView, offset: number): Value;
  write(view: DataView, offset: number, given: Given): void;
}

/** Names and types of a struct's members, in the order of the header. */
export type Members = Readonly<Record<string, Member<unknown>>>;

/** Values of all members, as `decode()` returns them. */
export type Fields<M extends Members> = {
  -readonly [Name in keyof M]: M[Name] extends Member<infer Value, never> ? Value : never;
};

/** Values for a struct; members left out are zero, as in a C initializer. */
export type Initializer<M extends Members> = {
  readonly [Name in keyof M]?: M[Name] extends Member<unknown, infer Given> ? Given : never;
};

/** Describes a C struct, which can itself be the member of another. */
export interface Struct<M extends Members> extends Member<Fields<M>, Initializer<M>> {
  /** Member types by name. */
  readonly members: M;
  /** Bytes from the start of the struct to each member. */
  readonly offsets: { readonly [Name in keyof M]: number };
  /** Makes the struct's bytes; members left out are zero. */
  encode(fields: Initializer<M>): Uint8Array<ArrayBuffer>;
  /** Reads all members from the first `byteLength` bytes. */
  decode(bytes: Uint8Array): Fields<M>;
}

/** Describes `unsigned char`. */
export const u8: Member<number> = {
  byteLength: 1,
  alignment: 1,
  read: (view, offset) => view.getUint8(offset),
  write: (view, offset, value) => view.setUint8(offset, value),
};

/** Describes `unsigned short`. */
export const u16: Member<number> = {
  byteLength: 2,
  alignment: 2,
  read: (view, offset) => view.getUint16(offset, true),
  write: (view, offset, value) => view.setUint16(offset, value, true),
};

/** Describes `unsigned int`. */
export const u32: Member<number> = {
  byteLength: 4,
  alignment: 4,
  read: (view, offset) => view.getUint32(offset, true),
  write: (view, offset, value) => view.setUint32(offset, value, true),
};

/** Describes `int` and every enum. */
export const i32: Member<number> = {
  byteLength: 4,
  alignment: 4,
  read: (view, offset) => view.getInt32(offset, true),
  write: (view, offset, value) => view.setInt32(offset, value, true),
};

/** Describes `size_t`, device addresses, handles and host pointers. */
export const u64: Member<bigint> = {
  byteLength: 8,
  alignment: 8,
  read: (view, offset) => view.getBigUint64(offset, true),
  write: (view, offset, value) => view.setBigUint64(offset, value, true),
};

/** Describes an `unsigned char` array of a fixed length. */
export function bytes(byteLength: number): Member<Uint8Array> {
  const bytesAt = (view: DataView, offset: number) =>
    new Uint8Array(view.buffer, view.byteOffset + offset, byteLength);
  return {
    byteLength,
    alignment: 1,
    read: (view, offset) => bytesAt(view, offset).slice(),
    write: (view, offset, value) => bytesAt(view, offset).set(value),
  };
}

/** Lays out a struct: each member at the next multiple of its alignment. */
export function struct<const M extends Members>(members: M): Struct<M> {
  const layout: { name: string; member: Member<unknown>; offset: number }[] = [];
  let end = 0;
  let alignment = 1;
  for (const [name, member] of Object.entries(members)) {
    const offset = roundUp(end, member.alignment);
    layout.push({ name, member, offset });
    end = offset + member.byteLength;
    alignment = Math.max(alignment, member.alignment);
  }
  const byteLength = roundUp(end, alignment);
  const offsets = Object.fromEntries(layout.map(({ name, offset }) => [name, offset]));

  function read(view: DataView, at: number): Fields<M> {
    return Object.fromEntries(
      layout.map(({ name, member, offset }) => [name, member.read(view, at + offset)]),
    ) as Fields<M>;
  }

  function write(view: DataView, at: number, fields: Initializer<M>): void {
    for (const { name, member, offset } of layout) {
      const value = fields[name];
      if (value !== undefined) member.write(view, at + offset, value);
    }
  }

  return {
    byteLength,
    alignment,
    members,
    offsets: offsets as Struct<M>["offsets"],
    read,
    write,
    encode(fields: Initializer<M>): Uint8Array<ArrayBuffer> {
      const encoded = new Uint8Array(byteLength);
      write(new DataView(encoded.buffer), 0, fields);
      return encoded;
    },
    decode(encoded: Uint8Array): Fields<M> {
      if (encoded.byteLength < byteLength) {
        throw new RangeError(
          `Cannot decode a struct of ${byteLength} bytes: ${encoded.byteLength} bytes given`,
        );
      }
      return read(new DataView(encoded.buffer, encoded.byteOffset, byteLength), 0);
    },
  };
}
