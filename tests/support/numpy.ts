// Python's numpy, where it is installed: in `VRAMKIT_PYTHON`, or in `python3`.

const PYTHON = Deno.env.get("VRAMKIT_PYTHON") ?? "python3";

/** Why numpy cannot be asked; undefined when it can. */
const noNumpy: string | undefined = await findReason();

/** Runs a program in Python and returns what it prints. */
export async function runPython(program: string, args: readonly string[] = []): Promise<string> {
  const { code, stdout, stderr } = await run(["-c", program, ...args]);
  if (code !== 0) throw new Error(`Cannot run Python: ${stderr}`);
  return stdout;
}

/** Registers a test that needs numpy; without it, its name says why it is ignored. */
export function testWithNumpy(name: string, fn: () => Promise<void>): void {
  const reason = noNumpy === undefined ? "" : ` (skipped: ${noNumpy})`;
  Deno.test({ name: `${name}${reason}`, ignore: noNumpy !== undefined, fn });
}

async function findReason(): Promise<string | undefined> {
  try {
    const { code, stderr } = await run(["-c", "import numpy"]);
    return code === 0 ? undefined : `${PYTHON}: ${stderr.trim().split("\n").at(-1)}`;
  } catch {
    return `there is no ${PYTHON}`;
  }
}

async function run(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(PYTHON, { args, stdin: "null" }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
