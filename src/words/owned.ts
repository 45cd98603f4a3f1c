// The habits of objects that programs dispose: `using`, and their names in consoles and in JSON.

/** An object that programs dispose: the base class of streams, events, graphs, models and others. */
export abstract class Owned implements Disposable, AsyncDisposable {
  /** Tells whether it was disposed. */
  abstract get disposed(): boolean;

  /** Lets go of what it holds. A second call does nothing. */
  abstract dispose(): void;

  /** Same as `dispose()`, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Same as `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    return Promise.resolve();
  }

  /** Returns the name for JSON. */
  toJSON(): string {
    return this.toString();
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}${this.disposed ? " disposed" : ""}`;
  }
}
