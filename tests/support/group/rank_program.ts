// The process of a rank, which does what it is told: one command in JSON a line, and one answer.
// `deno run -A rank_program.ts`; VRAMKIT_TEST_DRIVER chooses the driver.

import { CudaDevice, elementBytes, type GpuBuffer } from "../../../mod.ts";
import { type DeviceGroup, joinGroup } from "../../../src/entries/group.ts";
import { simulateDriver } from "../../../src/entries/simulated.ts";
import { obeyCommands } from "../obedient_program.ts";
import { type CaseWords, type JoinWords, type RankCommand, TOKEN } from "./rank_words.ts";

const driver = Deno.env.get("VRAMKIT_TEST_DRIVER") === "cuda"
  ? "cuda"
  : simulateDriver({ deviceCount: 8 });
const groups = new Map<string, DeviceGroup>();
/** Ends of groups that nothing waits for yet. */
const ends: Promise<void>[] = [];
let gpu: CudaDevice | undefined;

await obeyCommands(obey);

async function obey(command: RankCommand): Promise<unknown> {
  const name = command.group ?? "world";
  switch (command.do) {
    case "join":
      return await join(name, command);
    case "reduce": {
      using x = device().alloc("float32", command.length).fill(command.value);
      const { timeoutSeconds, abortAfter } = command;
      await group(name).allReduce(x, { timeoutSeconds, signal: signalAfter(abortAfter) });
      const result = await x.download();
      const [first = 0] = result;
      return result.every((value) => value === first) ? first : "different values";
    }
    case "case":
      return await perform(group(name), command);
    case "reduceOften": {
      using x = device().zeros("float32", command.length);
      for (let round = 0; round < command.count; round++) {
        await group(name).allReduce(x);
        if (round === 2) Deno.writeTextFileSync(command.mark, "");
      }
      return "done";
    }
    case "split": {
      const part = await group(name).split({ color: command.color, key: command.key });
      if (part !== undefined) groups.set(command.as, part);
      return part === undefined ? null : [part.rank, part.size];
    }
    case "shrink": {
      const part = await group(name).shrink({ exclude: command.exclude, timeoutSeconds: 10 });
      groups.set(command.as, part);
      return [part.rank, part.size];
    }
    case "block": {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, command.milliseconds);
      return "done";
    }
    case "barrier":
      return void await group(name).barrier();
    case "disposeBusy": {
      const x = device().zeros("float32", command.length);
      for (let round = 0; round < 5; round++) group(name).allReduce(x);
      x.dispose();
      group(name).dispose();
      groups.delete(name);
      return "disposed";
    }
    case "dispose":
      await group(name)[Symbol.asyncDispose]();
      groups.delete(name);
      return "disposed";
    case "disposeAll":
      for (const each of groups.values()) ends.push(each[Symbol.asyncDispose]());
      groups.clear();
      await Promise.allSettled(ends.splice(0));
      await gpu?.synchronize();
      return [...gpu?.live() ?? []].map(({ name }) => name);
    case "end":
      ends.push(group(name)[Symbol.asyncDispose]());
      groups.delete(name);
      return "ends";
    case "awaitEnds":
      await Promise.all(ends.splice(0));
      return "ended";
    case "failure":
      return group(name).failure?.message;
    case "left":
      await device().synchronize();
      return [...device().live()].map(({ name }) => name);
    case "free":
      await device().synchronize();
      return device().context.freeBytes();
  }
}

/** Makes one call with the bytes of a file, and writes what this rank has then into another. */
async function perform(group: DeviceGroup, words: CaseWords): Promise<boolean> {
  const { folder, id, call, dtype, operation: op, root } = words;
  const { rank, size } = group;
  const bytes = Deno.readFileSync(`${folder}/${id}_${rank}.in`);
  const length = bytes.byteLength / elementBytes(dtype);
  using x = device().alloc(dtype, length);
  await x.upload(bytes.buffer);
  using stack = new DisposableStack();
  const make = (length: number) => stack.use(device().zeros(dtype, length));
  const isRoot = rank === root;
  let result: GpuBuffer | undefined = x;
  if (call === "allReduce") await group.allReduce(x, { op });
  else if (call === "reduce") {
    await group.reduce(x, { op, root });
    if (!isRoot) result = undefined;
  } else if (call === "broadcast") await group.broadcast(x, { root });
  else if (call === "allGather") await group.allGather(x, { into: result = make(length * size) });
  else if (call === "allToAll") await group.allToAll(x, { into: result = make(length) });
  else if (call === "gather") {
    result = isRoot ? make(length * size) : undefined;
    await group.gather(x, { into: result, root });
  } else if (call === "reduceScatter") {
    await group.reduceScatter(x, { op, into: result = make(length / size) });
  } else if (call === "scatter") {
    result = make(length / size);
    await group.scatter(isRoot ? x : undefined, { into: result, root });
  } else {
    const into = result = make(length);
    await group.batch(() => {
      group.send(x, { to: (rank + 1) % size });
      group.recv(into, { from: (rank + size - 1) % size });
    });
  }
  if (result === undefined) return false;
  const out = new Uint8Array(result.byteLength);
  await result.download(out.buffer);
  Deno.writeFileSync(`${folder}/${id}_${rank}.mine`, out);
  return true;
}

async function join(name: string, words: JoinWords): Promise<unknown> {
  const { rendezvous, rank, size, token = TOKEN, timeoutSeconds = 20, abortAfter } = words;
  gpu ??= CudaDevice.open(words.ordinal ?? rank, { driver });
  const own = words.isFromEnvironment === true ? {} : { rank, size, token };
  const signal = signalAfter(abortAfter);
  const made = await joinGroup({ rendezvous, ...own, device: gpu, timeoutSeconds, signal });
  groups.set(name, made);
  return [made.rank, made.size];
}

function signalAfter(milliseconds: number | undefined): AbortSignal | undefined {
  return milliseconds === undefined ? undefined : AbortSignal.timeout(milliseconds);
}

function device(): CudaDevice {
  if (gpu === undefined) throw new Error("there is no device yet");
  return gpu;
}

function group(name: string): DeviceGroup {
  const found = groups.get(name);
  if (found === undefined) throw new Error(`there is no group ${name}`);
  return found;
}
