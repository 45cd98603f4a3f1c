// Virtual time: the cost of an operation on a GPU with round numbers. No wall clock is read, so
// every run of a program measures the same.

/** One unit of a device that does one operation at a time. */
export class Engine {
  /** Virtual time at which the engine is idle again. */
  freeAtSeconds = 0;
}

/** Cost of queueing one operation, for the host. */
export const SUBMIT_SECONDS = 1e-6;
/** Cost of starting a kernel. */
export const LAUNCH_SECONDS = 4e-6;

const COPY_LATENCY_SECONDS = 5e-6;
const BYTES_PER_SECOND = {
  uploadPinned: 25e9,
  uploadPageable: 6e9,
  downloadPinned: 24e9,
  downloadPageable: 6e9,
  local: 800e9,
  peer: 20e9,
  host: 10e9,
  fill: 1600e9,
};

/** Route that bytes take. */
export type Route = keyof typeof BYTES_PER_SECOND;

/** Returns the cost of moving bytes on a route. */
export function costOf(route: Route, byteLength: number): number {
  return COPY_LATENCY_SECONDS + byteLength / BYTES_PER_SECOND[route];
}
