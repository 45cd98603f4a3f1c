// The reader of pickles: values as Python reads them, refusals of code, and files that are cut.

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { pickle } from "../../../src/accounting/memory_viz.ts";
import { PickleReader } from "../../../src/snapshots/pickle_reader.ts";
import { runPython, testsWith } from "../../support/python.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { inTurn } from "../../support/test_unless.ts";

function read(bytes: Uint8Array): unknown {
  const reader = new PickleReader(bytes);
  while (!reader.read(7));
  return reader.value;
}

/** Makes a pickle of protocol 2 of texts, each letter an opcode or what follows one, and numbers. */
function bytesOf(...parts: readonly (string | number)[]): Uint8Array<ArrayBuffer> {
  const codes = parts.flatMap((part) =>
    typeof part === "number" ? [part] : [...part].map((letter) => letter.charCodeAt(0))
  );
  return new Uint8Array([0x80, 2, ...codes]);
}

function refusal(...parts: readonly (string | number)[]): string {
  return assertThrows(() => read(bytesOf(...parts)), SyntaxError).message;
}

Deno.test("PickleReader.read() reads what pickle() writes", () => {
  const shared = [{ name: "f", line: 3 }];
  const value = {
    a: [1, -1, 2 ** 31, -(2 ** 40), 2 ** 53 - 1, true, false, "ü\ud83d\ude00"],
    shared,
    again: shared,
    empty: [{}, []],
  };
  const copy = read(pickle(value)) as typeof value;
  assertEquals(copy, value);
  assert(copy.shared === copy.again);
});

Deno.test("PickleReader.read() reads integers of every length", () => {
  assertEquals(read(bytesOf(0x8a, 0, ".")), 0);
  assertEquals(read(bytesOf(0x8a, 1, 0x80, ".")), -128);
  assertEquals(read(bytesOf(0x8a, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, ".")), 2 ** 53 - 1);
  assertEquals(read(bytesOf(0x8a, 8, 1, 0, 0, 0, 0, 0, 0x20, 0, ".")), 2n ** 53n + 1n);
  assertEquals(read(bytesOf(0x8a, 9, ..."\xff".repeat(8), 0, ".")), 2n ** 64n - 1n);
  assertEquals(read(bytesOf("J", 0xff, 0xff, 0xff, 0xff, ".")), -1);
  assertEquals(read(bytesOf("G", 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, ".")), 1.5);
  assertStringIncludes(refusal(0x8a, 200), "an integer has 200 bytes");
});

Deno.test("PickleReader.read() names the opcodes that could run code", () => {
  assertStringIncludes(refusal("cos\nsystem\n."), "opcode GLOBAL of os.system could run code");
  assertStringIncludes(
    refusal(0x8c, 2, "os", 0x8c, 6, "system", 0x93),
    "STACK_GLOBAL of os.system",
  );
  for (
    const [code, name] of [
      ["R", "REDUCE"],
      ["b", "BUILD"],
      ["i", "INST"],
      ["o", "OBJ"],
      [0x81, "NEWOBJ"],
      [0x92, "NEWOBJ_EX"],
      ["P", "PERSID"],
      ["Q", "BINPERSID"],
      [0x82, "EXT1"],
    ] as const
  ) assertStringIncludes(refusal(")", code), `opcode ${name} could run code`);
  assertStringIncludes(refusal("B", 0, 0, 0, 0), "opcode 0x42 is not one of plain data");
  assertStringIncludes(refusal("0"), "opcode 0x30 is not");
});

Deno.test("PickleReader.read() refuses what has no meaning", () => {
  for (
    const [parts, words] of [
      [["a."], "a value is missing"],
      [["]a."], "a value is missing"],
      [["(a."], "a value is missing"],
      [["e."], "a mark is missing"],
      [["(."], "it stops too early"],
      [["NN."], "it stops too early"],
      [["}NNs."], "a key is no text"],
      [["}(Nu."], "a field has no value"],
      [["](NNu."], "a field goes to what is no dictionary"],
      [["N(Ne."], "an item goes to what is no list"],
      [["h", 0, "."], "memo 0 is not known"],
      [["]q", 1, "."], "memo 1 is out of turn"],
      [["]q", 0, "q", 0, "."], "memo 0 is out of turn"],
      [[0x94, "."], "a value is missing"],
      [["}", 0x8c, 9, "__proto__", "Ns."], "a key is __proto__"],
    ] as const
  ) assertStringIncludes(refusal(...parts), words);
  assertThrows(() => read(new Uint8Array([0x80, 6, 0x2e])), SyntaxError, "of protocol 6");
});

Deno.test("PickleReader.read() says of every cut file that it was cut off", () => {
  const whole = pickle({ a: ["text", 2 ** 40, 5], b: { c: true } });
  for (let length = 1; length < whole.length; length++) {
    assertThrows(() => read(whole.subarray(0, length)), SyntaxError, "it was cut off");
  }
  assertThrows(() => read(bytesOf(0x95, 9, 0, 0, 0, 0, 0, 0, 0, "N.")), SyntaxError, "cut off");
});

Deno.test("PickleReader.read() keeps lists of the same references once, and refuses to change them", () => {
  // { 0: text, list, the same list, another list }
  const start = ["](", 0x8c, 1, "a", 0x94, 0x8c, 1, "b", 0x94] as const;
  const list = (...indices: number[]) => ["]", 0x94, "(", ...indices.flatMap((i) => ["h", i]), "e"];
  const [, , first, second, other] = read(
    bytesOf(...start, ...list(0, 1), ...list(0, 1), ...list(1, 0), "e", ".", ..."      "),
  ) as unknown[];
  assertEquals([first, second, other], [["a", "b"], ["a", "b"], ["b", "a"]]);
  assert(first === second);
  assertStringIncludes(
    refusal(...start, ...list(0, 1), "(Ne", "e", ".", ..."      "),
    "an item goes to what is no list",
  );
});

Deno.test(inTurn("PickleReader.read() ends bombs before they take memory"), () => {
  for (
    const [name, start, letter, count] of [
      ["empty lists", "", "]", 2 ** 21],
      ["empty dictionaries", "", "}", 2 ** 21],
      ["nested tuples", "N", "\x85", 2 ** 21],
      ["a list of nothing", "](", "N", 9_000_000],
    ] as const
  ) {
    const bytes = new Uint8Array(count).fill(letter.charCodeAt(0));
    bytes.set(bytesOf(start));
    const reader = new PickleReader(bytes);
    const error = assertThrows(() => void reader.read(bytes.length), SyntaxError);
    assertStringIncludes(error.message, "it would take more than", name);
  }
});

const testWithPython = await testsWith("pickle");

testWithPython(
  "PickleReader.read() reads random data as Python does, by every protocol",
  async () => {
    using folder = new TemporaryFolder();
    const program = folder.write(
      "make.py",
      `
import json, pickle, random, sys
random.seed(5)
shared = [{"name": str(i), "line": i} for i in range(300)]
def value(depth):
    kind = random.randrange(9 if depth < 5 else 6)
    if kind == 0: return random.choice([0, 1, 255, 256, 65536, -1, 2**31, 2**52, -2**45])
    if kind == 1: return random.choice(["", "x" * 300, "\\u00fc", "\\U0001f600", "abc"])
    if kind == 2: return random.choice([None, True, False])
    if kind == 3: return random.random() * 1e9
    if kind == 4: return [random.choice(shared) for _ in range(random.choice([0, 1, 2, 30, 1001, 2000]))]
    if kind == 5: return random.choice(shared)
    if kind == 6: return [value(depth + 1) for _ in range(random.randrange(6))]
    if kind == 7: return tuple(value(depth + 1) for _ in range(random.randrange(6)))
    return {"k%d" % i: value(depth + 1) for i in range(random.randrange(6))}
for index in range(40):
    data = value(0)
    json.dump(data, open(f"{sys.argv[1]}/{index}.json", "w"))
    for protocol in (2, 3, 4, 5):
        pickle.dump(data, open(f"{sys.argv[1]}/{index}.{protocol}", "wb"), protocol)
`,
    );
    await runPython([program, folder.path]);
    for (let index = 0; index < 40; index++) {
      const expected = JSON.parse(Deno.readTextFileSync(folder.pathOf(`${index}.json`)));
      for (const protocol of [2, 3, 4, 5]) {
        assertEquals(read(Deno.readFileSync(folder.pathOf(`${index}.${protocol}`))), expected);
      }
    }
  },
);
