import { simulateDriver } from "../../../ffi/simulated/driver.ts";
const d = simulateDriver();
console.log(d.cuDeviceGetCount(new Int32Array(1)), d.cuInit(0));
const ctx = new BigUint64Array(1);
console.log(d.cuDevicePrimaryCtxRetain(ctx, 0), d.cuCtxSetCurrent(ctx[0]!));
const p = new BigUint64Array(1);
let t = performance.now();
const all: bigint[] = [];
for (let i = 0; i < 1_000_000; i++) { d.cuMemAlloc_v2(p, 256n); all.push(p[0]!); }
console.log("1M allocs", performance.now() - t, Deno.memoryUsage().rss / 2**20);
t = performance.now();
for (const a of all) d.cuMemFree_v2(a);
console.log("1M frees", performance.now() - t);
t = performance.now();
for (let i = 0; i < 1_000_000; i++) { d.cuMemAllocAsync!(p, 256n, 0n); all[i] = p[0]!; }
console.log("1M async allocs", performance.now() - t);
t = performance.now();
for (const a of all) d.cuMemFreeAsync!(a, 0n);
d.cuCtxSynchronize();
console.log("1M async frees", performance.now() - t, Deno.memoryUsage().rss / 2**20);
t = performance.now();
for (let i = 0; i < 200_000; i++) { d.cuMemAllocAsync!(p, 256n, 0n); d.cuMemFreeAsync!(p[0]!, 0n); }
d.cuCtxSynchronize();
console.log("200k async pairs", performance.now() - t);
const n = 256 << 20;
d.cuMemAlloc_v2(p, BigInt(n)); const dev = p[0]!;
d.cuMemHostAlloc(p, BigInt(n), 0); const pin = p[0]!;
for (let i = 0; i < 4; i++) {
  t = performance.now();
  d.cuMemcpyAsync(dev, pin, BigInt(n), 0n);
  d.cuCtxSynchronize();
  console.log("256MiB pinned up", performance.now() - t);
  t = performance.now();
  d.cuMemcpyAsync(pin, dev, BigInt(n), 0n);
  d.cuCtxSynchronize();
  console.log("256MiB pinned down", performance.now() - t);
}
const h = new Uint8Array(n).fill(1);
for (let i = 0; i < 3; i++) { t = performance.now(); d.cuMemcpyHtoDAsync_v2(dev, h, BigInt(n), 0n); console.log("256MiB pageable", performance.now() - t); }
t = performance.now();
for (let i = 0; i < 100_000; i++) d.cuMemcpyAsync(dev, pin, 64n, 0n);
d.cuCtxSynchronize();
console.log("100k small copies", performance.now() - t);
t = performance.now();
for (let i = 0; i < 4096; i++) d.cuMemcpyAsync(dev+BigInt(i*65536), pin+BigInt(i*65536), 65536n, 0n);
d.cuCtxSynchronize();
console.log("4096 x 64 KiB", performance.now() - t);
