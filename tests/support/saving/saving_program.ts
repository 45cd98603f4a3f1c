// Saves one model again and again, to be killed or raced: all its bytes have the value that its metadata
// tell, so that half of one, or two mixed, would show. Prints "saving" before each; 0 ROUNDS have no end:
// `deno run -A saving_program.ts PATH BYTES FIRST STEP ROUNDS [inPlace]`.

import { openDevice } from "../program_device.ts";

/** Tensors of one model: two large ones, and small ones that share slots. */
const SHARES = [0.4, 0.4, ...Array.from({ length: 20 }, () => 0.01)];

if (import.meta.main) {
  const [path = "", byteLength = "", first = "", step = "", rounds = "", how = ""] = Deno.args;
  using gpu = openDevice();
  using memory = new DisposableStack();
  const tensors = SHARES.map((share, i) => {
    const buffer = memory.use(gpu.alloc("uint8", Math.round(share * Number(byteLength))));
    return [`t${i}`, buffer] as const;
  });
  const inPlace = how === "inPlace";
  for (let round = 0; Number(rounds) === 0 || round < Number(rounds); round++) {
    const value = (Number(first) + round * Number(step)) % 240; // of 2 or 3 writers each keeps its own
    for (const [, buffer] of tensors) buffer.fill(value);
    console.log("saving");
    await gpu.saveSafetensors(path, tensors, { metadata: { value: String(value) }, inPlace });
  }
}
