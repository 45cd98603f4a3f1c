// How fast do bytes move in a program of mine? Every way of the kit by size, for `deno bench`:
// `deno bench -A --json bench/transfers_bench.ts | deno run -A src/bench/report.ts`.

import { CudaDevice } from "../mod.ts";
import { type BenchDirection, transferBench } from "../src/bench/mod.ts";
import { fillPattern } from "../src/measure/pattern.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
/** The simulated driver's memory is the host's, and its speed means nothing: small sizes do. */
const SIMULATED_SIZES = [4 * KIB, 64 * KIB, MIB];
const SIZES = [4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB];
/** Bytes that the calls of one measurement move at least, up to {@link MAX_CALLS}. */
const BATCH_BYTES = MIB;
const MAX_CALLS = 64;
/** Arrays of a batch. */
const ARRAY_COUNT = 64;

/** A buffer or more, disposed when another bench begins. */
interface Prepared extends Disposable {
  readonly run: () => unknown;
}

const open = () => CudaDevice.open(0, { driver: "auto" });
const isSimulated = isOnSimulated();
const sizes = isSimulated ? SIMULATED_SIZES : SIZES;
const largest = Math.max(...sizes);
const source = new Uint8Array(largest);
fillPattern(source, 7);
const target = new Uint8Array(largest).fill(1);
const path = await Deno.makeTempFile({ prefix: "vramkit_bench_" });
globalThis.addEventListener("unload", () => Deno.removeSync(path));

for (const byteLength of sizes) {
  const up = source.subarray(0, byteLength);
  const down = target.subarray(0, byteLength);
  const bench = (
    name: string,
    direction: BenchDirection | undefined,
    prepare: (
      gpu: CudaDevice,
      stack: DisposableStack,
    ) => Prepared["run"] | Promise<Prepared["run"]>,
  ) => benchOf(name, { byteLength, direction, prepare });

  bench("upload into a new buffer", "up", (gpu) => async () => (await gpu.upload(up)).dispose());
  bench("upload", "up", (gpu, stack) => {
    const x = stack.use(gpu.alloc("uint8", byteLength));
    return () => x.upload(up);
  });
  bench("download into a new array", "down", (gpu, stack) => {
    const x = stack.use(gpu.zeros("uint8", byteLength));
    return () => x.download();
  });
  bench("download", "down", (gpu, stack) => {
    const x = stack.use(gpu.zeros("uint8", byteLength));
    return () => x.download(down);
  });
  bench("pinned upload", "up", (gpu, stack) => {
    const [x, host] = pair(gpu, stack, byteLength);
    return () => void (x.copyFrom(host), gpu.synchronizeSync());
  });
  bench("pinned download", "down", (gpu, stack) => {
    const [x, host] = pair(gpu, stack, byteLength);
    return () => void (x.copyTo(host), gpu.synchronizeSync());
  });
  bench("staged push", "up", (gpu, stack) => {
    const x = stack.use(gpu.staged("uint8", byteLength));
    x.contents.set(up);
    return () => x.push();
  });
  bench("write into mapped memory", undefined, (gpu, stack) => {
    const x = stack.use(gpu.mapped("uint8", byteLength));
    return () => x.array.set(up);
  });
  bench("copy on the device", "device", (gpu, stack) => {
    const [x, y] = [gpu.zeros("uint8", byteLength), gpu.zeros("uint8", byteLength)];
    stack.use(x), stack.use(y);
    return () => void (x.copyFrom(y), gpu.synchronizeSync());
  });
  bench("fill", "device", (gpu, stack) => {
    const x = stack.use(gpu.alloc("uint8", byteLength));
    return () => void (x.fill(1), gpu.synchronizeSync());
  });
  bench(`upload ${ARRAY_COUNT} arrays`, "up", (gpu) => {
    const part = byteLength / ARRAY_COUNT;
    const arrays = Array.from(
      { length: ARRAY_COUNT },
      (_, i) => up.subarray(i * part, (i + 1) * part),
    );
    return async () => (await gpu.uploadAll(arrays)).dispose();
  });
  bench("upload a file", "up", async (gpu) => {
    await Deno.writeFile(path, up);
    return async () => (await gpu.uploadFile(path)).dispose();
  });
}

/** Registers one way at one size; small transfers are timed several at a time. */
function benchOf(name: string, way: {
  readonly byteLength: number;
  readonly direction: BenchDirection | undefined;
  readonly prepare: (
    gpu: CudaDevice,
    stack: DisposableStack,
  ) => Prepared["run"] | Promise<Prepared["run"]>;
}): void {
  const { byteLength, direction, prepare } = way;
  const callCount = Math.min(MAX_CALLS, Math.ceil(BATCH_BYTES / byteLength));
  transferBench<Prepared>({
    open,
    name,
    bytes: byteLength,
    ...direction === undefined ? {} : { direction },
    callCount,
    prepare: async (gpu) => {
      const stack = new DisposableStack();
      const run = await prepare(gpu, stack);
      return { run, [Symbol.dispose]: () => stack.dispose() };
    },
  }, (_gpu, _b, { run }) => run());
}

function pair(gpu: CudaDevice, stack: DisposableStack, byteLength: number) {
  const x = stack.use(gpu.zeros("uint8", byteLength));
  const host = stack.use(gpu.pinned("uint8", byteLength));
  host.array.set(source.subarray(0, byteLength));
  return [x, host] as const;
}

function isOnSimulated(): boolean {
  using gpu = open();
  return gpu.isSimulated;
}
