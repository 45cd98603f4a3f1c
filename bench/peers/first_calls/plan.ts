// The calls that people write first, by name, and the sizes at which every library makes them.

/** Calls that every library makes, by name: what each does is beside it. */
export const CALLS = {
  /** A new buffer on the device, filled from an array. */
  upload: "a new buffer from an array",
  /** A buffer that is there, filled from an array. */
  uploadInto: "an array into a buffer",
  /** A new array on the host, as the library makes it. */
  download: "a new array",
  /** An array that the program makes for it, whose pages nobody has touched. */
  downloadNew: "into an array that was just made",
  /** An array that has been used before. */
  downloadUsed: "into a used array",
} as const;

/** Name of a call. */
export type Call = keyof typeof CALLS;

/** State of the program: its first calls, or after some seconds of them. */
export type Phase = "cold" | "warm";

/** Samples of one call at one size. */
export interface CallSamples {
  /** The call. */
  readonly call: Call;
  /** Whether the program goes on while the bytes move; other libraries only block. */
  readonly form: "awaited" | "blocking";
  readonly phase: Phase;
  readonly byteLength: number;
  /** Seconds a call. */
  readonly samples: readonly number[];
}

/** One library's part of a run. */
export interface CallDocument {
  readonly peer: string;
  readonly device: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly results: readonly CallSamples[];
  /** The error of a library that is missing or failed. */
  readonly error?: string;
}

/** Samples of a call as a results file keeps them: the median, and a few samples evenly spread. */
export interface CallSummary extends CallSamples {
  /** Median seconds of all samples. */
  readonly seconds: number;
  readonly sampleCount: number;
}

/** One run of all libraries on one machine. */
export interface CallRun {
  readonly date: string;
  readonly device: string;
  readonly coreCount: number;
  readonly sizes: readonly number[];
  readonly documents: readonly (Omit<CallDocument, "results"> & {
    readonly results: readonly CallSummary[];
  })[];
}

const KEPT_SAMPLES = 7;

/** Shortens the samples of a call. */
export function summaryOf(found: CallSamples): CallSummary {
  const { samples } = found;
  const sorted = samples.toSorted((a, b) => a - b);
  const step = Math.ceil(samples.length / KEPT_SAMPLES);
  return {
    ...found,
    samples: samples.filter((_, index) => index % step === 0).map(rounded),
    seconds: rounded(sorted[samples.length >> 1] ?? NaN),
    sampleCount: samples.length,
  };
}

/** To the nanosecond. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1e9) / 1e9;
}

/** The request to a program of a run: as JSON, its only argument. */
export interface CallPlan {
  /** Sizes in bytes, smallest first. */
  readonly sizes: readonly number[];
  readonly phase: Phase;
  /** Calls to make; all of them when left out. */
  readonly calls?: readonly Call[];
  /** Forms of ours; both when left out. */
  readonly forms?: readonly CallSamples["form"][];
}

const KIB = 2 ** 10;
const MIB = 2 ** 20;
/** Bounds of a size that nobody chose, in bytes. */
const ODD_SIZE = { smallest: 3 * MIB, largest: 48 * MIB } as const;

/** Sizes up to a largest one: powers of four from 4 KiB, 8 MiB, and one that nobody chose. */
export function sizesUpTo(largestBytes: number): number[] {
  const powers = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB];
  const odd = Math.floor(
    ODD_SIZE.smallest + Math.random() * (ODD_SIZE.largest - ODD_SIZE.smallest),
  ) | 1;
  return [...powers, 8 * MIB, 256 * MIB, 1024 * MIB, odd]
    .filter((byteLength) => byteLength <= largestBytes)
    .toSorted((a, b) => a - b);
}

/** Number of samples at a size: the first calls of a program are few. */
export function sampleCountFor(byteLength: number, phase: Phase): number {
  if (phase === "cold") return byteLength > 256 * MIB ? 2 : 3;
  if (byteLength > 256 * MIB) return 3;
  return Math.max(5, Math.min(101, Math.floor(256 * MIB / byteLength)));
}
