// Uploads an array to several devices: first allocates memory on each of them, then moves the
// bytes.

import type { DeviceAllocator } from "../buffers/device_buffer.ts";
import type { DeviceBuffer } from "../buffers/device_buffer.ts";
import type { HostValues } from "../buffers/host_values.ts";
import type { Shape } from "../buffers/shape.ts";
import { uploadSource } from "../buffers/upload_source.ts";
import { DTYPE, type DType } from "../dtype.ts";
import { bytesOf, type HostMemory } from "../memory/host_memory.ts";
import { takeAfterCollection } from "../memory/out_of_memory.ts";
import { defaultStreamOf } from "../order/stream.ts";
import { ArrayPlace } from "../transfer/array_uses.ts";
import type { TransferOptions } from "../transfer/pending_transfer.ts";
import { PROGRESS_KINDS } from "../transfer/transfer_choice.ts";
import { OptionSet, SHAPE, TEXT } from "../words/options.ts";
import { Parts } from "../words/parts.ts";
import { DeviceParts, fillParts } from "./device_parts.ts";
import { type PartsOptions, SPLIT_KINDS, splitArray } from "./split.ts";

/** Options for {@link DeviceList.upload}. */
export interface UploadPartsOptions<D extends DType> extends PartsOptions, TransferOptions {
  /** Element type; that of the array by default. */
  readonly dtype?: D | undefined;
  /** Size of each axis of the whole; one axis by default. */
  readonly shape?: number | Shape | undefined;
  /** Name of the buffers, shown in tables, errors and plots. */
  readonly label?: string | undefined;
}

const UPLOAD_PARTS: OptionSet<UploadPartsOptions<DType>> = new OptionSet({
  ...SPLIT_KINDS,
  ...PROGRESS_KINDS,
  dtype: DTYPE,
  shape: SHAPE,
  label: TEXT,
});

/** Uploads an array to several devices; see {@link DeviceList.upload}. */
export async function uploadParts<D extends DType>(
  gpus: readonly DeviceAllocator[],
  source: HostMemory | HostValues,
  options: UploadPartsOptions<D> = {},
): Promise<DeviceParts<D>> {
  options = UPLOAD_PARTS.read(options, "upload");
  const { label, onProgress, signal } = options;
  const { array, dtype, shape } = uploadSource(source, options);
  const layout = splitArray({ dtype, shape, count: gpus.length }, options);
  signal?.throwIfAborted();
  using memory = new DisposableStack();
  using places = new DisposableStack();
  const buffers: DeviceBuffer<D>[] = [];
  let place: ArrayPlace | undefined;
  for (const [index, gpu] of gpus.entries()) {
    const part = layout.parts[index]?.shape ?? shape;
    let taken = takeAfterCollection(gpu.context, () => gpu.alloc(dtype, part, { label }));
    if (taken instanceof Promise) {
      // Calls that use the array meanwhile come after this upload, although it waits for memory.
      const bytes = bytesOf(array, "upload");
      place ??= places.use(
        new ArrayPlace([{ memory: bytes, access: "read" }], defaultStreamOf(gpu.context)),
      );
      taken = await taken;
    }
    buffers.push(memory.use(taken));
  }
  const parts = new DeviceParts(new Parts({ dtype, shape, layout, buffers, label }));
  if (place === undefined) await parts.upload(array, { onProgress, signal });
  else {
    await place.isFirst;
    await fillParts(parts, array, { onProgress, signal });
  }
  memory.move();
  return parts;
}
