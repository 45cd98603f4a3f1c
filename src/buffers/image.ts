// A buffer of two or three axes as a picture: some of its elements, with colours for numbers.

import type { DType, HostArray } from "../dtype.ts";
import { describeNumbers } from "../words/format.ts";
import { listOf, NUMBER, oneOf, OptionSet } from "../words/options.ts";
import { comesFrom, Parts, partsOf } from "../words/parts.ts";
import { COLOR_MAPS, colorAt, type ColorMap } from "./color_map.ts";
import { pngWriter } from "./png.ts";
import { formatShape, type Shape } from "./shape.ts";
import { magnitudesIn } from "./summary.ts";

/** Options for {@link GpuBuffer.showImage}. */
export interface ImageOptions {
  /**
   * Colours of single numbers: `"viridis"` from dark to light, `"gray"`, or `"balance"` away from
   * zero in two hues. `"balance"` where there are values on both sides of zero, else `"viridis"`.
   */
  readonly colors?: ColorMap | undefined;
  /**
   * Values at the two ends of the colours. By default the lowest and the highest value; for
   * pictures with channels 0 and 255 for whole numbers, 0 and 1 for others.
   */
  readonly range?: readonly [lowest: number, highest: number] | undefined;
}

/** Checks the options above. */
export const IMAGE_OPTIONS: OptionSet<ImageOptions> = new OptionSet({
  colors: oneOf(...COLOR_MAPS),
  range: listOf(NUMBER),
});

/** A picture of a buffer's elements, as {@link GpuBuffer.showImage} returns it. */
export class BufferImage {
  /** The buffer's name and type. */
  declare readonly name: string;
  /** Pixels from left to right; elements are larger in a small picture, and some left out of a large one. */
  declare readonly width: number;
  /** Pixels from top to bottom. */
  declare readonly height: number;
  /** Distance between the rows and columns shown: 1 when all are. */
  declare readonly step: readonly [row: number, column: number];
  /** Values at the two ends of the colours. */
  declare readonly range: readonly [lowest: number, highest: number];
  /** The colours of single numbers; null where channels are the colours. */
  declare readonly colors: ColorMap | null;
  /** The picture as a PNG file. */
  declare readonly png: Uint8Array<ArrayBuffer>;

  /** @ignore Takes over values. */
  constructor(parts: Parts<Omit<BufferImage, "toJSON">>) {
    Object.assign(this, partsOf(parts, new.target));
  }

  /** Returns the picture as plain data, with the PNG file in base64. */
  toJSON(): Omit<BufferImage, "png" | "toJSON"> & { readonly png: string } {
    return { ...this, png: this.png.toBase64() };
  }
}

comesFrom(BufferImage, "buffer.showImage()");

/** The most elements shown along each side. */
const MAX_ELEMENTS = 512;
const MIN_ELEMENTS = 32;
/** Pictures of fewer elements are enlarged to about this many pixels. */
const MIN_PIXELS = 320;

/** A view of elements, as far as pictures use it. */
interface PictureElements {
  range(axis: number, range: { readonly step: number }): PictureElements;
  download(): Promise<unknown>;
}

/** The elements that an image shows. */
interface ImageSource {
  readonly name: string;
  /** Its name, type and shape, for errors. */
  readonly words: string;
  readonly dtype: DType;
  readonly shape: Shape;
  /** The elements in the order of the picture. */
  readonly view: PictureElements;
}

/** Copies at most 512 by 512 elements to the host and draws them. */
export async function drawImage(
  source: ImageSource,
  { colors, range }: ImageOptions,
): Promise<BufferImage> {
  const [rowCount, columnCount, channelCount] = sidesOf(source);
  const commonStep = Math.ceil(Math.max(rowCount, columnCount) / MAX_ELEMENTS);
  const rows = thinned(rowCount, commonStep);
  const columns = thinned(columnCount, commonStep);
  const part = source.view.range(0, { step: rows.step }).range(1, { step: columns.step });
  const read = magnitudesIn(source.dtype, await part.download() as HostArray);
  const values = Array.from(read as ArrayLike<number | bigint>, Number);
  const scale = scaleOf(values, { colors, range, channelCount, dtype: source.dtype });
  const enlarged = Math.max(1, Math.floor(MIN_PIXELS / Math.max(rows.count, columns.count)));
  const pixels = Array.from({ length: rows.count * columns.count }, (_, at) => {
    return pixelOf(values.slice(at * channelCount, (at + 1) * channelCount), scale);
  });
  const width = columns.count * enlarged;
  const height = rows.count * enlarged;
  const bytes = new Uint8Array(4 * width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = Math.floor(y / enlarged) * columns.count + Math.floor(x / enlarged);
      bytes.set(pixels[at] ?? [], 4 * (y * width + x));
    }
  }
  const writePng = await pngWriter();
  return new BufferImage(
    new Parts({
      name: `${source.name} ${formatShape(source.dtype, source.shape)}`,
      width,
      height,
      step: [rows.step, columns.step],
      range: scale.range,
      colors: scale.colors,
      png: writePng({ width, height, bytes }),
    }),
  );
}

function sidesOf(source: ImageSource): [rows: number, columns: number, channels: number] {
  const [rows = 0, columns = 0, channels = 1] = source.shape;
  const axisCount = source.shape.length;
  const isPicture = axisCount === 2 || (axisCount === 3 && [1, 3, 4].includes(channels));
  if (!isPicture) {
    throw new RangeError(
      `Cannot show ${source.words} as an image: expected rows and columns, or rows, columns and 1, 3 or ` +
        "4 channels; show one view() or reshape() it",
    );
  }
  if (rows * columns * channels === 0) {
    throw new RangeError(`Cannot show ${source.words} as an image: it is empty`);
  }
  return [rows, columns, channels];
}

/** Both sides have the same step, not to distort the picture, unless too little would be left. */
function thinned(size: number, commonStep: number): { count: number; step: number } {
  const step = size / commonStep < MIN_ELEMENTS ? Math.ceil(size / MAX_ELEMENTS) : commonStep;
  return { count: Math.ceil(size / step), step };
}

interface Scale {
  readonly range: readonly [number, number];
  readonly colors: ColorMap | null;
}

function scaleOf(
  values: readonly number[],
  { colors, range, channelCount, dtype }: ImageOptions & {
    readonly channelCount: number;
    readonly dtype: DType;
  },
): Scale {
  const isRange = range?.length === 2 && range.every(Number.isFinite) && range[0] < range[1];
  if (range !== undefined && !isRange) {
    throw new RangeError(
      `Cannot show an image between ${describeNumbers(range)}: expected a lower and a higher value`,
    );
  }
  if (channelCount > 1) {
    return { colors: null, range: range ?? [0, dtype.includes("float") ? 1 : 255] };
  }
  let [lowest, highest] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  if (lowest > highest) [lowest, highest] = [0, 0];
  const chosen = colors ?? (lowest < 0 && highest > 0 ? "balance" : "viridis");
  const reach = Math.max(-lowest, highest);
  const found = chosen === "balance" ? [-reach, reach] as const : [lowest, highest] as const;
  return { colors: chosen, range: range ?? found };
}

/** A value that is NaN or infinite becomes a transparent pixel. */
function pixelOf(
  element: readonly number[],
  { range: [lowest, highest], colors }: Scale,
): number[] {
  const [value = NaN] = element;
  const half = highest - lowest === Infinity ? 2 : 1; // of float64's largest numbers
  const width = highest / half - lowest / half;
  const place = (number: number): number =>
    width > 0 ? (number / half - lowest / half) / width : 0.5;
  if (!element.every(Number.isFinite)) return [0, 0, 0, 0];
  if (colors !== null) return [...colorAt(colors, place(value)), 255];
  const channels = element.map((channel) =>
    Math.round(255 * Math.min(1, Math.max(0, place(channel))))
  );
  return channels.length === 4 ? channels : [...channels, 255];
}
