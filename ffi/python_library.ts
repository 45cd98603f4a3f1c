// Opens Python's library so that its extension modules find it: they expect its functions among the
// process's symbols, as in the python program.

import { type LibrarySearch, type OpenLibrary, openLibrary } from "./library.ts";
import { showLibrary } from "./loader.ts";
import { PYTHON, type PythonApi } from "./python.ts";

/**
 * Opens Python's library.
 *
 * @throws LibraryError when there is none, or no permission.
 */
export function openPython(search: LibrarySearch): OpenLibrary<PythonApi> {
  const python = openLibrary(search, [PYTHON]);
  showLibrary(python.path);
  return python;
}
