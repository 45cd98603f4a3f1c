// The command line: `deno run -A <url of this file> demo | bandwidth | calibrate | doctor | kernel |
// persisted | machine`.

import { type Command, COMMANDS, readArguments, UsageError } from "./cli/arguments.ts";
import { runBandwidth } from "./cli/bandwidth.ts";
import { runCalibrate } from "./cli/calibrate.ts";
import { runDemo } from "./cli/demo.ts";
import { runDoctor } from "./cli/doctor.ts";
import { runKernel } from "./cli/kernel.ts";
import { runMachine } from "./cli/machine.ts";
import { runPersisted } from "./cli/persisted.ts";
import { PersistError } from "./persist/persist_error.ts";
import { CudaError, CudaUnavailableError, OutOfMemoryError } from "./words/errors.ts";
import { messageOf } from "./words/format.ts";
import "./words/runtime.ts";
import { VERSION } from "./words/version.ts";
import { printOrLose } from "./words/warning.ts";

/** The commands that do something: their functions, and summaries for the help. */
const RUNS = {
  doctor: [runDoctor, "say whether this machine's GPU can be used, and what to fix"],
  demo: [runDemo, "move arrays both ways, verify them, measure and draw the bandwidth"],
  bandwidth: [runBandwidth, "only measure; print a table, or JSON with --json"],
  machine: [runMachine, "find out in a minute whether this machine is all right"],
  calibrate: [runCalibrate, "find the options of transfers that fit this machine"],
  kernel: [runKernel, "install a Jupyter kernel whose memory survives Stop"],
  persisted: [runPersisted, "list what outlives programs; also forget NAME, start, stop"],
} as const;

/** The options by name, as they are written and what they do. */
const OPTIONS: Readonly<Record<string, readonly [usage: string, words: string]>> = {
  largest: ["--largest SIZE", 'measure copies of 4 KiB to this size (default "256 MiB")'],
  full: ["--full", 'the same as --largest "1 GiB"'],
  device: ["--device N", "which device, counted from 0 (default 0)"],
  driver: ["--driver NAME", "auto, cuda or simulated (default auto; doctor: cuda)"],
  out: [
    "--out FOLDER",
    "where demo writes bandwidth.json and .html, and machine its\nreport (default .)",
  ],
  folder: ["--folder FOLDER", "measure the disk of this folder (calibrate, machine)"],
  json: ["--json", "JSON (bandwidth, calibrate, doctor, machine, persisted)"],
  cases: [
    "--cases",
    "measure nvbandwidth's copy-engine cases for one GPU, with\n" +
    "copies of 512 MiB or of --largest; --json prints its format\n(bandwidth)",
  ],
  compare: [
    "--compare FILE",
    "print them beside nvbandwidth's own, from its text or JSON\n(bandwidth --cases); write a page " +
    "that shows this report and\nmore of them side by side (machine --compare A B ...)",
  ],
  remove: ["--remove", "put the kernel from before back, or none (kernel)"],
  help: ["--help", "show this text, or that of COMMAND"],
  version: ["--version", "show the kit's version"],
};

/** The line that begins every text about the usage. */
const USAGE = "Usage: deno run -A cli.ts COMMAND [OPTIONS]";

/** Returns the text of `--help`: about all commands, or about one. */
function helpText(topic: Command | undefined): string {
  const about = topic !== undefined && topic in RUNS ? topic as keyof typeof RUNS : undefined;
  const names = about === undefined ? Object.keys(OPTIONS) : [...COMMANDS[about], "help"];
  const lines = Object.keys(OPTIONS).filter((name) => names.includes(name)).map(optionText);
  const options = ["Options:", ...lines].join("\n");
  if (about !== undefined) {
    return `vramkit ${VERSION}, ${about}: ${RUNS[about][1]}\n\n` +
      `${USAGE.replace("COMMAND", about)}\n\n${options}`;
  }
  const commands = Object.entries(RUNS).map(([name, [, words]]) => `  ${name.padEnd(12)}${words}`);
  return `vramkit ${VERSION}: GPU memory for Deno and Jupyter\n\n${USAGE}\n\n` +
    `Commands:\n${commands.join("\n")}\n\n${options}`;
}

function optionText(name: string): string {
  const [usage = "", words = ""] = OPTIONS[name] ?? [];
  return `  ${usage.padEnd(18)}${words.replaceAll("\n", `\n${" ".repeat(20)}`)}`;
}

/** Errors whose message is enough; all others are mistakes of this program, with a stack. */
const REPORTED = [
  CudaUnavailableError,
  CudaError,
  OutOfMemoryError,
  PersistError,
  RangeError,
] as const;

/**
 * Runs one command and returns its exit code: 0 for success, 1 for a failure, including one to
 * write the output, and 2 for wrong arguments.
 *
 * @param args The command line's arguments, without the program's name.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { command, topic, options } = readArguments(args);
    if (command === "help") return print(helpText(topic));
    if (command === "version") return print(VERSION);
    const [run] = RUNS[command];
    return await run(options);
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\n\n${USAGE}, see --help`, 2);
    if (isOfSystem(error)) return complain(`Cannot write the output: ${error.message}`, 1);
    if (!REPORTED.some((kind) => error instanceof kind)) throw error;
    return complain(messageOf(error), 1);
  }
}

/** Returns whether the system reported the error: a command could not write its output. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && /\(os error \d+\)/.test(error.message);
}

/** Prints what went wrong; when nothing can be printed, only the exit code tells. */
function complain(text: string, code: number): number {
  printOrLose(() => console.error(text));
  return code;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
