// The most memory of the host that a part of a test takes.

/** Linux sets a process's peak back when this is written into the file. */
const RESET = "5";

/** Measures the peak of this process's memory from now on; undefined where the system does not tell. */
export class HostPeak {
  readonly #before: number;

  private constructor(before: number) {
    this.#before = before;
  }

  /** Starts with the memory that is used now. */
  static start(): HostPeak | undefined {
    try {
      Deno.writeTextFileSync("/proc/self/clear_refs", RESET);
      return new HostPeak(peakBytes());
    } catch {
      return undefined;
    }
  }

  /** Bytes beyond those at the start. */
  get growthBytes(): number {
    return peakBytes() - this.#before;
  }
}

function peakBytes(): number {
  const [, kibibytes = "0"] = /VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync("/proc/self/status")) ??
    [];
  return 1024 * Number(kibibytes);
}
