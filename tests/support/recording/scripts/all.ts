// Every script, in one list.

import { CAPTURE_MISTAKE_SCRIPTS } from "./capture_mistakes.ts";
import { CAPTURE_MODE_SCRIPTS } from "./capture_modes.ts";
import { COPY_SCRIPTS } from "./copies.ts";
import { DEVICE_SCRIPTS } from "./devices.ts";
import { GRAPH_MEMORY_SCRIPTS } from "./graph_memory.ts";
import { GRAPH_SCRIPTS } from "./graphs.ts";
import { KERNEL_SCRIPTS } from "./kernels.ts";
import { MEMORY_SCRIPTS } from "./memory.ts";
import { PEER_SCRIPTS } from "./peers.ts";
import { POOL_SCRIPTS } from "./pools.ts";
import type { Script } from "./script.ts";
import { VIRTUAL_MEMORY_SCRIPTS } from "./virtual_memory.ts";

/** Every script. */
export const SCRIPTS: readonly Script[] = [
  ...DEVICE_SCRIPTS,
  ...MEMORY_SCRIPTS,
  ...POOL_SCRIPTS,
  ...VIRTUAL_MEMORY_SCRIPTS,
  ...COPY_SCRIPTS,
  ...CAPTURE_MODE_SCRIPTS,
  ...CAPTURE_MISTAKE_SCRIPTS,
  ...GRAPH_SCRIPTS,
  ...GRAPH_MEMORY_SCRIPTS,
  ...KERNEL_SCRIPTS,
  ...PEER_SCRIPTS,
];
