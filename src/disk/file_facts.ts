// The facts that the system has about a file: kind, size, permissions and identity. They come from
// the C library, because Deno tells nothing about a file that a program may only write.

import { cString } from "../../ffi/c_strings.ts";
import {
  AT,
  ERRNO,
  S_IF,
  STATX,
  STATX_ATTR_MOUNT_ROOT,
  STATX_BASIC_STATS,
  STATX_TIMES,
} from "../../ffi/host.ts";
import { lastErrno, openSystem, systemError, uninterrupted } from "./system_error.ts";
import { visibleText } from "../words/format.ts";

/** Kind of object at a path. */
type FileKind = "file" | "folder" | "link" | "pipe" | "socket" | "device";

/** One file as the system knows it. */
export interface FileFacts {
  readonly kind: FileKind;
  readonly byteLength: number;
  /** Time of the last change of its contents, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Identity of the file, the same under all of its names as long as it exists. */
  readonly identity: string;
  /** Its permissions, with the bits for set-user-ID and the like. */
  readonly mode: number;
  /** The user that owns it. */
  readonly uid: number;
  /** The group that owns it. */
  readonly gid: number;
  /** Something is mounted on this very path, so that no other file can replace it. */
  readonly isMountPoint: boolean;
}

const KINDS: Readonly<Record<number, FileKind>> = {
  [S_IF.REG]: "file",
  [S_IF.DIR]: "folder",
  [S_IF.LNK]: "link",
  [S_IF.IFO]: "pipe",
  [S_IF.SOCK]: "socket",
  [S_IF.CHR]: "device",
  [S_IF.BLK]: "device",
};

/** Returns the facts about a path; undefined when nothing is there. Does not follow links. */
export function factsAt(path: string): FileFacts | undefined {
  return look({ directory: AT.FDCWD, path, flags: AT.SYMLINK_NOFOLLOW });
}

/** Returns the facts about a path with links followed; undefined when nothing is there. */
export function factsBehind(path: string): FileFacts | undefined {
  return look({ directory: AT.FDCWD, path, flags: 0 });
}

/** Returns the facts about an open file; `path` is for errors. */
export function factsOf(descriptor: number, path: string): FileFacts {
  const facts = look({ directory: descriptor, path: "", flags: AT.EMPTY_PATH, shownAs: path });
  if (facts === undefined) throw systemError(`look at ${path}`, ERRNO.ENOENT);
  return facts;
}

/**
 * Checks that a path is a regular file, which can be read and written at any offset.
 *
 * @throws TypeError when it is a folder, a pipe or a device.
 */
export function checkRegular(path: string, { kind }: FileFacts): void {
  if (kind === "file") return;
  throw new TypeError(`Cannot use ${visibleText(path)}: it is a ${kind}, expected a regular file`);
}

function look(
  { directory, path, flags, shownAs = path }: {
    readonly directory: number;
    readonly path: string;
    readonly flags: number;
    readonly shownAs?: string;
  },
): FileFacts | undefined {
  const bytes = new Uint8Array(STATX.byteLength);
  const { statx } = openSystem();
  const name = cString(path);
  if (uninterrupted(() => statx(directory, name, flags, STATX_BASIC_STATS, bytes)) < 0) {
    const errno = lastErrno();
    if (errno === ERRNO.ENOENT) return undefined;
    throw systemError(`look at ${shownAs}`, errno);
  }
  const { mode, size, uid, gid, inode, deviceMajor, deviceMinor, attributes, times } = STATX
    .decode(bytes);
  const { seconds, nanoseconds } = STATX_TIMES.decode(times).modified;
  return {
    kind: KINDS[mode & S_IF.MT] ?? "device",
    byteLength: Number(size),
    modifiedAt: Number(seconds) * 1000 + nanoseconds / 1e6,
    identity: `${deviceMajor}:${deviceMinor}:${inode}`,
    mode: mode & ~S_IF.MT,
    uid,
    gid,
    isMountPoint: (attributes & STATX_ATTR_MOUNT_ROOT) !== 0n,
  };
}
