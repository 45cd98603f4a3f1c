// A second Deno process with permissions of its own, for what a test cannot see from inside:
// what a program may do, what an import sets off, what the compiler's tools report.

import { withBuiltKit } from "./built_kit.ts";
import { PROJECT_ROOT } from "./project_files.ts";
import { TemporaryFolder } from "./temporary_folder.ts";

/** The result of a finished process. */
export interface ChildResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `deno` with these arguments and returns what it printed; nothing is asked on a terminal. */
export async function runDeno(
  args: readonly string[],
  options: { readonly cwd?: string | URL; readonly env?: Record<string, string> } = {},
): Promise<ChildResult> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { NO_COLOR: "1", DENO_NO_PROMPT: "1", DENO_NO_UPDATE_CHECK: "1", ...options.env },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Runs a program with all permissions; it imports this project's files from `./`. */
export async function evaluate(
  program: string,
  { flags = [], env = {} }: {
    readonly flags?: readonly string[];
    readonly env?: Record<string, string>;
  } = {},
): Promise<ChildResult> {
  const text = await withBuiltKit(program);
  return await runDeno(["eval", "--ext=ts", ...flags, text], { cwd: PROJECT_ROOT, env });
}

/** Runs a program with the permissions of these flags; it imports files by their whole addresses. */
export async function runWith(
  flags: readonly string[],
  program: string,
  env: Record<string, string> = {},
): Promise<ChildResult> {
  const alone = ["--quiet", "--no-check", "--no-lock", "--no-config", "--no-prompt"];
  const address = `data:text/typescript,${encodeURIComponent(await withBuiltKit(program))}`;
  return await runDeno(["run", ...alone, ...flags, address], { env });
}

/** Runs or checks `program.ts` in a folder of its own with an empty cache, without this project. */
export async function runElsewhere(
  program: string,
  flags: readonly string[],
  command: "run" | "check" = "run",
): Promise<ChildResult> {
  using folder = new TemporaryFolder();
  const path = folder.write("program.ts", program);
  const env = { DENO_DIR: `${folder.path}/cache`, NO_PROXY: "127.0.0.1" };
  const quiet = ["--quiet", "--no-lock", "--no-npm"];
  return await runDeno([command, ...quiet, ...flags, path], { cwd: folder.path, env });
}

/** Runs `deno` and returns its output as JSON; throws with its errors when it fails. */
export async function denoJson<T>(args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await runDeno(args);
  if (code !== 0) {
    throw new Error(`Cannot run deno ${args.join(" ")}: exit code ${code}\n${stderr}`);
  }
  return JSON.parse(stdout);
}
