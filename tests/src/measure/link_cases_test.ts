// The links of several devices: which fields are measured, what is waived, that wrong bytes are noticed,
// and the result as JSON, as nvbandwidth's document and as a card.

import {
  assert,
  assertEquals,
  assertGreater,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { simulateDriver } from "../../../ffi/simulated/driver.ts";
import { CudaDevice } from "../../../src/device/device.ts";
import { LinkBandwidthResult } from "../../../src/measure/link_bandwidth_result.ts";
import { LINK_CASES } from "../../../src/measure/link_cases.ts";
import { nvbandwidthDocument, parseNvbandwidth } from "../../../src/measure/nvbandwidth.ts";
import { DisposedError } from "../../../src/words/errors.ts";
import { cardOf } from "../../support/display.ts";
import { GROUP_SIZES, MAX_RANKS } from "../../support/group_scene.ts";
import { withDevices } from "../../support/parts_scene.ts";

const SMALL = { caseSize: 4097, sampleCount: 1 } as const;
const PAIRS = /^device_to_device/;
const WITH_OTHERS = /^(device_to_device|all_to_one|one_to_all)/;

for (const count of GROUP_SIZES.filter((size) => size < 8)) {
  Deno.test(`gpus.bandwidth() measures all links of ${count} devices, and leaves nothing`, () =>
    withDevices(count, async (gpus) => {
      const told: string[] = [];
      const { cases, devices } = await gpus.bandwidth({
        ...SMALL,
        onProgress: (done, total, { name }) => told.push(`${done}/${total} ${name}`),
      });
      assertEquals(devices, gpus.map(({ ordinal, name }) => ({ ordinal, name })));
      assertEquals(cases.map(({ name }) => name), LINK_CASES);
      assertEquals(told.at(-1), `12/12 ${LINK_CASES.at(-1)}`);
      for (const found of cases) {
        const { name, matrix, verified, byteLength, gigabytesPerSecond } = found;
        assert(verified, name);
        assertEquals(byteLength, 4097);
        assertEquals(matrix.length, PAIRS.test(name) ? count : 1, name);
        const speeds = matrix.flatMap((line, row) =>
          line.filter((speed, column) => {
            const isNone = WITH_OTHERS.test(name) &&
              (count === 1 || (PAIRS.test(name) && row === column));
            assertEquals(speed === null, isNone, `${name} ${row} ${column}`);
            return speed !== null;
          })
        );
        assertEquals(
          gigabytesPerSecond,
          speeds.reduce((sum: number, speed) => sum + (speed ?? 0), 0),
        );
        if (speeds.length > 0) assertGreater(gigabytesPerSecond, 0);
      }
    }));
}

Deno.test("gpus.bandwidth() waives pairs that do not reach each other", async () => {
  const driver = simulateDriver({ devices: 2, peerAccess: false });
  await withDevices(2, async (gpus) => {
    const result = await gpus.bandwidth({
      ...SMALL,
      cases: ["device_to_device_memcpy_read_ce", "one_to_all_read_ce", "host_to_all_memcpy_ce"],
    });
    assertEquals(result.cases[0]?.matrix, [[null, null], [null, null]]);
    assertEquals(result.cases[1]?.matrix, [[null, null]]);
    const { testcases } = nvbandwidthDocument(result).nvbandwidth;
    assertEquals(testcases.map(({ status }) => status), ["Waived", "Waived", "Passed"]);
    assertEquals(testcases[0]?.bandwidth_matrix, [["N/A", "N/A"], ["N/A", "N/A"]]);
  }, { driver });
});

Deno.test("gpus.bandwidth() says that a device was disposed meanwhile", async () => {
  const gpus = CudaDevice.all({ driver: simulateDriver() });
  const measuring = gpus.bandwidth(SMALL);
  gpus.dispose();
  await assertRejects(() => measuring, DisposedError);
});

Deno.test("gpus.bandwidth() tells a case whose bytes are wrong", async () => {
  const driver = { ...simulateDriver({ devices: 2 }), cuMemcpyPeerAsync: () => 0 };
  await withDevices(2, async (gpus) => {
    const cases = ["device_to_device_memcpy_write_ce", "host_to_device_memcpy_ce"] as const;
    const result = await gpus.bandwidth({ ...SMALL, cases });
    assertEquals(result.cases.map(({ verified }) => verified), [false, true]);
    assertStringIncludes((await cardOf(result)).text, "WRONG BYTES");
    const { testcases } = nvbandwidthDocument(result).nvbandwidth;
    assertEquals(testcases.map(({ status }) => status), ["Error", "Passed"]);
  }, { driver });
});

Deno.test("gpus.bandwidth() leaves no stream waiting when a copy cannot be queued", async () => {
  const driver = { ...simulateDriver({ devices: 2 }), cuMemcpyPeerAsync: () => 1 };
  await withDevices(2, async (gpus) => {
    const cases = ["one_to_all_write_ce"] as const;
    const error = await assertRejects(() => gpus.bandwidth({ ...SMALL, cases }));
    assertStringIncludes(`${error}`, "CUDA_ERROR_INVALID_VALUE");
    for (const gpu of gpus) await gpu.synchronize();
  }, { driver });
});

Deno.test("gpus.bandwidth() has a result that JSON stores and nvbandwidth's readers read", () =>
  withDevices(MAX_RANKS, async (gpus) => {
    const cases = ["host_to_device_memcpy_ce", "device_to_device_memcpy_read_ce"] as const;
    const result = await gpus.bandwidth({ ...SMALL, cases: MAX_RANKS > 1 ? cases : [cases[0]] });
    const again = new LinkBandwidthResult(JSON.parse(JSON.stringify(result)));
    assertEquals(again, result);
    const document = nvbandwidthDocument(again);
    assertEquals(document.nvbandwidth["GPU Device list"].length, MAX_RANKS);
    assertEquals(
      parseNvbandwidth(JSON.stringify(document)),
      new Map(result.cases.map(({ name, gigabytesPerSecond }) => [name, gigabytesPerSecond])),
    );
    const { text } = await cardOf(result);
    for (const { name } of result.cases) assertStringIncludes(text, name);
  }));

Deno.test("gpus.bandwidth() refuses what it cannot measure, and ends early", () =>
  withDevices(1, async (gpus) => {
    await assertRejects(() => gpus.bandwidth({ caseSize: 0 }), RangeError, "above 0 bytes");
    await assertRejects(() => gpus.bandwidth({ cases: [] }), RangeError, "must be one or more");
    await assertRejects(
      () => gpus.bandwidth({ sampleCount: 0.5 }),
      RangeError,
      "a whole number from 1 to",
    );
    await assertRejects(() => gpus.bandwidth({ cases: ["bisect" as never] }), TypeError, "cases");
    const signal = AbortSignal.abort(new Error("enough"));
    await assertRejects(() => gpus.bandwidth({ ...SMALL, signal }), Error, "enough");
  }));

Deno.test("gpus.bandwidth() tells both directions of a bidirectional case, whose sums are the matrix", async () => {
  const driver = simulateDriver({ devices: 3 });
  await withDevices(3, async (gpus) => {
    const cases = ["device_to_device_bidirectional_memcpy_write_ce"] as const;
    const result = await gpus.bandwidth({ ...SMALL, cases });
    const [found] = result.cases;
    const { directions = [], matrix = [] } = found ?? {};
    assertEquals(directions.length, 2);
    const sums = matrix.map((line, row) =>
      line.map((speed, column) => {
        const [into, out] = directions.map((each) => each[row]?.[column] ?? null);
        if (row === column) assertEquals([into, out, speed], [null, null, null]);
        return speed === null ? null : (into ?? 0) + (out ?? 0);
      })
    );
    assertEquals(sums, matrix);
    assertEquals(new LinkBandwidthResult(JSON.parse(JSON.stringify(result))).cases, result.cases);
    const rows = nvbandwidthDocument(result).nvbandwidth.testcases[0]?.bandwidth_matrix ?? [];
    assertEquals(rows.length, 9); // as nvbandwidth writes them: one direction, the other, and the sums
    assertEquals(rows[0]?.[1], `${Number((directions[0]?.[0]?.[1] ?? 0).toPrecision(6))}`);
    assertStringIncludes(
      (await cardOf(result)).text,
      "device_to_device_bidirectional_memcpy_write_ce_write2",
    );
  }, { driver });
});
