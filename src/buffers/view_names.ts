// Names of single views, for views that have a name of their own, such as a model's tensors.

const names = new WeakMap<object, string>();

/** Gives a view a name and returns the view. */
export function nameView<V extends object>(view: V, name: string): V {
  names.set(view, name);
  return view;
}

/** Returns the name that a view was given, if any. */
export function viewNameOf(view: object): string | undefined {
  return names.get(view);
}
