// The contents of a snapshot as PyTorch writes it, checked, and in the kit's own words.

import { visibleText } from "../words/format.ts";
import { isRecord } from "../words/options.ts";
import { NO_STACK, refuse, type SnapshotStack, StackIndex, textOf } from "./stacks.ts";

/** A part of a segment. */
export interface SnapshotBlock {
  /** Address on the device. */
  readonly address: number;
  /** Bytes, with those lost to rounding. */
  readonly byteLength: number;
  /** Bytes that the program asked for; 0 for a free block. */
  readonly requestedBytes: number;
  /** Its use: `"pending"` is freed by the program, while a stream still uses it. */
  readonly state: "allocated" | "pending" | "free";
  /** Place where it was allocated. */
  readonly stack: SnapshotStack;
}

/** Memory that the allocator took from the driver at once, and divides into blocks. */
export interface SnapshotSegment {
  /** Index of the device. */
  readonly device: number;
  /** Address on the device. */
  readonly address: number;
  /** Bytes. */
  readonly byteLength: number;
  /** Handle of the stream that it belongs to; 0 for the default stream. */
  readonly stream: number;
  /** The pool: `"default"`, or the numbers of a private one, such as `"0.1"`. */
  readonly pool: string;
  /** It grows at its place, and parts of it go back to the driver alone. */
  readonly isExpandable: boolean;
  /** Its blocks by address. */
  readonly blocks: readonly SnapshotBlock[];
}

/** One step of the allocator. */
export interface SnapshotEvent {
  /** PyTorch's name of the step, such as `"alloc"`, `"free_completed"`, `"segment_alloc"`, `"oom"`. */
  readonly action: string;
  /** Address; 0 where the step has none. */
  readonly address: number;
  /** Bytes. */
  readonly byteLength: number;
  /** Handle of the stream; 0 for the default stream. */
  readonly stream: number;
  /** Time in seconds since 1970; undefined where the file has none. */
  readonly timeSeconds: number | undefined;
  /** The program's own words about it. */
  readonly metadata: string | undefined;
  /** Place in the program. */
  readonly stack: SnapshotStack;
}

/** A stretch of time that the program named. */
export interface SnapshotAnnotation {
  /** Its name. */
  readonly name: string;
  /** Index of the device. */
  readonly device: number;
  /** Its beginning in seconds since 1970; undefined when it lies before the history. */
  readonly startSeconds?: number | undefined;
  /** Its end in seconds since 1970; undefined when it had not ended. */
  readonly endSeconds?: number | undefined;
}

/** The contents of a snapshot. */
export interface SnapshotContents {
  readonly segments: readonly SnapshotSegment[];
  readonly events: readonly (readonly SnapshotEvent[])[];
  readonly annotations: readonly SnapshotAnnotation[];
  readonly settings: Readonly<Record<string, unknown>>;
}

type Raw = Readonly<Record<string, unknown>>;

const STATES = new Map<unknown, SnapshotBlock["state"]>([
  ["active_allocated", "allocated"],
  ["active_pending_free", "pending"],
  ["active_awaiting_free", "pending"],
  ["inactive", "free"],
]);

/** Reads the contents of one snapshot. */
export class SnapshotForm {
  readonly #stacks = new StackIndex();
  readonly #pause: () => Promise<void>;
  #leftCount: number;

  /** Reads so many records at most: a file that repeats its parts would never end. */
  constructor(maxCount: number, pause: () => Promise<void>) {
    this.#leftCount = maxCount;
    this.#pause = pause;
  }

  /**
   * Reads the contents, with pauses.
   *
   * @throws SyntaxError when they have another form; the message is the reason alone.
   */
  async read(value: unknown): Promise<SnapshotContents> {
    // torch.cuda.memory_snapshot() gives the segments alone.
    const raw: unknown = Array.isArray(value) ? { segments: value } : value;
    if (!isRecord(raw) || !("segments" in raw)) {
      throw new SyntaxError("it has no segments, as every snapshot of PyTorch has");
    }
    const segments: SnapshotSegment[] = [];
    for (const segment of this.#records(raw, "segments")) {
      segments.push(this.#segment(segment));
      await this.#pause();
    }
    const events: SnapshotEvent[][] = [];
    const traces = raw["device_traces"] ?? [];
    if (!Array.isArray(traces)) refuse("device_traces", traces);
    for (const trace of traces) {
      const steps: SnapshotEvent[] = [];
      events.push(steps);
      for (const event of this.#records({ device_traces: trace }, "device_traces")) {
        steps.push(this.#event(event));
        if (steps.length % 1024 === 0) await this.#pause();
      }
    }
    const annotations = annotationsOf(this.#records(raw, "external_annotations"));
    const settings = raw["allocator_settings"];
    return { segments, events, annotations, settings: isRecord(settings) ? settings : {} };
  }

  /** Returns a list of records, an empty one where the key is missing. */
  #records(raw: Raw, key: string): readonly Raw[] {
    const list = raw[key] ?? [];
    if (!Array.isArray(list)) refuse(key, list);
    this.#leftCount -= list.length;
    if (this.#leftCount < 0) throw new SyntaxError("it repeats its parts, as no snapshot does");
    for (const each of list) if (!isRecord(each)) refuse(`a part of ${key}`, each);
    return list;
  }

  #segment(raw: Raw): SnapshotSegment {
    const address = integer(raw, "address");
    let end = address;
    const blocks = this.#records(raw, "blocks").map((each) => {
      const block = this.#block(each, end);
      end = block.address + block.byteLength;
      return block;
    });
    const { segment_pool_id: ids = [0, 0] } = raw;
    if (!Array.isArray(ids) || !ids.every(Number.isSafeInteger)) refuse("segment_pool_id", ids);
    const pool = ids.join(".");
    return {
      device: integer(raw, "device", 0),
      address,
      byteLength: integer(raw, "total_size"),
      stream: integer(raw, "stream", 0),
      pool: pool === "0.0" ? "default" : pool,
      isExpandable: raw["is_expandable"] === true,
      blocks,
    };
  }

  #block(raw: Raw, end: number): SnapshotBlock {
    const byteLength = integer(raw, "size");
    const state = STATES.get(raw["state"]) ?? refuse("state", raw["state"]);
    const isFree = state === "free";
    return {
      address: integer(raw, "address", end),
      byteLength,
      requestedBytes: isFree ? 0 : integer(raw, "requested_size", byteLength),
      state,
      stack: isFree ? NO_STACK : this.#stacks.of(raw["frames"]),
    };
  }

  #event(raw: Raw): SnapshotEvent {
    const { action, time_us: time, user_metadata: metadata } = raw;
    return {
      action: textOf("action", action),
      address: integer(raw, "addr", 0),
      byteLength: integer(raw, "size", 0),
      stream: integer(raw, "stream", 0),
      timeSeconds: Number.isFinite(time) ? time as number / 1e6 : undefined,
      metadata: typeof metadata === "string" && metadata !== "" ? visibleText(metadata) : undefined,
      stack: this.#stacks.of(raw["frames"]),
    };
  }
}

/** Joins the beginnings and ends of annotations. */
function annotationsOf(marks: readonly Raw[]): SnapshotAnnotation[] {
  const found: { -readonly [K in keyof SnapshotAnnotation]: SnapshotAnnotation[K] }[] = [];
  const open = new Map<string, typeof found>();
  for (const mark of marks) {
    const [name, device] = [textOf("name", mark["name"]), integer(mark, "device", 0)];
    const seconds = integer(mark, "time_us") / 1e6;
    const begun = open.getOrInsertComputed(`${device} ${name}`, () => []);
    const last = mark["stage"] === "END" ? begun.pop() : undefined;
    if (last !== undefined) last.endSeconds = seconds;
    else if (mark["stage"] === "END") found.push({ name, device, endSeconds: seconds });
    else begun[begun.length] = found[found.length] = { name, device, startSeconds: seconds };
  }
  return found;
}

/** Returns a whole number from 0 on; the fallback where the key is missing. */
function integer(raw: Raw, key: string, fallback?: number): number {
  const value = raw[key] ?? fallback;
  return Number.isSafeInteger(value) && value as number >= 0 ? value as number : refuse(key, value);
}
