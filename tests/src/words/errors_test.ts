// Checks the fields and words of the errors.

import { assertEquals } from "@std/assert";
import {
  CudaError,
  CudaUnavailableError,
  DisposedError,
  isOutOfMemory,
  MemoryLimitError,
  OutOfMemoryError,
  statusName,
} from "../../../src/words/errors.ts";
import { Parts } from "../../../src/words/parts.ts";
import type { MemoryAmounts } from "../../../src/words/shortage.ts";

const AMOUNTS = {
  ordinal: 1,
  requestedBytes: 8 * 2 ** 30,
  freeBytes: 2 ** 30,
  totalBytes: 80 * 2 ** 30,
  liveBytes: 71 * 2 ** 30,
  liveCount: 14,
  largest: [{ name: "weights", byteLength: 40 * 2 ** 30 }, { name: "device#7", byteLength: 1 }],
};

function outOfMemory(
  amounts: MemoryAmounts,
  cause?: CudaError | MemoryLimitError,
): OutOfMemoryError {
  return new OutOfMemoryError(new Parts({ amounts, cause }));
}

const SHORTAGE = new CudaError("no memory", { code: 2, call: "cuMemAlloc_v2" });

Deno.test("statusName() spells a code as the header does", () => {
  assertEquals([statusName(2), statusName(700)], [
    "CUDA_ERROR_OUT_OF_MEMORY",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
  ]);
});

Deno.test("statusName() says when a code is unknown", () => {
  assertEquals(statusName(123456), "CUDA_ERROR_UNLISTED");
});

Deno.test("CudaError carries the call, the code and its name", () => {
  const error = new CudaError("message", { code: 1, call: "cuMemFree_v2" });
  assertEquals([error.call, error.code, error.codeName, error.name], [
    "cuMemFree_v2",
    1,
    "CUDA_ERROR_INVALID_VALUE",
    "CudaError",
  ]);
  assertEquals("cause" in error, false);
});

Deno.test("CudaError carries the first error of a broken context as its cause", () => {
  const first = new Error("first");
  assertEquals(
    new CudaError("later", { code: 1, call: "cuMemFree_v2", cause: first }).cause,
    first,
  );
});

Deno.test("OutOfMemoryError says all amounts and the largest buffer", () => {
  assertEquals(
    outOfMemory(AMOUNTS, SHORTAGE).message,
    "Cannot allocate 8 GiB on device 1: CUDA_ERROR_OUT_OF_MEMORY (2), 1 GiB of 80 GiB free, " +
      "71 GiB in 14 live buffers (largest: weights 40 GiB); dispose what is no longer needed, see " +
      "gpu.live()",
  );
});

Deno.test("OutOfMemoryError says when nothing is live", () => {
  const amounts = { ...AMOUNTS, liveCount: 0, liveBytes: 0, largest: [] };
  const error = outOfMemory(amounts);
  assertEquals(error.message.includes("1 GiB of 80 GiB free, no live buffers; "), true);
  assertEquals(error.largestLive, undefined);
});

Deno.test("OutOfMemoryError has the amounts as fields, and the error of the driver as its cause", () => {
  const error = outOfMemory(AMOUNTS, SHORTAGE);
  assertEquals(error instanceof CudaError, false);
  const { requestedBytes, freeBytes, totalBytes, liveBytes, largest } = AMOUNTS;
  assertEquals(
    [error.requestedBytes, error.freeBytes, error.totalBytes, error.liveBytes, error.largest],
    [requestedBytes, freeBytes, totalBytes, liveBytes, largest],
  );
  assertEquals([error.cause, error.name, error.largestLive?.name], [
    SHORTAGE,
    "OutOfMemoryError",
    "weights",
  ]);
});

Deno.test("OutOfMemoryError names no status when a limit does not allow the request", () => {
  const refusal = { requestedBytes: 2 ** 30, heldBytes: 2 ** 20, limitBytes: 2 ** 29 };
  const cause = new MemoryLimitError("gpu.limit()", refusal);
  assertEquals(
    cause.message,
    "Cannot allocate 1 GiB: 1 MiB of the 512 MiB that gpu.limit() allows are held",
  );
  assertEquals([cause.holder, cause.limitBytes, cause instanceof CudaError], [
    "gpu.limit()",
    2 ** 29,
    false,
  ]);
  const { message } = outOfMemory(AMOUNTS, cause);
  assertEquals(message.startsWith("Cannot allocate 8 GiB on device 1: out of memory, 1 GiB"), true);
});

Deno.test("isOutOfMemory() knows the driver's status, limits, and what explains them", () => {
  const refusal = { requestedBytes: 1, heldBytes: 0, limitBytes: 0 };
  const errors = [SHORTAGE, new MemoryLimitError("x", refusal), outOfMemory(AMOUNTS)];
  assertEquals(errors.map(isOutOfMemory), [true, true, true]);
  const other = new CudaError("other", { code: 1, call: "cuMemAlloc_v2" });
  assertEquals([other, new Error("out of memory")].map(isOutOfMemory), [false, false]);
});

Deno.test("DisposedError names the object", () => {
  const error = new DisposedError("DeviceBuffer(x, float32[2, 3])");
  assertEquals(error.message, "Cannot use DeviceBuffer(x, float32[2, 3]): it was disposed");
  assertEquals(error.name, "DisposedError");
});

Deno.test("CudaUnavailableError carries the reason", () => {
  const error = new CudaUnavailableError("no-device", "message");
  assertEquals([error.reason, error.name], ["no-device", "CudaUnavailableError"]);
});
