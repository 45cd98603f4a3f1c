// What the kit knows of Jupyter's Deno kernel: whether it runs this program, when a cell is over, and
// when what was shown has arrived. The kernel gives programs no event for the end of a cell; what it
// calls to show a result is called for every cell that succeeds, with the number beside the cell.

/** Hears that a cell succeeded; the number is the one in brackets beside it. */
type CellListener = (number: number) => void;

/**
 * The part of `Deno.jupyter` that the kit uses. Declared here, because a program's `lib` setting may
 * leave the runtime's own declaration out.
 */
interface Jupyter {
  display(value: unknown, options?: DisplayOptions): Promise<void>;
}

/** How the kernel shows a value. */
interface DisplayOptions {
  /** Whether the value is a bundle already. */
  readonly raw?: boolean;
  /** Names the output. */
  readonly display_id?: string;
  /** Whether the output of that name is replaced. */
  readonly update?: boolean;
}

/** The part of the kernel that shows results, in all versions of Deno that have one. */
interface ResultShower {
  broadcastResult?: (number: number, result: unknown) => Promise<void>;
}

/**
 * The kernel says that a cell is over before it has sent all outputs: when the next cell runs at once,
 * one in ten is lost or lands there. After 5 ms none of 600 did, so this leaves room.
 */
const SEND_MILLISECONDS = 30;

let notebook: boolean | undefined;

/** Whether this program is a cell of Jupyter's Deno kernel. */
export function inNotebook(): boolean {
  return notebook ??= detectNotebook();
}

/** Puts a value into the cell's output; only where {@link inNotebook} is true. */
export async function displayInCell(value: unknown, options?: DisplayOptions): Promise<void> {
  await jupyter()?.display(value, options);
}

/**
 * Calls `listener` at the end of each cell, before its result is shown; never where no kernel tells.
 * From then on cells are over only when all they showed has been sent.
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

/** Resolves when the kernel has surely sent what was shown and printed so far. */
export function whenSent(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SEND_MILLISECONDS));
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

/** Finds it among the runtime's own parts, which are not promised to stay: nothing may depend on it. */
function resultShower(): ResultShower | undefined {
  const runtime = Deno as unknown as { readonly internal?: symbol };
  if (runtime.internal === undefined) return undefined;
  const parts: { readonly jupyter?: ResultShower } | undefined = Reflect.get(
    Deno,
    runtime.internal,
  );
  return parts?.jupyter;
}
