// The cards of streams, events and graphs: whether the GPU is done with what was queued.

import { isCaptured } from "../capture.ts";
import type { Context } from "../context.ts";
import type { CudaEvent } from "../event.ts";
import { formatAddress, formatCount, messageOf } from "../format.ts";
import type { CudaGraph } from "../graph.ts";
import type { CudaStream } from "../stream.ts";
import type { Card } from "./card.ts";

/** Makes the card of a stream. */
export function streamCard(stream: CudaStream): Card {
  const words = { done: "idle", busy: "working on what was queued" };
  return queueCard("CudaStream", stream, [`${stream.priority} priority`], () => ({
    progress: isCaptured(stream) ? "being captured" : progressWords(() => stream.isIdle, words),
    handle: stream.queueHandle,
  }));
}

/** Makes the card of an event. */
export function eventCard(event: CudaEvent): Card {
  const words = { done: "passed, or never recorded", busy: "the GPU has not come to it yet" };
  return queueCard(
    "CudaEvent",
    event,
    [event.timing ? "records times" : "records no times"],
    () => ({
      progress: event.capture === undefined
        ? progressWords(() => event.isComplete, words)
        : "a mark inside a graph",
      handle: event.queueHandle,
    }),
  );
}

/** Makes the card of a graph. */
export function graphCard(graph: CudaGraph): Card {
  const { nodeCount, launchCount } = graph;
  return queueCard("CudaGraph", graph, [formatCount(nodeCount, "node")], () => ({
    progress: `launched ${formatCount(launchCount, "time")}`,
  }));
}

/** What streams, events and graphs have in common. */
interface Queue {
  readonly name: string;
  readonly context: Context;
  readonly disposed: boolean;
}

/** Makes a card of what it is, and while it was not disposed of how far the GPU is. */
function queueCard(
  kind: string,
  { name, context: { ordinal }, disposed }: Queue,
  qualities: readonly string[],
  look: () => { readonly progress: string; readonly handle?: bigint },
): Card {
  const what = [`device ${ordinal}`, ...qualities].join(", ");
  if (disposed) return { title: name, kind, state: "disposed", summary: what, parts: [] };
  const { progress, handle } = look();
  return {
    title: name,
    kind,
    summary: `${progress}; ${what}`,
    parts: handle === undefined
      ? []
      : [{ type: "facts", facts: [["handle", formatAddress(handle)]] }],
  };
}

/** Says how far the GPU is, also when asking fails because queued work did. */
function progressWords(isDone: () => boolean, words: { done: string; busy: string }): string {
  try {
    return isDone() ? words.done : words.busy;
  } catch (error) {
    return `failed: ${messageOf(error)}`;
  }
}
