// Python in the process of the tests, where it can be started: `VRAMKIT_PYTHON` names one with numpy.
// VRAMKIT_TEST_VERBOSE=1 prints each call of it, and the stack of Python where the process crashes.

import { type Python, startPython } from "../../src/entries/python.ts";
import { ON_GPU } from "./driver.ts";
import { testUnless } from "./test_unless.ts";

/** A function that registers a test, as `Deno.test` does. */
type RegisterTest = (name: string, fn: (python: Python) => void | Promise<void>) => void;

/** The lines that Python printed since the last look. */
export const printed: string[] = [];

const IS_VERBOSE = Deno.env.get("VRAMKIT_TEST_VERBOSE") === "1";

/** Starts Python; a text says why that cannot be done. */
export function tryPython(): Python | string {
  try {
    const python = startPython({ onPrint: (text) => printed.push(text) });
    return IS_VERBOSE ? verbose(python) : python;
  } catch (error) {
    return error instanceof Error ? error.message : `${error}`;
  }
}

/** Has each call printed before it is made: a crash leaves no other trace. */
function verbose(python: Python): Python {
  python.run("import faulthandler; faulthandler.enable(file=2); del faulthandler");
  return new Proxy(python, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || typeof name === "symbol") return member;
      return (...args: unknown[]) => {
        console.error(`python.${name}(${args.map((arg) => Deno.inspect(arg)).join(", ")})`);
        return member.apply(target, args);
      };
    },
  });
}

/** Returns what registers tests that need some modules; without them, names say why they are ignored. */
export function pythonTestsWith(...modules: readonly string[]): RegisterTest {
  const python = tryPython();
  const reason = typeof python === "string" ? python : whyWithout(python, modules);
  return register(python, reason);
}

/** The same for tests whose modules need a GPU. */
export function gpuPythonTestsWith(...modules: readonly string[]): RegisterTest {
  if (ON_GPU) return pythonTestsWith(...modules);
  return register("", "libraries for GPUs need one; set VRAMKIT_TEST_DRIVER=cuda");
}

function register(python: Python | string, reason: string | undefined): RegisterTest {
  const body = (fn: (python: Python) => void | Promise<void>) => () =>
    typeof python === "string" ? undefined : fn(python);
  return (name, fn) => testUnless(name, reason, body(fn));
}

function whyWithout(python: Python, modules: readonly string[]): string | undefined {
  try {
    for (const name of modules) python.run(`import ${name}`);
    return undefined;
  } catch (error) {
    return `${python}: ${error instanceof Error ? error.message : error}`;
  }
}
