// A scope for disposables: everything passed to scope.use() is disposed when the function ends.
// Needed because a top-level `using` in a notebook cell never disposes.

import { DisposedError } from "../words/errors.ts";
import { messageOf } from "../words/format.ts";
import {
  CALLBACK,
  isPromiseLike,
  type OptionKind,
  OptionSet,
  requireKind,
  TEXT,
  warnOfFailure,
} from "../words/options.ts";

/** Collects disposables while a function runs, as {@link CudaDevice.scope} passes it. */
export interface Scope {
  /**
   * Disposes `value` when the scope ends, last in first out, and returns it.
   *
   * @throws DisposedError when the scope has ended, as in a call that its function did not await.
   */
  use<T extends Disposable | null | undefined>(value: T): T;
  /**
   * Runs `onDispose` when the scope ends.
   *
   * @throws DisposedError when the scope has ended.
   */
  defer(onDispose: () => void): void;
}

/** Options for {@link CudaDevice.scope}. */
export interface ScopeOptions {
  /** Name of the scope, which objects created inside have in tables and in the timeline. */
  readonly label?: string | undefined;
}

const DISPOSABLE: OptionKind = {
  expected: "what has a Symbol.dispose, such as a buffer",
  accepts: (value) =>
    value === undefined || value === null ||
    typeof (value as Disposable)[Symbol.dispose] === "function",
};

/** Checks the options above. */
export const SCOPE_OPTIONS: OptionSet<ScopeOptions> = new OptionSet({ label: TEXT });

/**
 * Calls `body` and then disposes everything that it passed to `scope.use()`, also when it throws.
 * For a function that returns a promise, the scope ends when the promise settles.
 *
 * @throws SuppressedError as `using` does, when the function fails and then something that is disposed.
 */
export function runScope<T>(body: (scope: Scope) => T): T {
  const stack = new DisposableStack();
  const open = () => {
    if (!stack.disposed) return stack;
    throw new DisposedError("a scope whose function has ended");
  };
  const scope: Scope = {
    use: (value) => {
      requireKind(value, DISPOSABLE, "scope.use");
      const dispose = value?.[Symbol.dispose];
      const stack = open();
      if (dispose !== undefined) stack.defer(() => watch(dispose.call(value)));
      return value;
    },
    defer: (onDispose) => {
      requireKind(onDispose, CALLBACK, "scope.defer");
      open().defer(() => watch(onDispose()));
    },
  };
  let result: T;
  let isLater: boolean;
  try {
    result = body(scope);
    isLater = isPromiseLike(result);
  } catch (error) {
    throw endAfter(error, stack);
  }
  if (!isLater) {
    stack.dispose();
    return result;
  }
  return Promise.resolve(result).then((value) => {
    stack.dispose();
    return value;
  }, (error) => {
    throw endAfter(error, stack);
  }) as T;
}

/** The scope does not wait for what is async. */
function watch(returned: unknown): void {
  warnOfFailure(returned, "what a scope disposes failed after it had returned");
}

/** Disposes all after a failure; returns it, or what `using` would throw when that fails, too. */
function endAfter(failure: unknown, stack: DisposableStack): unknown {
  try {
    stack.dispose();
    return failure;
  } catch (error) {
    return new SuppressedError(
      error,
      failure,
      `Cannot dispose all of a scope: ${messageOf(error)}; its function had failed before: ` +
        messageOf(failure),
    );
  }
}
