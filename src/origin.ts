// Where an object was made: the first line of the caller's own code on the stack.
// Taking a stack costs a microsecond, so small blocks outside notebooks go without.

const OWN_FILES = new URL("..", import.meta.url).href + "src/";

/** Blocks from this size on know where they were made. */
const SMALLEST_BYTES = 2 ** 20;

let notebook: boolean | undefined;

/** Takes the stack for a block of `byteLength` bytes when it is worth it. */
export function captureStack(byteLength: number): Error | undefined {
  return byteLength >= SMALLEST_BYTES || inNotebook() ? new Error() : undefined;
}

/** Finds the caller's line in a stack: `"main.ts:12:9"`, or `"cell:3:7"` in a notebook. */
export function originOf(stack: Error | undefined): string | undefined {
  const frames = stack?.stack?.split("\n").slice(1) ?? [];
  const frame = frames.find((line) => !line.includes(OWN_FILES) && !line.includes("ext:"));
  const place = frame === undefined ? undefined : /\(?([^\s()]+:\d+:\d+)\)?$/.exec(frame)?.[1];
  return place?.replace(/^<anonymous>/, "cell").replace(/^file:\/\/.*\//, "");
}

/** Whether this program is a cell of Jupyter's Deno kernel. */
export function inNotebook(): boolean {
  return notebook ??= detectNotebook();
}

function detectNotebook(): boolean {
  try {
    return typeof Deno.jupyter?.display === "function";
  } catch {
    return false; // outside the kernel even looking at Deno.jupyter throws
  }
}
