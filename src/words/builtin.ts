// Node's modules, loaded when they are first needed: to load `node:process` alone takes as long as
// half of the kit's own files, and most programs never use it.

import type process from "node:process";

/** The modules that the kit uses. */
interface Builtins {
  readonly "node:async_hooks": typeof import("node:async_hooks");
  readonly "node:buffer": typeof import("node:buffer");
  readonly "node:fs": typeof import("node:fs");
  readonly "node:path": typeof import("node:path");
  readonly "node:timers": typeof import("node:timers");
  readonly "node:url": typeof import("node:url");
  readonly "node:worker_threads": typeof import("node:worker_threads");
  readonly "node:zlib": typeof import("node:zlib");
}

let isLoaded = false;

/** Returns whether the kit has loaded one of Node's modules, so that others cost little. */
export function hasBuiltins(): boolean {
  return isLoaded;
}

/** Returns one of Node's modules. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  isLoaded = true;
  const runtime = globalThis as unknown as { readonly process: typeof process };
  return runtime.process.getBuiltinModule(name);
}
