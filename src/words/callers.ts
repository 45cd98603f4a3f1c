// Stacks of errors that go as far as the program: V8 keeps ten frames, which are the kit's own where
// an error comes from deep inside.

/** V8's setting, which only a program may lower. */
const DEFAULT_FRAMES = 10;
const FRAMES = 30;

/** Runs something whose errors shall name the program's line that called for it. */
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
