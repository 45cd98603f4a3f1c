// Python and its modules, where they are installed: in `VRAMKIT_PYTHON`, or in `python3`.

import { testUnless } from "./test_unless.ts";

/** The Python that tests run. */
export const PYTHON = Deno.env.get("VRAMKIT_PYTHON") || "python3";

/** A function that registers a test, as `Deno.test` does. */
type RegisterTest = (name: string, fn: () => Promise<void>) => void;

/** Returns what registers tests that need some modules; without them, names say why they are ignored. */
export async function testsWith(...modules: readonly string[]): Promise<RegisterTest> {
  const reason = await whyWithout(modules);
  return (name, fn) => testUnless(name, reason, fn);
}

/** Runs Python and returns what it prints. */
export async function runPython(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  if (code !== 0) throw new Error(`Cannot run Python: ${stderr}`);
  return stdout;
}

/** Returns why some modules cannot be imported; undefined when they can. */
export async function whyWithout(modules: readonly string[]): Promise<string | undefined> {
  try {
    const { code, stderr } = await run(["-c", `import ${modules.join(", ")}`]);
    return code === 0 ? undefined : `${PYTHON}: ${stderr.trim().split("\n").at(-1)}`;
  } catch {
    return `there is no ${PYTHON}`;
  }
}

async function run(
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = new Deno.Command(PYTHON, { args: [...args], stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
