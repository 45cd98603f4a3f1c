// Copies between strided layouts, by the driver's calls or by a kernel: the driver copies single elements
// one by one.

import { checkRoute, noteCopy } from "../copies/copy.ts";
import type { CopyLayout } from "../copies/copy_layout.ts";
import { axesAround } from "../copies/copy_plan.ts";
import {
  queueShapedCopy,
  queueShapedCopyNow,
  type ShapedCopy,
  usesOf,
} from "../copies/shaped_copy.ts";
import type { Context } from "../driver/context.ts";
import { u32, u64 } from "../launch/kernel_number.ts";
import {
  kernelOf,
  launchReady,
  launchReadyNow,
  reading,
  type ReadyLaunch,
  writing,
} from "../launch/ready_kernels.ts";
import type { Allocation } from "../memory/allocation.ts";
import { activeCapture } from "../order/capture.ts";
import { isOutOfMemory } from "../words/errors.ts";
import { layoutBytes } from "./conversion.ts";
import { countOf } from "./shape.ts";

const COPY = "vramkit_strided_copy";
const TRANSPOSE = "vramkit_strided_transpose";
const COPY_OF_MANY_AXES = "vramkit_strided_axes";

/** The most axes that the first two kernels take. */
const MAX_KERNEL_AXES = 8;

/** The most axes of any copy: as many of two words have more bytes than there are addresses. */
const ALL_AXES = 64;

/** The largest words that the kernels move. */
const MAX_WORD_BYTES = 8;

/** Words along a side of the squares that are turned in shared memory, and the threads that turn one. */
const SQUARE_WORDS = 32;
const SQUARE_THREADS = 256;

/** Shorter axes would leave most of a square empty. */
const MIN_SQUARE_WORDS = 12;

/** Fewer calls of a copy, each some 9 microseconds, take no longer than a launch. */
const MIN_CALLS = 4;

/**
 * Calls of copies before the kernels are loaded, 18 milliseconds: that takes 8 milliseconds, and a quarter
 * of a second once on each machine, where the driver compiles them.
 */
const LOADING_CALLS = 2000;

/** Calls of copies that were made while the kernels were not loaded. */
const madeCalls = new WeakMap<Context, number>();

/**
 * The state of a context's kernels: true once they are loaded, false where the driver does not load
 * them, as one without a compiler, and copies by itself.
 */
const areLoaded = new WeakMap<Context, boolean>();

/** The launch for a layout in words of one size, with its arguments behind the memory. */
type WordLaunch = Pick<ReadyLaunch, "name" | "count" | "args">;

/** The launches of layouts, by the bytes of a word. */
const wordLaunches = new WeakMap<CopyLayout, Map<number, WordLaunch>>();

/** One axis, with the distances of its steps on both sides in words. */
interface WordAxis {
  readonly size: number;
  readonly to: number;
  readonly from: number;
}

/**
 * Queues a copy between strided layouts and does not wait, after earlier calls that use the same bytes.
 *
 * @throws TypeError when the stream's device has none of the memory.
 */
export function queueStridedCopy(copy: ShapedCopy): void {
  checkRoute(copy);
  const launch = launchFor(copy);
  if (launch === undefined) return queueShapedCopy(copy);
  launchReady(copy.stream, launch);
  noteCopy(copy, copy.layout.byteLength);
}

/** Queues a copy whose turn has come; see {@link queueStridedCopy}. */
export function queueStridedCopyNow(copy: ShapedCopy): void {
  const launch = launchFor(copy);
  if (launch === undefined) return queueShapedCopyNow(copy);
  launchReadyNow(copy.stream, launch);
  noteCopy(copy, copy.layout.byteLength);
}

/** Returns the launch of a kernel that copies faster than the driver; undefined for other copies. */
function launchFor(copy: ShapedCopy): ReadyLaunch | undefined {
  const { destination, source, stream: { context }, layout } = copy;
  if (layout.byteLength === 0 || !isOn(context, destination) || !isOn(context, source)) {
    return undefined;
  }
  if (!paysForKernel(context, layout.callCount)) return undefined;
  const [to, from] = usesOf(copy);
  const wordBytes = lowestBit(
    MAX_WORD_BYTES | Number((to.address | from.address) & BigInt(MAX_WORD_BYTES - 1)),
  );
  const words = wordLaunches.getOrInsertComputed(layout, () => new Map());
  const launch = words.getOrInsertComputed(wordBytes, () => wordLaunchFor(layout, wordBytes));
  return { ...launch, args: [writing(to), reading(from), ...launch.args] };
}

/** Returns whether memory is a device's own. */
function isOn(device: Context, { context, resource }: Allocation): boolean {
  return context === device && !resource.isHostAccessible;
}

/** Returns the launch for memory that begins at multiples of `mostBytes`. */
function wordLaunchFor(layout: CopyLayout, mostBytes: number): WordLaunch {
  const wordBytes = wordBytesFor(layout, mostBytes);
  const axes = axesOf(layout, wordBytes);
  const { destination, source } = layout;
  const starts = [-destination.lowest / wordBytes, -source.lowest / wordBytes];
  const argsOf = (count: number, axes: readonly WordAxis[], axisCount = MAX_KERNEL_AXES) => {
    const columns = (["size", "to", "from"] as const).map((key) => axes.map((axis) => axis[key]));
    return [u64(count), u32(wordBytes), layoutBytes(columns, { starts, axisCount })];
  };
  const words = sizeOf(axes);
  if (axes.length > MAX_KERNEL_AXES) {
    return { name: COPY_OF_MANY_AXES, count: words, args: argsOf(words, axes, ALL_AXES) };
  }
  const squares = squaresOf(axes);
  if (squares === undefined) return { name: COPY, count: words, args: argsOf(words, axes) };
  const { count } = squares;
  return { name: TRANSPOSE, count: count * SQUARE_THREADS, args: argsOf(count, squares.axes) };
}

/** Returns the number of steps along all axes. */
function sizeOf(axes: readonly WordAxis[]): number {
  return countOf(axes.map(({ size }) => size));
}

/**
 * Returns whether a kernel is faster than a copy of so many calls: where none is loaded yet, once copies
 * have taken long enough to load them. A graph has the same nodes, whatever came before it.
 */
function paysForKernel(context: Context, callCount: number): boolean {
  if (callCount < MIN_CALLS) return false;
  const known = areLoaded.get(context);
  if (known !== undefined) return known;
  const calls = (madeCalls.get(context) ?? 0) + callCount;
  madeCalls.set(context, calls);
  return (calls > LOADING_CALLS || activeCapture !== undefined) && load(context);
}

/** Loads the kernels. A driver that had no memory for them is asked again after as many calls. */
function load(context: Context): boolean {
  try {
    for (const name of [COPY, TRANSPOSE, COPY_OF_MANY_AXES]) kernelOf(context, name);
  } catch (error) {
    if (isOutOfMemory(error)) madeCalls.delete(context);
    else areLoaded.set(context, false);
    return false;
  }
  areLoaded.set(context, true);
  return true;
}

/** Returns the bytes of the largest words that all places, rows and distances are multiples of. */
function wordBytesFor({ plan, destination, source }: CopyLayout, mostBytes: number): number {
  let bits = mostBytes | plan.widthBytes | destination.lowest | source.lowest;
  for (const { destinationStride, sourceStride } of axesAround(plan)) {
    bits |= destinationStride % MAX_WORD_BYTES | sourceStride % MAX_WORD_BYTES;
  }
  return lowestBit(bits);
}

function lowestBit(bits: number): number {
  return bits & -bits;
}

/** Returns the axes of a copy of words, the one with the shortest way in what is written last. */
function axesOf({ plan }: CopyLayout, wordBytes: number): WordAxis[] {
  const axes = axesAround(plan).map(({ size, destinationStride, sourceStride }): WordAxis => ({
    size,
    to: destinationStride / wordBytes,
    from: sourceStride / wordBytes,
  }));
  const width = plan.widthBytes / wordBytes;
  if (width > 1) axes.push({ size: width, to: 1, from: 1 });
  return axes.sort((a, b) => Math.abs(b.to) - Math.abs(a.to));
}

/**
 * Returns the axes of a copy that turns squares, and the number of these: what is contiguous in one side
 * is not in the other. Undefined for other copies.
 */
function squaresOf(
  axes: readonly WordAxis[],
): { readonly axes: readonly WordAxis[]; readonly count: number } | undefined {
  const columns = axes.at(-1);
  const rows = axes.find(({ from }) => from === 1);
  if (columns?.to !== 1 || rows === undefined || rows === columns) return undefined;
  if (Math.min(rows.size, columns.size) < MIN_SQUARE_WORDS) return undefined;
  const outer = axes.filter((axis) => axis !== rows && axis !== columns);
  const squares = [rows, columns].map(({ size }) => Math.ceil(size / SQUARE_WORDS));
  const count = sizeOf(outer) * countOf(squares);
  return { axes: [...outer, rows, columns], count };
}
