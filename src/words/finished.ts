// An object that a call has made and still has to finish, such as a buffer to fill.

/** Finishes something and returns it; disposes it when that fails. */
export function finished<T extends { dispose(): void }>(made: T, finish: (made: T) => void): T {
  try {
    finish(made);
    return made;
  } catch (error) {
    made.dispose();
    throw error;
  }
}

/** Finishes something that may still be coming, without blocking; see {@link finished}. */
export async function finishedLater<T extends Disposable>(
  coming: T | Promise<T>,
  finish: (made: T) => Promise<void>,
): Promise<T> {
  using undo = new DisposableStack();
  const made = undo.use(await coming);
  await finish(made);
  undo.move();
  return made;
}
