// Error stacks that reach the program: V8 keeps ten frames, all of them the kit's own when an error
// comes from deep inside.

/** V8's setting, which only a program may lower. */
const DEFAULT_FRAMES = 10;
const FRAMES = 30;

/** Runs something whose errors should show the line of the program that called it. */
export function withCallers<T>(body: () => T): T {
  const { stackTraceLimit } = Error;
  if (stackTraceLimit !== DEFAULT_FRAMES) return body();
  Error.stackTraceLimit = FRAMES;
  try {
    return body();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
