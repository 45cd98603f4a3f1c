// What a notebook shows of a buffer or a view: facts gathered without changing anything.

import { bufferCard, type BufferFacts } from "../cards/buffer_card.ts";
import { type DisplayBundle, showCard } from "../cards/card.ts";
import { formatAddress } from "../format.ts";
import { elementBytes } from "../dtype.ts";
import { type LiveKind, nameOf } from "../accounting/ledger.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { MemoryWindow } from "./memory_window.ts";
import { previewOf } from "./preview.ts";
import { formatShape } from "./shape.ts";
import type { StridedView } from "./strided_view.ts";

const PLACES: Readonly<Record<LiveKind, string>> = {
  device: "device memory",
  pinned: "page-locked host memory",
  mapped: "host memory that the GPU reads in place",
  managed: "memory that migrates between host and GPU",
  virtual: "device memory that grows in place",
  registered: "registered host memory",
  imported: "memory that another program lends",
  pool: "driver memory pool",
  stream: "a stream",
  event: "an event",
  graph: "a graph",
};

/** Names a buffer by its label, or by its kind and number; also when it was disposed. */
export function bufferName({ label, kind, storageId }: MemoryWindow): string {
  return nameOf({ label, kind, id: storageId });
}

/** Shows a buffer in a notebook. */
export function showBuffer(buffer: MemoryWindow, allocation: Allocation): DisplayBundle {
  return showCard(() => bufferCard(factsOf(buffer, allocation)));
}

/** Shows a strided view in a notebook; its elements do not lie together, so it shows none. */
export function showStridedView(view: StridedView): DisplayBundle {
  return showCard(() => bufferCard(stridedFacts(view)));
}

function stridedFacts(view: StridedView): BufferFacts {
  const { buffer, dtype, shape, strides, length, byteLength, disposed } = view;
  const bytes = elementBytes(dtype);
  const byteOffset = buffer.byteOffset + view.offset * bytes;
  const reach = shape.reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] ?? 0), 1);
  const preview = { missing: `in steps of [${strides.join(", ")}]; contiguous() copies them out` };
  return {
    kind: "StridedView",
    name: bufferName(buffer),
    type: formatShape(dtype, shape),
    place: `${PLACES[buffer.kind]}, device ${buffer.deviceOrdinal}`,
    byteLength,
    length,
    resource: buffer.memoryResource.constructor.name,
    view: {
      byteOffset,
      extentBytes: length === 0 ? 0 : reach * bytes,
      blockBytes: buffer.totalByteLength,
    },
    content: disposed ? undefined : { preview },
  };
}

function factsOf(buffer: MemoryWindow, allocation: Allocation): BufferFacts {
  const { dtype, shape, byteLength, byteOffset, length, isView, disposed } = buffer;
  const address = allocation.address + BigInt(byteOffset);
  return {
    kind: buffer.constructor.name,
    name: bufferName(buffer),
    type: formatShape(dtype, shape),
    place: `${PLACES[buffer.kind]}, device ${buffer.deviceOrdinal}`,
    byteLength,
    length,
    resource: buffer.memoryResource.constructor.name,
    ageSeconds: (Date.now() - allocation.createdAt) / 1000,
    origin: allocation.origin,
    view: isView
      ? { byteOffset, extentBytes: byteLength, blockBytes: buffer.totalByteLength }
      : undefined,
    content: disposed ? undefined : {
      address: allocation.byteLength === 0 ? "none yet" : formatAddress(address),
      preview: previewOf(buffer, allocation),
    },
  };
}
