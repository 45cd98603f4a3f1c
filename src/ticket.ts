// Tickets: small texts by which one process opens memory or an event of another. They come from
// outside, so every field is checked before it is used.

import { alignmentOf, DTYPE, type DType, elementBytes } from "./dtype.ts";
import { ReasonError } from "./words/errors.ts";
import { describeValue } from "./words/format.ts";
import { isRecord } from "./words/options.ts";

/** Version of the tickets that are made and read here. */
export const TICKET_VERSION = 1 as const;

/** Longer texts are no tickets. */
const MAX_TEXT = 16_384;

/** Axes of the largest shape in a ticket. */
export const MAX_TICKET_AXES = 64;

/** A ticket for memory: `buffer.share()` returns it, `gpu.open()` takes it elsewhere. */
export interface MemoryTicket<D extends DType = DType> {
  /** Version of the ticket's form. */
  readonly vramkit: 1;
  /**
   * Kind of handle: `"allocation"` for the 64 bytes of cuIpcGetMemHandle, `"pool"` for those of
   * cuMemPoolExportPointer, whose pool travels over the socket.
   */
  readonly kind: "allocation" | "pool";
  /** The device, as in `gpu.info.uuid`. */
  readonly device: string;
  /** The handle, as 128 hexadecimal digits. */
  readonly handle: string;
  /** Offset of the elements in bytes, from the start of the allocation. */
  readonly offset: number;
  /** Bytes of the elements. */
  readonly byteLength: number;
  /** Element type, by the name of numpy or ml_dtypes. */
  readonly dtype: D;
  /** Size of each axis, outermost first. */
  readonly shape: readonly number[];
  /** Number of the process that shares it, for messages. */
  readonly pid?: number | undefined;
  /** Name of the socket that hands over the pool; only for a pool. */
  readonly socket?: string | undefined;
  /** Key that the socket expects, as 32 hexadecimal digits; only for a pool. */
  readonly key?: string | undefined;
}

/** A ticket for an event: `event.share()` returns it, `gpu.openEvent()` takes it elsewhere. */
export interface EventTicket {
  /** Version of the ticket's form. */
  readonly vramkit: 1;
  /** Kind of handle: the 64 bytes of cuIpcGetEventHandle. */
  readonly kind: "event";
  /** The device, as in `gpu.info.uuid`. */
  readonly device: string;
  /** The handle, as 128 hexadecimal digits. */
  readonly handle: string;
  /** Number of the process that shares it, for messages. */
  readonly pid?: number | undefined;
}

/** The reason why a ticket cannot be used. */
export type TicketProblem =
  | "malformed"
  | "newer"
  | "device"
  | "own-process"
  | "length"
  | "gone"
  | "other-user"
  | "unanswered"
  | "taken";

/** A ticket cannot be used; `reason` says why, and nothing was opened. */
export class TicketError extends ReasonError<TicketProblem> {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "TicketError";
}

/** A ticket of a pool, with the fields that only such a ticket has. */
export interface PoolTicket extends MemoryTicket {
  readonly kind: "pool";
  readonly socket: string;
  readonly key: string;
}

/** Creates the error for a text that is not a ticket. */
export function malformed(state: string): TicketError {
  return new TicketError("malformed", `Cannot read the ticket: ${state}`);
}

/**
 * Reads a ticket for memory, as an object or as its JSON.
 *
 * @throws TicketError for anything else; the message names the field that is wrong.
 */
export function readMemoryTicket(given: unknown): MemoryTicket {
  const fields = fieldsOf(given, ["allocation", "pool"]);
  const { device, handle, pid } = commonOf(fields);
  const kind = fields.read("kind") as MemoryTicket["kind"];
  const offset = sizeOf(fields, "offset");
  const byteLength = sizeOf(fields, "byteLength");
  const dtype = fields.read("dtype");
  if (!DTYPE.accepts(dtype)) throw fields.wrong("dtype", `the name of an element type`);
  const ticket = { dtype: dtype as DType, shape: shapeOf(fields) };
  const bytes = elementBytes(ticket.dtype);
  const count = ticket.shape.reduce((product, size) => product * size, 1);
  if (count * bytes !== byteLength || byteLength === 0) {
    throw malformed(
      `${ticket.dtype}[${ticket.shape.join(", ")}] has ${count * bytes} bytes, its byteLength is ` +
        `${byteLength}`,
    );
  }
  if (offset % alignmentOf(ticket.dtype) !== 0 || !Number.isSafeInteger(offset + byteLength)) {
    throw fields.wrong("offset", `a multiple of ${alignmentOf(ticket.dtype)}`);
  }
  const place = { device, handle, offset, byteLength, ...ticket, pid };
  if (kind === "allocation") return { vramkit: TICKET_VERSION, kind, ...place };
  const socket = textOf(fields, "socket", /^vramkit-[0-9a-f]{32}$/, "the name of a kit's socket");
  const key = textOf(fields, "key", /^[0-9a-f]{32}$/, "32 hexadecimal digits");
  return { vramkit: TICKET_VERSION, kind, ...place, socket, key };
}

/**
 * Reads a ticket for an event, as an object or as its JSON.
 *
 * @throws TicketError for anything else; the message names the field that is wrong.
 */
export function readEventTicket(given: unknown): EventTicket {
  return { vramkit: TICKET_VERSION, kind: "event", ...commonOf(fieldsOf(given, ["event"])) };
}

export function isPoolTicket(ticket: MemoryTicket): ticket is PoolTicket {
  return ticket.kind === "pool";
}

/** The fields of a record, each read once. */
class Fields {
  readonly #record: Readonly<Record<string, unknown>>;

  constructor(record: Readonly<Record<string, unknown>>) {
    this.#record = record;
  }

  read(name: string): unknown {
    return Object.hasOwn(this.#record, name) ? this.#record[name] : undefined;
  }

  wrong(name: string, expected: string): TicketError {
    return malformed(`its ${name} is ${describeValue(this.read(name))}, expected ${expected}`);
  }
}

/** Checks the kind of a ticket before anything else of it is read. */
function fieldsOf(given: unknown, kinds: readonly string[]): Fields {
  const record = typeof given === "string" ? parse(given) : given;
  if (!isRecord(record)) {
    throw malformed(`it is ${describeValue(record)}, expected an object or its JSON`);
  }
  const fields = new Fields({ ...record }); // getters run once
  const version = fields.read("vramkit");
  if (typeof version === "number" && version > TICKET_VERSION) {
    throw new TicketError(
      "newer",
      `Cannot read the ticket: it has version ${version}, this kit knows ${TICKET_VERSION}; update ` +
        `the kit here`,
    );
  }
  if (version !== TICKET_VERSION) throw fields.wrong("vramkit", `the version ${TICKET_VERSION}`);
  const kind = fields.read("kind");
  if (typeof kind === "string" && kinds.includes(kind)) return fields;
  const other = kind === "event" ? "; openEvent() opens events" : "";
  throw malformed(
    `its kind is ${describeValue(kind)}, expected ` +
      `${kinds.map((name) => `"${name}"`).join(" or ")}${other}`,
  );
}

function parse(text: string): unknown {
  if (text.length > MAX_TEXT) throw malformed(`it has ${text.length} characters`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TicketError("malformed", "Cannot read the ticket: it is no JSON", { cause });
  }
}

function commonOf(fields: Fields): { device: string; handle: string; pid: number | undefined } {
  const device = textOf(
    fields,
    "device",
    /^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    "a device's UUID",
  );
  const handle = textOf(fields, "handle", /^[0-9a-f]{128}$/, "64 bytes as hexadecimal digits");
  const pid = fields.read("pid");
  if (pid === undefined || pid === null) return { device, handle, pid: undefined };
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 0) {
    throw fields.wrong("pid", "a number");
  }
  return { device, handle, pid };
}

function textOf(fields: Fields, name: string, form: RegExp, expected: string): string {
  const value = fields.read(name);
  if (typeof value === "string" && value.length <= 256 && form.test(value)) return value;
  throw fields.wrong(name, expected);
}

function sizeOf(fields: Fields, name: string): number {
  const value = fields.read(name);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw fields.wrong(name, "a whole number from 0 on");
}

function shapeOf(fields: Fields): readonly number[] {
  const value = fields.read("shape");
  const isShape = Array.isArray(value) && value.length <= MAX_TICKET_AXES;
  const sizes: readonly unknown[] = isShape ? Array.from(value) : [undefined];
  if (sizes.every((size) => typeof size === "number" && Number.isSafeInteger(size) && size >= 0)) {
    return sizes as readonly number[];
  }
  throw fields.wrong("shape", "a list of sizes");
}
