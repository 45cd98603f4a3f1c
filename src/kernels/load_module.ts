// Loads code that was compiled before: from a text, from bytes, or from a file.

import { fileNameOf, type FilePath, pathOf } from "../disk/file_path.ts";
import { reasonOf, reworded } from "../disk/system_error.ts";
import { readBytes } from "../disk/whole_file.ts";
import type { Context } from "../driver/context.ts";
import { isCudaSource, isPtx, type ModuleImage, readImage } from "../launch/image.ts";
import { linkImages } from "../launch/link_images.ts";
import { requireNoCapture } from "../order/capture.ts";
import { describeValue } from "../words/format.ts";
import { OptionSet, TEXT } from "../words/options.ts";
import { type CudaModule, loadImage } from "./cuda_module.ts";

/** Options for {@link CudaDevice.loadModule}. */
export interface ModuleOptions {
  /** Name shown in tables and errors; that of the file by default. */
  readonly label?: string | undefined;
}

const MODULE_OPTIONS = new OptionSet<ModuleOptions>({ label: TEXT });

/**
 * Code: PTX, the bytes of PTX, of a cubin or of a fat binary, or the path of a file with them. A string
 * of several lines is PTX, one of a single line a path.
 */
export type ModuleSource = string | URL | Uint8Array;

/**
 * Loads a module from one piece of code, or from several that are linked.
 *
 * @throws TypeError for a value that is not code, code that was cut off, and pieces that do not fit.
 */
export async function loadModule(
  context: Context,
  source: ModuleSource | readonly ModuleSource[],
  options: ModuleOptions = {},
): Promise<CudaModule> {
  const { label } = MODULE_OPTIONS.read(options, "loadModule");
  if (!Array.isArray(source)) {
    const { image, file } = await readCode(source as ModuleSource);
    return loadImage(context, image, label ?? file);
  }
  if (source.length === 0) throw new TypeError("Cannot link no code: name one piece at least");
  const codes = await Promise.all([...source].map(readCode));
  requireNoCapture("link a module");
  context.requireLive();
  const name = label ?? codes.find(({ file }) => file !== undefined)?.file;
  const pieces = codes.map(({ image, file }, at) => ({ image, name: file ?? `piece ${at + 1}` }));
  return loadImage(context, linkImages(context, pieces, name ?? "a module"), name);
}

/** Reads code, and tells the name of its file, if any. */
async function readCode(
  source: ModuleSource,
): Promise<{ image: ModuleImage; file: string | undefined }> {
  if (source instanceof Uint8Array || (typeof source === "string" && isText(source))) {
    return { image: readImage(source), file: undefined };
  }
  if (typeof source !== "string" && !(source instanceof URL)) {
    throw new TypeError(
      `Cannot load ${describeValue(source)} as a module: expected PTX, the bytes of a cubin or a ` +
        `fat binary, or a path`,
    );
  }
  const file = fileNameOf(String(source));
  return { image: readImage(await readFile(source)), file };
}

async function readFile(source: FilePath): Promise<Uint8Array> {
  const path = pathOf(source);
  try {
    return await readBytes(path);
  } catch (error) {
    throw reworded(error, `Cannot load ${path} as a module: ${reasonOf(error)}`);
  }
}

/** A text of several lines is code, whatever it is; a path is one line. */
function isText(source: string): boolean {
  return source === "" || source.includes("\n") || isPtx(source) || isCudaSource(source);
}
