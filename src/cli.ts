// The command line: `deno run -A <url of this file> demo | bandwidth | calibrate | doctor`.

import "./words/runtime.ts";
import { readArguments, UsageError } from "./cli/arguments.ts";
import { runBandwidth } from "./cli/bandwidth.ts";
import { runCalibrate } from "./cli/calibrate.ts";
import { runDemo } from "./cli/demo.ts";
import { runDoctor } from "./cli/doctor.ts";
import { CudaUnavailableError } from "./words/errors.ts";
import { VERSION } from "./words/version.ts";

const USAGE = `vramkit ${VERSION}: GPU memory for Deno and Jupyter

Usage: deno run -A cli.ts COMMAND [OPTIONS]

Commands:
  demo        move arrays both ways, verify them, measure and draw the bandwidth
  bandwidth   only measure; prints a table, or JSON with --json
  calibrate   find from which size large transfers should use threads on this machine
  doctor      say whether this machine's GPU can be used, and what to mend

Options:
  --largest SIZE    measure copies of 4 KiB up to this size (default "256 MiB")
  --full            the same as --largest "1 GiB"
  --device N        which device, counted from 0 (default 0)
  --driver NAME     auto, cuda or simulated (default auto; doctor: cuda)
  --out FOLDER      where demo writes bandwidth.json and bandwidth.html (default .)
  --json            print JSON (bandwidth, calibrate)
  --cases           measure nvbandwidth's copy-engine cases for one GPU, with copies of 512 MiB or
                    of --largest; --json prints its format (bandwidth)
  --compare FILE    beside what nvbandwidth printed, as text or JSON (bandwidth --cases)
  --help            show this text
  --version         show the kit's version`;

/**
 * Runs one command and returns its exit code: 0 for success, 1 for a failure, including one to
 * write the output, and 2 for wrong arguments.
 *
 * @param args The command line's arguments, without the program's name.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { command, options } = readArguments(args);
    if (command === "help") return print(USAGE);
    if (command === "version") return print(VERSION);
    if (command === "demo") return await runDemo(options);
    if (command === "bandwidth") return await runBandwidth(options);
    if (command === "calibrate") return runCalibrate(options);
    return runDoctor(options);
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\n\n${USAGE}`, 2);
    if (isOfSystem(error)) return complain(`Cannot write the output: ${error.message}`, 1);
    if (!(error instanceof CudaUnavailableError) && !(error instanceof RangeError)) throw error;
    return complain(error.message, 1);
  }
}

/**
 * Whether the system reported the error. A command reads no files, so it failed to write its
 * output.
 */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && /\(os error \d+\)/.test(error.message);
}

/** Prints what went wrong; when nothing can be printed, only the exit code tells. */
function complain(text: string, code: number): number {
  try {
    console.error(text);
  } catch {
    // The exit code still tells.
  }
  return code;
}

function print(text: string): number {
  console.log(text);
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
