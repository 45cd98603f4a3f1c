// The error of CUDA C++ that does not compile: the compiler's messages, with the lines that they
// concern.

import { formatCount, visibleLines } from "../words/format.ts";
import { OptionSet, TEXT } from "../words/options.ts";

/** A problem that the compiler found in the source. */
export interface CompileProblem {
  /** The line, counted from 1. */
  readonly line: number;
  /** The compiler's output. */
  readonly message: string;
}

/** Lines shown before and after the one with the mistake. */
const CONTEXT_LINES = 1;

/** Problems shown in full; the log has all. */
const SHOWN_PROBLEMS = 5;

/** The parts of a {@link CompileError}. */
export interface CompileReport {
  /** Name of the text. */
  readonly file: string;
  /** The text. */
  readonly source: string;
  /** The compiler's output. */
  readonly log: string;
}

const COMPILE_REPORT = new OptionSet<CompileReport>({ file: TEXT, source: TEXT, log: TEXT });

/** CUDA C++ did not compile. The message shows the mistakes; `log` is the whole output. */
export class CompileError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "CompileError";
  /** The compiler's output. */
  readonly log: string;
  /** The mistakes in the source itself, in the order of the log. */
  readonly problems: readonly CompileProblem[];

  /** Creates an error from a source, its name and the compiler's output. */
  constructor(report: CompileReport) {
    report = COMPILE_REPORT.read(report, "new CompileError");
    const { file = "kernel.cu", source = "", log = "" } = report;
    const problems = readProblems(log, file);
    super(visibleLines(messageFor({ file, source, log, problems })));
    this.log = log;
    this.problems = problems;
  }
}

function messageFor(
  { file, source, log, problems }: {
    file: string;
    source: string;
    log: string;
    problems: readonly CompileProblem[];
  },
): string {
  if (problems.length === 0) return `Cannot compile ${file}:\n${log.trim()}`;
  const lines = source.split("\n");
  const shown = problems.slice(0, SHOWN_PROBLEMS).map(({ line, message }) =>
    `${file}:${line}: ${message}\n${excerpt(lines, line)}`
  );
  const more = problems.length - shown.length;
  const rest = more > 0 ? [`and ${more} more; the error's log has all`] : [];
  const count = formatCount(problems.length, "error");
  return [`Cannot compile ${file}: ${count}`, ...shown, ...rest].join("\n");
}

/** Shows a line between its neighbours, with a mark. */
function excerpt(lines: readonly string[], line: number): string {
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const width = String(last).length;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const number = first + index;
    const mark = number === line ? ">" : " ";
    return `${mark} ${String(number).padStart(width)} | ${lines[number - 1] ?? ""}`.trimEnd();
  }).join("\n");
}

/** Reads "file(3): error: message", with which the compiler begins each error. */
function readProblems(log: string, file: string): CompileProblem[] {
  return log.split("\n").flatMap((text) => {
    const found = /^(.*)\((\d+)\): (?:catastrophic )?error(?: #\S+)?: (.*)$/.exec(text);
    if (found === null || found[1] !== file) return [];
    return [{ line: Number(found[2]), message: found[3] ?? "" }];
  });
}
