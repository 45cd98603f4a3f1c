// The format's own Python library, where it is installed: in `VRAMKIT_PYTHON`, or in `python3`.

import { PROJECT_ROOT } from "../project_files.ts";

const PEER = new URL("tests/support/safetensors/peer.py", PROJECT_ROOT).pathname;
const PYTHON = Deno.env.get("VRAMKIT_PYTHON") ?? "python3";

/** Why Python's safetensors cannot be asked; undefined when it can. */
export const noPeer: string | undefined = await findReason();

/** Runs `peer.py` and returns what it prints. */
export async function askPeer(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run([PEER, ...args]);
  if (code !== 0) throw new Error(`Cannot run peer.py ${args[0]}: ${stderr}`);
  return stdout;
}

/** Registers a test that needs Python's safetensors; without it, its name says why it is ignored. */
export function testWithPeer(name: string, fn: () => Promise<void>): void {
  const reason = noPeer === undefined ? "" : ` (skipped: ${noPeer})`;
  Deno.test({ name: `${name}${reason}`, ignore: noPeer !== undefined, fn });
}

async function findReason(): Promise<string | undefined> {
  try {
    const { code, stderr } = await run(["-c", "import numpy, safetensors"]);
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
