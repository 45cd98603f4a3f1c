// The recorder's questions to a driver behind a sequence: none about objects that it destroyed.

import { assert, assertEquals } from "@std/assert";
import { simulateDriver } from "../../ffi/simulated/driver.ts";
import { intercept } from "../support/faulty_driver.ts";
import { Base } from "../support/recording/base.ts";
import { cleanUp } from "../support/recording/cleanup.ts";
import { SIMULATED_KERNELS } from "../support/recording/images.ts";
import { Player } from "../support/recording/player.ts";

Deno.test("cleanUp() asks nothing of a pool that it has destroyed", async () => {
  const api = simulateDriver({ devices: 1, kernels: { ...SIMULATED_KERNELS } });
  const base = new Base(api, 1);
  const player = new Player(api);
  base.addTo(player.world);
  await player.play("cuMemPoolCreate &q {allocType:1,location.type:1}");
  await player.play("cuMemAllocFromPoolAsync &b 4096 q 0");
  const pool = player.world.find("q")?.value;
  const asked: string[] = [];
  const watched = intercept(api, (name, call, args) => {
    if (args.includes(pool)) asked.push(name);
    return call(...args);
  });
  assert(cleanUp(watched, base, player.world), "the process cannot go on");
  assertEquals(asked, ["cuMemPoolDestroy"]);
});
