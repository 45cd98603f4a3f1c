// Types for the part of @std/assert that tests import from npm, where it ships without any.

/** Classes of every signature, abstract ones too. */
type Constructor<T> = abstract new (...args: never[]) => T;

/** Reports a failed assertion. */
export class AssertionError extends Error {}

/** Passes when the value is truthy, and narrows it. */
export function assert(expr: unknown, message?: string): asserts expr;
/** Passes when the value is falsy. */
export function assertFalse(expr: unknown, message?: string): asserts expr is Falsy;
type Falsy = false | 0 | 0n | "" | null | undefined;

/** Passes when both values are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void;
/** Passes when the values are not deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
/** Passes when both are the same by Object.is, and narrows the first. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T;
/** Passes when the values are not the same by Object.is. */
export function assertNotStrictEquals<T>(actual: T, expected: T, message?: string): void;
/** Tells whether two values are deeply equal. */
export function equal(a: unknown, b: unknown): boolean;

/** Passes when the numbers differ by no more than the tolerance. */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  message?: string,
): void;
/** Passes when actual > expected. */
export function assertGreater<T>(actual: T, expected: T, message?: string): void;
/** Passes when actual >= expected. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void;
/** Passes when actual < expected. */
export function assertLess<T>(actual: T, expected: T, message?: string): void;
/** Passes when actual <= expected. */
export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void;

/** Passes when the object has at least the expected members. */
export function assertObjectMatch(
  actual: object,
  expected: Record<PropertyKey, unknown>,
  message?: string,
): void;
/** Passes when the text contains the expected part. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void;
/** Passes when the text matches the pattern. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void;
/** Passes when the text does not match the pattern. */
export function assertNotMatch(actual: string, expected: RegExp, message?: string): void;

/** Passes when the value is an instance of the class, and narrows it. */
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Constructor<T>,
  message?: string,
): asserts actual is T;
/** Passes when the value is an error of the class whose message contains the text. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  errorClass?: Constructor<E>,
  messageMatches?: string | RegExp,
  message?: string,
): asserts error is E;

/** Passes when the function throws, and returns what it threw. */
export function assertThrows(fn: () => unknown, message?: string): unknown;
/** Passes when the function throws that class of error, and returns it. */
export function assertThrows<E extends Error>(
  fn: () => unknown,
  errorClass: Constructor<E>,
  messageIncludes?: string,
  message?: string,
): E;
/** Passes when the promise rejects, and returns what it rejected with. */
export function assertRejects(
  fn: () => PromiseLike<unknown>,
  message?: string,
): Promise<unknown>;
/** Passes when the promise rejects with that class of error, and returns it. */
export function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: Constructor<E>,
  messageIncludes?: string,
  message?: string,
): Promise<E>;

/** Fails. */
export function fail(message?: string): never;
