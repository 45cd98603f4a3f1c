// A folder outside the project that ends with the test.

import { join } from "node:path";

/** A folder that is removed, with all that is in it, when it is disposed. */
export class TemporaryFolder implements Disposable {
  /** The path of the folder, without links. */
  readonly path: string = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "vramkit-" }));

  pathOf(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file and returns its path. */
  write(name: string, contents: string | Uint8Array): string {
    const path = this.pathOf(name);
    if (typeof contents === "string") Deno.writeTextFileSync(path, contents);
    else Deno.writeFileSync(path, contents);
    return path;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}
