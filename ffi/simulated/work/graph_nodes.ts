// The nodes of a graph: what kind each is and which come before it; and what keeps one graph from
// taking the parameters of another.

import { CUgraphExecUpdateResult as Result, CUgraphNodeType as Type } from "../../constants.ts";
import { Allocation } from "../model/allocation.ts";
import type { Branch, Capture, CapturedMark, CapturedWork } from "../model/capture.ts";
import { Mapping } from "../model/reservation.ts";

export interface GraphNode {
  readonly work: CapturedWork;
  /** Its kind, by the driver's number. */
  readonly type: number;
  /** The nodes that it waits for, by their places. */
  readonly before: readonly number[];
}

/** The reason why a graph cannot take the parameters of another. */
export interface Misfit {
  readonly result: number;
  /** Place of the node in the other graph; undefined when it is no single one. */
  readonly place?: number;
}

/** Kinds of nodes whose parameters cannot change. */
const MEMORY_TYPES: ReadonlySet<number> = new Set([
  Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC,
  Type.CU_GRAPH_NODE_TYPE_MEM_FREE,
]);

/** Lists the nodes that a capture recorded, each with those that it waits for. */
export function nodesOf({ steps }: Capture): GraphNode[] {
  const nodes: GraphNode[] = [];
  const ends = new Map<Branch, readonly number[]>();
  const marks = new Map<CapturedMark, readonly number[]>();
  for (const step of steps) {
    const before = ends.get(step.branch) ?? [];
    if (step.kind === "work") {
      ends.set(step.branch, [nodes.length]);
      nodes.push({ work: step.work, type: typeOf(step.work.call), before });
    } else if (step.kind === "record") marks.set(step.mark, before);
    else ends.set(step.branch, [...new Set([...before, ...marks.get(step.mark) ?? []])]);
  }
  return nodes;
}

/**
 * Compares the nodes of a graph that is ready with those of another; undefined when they fit. The
 * driver looks from the ends to the beginnings.
 */
export function misfitOf(
  ready: readonly GraphNode[],
  other: readonly GraphNode[],
): Misfit | undefined {
  const { CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED: topology } = Result;
  if (ready.length !== other.length) return { result: topology };
  const pairs = other.map((node, place) => ({ node, place, former: ready[place] ?? node }));
  const moved = pairs.findLast(({ node, former }) => !isSame(former.before, node.before));
  if (moved !== undefined) return { result: topology, place: moved.place };
  return pairs
    .map(({ node, place, former }) => ({ result: reasonOf(former, node), place }))
    .findLast(({ result }) => result !== Result.CU_GRAPH_EXEC_UPDATE_SUCCESS);
}

function reasonOf(former: GraphNode, node: GraphNode): number {
  if (former.type !== node.type) return Result.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (MEMORY_TYPES.has(node.type)) return Result.CU_GRAPH_EXEC_UPDATE_ERROR;
  const [before, after] = [former.work.kernel, node.work.kernel];
  if (before?.context !== after?.context) {
    return Result.CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  }
  if (before?.isCooperative !== after?.isCooperative) {
    return Result.CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  const isFitting = isSame(placesOf(former.work), placesOf(node.work)) &&
    hasSameRows(former.work, node.work);
  return isFitting
    ? Result.CU_GRAPH_EXEC_UPDATE_SUCCESS
    : Result.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/** Rows stay as they are, and are not copied; runs of bytes can have any size, and any elements. */
function hasSameRows(former: CapturedWork, work: CapturedWork): boolean {
  if (/^cuMemcpy[23]D/.test(former.call) || /^cuMemcpy[23]D/.test(work.call)) return false;
  const isOfRows = former.call.startsWith("cuMemsetD2") || work.call.startsWith("cuMemsetD2");
  if (!isOfRows) return true;
  const [one, other] = [former.extents?.[0], work.extents?.[0]];
  return former.call === work.call && one?.rowCount === other?.rowCount &&
    one?.widthBytes === other?.widthBytes && one?.pitchBytes === other?.pitchBytes;
}

/** Names the owner of memory: a context, whatever its kind, a pool, or a device that it is mapped on. */
function placesOf({ regions }: CapturedWork): string[] {
  return regions.flatMap(({ segments }) =>
    segments.slice(0, 1).map(({ owner }) => {
      if (owner instanceof Mapping) return `addresses ${owner.physical.device.ordinal}`;
      if (!(owner instanceof Allocation)) return "addresses";
      const { pool, context } = owner;
      return pool === undefined
        ? `context ${context.device.ordinal}`
        : `pool ${pool.device.ordinal}`;
    })
  );
}

function isSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

function typeOf(call: string): number {
  if (call.startsWith("cuLaunchKernel")) return Type.CU_GRAPH_NODE_TYPE_KERNEL;
  if (call.startsWith("cuMemcpy")) return Type.CU_GRAPH_NODE_TYPE_MEMCPY;
  if (call.startsWith("cuMemset")) return Type.CU_GRAPH_NODE_TYPE_MEMSET;
  if (call.startsWith("cuMemAlloc")) return Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  if (call.startsWith("cuMemFree")) return Type.CU_GRAPH_NODE_TYPE_MEM_FREE;
  if (call === "cuLaunchHostFunc") return Type.CU_GRAPH_NODE_TYPE_HOST;
  return Type.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}
