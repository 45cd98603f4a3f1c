// Does a model from the web come faster by several connections, each with a range of it? A server in a process
// of its own, on this machine, and the time for a model to reach the device:
// `deno task bench ranges [--largest BYTES] [--out result.json]`. Answers wait 30 ms, as over a country;
// behind `tc qdisc add dev lo root netem delay 15ms` every packet does.

import { CudaDevice, formatBytes } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, median, report } from "../result_file.ts";
import { medianSeconds, readFlags, SEED, verify } from "./bench_run.ts";

const SAMPLE_COUNT = 3;
const CONNECTIONS = [1, 2, 4, 8, 16];
const DELAY_MILLISECONDS = 30;
const CHUNK_BYTES = 2 ** 20;

if (Deno.args[0] === "serve") await serve(Number(Deno.args[1]));
else await measure();

/** Serves the pattern, whole or a range of it, until its input ends. */
async function serve(byteLength: number): Promise<void> {
  const bytes = new Uint8Array(byteLength);
  fillPattern(bytes, SEED);
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: ({ port }) => console.log(port),
  }, async (request) => {
    await new Promise((resolve) => setTimeout(resolve, DELAY_MILLISECONDS));
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.get("range") ?? "") ?? [];
    const [start, end] = [Number(from ?? 0), Number(to ?? byteLength - 1) + 1];
    let at = start;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = bytes.subarray(at, Math.min(at += CHUNK_BYTES, end));
        if (part.byteLength > 0) controller.enqueue(part.slice());
        if (at >= end) controller.close();
      },
    });
    const headers = { "content-length": `${end - start}` };
    return new Response(body, { status: from === undefined ? 200 : 206, headers });
  });
  for await (const _ of Deno.stdin.readable) { /* until it ends */ }
  await server.shutdown();
}

async function measure(): Promise<void> {
  const { largestBytes, out } = await readFlags({ largestBytes: 2 ** 29 });
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.url, "serve", `${largestBytes}`],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = server.stdout.getReader();
  const port = new TextDecoder().decode((await reader.read()).value).trim();
  const url = `http://127.0.0.1:${port}/`;
  using gpu = CudaDevice.open(0, { driver: "auto" });
  const rows: BenchRow[] = [];
  for (const count of CONNECTIONS) {
    using whole = gpu.alloc("uint8", largestBytes);
    const step = Math.ceil(largestBytes / count);
    const load = async () => {
      await Promise.all(Array.from({ length: count }, async (_, i) => {
        const part = whole.subarray(i * step, Math.min((i + 1) * step, largestBytes));
        const range = `bytes=${i * step}-${i * step + part.byteLength - 1}`;
        const response = await fetch(url, count === 1 ? {} : { headers: { range } });
        await response.body?.pipeTo(part.writable);
      }));
    };
    const samples: number[] = [];
    for (let i = 0; i < SAMPLE_COUNT; i++) samples.push(await medianSeconds(1, load));
    verify(await whole.download(), `${count} connections`);
    const name = `${count} connections, ${formatBytes(largestBytes)}`;
    const value = largestBytes / median(samples) / 1e9;
    rows.push({ name, value, unit: "GB/s", samples: samples.map((s) => largestBytes / s / 1e9) });
  }
  await report(gpu, rows, out);
  await server.stdin.close();
  await reader.cancel();
  await server.status;
}
