// Colours for numbers: each map is a few colours, evenly spread, with straight lines between them.

/** A colour map: from dark to light, from black to white, or away from zero in two hues. */
export type ColorMap = "viridis" | "gray" | "balance";

/** Three channels from 0 to 255. */
type Color = readonly [red: number, green: number, blue: number];

/** The names of the colour maps. */
export const COLOR_MAPS = ["viridis", "gray", "balance"] as const satisfies readonly ColorMap[];

const COLORS: Readonly<Record<ColorMap, readonly number[]>> = {
  viridis: [
    ...[0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e],
    ...[0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725],
  ],
  gray: [0x000000, 0xffffff],
  balance: [0x2166ac, 0x67a9cf, 0xd8dbe0, 0xef8a62, 0xb2182b],
};

/** Returns the colour of a map at a place from 0 to 1, to which other places are clamped. */
export function colorAt(map: ColorMap, place: number): Color {
  const colors = COLORS[map];
  const at = Math.min(1, Math.max(0, place)) * (colors.length - 1);
  const below = Math.min(Math.floor(at), colors.length - 2);
  const from = channelsOf(colors[below] ?? 0);
  const to = channelsOf(colors[below + 1] ?? 0);
  const mixed = (channel: 0 | 1 | 2): number =>
    Math.round(from[channel] + (to[channel] - from[channel]) * (at - below));
  return [mixed(0), mixed(1), mixed(2)];
}

function channelsOf(color: number): Color {
  return [color >> 16, (color >> 8) & 255, color & 255];
}
