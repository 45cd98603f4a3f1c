// Pictures as PNG files: eight bits for red, green, blue and opacity each, compressed by node:zlib,
// which is loaded with the first picture.

import { joined } from "../words/joined_bytes.ts";

/** The pixels of a picture, four bytes each, row after row from the top. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const PIXEL_BYTES = 4;
/** The filter that stores differences to the pixel on the left, which makes smooth pictures small. */
const LEFT_FILTER = 1;
const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** Bits of a channel, red-green-blue-opacity, deflate, the standard filters, no interlace. */
const FORMAT = Uint8Array.of(8, 6, 0, 0, 0);

/** Returns a function that writes pixels as a PNG file at once. */
export async function pngWriter(): Promise<(pixels: Pixels) => Uint8Array<ArrayBuffer>> {
  const zlib = await import("node:zlib");
  return (pixels) => pngOf(pixels, zlib);
}

function pngOf(
  { width, height, bytes }: Pixels,
  { crc32, deflateSync }: typeof import("node:zlib"),
): Uint8Array<ArrayBuffer> {
  const rowBytes = PIXEL_BYTES * width;
  const lines = new Uint8Array(height * (1 + rowBytes)); // each row after the number of its filter
  for (let row = 0; row < height; row++) {
    const [from, to] = [row * rowBytes, row * (1 + rowBytes)];
    lines[to] = LEFT_FILTER;
    for (let at = 0; at < rowBytes; at++) {
      const left = at < PIXEL_BYTES ? 0 : bytes[from + at - PIXEL_BYTES] ?? 0;
      lines[to + 1 + at] = (bytes[from + at] ?? 0) - left; // wraps, as the filter wants it
    }
  }
  const chunk = (type: string, data: Uint8Array): Uint8Array[] => {
    const body = joined([new TextEncoder().encode(type), data]);
    return [uint32(data.length), body, uint32(crc32(body))];
  };
  return joined([
    SIGNATURE,
    ...chunk("IHDR", joined([uint32(width), uint32(height), FORMAT])),
    ...chunk("IDAT", deflateSync(lines)),
    ...chunk("IEND", new Uint8Array()),
  ]);
}

/** PNG writes numbers with their highest byte first. */
function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
