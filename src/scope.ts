// A place to leave disposables: what scope.use() got is disposed when the function ends.
// Needed because a top-level `using` in a notebook cell never disposes.

import { OptionSet, TEXT } from "./options.ts";

/** Collects disposables for the length of one function. */
export interface Scope {
  /** Disposes `value` when the scope ends, last in first out, and returns it. */
  use<T extends Disposable | null | undefined>(value: T): T;
  /** Runs `onDispose` when the scope ends. */
  defer(onDispose: () => void): void;
}

/** What a scope may have. */
export interface ScopeOptions {
  /** A name: what is made inside carries it in tables and in the timeline. */
  readonly label?: string;
}

/** Checks the options above. */
export const SCOPE_OPTIONS: OptionSet<ScopeOptions> = new OptionSet({ label: TEXT });

/**
 * Runs a function and disposes what it gave to `scope.use()`, also when it throws. For a function
 * that returns a promise, the scope ends when the promise settles.
 */
export function runScope<T>(body: (scope: Scope) => T): T {
  const stack = new DisposableStack();
  const scope: Scope = {
    use: (value) => stack.use(value),
    defer: (onDispose) => stack.defer(onDispose),
  };
  let result: T;
  try {
    result = body(scope);
  } catch (error) {
    stack.dispose();
    throw error;
  }
  if (!isPromiseLike(result)) {
    stack.dispose();
    return result;
  }
  return Promise.resolve(result).finally(() => stack.dispose()) as T;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
