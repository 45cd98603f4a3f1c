// The intended differences from the real driver, which docs/simulated_driver.md puts into words.
// Everything else must agree with recordings of the real driver.

/** Answers that differ. */
export interface WantedAnswer {
  /** Functions that give them. */
  readonly calls: readonly string[];
  /** Statuses that differ: the real driver's, and the simulated one's. */
  readonly statuses?: readonly (readonly [real: number, simulated: number])[];
  /** The functions' outputs differ. */
  readonly outputs?: boolean;
}

/**
 * Every wanted difference by the name of its rule: an error is thrown, a call is refused, or an answer
 * differs. For errors and refusals the driver names the rule itself.
 */
export const STRICTER = {
  throws: [
    "race",
    "unwritten",
    "hostChanged",
    "bounds",
    "freed",
    "unmapped",
    "rights",
    "overlap",
    "inUse",
    "notLaunched",
    "goneFromGraph",
    "arrayInGraph",
    "unloaded",
    "unterminated",
    "collective",
    "communicatorInUse",
    "blockedForProcess",
    "deadlock",
    "endsProcess",
  ],
  refuses: [
    "packed",
    "reserved",
    "noPeerContext",
    "graphUpdate",
    "goneEvent",
    "external",
    "beyond",
  ],
  answers: {
    numbers: {
      calls: [
        "cuDeviceGetName",
        "cuDeviceGetUuid_v2",
        "cuDeviceTotalMem_v2",
        "cuDeviceGetAttribute",
        "cuDeviceGetPCIBusId",
        "cuMemGetInfo_v2",
        "cuEventElapsedTime",
      ],
    },
    uncompiled: {
      calls: ["cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryGetKernel"],
      statuses: [[218, 0]],
    },
    progress: {
      calls: ["cuStreamQuery", "cuEventQuery", "cuEventElapsedTime", "cuMemPoolGetAttribute"],
      statuses: [[0, 600], [600, 0]],
      outputs: true,
    },
    neighbours: { calls: ["cuMemRangeGetAttribute", "cuMemHostGetFlags"], outputs: true },
  },
} as const satisfies {
  readonly throws: readonly string[];
  readonly refuses: readonly string[];
  readonly answers: Readonly<Record<string, WantedAnswer>>;
};

/**
 * Name of a wanted difference.
 *
 * @internal
 */
export type Rule =
  | (typeof STRICTER)["throws" | "refuses"][number]
  | keyof (typeof STRICTER)["answers"];
