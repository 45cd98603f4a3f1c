// A whole file, written beside the old one and renamed over it at the end. Before that, whatever
// happens, the old file stays untouched; afterwards the new one is there with all of its bytes.

import { cString } from "../../ffi/c_strings.ts";
import { NAME_MAX } from "../../ffi/host.ts";
import { builtin } from "../words/builtin.ts";
import { messageOf, visibleText } from "../words/format.ts";
import { DiskFile } from "./disk_file.ts";
import type { ChangeOptions } from "./file_change.ts";
import { checkRegular, factsAt, type FileFacts } from "./file_facts.ts";
import { folderOf, requireAccess } from "./file_path.ts";
import { checkWritable, FileWrite, type WrittenPlace } from "./file_write.ts";
import { LockedFile } from "./locked_file.ts";
import {
  lastErrno,
  openByDeno,
  openSystem,
  reworded,
  systemReason,
  uninterrupted,
} from "./system_error.ts";

const SUFFIX = ".vramkit-saving";

/** Permissions until it gets those of the file that it replaces: no other user may open it. */
const PRIVATE_MODE = 0o600;

const REMEDY = "pass { inPlace: true } to write into the file itself";

/** A new file that replaces another, or is the first at its path. */
export class FileReplacement extends FileWrite {
  readonly #options: Pick<ChangeOptions, "byteLength" | "sync">;
  /** Facts about the file to replace, as they were at the beginning. */
  #target: FileFacts | undefined;

  constructor(place: WrittenPlace, options: Pick<ChangeOptions, "byteLength" | "sync">) {
    super(place, { ...options, lockedPath: temporaryBeside(place.realPath) });
    this.#options = options;
  }

  protected override open(): LockedFile | undefined {
    const { path, realPath } = this.place;
    ask(this.place, () => requireAccess(realPath, "write"));
    this.#target = factsAt(realPath);
    if (this.#target !== undefined) checkReplaceable(path, this.#target);
    ask(this.place, () => openByDeno(realPath, { write: true }));
    return this.#openTemporary();
  }

  protected override prepare({ file }: LockedFile): void {
    const { sync, byteLength } = this.#options;
    if (sync) this.folder = new DiskFile(folderOf(this.place.realPath), "read");
    file.reserve(0, byteLength);
  }

  override abandon(): void {
    using temporary = this.opened;
    this.opened = undefined;
    this.closeFolder();
    temporary?.tryRemove();
  }

  /** Creates the temporary file anew; an existing one was left by a program that was killed. */
  #openTemporary(): LockedFile | undefined {
    const path = this.lockedPath;
    const mode = this.#target === undefined ? {} : { mode: PRIVATE_MODE };
    const shownAs = this.place.path;
    try {
      requireAccess(path, "write");
      for (;;) {
        const check = (facts: FileFacts) => checkRegular(path, facts);
        const opened = LockedFile.tryOpen(path, { check, shownAs, ...mode });
        if (opened === undefined || opened.isNew) return opened;
        using left = opened;
        left.remove();
      }
    } catch (error) {
      throw noTemporary(this.place, { path, error });
    }
  }

  /** Gives the new file the permissions of the one that it replaces. */
  protected override beforeFlush(): void {
    const { realPath } = this.place;
    const facts = factsAt(realPath) ?? this.#target;
    const file = this.opened?.file;
    if (facts !== undefined && file !== undefined) copyPermissions({ realPath, facts, file });
  }

  /** Puts the new file into its place, and keeps the old one, whose bytes go when it is closed. */
  protected override settle(): void {
    const temporary = this.opened;
    if (temporary === undefined) return;
    const { path, realPath } = this.place;
    if (!temporary.isInPlace) {
      const gone = visibleText(this.lockedPath);
      throw new Error(`Cannot write ${visibleText(path)}: ${gone} was removed meanwhile`);
    }
    const now = factsAt(realPath);
    if (now !== undefined) checkReplaceable(path, now);
    using opened = new DisposableStack();
    const old = opened.use(holdOld(realPath));
    if (openSystem().rename(cString(this.lockedPath), cString(realPath)) !== 0) {
      const reason = systemReason(lastErrno());
      throw new Error(
        `Cannot write ${visibleText(path)}: it cannot be replaced, ${reason}; ${REMEDY}`,
      );
    }
    opened.move();
    this.opened = undefined;
    this.leaving.push(temporary);
    if (old !== undefined) this.leaving.push(old);
  }
}

/** Keeps the bytes of a file that is about to be replaced, so that they can be freed elsewhere. */
function holdOld(path: string): DiskFile | undefined {
  try {
    return new DiskFile(path, "hold");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Returns the path of a file's one temporary file: beside it, where the next save finds it. */
export function temporaryBeside(path: string): string {
  const { basename, dirname, join } = builtin("node:path");
  const name = basename(path);
  const whole = `.${name}${SUFFIX}`;
  const isShort = new TextEncoder().encode(whole).byteLength <= NAME_MAX;
  return join(dirname(path), isShort ? whole : `.${digest(name)}${SUFFIX}`);
}

/** FNV-1a in two halves; two long names that share it would only wait for each other. */
function digest(name: string): string {
  return [0x811c9dc5, 0x9747b28c].map((seed) => {
    let hash = seed;
    for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
    return (hash >>> 0).toString(16).padStart(8, "0");
  }).join("");
}

function checkReplaceable(path: string, facts: FileFacts): void {
  checkWritable(path, facts);
  if (facts.kind !== "device" && !facts.isMountPoint) return;
  const reason = facts.kind === "device" ? "it is a device" : "it is mounted by itself";
  throw new TypeError(
    `Cannot write ${visibleText(path)}: ${reason}, so no other file can take its place; ${REMEDY}`,
  );
}

/**
 * Asks Deno about the file to replace; a missing one stays missing. An error says where the links of the
 * path lead, when there are any.
 */
function ask({ path, realPath }: WrittenPlace, question: () => void): void {
  try {
    question();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (path === realPath) throw error;
    throw reworded(error, `Cannot write ${path}: it leads to ${realPath}: ${messageOf(error)}`);
  }
}

function noTemporary(
  { path, realPath }: WrittenPlace,
  temporary: { readonly path: string; readonly error: unknown },
): unknown {
  const { error } = temporary;
  const isRefused = error instanceof Deno.errors.NotCapable;
  const reason = isRefused ? "write access to it is not granted" : messageOf(error);
  const remedy = isRefused ? `allow the folder with --allow-write=${folderOf(realPath)}, or ` : "";
  return reworded(
    error,
    `Cannot write ${path}: the new file is written first as ${temporary.path}, which cannot be ` +
      `made: ${reason}; ${remedy}${REMEDY}`,
  );
}

/** Attribute in which Linux keeps a file's access list. */
const ACCESS_LIST = "system.posix_acl_access";

/** Leaves the owner or the group as it is: -1 as an unsigned number. */
const UNCHANGED = 0xffff_ffff;

const GROUP_BITS = 0o070;
const SET_GROUP_BIT = 0o2000;
const SET_USER_BIT = 0o4000;

/**
 * Gives an open file the permissions of another, the one at `realPath`. When the group cannot be kept, its members get no
 * more than all others have, so that only those who could read the old file can read the new one.
 */
function copyPermissions({ realPath, facts, file }: {
  readonly realPath: string;
  readonly facts: FileFacts;
  readonly file: DiskFile;
}): void {
  const { fchmod, fchown } = openSystem();
  const { descriptor } = file;
  const { uid, gid, mode } = facts;
  const keepsBoth = uninterrupted(() => fchown(descriptor, uid, gid)) === 0;
  const keepsGroup = keepsBoth || uninterrupted(() => fchown(descriptor, UNCHANGED, gid)) === 0;
  if (keepsGroup) copyAccessList(realPath, descriptor);
  // Last, because a change of the owner clears bits of the mode.
  const newMode = keepsBoth ? mode : modeOfOthers(mode, { keepsGroup });
  uninterrupted(() => fchmod(descriptor, newMode));
}

function modeOfOthers(mode: number, { keepsGroup }: { readonly keepsGroup: boolean }): number {
  if (keepsGroup) return mode & ~SET_USER_BIT;
  const shared = GROUP_BITS & (mode & 0o007) << 3;
  return mode & ~(SET_USER_BIT | SET_GROUP_BIT | GROUP_BITS) | mode & shared;
}

function copyAccessList(path: string, descriptor: number): void {
  const { getxattr, fsetxattr, fremovexattr } = openSystem();
  const [source, name] = [cString(path), cString(ACCESS_LIST)];
  const neededBytes = getxattr(source, name, null, 0n); // -1 when there is none
  const value = new Uint8Array(Math.max(0, Number(neededBytes)));
  const byteLength = getxattr(source, name, value, BigInt(value.byteLength));
  if (byteLength > 0n) fsetxattr(descriptor, name, value, byteLength, 0);
  else fremovexattr(descriptor, name);
}
