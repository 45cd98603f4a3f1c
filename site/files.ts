// The files under a folder.

/** Lists the files under a folder, as paths in it, sorted. */
export function walk(folder: string, below = ""): string[] {
  return [...Deno.readDirSync(`${folder}/${below}`)].flatMap(({ name, isFile }) =>
    isFile ? [below + name] : walk(folder, `${below}${name}/`)
  ).sort();
}
