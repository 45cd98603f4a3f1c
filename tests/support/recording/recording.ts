// A recording: what a real driver made of sequences, and which driver that was. It is kept as text,
// one step a line with what came of it, and compressed.

import type { Sequence } from "./notation.ts";
import type { MachineFacts } from "./simulation.ts";

/** The driver that was recorded, and the time. */
export interface RecordingFacts extends MachineFacts {
  readonly device: string;
  /** The driver's own version, such as `580.159.04`; empty when it could not be found. */
  readonly driverRelease: string;
  /** The day of the recording. */
  readonly date: string;
  readonly seed: number;
}

/** A sequence and what came of its steps. */
export interface RecordedSequence extends Sequence {
  readonly outcomes: readonly string[];
}

/** The outcomes of sequences on one driver. */
export interface Recording {
  /** The driver that was recorded. */
  readonly facts: RecordingFacts;
  readonly sequences: readonly RecordedSequence[];
}

const TITLE = "vramkit recording 1";
const OUTCOME = " -> ";

/** Writes a recording as text. */
export function formatRecording({ facts, sequences }: Recording): string {
  const lines = sequences.flatMap(({ id, isFresh, lines, outcomes }) => [
    `# ${id}${isFresh ? " (fresh)" : ""}`,
    ...lines.map((line, index) => `${line}${OUTCOME}${outcomes[index] ?? ""}`),
  ]);
  return [TITLE, JSON.stringify(facts), ...lines, ""].join("\n");
}

/**
 * Reads a recording from text.
 *
 * @throws TypeError when the text is something else.
 */
export function parseRecording(text: string): Recording {
  const [title, facts = "{}", ...lines] = text.split("\n");
  if (title !== TITLE) throw new TypeError(`Cannot read a recording: it begins with ${title}`);
  const sequences: (Sequence & { lines: string[]; outcomes: string[] })[] = [];
  for (const line of lines) {
    if (line.startsWith("# ")) {
      const isFresh = line.endsWith(" (fresh)");
      const id = line.slice(2).replace(/ \(fresh\)$/, "");
      sequences.push({ id, isFresh, lines: [], outcomes: [] });
    } else if (line !== "") {
      const at = line.lastIndexOf(OUTCOME);
      sequences.at(-1)?.lines.push(line.slice(0, at));
      sequences.at(-1)?.outcomes.push(line.slice(at + OUTCOME.length));
    }
  }
  return { facts: JSON.parse(facts), sequences };
}

/** Writes a recording into a compressed file. */
export async function writeRecording(path: string, recording: Recording): Promise<void> {
  const text = new Blob([formatRecording(recording)]).stream();
  await Deno.writeFile(path, text.pipeThrough(new CompressionStream("gzip")));
}

/** Reads a recording from a compressed file. */
export async function readRecording(path: string | URL): Promise<Recording> {
  const bytes = new Blob([await Deno.readFile(path)]).stream();
  const text = bytes.pipeThrough(new DecompressionStream("gzip"));
  return parseRecording(await new Response(text).text());
}
