// The interpreter of this process: started once, and called from the JavaScript thread. Between two
// requests it is free for Python's own threads.

import { cString } from "../../ffi/c_strings.ts";
import { openHost } from "../../ffi/host.ts";
import { INSTALLED_LIBRARIES } from "../../ffi/installed_libraries.ts";
import { openLibrary } from "../../ffi/library.ts";
import { showLibrary } from "../../ffi/loader.ts";
import { PY_FILE_INPUT, PYTHON, type PythonApi } from "../../ffi/python.ts";
import bridge from "./bridge.py" with { type: "text" };
import type { PythonPlace } from "./environment.ts";

/** Texts that Python reads as long as it runs. */
const KEPT: Uint32Array<ArrayBuffer>[] = [];

/** A Python that runs in this process. */
export class Interpreter {
  readonly libraryPath: string;
  readonly #api: PythonApi;
  /** Python's function that handles requests. */
  readonly #exchange: bigint;

  /**
   * Starts Python in this process, unless it runs already.
   *
   * @throws LibraryError when there is no Python library.
   */
  constructor({ executable, libraries }: PythonPlace) {
    const { title, remedy } = INSTALLED_LIBRARIES.python;
    const { api, path } = openLibrary({ title, candidates: libraries, remedy }, [PYTHON]);
    // Extension modules expect its functions among the process's symbols, as in the python program.
    showLibrary(path);
    this.libraryPath = path;
    this.#api = api;
    if (api.Py_IsInitialized() === 0) start(api, executable);
    this.#exchange = this.#locked(() => this.#load());
  }

  /** Sends a request to the Python side, and returns its reply. */
  exchange(request: object): unknown {
    const text = new TextEncoder().encode(JSON.stringify(request));
    const api = this.#api;
    const reply = this.#locked(() => {
      const bytes = this.#made(api.PyBytes_FromStringAndSize(text, BigInt(text.length)));
      const result = api.PyObject_CallOneArg(this.#exchange, bytes);
      api.Py_DecRef(bytes);
      this.#made(result);
      const copy = new Uint8Array(Number(api.PyBytes_Size(result)));
      openHost().copyOut(copy, api.PyBytes_AsString(result), BigInt(copy.length));
      api.Py_DecRef(result);
      return copy;
    });
    return JSON.parse(new TextDecoder().decode(reply));
  }

  /** Runs the Python side in a namespace of its own, and finds its function. */
  #load(): bigint {
    const api = this.#api;
    const names = this.#made(api.PyDict_New());
    api.PyDict_SetItemString(names, cString("__builtins__"), api.PyEval_GetBuiltins());
    const code = this.#made(
      api.Py_CompileString(cString(bridge), cString("vramkit/bridge.py"), PY_FILE_INPUT),
    );
    api.Py_DecRef(this.#made(api.PyEval_EvalCode(code, names, names)));
    api.Py_DecRef(code);
    return this.#made(api.PyDict_GetItemString(names, cString("exchange")));
  }

  /** Calls `work` with the interpreter's lock. */
  #locked<T>(work: () => T): T {
    const state = this.#api.PyGILState_Ensure();
    try {
      return work();
    } finally {
      this.#api.PyGILState_Release(state);
    }
  }

  /** Checks that Python made an object; otherwise prints Python's error to stderr. */
  #made(object: bigint): bigint {
    if (object !== 0n) return object;
    this.#api.PyErr_Print();
    throw new Error("Cannot use Python: it failed outside the program's source, as printed above");
  }
}

/** Starts Python as its program would, but without signal handlers, and releases the lock. */
function start(api: PythonApi, executable: string | undefined): void {
  if (executable !== undefined && api.Py_SetProgramName !== null) {
    const name = Uint32Array.from(`${executable}\0`, (letter) => letter.codePointAt(0) ?? 0);
    KEPT.push(name);
    api.Py_SetProgramName(name);
  }
  api.Py_InitializeEx(0);
  api.PyEval_SaveThread();
}
