// Turns of the event loop: whoever gives them, everything else has its turn too.

import { assert, assertEquals } from "@std/assert";
import { evaluate } from "../../support/child_deno.ts";
import { inTime } from "../../support/in_time.ts";

/** Runs a program of its own, in which nothing has loaded Node's modules. */
async function outputOf(program: string): Promise<unknown> {
  const { code, stdout, stderr } = await evaluate(
    `import { nextTurn } from "./src/order/waiting.ts";
     import { builtin, hasBuiltins } from "./src/words/builtin.ts";
     ${program}`,
  );
  assertEquals([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

Deno.test("nextTurn() leaves timers their turn, also after a thousand turns", async () => {
  const [turns, ticks] = await outputOf(`
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    let turns = 0;
    for (; turns < 3000 || ticks < 3; turns++) await nextTurn();
    clearInterval(timer);
    console.log(JSON.stringify([turns, ticks]));
  `) as number[];
  assert(turns !== undefined && turns < 100_000, `${turns} turns for ${ticks} ticks`);
});

Deno.test("nextTurn() gives turns before and after Node's modules are loaded", async () => {
  const states = await outputOf(`
    const states = [];
    for (let turn = 0; turn < 4; turn++) {
      if (turn === 2) builtin("node:timers");
      let isLater = false;
      queueMicrotask(() => isLater = true);
      await nextTurn();
      states.push(hasBuiltins(), isLater);
    }
    console.log(JSON.stringify(states));
  `);
  assertEquals(states, [false, true, false, true, true, true, true, true]);
});

Deno.test("nextTurn() that nobody awaits keeps no program running", async () => {
  await inTime(60, outputOf(`for (let turn = 0; turn < 10; turn++) nextTurn(); console.log(0);`));
});

Deno.test("many turns at once all come", async () => {
  const count = await outputOf(`
    const all = await Promise.all(Array.from({ length: 200 }, () => nextTurn().then(() => 1)));
    console.log(all.length);
  `);
  assertEquals(count, 200);
});
