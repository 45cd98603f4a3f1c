// Addresses on the web where a file is expected: the message says what takes them.

import { assertEquals, assertRejects } from "@std/assert";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { testOnDevice, withDevice } from "../../support/with_device.ts";

const ADDRESS = "https://example.com/model.safetensors";

testOnDevice("CudaDevice.uploadFile() says what takes an address on the web", async (gpu) => {
  const message = `Cannot upload ${ADDRESS}: expected a file; gpu.from(await fetch(url)) takes`;
  await assertRejects(() => gpu.uploadFile(ADDRESS), TypeError, message);
  await assertRejects(() => gpu.uploadFile(new URL(ADDRESS)), TypeError, message);
  await assertRejects(() => gpu.uploadFile("HTTP://example.com/a"), TypeError, "expected a file");
});

testOnDevice("CudaDevice.loadSafetensors() takes no list of web addresses", async (gpu) => {
  const message = `Cannot use ${ADDRESS} as a path: it is an address of the web`;
  await assertRejects(() => gpu.loadSafetensors([new URL(ADDRESS)]), TypeError, message);
});

Deno.test("CudaDevice.uploadFile() takes files whose names only look like addresses", async () => {
  using folder = new TemporaryFolder();
  const path = folder.write("https:", Uint8Array.of(1));
  await withDevice(async (gpu) => {
    using buffer = await gpu.uploadFile(path);
    assertEquals(buffer.length, 1);
  });
});
