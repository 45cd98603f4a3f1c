// Jupyter's Deno kernel: whether it runs this program, when a cell is over, and when its output has
// arrived. The kernel has no event for the end of a cell, but its function that shows results is
// called for every cell that succeeds, with the number beside the cell.

import { readVariable } from "../../ffi/library.ts";
import { sleep } from "../words/timer.ts";

/** Called when a cell succeeded, with the number in brackets beside it. */
type CellListener = (number: number) => void;

/**
 * The part of `Deno.jupyter` that the kit uses. Declared here, because a program's `lib` setting may
 * leave the runtime's own declaration out.
 */
interface Jupyter {
  display(value: unknown, options?: DisplayOptions): Promise<void>;
}

interface DisplayOptions {
  /** The value is a bundle already. */
  readonly raw?: boolean;
  /** Name of the output. */
  readonly display_id?: string;
  /** It replaces the output of that name. */
  readonly update?: boolean;
}

/** The part of the kernel that shows results, in all versions of Deno that have one. */
interface ResultShower {
  broadcastResult?: (number: number, result: unknown) => Promise<void>;
}

/**
 * Time in which the kernel sends a cell's outputs after it reports the end of the cell. When the
 * next cell runs at once, one output in ten is lost or appears there; after 5 ms none of 600 did.
 */
const SEND_MILLISECONDS = 30;

/** The variable in the specifications of kernels that Jupyter interrupts by a message. */
export const KERNEL_MARK = "VRAMKIT_KERNEL";

let notebook: boolean | undefined;

/** Returns whether this program is a cell of Jupyter's Deno kernel. */
export function inNotebook(): boolean {
  return notebook ??= detectNotebook();
}

/** Returns whether this kernel, with its memory, goes on when Jupyter's Stop interrupts a cell. */
export function survivesStop(): boolean {
  return readVariable(KERNEL_MARK) !== undefined;
}

/** Puts a value into the cell's output; only where {@link inNotebook} is true. */
export async function displayInCell(value: unknown, options?: DisplayOptions): Promise<void> {
  await jupyter()?.display(value, options);
}

/**
 * Calls `listener` at the end of each cell, before its result is shown; never outside notebooks.
 * From then on a cell ends only when all its output has been sent.
 */
export function onCellEnd(listener: CellListener): void {
  const shower = resultShower();
  const show = shower?.broadcastResult;
  if (shower === undefined || show === undefined) return;
  shower.broadcastResult = async (number, result) => {
    listener(number);
    await show(number, result);
    await whenSent();
  };
}

/** Resolves when the kernel has certainly sent all output so far. */
export function whenSent(): Promise<void> {
  return sleep(SEND_MILLISECONDS);
}

function detectNotebook(): boolean {
  try {
    return typeof jupyter()?.display === "function";
  } catch {
    return false; // outside the kernel even looking at Deno.jupyter throws
  }
}

function jupyter(): Jupyter | undefined {
  return (Deno as unknown as { readonly jupyter?: Jupyter }).jupyter;
}

/** Finds the function among the runtime's internals; nothing may depend on its being there. */
function resultShower(): ResultShower | undefined {
  const runtime = Deno as unknown as { readonly internal?: symbol };
  if (runtime.internal === undefined) return undefined;
  const parts: { readonly jupyter?: ResultShower } | undefined = Reflect.get(
    Deno,
    runtime.internal,
  );
  return parts?.jupyter;
}
