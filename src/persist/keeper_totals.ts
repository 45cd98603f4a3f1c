// The bytes that the keeper holds on a device, for the error of a program that lacks memory: read without
// a wait, from a line that the keeper writes beside its socket.

import { cString } from "../../ffi/c_strings.ts";
import { findHost, O } from "../../ffi/host.ts";
import type { Context } from "../driver/context.ts";
import { deviceUuid } from "../driver/device_uuid.ts";
import { openSystem } from "../disk/system_error.ts";
import { tellOfPersisted } from "../memory/out_of_memory.ts";
import { LocalSocket } from "../sharing/local_socket.ts";
import type { PersistedAmount } from "../words/shortage.ts";
import { folderPath, lockIn, socketIn } from "./keeper_folder.ts";
import { readText } from "./state_page.ts";

tellOfPersisted((context) => {
  try {
    return findHost() === undefined ? undefined : persistedOn(context);
  } catch {
    return undefined; // the error is about memory, whatever is wrong here
  }
});

/** Reads the bytes that are persisted on a device; undefined without a keeper of this user. */
function persistedOn(context: Context): PersistedAmount | undefined {
  const folder = folderPath();
  const socket = LocalSocket.connect(socketIn(folder));
  if (!(socket instanceof LocalSocket)) return undefined;
  using _socket = socket;
  if (!socket.isOfSameUser) return undefined;
  const { open, close } = openSystem();
  const file = open(cString(lockIn(folder)), O.RDONLY | O.CLOEXEC, 0);
  if (file < 0) return undefined;
  try {
    const [line = ""] = readText(file).split("\n");
    const byteLength: unknown = JSON.parse(line)[deviceUuid(context)];
    const isThere = typeof byteLength === "number" && byteLength > 0;
    return isThere ? { byteLength, pid: socket.peer?.pid ?? 0 } : undefined;
  } finally {
    close(file);
  }
}
