// `persisted`: what programs keep on the GPUs of this machine, on all of them, and the ways to give it up.

import { KeeperConnection } from "../persist/keeper_connection.ts";
import { keeperFolder } from "../persist/keeper_folder.ts";
import { startKeeper } from "../persist/keeper_start.ts";
import { forgetPersisted, listPersisted, persistedTable } from "../persist/persist.ts";
import { formatBytes, formatCount, visibleText } from "../words/format.ts";
import { sleep } from "../words/timer.ts";
import type { CliOptions } from "./arguments.ts";

/** The longest wait for a keeper to begin or to end. */
const MAX_KEEPER_MILLISECONDS = 10_000;

const LOOK_MILLISECONDS = 10;

/** Runs the command; the exit code is 1 when a name is not there, or nothing came about. */
export async function runPersisted({ words, json }: CliOptions): Promise<number> {
  const [action = "list", name = ""] = words;
  if (action === "forget") return await forget(name);
  if (action === "start") return await start();
  if (action === "stop") return await stop();
  const table = await persistedTable();
  console.log(json ? JSON.stringify(table, null, 2) : `${table}`);
  if (!json) console.log(await keeperWords());
  return 0;
}

/** Forgets a name on every device that has it. */
async function forget(name: string): Promise<number> {
  const found = (await listPersisted()).filter((row) => row.name === name);
  const shown = visibleText(name);
  if (found.length === 0) {
    console.error(`Cannot forget "${shown}": nothing of that name is persisted`);
    return 1;
  }
  for (const { device, byteLength, openedBy } of found) {
    await forgetPersisted({ name, device });
    const open = openedBy.length === 0
      ? "its memory is free"
      : `its memory is freed when process ${openedBy.join(", ")} lets go`;
    console.log(`forgot "${shown}" on ${device}, ${formatBytes(byteLength)}: ${open}`);
  }
  return 0;
}

async function start(): Promise<number> {
  await startKeeper(keeperFolder());
  const isThere = await untilKeeper((pid) => pid !== undefined);
  console.log(isThere ? await keeperWords() : "Cannot start the keeper: it does not answer");
  return isThere ? 0 : 1;
}

async function stop(): Promise<number> {
  const connection = await KeeperConnection.findAny();
  if (connection === undefined) {
    console.log("there is no keeper");
    return 0;
  }
  const { pid } = connection;
  await connection.ask({ op: "stop" });
  connection[Symbol.dispose]();
  const isOver = await untilKeeper((found) => found !== pid);
  const keeper = `the keeper, process ${pid}`;
  console.log(isOver ? `stopped ${keeper}` : `${keeper}, goes on`);
  return isOver ? 0 : 1;
}

async function keeperWords(): Promise<string> {
  using keeper = await KeeperConnection.findAny();
  if (keeper === undefined) return "no keeper runs; gpu.persist() starts one";
  const { count, byteLength } = await persistedTable();
  return `the keeper, process ${keeper.pid} of version ${keeper.kit}, holds ` +
    `${formatCount(count, "name")}, ${formatBytes(byteLength)}`;
}

/** Waits until the keeper's process is as wanted; returns whether it came to that. */
async function untilKeeper(isWanted: (pid: number | undefined) => boolean): Promise<boolean> {
  for (const end = performance.now() + MAX_KEEPER_MILLISECONDS; performance.now() < end;) {
    const keeper = await KeeperConnection.findAny();
    keeper?.[Symbol.dispose]();
    if (isWanted(keeper?.pid)) return true;
    await sleep(LOOK_MILLISECONDS);
  }
  return false;
}
