// The canvas of plots without a browser: plotly.js paints the cells of heatmaps and images on one, as
// pixels or as rectangles of one colour, and asks for a PNG.

import { type Pixels, pngWriter } from "../buffers/png.ts";

/** The part of a canvas element that is used here. */
export interface CanvasElement {
  width: number;
  height: number;
}

/** The pixels that a drawing context holds. */
interface ImageData {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

class PictureContext {
  fillStyle = "rgba(0,0,0,1)";
  readonly #image: ImageData;

  constructor({ width, height }: CanvasElement) {
    this.#image = this.createImageData(width, height);
  }

  get pixels(): Pixels {
    const { width, height, data } = this.#image;
    return { width, height, bytes: new Uint8Array(data.buffer) };
  }

  createImageData(width: number, height: number): ImageData {
    return { width, height, data: new Uint8ClampedArray(4 * width * height) };
  }

  putImageData({ width, height, data }: ImageData, left: number, top: number): void {
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const at = 4 * (row * width + column);
        this.#set(left + column, top + row, data.subarray(at, at + 4));
      }
    }
  }

  fillRect(left: number, top: number, width: number, height: number): void {
    const [x, y] = [Math.min(left, left + width), Math.min(top, top + height)].map(Math.round);
    const [right, bottom] = [Math.max(left, left + width), Math.max(top, top + height)].map(
      Math.round,
    );
    const color = channels(this.fillStyle);
    for (let row = y ?? 0; row < (bottom ?? 0); row++) {
      for (let column = x ?? 0; column < (right ?? 0); column++) this.#set(column, row, color);
    }
  }

  #set(x: number, y: number, color: ArrayLike<number>): void {
    const { width, height, data } = this.#image;
    if (x >= 0 && x < width && y >= 0 && y < height) data.set(color, 4 * (y * width + x));
  }
}

/** Reads `rgb(1,2,3)` and `rgba(1,2,3,0.5)`, in which plotly.js gives its colours. */
function channels(style: string): number[] {
  const [red = 0, green = 0, blue = 0, opacity = 1] = (style.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue, 255 * opacity];
}

/** The methods that canvas elements of a page without a browser get. */
export interface CanvasMethods {
  getContext(this: CanvasElement, kind: string): unknown;
  toDataURL(this: CanvasElement): string;
}

/** Makes these methods; only drawings in two dimensions are there. */
export async function canvasMethods(): Promise<CanvasMethods> {
  const writePng = await pngWriter();
  const contexts = new WeakMap<CanvasElement, PictureContext>();
  return {
    getContext(kind) {
      if (kind !== "2d" || this.width === 0 || this.height === 0) return null;
      return contexts.getOrInsertComputed(this, () => new PictureContext(this));
    },
    toDataURL() {
      const pixels = contexts.get(this)?.pixels;
      if (pixels === undefined) return "data:,";
      return `data:image/png;base64,${writePng(pixels).toBase64()}`;
    },
  };
}
