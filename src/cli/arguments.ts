// The command line's arguments, checked: unknown commands, options and values are rejected.

import { parseArgs } from "node:util";
import { MIN_SWEPT_BYTES } from "../measure/bandwidth.ts";
import { formatBytes, messageOf, parseBytes, visibleLines } from "../words/format.ts";
import { describeParseError, hintAt } from "../words/parse_error.ts";

/** The options of the command line. */
export type CliOptions = ReturnType<typeof readOptions>;

const PLACE = ["device", "driver"];
const SIZES = ["largest", "full"];

/** The commands, and the options that each of them has. */
export const COMMANDS = {
  demo: [...PLACE, ...SIZES, "out"],
  bandwidth: [...PLACE, ...SIZES, "json", "cases", "compare"],
  calibrate: [...PLACE, "folder", "json"],
  doctor: [...PLACE, "json"],
  kernel: ["remove"],
  persisted: ["json"],
  machine: [...PLACE, "out", "folder", "json", "compare"],
  help: [],
} satisfies Readonly<Record<string, readonly string[]>>;

/** Names of the commands. */
export type Command = keyof typeof COMMANDS | "version";

/** A wrong argument on the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";

  constructor(message: string) {
    super(visibleLines(message));
  }
}

/** The command and the options of a command line. */
export interface CliArguments {
  readonly command: Command;
  /** The command that help is requested for; undefined for help about all of them. */
  readonly topic: Command | undefined;
  readonly options: CliOptions;
}

/**
 * Reads the arguments.
 *
 * @throws UsageError when a command, an option or a value does not exist.
 */
export function readArguments(args: readonly string[]): CliArguments {
  const { values, positionals, tokens } = parse(args);
  const isHelp = positionals[0] === "help" && positionals.length > 1;
  const [command = "help", ...rest] = isHelp ? positionals.slice(1) : positionals;
  const topic = isCommand(command) && command !== "help" ? command : undefined;
  if (values.help) return { command: "help", topic, options: readOptions(values) };
  if (values.version) return { command: "version", topic, options: readOptions(values) };
  if (!isCommand(command)) {
    throw new UsageError(
      `Cannot run "${command}": it is not a command${hintAt(command, Object.keys(COMMANDS))}`,
    );
  }
  const takesWords = command === "persisted" ||
    (command === "machine" && values.compare !== undefined);
  if (rest.length > 0 && (!takesWords || isHelp)) {
    throw new UsageError(`Cannot run ${command}: unexpected "${rest[0]}"`);
  }
  if (isHelp) return { command: "help", topic, options: readOptions(values) };
  const known: readonly string[] = COMMANDS[command];
  for (const token of tokens) {
    if (token.kind !== "option" || known.includes(token.name)) continue;
    throw new UsageError(`Cannot run ${command} with --${token.name}: it has no such option`);
  }
  const words = command === "persisted" ? wordsAfter(rest) : rest;
  return { command, topic, options: readOptions(values, command, words) };
}

/** The words that may follow `persisted`, and how many follow each of them. */
const ACTIONS: Readonly<Record<string, number>> = { forget: 1, start: 0, stop: 0 };

/** Checks the words that follow `persisted`. */
function wordsAfter(words: readonly string[]): readonly string[] {
  const [action, ...rest] = words;
  if (action === undefined) return words;
  const count = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (count === undefined) {
    const hint = hintAt(action, Object.keys(ACTIONS));
    throw new UsageError(`Cannot run persisted ${action}: expected forget, start or stop${hint}`);
  }
  if (rest.length < count) {
    throw new UsageError(`Cannot run persisted ${action}: a name is missing`);
  }
  if (rest.length === count) return words;
  throw new UsageError(`Cannot run persisted ${action}: unexpected "${rest[count]}"`);
}

function isCommand(text: string): text is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, text);
}

type Values = ReturnType<typeof parse>["values"];

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      tokens: true,
      options: {
        full: { type: "boolean", default: false },
        largest: { type: "string" },
        device: { type: "string" },
        driver: { type: "string", default: "auto" },
        out: { type: "string", default: "." },
        folder: { type: "string" },
        json: { type: "boolean", default: false },
        cases: { type: "boolean", default: false },
        remove: { type: "boolean", default: false },
        compare: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    const names = [...new Set(Object.values(COMMANDS).flat()), "help", "version"];
    throw new UsageError(describeParseError(error, names));
  }
}

function readOptions(values: Values, command?: Command, words: readonly string[] = []) {
  const { device = "0", driver, out, folder, json, cases, compare } = values;
  if (driver !== "auto" && driver !== "cuda" && driver !== "simulated") {
    throw new UsageError(`Cannot use --driver ${driver}: expected auto, cuda or simulated`);
  }
  if (!/^\d+$/.test(device)) {
    throw new UsageError(`Cannot use --device ${device}: expected a number from 0`);
  }
  if (out === "") throw new UsageError('Cannot use --out "": expected a folder');
  if (folder === "") throw new UsageError('Cannot use --folder "": expected a folder');
  if (compare === "") throw new UsageError('Cannot use --compare "": expected a file');
  if (values.full && values.largest !== undefined) {
    throw new UsageError("Cannot use --full with --largest: each names a size");
  }
  if (values.full && (cases || compare !== undefined)) {
    throw new UsageError("Cannot use --full with --cases: their copies have one size, --largest");
  }
  if (json && compare !== undefined) {
    const form = command === "machine" ? "page" : "table";
    throw new UsageError(`Cannot use --compare with --json: the comparison is a ${form}`);
  }
  const largestBytes = readLargest(values);
  return {
    ...values,
    driver: driver as "auto" | "cuda" | "simulated",
    ordinal: Number(device),
    /** The command line names a device; `machine` takes all otherwise. */
    isOfOne: values.device !== undefined,
    /** Bytes of the largest copy to measure. */
    largestBytes,
    /** Measures nvbandwidth's cases. */
    cases: cases || compare !== undefined,
    /** Bytes of a copy in these cases; nvbandwidth's when left out. */
    caseBytes: values.largest === undefined ? undefined : largestBytes,
    /** Words after the command, for `persisted`: `["forget", "llama"]`. */
    words,
  };
}

function readLargest({ full, largest = full ? "1 GiB" : "256 MiB" }: Values): number {
  try {
    const bytes = parseBytes(largest, "--largest");
    if (bytes >= MIN_SWEPT_BYTES) return bytes;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  throw new UsageError(
    `Cannot use --largest ${largest}: expected at least ${formatBytes(MIN_SWEPT_BYTES)}`,
  );
}
