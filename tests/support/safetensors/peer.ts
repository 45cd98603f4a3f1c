// The program that asks the format's own Python library.

import { PROJECT_ROOT } from "../project_files.ts";

/** Path of the program. */
export const PEER = new URL("tests/support/safetensors/peer.py", PROJECT_ROOT).pathname;

/** The modules that it needs. */
export const PEER_MODULES = ["numpy", "safetensors"];
