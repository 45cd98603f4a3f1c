// Paths of files: one absolute path for each file, however a program spells it, and the program's
// permission for it. The C library follows links, and only after Deno has granted the path.

import { cString } from "../../ffi/c_strings.ts";
import { ERRNO, PATH_MAX } from "../../ffi/host.ts";
import { builtin } from "../words/builtin.ts";
import { cut, describeValue, messageOf, visibleText } from "../words/format.ts";
import type { OptionKind } from "../words/options.ts";
import { lastErrno, openSystem, systemError } from "./system_error.ts";

/** Path of a file: a string, or a `file:` URL. */
export type FilePath = string | URL;

/** A path, for options; whether it can be used is for the call to check. */
export const PATH: OptionKind = {
  expected: "a path or a file URL",
  accepts: (value) => typeof value === "string" || value instanceof URL,
};

/** Starts of addresses of the web, which `resolve()` would make folders of the current one. */
const ADDRESS = /^(https?:\/\/|blob:)/i;

/** Length up to which an address is shown: one of data has all of them. */
const MAX_SHOWN_LENGTH = 200;

/** Number of links that the system follows at most. */
const MAX_LINKS = 40;

/** Returns whether a path is in fact an address of the web, where files would only be missing. */
export function isWebAddress(path: FilePath): boolean {
  const text = path instanceof URL ? textOf(path) : path;
  return typeof text === "string" && ADDRESS.test(text);
}

/** Writes an address for messages and labels, without the parts that may be secret: who asks, and a signature. */
export function addressOf(url: string | URL): string {
  return `${url}`.replace(/(?<=\/\/)[^/?#]*@|[?#].*/gs, "");
}

/**
 * Returns the absolute path, relative to the current directory. As in Deno, `..` removes the part
 * before it, also when that is a link.
 *
 * @throws TypeError when it is neither a path nor a file URL; the message has the reason.
 * @throws Deno.errors.NotFound when the current directory is gone.
 */
export function pathOf(path: FilePath): string {
  if (isWebAddress(path)) {
    const words = "it is an address of the web, expected a file; download it first";
    throw unusable(visibleText(addressOf(path)), words);
  }
  if (path instanceof URL) return fromUrl(path);
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    const words = "expected a text that is not empty and has no NUL, or a URL";
    throw unusable(describeValue(path), words);
  }
  if (/^file:/i.test(path)) {
    throw unusable(visibleText(path), "it is a URL as text; pass new URL(path)");
  }
  if (!path.isWellFormed()) {
    // The system would get U+FFFD instead, and other names would become the same.
    throw unusable(describeValue(path), "it has half of a surrogate pair");
  }
  try {
    return builtin("node:path").resolve(path);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new Deno.errors.NotFound(
      `Cannot use ${visibleText(path)} as a path: it is relative, and the current folder is gone`,
      { cause },
    );
  }
}

/** Returns whether a path ends as only a folder's does, which {@link pathOf} leaves out. */
export function namesFolder(path: FilePath): boolean {
  return /\/\.{0,2}$/.test(path instanceof URL ? path.pathname : path);
}

export function folderOf(path: string): string {
  return builtin("node:path").dirname(path);
}

/** Returns the last part of a path. */
export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function fromUrl(url: URL): string {
  try {
    return pathOf(builtin("node:url").fileURLToPath(url));
  } catch (cause) {
    throw unusable(cut(textOf(url), MAX_SHOWN_LENGTH), messageOf(cause), { cause });
  }
}

function unusable(shown: string, words: string, options?: ErrorOptions): TypeError {
  return new TypeError(`Cannot use ${shown} as a path: ${words}`, options);
}

/** A Proxy of a URL has no text. */
function textOf(url: URL): string {
  try {
    return url.href;
  } catch {
    return "a Proxy of a URL";
  }
}

/**
 * Checks that Deno lets the program use a path; asks on a terminal.
 *
 * @throws Deno.errors.NotCapable when it does not.
 */
export function requireAccess(path: string, access: "read" | "write"): void {
  // Deno keeps its answer for each path that it is asked about, as long as the program runs.
  const everywhere = Deno.permissions.querySync({ name: access });
  if (everywhere.state === "granted" && !everywhere.partial) return;
  const { state } = Deno.permissions.querySync({ name: access, path });
  if (state === "granted") return;
  if (Deno.permissions.requestSync({ name: access, path }).state === "granted") return;
  throw new Deno.errors.NotCapable(
    `Cannot ${access} ${visibleText(path)}: ${access} access is not granted; run again with ` +
      `--allow-${access}`,
  );
}

/**
 * Follows links to the place where the file is or would be created: the one name that identifies
 * it. The path is absolute, and Deno has granted it.
 *
 * @throws Deno.errors.NotFound when the folder does not exist; other errors as the system reports
 *   them.
 */
export function realPathOf(path: string): string {
  let place = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const there = resolveLinks(place);
    if (there !== undefined) return there;
    const folder = resolveLinks(folderOf(place));
    if (folder === undefined) {
      const missing = visibleText(folderOf(place));
      throw new Deno.errors.NotFound(
        `Cannot use ${visibleText(path)}: the folder ${missing} does not exist`,
      );
    }
    const { basename, join } = builtin("node:path");
    place = join(folder, basename(place));
    const target = readLink(place);
    if (target === undefined) return place;
    place = target.startsWith("/") ? target : `${folder}/${target}`; // `..` is the system's here
  }
  throw systemError(`use ${path}`, ERRNO.ELOOP);
}

/** Returns the target of a link; undefined for anything else. */
export function readLink(path: string): string | undefined {
  const bytes = new Uint8Array(PATH_MAX);
  const count = openSystem().readlink(cString(path), bytes, BigInt(bytes.byteLength));
  return count < 0n ? undefined : decodePath(path, bytes.subarray(0, Number(count)));
}

/** The path without links; undefined when nothing is there. */
function resolveLinks(path: string): string | undefined {
  const bytes = new Uint8Array(PATH_MAX);
  if (openSystem().realpath(cString(path), bytes) !== 0n) {
    return decodePath(path, bytes.subarray(0, bytes.indexOf(0)));
  }
  const errno = lastErrno();
  if (errno === ERRNO.ENOENT) return undefined;
  throw systemError(`use ${path}`, errno);
}

/** A name that is not UTF-8 would be decoded to the name of another file. */
function decodePath(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TypeError(
      `Cannot use ${visibleText(path)}: its links lead to a name that is not UTF-8`,
      { cause },
    );
  }
}
