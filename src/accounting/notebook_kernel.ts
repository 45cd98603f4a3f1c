// Whether Jupyter's Deno kernel runs this program, and when it says that a cell is over. The kernel
// gives programs no event for that; what it calls to show a result is called for every cell that
// succeeds, with the number that stands beside the cell.

/** Hears that a cell succeeded; the number is the one in brackets beside it. */
type CellListener = (number: number) => void;

/** The part of the kernel that shows results, in all versions of Deno that have one. */
interface ResultShower {
  broadcastResult?: (number: number, result: unknown) => Promise<void>;
}

let notebook: boolean | undefined;

/** Whether this program is a cell of Jupyter's Deno kernel. */
export function inNotebook(): boolean {
  return notebook ??= detectNotebook();
}

/** Calls `listener` at the end of each cell, before its result is shown; never where no kernel tells. */
export function onCellEnd(listener: CellListener): void {
  const shower = resultShower();
  const show = shower?.broadcastResult;
  if (shower === undefined || show === undefined) return;
  shower.broadcastResult = (number, result) => {
    listener(number);
    return show(number, result);
  };
}

function detectNotebook(): boolean {
  try {
    return typeof Deno.jupyter?.display === "function";
  } catch {
    return false; // outside the kernel even looking at Deno.jupyter throws
  }
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
