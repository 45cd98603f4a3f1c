// Sentences in lines that a terminal of 80 columns shows whole.

const COLUMNS = 80;

/**
 * Breaks a sentence at its spaces; lines behind the first begin with `hanging`. A word that is longer
 * than a line, such as a path, stays whole.
 */
export function wrapped(text: string, hanging = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<=\S) (?=\S)/)) {
    const isFull = line !== "" && line.length + 1 + word.length > COLUMNS;
    if (isFull) lines.push(line);
    line = isFull ? hanging + word : line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
