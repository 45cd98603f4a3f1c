// Checks the words for a lack of memory: the hint that fits each situation.

import { assertEquals } from "@std/assert";
import { formatHolders, formatNeed, hintFor, otherBytesOf } from "../../../src/words/shortage.ts";

const GIB = 2 ** 30;

const FULL = {
  ordinal: 0,
  requestedBytes: 8 * GIB,
  freeBytes: GIB,
  totalBytes: 80 * GIB,
  liveBytes: 70 * GIB,
  liveCount: 2,
  cachedBytes: 0,
  largest: [{ name: "weights", byteLength: 40 * GIB }],
};

const DISPOSE = "dispose what is no longer needed, see gpu.live()";

Deno.test("hintFor() names the limit when that is in the way", () => {
  const amounts = { ...FULL, freeBytes: 40 * GIB, liveBytes: GIB, limitBytes: 2 * GIB };
  assertEquals(hintFor(amounts), `raise gpu.limit(), or ${DISPOSE}`);
  assertEquals(formatHolders(amounts).includes("limited to 2 GiB"), true);
});

Deno.test("hintFor() says that a request is larger than the device", () => {
  const amounts = { ...FULL, requestedBytes: 81 * GIB };
  assertEquals(hintFor(amounts), "it is more than the device has: split it");
});

Deno.test("hintFor() names fragmentation when enough is free", () => {
  assertEquals(
    hintFor({ ...FULL, freeBytes: 9 * GIB, isHalfThere: true }),
    "enough is free, but in pieces: allocate the largest buffers first",
  );
  for (const isHalfThere of [false, undefined]) {
    const amounts = { ...FULL, freeBytes: 9 * GIB, ...isHalfThere === false && { isHalfThere } };
    assertEquals(hintFor(amounts).startsWith("the driver refuses it although enough seems"), true);
  }
});

Deno.test("hintFor() names caches that keep enough", () => {
  assertEquals(
    hintFor({ ...FULL, liveBytes: 60 * GIB, cachedBytes: 10 * GIB }),
    `caches keep 10 GiB that is partly in use: ${DISPOSE}`,
  );
});

Deno.test("hintFor() names other programs when they hold most", () => {
  assertEquals(
    hintFor({ ...FULL, liveBytes: GIB, liveCount: 1 }),
    "other programs hold 78 GiB, see nvidia-smi",
  );
  const persisted = { byteLength: 70 * GIB, pid: 7 };
  const amounts = { ...FULL, liveBytes: GIB, liveCount: 1, persisted };
  assertEquals(
    hintFor(amounts),
    "gpu.forget() persisted memory that is no longer needed, see gpu.persisted()",
  );
  assertEquals(
    formatHolders(amounts).endsWith(", 70 GiB persisted by the keeper, process 7"),
    true,
  );
  assertEquals(hintFor({ ...FULL, persisted }), DISPOSE);
});

Deno.test("hintFor() asks to dispose when this program holds most", () => {
  assertEquals(hintFor(FULL), DISPOSE);
});

Deno.test("hintFor() speaks of locked memory for memory of the host", () => {
  const amounts = { ...FULL, place: "host" as const };
  assertEquals(formatNeed(amounts), "8 GiB of page-locked host memory");
  assertEquals(formatHolders(amounts), "70 GiB in 2 live buffers (largest: weights 40 GiB)");
  assertEquals(hintFor(amounts), `${DISPOSE}, or raise the system's limit on locked memory`);
});

Deno.test("otherBytesOf() is what nobody here accounts for, and never negative", () => {
  assertEquals(otherBytesOf(FULL), 9 * GIB);
  assertEquals(otherBytesOf({ ...FULL, liveBytes: 90 * GIB }), 0);
});
