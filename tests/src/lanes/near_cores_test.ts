// Lanes and slots near their device: whatever the machine says of its nodes, lanes keep to processors of the
// device's node that the program may use, or to none; and what they move is right.

import { assert, assertEquals } from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { Driver } from "../../../src/driver/driver.ts";
import { LaneShare } from "../../../src/lanes/lane_share.ts";
import { busIdOf, findNearCores, OWN_SYSTEM } from "../../../src/lanes/near_cores.ts";
import { adoptEngine } from "../../../src/transfer/context_engine.ts";
import { TransferEngine } from "../../../src/transfer/engine.ts";
import { PinnedSlab } from "../../../src/transfer/pinned_slab.ts";
import { assertSameBytes, patternBytes } from "../../support/contents.ts";
import { coresIn, setOf, type SimulatedNodes, systemIn } from "../../support/core_system.ts";
import { openTestDevice } from "../../support/driver.ts";
import { driverFor, GROUP_SIZES } from "../../support/group_scene.ts";
import { SMALL_SLOTS, withDevices } from "../../support/parts_scene.ts";
import { Random, share, shareOf } from "../../support/random.ts";
import { bytesAt } from "../../support/simulated_gpu.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

const HERE = "0000:18:00.0";
const TWO_NODES: SimulatedNodes = {
  nodes: new Map([[0, "0-3,8-11"], [1, "4-7,12-15"]]),
  devices: new Map([[HERE, 1]]),
  allowed: Array.from({ length: 16 }, (_, core) => core),
};

function nearOn(machine: Partial<SimulatedNodes>, id = HERE) {
  using folder = new TemporaryFolder();
  const system = systemIn(folder.path, { ...TWO_NODES, ...machine });
  const near = findNearCores(() => id, { fewest: 3, system });
  return near && { node: near.node, count: near.count, cores: coresIn(near.set) };
}

Deno.test("findNearCores() finds the processors of the node that a device is at", () => {
  assertEquals(nearOn({}), { node: 1, count: 8, cores: [4, 5, 6, 7, 12, 13, 14, 15] });
  assertEquals(nearOn({}, HERE.toUpperCase())?.node, 1);
});

Deno.test("findNearCores() leaves out processors that the program must not use", () => {
  assertEquals(nearOn({ allowed: [0, 5, 6, 13] }), { node: 1, count: 3, cores: [5, 6, 13] });
});

Deno.test("findNearCores() finds none where there is nothing to choose", () => {
  assertEquals(nearOn({ nodes: new Map([[1, "0-15"]]) }), undefined, "one node");
  assertEquals(nearOn({ devices: new Map([[HERE, -1]]) }), undefined, "a device at no node");
  assertEquals(nearOn({ devices: new Map() }), undefined, "a device that is not listed");
  assertEquals(nearOn({ devices: new Map([[HERE, 2]]) }), undefined, "a node that is not there");
  assertEquals(nearOn({ allowed: [0, 1, 8] }), undefined, "bound to another node");
  assertEquals(nearOn({ allowed: [4, 5] }), undefined, "bound to this node");
  assertEquals(nearOn({ allowed: [] }), undefined, "no processor");
  assertEquals(nearOn({ allowed: [0, 1, 2, 4, 5] }), undefined, "too few near ones");
  assertEquals(nearOn({ allowed: undefined }), undefined, "the system does not say");
});

Deno.test("findNearCores() finds none where files say what nobody understands", () => {
  for (const list of ["", "all", "4-", "-7", "4;5", "4-7-9", "1e3", "99999"]) {
    assertEquals(nearOn({ nodes: new Map([[0, "0-3"], [1, list]]) }), undefined, list);
  }
  assertEquals(nearOn({ nodes: new Map([[0, "0-3"], [1, "2000-3000"]]) }), undefined);
});

Deno.test("findNearCores() asks no device on a machine whose nodes nobody can read", () => {
  const refused = { read: () => undefined, allowed: () => setOf([0]) };
  const asked = () => {
    throw new Error("the device was asked");
  };
  assertEquals(findNearCores(asked, { fewest: 1, system: refused }), undefined);
});

Deno.test("findNearCores() keeps to the node and to what is allowed, on random machines", () => {
  using folder = new TemporaryFolder();
  const random = new Random(19);
  for (let round = 0; round < share(200); round++) {
    const coreCount = 1 + random.below(200);
    const nodeCount = 1 + random.below(8);
    const nodeOf = Array.from({ length: coreCount }, () => random.below(nodeCount));
    const coresOf = (node: number) => [...nodeOf.keys()].filter((core) => nodeOf[core] === node);
    const allowed = [...nodeOf.keys()].filter(() => random.below(4) > 0);
    const node = random.below(nodeCount);
    const machine = {
      nodes: new Map(Array.from({ length: nodeCount }, (_, at) => [at, coresOf(at).join()])),
      devices: new Map([[HERE, node]]),
      allowed,
    };
    const fewest = 1 + random.below(10);
    const near = findNearCores(() => HERE, { fewest, system: systemIn(folder.path, machine) });
    const expected = coresOf(node).filter((core) => allowed.includes(core));
    const isChoice = nodeCount > 1 && expected.length >= fewest &&
      expected.length < allowed.length;
    assertEquals(near && coresIn(near.set), isChoice ? expected : undefined, `round ${round}`);
    assertEquals(near?.count, isChoice ? expected.length : undefined);
  }
});

Deno.test("busIdOf() names a device's place on the bus, or nothing where the driver does not", () => {
  using gpu = openTestDevice();
  const { driver, deviceHandle } = gpu.context;
  assertEquals(busIdOf(driver, deviceHandle), gpu.info.pciBusId);
  const refusing = Driver.open({ ...simulateDriver(), cuDeviceGetPCIBusId: () => 1 });
  assertEquals(busIdOf(refusing, 0), "");
});

Deno.test("LaneShare gives devices of one node the same lanes, and counts transfers of all", () => {
  const driver = Driver.open(simulateDriver({ devices: 4 }));
  const cores = [0, 1].map((node) => ({ node, count: 2, set: setOf([2 * node, 2 * node + 1]) }));
  const needs = { slotCount: 4, laneCount: 2, sharedLaneCount: 2 };
  const shares = [0, 1, 0, 1].map((node) =>
    new LaneShare(driver, {}, { ...needs, nearCores: cores[node] })
  );
  const far = new LaneShare(driver, {}, needs);
  const [first, second, third, fourth] = shares.map(({ lanes }) => lanes);
  assertEquals([first === third, second === fourth], [true, true]);
  assertEquals(new Set([first, second, far.lanes]).size, 3);
  for (const share of [...shares, far]) {
    share.begin();
    share.begin();
  }
  assertEquals(far.active.size, 5);
  for (const share of [...shares, far]) {
    share.end();
    share.end();
    share.release();
  }
  assertEquals(far.active.size, 0);
});

testOnDevice("PinnedSlab gives memory whatever node is asked for", (gpu) => {
  const request = { byteLength: 2 ** 22, fenceCount: 1, name: "memory" };
  for (const node of [undefined, 0, 1, 63, 64, 1000]) {
    const slab = new PinnedSlab(gpu.context, { ...request, node });
    const bytes = bytesAt(slab.address, 2 ** 22).fill(7);
    assertEquals([bytes[0], bytes.at(-1)], [7, 7]);
    slab.dispose();
  }
});

/** Numbers of processors that no machine has. */
const ABSENT = Array.from({ length: 20 }, (_, at) => 900 + at);

if (Deno.build.os === "linux") {
  const [one, other] = coresIn(OWN_SYSTEM.allowed() ?? new Uint8Array(0));
  for (const size of shareOf(GROUP_SIZES)) {
    Deno.test(`lanes of ${size} devices at two nodes keep to these, and move what they should`, {
      ignore: other === undefined,
    }, async () => {
      using folder = new TemporaryFolder();
      const random = new Random(size);
      const driver = driverFor(size);
      await withDevices(size, async (gpus) => {
        const ids = gpus.map(({ context: { driver, deviceHandle } }) =>
          busIdOf(driver, deviceHandle).toLowerCase()
        );
        const system = systemIn(folder.path, {
          // The system knows no processors of these numbers, and leaves them out.
          nodes: new Map([[0, `${one},900-909`], [1, `${other},910-919`]]),
          devices: new Map(ids.map((id, rank) => [id, rank % 2])),
          allowed: [one ?? 0, other ?? 0, ...ABSENT],
        });
        const engines = gpus.map(({ context }) =>
          adoptEngine(context, new TransferEngine(context, SMALL_SLOTS, { system }))
        );
        await Promise.all(engines.map((engine) => engine.runLanes()));
        const bound = boundThreads();
        for (const [at, core] of [one, other].slice(0, size).entries()) {
          assert((bound.get(`${core}`) ?? 0) > 0, `no lane of node ${at} keeps to ${core}`);
        }
        for (let round = 0; round < 10; round++) {
          const arrays = gpus.map((_, rank) => patternBytes(1 + random.below(100_000), rank));
          await Promise.all(gpus.map(async (gpu, rank) => {
            const array = arrays[rank] ?? new Uint8Array(1);
            using buffer = gpu.alloc("uint8", array.length);
            const up = buffer.upload(array);
            const down = buffer.download();
            await up;
            assertSameBytes(await down, array);
          }));
        }
      }, { driver });
    });
  }
}

/** Numbers of this process's threads that may use one processor only, by that. */
function boundThreads(): Map<string, number> {
  const bound = new Map<string, number>();
  for (const { name } of Deno.readDirSync("/proc/self/task")) {
    try {
      const status = Deno.readTextFileSync(`/proc/self/task/${name}/status`);
      const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? "";
      if (/^\d+$/.test(list)) bound.set(list, (bound.get(list) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // a thread that has ended
    }
  }
  return bound;
}
