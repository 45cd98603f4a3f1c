// Writes of files while threads that were lent to earlier ones have not come back.

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { DeviceBuffer } from "../../../src/buffers/device_buffer.ts";
import { defaultStreamOf } from "../../../src/order/stream.ts";
import { writeInto } from "../../../src/transfer/gathered_transfer.ts";
import { type FileTarget, produceFile } from "../../../src/transfer/produce_file.ts";
import { BusyThreads } from "../../support/busy_threads.ts";
import { patternBytes } from "../../support/contents.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice } from "../../support/with_device.ts";

/** So many bytes are written on another thread. */
const LATE_BYTES = 4 * 2 ** 20;

/** Writes a file in the order of a buffer's uses, by a thread that is late. */
async function writeLate(
  buffer: DeviceBuffer,
  target: Pick<FileTarget, "path" | "inPlace" | "signal">,
): Promise<void> {
  const { span, context } = buffer;
  const uses = [{ ...span, access: "read", stream: defaultStreamOf(context) } as const];
  const bytes = new Uint8Array(LATE_BYTES);
  await produceFile(
    { ...target, byteLength: LATE_BYTES, uses },
    (file) => writeInto(file, bytes, 0),
  );
}

/** Checks that a call that blocks, behind a write whose turn has not come, asks for the event loop. */
async function assertNeedsTurns(busy: BusyThreads, buffer: DeviceBuffer): Promise<void> {
  await using _busy = busy; // until the call was refused
  assertThrows(
    () => buffer.uploadSync(patternBytes(100, 1)),
    TypeError,
    "needs the event loop",
  );
}

testOnDevice(
  "a call that blocks refuses to wait for threads of a save that was aborted",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const path = folder.pathOf("file");
    using buffer = await gpu.upload(patternBytes(100));
    const controller = new AbortController();
    const busy = new BusyThreads();
    const { signal } = controller;
    const aborted = assertRejects(() => writeLate(buffer, { path, signal }), DOMException);
    const saving = buffer.writeFile(path);
    await undefined; // the first write has begun
    controller.abort();
    await assertNeedsTurns(busy, buffer);
    await Promise.all([aborted, saving]);
    assertEquals(Deno.readFileSync(path), patternBytes(100));
  },
);

testOnDevice(
  "a call that blocks refuses to wait for threads that write a file of two names",
  async (gpu) => {
    using folder = new TemporaryFolder();
    const [path, other] = [folder.pathOf("file"), folder.pathOf("other")];
    Deno.writeFileSync(path, new Uint8Array());
    Deno.linkSync(path, other);
    using buffer = await gpu.upload(patternBytes(100));
    const busy = new BusyThreads();
    const late = writeLate(buffer, { path, inPlace: true });
    const saving = buffer.writeFile(other, { inPlace: true });
    await undefined; // the first write has begun
    await assertNeedsTurns(busy, buffer);
    await Promise.all([late, saving]);
    assertEquals(Deno.readFileSync(path), patternBytes(100));
  },
);
