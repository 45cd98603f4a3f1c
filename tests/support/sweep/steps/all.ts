// Every step of the failure sweep.

import type { Step } from "../scene.ts";
import { BUFFER_STEPS } from "./buffers.ts";
import { DEVICE_STEPS } from "./device.ts";
import { GROUP_STEPS } from "./groups.ts";
import { KERNEL_STEPS } from "./kernels.ts";
import { QUEUE_STEPS } from "./queues.ts";
import { RESOURCE_STEPS } from "./resources.ts";
import { SHARING_STEPS } from "./sharing.ts";
import { TRANSFER_STEPS } from "./transfers.ts";

/** All steps. */
export const STEPS: readonly Step[] = [
  ...BUFFER_STEPS,
  ...RESOURCE_STEPS,
  ...QUEUE_STEPS,
  ...KERNEL_STEPS,
  ...GROUP_STEPS,
  ...TRANSFER_STEPS,
  ...SHARING_STEPS,
  ...DEVICE_STEPS,
];
