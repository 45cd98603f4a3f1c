// The files of the project as they lie on disk, for the tests of the house rules.
// It walks folders and does not ask git, so that an unpacked archive passes too.

/** The project's root folder. */
export const PROJECT_ROOT = new URL("../../", import.meta.url);

/** Folders that hold no source: version control, reports, and what tools leave behind. */
const SKIPPED_FOLDERS = new Set([
  ".git",
  ".jupyter",
  "_release",
  "_site",
  "coverage",
  "node_modules",
  "__pycache__",
]);

/** Lists the files with one of these endings, sorted by path, in the whole project or one folder. */
export function projectFiles(
  endings: readonly string[],
  folder = "",
): { readonly path: string; readonly text: string }[] {
  return pathsUnder(folder)
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .sort()
    .map((path) => ({ path, text: Deno.readTextFileSync(new URL(path, PROJECT_ROOT)) }));
}

function pathsUnder(folder: string): string[] {
  const paths: string[] = [];
  for (const entry of Deno.readDirSync(new URL(folder, PROJECT_ROOT))) {
    const path = folder + entry.name;
    if (entry.isFile) paths.push(path);
    if (entry.isDirectory && !SKIPPED_FOLDERS.has(entry.name)) {
      paths.push(...pathsUnder(`${path}/`));
    }
  }
  return paths;
}
