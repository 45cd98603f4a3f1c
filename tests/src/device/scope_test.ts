// Checks when a scope disposes what it was given.

import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { runScope, type Scope } from "../../../src/device/scope.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

function disposable(name: string, log: string[]): Disposable {
  return { [Symbol.dispose]: () => void log.push(name) };
}

Deno.test("runScope() disposes last in, first out when the function ends", () => {
  const log: string[] = [];
  runScope((scope) => {
    scope.use(disposable("first", log));
    scope.defer(() => log.push("deferred"));
    scope.use(disposable("last", log));
    assertEquals(log, []);
  });
  assertEquals(log, ["last", "deferred", "first"]);
});

Deno.test("runScope() returns what the function returns, and use() what it was given", () => {
  const given = disposable("x", []);
  assertStrictEquals(runScope((scope) => scope.use(given)), given);
  assertEquals(runScope((scope) => scope.use(null)), null);
});

Deno.test("runScope() refuses what nothing could dispose, such as an upload that is not awaited", () => {
  runScope((scope) => {
    assertThrows(
      () => scope.use(Promise.resolve() as unknown as Disposable),
      TypeError,
      "Cannot call scope.use() with a promise, which has to be awaited",
    );
  });
});

Deno.test("runScope() takes nothing once its function has ended", () => {
  const scope = runScope((scope) => scope);
  const words = "Cannot use a scope whose function has ended";
  assertThrows(() => scope.use(disposable("x", [])), DisposedError, words);
  assertThrows(() => scope.defer(() => {}), DisposedError, words);
});

Deno.test("runScope() disposes when the function throws, and throws that error", () => {
  const log: string[] = [];
  assertThrows(
    () =>
      runScope((scope) => {
        scope.use(disposable("x", log));
        throw new RangeError("inside");
      }),
    RangeError,
    "inside",
  );
  assertEquals(log, ["x"]);
});

Deno.test("runScope() disposes when what the function returned cannot be looked at", () => {
  const log: string[] = [];
  const returned = {
    get then() {
      throw new RangeError("not now");
    },
  };
  const body = (scope: Scope) => {
    scope.use(disposable("x", log));
    return returned;
  };
  assertThrows(() => runScope(body), RangeError, "not now");
  assertEquals(log, ["x"]);
});

Deno.test("runScope() tells of what fails after it was disposed", async () => {
  using warnings = new CaughtWarnings();
  const fail = async () => {
    await undefined;
    throw new Error("too late");
  };
  runScope((scope) => {
    scope.defer(fail);
    scope.use({ [Symbol.dispose]: fail });
    assertThrows(() => scope.defer(5 as never), TypeError, "Cannot call scope.defer() with");
  });
  await delay(0);
  const told = "vramkit: what a scope disposes failed after it had returned: too late";
  assertEquals(warnings.texts, [told, told]);
});

Deno.test("runScope() disposes when the promise of the function settles, and not before", async () => {
  const log: string[] = [];
  const result = runScope(async (scope) => {
    scope.use(disposable("x", log));
    await Promise.resolve();
    log.push("done");
    return 7;
  });
  assertEquals(log, []);
  assertEquals([await result, log], [7, ["done", "x"]]);
});

Deno.test("runScope() disposes when the promise of the function rejects", async () => {
  const log: string[] = [];
  await assertRejects(
    () =>
      runScope(async (scope) => {
        scope.use(disposable("x", log));
        await Promise.resolve();
        throw new TypeError("inside");
      }),
    TypeError,
    "inside",
  );
  assertEquals(log, ["x"]);
});

Deno.test("runScope() waits for a promise of another library, too", async () => {
  const log: string[] = [];
  const thenable: PromiseLike<number> = {
    then: (resolve, reject) => Promise.resolve(5).then(resolve, reject),
  };
  const result = runScope((scope) => {
    scope.use(disposable("x", log));
    return thenable;
  });
  assertEquals(log, []);
  assertEquals(await result, 5);
  assertEquals(log, ["x"]);
});

for (const isAsync of [false, true]) {
  Deno.test(`runScope() loses no error when both fail, async: ${isAsync}`, async () => {
    const log: string[] = [];
    const failing = () =>
      runScope((scope): unknown => {
        scope.use(disposable("x", log));
        scope.defer(() => {
          throw "later";
        });
        if (isAsync) return Promise.reject(new RangeError("first"));
        throw new RangeError("first");
      });
    const error = await assertRejects(async () => await failing(), SuppressedError, "later");
    assertStrictEquals(error.error, "later");
    assertEquals((error.suppressed as RangeError).message, "first");
    assertEquals(log, ["x"]);
  });
}
