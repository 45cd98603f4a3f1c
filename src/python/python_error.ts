// Errors of Python as errors of JavaScript.

/** A Python error, as the Python side describes it. */
export interface PythonFailure {
  readonly type: string;
  readonly message: string;
  /** The text that Python would print. */
  readonly traceback: string;
}

/** Reports an error that Python source raised. */
export class PythonError extends Error {
  /** The class's name, to recognise the error in logs and across realms. */
  override readonly name = "PythonError";
  /** The class of the error in Python: `"ValueError"`. */
  readonly type: string;
  /** The text that Python would print: the traceback and the error. */
  readonly traceback: string;

  /** @ignore Creates the error. */
  constructor({ type, message, traceback }: PythonFailure) {
    super(message === "" ? type : `${type}: ${message}`);
    this.type = type;
    this.traceback = traceback;
    // An uncaught error shows the lines of both languages.
    this.stack = `${this.stack}\n${traceback.replaceAll(/^/gm, "    ")}`;
  }
}
