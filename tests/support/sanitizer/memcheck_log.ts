// What compute-sanitizer's memcheck wrote: its reports, counted by their first lines, and its end.
// Calls that the driver refuses are kept apart: tests provoke them to see what the kit makes of them.

/** A report and its number of occurrences. */
export interface MemcheckReport {
  /** Its first line. */
  readonly text: string;
  /** The number of occurrences. */
  readonly count: number;
}

/** The contents of a log. */
export interface MemcheckLog {
  /** Whether the tool came to its end; without that, no report means nothing. */
  readonly isComplete: boolean;
  /** Everything that is wrong, by the report's first line. */
  readonly reports: readonly MemcheckReport[];
  /** Driver calls that returned an error. */
  readonly refusedCalls: readonly MemcheckReport[];
}

/** The numbers of a run's tests by their end. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
}

/** The first line of a report, as all others that are not indented; details are. */
const HEADLINE = /^========= (\S.*)$/;
const LAST_LINE = /^ERROR SUMMARY: /;
const REFUSED_CALL = /^Program hit CUDA_ERROR_\w+ .* on CUDA API call to /;

/** Reads a log; a line that it does not know counts as a report. */
export function readMemcheckLog(text: string): MemcheckLog {
  const headlines = text.split("\n").flatMap((line) => HEADLINE.exec(line)?.[1] ?? []);
  const isRefused = (line: string) => REFUSED_CALL.test(line);
  const reports = headlines.filter((line) =>
    line !== "COMPUTE-SANITIZER" && !LAST_LINE.test(line) && !isRefused(line)
  );
  return {
    isComplete: headlines.some((line) => LAST_LINE.test(line)),
    reports: countEqual(reports),
    refusedCalls: countEqual(headlines.filter(isRefused)),
  };
}

/** Reads the last line of `deno test`; undefined when there is none. */
export function readTestCounts(output: string): TestCounts | undefined {
  const summary = /(\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(.*)/;
  const found = summary.exec(output);
  if (found === null) return undefined;
  const ignored = /(\d+) ignored/.exec(found[3] ?? "")?.[1] ?? 0;
  return { passed: Number(found[1]), failed: Number(found[2]), ignored: Number(ignored) };
}

function countEqual(lines: readonly string[]): MemcheckReport[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([text, count]) => ({ text, count }));
}
