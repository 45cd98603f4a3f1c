// The place where the processes of a group meet: a TCP address or a Unix socket on which rank 0 listens,
// given as an option or by a launcher in the environment.

import { formatCount } from "../words/format.ts";

export type MeetingPlace =
  | { readonly transport: "tcp"; readonly hostname: string; readonly port: number }
  | { readonly transport: "unix"; readonly path: string };

/** A meeting place, and the ranks that meet there. */
export interface Appointment {
  readonly place: MeetingPlace;
  readonly rank: number;
  readonly size: number;
  /** The secret that admits a process; undefined for none. */
  readonly token: string | undefined;
}

/** The options of `joinGroup()` that it is read from. */
export interface AppointmentOptions {
  readonly rendezvous: string;
  readonly rank?: number | undefined;
  readonly size?: number | undefined;
  readonly token?: string | undefined;
}

/** Shorter tokens could be guessed by somebody who has recorded a handshake. */
const MIN_TOKEN = 16;

/** The system's limit for the path of a Unix socket, its final zero included. */
const MAX_PATH = 108;

const FORMS = '"tcp://host:port", "file:/path" or "env:"';

/** Formats a place as it can be passed to joinGroup(). */
export function formatPlace(place: MeetingPlace): string {
  if (place.transport === "unix") return `file:${place.path}`;
  const { hostname, port } = place;
  return `tcp://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/**
 * Reads the meeting place from the options and the environment.
 *
 * @throws TypeError for a text that is not an address, and for a missing rank, size or token.
 * @throws RangeError for an invalid rank, size or port.
 */
export function readAppointment(options: AppointmentOptions): Appointment {
  const { rendezvous } = options;
  const isFromEnvironment = rendezvous === "env:" || rendezvous === "env://";
  const place = isFromEnvironment ? placeOfEnvironment() : placeOf(rendezvous);
  const number = (name: "rank" | "size", variable: string): number => {
    const given = options[name];
    if (given !== undefined) return given;
    if (isFromEnvironment) return numberOf(variable);
    throw new TypeError(`Cannot join a group at ${rendezvous}: pass { ${name} }`);
  };
  const rank = number("rank", "RANK");
  const size = number("size", "WORLD_SIZE");
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new RangeError(`Cannot join a group of ${size} ranks: expected 1 or more`);
  }
  if (!Number.isSafeInteger(rank) || rank < 0 || rank >= size) {
    throw new RangeError(
      `Cannot join a group as rank ${rank}: ${size} ranks are 0 to ${size - 1}`,
    );
  }
  const token = options.token ??
    (isFromEnvironment ? Deno.env.get("VRAMKIT_TOKEN") : undefined);
  requireToken(token, { place, isFromEnvironment });
  return { place, rank, size, token };
}

function requireToken(
  token: string | undefined,
  { place, isFromEnvironment }: { place: MeetingPlace; isFromEnvironment: boolean },
): void {
  if (token === undefined && place.transport === "unix") return;
  if (token === undefined) {
    throw new TypeError(
      `Cannot join a group at ${formatPlace(place)} without a token: pass { token }, a secret ` +
        `of all ranks such as ` +
        `crypto.randomUUID()${isFromEnvironment ? ", or set VRAMKIT_TOKEN" : ""}`,
    );
  }
  if (token.length >= MIN_TOKEN) return;
  throw new RangeError(
    `Cannot join a group with a token of ${formatCount(token.length, "character")}: expected ` +
      `${MIN_TOKEN} or more, such as crypto.randomUUID()`,
  );
}

function placeOf(rendezvous: string): MeetingPlace {
  if (rendezvous.startsWith("file:")) return socketAt(pathOf(rendezvous), rendezvous);
  const url = rendezvous.startsWith("tcp://") ? URL.parse(rendezvous) : null;
  if (url === null || url.hostname === "" || url.search + url.hash + url.username !== "") {
    throw noPlace(rendezvous);
  }
  if (url.pathname !== "" && url.pathname !== "/") throw noPlace(rendezvous);
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { transport: "tcp", hostname, port: portOf(url.port, rendezvous) };
}

function pathOf(rendezvous: string): string {
  const rest = rendezvous.slice("file:".length);
  if (!rest.startsWith("//")) return rest;
  try {
    const { hostname, pathname } = new URL(rendezvous);
    if (hostname === "" || hostname === "localhost") return decodeURIComponent(pathname);
  } catch {
    // told below
  }
  throw noPlace(rendezvous);
}

function socketAt(path: string, rendezvous: string): MeetingPlace {
  if (path === "" || path.includes("\0")) throw noPlace(rendezvous);
  if (new TextEncoder().encode(path).byteLength < MAX_PATH) return { transport: "unix", path };
  throw new RangeError(
    `Cannot join a group at ${rendezvous}: the path of a socket has fewer than ${MAX_PATH} bytes`,
  );
}

function placeOfEnvironment(): MeetingPlace {
  const hostname = textOf("MASTER_ADDR");
  const port = portOf(textOf("MASTER_PORT"), "MASTER_PORT");
  // torchrun listens there itself, for the stores of its own workers.
  const isTaken = Deno.env.get("TORCHELASTIC_USE_AGENT_STORE") === "True";
  return { transport: "tcp", hostname, port: isTaken ? port + 1 : port };
}

function numberOf(variable: string): number {
  const text = textOf(variable);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new TypeError(`Cannot join a group by the environment: ${variable} is "${text}"`);
}

function textOf(variable: string): string {
  const text = Deno.env.get(variable);
  if (text !== undefined && text !== "") return text;
  throw new TypeError(
    `Cannot join a group by the environment: ${variable} is not set; a launcher such as torchrun ` +
      `sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT`,
  );
}

function portOf(text: string, rendezvous: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port > 0 && port < 65535) return port;
  throw new RangeError(
    `Cannot join a group at ${rendezvous}: expected a port that all ranks know, from 1 to 65534`,
  );
}

function noPlace(rendezvous: string): TypeError {
  return new TypeError(`Cannot join a group at ${JSON.stringify(rendezvous)}: expected ${FORMS}`);
}
