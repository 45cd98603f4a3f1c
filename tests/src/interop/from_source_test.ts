// Responses, streams and blobs into new device memory: one allocation when the length is known, and
// none left when something is wrong.

import { assertEquals, assertLessOrEqual, assertRejects, assertStrictEquals } from "@std/assert";
import { Readable } from "node:stream";
import type { ByteSource } from "../../../src/interop/byte_source.ts";
import { PinnedPool } from "../../../src/memory/pinned_pool.ts";
import { DisposedError, OutOfMemoryError } from "../../../src/words/errors.ts";
import { streamOf } from "../../support/byte_streams.ts";
import { assertSameBytes, patternBytes, readBytes } from "../../support/contents.ts";
import { Random, share } from "../../support/random.ts";
import { liveNames, testOnDevice, withDevice } from "../../support/with_device.ts";

const MIB = 2 ** 20;

testOnDevice("gpu.from() allocates once for a blob", async (gpu) => {
  const bytes = patternBytes(9 * MIB);
  using track = gpu.track("from");
  using buffer = await gpu.from(new Blob([bytes]), { dtype: "float32", label: "x" });
  assertEquals([track.totalCount, track.peakBytes], [1, bytes.byteLength]);
  assertEquals(`${buffer}`, `DeviceBuffer(x, float32[${bytes.byteLength / 4}])`);
  assertSameBytes(readBytes(buffer), bytes);
});

testOnDevice("gpu.from() allocates once for a response with a content-length", async (gpu) => {
  const bytes = patternBytes(5 * MIB);
  using track = gpu.track("from");
  using buffer = await gpu.from(responseOf(bytes, { "content-length": `${5 * MIB}` }));
  assertEquals([track.totalCount, track.peakBytes], [1, bytes.byteLength]);
  assertSameBytes(readBytes(buffer), bytes);
});

testOnDevice("gpu.from() leaves a request whose memory ran out for another call", async (gpu) => {
  const bytes = patternBytes(2 * MIB);
  const headers = { "content-length": `${bytes.byteLength}` };
  const request = new Request("http://localhost/x", { method: "PUT", body: bytes, headers });
  const response = responseOf(bytes, headers);
  gpu.limit("1 MiB");
  await assertRejects(() => gpu.from(request), OutOfMemoryError);
  await assertRejects(() => gpu.from(response), OutOfMemoryError);
  gpu.limit(undefined);
  using buffer = await gpu.from(request);
  assertSameBytes(readBytes(buffer), bytes);
  // A response that nobody reads would keep its connection.
  assertEquals((await response.body?.getReader().read())?.done, true);
});

testOnDevice("gpu.from() allocates once for a stream with a shape", async (gpu) => {
  const bytes = patternBytes(24);
  using track = gpu.track("from");
  using buffer = await gpu.from(streamOf(bytes), { dtype: "float32", shape: [2, 3] });
  assertEquals(track.totalCount, 1);
  assertEquals(buffer.shape, [2, 3]);
  assertSameBytes(readBytes(buffer), bytes);
});

for (const byteLength of [0, 12, 4 * MIB, 21 * MIB + 8]) {
  testOnDevice(`gpu.from() grows for a stream of ${byteLength} bytes`, async (gpu) => {
    const bytes = patternBytes(byteLength);
    using buffer = await gpu.from(streamOf(bytes), { dtype: "float32" });
    assertEquals(buffer.length, byteLength / 4);
    assertEquals(liveNames(gpu).length, 1);
    assertSameBytes(readBytes(buffer), bytes);
  });
}

for (const chunkBytes of [1000, 65_537, 3 * MIB + 1, 4 * MIB - 1, 7 * MIB]) {
  testOnDevice(`gpu.from() grows for chunks of ${chunkBytes} bytes`, async (gpu) => {
    const bytes = patternBytes(13 * MIB + 7);
    using buffer = await gpu.from(streamOf(bytes, { chunkBytes }));
    assertEquals([buffer.length, liveNames(gpu).length], [bytes.byteLength, 1]);
    assertSameBytes(readBytes(buffer), bytes);
  });
}

testOnDevice("gpu.from() takes chunks of any sizes", async (gpu) => {
  const random = new Random(7);
  for (let round = 0; round < share(20); round++) {
    const chunks = Array.from({ length: 12 }, () => patternBytes(random.below(3 * MIB)));
    using buffer = await gpu.from(ReadableStream.from(chunks));
    assertSameBytes(readBytes(buffer), new Uint8Array(await new Blob(chunks).arrayBuffer()));
  }
});

for (const byteLength of [0, 1000, 4 * MIB + 5, 9 * MIB]) {
  for (const shape of [undefined, 20 * MIB]) {
    Deno.test(`gpu.from() passes a failure after ${byteLength} bytes on, shape ${shape}`, () =>
      withDevice(async (gpu) => {
        const failure = new Error("the source's own");
        const source = streamOf(patternBytes(byteLength), { chunkBytes: 65_537, failure });
        const options = shape === undefined ? {} : { shape };
        const error = await assertRejects(() => gpu.from(source, options));
        assertStrictEquals(error, failure);
      }));
  }
}

testOnDevice("gpu.from() does not take the packed length for the body's", async (gpu) => {
  const headers = { "content-length": "5", "content-encoding": "gzip" };
  using buffer = await gpu.from(responseOf(patternBytes(100), headers));
  assertEquals(buffer.length, 100);
});

Deno.test("gpu.from() loads what a server sends, packed or not", async () => {
  const bytes = new Uint8Array(200_000).fill(3);
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response(bytes, { headers: { "content-type": "text/plain" } }),
  );
  try {
    await withDevice(async (gpu) => {
      const response = await fetch(`http://127.0.0.1:${server.addr.port}/`);
      using buffer = await gpu.from(response);
      assertSameBytes(readBytes(buffer), bytes);
    });
  } finally {
    await server.shutdown();
  }
});

testOnDevice("gpu.from() keeps little page-locked memory after many streams", async (gpu) => {
  const random = new Random(7);
  for (let round = 0; round < 20; round++) {
    const bytes = patternBytes(1 + random.below(6 * MIB));
    using buffer = await gpu.from(new Blob([bytes]));
    assertSameBytes(readBytes(buffer), bytes);
  }
  // Two blocks of 4 MiB, and one of each smaller power of two.
  assertLessOrEqual(PinnedPool.of(gpu.context).byteLength, 12 * MIB);
});

testOnDevice("gpu.from() loads a server's request, and refuses one that was read", async (gpu) => {
  const bytes = patternBytes(5 * MIB);
  using track = gpu.track("from");
  const store = async (request: Request): Promise<Response> => {
    using buffer = await gpu.from(request);
    assertSameBytes(readBytes(buffer), bytes);
    const again = await gpu.from(request).catch(String);
    return Response.json([track.totalCount, buffer.length, again]);
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, store);
  const url = `http://127.0.0.1:${server.addr.port}/`;
  try {
    const response = await fetch(url, { method: "PUT", body: bytes });
    const used = `TypeError: Cannot stream the request to ${url} to the GPU: its body is in use`;
    assertEquals(await response.json(), [1, 5 * MIB, `${used} or was used`]);
    using empty = await gpu.from(new Request(url));
    assertEquals(empty.length, 0);
  } finally {
    await server.shutdown();
  }
});

testOnDevice("gpu.from() loads a file's stream", async (gpu) => {
  const path = await Deno.makeTempFile();
  try {
    const bytes = patternBytes(300_000);
    await Deno.writeFile(path, bytes);
    const file = await Deno.open(path);
    using buffer = await gpu.from(file.readable);
    assertSameBytes(readBytes(buffer), bytes);
  } finally {
    await Deno.remove(path);
  }
});

testOnDevice("gpu.from() reports progress up to the end", async (gpu) => {
  const known: [number, number][] = [];
  const bytes = patternBytes(6 * MIB);
  using _a = await gpu.from(new Blob([bytes]), { onProgress: (...now) => known.push(now) });
  assertEquals(known.at(0), [4 * MIB, 6 * MIB]);
  assertEquals(known.at(-1), [6 * MIB, 6 * MIB]);
  const unknown: [number, number][] = [];
  using _b = await gpu.from(streamOf(bytes), { onProgress: (...now) => unknown.push(now) });
  assertEquals(unknown.at(0), [MIB / 16, Infinity]);
  assertEquals(unknown.at(-1), [6 * MIB, 6 * MIB]);
});

testOnDevice("gpu.from() of many short streams at a time takes little memory", async (gpu) => {
  using track = gpu.track("from");
  const sources = Array.from({ length: 50 }, (_, i) => patternBytes(4000 + i));
  const buffers = await Promise.all(sources.map((bytes) => gpu.from(streamOf(bytes))));
  for (const [i, buffer] of buffers.entries()) {
    assertSameBytes(readBytes(buffer), sources[i] ?? new Uint8Array(0));
    buffer.dispose();
  }
  assertLessOrEqual(track.peakBytes, 50 * MIB / 8);
  assertLessOrEqual(PinnedPool.of(gpu.context).byteLength, 50 * MIB / 16);
});

Deno.test("gpu.from() of a long stream grows to two blocks of 4 MiB, and keeps little beside", () =>
  withDevice(async (gpu) => {
    const bytes = patternBytes(23 * MIB + 5);
    using buffer = await gpu.from(streamOf(bytes));
    assertSameBytes(readBytes(buffer), bytes);
    assertEquals(PinnedPool.of(gpu.context).byteLength, 2 * 4 * MIB + MIB + MIB / 4 + MIB / 16);
  }));

testOnDevice("gpu.from() leaves nothing when its memory is disposed meanwhile", async (gpu) => {
  const chunks = [MIB / 16, MIB / 16].map((byteLength) => patternBytes(byteLength));
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const chunk = chunks.pop();
      if (chunks.length === 0) gpu.disposeAll();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  await assertRejects(() => gpu.from(source), DisposedError);
  assertEquals(liveNames(gpu), []);
});

const REFUSED: Record<string, { source: () => ByteSource; message: string }> = {
  "a blob of another size": {
    source: () => new Blob([patternBytes(12)]),
    message: "Cannot stream 12 bytes into float32[4]: it takes 16",
  },
  "a stream that ends early": {
    source: () => streamOf(patternBytes(12)),
    message: "it ended after 12 of 16 bytes",
  },
  "a stream that goes on": {
    source: () => streamOf(patternBytes(20)),
    message: "it goes on after 16 bytes",
  },
  "a body shorter than its content-length": {
    source: () => responseOf(patternBytes(12), { "content-length": "16" }),
    message: "it ended after 12 of 16 bytes",
  },
  "a response that failed": {
    source: () => new Response("no such file", { status: 404, statusText: "Not Found" }),
    message: "Cannot stream a response to the GPU: its status is 404 Not Found",
  },
  "a stream that fails": {
    source: () => streamOf(patternBytes(12), { failure: new Error("the line is dead") }),
    message: "the line is dead",
  },
  "an array": {
    source: () => new Uint8Array(16) as unknown as Blob,
    message: "expected a Response, a Request, a ReadableStream or a Blob; upload() takes arrays",
  },
  "a list": {
    source: () => [1, 2, 3, 4] as unknown as Blob,
    message: "expected a Response, a Request, a ReadableStream or a Blob; upload() takes arrays",
  },
  "a path": {
    source: () => "data/values.f32" as unknown as Blob,
    message: 'given "data/values.f32", expected a Response, a Request, a ReadableStream or ' +
      "a Blob; uploadFile() takes paths",
  },
  "a promise": {
    source: () => Promise.resolve(new Response("")) as unknown as Blob,
    message: "Cannot stream to the GPU: it was given a promise, which has to be awaited, expected",
  },
  "an address": {
    source: () => "https://example.com/x" as unknown as Blob,
    message: 'given "https://example.com/x", expected a Response, a Request, a ReadableStream or ' +
      "a Blob; await fetch(url) returns one",
  },
  "an open file": {
    source: () => ({ readable: new Blob().stream() }) as unknown as Blob,
    message: "or a Blob; pass its readable",
  },
  "a stream of Node's": {
    source: () => Readable.from([new Uint8Array(16)]) as unknown as Blob,
    message: "or a Blob; ReadableStream.from() makes one of it",
  },
};

for (const [what, { source, message }] of Object.entries(REFUSED)) {
  testOnDevice(`gpu.from() refuses ${what}, and leaves nothing`, async (gpu) => {
    const options = { dtype: "float32", shape: 4 } as const;
    await assertRejects(() => gpu.from(source(), options), Error, message);
    assertEquals(liveNames(gpu), []);
  });
}

testOnDevice("gpu.from() refuses half an element, and leaves nothing", async (gpu) => {
  const message = "Cannot stream 10 bytes as float32";
  for (const source of [new Blob([patternBytes(10)]), streamOf(patternBytes(10))]) {
    await assertRejects(() => gpu.from(source, { dtype: "float32" }), RangeError, message);
  }
  assertEquals(liveNames(gpu), []);
});

testOnDevice("gpu.from() refuses a body that was used", async (gpu) => {
  const response = new Response("text");
  await response.text();
  await assertRejects(() => gpu.from(response), TypeError, "its body is in use or was used");
});

for (const shape of [64 * MIB, undefined]) {
  testOnDevice(`gpu.from() leaves nothing when it is aborted, shape ${shape}`, async (gpu) => {
    const abort = new AbortController();
    const source = streamOf(patternBytes(64 * MIB), {
      onPull: (doneBytes) => doneBytes > 9 * MIB && abort.abort(new Error("enough")),
    });
    const { signal } = abort;
    const options = shape === undefined ? { signal } : { signal, shape };
    await assertRejects(() => gpu.from(source, options), Error, "enough");
    assertEquals(liveNames(gpu), []);
  });
}

for (
  const [what, cancel] of [
    ["throws", () => Promise.reject(new Error("the source's own"))],
    ["never settles", () => new Promise<void>(() => {})],
  ] as const
) {
  Deno.test(`gpu.from() rejects with its own reason where the source's cancel() ${what}`, () =>
    withDevice(async (gpu) => {
      const pull = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(new Uint8Array(1000));
      };
      const endless = () => new ReadableStream({ pull, cancel });
      await assertRejects(
        () => gpu.from(endless(), { shape: 500 }),
        RangeError,
        "it goes on after",
      );
      const abort = new AbortController();
      const waiting = new ReadableStream({ cancel });
      const loading = gpu.from(waiting, { signal: abort.signal });
      setTimeout(() => abort.abort(new RangeError("stop")), 1);
      await assertRejects(() => loading, RangeError, "stop");
    }));
}

testOnDevice("gpu.from() refuses a stream that somebody reads", async (gpu) => {
  const stream = new Blob(["x"]).stream();
  const reader = stream.getReader();
  await assertRejects(() => gpu.from(stream), TypeError, "another reader has locked it");
  await reader.cancel();
});

testOnDevice("gpu.from() lets a source go that it does not read", async (gpu) => {
  let reason: unknown;
  const source = new ReadableStream<Uint8Array>({ cancel: (why) => void (reason = why) });
  const signal = AbortSignal.abort(new Error("too late"));
  await assertRejects(() => gpu.from(source, { signal }), Error, "too late");
  assertEquals(reason, signal.reason);
});

function responseOf(bytes: Uint8Array<ArrayBuffer>, headers: HeadersInit): Response {
  return new Response(streamOf(bytes), { headers });
}
