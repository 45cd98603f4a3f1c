// Writes the repository's address into the README, the guides and the notebooks, where a placeholder or
// another address stands now, as a program: `deno task address https://github.com/OWNER/vramkit`.

import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);

/** Files that name the address. */
const FOLDERS = ["./", "docs/", "notebooks/"];
const TEXT = /\.(md|ipynb)$/;

/** Where the README names the address that the project has now. */
const CLONE = /^git clone .*?(https:\S+)/m;

/** Returns the address of which the texts are full now. */
export function addressIn(readme: string): string {
  const [, address] = CLONE.exec(readme) ?? [];
  if (address === undefined) throw new Error("Cannot find the address: README.md clones nothing");
  return address;
}

/**
 * Checks an address, and returns it without what may follow it.
 *
 * @throws TypeError when it is not the `https` address of a repository.
 */
export function readAddress(text: string | undefined): string {
  const url = URL.parse(text ?? "");
  const path = (url?.pathname ?? "").replace(/\/+$/, "").replace(/\.git$/, "");
  if (url?.protocol !== "https:" || !/^(\/[\w.~-]+)+$/.test(path)) {
    throw new TypeError(
      `Cannot use ${text ?? "no address"}: expected one such as https://github.com/OWNER/vramkit`,
    );
  }
  return url.origin + path;
}

/** Puts one address of the repository in the place of another, and that of its files as well. */
export function withAddress(text: string, [from, to]: readonly [from: string, to: string]): string {
  return text.replaceAll(filesAt(from), filesAt(to)).replaceAll(
    new RegExp(`${RegExp.escape(from)}(?![\\w.-])`, "g"),
    () => to,
  );
}

/** Where a host serves the files of a version, which follows: GitHub on a host of its own. */
function filesAt(address: string): string {
  const { host, origin, pathname } = new URL(address);
  return host === "github.com"
    ? `https://raw.githubusercontent.com${pathname}`
    : `${origin}${pathname}/raw`;
}

if (import.meta.main) {
  const to = readAddress(Deno.args[0]);
  const from = addressIn(Deno.readTextFileSync(new URL("README.md", ROOT)));
  const changed: string[] = [];
  for (const folder of FOLDERS) {
    for (const { name } of Deno.readDirSync(new URL(folder, ROOT))) {
      if (!TEXT.test(name)) continue;
      const file = new URL(folder + name, ROOT);
      const text = Deno.readTextFileSync(file);
      const written = withAddress(text, [from, to]);
      if (written === text) continue;
      Deno.writeTextFileSync(file, written);
      changed.push(fileURLToPath(file));
    }
  }
  // Tables are as wide as their longest cell.
  const texts = changed.filter((path) => path.endsWith(".md"));
  if (texts.length > 0) {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["fmt", "--quiet", ...texts],
    })
      .spawn().status;
    if (!success) Deno.exit(1);
  }
  console.log(`${from} is now ${to} in ${changed.length} files`);
}
