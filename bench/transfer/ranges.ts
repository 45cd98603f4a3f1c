// Does a model from the web come faster by several connections, each with a range of it? A server in a process
// of its own, on this machine, and the time for a model to reach the device:
// `deno task bench ranges [--largest BYTES] [--out result.json]`. Answers wait 50 ms, as over a country;
// behind `tc qdisc add dev lo root netem delay 25ms` every packet does. The server sends as fast as it can,
// and then, as many servers do, with a limit for each connection.

import { CudaDevice, formatBytes } from "../../mod.ts";
import { fillPattern } from "../../src/measure/pattern.ts";
import { type BenchRow, median, report } from "../result_file.ts";
import { medianSeconds, readFlags, SEED, verify } from "./bench_run.ts";

const SAMPLE_COUNT = 3;
const CONNECTIONS = [1, 2, 4, 8, 16];
const DELAY_MILLISECONDS = 50;
const CHUNK_BYTES = 2 ** 18;
/** Bytes per second of a connection, and the part of the largest size that is loaded. */
const LIMITS = [{ limit: Infinity, share: 1 }, { limit: 20e6, share: 1 / 8 }] as const;

if (Deno.args[0] === "serve") await serve(Number(Deno.args[1]));
else await measure();

/** Serves the pattern, whole or a range of it, until its input ends; the path is the connection's limit. */
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
    const limit = Number(new URL(request.url).pathname.slice(1));
    const begin = performance.now();
    let at = start;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const early = begin + 1000 * (at - start) / limit - performance.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
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
  for (const { limit, share } of LIMITS) {
    const byteLength = share * largestBytes;
    for (const count of CONNECTIONS) {
      using whole = gpu.alloc("uint8", byteLength);
      const step = Math.ceil(byteLength / count);
      const load = async () => {
        await Promise.all(Array.from({ length: count }, async (_, i) => {
          const part = whole.subarray(i * step, Math.min((i + 1) * step, byteLength));
          const range = `bytes=${i * step}-${i * step + part.byteLength - 1}`;
          const response = await fetch(`${url}${limit}`, { headers: { range } });
          await response.body?.pipeTo(part.writable);
        }));
      };
      const samples: number[] = [];
      for (let i = 0; i < SAMPLE_COUNT; i++) samples.push(await medianSeconds(1, load));
      verify(await whole.download(), `${count} connections`);
      const each = limit === Infinity ? "" : ` of ${limit / 1e6} MB/s`;
      const name = `${count} connections${each}, ${formatBytes(byteLength)}`;
      const value = byteLength / median(samples) / 1e9;
      rows.push({ name, value, unit: "GB/s", samples: samples.map((s) => byteLength / s / 1e9) });
    }
  }
  await report(gpu, rows, out);
  await server.stdin.close();
  await reader.cancel();
  await server.status;
}
