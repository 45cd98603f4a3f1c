// The notes of a player about the steps of a sequence, and which steps it leaves out because a real
// driver could do anything there.

import { assertEquals } from "@std/assert";
import type { Player } from "../support/recording/player.ts";
import { simulate, TWO_DEVICES } from "../support/recording/simulation.ts";

async function play(lines: readonly string[], player?: Player): Promise<string[]> {
  const chosen = player ?? simulate(TWO_DEVICES, { isFresh: false });
  const outcomes: string[] = [];
  for (const line of lines) outcomes.push((await chosen.play(line)).outcome);
  return outcomes;
}

Deno.test("Player.play() writes down handles, addresses, numbers and bytes", async () => {
  const lines = [
    "cuMemAlloc_v2 &a 4096",
    "cuMemGetAddressRange_v2 & & a+16",
    "cuCtxGetCurrent &",
    "array h 64",
    "cuMemsetD8Async a 7 32 0",
    "cuMemsetD8Async a+32 9 32 0",
    "cuMemcpyDtoHAsync_v2 @h a 64 0",
    "settle",
    "look h 64",
    "cuMemGetInfo_v2 & &",
    "cuDevicePrimaryCtxRetain &c 1",
  ];
  const expected = ["0 new", "0 a 4096", "0 ctx0", "0", "0", "0", "0", "0", "0 07*32,09*32"];
  assertEquals(await play(lines), [...expected, "0 set set", "0 ctx1"]);
});

Deno.test("Player.play() writes down refusals without outputs, and rules of the simulated driver", async () => {
  const player = simulate(TWO_DEVICES, { isFresh: false });
  const lines = ["cuMemAlloc_v2 &a 0", "cuMemAlloc_v2 &a 64", "cuMemsetD8Async a 1 65 0"];
  assertEquals(await play(lines, player), ["1", "0 new", "throws bounds"]);
  assertEquals((await player.play("cuMemsetD8Async a 1 65 0")).rule, "bounds");
  await player.play("array h 64");
  const rows = "srcMemoryType:1,srcHost:h,dstMemoryType:2,dstDevice:a,dstPitch:16";
  const copy = `cuMemcpy2DAsync_v2 {${rows},WidthInBytes:16,Height:2} 0`;
  assertEquals(await player.play(copy), { outcome: "1", rule: "packed" });
  assertEquals((await player.play("cuMemAlloc_v2 &b 0")).rule, undefined);
});

Deno.test("Player.play() leaves out functions that the driver lacks", async () => {
  const lines = [
    "cuMemFree_v2 a",
    "cuMemAlloc_v2 &a 64",
    "cuMemFree_v2 ~a",
    "cuMemFree_v2 a",
    "cuMemFree_v2 a",
    "cuMemFree_v2 ~a",
  ];
  assertEquals(await play(lines), ["skip", "0 new", "skip", "0", "skip", "1"]);
});

Deno.test("Player.play() leaves out a look at memory in use", async () => {
  const lines = [
    "cuMemHostAlloc &p 64 0",
    "cuMemsetD8Async p 5 64 0",
    "look p 4",
    "settle",
    "look p 4",
  ];
  assertEquals(await play(lines), ["0 new", "0", "skip", "0", "0 05*4"]);
});

Deno.test("Player.play() leaves out graphs over memory that is gone", async () => {
  const lines = [
    "cuStreamCreateWithPriority &s 1 0",
    "cuMemAlloc_v2 &a 64",
    "cuStreamBeginCapture_v2 s 2",
    "cuMemsetD8Async a 5 64 s",
    "cuStreamEndCapture s &g",
    "cuGraphInstantiateWithFlags &x g 0",
    "cuMemFree_v2 a",
    "cuGraphLaunch x s",
    "cuGraphInstantiateWithFlags &y g 0",
  ];
  const expected = ["0 new", "0 new", "0", "0", "0 new", "0 new", "0", "skip", "skip"];
  assertEquals(await play(lines), expected);
});

Deno.test("Player.play() leaves out graphs over arrays that were unregistered, and ranges unmapped", async () => {
  const lines = [
    "cuStreamCreateWithPriority &s 1 0",
    "array h 4096",
    "cuMemHostRegister_v2 h 4096 0",
    "cuMemAddressReserve &r 2097152 0 0 0",
    "cuMemCreate &p 2097152 {type:1,location.type:1} 0",
    "cuMemMap r 2097152 0 p 0",
    "cuMemSetAccess r 2097152 {location.type:1,flags:3} 1",
    "cuStreamBeginCapture_v2 s 2",
    "cuMemsetD8Async h 5 64 s",
    "cuStreamEndCapture s &g",
    "cuStreamBeginCapture_v2 s 2",
    "cuMemsetD8Async r 5 64 s",
    "cuStreamEndCapture s &f",
    "settle",
    "cuMemHostUnregister h",
    "cuMemUnmap r 2097152",
    "cuGraphInstantiateWithFlags &x g 0",
    "cuGraphInstantiateWithFlags &y f 0",
  ];
  assertEquals((await play(lines)).slice(-4), ["0", "0", "skip", "skip"]);
});

Deno.test("Player.play() leaves out memory that a graph has still to bring", async () => {
  const lines = [
    "cuStreamCreateWithPriority &s 1 0",
    "cuStreamCreateWithPriority &t 1 0",
    "cuStreamBeginCapture_v2 s 2",
    "cuMemAllocAsync &a 64 s",
    "cuMemsetD8Async a 5 64 s",
    "cuMemsetD8Async a 5 64 t",
    "cuStreamEndCapture s &g",
    "cuMemsetD8Async a 5 64 s",
    "cuGraphInstantiateWithFlags &x g 0",
    "cuGraphLaunch x s",
    "cuMemsetD8Async a 5 64 s",
  ];
  const expected = [
    "0 new",
    "0 new",
    "0",
    "0 new",
    "0",
    "skip",
    "0 new",
    "skip",
    "0 new",
    "0",
    "0",
  ];
  assertEquals(await play(lines), expected);
});

Deno.test("Player.play() leaves out a second free of plain memory that a stream has freed", async () => {
  const lines = [
    "cuMemAlloc_v2 &a 64",
    "cuMemFreeAsync a 0",
    "cuMemFreeAsync ~a 0",
    "cuMemFree_v2 ~a",
    "cuMemAlloc_v2 &b 64",
    "cuMemFree_v2 b",
    "cuMemFreeAsync ~b 0",
    "cuMemAllocAsync &c 64 0",
    "cuMemFreeAsync c 0",
    "cuMemFreeAsync ~c 0",
  ];
  const expected = ["0 new", "0", "skip", "skip", "0 new", "0", "1", "0 new", "0", "1"];
  assertEquals(await play(lines), expected);
});

Deno.test("Player.play() knows no memory of a capture that came to nothing, nor of a graph that is gone", async () => {
  const player = simulate(TWO_DEVICES, { isFresh: false });
  const capture = ["cuStreamBeginCapture_v2 s 2", "cuMemAllocAsync &a 64 s"];
  await play(["cuStreamCreateWithPriority &s 1 0", ...capture], player);
  await play(["cuStreamQuery s", "cuStreamEndCapture s &g"], player);
  assertEquals(player.world.find("a"), undefined);
  await play([...capture, "cuStreamEndCapture s &g", "cuGraphInstantiateWithFlags &x g 0"], player);
  await play(["cuGraphDestroy g"], player);
  assertEquals(player.world.find("a")?.kind, "pooled");
  await play(["cuGraphExecDestroy x"], player);
  assertEquals(player.world.find("a"), undefined);
});

Deno.test("Player.play() keeps memory of a graph that was launched", async () => {
  const player = simulate(TWO_DEVICES, { isFresh: false });
  const lines = [
    "cuStreamCreateWithPriority &s 1 0",
    "cuStreamBeginCapture_v2 s 2",
    "cuMemAllocAsync &a 64 s",
    "cuStreamEndCapture s &g",
    "cuGraphInstantiateWithFlags &x g 0",
    "cuGraphLaunch x s",
    "settle",
    "cuGraphExecDestroy x",
    "cuGraphDestroy g",
    "cuMemFreeAsync a s",
  ];
  assertEquals((await play(lines, player)).at(-1), "0");
});

Deno.test("Player.play() knows nothing of a context that its last user released", async () => {
  const player = simulate(TWO_DEVICES, { isFresh: true });
  const start = ["cuInit 0", "cuDevicePrimaryCtxRetain &c 0", "cuDevicePrimaryCtxRetain &d 0"];
  await play([...start, "cuCtxSetCurrent c", "cuMemAlloc_v2 &a 64"], player);
  await play(["cuDevicePrimaryCtxRelease_v2 0"], player);
  assertEquals(player.world.find("a")?.kind, "device");
  await play(["cuDevicePrimaryCtxRelease_v2 0"], player);
  assertEquals([player.world.find("a"), player.world.find("c")?.kind], [undefined, "context"]);
});

Deno.test("Player.play() takes no handle for an address", async () => {
  const player = simulate(TWO_DEVICES, { isFresh: false });
  await play(["cuMemCreate &p 2097152 {type:1,location.type:1} 0"], player);
  const handle = player.world.find("p")?.value ?? 0n;
  assertEquals(player.world.at(handle), undefined);
});

Deno.test("Player.play() keeps the contexts that the recorder holds", async () => {
  const lines = [
    "cuDevicePrimaryCtxRelease_v2 0",
    "cuDevicePrimaryCtxRetain & 0",
    "cuDevicePrimaryCtxRelease_v2 0",
    "cuDevicePrimaryCtxRelease_v2 0",
  ];
  assertEquals(await play(lines), ["skip", "0 ctx0", "0", "skip"]);
});
