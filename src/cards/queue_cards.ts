// The cards of streams, events and graphs: whether the GPU is done with the queued work.

import { CudaGraph } from "../graph/graph.ts";
import { isCaptured } from "../order/capture.ts";
import { CudaEvent, markOf } from "../order/event.ts";
import { CudaStream, queueOf } from "../order/stream.ts";
import { formatAddress, formatCount, messageOf } from "../words/format.ts";
import { type Card, factsPart } from "./card.ts";
import { show } from "./show_card.ts";

show(CudaStream, streamCard);
show(CudaEvent, eventCard);
show(CudaGraph, graphCard);

function streamCard(stream: CudaStream): Card {
  const words = { done: "idle", busy: "working on what was queued" };
  return queueCard("CudaStream", stream, [`${stream.priority} priority`], () => ({
    progress: isCaptured(stream) ? "being captured" : progressWords(() => stream.isIdle, words),
    handle: queueOf(stream).handle,
  }));
}

function eventCard(event: CudaEvent): Card {
  const words = { done: "passed, or never recorded", busy: "the GPU has not come to it yet" };
  return queueCard(
    "CudaEvent",
    event,
    [event.timing ? "records times" : "records no times"],
    () => ({
      progress: markOf(event).capture === undefined
        ? progressWords(() => event.isComplete, words)
        : "a mark inside a graph",
      handle: markOf(event).handle,
    }),
  );
}

function graphCard(graph: CudaGraph): Card {
  const { nodeCount, launchCount } = graph;
  return queueCard("CudaGraph", graph, [formatCount(nodeCount, "node")], () => ({
    progress: `launched ${formatCount(launchCount, "time")}`,
  }));
}

/** Makes a card with the object's state and, unless it was disposed, the progress of the GPU. */
function queueCard(
  kind: string,
  { name, context: { ordinal }, disposed }: CudaStream | CudaEvent | CudaGraph,
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
    parts: factsPart([["handle", handle === undefined ? undefined : formatAddress(handle)]]),
  };
}

/** Describes the progress of the GPU, also when the query fails because queued work failed. */
function progressWords(isDone: () => boolean, words: { done: string; busy: string }): string {
  try {
    return isDone() ? words.done : words.busy;
  } catch (error) {
    return `failed: ${messageOf(error)}`;
  }
}
