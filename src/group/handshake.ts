// The messages of a group's processes before NCCL starts. Each process proves that it knows the group's
// token, which is never sent itself.

import { isRecord } from "../words/options.ts";

/** Version of these messages. */
export const PROTOCOL = 1;

/** A rank, as the others know it. */
export interface Member {
  readonly rank: number;
  readonly pid: number;
  /** Address of its machine, as rank 0 sees it; undefined for a process of rank 0's machine. */
  readonly address?: string | undefined;
  /** The device's identity, as in `gpu.info.uuid`. */
  readonly device: string;
}

/** A process's description of itself. */
export interface Introduction extends Member {
  readonly kit: string;
  readonly nccl: string;
  /** Number of ranks that the process was given. */
  readonly size: number;
  readonly isSimulated: boolean;
}

/** A reason to refuse a process. */
export type Refusal = "token" | "version" | "size" | "rank" | "device" | "protocol";

/** A refusal, in words for the process that is refused. */
export interface Refused {
  readonly refused: Refusal;
  readonly words: string;
}

/** The names of the two sides, so that neither side's proof is valid for the other. */
export type Side = "rank" | "welcome";

/** The facts that a proof covers. */
export interface Claim {
  readonly side: Side;
  /** Nonces of both sides, so that no proof is valid twice. */
  readonly nonces: readonly string[];
  /** The text that is proved. */
  readonly text: string;
}

/** The group's token, with proofs of knowing it. */
export class Secret {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** Makes a secret from a token; a group without one has a secret that everybody knows. */
  static async of(token: string | undefined): Promise<Secret> {
    const bytes = new TextEncoder().encode(`vramkit group\n${token ?? ""}`);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    return new Secret(
      await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign", "verify"]),
    );
  }

  /** Proves that this process knows the token (HMAC-SHA-256). */
  async prove(claim: Claim): Promise<string> {
    const proof = await crypto.subtle.sign("HMAC", this.#key, bytesOf(claim));
    return new Uint8Array(proof).toHex();
  }

  /** Checks a proof, in a time that does not reveal where it differs. */
  async accepts(claim: Claim, proof: unknown): Promise<boolean> {
    if (typeof proof !== "string" || !/^[0-9a-f]{64}$/.test(proof)) return false;
    const bytes = Uint8Array.fromHex(proof);
    return await crypto.subtle.verify("HMAC", this.#key, bytes, bytesOf(claim));
  }
}

export function nonce(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex();
}

/** Reads a nonce of the other side; undefined for anything else. */
export function readNonce(value: unknown): string | undefined {
  return typeof value === "string" && /^[0-9a-f]{32}$/.test(value) ? value : undefined;
}

/** Reads a process's description of itself; undefined for anything else. */
export function readIntroduction(text: string): Introduction | undefined {
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { kit, nccl, size, isSimulated } = value;
  const member = readMember(value);
  const isWhole = member !== undefined && isShort(kit) && isShort(nccl) && isCount(size) &&
    typeof isSimulated === "boolean";
  return isWhole ? { ...member, kit, nccl, size, isSimulated } : undefined;
}

/** Reads the members of a group, by rank, and NCCL's name for it; undefined for anything else. */
export function readWelcome(
  text: string,
): { readonly members: readonly Member[]; readonly id: Uint8Array<ArrayBuffer> } | undefined {
  const value = parsed(text);
  if (!isRecord(value) || !Array.isArray(value["members"])) return undefined;
  const members = value["members"].map((member: unknown) =>
    isRecord(member) ? readMember(member) : undefined
  );
  const id = readId(value["id"]);
  const isWhole = members.every((member, rank) => member?.rank === rank);
  return isWhole && id !== undefined ? { members: members as Member[], id } : undefined;
}

/** Reads NCCL's name for a group; undefined for anything else. */
export function readId(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof value !== "string" || !/^([0-9a-f]{2}){128}$/.test(value)) return undefined;
  return Uint8Array.fromHex(value);
}

/** Names a rank with its process: `rank 1 (process 4711 at 10.0.0.2)`. */
export function nameOf({ rank, pid, address }: Member): string {
  return `rank ${rank} (process ${pid}${address === undefined ? "" : ` at ${address}`})`;
}

function readMember(value: Readonly<Record<string, unknown>>): Member | undefined {
  const { rank, pid, address, device } = value;
  const isWhole = isCount(rank) && isCount(pid) && isShort(device) &&
    (address === undefined || isShort(address));
  return isWhole ? { rank, pid, address, device } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Texts of other processes appear in messages, so they must be short and of plain characters. */
function isShort(value: unknown): value is string {
  return typeof value === "string" && /^[\w.:+%-]{1,64}$/.test(value);
}

function bytesOf({ side, nonces, text }: Claim): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode([side, ...nonces, text].join("\n"));
}
