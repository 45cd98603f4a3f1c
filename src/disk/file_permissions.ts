// A file that takes the place of another keeps that one's owner, permissions and access list, as
// far as the program may set them.

import { cString } from "../../ffi/c_strings.ts";
import type { DiskFile } from "./disk_file.ts";
import type { FileFacts } from "./file_facts.ts";
import { openSystem, uninterrupted } from "./system_error.ts";

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
export function copyPermissions({ realPath, facts, file }: {
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
