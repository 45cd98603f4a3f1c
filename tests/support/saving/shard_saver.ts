// Saves one model in several files again and again, to be killed. All bytes have the value of the round.
// Prints "saving" before each: `deno run -A shard_saver.ts PATH BYTES FIRST`.

import { openDevice } from "../program_device.ts";

/** Tensors of one model: each is a file of its own. */
const TENSOR_COUNT = 6;

if (import.meta.main) {
  const [path = "", byteLength = "", first = ""] = Deno.args;
  using gpu = openDevice();
  using memory = new DisposableStack();
  const tensors = Array.from({ length: TENSOR_COUNT }, (_, i) => {
    return [`t${i}`, memory.use(gpu.alloc("uint8", Number(byteLength) / TENSOR_COUNT))] as const;
  });
  for (let value = Number(first);; value = (value + 1) % 250) {
    for (const [, buffer] of tensors) buffer.fill(value);
    console.log("saving");
    const metadata = { value: String(value) };
    await gpu.saveSafetensors(path, tensors, {
      metadata,
      shardSize: Number(byteLength) / TENSOR_COUNT,
    });
  }
}
