// The connections between the processes of a group: who passes what to whom, and what a process learns of
// that had no turn of its event loop for a while. All ends are in this process here.

import { assert, assertEquals } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { FrameConnection, MEMBER } from "../../../src/group/frames.ts";
import { GroupLink, type LinkedGroup, Seat } from "../../../src/group/group_link.ts";
import type { Member } from "../../../src/group/handshake.ts";
import { inTurn } from "../../support/test_unless.ts";

/** A group on a link that notes what it is told. */
class Notes implements LinkedGroup {
  readonly words: string[] = [];
  /** Groups that calls under way make from it. */
  readonly making = new Set<string>();

  get isMaking(): boolean {
    return this.making.size > 0;
  }

  mayOpen(made: string): boolean {
    return this.making.has(made);
  }

  /** Ranks that have left, as far as the test says. */
  readonly left = new Set<number>();

  hasLeft(rank: number): boolean {
    return this.left.has(rank);
  }

  onLost(rank: number): void {
    this.words.push(`${rank} lost`);
  }

  onCutOff(): void {
    this.words.push("cut off");
  }

  onMessage(rank: number, { head, bytes }: { head: Record<string, unknown>; bytes: Uint8Array }) {
    this.words.push(
      `${rank} says ${head["word"]}${bytes.byteLength > 0 ? ` ${bytes.length}` : ""}`,
    );
  }
}

/** Connects ranks, each to rank 0. */
async function connect(size: number): Promise<{ links: GroupLink[]; notes: Notes[] }> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const members: Member[] = Array.from({ length: size }, (_, rank) => ({
    rank,
    pid: 100 + rank,
    device: `GPU-${rank}`,
  }));
  const [first, ...others] = members as [Member, ...Member[]];
  const seats: Seat[] = [];
  const links: GroupLink[] = [];
  for (const member of others) {
    const [mine, theirs] = await Promise.all([listener.accept(), Deno.connect({ port })]);
    seats.push(new Seat(new FrameConnection(mine, MEMBER), member));
    const seat = new Seat(new FrameConnection(theirs, MEMBER), first);
    links.push(new GroupLink(member.rank, members, [seat]));
  }
  links.unshift(new GroupLink(0, members, seats));
  const notes = links.map((link) => {
    const own = new Notes();
    link.open("g", own);
    return own;
  });
  return { links, notes };
}

async function soon(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200 && !isSo(); turn++) {
    await delay(5);
  }
  assert(isSo());
}

Deno.test("GroupLink passes words and bytes to one rank, or to all others", async () => {
  const { links, notes } = await connect(4);
  links[2]?.send("g", { word: "a" });
  await soon(() => notes.filter(({ words }) => words.length === 1).length === 3);
  assertEquals(notes.map(({ words }) => words), [["2 says a"], ["2 says a"], [], ["2 says a"]]);
  links[3]?.send("g", { word: "b", to: 1 }, new Uint8Array(3_000_000));
  links[0]?.send("g", { word: "c", to: 2 });
  links[1]?.send("g", { word: "d", to: 0 });
  await soon(() => notes[1]?.words.length === 2 && notes[2]?.words.length === 1);
  assertEquals(notes.map(({ words }) => words.slice(words[0] === "2 says a" ? 1 : 0)), [
    ["1 says d"],
    ["3 says b 3000000"],
    ["0 says c"],
    [],
  ]);
  await Promise.all(links.map((link) => link.close("g")));
});

Deno.test("GroupLink keeps what comes for a group that is not open yet", async () => {
  const { links } = await connect(2);
  links[0]?.send("later", { word: "x" });
  links[0]?.send("later", { word: "y" });
  await delay(20);
  const late = new Notes();
  links[1]?.open("later", late);
  assertEquals(late.words, ["0 says x", "0 says y"]);
  for (const link of links) await Promise.race([link.close("g"), link.close("later")]);
  await Promise.all(links.map((link) => link.close("later")));
});

Deno.test("GroupLink keeps nothing that comes for a group that was closed", async () => {
  const { links, notes } = await connect(2);
  links[1]?.open("closed", new Notes());
  await links[1]?.close("closed");
  links[0]?.send("closed", { word: "x" });
  links[0]?.send("g", { word: "y" });
  await soon(() => notes[1]?.words.length === 1);
  const again = new Notes();
  links[1]?.open("closed", again);
  assertEquals(again.words, []);
  await links[1]?.close("closed");
  await Promise.all(links.map((link) => link.close("g")));
});

Deno.test("GroupLink keeps messages for a group that a call may open, and no others", async () => {
  const { links, notes: [, own] } = await connect(2);
  const [first, second] = links as [GroupLink, GroupLink];
  assert(own !== undefined);
  /** The first message that a group hears which is opened after messages for it came. */
  const heardBy = async (id: string): Promise<string[]> => {
    const before = own.words.length;
    first.send(id, { word: id });
    first.send("g", { word: "sent" });
    await soon(() => own.words.length > before);
    const made = new Notes();
    second.open(id, made);
    await second.close(id);
    return made.words;
  };
  own.making.add("split 0 1").add("split 1 1");
  assertEquals(await heardBy("g/split 0 1"), ["0 says g/split 0 1"]);
  assertEquals(await heardBy("g/split 0 1/split 0 1"), ["0 says g/split 0 1/split 0 1"]);
  assertEquals(await heardBy("g/split 0 2"), [], "a group of other ranks");
  own.making.delete("split 0 1");
  second.settle("g");
  assertEquals(await heardBy("g/split 0 1"), [], "a group that was closed");
  assertEquals(await heardBy("g/split 0 1/split 0 1"), [], "a group made from one that was closed");
  first.send("g/split 1 1", { word: "early" });
  first.send("g", { word: "sent" });
  const before = own.words.length;
  await soon(() => own.words.length > before);
  own.making.clear();
  second.settle("g");
  const late = new Notes();
  second.open("g/split 1 1", late);
  assertEquals(late.words, [], "a group whose call has failed");
  await second.close("g/split 1 1");
  await Promise.all(links.map((link) => link.close("g")));
});

Deno.test("GroupLink tells nobody of a rank that leaves in peace", async () => {
  const { links, notes } = await connect(3);
  await links[1]?.close("g");
  await delay(50);
  assertEquals(notes.map(({ words }) => words), [[], [], []]);
  await Promise.all([links[0]?.close("g"), links[2]?.close("g")]);
  assertEquals(notes.flatMap(({ words }) => words), []);
});

Deno.test("GroupLink.close() keeps rank 0 for a group's other ranks, also when another group goes on", async () => {
  const { links, notes } = await connect(2);
  const [first, second] = links as [GroupLink, GroupLink];
  const parts = links.map((link) => {
    const part = new Notes();
    link.open("part", part);
    return part;
  });
  const closing = first.close("part").then(() => "closed");
  assertEquals(await Promise.race([closing, delay(100).then(() => "waits")]), "waits");
  second.send("part", { word: "the last one" });
  parts[0]?.left.add(1);
  assertEquals(await closing, "closed");
  assertEquals(parts[0]?.words, ["1 says the last one"]);
  await second.close("part");
  await Promise.all(links.map((link) => link.close("g")));
  assertEquals(notes.flatMap(({ words }) => words), []);
});

Deno.test("GroupLink does not believe what a rank says of another", async () => {
  const { links, notes } = await connect(3);
  links[1]?.send("g", { word: "I am 2", from: 2, to: 0 } as never);
  await soon(() => notes[0]?.words.length === 1);
  assertEquals(notes[0]?.words, ["1 says I am 2"]);
  await Promise.all(links.map((link) => link.close("g")));
});

Deno.test(
  inTurn("GroupLink.confirm() reads what was said while the process had no turn"),
  async () => {
    const { links, notes } = await connect(2);
    const [first, second] = links as [GroupLink, GroupLink];
    assertEquals([first.isDoubtful, second.isDoubtful], [false, false]);
    const until = performance.now() + 2600;
    while (performance.now() < until);
    second.send("g", { word: "it is over" });
    first.send("g", { word: "here too" });
    assertEquals([first.isDoubtful, second.isDoubtful], [true, true]);
    assertEquals(notes[0]?.words, []);
    await Promise.all([
      first.confirm().then(() => assertEquals(notes[0]?.words, ["1 says it is over"])),
      second.confirm().then(() => assertEquals(notes[1]?.words, ["0 says here too"])),
    ]);
    assertEquals([first.isDoubtful, second.isDoubtful], [false, false]);
    await Promise.all(links.map((link) => link.close("g")));
  },
);
