// Rounds sizes and offsets to whole steps, such as pages or the alignment of a struct.

/** Returns the smallest multiple of `step` that is not less than `amount`. */
export function roundUp(amount: number, step: number): number {
  return Math.ceil(amount / step) * step;
}
