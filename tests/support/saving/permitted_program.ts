// Writes a file in every way that there is, with the permissions that it was started with, and prints
// what became of each: `deno run PERMISSIONS permitted_program.ts FOLDER`.

import { openDevice } from "../program_device.ts";

/** Ways to write; each has a folder of its own with a file "file" of 4 bytes. */
export const WAYS = ["replace", "sync", "model", "inPlace", "offset", "new", "link"] as const;

/** The end of one way: the message of what was thrown, and its class. */
export interface Outcome {
  /** The class; undefined when nothing was thrown. */
  readonly errorName?: string;
  readonly message?: string;
}

/** The bytes that the program writes. */
export const WRITTEN = Uint8Array.of(9, 8);

if (import.meta.main) {
  const [folder = ""] = Deno.args;
  using gpu = openDevice();
  using buffer = await gpu.upload(WRITTEN);
  const writes: Readonly<Record<typeof WAYS[number], (path: string) => Promise<void>>> = {
    replace: (path) => buffer.writeFile(`${path}/file`),
    sync: (path) => buffer.writeFile(`${path}/file`, { sync: true }),
    model: (path) => gpu.saveSafetensors(`${path}/file`, { buffer }),
    inPlace: (path) => buffer.writeFile(`${path}/file`, { inPlace: true }),
    offset: (path) => buffer.writeFile(`${path}/file`, { fileOffset: 2 }),
    new: (path) => buffer.writeFile(`${path}/new`),
    link: (path) => buffer.writeFile(`${path}/link`),
  };
  const outcomes: Record<string, Outcome> = {};
  for (const way of WAYS) {
    outcomes[way] = await writes[way](`${folder}/${way}`).then(
      () => ({}),
      ({ name, message }: Error) => ({ errorName: name, message }),
    );
  }
  console.log(JSON.stringify(outcomes));
}
