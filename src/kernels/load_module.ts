// Loads code that was compiled before: from a text, from bytes, or from a file.

import type { Context } from "../driver/context.ts";
import { describeValue } from "../words/format.ts";
import { isPtx, readImage } from "../launch/image.ts";
import { OptionSet, TEXT } from "../words/options.ts";
import { type CudaModule, loadImage } from "./cuda_module.ts";

/** Options for {@link CudaDevice.loadModule}. */
export interface ModuleOptions {
  /** Name shown in tables and errors; that of the file by default. */
  readonly label?: string | undefined;
}

/** Checks the options above. */
export const MODULE_OPTIONS: OptionSet<ModuleOptions> = new OptionSet({ label: TEXT });

/**
 * Loads a module.
 *
 * @throws TypeError for what is no code, or was cut off.
 */
export async function loadModule(
  context: Context,
  source: string | URL | Uint8Array,
  { label }: ModuleOptions = {},
): Promise<CudaModule> {
  if (source instanceof Uint8Array) return loadImage(context, readImage(source), label);
  if (typeof source === "string" && isText(source)) {
    return loadImage(context, readImage(source), label);
  }
  if (typeof source !== "string" && !(source instanceof URL)) {
    throw new TypeError(
      `Cannot load ${describeValue(source)} as a module: expected PTX, the bytes of a cubin or a ` +
        `fat binary, or a path`,
    );
  }
  const file = String(source).replace(/.*\//, "");
  return loadImage(context, readImage(await readFile(source)), label ?? file);
}

async function readFile(path: string | URL): Promise<Uint8Array> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const Kind = error.constructor as ErrorConstructor;
    throw new Kind(`Cannot load ${path} as a module: ${error.message}`, { cause: error });
  }
}

/** A text of several lines is code, whatever it is; a path is one line. */
function isText(source: string): boolean {
  return source === "" || source.includes("\n") || isPtx(source);
}
