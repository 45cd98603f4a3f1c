// Models and arrays from bytes, blobs, responses, streams and servers.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { CudaDevice } from "../../../mod.ts";
import { NumpyError } from "../../../src/entries/numpy.ts";
import { readSafetensorsHeader, SafetensorsError } from "../../../src/entries/safetensors.ts";
import type { DriverFunction } from "../../../ffi/cuda.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { faultyDriver } from "../../support/faulty_driver.ts";
import { fuzzCount } from "../../support/fuzz_count.ts";
import { Random } from "../../support/random.ts";
import { damage } from "../../support/safetensors/damage.ts";
import { fileOf, TYPES_FIXTURE } from "../../support/safetensors/files.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

/** A model of three tensors, the last of which begins at an odd offset. */
const LARGE = 2 ** 20 + 3;
const MODEL = modelBytes();

function modelBytes(): Uint8Array<ArrayBuffer> {
  const header = {
    __metadata__: { made: "here" },
    a: { dtype: "U8", shape: [LARGE], data_offsets: [0, LARGE] },
    b: { dtype: "F32", shape: [2], data_offsets: [LARGE, LARGE + 8] },
    c: { dtype: "U8", shape: [2], data_offsets: [LARGE + 8, LARGE + 10] },
  };
  const data = Uint8Array.from({ length: LARGE + 10 }, (_, i) => i * 7);
  data.set(new Uint8Array(Float32Array.of(0.5, -2).buffer), LARGE);
  return Uint8Array.from(fileOf({ header, data }));
}

/** Cuts bytes into chunks of these sizes, in turn. */
function streamOf(
  bytes: Uint8Array<ArrayBuffer>,
  ...sizes: number[]
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let [end, turn] = [0, 0];
  return new ReadableStream({
    pull(controller) {
      const size = sizes[turn++ % sizes.length] ?? 1;
      if (end < bytes.byteLength) controller.enqueue(bytes.slice(end, end += size));
      else controller.close();
    },
  }, { highWaterMark: 0 });
}

async function assertLoads(
  gpu: CudaDevice,
  source: Parameters<CudaDevice["loadSafetensors"]>[0],
): Promise<void> {
  const steps: number[] = [];
  using model = await gpu.loadSafetensors(source, { onProgress: (done) => steps.push(done) });
  assertEquals(model.names, ["a", "b", "c"]);
  assertEquals({ ...model.metadata }, { made: "here" });
  const start = MODEL.byteLength - LARGE - 10;
  using expected = await gpu.upload(MODEL.subarray(start, start + LARGE));
  assert(await model.tensor("a", "uint8").equals(expected));
  assertEquals([...await model.tensor("b", "float32").download()], [0.5, -2]);
  assertEquals([...await model.tensor("c", "uint8").download()], [...MODEL.slice(-2)]);
  assertEquals(steps.at(-1), LARGE + 10);
  assertEquals(steps, steps.toSorted((x, y) => x - y));
}

testOnDevice("gpu.loadSafetensors() loads bytes of every kind of array", async (gpu) => {
  const shared = new Uint8Array(new SharedArrayBuffer(MODEL.byteLength));
  shared.set(MODEL);
  const inside = new Uint8Array(MODEL.byteLength + 5);
  inside.set(MODEL, 5);
  await assertLoads(gpu, MODEL);
  await assertLoads(gpu, MODEL.slice().buffer);
  await assertLoads(gpu, shared);
  await assertLoads(gpu, inside.subarray(5));
  await assertLoads(gpu, new DataView(inside.buffer, 5));
});

testOnDevice(
  "gpu.loadSafetensors() loads blobs, responses and streams of any chunks",
  async (gpu) => {
    await assertLoads(gpu, new Blob([MODEL]));
    await assertLoads(gpu, new File([MODEL], "model.safetensors"));
    await assertLoads(gpu, new Response(MODEL));
    for (const sizes of [[1, 7, 3, 2 ** 20], [2 ** 30], [0, 100_000], [8, 65_536]]) {
      await assertLoads(gpu, streamOf(MODEL, ...sizes));
    }
  },
);

testOnDevice(
  "gpu.loadSafetensors() loads from servers, whatever they tell about the body",
  async (gpu) => {
    await using server = Deno.serve({ port: 0, onListen() {} }, (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/unknown") return new Response(streamOf(MODEL, 50_000));
      if (pathname === "/packed") {
        const body = streamOf(MODEL, 50_000).pipeThrough(new CompressionStream("gzip"));
        return new Response(body, { headers: { "content-encoding": "gzip" } });
      }
      return pathname === "/model" ? new Response(MODEL) : new Response("none", { status: 404 });
    });
    const url = `http://localhost:${server.addr.port}`;
    for (const path of ["/model", "/unknown", "/packed"]) {
      await assertLoads(
        gpu,
        await fetch(url + path),
      );
    }
    await assertLoads(gpu, new URL(`${url}/model`));
    await assertLoads(gpu, `${url}/model`);
    const { tensors } = await readSafetensorsHeader(new URL(`${url}/unknown`));
    assertEquals(tensors.map(({ name }) => name), ["a", "b", "c"]);
    await assertRejects(() => gpu.loadSafetensors(`${url}/none`), Error, "its status is 404");
  },
);

testOnDevice("gpu.loadSafetensors() shows no secret of an address, whatever fails", async (gpu) => {
  await using server = Deno.serve({ port: 0, onListen() {} }, (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/away") return Response.redirect(`${origin}/away?secret=2`);
    if (pathname === "/packed") {
      return new Response(MODEL, { headers: { "content-encoding": "gzip" } });
    }
    return pathname === "/model" ? new Response(MODEL) : new Response("none", { status: 404 });
  });
  const url = `localhost:${server.addr.port}`;
  using model = await gpu.loadSafetensors(`http://${url}/model?secret=1#secret`);
  assertStringIncludes(`${model.tensor("a")}`, `(http://${url}/model, `);
  for (
    const [path, words] of [["none", "404"], ["away", "redirects"], ["packed", "after 0 bytes"]]
  ) {
    const address = `http://${url}/${path}?secret=é`;
    const error = await assertRejects(() => gpu.loadSafetensors(address), Error, `${url}/${path}`);
    assertStringIncludes(error.message, words ?? "");
    assert(!Deno.inspect(error).includes("secret"));
  }
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  const closed = `http://127.0.0.1:${listener.addr.port}/model`;
  const error = await assertRejects(() => gpu.loadSafetensors(`${closed}?secret=1`), TypeError);
  assertStringIncludes(`${error.cause}`, `error sending request for url (${closed}`);
  assert(!Deno.inspect(error).includes("secret"));
});

testOnDevice(
  "gpu.loadSafetensors() reads no further than the last tensor that is chosen",
  async (gpu) => {
    const source = streamOf(MODEL, 1000);
    using model = await gpu.loadSafetensors(source, { filter: ({ name }) => name === "b" });
    assertEquals([...await model.tensor("b", "float32").download()], [0.5, -2]);
    using first = await gpu.loadSafetensors(streamOf(MODEL, 1000), {
      filter: ({ name }) => name === "a",
      label: "chosen",
    });
    assertEquals([first.names, first.byteLength], [["a"], LARGE]);
    assertEquals(gpu.live().objects.some(({ name }) => name === "chosen"), true);
    using none = await gpu.loadSafetensors(streamOf(MODEL, 1000), { filter: () => false });
    assertEquals(none.size, 0);
  },
);

testOnDevice(
  "gpu.loadSafetensors() refuses bytes that end early, go on, or are no model",
  async (gpu) => {
    const refused = async (bytes: Uint8Array<ArrayBuffer>, reason: RegExp) => {
      for (const source of [bytes, new Blob([bytes]), streamOf(bytes, 10_000)]) {
        const error = await gpu.loadSafetensors(source).then(() => undefined, (error) => error);
        assert(error instanceof SafetensorsError, `${error}`);
        assert(reason.test(error.message), error.message);
      }
      assertEquals(gpu.live().objects, []);
    };
    await refused(MODEL.slice(0, -1), /cut short|ended after/);
    await refused(MODEL.slice(0, 5), /5 bytes/);
    await refused(MODEL.slice(0, 20), /cut short|within its header/);
    await refused(new Uint8Array(), /0 bytes/);
    await refused(
      Uint8Array.of(...new TextEncoder().encode("PK\x03\x04...........")),
      /a ZIP archive/,
    );
    const longer = new Uint8Array(MODEL.byteLength + 1);
    longer.set(MODEL);
    await refused(longer, /bytes follow/);
  },
);

testOnDevice(
  "gpu.loadSafetensors() ends when it is aborted, and its source with it",
  async (gpu) => {
    const reason = new Error("enough");
    const [abort, sent] = [new AbortController(), Promise.withResolvers<unknown>()];
    const stuck = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(MODEL.slice(0, 200_000)),
      pull: () => new Promise(() => {}),
      cancel: (why) => sent.resolve(why),
    });
    const loading = gpu.loadSafetensors(stuck, { signal: abort.signal }).catch((error) => error);
    setTimeout(() => abort.abort(reason), 20);
    assertEquals([await loading, await sent.promise], [reason, reason]);
    const late = gpu.loadSafetensors(MODEL, { signal: AbortSignal.abort(reason) });
    assertEquals(await late.catch((error) => error), reason);
    const source = streamOf(MODEL, 1000);
    const early = gpu.loadSafetensors(source, { signal: AbortSignal.abort(reason) });
    assertEquals(await early.catch((error) => error), reason);
  },
);

testOnDevice(
  "gpu.loadSafetensors() keeps nothing when its source fails, or a listener",
  async (gpu) => {
    const failure = new Error("the disk is gone");
    const failing = streamOf(MODEL, 100_000).pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          if (controller.desiredSize !== null) controller.enqueue(chunk);
          if (chunk[0] === MODEL[500_000]) controller.error(failure);
        },
      }),
    );
    const outcome = await gpu.loadSafetensors(failing).then(
      (model) => model.dispose(),
      (error) => error,
    );
    assert(outcome === failure || outcome === undefined);
    const onProgress = () => {
      throw failure;
    };
    for (const source of [MODEL, streamOf(MODEL, 100_000)]) {
      const error = await gpu.loadSafetensors(source, { onProgress }).catch((error) => error);
      assertEquals(error, failure);
    }
    const used = new Response(MODEL);
    await used.bytes();
    await assertRejects(() => gpu.loadSafetensors(used), TypeError, "was used");
    const texts = new ReadableStream({ start: (controller) => controller.enqueue("text") });
    await assertRejects(
      () => gpu.loadSafetensors(texts as never),
      TypeError,
      "a chunk of a stream",
    );
  },
);

Deno.test("gpu.loadSafetensors() from a stream keeps nothing when memory or copies fail", async () => {
  const { driver, setFault } = faultyDriver();
  await withDevice(async (gpu) => {
    const fails = async (name: DriverFunction, source: Blob | Uint8Array) => {
      setFault({ name });
      await assertRejects(() => gpu.loadSafetensors(source));
      setFault(undefined);
    };
    await fails("cuMemAllocAsync", new Blob([MODEL]));
    await fails("cuMemAllocAsync", MODEL);
    await fails("cuMemcpyAsync", new Blob([MODEL]));
    await fails("cuMemcpyHtoDAsync_v2", MODEL);
    await assertLoads(gpu, MODEL);
  }, { driver });
});

testOnDevice("gpu.loadSafetensors() comes after the call that writes its bytes", async (gpu) => {
  using device = await gpu.upload(MODEL);
  const bytes = new Uint8Array(MODEL.byteLength);
  const written = device.download(bytes);
  const loaded = gpu.loadSafetensors(bytes);
  device.fill(0);
  const overwritten = device.download(bytes);
  using model = await loaded;
  await Promise.all([written, overwritten]);
  assertEquals([...await model.tensor("b", "float32").download()], [0.5, -2]);
  assertHoldsOnly(bytes, 0);
});

testOnDevice("gpu.loadSafetensors() names an array that was moved away meanwhile", async (gpu) => {
  const bytes = MODEL.slice();
  const loading = gpu.loadSafetensors(bytes);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  await assertRejects(() => loading, TypeError, "Cannot load a model: the array is detached");
});

testOnDevice(
  "gpu.loadSafetensors() from damaged streams and from damaged bytes is of one mind",
  async (gpu) => {
    const original = Deno.readFileSync(TYPES_FIXTURE);
    const random = new Random(0xab);
    for (let i = 0; i < fuzzCount(2_000); i++) {
      const mutant = damage(original, random);
      const outcomes = await Promise.all(
        [mutant, streamOf(mutant, 1 + random.below(300))].map((source) => {
          return gpu.loadSafetensors(source).then((model) => {
            using loaded = model;
            return loaded.names;
          }, (error) => {
            assert(error instanceof SafetensorsError, `${error}`);
            return "refused";
          });
        }),
      );
      assertEquals(outcomes[0], outcomes[1]);
    }
  },
);

testOnDevice("gpu.loadNpy() loads bytes, responses and streams", async (gpu) => {
  const path = await Deno.makeTempFile();
  using x = gpu.iota("float32", [300, 700]);
  await x.saveNpy(path);
  const bytes = await Deno.readFile(path);
  await Deno.remove(path);
  for (
    const source of [bytes, new Blob([bytes]), new Response(bytes), streamOf(bytes, 3, 70_000)]
  ) {
    using y = await gpu.loadNpy(source, { dtype: "float32" });
    assertEquals([[...y.shape], await y.equals(x)], [[300, 700], true]);
  }
  await assertRejects(() => gpu.loadNpy(bytes.slice(0, -1)), NumpyError, "it was cut off");
  await assertRejects(() => gpu.loadNpy(bytes.slice(0, 30)), NumpyError, "ends within its header");
  await assertRejects(() => gpu.loadNpy(bytes, { dtype: "int8" }), TypeError, "it is float32");
  await assertRejects(() => gpu.loadNpy(new Uint8Array(3)), NumpyError, "it is no .npy file");
});

testOnDevice(
  "gpu.loadSafetensors() reads page-locked memory behind the copies into it",
  async (gpu) => {
    using device = await gpu.upload(MODEL);
    using host = gpu.pinned("uint8", MODEL.byteLength);
    device.copyTo(host);
    await assertLoads(gpu, host.array);
    host.array.fill(0);
    device.copyTo(host);
    await assertLoads(gpu, ReadableStream.from([host.array]));
  },
);
