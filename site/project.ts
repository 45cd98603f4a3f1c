// The files of the project that the site is made from.

/** The project's root folder. */
export const PROJECT = new URL("../", import.meta.url);

/** Reads a text file of the project. */
export function readProjectFile(path: string): string {
  return Deno.readTextFileSync(new URL(path, PROJECT));
}

/** Whether the project has a file or folder of this path. */
export function existsInProject(path: string): boolean {
  try {
    Deno.statSync(new URL(path, PROJECT));
    return true;
  } catch {
    return false;
  }
}

/** Lists the files in a folder with this ending, sorted, as paths in the project. */
export function filesIn(folder: string, ending: string): string[] {
  return [...Deno.readDirSync(new URL(folder, PROJECT))]
    .filter(({ name, isFile }) => isFile && name.endsWith(ending))
    .map(({ name }) => folder + name)
    .sort();
}

/** Lists the source files under a folder. */
export function sourcesUnder(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, PROJECT))].flatMap(({ name, isFile }) => {
    if (!isFile) return sourcesUnder(`${folder}${name}/`);
    return name.endsWith(".ts") ? [folder + name] : [];
  });
}
