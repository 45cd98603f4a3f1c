// The shape of a launch: how many blocks, how many threads in each, and what they share.

import { describeNumbers, describeValue } from "../words/format.ts";

/** A size along up to three axes: a number, or x, y and z. */
export type LaunchSize =
  | number
  | readonly [x: number]
  | readonly [x: number, y: number]
  | readonly [x: number, y: number, z: number];

/** Options for the shape of a launch. */
export interface LaunchShapeOptions {
  /** Number of blocks. */
  readonly grid: LaunchSize;
  /** Number of threads in a block. */
  readonly block: LaunchSize;
  /** Shared memory of each block beyond what the kernel declares, in bytes; 0 by default. */
  readonly sharedBytes?: number | undefined;
  /** Runs all blocks at the same time, so that they can wait for each other. */
  readonly cooperative?: boolean | undefined;
  /** Blocks of a cluster; the grid, which still counts blocks, is a multiple of it. */
  readonly cluster?: LaunchSize | undefined;
}

/** Three sizes. */
export type Sizes = readonly [x: number, y: number, z: number];

/** A shape, checked. */
export interface LaunchShape {
  /** Number of blocks. */
  readonly grid: Sizes;
  /** Threads of a block. */
  readonly block: Sizes;
  /** Threads of a block, all axes together. */
  readonly threadCount: number;
  /** Shared memory of a block. */
  readonly sharedBytes: number;
  /** All blocks run at the same time. */
  readonly isCooperative: boolean;
  /** Blocks of a cluster. */
  readonly cluster: Sizes | undefined;
}

/** The most blocks or threads along the axes, on every device. */
const MAX = { grid: [2 ** 31 - 1, 65535, 65535], block: [1024, 1024, 64] } as const;

/**
 * Checks the shape of a launch.
 *
 * @throws TypeError for a value that is not a size.
 * @throws RangeError for sizes that no device has.
 */
export function shapeOf(options: LaunchShapeOptions, kernel: string): LaunchShape {
  const last = lastShape;
  if (isPlain(options) && options.grid === last.grid[0] && options.block === last.block[0]) {
    return last;
  }
  const shape = checkedShape(options, kernel);
  if (isPlain(options)) lastShape = shape;
  return shape;
}

/** The last shape, because loops launch the same shape again and again. */
let lastShape: LaunchShape = {
  grid: [1, 1, 1],
  block: [1, 1, 1],
  threadCount: 1,
  sharedBytes: 0,
  isCooperative: false,
  cluster: undefined,
};

function isPlain({ grid, block, sharedBytes, cooperative, cluster }: LaunchShapeOptions): boolean {
  return typeof grid === "number" && typeof block === "number" && sharedBytes === undefined &&
    cooperative === undefined && cluster === undefined;
}

function checkedShape(options: LaunchShapeOptions, kernel: string): LaunchShape {
  const { sharedBytes = 0, cooperative: isCooperative = false } = options;
  const grid = sizesOf("grid", options.grid, kernel);
  const block = sizesOf("block", options.block, kernel);
  if (!Number.isInteger(sharedBytes) || sharedBytes < 0 || sharedBytes >= 2 ** 31) {
    throw new RangeError(
      `Cannot launch ${kernel}: option "sharedBytes" is ${describeValue(sharedBytes)}, expected ` +
        `a whole number of bytes`,
    );
  }
  const cluster = options.cluster === undefined
    ? undefined
    : sizesOf("cluster", options.cluster, kernel);
  if (cluster?.some((size, axis) => (grid[axis] ?? 0) % size !== 0)) {
    throw new RangeError(
      `Cannot launch ${kernel}: a grid of ${grid.join(" × ")} blocks is no multiple of clusters ` +
        `of ${cluster.join(" × ")}`,
    );
  }
  const threadCount = block[0] * block[1] * block[2];
  return { grid, block, threadCount, sharedBytes, isCooperative, cluster };
}

function sizesOf(name: "grid" | "block" | "cluster", given: LaunchSize, kernel: string): Sizes {
  const list: readonly number[] = Array.isArray(given) ? given : [];
  const [x, y = 1, z = 1, ...rest] = typeof given === "number" ? [given] : list;
  const sizes = [x as number, y, z] as const;
  const most = name === "block" ? MAX.block : MAX.grid;
  const isPossible = rest.length === 0 &&
    sizes.every((size, axis) => Number.isInteger(size) && size >= 1 && size <= (most[axis] ?? 0));
  if (isPossible) return sizes;
  const words = Array.isArray(given) ? describeNumbers(given) : describeValue(given);
  throw new RangeError(
    `Cannot launch ${kernel}: option "${name}" is ${words}, expected one to three whole numbers ` +
      `from 1, at most ${most.slice(0, 2).join(", ")} and ${most[2]}`,
  );
}
