// Kills programs that persist memory, its keeper, and both, at random moments, 100 times each, and looks
// from outside whether the bytes are right or told not to be, and whether anything is left:
// `deno run -A tests/support/persist/endurance.ts [ROUNDS]`, with VRAMKIT_TEST_DRIVER=cuda on a GPU.

import { setTimeout as delay } from "node:timers/promises";
import { CudaDevice } from "../../../src/device/device.ts";
import { ON_GPU } from "../driver.ts";
import { until } from "../in_time.ts";
import { heldCount, KeeperScene, openFilesOf, untilOver } from "./keeper_scene.ts";
import type { PersistCommand, PersistPeer } from "./peer.ts";

const [rounds = "100", ...named] = Deno.args;
const BYTES = 5 * 2 ** 20;

/** What dies, and when. */
const VICTIMS = ["program", "keeper", "both"] as const;
const HOWS = [undefined, "hangs", "writes on"] as const;

await using scene = new KeeperScene();
using gpu = CudaDevice.open(0, { driver: ON_GPU ? "cuda" : "simulated" });
const counts = { made: 0, clean: 0, dirty: 0, unknown: 0 };

/** Starts a process that is ready to persist. */
async function ready(): Promise<PersistPeer> {
  const peer = scene.peer();
  await peer.tell({ do: "free bytes" });
  return peer;
}

let next = ready();
for (const victim of VICTIMS.filter((name) => named.length === 0 || named.includes(name))) {
  for (let round = 0; round < Number(rounds); round++) {
    const peer = await next;
    next = ready();
    const value = round % 250 + 1;
    const chosen = HOWS[round % HOWS.length];
    // A maker that hangs and lives would be waited for.
    const how = victim === "keeper" && chosen === "hangs" ? undefined : chosen;
    const command: PersistCommand = { do: "persist", name: "w", value, byteLength: BYTES, how };
    const persisted = peer.tell(command).then(() => {
      peer.tell({ do: "fill", value, waits: false }).catch(() => {});
    });
    persisted.catch(() => {});
    // Half of them die while they load and publish, the others while they write.
    if (round % 2 === 0) await delay(Math.random() * 150);
    else await Promise.race([persisted.catch(() => {}), delay(500)]);
    await delay(Math.random() * 20);
    if (victim !== "program") {
      const pid = await scene.pid().catch(() => undefined);
      if (pid !== undefined) {
        Deno.kill(pid, "SIGKILL");
        await untilOver(pid);
      }
    }
    if (victim !== "keeper") await peer.kill().catch(() => {}); // it may have failed by itself
    let wasMade = false;
    const here = await gpu.persist("w", () => {
      wasMade = true;
      return { x: gpu.alloc("uint8", BYTES).fill(251) };
    });
    const { state } = here.persistence;
    counts[wasMade ? "made" : state]++;
    const bytes = new Set(await here.x.download());
    const isRight = bytes.size === 1 && bytes.has(wasMade ? 251 : value);
    if (state === "clean" && !isRight) {
      throw new Error(`${victim} ${round}: clean, and ${[...bytes]}`);
    }
    here.dispose();
    await gpu.synchronize();
    if (victim === "keeper") await peer.kill().catch(() => {});
    await gpu.forget("w");
    await until(async () => heldCount(await scene.pid()) === 0, "nothing is held");
    if (round % 10 === 9) console.log(`${victim}: ${round + 1} kills`, counts);
  }
  const pid = await scene.pid();
  await delay(50);
  console.log(
    `${victim}: ${rounds} kills; the keeper has ${openFilesOf(pid).length} files open`,
    counts,
  );
}
await (await next).kill();
if (gpu.live().count > 0) throw new Error(`${gpu.live()}`);
