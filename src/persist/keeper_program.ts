// The program of the keeper: a process without CUDA, and without the kit's other modules, that holds the
// descriptors of persisted memory. Its source is three classes, given to Deno as text, so it uses nothing
// but what it is given.

import { SocketMessage } from "../sharing/socket_message.ts";
import { KeeperSystem, type KeeperTask } from "./keeper_system.ts";
import type {
  AsleepFacts,
  KeeperAnswer,
  KeeperRequest,
  KeptFacts,
  Opener,
  Taint,
} from "./keeper_words.ts";

/** Memory that is kept under a name. */
interface Entry {
  readonly key: string;
  readonly facts: Omit<KeptFacts, "openers" | "taint" | "asleep">;
  descriptors: readonly number[];
  /** The description of its contents, and the page of its states. */
  readonly files: readonly [description: number, page: number];
  readonly openers: Map<Client, number>;
  /** Processes that had it open, until they are over: their descriptors, and places in the page. */
  readonly ending: Map<number, number>;
  taint: Taint | null;
  asleep: Asleep | null;
}

/** Memory that goes to sleep, sleeps or wakes. */
interface Asleep extends AsleepFacts {
  /** Who has its contents, or reads them; undefined when they are in a file and that one has gone. */
  client: Client | undefined;
  /** Its descriptors were given back. */
  isAway: boolean;
  /** A client reads it from its file. */
  isWaking: boolean;
}

/** Memory that is on its way: it counts when its last descriptor is there. */
interface Coming {
  /** New, or the client's own that wakes up. */
  readonly entry: Entry;
  readonly descriptorCount: number;
  readonly descriptors: number[];
}

/** A name that a client has asked for, and waits for. */
interface Want extends Pick<Entry, "key"> {
  readonly name: string;
  readonly device: string;
  readonly anew: boolean;
  /** The reason to wait that it was told. */
  toldOf?: KeeperAnswer["state"];
  isMaking?: boolean;
}

interface Client {
  readonly socket: number;
  readonly pid: number;
  /** Refers to its process; -1 where the system cannot. */
  readonly process: number;
  isGreeted: boolean;
  /** It has said that it is done with its memory. */
  hasLetGo: boolean;
  want: Want | undefined;
  entry: Entry | undefined;
  /** Memory that is on its way here. */
  coming: Coming | undefined;
}

/**
 * Holds descriptors, names and descriptions, and answers programs of the same user. Its functions are methods
 * or have no name, as those of {@link KeeperSystem}.
 */
class Keeper {
  readonly #system: KeeperSystem;
  readonly #task: KeeperTask;
  readonly #entries = new Map<string, Entry>();
  readonly #clients = new Map<number, Client>();
  #isOver = false;

  constructor(system: KeeperSystem, task: KeeperTask) {
    this.#system = system;
    this.#task = task;
  }

  /** Keeps until it is told to end, or there has been nothing to do for long. */
  async run(): Promise<void> {
    const system = this.#system;
    system.closeInherited();
    // One that ends just now has its lock a little longer than its socket; one that begins gets that soon.
    for (let tries = 0; !system.lock(); tries++) {
      if (tries === 100 || system.hasSocket) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.#noteTotals();
    if (!system.listen()) return;
    let idleSince = performance.now();
    while (!this.#isOver) {
      const { idleSeconds } = this.#task;
      const isIdle = this.#entries.size === 0 && this.#clients.size === 0;
      if (!isIdle) idleSince = performance.now();
      const left = idleSeconds * 1000 - (performance.now() - idleSince);
      if (left <= 0 || !system.isReachable) break;
      await this.#wait(isIdle ? Math.min(left, 60_000) : 60_000);
    }
    system.end();
  }

  /** Waits for whoever speaks, connects or ends, and serves it. */
  async #wait(milliseconds: number): Promise<void> {
    const { listener } = this.#system;
    const ending = [...this.#allEntries()].flatMap(({ ending }) => [...ending.keys()]);
    const watched = [listener, ...this.#clients.keys(), ...ending];
    for (const descriptor of await this.#system.poll(watched, milliseconds)) {
      if (descriptor === listener) await this.#accept();
      else if (this.#clients.has(descriptor)) this.#hear(this.#clients.get(descriptor) as Client);
      else this.#noteEnd(descriptor);
    }
    this.#serveWants();
  }

  async #accept(): Promise<void> {
    const accepted = this.#system.accept();
    if (accepted === undefined) return;
    // With too many descriptors open, who waits would be heard of again at once, and nothing could be done.
    if (accepted.socket < 0) return await new Promise((resolve) => setTimeout(resolve, 100));
    this.#clients.set(accepted.socket, {
      ...accepted,
      isGreeted: false,
      hasLetGo: false,
      want: undefined,
      entry: undefined,
      coming: undefined,
    });
  }

  /** Takes the next message of a client, and answers it. */
  #hear(client: Client): void {
    const received = this.#system.receive(client.socket);
    if (received === undefined) return;
    const { text, descriptors } = received;
    const { mostDescriptors } = this.#task;
    let answer: KeeperAnswer | object = {};
    let sent: readonly number[] = [];
    let taken = 0;
    try {
      if (text === "") return this.#leave(client);
      const request: KeeperRequest = JSON.parse(text);
      if (!client.isGreeted && request.op !== "hello") return this.#leave(client);
      switch (request.op) {
        case "hello":
          client.isGreeted = true;
          answer = { vramkit: this.#task.protocol, kit: this.#task.kit, pid: Deno.pid };
          break;
        case "list": {
          const list = [...this.#entries.values()].map((entry) => this.#factsOf(entry));
          const text = JSON.stringify(list);
          if (!this.#system.sendText(client.socket, { found: true }, text)) this.#leave(client);
          return;
        }
        case "stop":
          this.#isOver = true;
          answer = { found: true };
          break;
        case "check":
          answer = { found: client.entry !== undefined && this.#isListed(client.entry) };
          break;
        case "close":
          client.hasLetGo = true;
          return this.#leave(client);
        case "forget":
          answer = this.#forget(request.device + "\n" + request.name);
          break;
        case "want": {
          const { name, device, anew } = request;
          if (client.entry !== undefined || client.want !== undefined) return this.#leave(client);
          client.want = { key: device + "\n" + name, anew, name, device };
          return; // answered when it can be
        }
        case "more":
          sent = client.entry?.descriptors.slice(request.from, request.from + mostDescriptors) ??
            [];
          answer = { found: sent.length > 0 };
          break;
        case "publish":
          answer = this.#prepare(client, request, descriptors);
          taken = "refused" in answer ? 0 : 2; // the description and the page
          break;
        case "part":
          answer = this.#take(client, descriptors);
          taken = descriptors.length;
          break;
        case "sleep":
          answer = this.#putAsleep(client, request.where);
          break;
        case "away":
          return this.#sendAway(client, request.file);
        case "wake":
          answer = this.#awaken(client, request.descriptorCount);
          break;
        default:
          answer = { refused: "words" };
      }
    } catch {
      return this.#leave(client); // no program of the kit sends that
    } finally {
      this.#system.close(...descriptors.slice(taken));
    }
    this.#say(client, answer, sent);
  }

  /** Answers those that wait, in the order in which they asked: there is one maker of a name at a time. */
  #serveWants(): void {
    for (const client of [...this.#clients.values()]) {
      const { want } = client;
      if (want === undefined || want.isMaking) continue;
      const wants = [...this.#clients.values()].map(({ want }) => want);
      const isMade = wants.some((other) => other?.isMaking && other.key === want.key);
      const entry = this.#entries.get(want.key);
      if (isMade || (entry?.asleep?.isWaking === true && !want.anew)) {
        this.#tell(client, want, { state: "making", pids: [] });
        continue;
      }
      if (entry === undefined || want.anew) {
        want.isMaking = true;
        this.#say(client, { state: "make" });
        continue;
      }
      if (entry.asleep?.client !== undefined) {
        client.want = undefined;
        this.#say(client, { state: "asleep", facts: this.#factsOf(entry) });
        continue;
      }
      if (entry.ending.size > 0) { // what a dead process had queued may still run
        const slots = [...entry.ending.values()];
        const pids = slots.map((slot) => this.#readSlot(entry, slot)[0] ?? 0);
        this.#tell(client, want, { state: "ending", pids });
        continue;
      }
      client.want = undefined;
      this.#open(client, entry);
    }
  }

  /** Tells a client once what it waits for. */
  #tell(client: Client, want: Want, answer: KeeperAnswer): void {
    if (want.toldOf !== answer.state) this.#say(client, answer);
    want.toldOf = answer.state;
  }

  /** Sends an answer; who takes none has gone. */
  #say(client: Client, answer: object, descriptors: readonly number[] = []): void {
    if (!this.#system.send(client.socket, answer, descriptors)) this.#leave(client);
  }

  /** Hands memory out, or asks its opener to read it from its file. */
  #open(client: Client, entry: Entry): void {
    const facts = this.#factsOf(entry);
    const slot = this.#takeSlot(client, entry);
    if (slot === undefined) {
      const pids = [...entry.openers.keys()].map(({ pid }) => pid);
      return this.#say(client, { refused: "openers", pids });
    }
    if (entry.asleep !== null) entry.asleep = { ...entry.asleep, client, isWaking: true };
    const first = entry.descriptors.slice(0, this.#task.mostDescriptors - entry.files.length);
    this.#say(client, { state: "there", facts, slot }, [...entry.files, ...first]);
  }

  /** Gives a client a place in the page of an entry; undefined when all are taken. */
  #takeSlot(client: Client, entry: Entry): number | undefined {
    const { pageBytes, slotBytes, slotState } = this.#task;
    const used = new Set([...entry.openers.values(), ...entry.ending.values()]);
    let slot = 0;
    while (used.has(slot)) slot++;
    if ((slot + 1) * slotBytes > pageBytes) return undefined;
    client.entry = entry;
    entry.openers.set(client, slot);
    this.#writeSlot(entry, slot, [client.pid, slotState.clean]);
    return slot;
  }

  /** Takes the head of new memory: its descriptors follow, and nothing is kept before the last one. */
  #prepare(
    client: Client,
    { byteLength, what, origin, descriptorCount }: KeeperRequest & { op: "publish" },
    [description, page]: readonly number[],
  ): KeeperAnswer {
    const { want, pid: madeBy } = client;
    if (!want?.isMaking || description === undefined || page === undefined) {
      return { refused: "words" };
    }
    const { key, name, device } = want;
    const words = { name, device, byteLength, what, origin, descriptorCount };
    return this.#announce(client, {
      key,
      facts: { ...words, madeAt: Date.now(), madeBy },
      descriptors: [],
      files: [description, page],
      openers: new Map(),
      ending: new Map(),
      taint: null,
      asleep: null,
    }, descriptorCount);
  }

  /** Expects descriptors, unless they are more than the system leaves this process. */
  #announce(client: Client, entry: Entry, descriptorCount: number): KeeperAnswer {
    if (!Number.isSafeInteger(descriptorCount) || descriptorCount < 0 || client.coming) {
      return { refused: "words" };
    }
    const limit = this.#system.mostFiles;
    let used = 64 + 2 * this.#clients.size; // its own, and those of connections
    for (const { descriptors, ending } of this.#allEntries()) {
      used += descriptors.length + ending.size + 2;
    }
    for (const { coming } of this.#clients.values()) used += coming?.descriptorCount ?? 0;
    if (used + descriptorCount > limit) return { refused: "descriptors", limit, used };
    client.coming = { entry, descriptorCount, descriptors: [] };
    return this.#take(client, []);
  }

  /** Takes descriptors; with the last, new memory replaces what had its name, or the client's own is awake. */
  #take(client: Client, more: readonly number[]): KeeperAnswer {
    const { coming } = client;
    if (coming === undefined) throw new Error("nothing was announced");
    const { entry, descriptors, descriptorCount } = coming;
    if (descriptors.length + more.length > descriptorCount) throw new Error("too many came");
    descriptors.push(...more);
    if (descriptors.length < descriptorCount) return { found: true };
    client.coming = undefined;
    const isNew = entry !== client.entry;
    if (isNew) this.#forget(entry.key);
    if (isNew) this.#entries.set(entry.key, entry);
    entry.asleep = null;
    if (this.#isListed(entry)) entry.descriptors = descriptors;
    else this.#system.close(...descriptors); // it was forgotten meanwhile
    this.#noteTotals();
    if (!isNew) return { found: true };
    client.want = undefined;
    return { slot: this.#takeSlot(client, entry) ?? 0, facts: this.#factsOf(entry) };
  }

  /** Begins a sleep: nobody else opens it from here on, and its memory is there until it is away. */
  #putAsleep(client: Client, where: string): KeeperAnswer {
    const { entry, pid } = client;
    if (entry === undefined || entry.asleep !== null) return { refused: "asleep" };
    const others = [...entry.openers.keys()].filter((other) => other !== client);
    if (others.length > 0) return { refused: "open", pids: others.map(({ pid }) => pid) };
    if (!this.#isListed(entry)) return { found: false };
    entry.asleep = { pid, where, file: null, client, isAway: false, isWaking: false };
    return { found: true };
  }

  /** Gives the memory back of what sleeps now: its contents are where the client says. */
  #sendAway(client: Client, file: AsleepFacts["file"]): void {
    const { entry } = client;
    if (entry?.asleep?.client !== client) return;
    this.#system.close(...entry.descriptors);
    entry.descriptors = [];
    entry.asleep = { ...entry.asleep, file, isAway: true };
    this.#noteTotals();
  }

  /** Announces the descriptors of memory that is back; what was never away needs none. */
  #awaken(client: Client, descriptorCount: number): KeeperAnswer {
    const { entry } = client;
    if (entry?.asleep?.client !== client) return { refused: "asleep" };
    if (!entry.asleep.isAway) {
      entry.asleep = null;
      return { found: false };
    }
    return this.#announce(client, entry, descriptorCount);
  }

  /** Takes a name off the list and closes its descriptors: programs that have it open keep it. */
  #forget(key: string): KeeperAnswer {
    const entry = this.#entries.get(key);
    if (entry === undefined) return { found: false, pids: [] };
    this.#entries.delete(key);
    this.#noteTotals();
    this.#system.close(...entry.descriptors);
    entry.descriptors = [];
    this.#closeIfOver(entry);
    return { found: true, pids: [...entry.openers.keys()].map(({ pid }) => pid) };
  }

  /** Ends a connection: whoever had something open has let go, or is dead. */
  #leave(client: Client): void {
    if (!this.#clients.delete(client.socket)) return;
    const { entry, coming } = client;
    this.#system.close(client.socket, ...coming?.descriptors ?? []);
    if (coming !== undefined && coming.entry !== entry) this.#system.close(...coming.entry.files);
    let isWatched = false;
    if (entry !== undefined) {
      const slot = entry.openers.get(client) ?? 0;
      entry.openers.delete(client);
      this.#noteTaint(entry, slot);
      if (entry.asleep?.client === client) this.#leaveAsleep(entry, entry.asleep);
      isWatched = client.process >= 0 && !client.hasLetGo && this.#isListed(entry);
      if (isWatched) entry.ending.set(client.process, slot);
      else this.#writeSlot(entry, slot, [0, 0]);
      this.#closeIfOver(entry);
    }
    if (!isWatched && client.process >= 0) this.#system.close(client.process);
  }

  /** Keeps what sleeps in a file, or has not left yet; any other contents have gone with their process. */
  #leaveAsleep(entry: Entry, asleep: Asleep): void {
    if (!asleep.isAway) entry.asleep = null;
    else if (asleep.file === null) this.#forget(entry.key);
    else entry.asleep = { ...asleep, client: undefined, isWaking: false };
  }

  /** Notes that a process is over that had something open. */
  #noteEnd(process: number): void {
    for (const entry of this.#allEntries()) {
      const slot = entry.ending.get(process);
      if (slot === undefined) continue;
      entry.ending.delete(process);
      this.#system.close(process);
      this.#writeSlot(entry, slot, [0, 0]);
    }
  }

  /** Remembers that a process has let go while its writes were not known to be finished. */
  #noteTaint(entry: Entry, slot: number): void {
    const { slotState } = this.#task;
    const [pid = 0, state = 0] = this.#readSlot(entry, slot);
    if (state !== slotState.dirty && state !== slotState.unknown) return;
    if (entry.taint?.state === "dirty") return;
    const isDirty = state === slotState.dirty;
    entry.taint = { state: isDirty ? "dirty" : "unknown", pid, at: Date.now() };
  }

  #closeIfOver(entry: Entry): void {
    if (this.#isListed(entry) || entry.openers.size > 0) return;
    this.#system.close(...entry.files, ...entry.ending.keys());
    entry.ending.clear();
  }

  #isListed(entry: Entry): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  *#allEntries(): Generator<Entry> {
    yield* this.#entries.values();
    const open = new Set([...this.#clients.values()].map(({ entry }) => entry));
    for (const entry of open) if (entry !== undefined && !this.#isListed(entry)) yield entry;
  }

  #factsOf(entry: Entry): KeptFacts {
    const { slotState } = this.#task;
    const words = { [slotState.dirty]: "dirty", [slotState.unknown]: "unknown" } as const;
    const openers = [...entry.openers].map(([{ pid }, slot]): Opener => {
      const [, state = 0] = this.#readSlot(entry, slot);
      return { pid, state: (words as Record<number, Opener["state"]>)[state] ?? "clean" };
    });
    const { facts, taint, asleep } = entry;
    const byteLength = asleep?.isAway === true ? 0 : facts.byteLength;
    const shown = asleep === null
      ? null
      : { pid: asleep.pid, where: asleep.where, file: asleep.file };
    return { ...facts, byteLength, openers, taint, asleep: shown };
  }

  /** Notes the bytes of each device, for errors of programs that lack memory. */
  #noteTotals(): void {
    const totals: Record<string, number> = {};
    for (const { facts, asleep } of this.#entries.values()) {
      if (asleep?.isAway === true) continue;
      totals[facts.device] = (totals[facts.device] ?? 0) + facts.byteLength;
    }
    this.#system.note(JSON.stringify(totals));
  }

  #readSlot({ files: [, page] }: Entry, slot: number): Int32Array {
    return this.#system.read(page, slot * this.#task.slotBytes);
  }

  #writeSlot({ files: [, page] }: Entry, slot: number, words: readonly [number, number]): void {
    this.#system.write(page, slot * this.#task.slotBytes, words);
  }
}

/** Returns the text of a keeper's program, for the standard input of a Deno. */
export function keeperProgram(task: KeeperTask): string {
  // The call comes last: a text that was cut off does nothing.
  const classes = Object.entries({ Message: SocketMessage, System: KeeperSystem, Keeper });
  return classes.map(([name, source]) => `const ${name} = ${textOf(source)};\n`).join("") +
    `const task = ${JSON.stringify(task)};\n` +
    "await new Keeper(new System(task, Message), task).run();\n";
}

/** Returns the source of a class; a bundler that keeps names adds a static block, with a helper of its own. */
function textOf(source: { toString(): string }): string {
  return `${source}`.replaceAll(/\bstatic\s*\{[^{}]*\}/g, "");
}
