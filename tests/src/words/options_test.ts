// The options that an OptionSet takes and refuses, and the words of its refusals.

import { assertEquals, assertThrows } from "@std/assert";
import { COPY, THIS_COPY } from "../../../src/words/format.ts";
import {
  CALLBACK,
  eitherOf,
  FLAG,
  isAccepted,
  listOf,
  NUMBER,
  oneOf,
  OptionSet,
  refusePromise,
  requireKind,
  TEXT,
  warnOfFailure,
} from "../../../src/words/options.ts";
import { CaughtWarnings } from "../../support/warnings.ts";

interface Choice {
  readonly label?: string | undefined;
  readonly onProgress?: (() => void) | undefined;
  readonly order?: "first" | "last" | undefined;
  readonly nested?: { readonly isOn?: boolean } | undefined;
}

const CHOICE = new OptionSet<Choice>({
  label: TEXT,
  onProgress: CALLBACK,
  order: oneOf("first", "last"),
  nested: new OptionSet<{ readonly isOn?: boolean }>({ isOn: FLAG }),
});

Deno.test("OptionSet.read() returns a copy of what it was given, and reads each option once", () => {
  const options = Object.freeze({ label: "a", order: undefined, nested: { isOn: true } } as const);
  assertEquals(CHOICE.read(options, "make"), options);
  let reads = 0;
  const chosen = CHOICE.read({
    get label() {
      return `${reads++}`;
    },
  }, "make");
  assertEquals([chosen.label, chosen.label, reads], ["0", "0", 1]);
});

Deno.test("OptionSet.read() names the call, the option, what was given and what is expected", () => {
  const cases: [unknown, string][] = [
    ["fast", 'its options are "fast", expected an object such as { label, onProgress'],
    [null, "its options are null, expected an object"],
    [Promise.resolve(), "its options are a promise, which has to be awaited, expected"],
    [{ lable: "a" }, 'it has no option "lable" (did you mean "label"?), only label, onProgress'],
    [{ onprogress() {} }, 'it has no option "onprogress" (did you mean "onProgress"?)'],
    [{ colour: 1 }, 'it has no option "colour", only label, onProgress, order and nested'],
    [{ "__proto__x": 1 }, 'it has no option "__proto__x", only'],
    [{ constructor: 1 }, 'it has no option "constructor", only'],
    [{ label: 5 }, 'option "label" is the number 5, expected a string'],
    [{ order: "middle" }, 'option "order" is "middle", expected "first" or "last"'],
    [{ onProgress: new Map() }, 'option "onProgress" is a Map, expected a function'],
    [
      { *onProgress() {} },
      'option "onProgress" is generator function onProgress, whose call runs nothing, expected',
    ],
    [
      { onProgress: async function* () {} },
      'option "onProgress" is generator function onProgress, whose call runs nothing, expected',
    ],
    [{ nested: 5 }, 'option "nested" is the number 5, expected an object such as { isOn }'],
    [
      { nested: { isOf: true } },
      'it has no option "nested.isOf" (did you mean "isOn"?), only isOn',
    ],
    [{ nested: { isOn: "yes" } }, 'option "nested.isOn" is "yes", expected true or false'],
  ];
  for (const [options, words] of cases) {
    assertThrows(
      () => CHOICE.read(options as Choice, "make"),
      TypeError,
      `Cannot call make(): ${words}`,
    );
  }
});

Deno.test("OptionSet.read() takes records of any plain kind, and no objects of a class", () => {
  const defaults = { label: "a" };
  for (const options of [Object.create(defaults), Object.create(null), new Proxy(defaults, {})]) {
    CHOICE.read(options, "make");
  }
  const wrong = Object.create({ label: 5 });
  assertThrows(() => CHOICE.read(wrong, "make"), TypeError, 'option "label"');
  class Mine {
    readonly label = "a";
  }
  assertThrows(() => CHOICE.read(new Mine(), "make"), TypeError, "its options are a Mine");
});

Deno.test("OptionSet.read() cuts a long text and survives what cannot be looked at", () => {
  const label = {
    toString: () => {
      throw new Error("no");
    },
  };
  assertThrows(() => CHOICE.read({ label } as never, "make"), TypeError, "is an object");
  const deaf = new Proxy(() => {}, {});
  assertThrows(() => CHOICE.read({ label: deaf } as never, "make"), TypeError, "is function");
  const long = "x".repeat(1000);
  const error = assertThrows(() => CHOICE.read(long as never, "make"), TypeError);
  assertEquals(error.message.length < 200, true);
});

Deno.test("listOf() names the value of a list that it does not accept", () => {
  const list = listOf(oneOf("fast", "slow"));
  const expected = 'expected a list, each "fast" or "slow"';
  assertThrows(
    () => requireKind(["fast", "slwo"], list, "run"),
    TypeError,
    `Cannot call run() with a list with "slwo": ${expected}`,
  );
  assertThrows(() => requireKind(3, list, "run"), TypeError, `with the number 3: ${expected}`);
  const holes = ["fast", , "slow"];
  assertThrows(
    () => requireKind(holes, list, "run"),
    TypeError,
    `a list with undefined: ${expected}`,
  );
  assertThrows(
    () => new OptionSet<{ ways: string[] }>({ ways: list }).read({ ways: ["slwo"] }, "run"),
    TypeError,
    `option "ways" is a list with "slwo", ${expected}`,
  );
});

Deno.test("Option kinds say what they take", () => {
  const list = listOf(eitherOf(NUMBER, TEXT));
  assertEquals(list.expected, "a list, each a number, or a string");
  assertEquals([list.accepts([1, "a"]), list.accepts([1, null]), list.accepts("ab")], [
    true,
    false,
    false,
  ]);
  assertThrows(
    () => requireKind(5, TEXT, "track"),
    TypeError,
    "Cannot call track() with the number 5: expected a string",
  );
});

Deno.test("OptionSet.read() names an object that shows itself as a table by its class", () => {
  class Table {
    toString(): string {
      return "size\n1 KiB";
    }

    [Symbol.for("Deno.customInspect")](): string {
      return `${this}`;
    }
  }
  const options = { label: new Table() } as never;
  const message = 'Cannot call make(): option "label" is a Table, expected a string';
  assertThrows(
    () => new OptionSet<{ label: string }>({ label: TEXT }).read(options, "make"),
    TypeError,
    message,
  );
});

Deno.test("OptionSet.read() tells an object of another copy of the kit from one of this", () => {
  class Stream {
    readonly context: object;

    constructor(context: object) {
      this.context = context;
    }

    toString(): string {
      return "Stream(loader)";
    }

    [Symbol.for("Deno.customInspect")](): string {
      return `${this}`;
    }
  }
  const read = (context: object) => {
    const options = { label: new Stream(context) } as never;
    new OptionSet<{ label: string }>({ label: TEXT }).read(options, "make");
  };
  const own = 'option "label" is Stream(loader), expected a string';
  assertThrows(() => read({ [COPY]: THIS_COPY }), TypeError, own);
  const other = "is Stream(loader), which another copy of vramkit has made, expected a string";
  assertThrows(() => read({ [COPY]: {} }), TypeError, other);
});

Deno.test("OptionSet.read() passes over what a library has given to all objects", () => {
  const everyone = Object.prototype as { vramkitTest?: unknown };
  everyone.vramkitTest = 1;
  try {
    CHOICE.read({ label: "a", nested: {} }, "make");
    const own = { vramkitTest: 1 } as Choice;
    delete everyone.vramkitTest;
    assertThrows(() => CHOICE.read(own, "make"), TypeError, 'no option "vramkitTest"');
  } finally {
    delete everyone.vramkitTest;
  }
});

Deno.test("isAccepted() asks a predicate, and refuses a promise, which would always be true", async () => {
  assertEquals([isAccepted(Boolean, 0), isAccepted(Boolean, 1)], [false, true]);
  const rejecting = () => Promise.reject(new Error("nobody hears of this")) as never;
  assertThrows(() => isAccepted(rejecting, 1), TypeError, "a function that returns a promise");
  await undefined;
});

Deno.test("refusePromise() and warnOfFailure() take a then() that breaks the rules", async () => {
  const greedy = { then: (onDone: (value: number) => void) => onDone(1) };
  const failing = {
    then() {
      throw new Error("as the test wants it");
    },
  };
  using warnings = new CaughtWarnings();
  for (const returned of [greedy, failing]) {
    assertThrows(() => refusePromise(returned, "Cannot take it"), TypeError, "Cannot take it");
    warnOfFailure(returned, "it failed");
  }
  await new Promise((next) => void setTimeout(next));
  assertEquals(warnings.texts, ["vramkit: it failed: as the test wants it"]);
});
