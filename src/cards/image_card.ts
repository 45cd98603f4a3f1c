// The card of a buffer shown as a picture, with the scale of its colours.

import { colorAt } from "../buffers/color_map.ts";
import type { BufferImage } from "../buffers/image.ts";
import type { Card, CardPart } from "./card.ts";
import { textOf } from "./preview.ts";

/** Colours of the scale. */
const SCALE_STEPS = 24;

/** Makes the card of a picture. */
export function imageCard(image: BufferImage): Card {
  const { name, width, height, step, range, colors, png } = image;
  const [rowStep, columnStep] = step;
  const thinned = rowStep === 1 && columnStep === 1
    ? "every element"
    : `1 of ${rowStep} rows, 1 of ${columnStep} columns`;
  const [lowest, highest] = range.map(textOf);
  const scale: CardPart[] = colors === null ? [] : [{
    type: "scale",
    colors: Array.from(
      { length: SCALE_STEPS },
      (_, at) => `rgb(${colorAt(colors, at / (SCALE_STEPS - 1)).join(",")})`,
    ),
    lowest: lowest ?? "",
    highest: highest ?? "",
  }];
  return {
    title: name,
    kind: "BufferImage",
    summary: `${thinned}${colors === null ? `, from ${lowest} to ${highest}` : ""}`,
    parts: [
      {
        type: "picture",
        source: `data:image/png;base64,${png.toBase64()}`,
        width,
        height,
        words: `${width} by ${height} pixels`,
      },
      ...scale,
    ],
  };
}
