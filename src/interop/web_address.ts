// Tells web addresses from paths, because opening one as a file would only report a missing file.

import type { FilePath } from "../disk/file_path.ts";

/** Returns whether a path is in fact a web address, http: or https:. */
export function isWebAddress(path: FilePath): boolean {
  if (path instanceof URL) return /^https?:$/.test(path.protocol);
  return typeof path === "string" && /^https?:\/\//i.test(path);
}
