// Names of single views, for those that are known by a name of their own, such as a model's tensors.

import type { GpuBuffer } from "./gpu_buffer.ts";

const names = new WeakMap<GpuBuffer, string>();

/** Gives a view a name and returns the view. */
export function nameView<B extends GpuBuffer>(view: B, name: string): B {
  names.set(view, name);
  return view;
}

/** Returns the name that a view was given, if any. */
export function viewNameOf(view: GpuBuffer): string | undefined {
  return names.get(view);
}
