// Whether a file that saving_program.ts wrote is a whole model, without the kit's own reader.

/** A whole model of one value, or what is wrong with the file. */
export type Verdict = { readonly value: number } | { readonly problem: string };

/** Looks at every byte of a file. */
function judgeModel(bytes: Uint8Array<ArrayBuffer>): Verdict {
  if (bytes.byteLength < 8) return { problem: `it has ${bytes.byteLength} bytes` };
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  if (length === 0 || length > bytes.byteLength - 8) {
    return { problem: `a header of ${length} bytes` };
  }
  const { __metadata__: { value }, ...tensors } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length)),
  );
  const ends = Object.values<{ data_offsets: [number, number] }>(tensors)
    .map(({ data_offsets: [, end] }) => end);
  const data = bytes.subarray(8 + length);
  const wanted = Math.max(...ends);
  if (data.byteLength !== wanted) return { problem: `${data.byteLength} bytes of ${wanted}` };
  let other = 0;
  while (other < wanted && data[other] === Number(value)) other++;
  if (other < wanted) return { problem: `byte ${other} is ${data[other]}, expected ${value}` };
  return { value: Number(value) };
}

/** The same for a file. */
export function judgeFile(path: string): Verdict {
  return judgeModel(Deno.readFileSync(path));
}
