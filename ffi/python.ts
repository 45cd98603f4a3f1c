// The C API of Python, as its headers declare it since version 3.9: one row per function, its C
// declaration above it. An object is an address; all but the first three need the interpreter's lock.

/** The functions. */
export const PYTHON = {
  // int Py_IsInitialized(void)
  Py_IsInitialized: { parameters: [], result: "i32" },
  // PyGILState_STATE PyGILState_Ensure(void)
  PyGILState_Ensure: { parameters: [], result: "i32" },
  // void PyGILState_Release(PyGILState_STATE)
  PyGILState_Release: { parameters: ["i32"], result: "void" },
  // void Py_SetProgramName(const wchar_t *): gone when the newest way to start replaces it
  Py_SetProgramName: { parameters: ["buffer"], result: "void", optional: true },
  // void Py_InitializeEx(int initsigs)
  Py_InitializeEx: { parameters: ["i32"], result: "void" },
  // PyThreadState *PyEval_SaveThread(void)
  PyEval_SaveThread: { parameters: [], result: "u64" },
  // PyObject *Py_CompileString(const char *str, const char *filename, int start)
  Py_CompileString: { parameters: ["buffer", "buffer", "i32"], result: "u64" },
  // PyObject *PyEval_EvalCode(PyObject *co, PyObject *globals, PyObject *locals)
  PyEval_EvalCode: { parameters: ["u64", "u64", "u64"], result: "u64" },
  // PyObject *PyEval_GetBuiltins(void)
  PyEval_GetBuiltins: { parameters: [], result: "u64" },
  // PyObject *PyDict_New(void)
  PyDict_New: { parameters: [], result: "u64" },
  // PyObject *PyDict_GetItemString(PyObject *p, const char *key)
  PyDict_GetItemString: { parameters: ["u64", "buffer"], result: "u64" },
  // int PyDict_SetItemString(PyObject *p, const char *key, PyObject *val)
  PyDict_SetItemString: { parameters: ["u64", "buffer", "u64"], result: "i32" },
  // PyObject *PyBytes_FromStringAndSize(const char *v, Py_ssize_t len)
  PyBytes_FromStringAndSize: { parameters: ["buffer", "isize"], result: "u64" },
  // char *PyBytes_AsString(PyObject *o)
  PyBytes_AsString: { parameters: ["u64"], result: "u64" },
  // Py_ssize_t PyBytes_Size(PyObject *o)
  PyBytes_Size: { parameters: ["u64"], result: "isize" },
  // PyObject *PyObject_CallOneArg(PyObject *callable, PyObject *arg)
  PyObject_CallOneArg: { parameters: ["u64", "u64"], result: "u64" },
  // void Py_DecRef(PyObject *o)
  Py_DecRef: { parameters: ["u64"], result: "void" },
  // void PyErr_Print(void)
  PyErr_Print: { parameters: [], result: "void" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Python's functions. */
export type PythonApi = Deno.DynamicLibrary<typeof PYTHON>["symbols"];

/** Kind of text for `Py_CompileString`: `Py_file_input` of compile.h, many statements. */
export const PY_FILE_INPUT = 257;
