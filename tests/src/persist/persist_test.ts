// Memory that outlives its program: made once, found by name, whole or told not to be, and freed when it is
// given up.

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { saveSafetensors } from "../../../src/interop/safetensors/save.ts";
import { SafetensorsModel } from "../../../src/interop/safetensors/model.ts";
import { KeeperConnection } from "../../../src/persist/keeper_connection.ts";
import { PersistError } from "../../../src/persist/persist_error.ts";
import { CachingResourceAdaptor } from "../../../src/resources/caching_resource_adaptor.ts";
import { openTestDevice, testOnTwoDevices } from "../../support/driver.ts";
import { ToldError } from "../../support/obedient_process.ts";
import { until } from "../../support/in_time.ts";
import { heldCount, KeeperScene, untilOver } from "../../support/persist/keeper_scene.ts";
import type { PersistAnswer } from "../../support/persist/peer.ts";
import { shareOf } from "../../support/random.ts";
import { takingTurns, testOnLinux } from "../../support/test_unless.ts";
import { CaughtWarnings } from "../../support/warnings.ts";
import { checkNothingLeft, freeBytes } from "../../support/with_device.ts";

/** Runs a test with a keeper of its own, and checks that nothing is left of this process's device. */
function testWithKeeper(
  name: string,
  body: (scene: KeeperScene, gpu: CudaDevice) => Promise<void>,
): void {
  testOnLinux(name, async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    await checkNothingLeft(gpu, async () => {
      await body(scene, gpu);
      for (const { name } of await gpu.persisted()) await gpu.forget(name);
    });
  });
}

/** Waits until another process makes a name. */
async function untilMaking({ info: { uuid } }: CudaDevice, name: string): Promise<void> {
  await until(async () => {
    using connection = await KeeperConnection.open();
    connection.tell({ op: "want", name, device: uuid ?? "", anew: false });
    return (await connection.hear()).state === "making";
  }, `another process makes ${name}`);
}

const KINDS_WORDS =
  "a device buffer, an object of named device buffers, or what gpu.loadSafetensors() gave";

testWithKeeper(
  "persist() gives what a killed process has made, without making it",
  async (scene, gpu) => {
    const maker = scene.peer();
    const made = await maker.tell<PersistAnswer>({ do: "persist", name: "w", value: 7 });
    assertEquals([made.wasMade, made.state, made.bytes], [true, "clean", [7, 7]]);
    await maker.kill();
    assertEquals(heldCount(await scene.pid()), 1);
    await using opener = scene.peer();
    const opened = await opener.tell<PersistAnswer>({ do: "persist", name: "w", value: 8 });
    assertEquals([opened.wasMade, opened.state, opened.bytes], [false, "clean", [7, 7]]);
    assertEquals(opened.openedBy, [opener.pid]);
    using here = await gpu.persist("w", (): { x: DeviceBuffer<"uint8"> } => {
      throw new Error("is there already");
    });
    assertEquals(await here.x.checksum(), await opener.tell({ do: "checksum" }));
    assertEquals([here.x.dtype, here.x.shape, here.x.label], ["uint8", [1000], undefined]);
    assertEquals(here.persistence.openedBy.toSorted(), [opener.pid, Deno.pid].toSorted());
    await opener.tell({ do: "fill", value: 9, waits: true });
    assertEquals(await here.x.at(999), 9);
  },
);

testWithKeeper("dispose() lets go, and forget() gives up", async (scene, gpu) => {
  const make = () => gpu.zeros("float32", [2, 3], { label: "x" });
  using first = await gpu.persist("x", make);
  assertEquals(first.persistence.wasThere, false);
  first.dispose();
  await gpu.synchronize();
  assertEquals(heldCount(await scene.pid()), 1);
  using second = await gpu.persist("x", make);
  assert(second !== first);
  assertEquals([second.persistence.wasThere, second.shape, second.label], [true, [2, 3], "x"]);
  second.fill(5);
  assertEquals(await gpu.forget("x"), true);
  assertEquals(await gpu.forget("x"), false);
  assertEquals((await gpu.persisted()).count, 0);
  assertEquals(heldCount(await scene.pid()), 0);
  assertEquals(await second.at(5), 5); // until the last lets go
  using third = await gpu.persist("x", make);
  assertEquals(third.persistence.wasThere, false);
});

testWithKeeper("persist() returns what this program has open already", async (_scene, gpu) => {
  const make = () => ({ x: gpu.zeros("uint8", 4), y: gpu.zeros("uint8", 4) });
  using first = await gpu.persist("x", make);
  assert(await gpu.persist("x", make) === first);
  first.y.dispose();
  using second = await gpu.persist("x", make);
  assert(second !== first);
  assertEquals(second.persistence.wasThere, true);
});

testWithKeeper("persist() keeps every kind of contents as it was", async (scene, gpu) => {
  const path = scene.pathOf("model.safetensors");
  {
    using a = await gpu.upload(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
    using b = gpu.zeros("bfloat16", 5).fill(2);
    using none = gpu.zeros("int8", [0, 4]);
    await saveSafetensors(path, { a, b, none }, { metadata: { by: "the test" } });
  }
  const check = async (from: string) => {
    using model = await gpu.persist("model", () => gpu.loadSafetensors(path));
    assert(model instanceof SafetensorsModel, from);
    assertEquals(model.names, ["a", "b", "none"]);
    assertEquals(model.metadata, { by: "the test" });
    assertEquals(model.tensor("a").shape, [2, 3]);
    assertEquals(
      await model.tensor("a", "float32").download(),
      new Float32Array([1, 2, 3, 4, 5, 6]),
    );
    assertEquals([model.format("b"), await model.tensor("b").at(4)], ["BF16", 2]);
    assertEquals(model.tensor("none").shape, [0, 4]);
    using record = await gpu.persist("record", () => {
      const block = gpu.zeros("int32", [4, 4]);
      return {
        row: block.view(1).fill(3),
        other: block.view(2).fill(4),
        "odd name": gpu.zeros("bool", 3),
      };
    });
    assertEquals(Object.keys(record), ["row", "other", "odd name"]);
    assertEquals(await record.row.download(), new Int32Array([3, 3, 3, 3]));
    assertEquals(await record.other.download(), new Int32Array([4, 4, 4, 4]));
    assertEquals(await record["odd name"].download(), new Uint8Array(3));
    using buffer = await gpu.persist("buffer", () => gpu.zeros("float64", [2, 1, 2]).fill(0.5));
    assert(buffer instanceof DeviceBuffer, from);
    assertEquals([buffer.shape, await buffer.at(3)], [[2, 1, 2], 0.5]);
    return [model, record, buffer].map(({ persistence }) => persistence.wasThere);
  };
  assertEquals(await check("made"), [false, false, false]);
  await gpu.synchronize();
  assertEquals(await check("opened"), [true, true, true]);
});

testWithKeeper("persist() refuses what it cannot keep, and leaves nothing", async (scene, gpu) => {
  const wrong: [string, () => unknown, string][] = [
    ["a number", () => 5, "its function returned the number 5"],
    ["nothing", () => undefined, "its function returned undefined"],
    ["a list", () => [gpu.zeros("uint8", 4)], "its function returned"],
    ["an empty object", () => ({}), "its function returned"],
    ["page-locked memory", () => gpu.pinned("uint8", 4), "its function returned"],
    ["memory that grows", () => ({ a: gpu.growable("uint8", { shape: 4 }) }), '"a" in it is'],
    ["a strided view", () => ({ a: gpu.zeros("uint8", [2, 2]).transpose() }), '"a" in it is'],
    ["a buffer of a name that is taken", () => ({ dispose: gpu.zeros("uint8", 4) }), '"dispose"'],
    ["a failure", () => {
      gpu.zeros("uint8", 2 ** 26);
      throw new RangeError("as the test wants it");
    }, "as the test wants it"],
  ];
  for (const [what, make, words] of wrong) {
    const error = await assertRejects(() => gpu.persist("x", make as never), Error, words, what);
    if (error instanceof PersistError) assertStringIncludes(error.message, KINDS_WORDS);
    gpu.disposeAll(); // what the function made elsewhere
  }
  assertEquals((await gpu.persisted()).count, 0);
  assertEquals(heldCount(await scene.pid()), 0);
});

testWithKeeper(
  "persist() refuses memory from elsewhere by name, or moves it",
  async (_scene, gpu) => {
    using outside = gpu.zeros("int32", [2, 2], { label: "outside" }).fill(6);
    const make = () => ({ inside: gpu.zeros("uint8", 4), row: outside.view(1) });
    const error = await assertRejects(() => gpu.persist("x", make), PersistError, "outside");
    assertEquals(error.reason, "elsewhere");
    assertEquals(await outside.at(3), 6);
    using moved = await gpu.persist("x", make, { move: true });
    assertEquals(outside.disposed, true); // never twice in full
    assertEquals(await moved.row.download(), new Int32Array([6, 6]));
    moved.dispose();
    using again = await gpu.persist("x", make);
    assertEquals([again.persistence.wasThere, await again.row.at(1)], [true, 6]);
  },
);

testWithKeeper(
  "persist() refuses memory that a cache would hand out again, or moves it",
  async (_scene, gpu) => {
    using caches = new DisposableStack();
    const make = () => {
      const resource = caches.use(new CachingResourceAdaptor(gpu.memoryResource));
      return caches.use(gpu.alloc("uint8", 1000, { resource }).fill(1));
    };
    await assertRejects(() => gpu.persist("x", make), PersistError, "pass { move: true }");
    using moved = await gpu.persist("x", make, { move: true });
    using other = make().fill(2);
    assertEquals([await moved.at(-1), await other.at(0)], [1, 2]);
  },
);

testWithKeeper("persist() opens only what was made of the same", async (scene, gpu) => {
  const path = scene.pathOf("values");
  Deno.writeFileSync(path, new Uint8Array(4).fill(1));
  const make = () => gpu.uploadFile(path);
  const persist = (options: { key?: string; replace?: boolean }) => gpu.persist("x", make, options);
  {
    using x = await persist({ key: "one" });
    const { files, key } = x.persistence;
    assertEquals([files.map(({ path }) => path), key], [[path], "one"]);
    const here = await assertRejects(() => persist({ key: "two" }), PersistError, 'key "two"');
    assertEquals(here.reason, "origin");
  }
  await gpu.synchronize();
  await assertRejects(
    () => persist({}),
    PersistError,
    'was made with key "one", this call has no key',
  );
  Deno.writeFileSync(path, new Uint8Array(8).fill(2));
  await assertRejects(() => persist({ key: "one" }), PersistError, "was 4 B");
  using x = await persist({ key: "one", replace: true });
  assertEquals([x.persistence.wasThere, await x.download()], [false, new Uint8Array(8).fill(2)]);
  assertEquals((await gpu.persisted()).count, 1);
});

testWithKeeper("persistence tells whether all writes were finished", async (scene, gpu) => {
  {
    await using peer = scene.peer();
    await peer.tell({ do: "persist", name: "w", value: 1 });
    assertEquals(await peer.tell({ do: "fill", value: 2, waits: true }), "clean");
    assertEquals(await peer.tell({ do: "fill", value: 3, waits: false }), "dirty");
    using here = await gpu.persist("w", (): { x: DeviceBuffer } => {
      throw new Error("is there already");
    });
    await until(() => here.persistence.state === "clean", "its state follows the GPU");
    await peer.tell({ do: "hand out" });
    assertEquals(here.persistence.state, "unknown");
  }
  await until(async () => [...await gpu.persisted()][0]?.openedBy.length === 0, "both let go");
  const [row] = await gpu.persisted();
  assertEquals(row?.state, "unknown");
});

testWithKeeper(
  "persist() tells of a process that was killed while it wrote",
  async (scene, gpu) => {
    const peer = scene.peer();
    await peer.tell({ do: "persist", name: "w", value: 1 });
    await assertRejects(() => peer.tell({ do: "fill and die", value: 3 }), Error, "has ended");
    await peer[Symbol.asyncDispose]();
    using warnings = new CaughtWarnings();
    using here = await gpu.persist("w", (): { x: DeviceBuffer } => {
      throw new Error("is there already");
    });
    assertEquals([here.persistence.state, here.persistence.unfinishedBy], ["dirty", peer.pid]);
    assertStringIncludes(warnings.texts.join(), `process ${peer.pid} ended while it wrote`);
    here.x.fill(5);
    await gpu.synchronize();
    assertEquals(here.persistence.state, "dirty"); // only who makes it anew knows that it is whole
    using anew = await gpu.persist("w", () => ({ x: gpu.zeros("uint8", 4) }), { replace: true });
    assertEquals(anew.persistence.state, "clean");
  },
);

takingTurns(testWithKeeper)(
  "persist() by two at once has one make it, and the other wait",
  async (scene, gpu) => {
    await using one = scene.peer();
    await using other = scene.peer();
    await Promise.all([one.tell({ do: "free bytes" }), other.tell({ do: "free bytes" })]);
    const answers = await Promise.all([
      one.tell<PersistAnswer>({ do: "persist", name: "w", value: 1 }),
      other.tell<PersistAnswer>({ do: "persist", name: "w", value: 2 }),
    ]);
    assertEquals(answers.map(({ wasMade }) => wasMade).toSorted(), [false, true]);
    assertEquals(answers[0]?.bytes, answers[1]?.bytes);
    assertEquals((await gpu.persisted()).count, 1);
  },
);

takingTurns(testWithKeeper)(
  "persist() by one that waits makes it when the maker fails or dies",
  async (scene, gpu) => {
    const maker = scene.peer();
    await maker.tell({ do: "free bytes" });
    const dead = maker.tell({ do: "persist", name: "w", how: "hangs" }).catch(() => "dead");
    await using other = scene.peer();
    await other.tell({ do: "free bytes" });
    await untilMaking(gpu, "w");
    const waits = other.tell<PersistAnswer>({ do: "persist", name: "w", value: 2 });
    await maker.kill();
    assertEquals(await dead, "dead");
    assertEquals((await waits).bytes, [2, 2]);
    await gpu.forget("w");
    const error = await assertRejects(
      () => other.tell({ do: "persist", name: "v", how: "fails" }),
      ToldError,
      "as the test wants it",
    );
    assertEquals(error.kind, "RangeError");
    assertEquals((await gpu.persisted()).count, 0);
  },
);

testWithKeeper("persist() waits no longer than its signal says", async (scene, gpu) => {
  await using maker = scene.peer();
  await maker.tell({ do: "free bytes" });
  const dead = maker.tell({ do: "persist", name: "w", how: "hangs" }).catch(() => {});
  await untilMaking(gpu, "w");
  const controller = new AbortController();
  const waits = gpu.persist("w", () => gpu.zeros("uint8", 4), { signal: controller.signal });
  setTimeout(() => controller.abort(new RangeError("enough")), 100);
  await assertRejects(() => waits, RangeError, "enough");
  await maker.kill();
  await dead;
});

testWithKeeper(
  "persist() twice at once returns one object, and not in its own function",
  async (_scene, gpu) => {
    let count = 0;
    const make = () => {
      count++;
      return gpu.zeros("uint8", 4);
    };
    const [one, two] = await Promise.all([gpu.persist("x", make), gpu.persist("x", make)]);
    assert(one === two && count === 1);
    one?.dispose();
    const nested = () => gpu.persist("y", () => gpu.persist("y", make));
    await assertRejects(nested, TypeError, "in the function that makes it");
    using y = await gpu.persist("y", async () => {
      using _inner = await gpu.persist("z", make);
      return gpu.zeros("uint8", 4);
    });
    assertEquals([...await gpu.persisted()].map(({ name }) => name), ["x", "z", "y"]);
    assertEquals(y.persistence.state, "clean");
  },
);

testWithKeeper("release() of persisted memory is refused", async (_scene, gpu) => {
  using x = await gpu.persist("x", () => gpu.zeros("uint8", 4));
  assertThrows(() => x.release(), TypeError, "takes more than its address");
});

Deno.test("persist() leaves nothing when any driver call of it fails", async () => {
  if (Deno.build.os !== "linux") return;
  await using scene = new KeeperScene();
  const calls = [
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemMap",
    "cuMemSetAccess",
    "cuMemRetainAllocationHandle",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemsetD8Async",
    "cuMemGetAllocationGranularity",
  ] as const;
  for (const call of shareOf(calls, { least: 3 })) {
    for (const isThere of [false, true]) {
      const real = simulateDriver();
      let isOn = false;
      const driver = {
        ...real,
        [call]: (...args: never[]) => {
          if (isOn) return 304;
          return (real[call] as (...args: never[]) => number)(...args);
        },
      };
      using gpu = CudaDevice.open(0, { driver });
      const make = () => ({
        a: gpu.alloc("uint8", 32 * 2 ** 20).fill(1),
        b: gpu.zeros("uint8", 4),
      });
      if (isThere) {
        using _x = await gpu.persist("x", make);
        await gpu.synchronize();
      }
      const before = freeBytes(gpu);
      isOn = true;
      const made = await gpu.persist("x", make).catch((error) => error);
      isOn = false;
      const words = `${call}, ${isThere ? "there" : "made"}`;
      if (made instanceof Error) {
        assertEquals(gpu.live().count, 0, words);
        assertEquals(freeBytes(gpu), before, words);
        assertEquals((await gpu.persisted()).count, Number(isThere), words);
        if (!isThere) assertEquals(heldCount(await scene.pid()), 0, words);
        using again = await gpu.persist("x", make);
        assertEquals(await again.a.at(-1), 1, words);
      } else {
        made.dispose();
      }
      await gpu.synchronize();
      await gpu.forget("x");
    }
  }
});

testWithKeeper(
  "A killed keeper frees what nobody has open, and a new one starts",
  async (scene, gpu) => {
    await using peer = scene.peer();
    await peer.tell({ do: "persist", name: "w", value: 7 });
    const pid = await scene.pid();
    Deno.kill(pid, "SIGKILL");
    await untilOver(pid);
    await peer.tell({ do: "fill", value: 8, waits: true }); // it has the memory
    assertEquals((await gpu.persisted()).count, 0);
    const again = await peer.tell<PersistAnswer>({ do: "persist", name: "w", value: 9 });
    assertEquals([again.wasMade, again.bytes], [true, [9, 9]]);
    assert(await scene.pid() !== pid);
    assertEquals(heldCount(await scene.pid()), 1);
  },
);

testOnTwoDevices("persist() keeps a name on each device", async (first, second) => {
  await using _scene = new KeeperScene();
  using one = await first.persist("x", () => first.zeros("uint8", 4).fill(1));
  using two = await second.persist("x", () => second.zeros("uint8", 4).fill(2));
  assertEquals([await one.at(0), await two.at(0)], [1, 2]);
  assertEquals([two.persistence.wasThere, two.deviceOrdinal], [false, 1]);
  assertEquals(await first.forget("x"), true);
  assertEquals([(await first.persisted()).count, (await second.persisted()).count], [0, 1]);
});
