// Tells addresses on the web from paths: what takes files would only say that one is not there.

import type { FilePath } from "../transfer/file_path.ts";

/** Whether something given for a file is an address on the web, http: or https:. */
export function isWebAddress(path: FilePath): boolean {
  if (path instanceof URL) return /^https?:$/.test(path.protocol);
  return typeof path === "string" && /^https?:\/\//i.test(path);
}
