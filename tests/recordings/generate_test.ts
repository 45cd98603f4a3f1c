// Random sequences: the same for the same seed, over all functions, and without what is undefined on
// a real driver.

import { assertEquals, assertGreaterOrEqual, assertLess, assertNotEquals } from "@std/assert";
import { CUDA } from "../../ffi/cuda.ts";
import { IS_WHOLE, Random, share } from "../support/random.ts";
import { Draft } from "../support/recording/draft.ts";
import { generate } from "../support/recording/generate.ts";
import { parseStep } from "../support/recording/notation.ts";
import { simulate, TWO_DEVICES } from "../support/recording/simulation.ts";
import { inTurn } from "../support/test_unless.ts";

/** Rules whose breach could break a real driver's context, or end its process. */
const HARMFUL =
  /^throws (bounds|freed|unmapped|rights|inUse|notLaunched|goneFromGraph|deadlock|unloaded|endsProcess)/;

Deno.test("generate() makes the same sequence of the same seed and number, and others of others", async () => {
  const first = await generate(TWO_DEVICES, { seed: 5, number: 3 });
  assertEquals(await generate(TWO_DEVICES, { seed: 5, number: 3 }), first);
  assertNotEquals((await generate(TWO_DEVICES, { seed: 5, number: 4 })).lines, first.lines);
  assertNotEquals((await generate(TWO_DEVICES, { seed: 6, number: 3 })).lines, first.lines);
});

/** Sequences that try functions; only a run that is whole has enough of them for every function. */
const SEQUENCES = share(1500);

Deno.test(
  inTurn("generate() calls every function, with success and with refusals, and does no harm"),
  async () => {
    const succeeded = new Set<string>();
    const refused = new Set<string>();
    const harm: string[] = [];
    for (let number = 0; number < SEQUENCES; number++) {
      const sequence = await generate(TWO_DEVICES, { seed: 11, number });
      const player = simulate(TWO_DEVICES, sequence);
      for (const line of sequence.lines) {
        const { call, words } = parseStep(line);
        const { outcome } = await player.play(line);
        if (outcome === "skip" || HARMFUL.test(outcome)) {
          harm.push(`${sequence.id}: ${line} ${outcome}`);
        }
        if (call === "cuDeviceGetName" && words[1] === "0") harm.push(line);
        if (call === "cuMemPoolSetAttribute" && words[2] === "null") harm.push(line);
        (outcome.startsWith("0") ? succeeded : refused).add(call);
      }
    }
    assertEquals(harm, []);
    // A process cannot open what it handed out itself, so that nothing opens here.
    const never = [
      "cuIpcOpenMemHandle_v2",
      "cuIpcCloseMemHandle",
      "cuIpcOpenEventHandle",
      "cuMemImportFromShareableHandle",
      "cuMemPoolImportFromShareableHandle",
      "cuMemPoolImportPointer",
    ];
    const missing = Object.keys(CUDA).filter((name) =>
      !succeeded.has(name) && !never.includes(name)
    );
    // No random module has variables, and no sequence releases what the recorder holds.
    const always = ["cuLibraryGetGlobal", "cuModuleGetGlobal_v2"];
    if (IS_WHOLE) assertEquals(missing.sort(), always);
    else assertLess(missing.length, 30);
    assertGreaterOrEqual(refused.size, IS_WHOLE ? 85 : 60);
  },
);

Deno.test("Draft is spoiled where a fault waits behind the overlap that ends it, and not without", async () => {
  const isSpoiled = async (device: number): Promise<boolean> => {
    const player = simulate({ ...TWO_DEVICES, peerAccess: false }, { isFresh: false });
    const draft = new Draft(player, { random: new Random(9), deviceCount: 2 });
    await draft.add("cuStreamCreateWithPriority &s 1 0");
    await draft.add("cuMemAllocManaged &m 4096 1");
    await draft.add(`cuCtxSetCurrent ctx${device}`);
    await draft.add("cuMemAlloc_v2 &d 4096");
    await draft.add("cuCtxSetCurrent ctx0");
    await draft.add("cuLaunchKernel fill0 1 1 1 1 1 1 0 s (u64:d,u32:7,u32:64) null");
    while (!draft.isOver) await draft.add("cuMemcpyAsync m+16 m 64 s");
    return draft.isSpoiled;
  };
  assertEquals([await isSpoiled(0), await isSpoiled(1)], [false, true]);
});
