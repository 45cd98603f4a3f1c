// Runs a program to its end and gives what it printed; its progress goes to our standard error.
// A program that hangs is ended, so that one library cannot cost the run the others.

/** Bounds one build or one library: the slowest takes well under a minute. */
const LIMIT_SECONDS = 240;

/** Runs a program and returns its standard output; throws when it is missing, fails or hangs. */
export async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const signal = AbortSignal.timeout(LIMIT_SECONDS * 1000);
  const command = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    signal,
  });
  const { success, code, stdout } = await command.output();
  if (signal.aborted) {
    throw new Error(`Cannot finish ${program}: it ran longer than ${LIMIT_SECONDS} s`);
  }
  if (!success) throw new Error(`Cannot finish ${program}: it ended with code ${code}`);
  return new TextDecoder().decode(stdout);
}
