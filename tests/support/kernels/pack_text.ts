// Packs texts for src/launch/packed_text.ts, which only unpacks them.

import { DIGITS, MARK, MIN_LENGTH } from "../../../src/launch/packed_text.ts";

const MAX_LENGTH = MIN_LENGTH + DIGITS.length - 1;
const MAX_DISTANCE = DIGITS.length ** 3 - 1;

/** Earlier places that are compared with one: more find hardly longer repetitions. */
const MAX_PLACES = 2000;

interface Repetition {
  readonly length: number;
  readonly distance: number;
}

/** Returns a text with a mark in place of each part that stands before it already. */
export function packText(text: string): string {
  if (text.includes(MARK)) throw new TypeError(`Cannot pack a text with ${MARK}`);
  const places = new Map<string, number[]>();
  let packed = "";
  let noted = 0;
  for (let at = 0; at < text.length;) {
    for (; noted < at; noted++) {
      places.getOrInsertComputed(text.slice(noted, noted + MIN_LENGTH), () => []).push(noted);
    }
    const found = longestAt(text, at, places);
    const next = longestAt(text, at + 1, places);
    // One character more, and the repetition behind it may save more.
    if (found === undefined || (next !== undefined && next.length > found.length + 1)) {
      packed += text[at++];
      continue;
    }
    packed += MARK + digits(found.length - MIN_LENGTH, 1) + digits(found.distance, 3);
    at += found.length;
  }
  return packed;
}

function longestAt(
  text: string,
  at: number,
  places: ReadonlyMap<string, readonly number[]>,
): Repetition | undefined {
  let longest: Repetition | undefined;
  for (const place of (places.get(text.slice(at, at + MIN_LENGTH)) ?? []).slice(-MAX_PLACES)) {
    const distance = at - place;
    if (distance < MIN_LENGTH || distance > MAX_DISTANCE) continue;
    const max = Math.min(MAX_LENGTH, distance, text.length - at);
    let length = MIN_LENGTH;
    while (length < max && text[place + length] === text[at + length]) length++;
    if (length >= (longest?.length ?? 0)) longest = { length, distance };
  }
  return longest;
}

/** Writes a number with a count of digits. */
function digits(value: number, count: number): string {
  let text = "";
  for (let rest = value; text.length < count; rest = Math.floor(rest / DIGITS.length)) {
    text = (DIGITS[rest % DIGITS.length] ?? "") + text;
  }
  return text;
}
