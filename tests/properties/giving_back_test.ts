// Random programs with streams, events and graphs that give back all they have at once, in any order
// and again and again: no memory is freed while work still uses it, which the simulated driver reports.

import { assertEquals, assertMatch } from "@std/assert";
import type { CudaEvent, CudaGraph, CudaStream, DeviceBuffer } from "../../mod.ts";
import type { CudaDevice } from "../../src/device/device.ts";
import type { LiveOrder } from "../../src/device/live_query.ts";
import { IN_SANITIZER } from "../support/driver.ts";
import { type Random, runSeeds, share } from "../support/random.ts";
import { withDevice } from "../support/with_device.ts";

const PROGRAM_COUNT = share(IN_SANITIZER ? 40 : 400);
const STEP_COUNT = 30;
const ORDERS: readonly LiveOrder[] = ["age", "name", "size", "kind"];

/** The errors of a program that uses what it gave back, or copies a buffer onto itself. */
const REFUSED = /was disposed|onto themselves|was not recorded|freed/;

/** One program. */
class GivingBack {
  readonly #gpu: CudaDevice;
  readonly #random: Random;
  readonly #buffers: DeviceBuffer<"uint8">[];
  readonly #streams: CudaStream[];
  readonly #events: CudaEvent[] = [];
  readonly #graphs: CudaGraph[] = [];

  constructor(gpu: CudaDevice, random: Random) {
    this.#gpu = gpu;
    this.#random = random;
    this.#buffers = [gpu.zeros("uint8", 64)];
    this.#streams = [gpu.stream];
  }

  /** Makes some steps, and gives everything back. */
  run(): void {
    let mark = this.#gpu.mark();
    for (let step = 0; step < STEP_COUNT; step++) {
      try {
        this.#step();
      } catch (error) {
        assertMatch(String(error), REFUSED);
      }
      if (this.#random.below(12) > 0) continue;
      if (this.#random.below(2) === 0) this.#gpu.disposeSince(mark);
      else this.#disposeLive();
      mark = this.#gpu.mark();
    }
    if (this.#random.below(2) === 0) this.#gpu.disposeAll();
    else this.#disposeLive();
    this.#gpu.synchronizeSync();
    assertEquals(this.#gpu.live().count, 0);
  }

  #step(): void {
    const [stream, buffer, other] = [this.#stream(), this.#buffer(), this.#buffer()];
    const event = this.#random.pick(this.#events);
    const graph = this.#random.pick(this.#graphs);
    const steps: (() => unknown)[] = [
      () => this.#buffers.push(this.#gpu.zeros("uint8", 64, { stream })),
      () => this.#streams.push(this.#gpu.createStream()),
      () => buffer.copyFrom(other, { stream }),
      () => other.copyFrom(buffer, { stream: this.#stream() }),
      () => this.#events.push(stream.record()),
      () => event && stream.wait(event),
      () => event?.dispose(),
      () => buffer.dispose(),
      () => buffer.close(stream),
      () => stream === this.#gpu.stream ? undefined : stream.dispose(),
      () =>
        this.#graphs.push(
          this.#gpu.capture(() => void buffer.copyFrom(other, { stream }), { stream }),
        ),
      () => graph?.launch({ stream }),
      () => graph?.dispose(),
    ];
    this.#random.pick(steps)?.();
  }

  #disposeLive(): void {
    this.#gpu.live().sort(this.#random.pick(ORDERS) ?? "age").dispose();
  }

  #buffer(): DeviceBuffer<"uint8"> {
    const buffer = this.#random.pick(this.#buffers);
    if (buffer === undefined) throw new RangeError("there is always one");
    return buffer;
  }

  #stream(): CudaStream {
    return this.#random.pick(this.#streams) ?? this.#gpu.stream;
  }
}

Deno.test(`${PROGRAM_COUNT} programs that give back all they have free nothing too early`, () =>
  runSeeds(PROGRAM_COUNT, ({ random }) => withDevice((gpu) => new GivingBack(gpu, random).run())));
