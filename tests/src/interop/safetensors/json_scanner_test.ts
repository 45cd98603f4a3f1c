// The scanner takes what JSON.parse takes, value by value, but for what the format's library refuses.

import { assertEquals, assertThrows } from "@std/assert";
import { JsonError, JsonScanner } from "../../../../src/interop/safetensors/json_scanner.ts";
import { Random } from "../../../support/random.ts";
import { inTurn } from "../../../support/test_unless.ts";

/** Takes one value and makes sure that nothing follows. */
function scan(text: string): unknown {
  const scanner = new JsonScanner(text);
  const value = scanner.value();
  scanner.end();
  return value;
}

Deno.test("JsonScanner.value() takes every kind of value", () => {
  assertEquals(scan(` [ 1 , "a\\n\\u00e9🙂" , true , false , null , [ ] , 0 ] `), [
    1,
    "a\né🙂",
    true,
    false,
    null,
    [],
    0,
  ]);
  assertEquals(scan(`{"a":{"b":[1]},"a":2}`), {});
});

Deno.test("JsonScanner.value() takes whole numbers as they are, and all others as NaN", () => {
  assertEquals(scan("[0,7,123456789012345,1234567890123456,9007199254740991]"), [
    0,
    7,
    123456789012345,
    1234567890123456,
    9007199254740991,
  ]);
  const others = ["-0", "-1", "1.0", "2e0", "1E+2", "0.5", "-1.5e-3", "1e-999"];
  assertEquals(scan(`[${others.join(",")}]`), others.map(() => NaN));
});

Deno.test("JsonScanner.firstName() and nextName() walk through an object", () => {
  const scanner = new JsonScanner(` { "a" : 1 , "b" : {} } `);
  assertEquals([scanner.isAtObject, scanner.firstName(), scanner.value()], [true, "a", 1]);
  assertEquals([scanner.nextName(), scanner.isAtObject], ["b", true]);
  assertEquals([scanner.firstName(), scanner.nextName()], [undefined, undefined]);
  scanner.end();
});

Deno.test("JsonScanner says what is wrong, and where", () => {
  const wrong: readonly [text: string, message: string][] = [
    ["", "expected a value at character 0"],
    ["[1", 'expected "]" at character 2'],
    [`["a`, "the string is broken"],
    [`"\\x"`, "the string is broken"],
    [`"\u0001"`, "the string is broken"],
    [`"\\ud800"`, "half of a surrogate pair"],
    ["01", "something follows the value at character 1"],
    ["[1e999]", "the number is out of range at character 1"],
    ["-", "expected a number"],
    ["tru", "expected a value"],
    [`{"a" 1}`, 'expected ":" at character 5'],
    [`{"a":1,}`, 'expected """ at character 7'],
    ["[1]x", "something follows the value at character 3"],
    ["[".repeat(128), "nested deeper than 127 at character 128"],
  ];
  for (const [text, message] of wrong) assertThrows(() => scan(text), JsonError, message);
});

Deno.test(inTurn("JsonScanner takes and refuses 20,000 random texts as JSON.parse does"), () => {
  const parts = [...'[]{},:"\\ \n0123-.eE+', "true", "null", '"a"', '"a":', "12", "[1]", "{}"];
  const random = new Random(0x75017);
  let takenCount = 0;
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join("");
    const isTaken = isTakenBy(scan, text);
    assertEquals(isTaken, isTakenBy(parseFinite, text), JSON.stringify(text));
    if (isTaken) takenCount++;
  }
  assertEquals(takenCount > 500, true, `${takenCount} were taken`);
});

/** JSON.parse makes numbers that no float holds infinite; the format's library refuses them. */
function parseFinite(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) throw new SyntaxError("out of range");
    return value;
  });
}

function isTakenBy(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    assertEquals(error instanceof JsonError || error instanceof SyntaxError, true);
    return false;
  }
}
