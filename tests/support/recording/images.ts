// The kernels of recordings, as PTX for a real driver and as functions for the simulated one, and
// images that no driver can load. One thread does all the work, so that every launch does the same.

import type { SimulatedKernel, SimulatedLaunch } from "../../../ffi/simulated/driver.ts";

/** The start of a kernel: registers, and the end of every thread but the first. */
const ONE_THREAD = `  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  or.b32 %r3, %r1, %r2;
  mov.u32 %r1, %tid.y;
  or.b32 %r3, %r3, %r1;
  mov.u32 %r1, %tid.z;
  or.b32 %r3, %r3, %r1;
  mov.u32 %r1, %ctaid.y;
  or.b32 %r3, %r3, %r1;
  mov.u32 %r1, %ctaid.z;
  or.b32 %r3, %r3, %r1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra DONE;
`;

const PTX = `.version 7.0
.target sm_70
.address_size 64

.visible .entry fill(.param .u64 target, .param .u32 value, .param .u32 count)
{
${ONE_THREAD}  ld.param.u64 %rd1, [target];
  ld.param.u32 %r4, [value];
  ld.param.u32 %r5, [count];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r6, 0;
LOOP:
  setp.ge.u32 %p2, %r6, %r5;
  @%p2 bra DONE;
  st.global.u8 [%rd1], %r4;
  add.u64 %rd1, %rd1, 1;
  add.u32 %r6, %r6, 1;
  bra LOOP;
DONE:
  ret;
}

.visible .entry move(.param .u64 target, .param .u64 source, .param .u32 count)
{
${ONE_THREAD}  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [source];
  ld.param.u32 %r5, [count];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r6, 0;
LOOP:
  setp.ge.u32 %p2, %r6, %r5;
  @%p2 bra DONE;
  ld.global.u8 %r7, [%rd2];
  st.global.u8 [%rd1], %r7;
  add.u64 %rd1, %rd1, 1;
  add.u64 %rd2, %rd2, 1;
  add.u32 %r6, %r6, 1;
  bra LOOP;
DONE:
  ret;
}

.visible .entry nothing()
{
  ret;
}
`;

/** Images by name, each with a zero byte at its end; `kernels` is the only good one. */
export const IMAGES: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  kernels: text(PTX),
  empty: text(""),
  words: text("these words are no program"),
  source: text('extern "C" __global__ void f() {}'),
  comment: text("// nothing but a comment\n"),
  versionless: text(".target sm_70\n.address_size 64\n"),
  targetless: text(".version 7.0\n"),
  bare: text(".version 7.0\n.target sm_70\n.address_size 64\n"),
  future: text(".version 42.0\n.target sm_70\n.address_size 64\n"),
  stranger: text(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { fly; }\n"),
  elf: binary([0x7f, 0x45, 0x4c, 0x46]),
  fatbin: binary([0x50, 0xed, 0x55, 0xba]),
  zeros: binary([]),
};

/** The kernels of the image `kernels`, for the simulated driver. */
export const SIMULATED_KERNELS: Readonly<Record<string, SimulatedKernel>> = {
  fill: {
    parameterBytes: [8, 4, 4],
    run(launch) {
      const [target, value, count] = parametersOf(launch);
      launch.write(target, new Uint8Array(Number(count)).fill(Number(value)));
    },
  },
  move: {
    parameterBytes: [8, 8, 4],
    run(launch) {
      const [target, source, count] = parametersOf(launch);
      launch.write(target, launch.read(source, Number(count)));
    },
  },
  nothing: { parameterBytes: [], run() {} },
};

function parametersOf({ parameters }: SimulatedLaunch): [bigint, bigint, bigint] {
  const read = (view: DataView | undefined): bigint => {
    if (view === undefined) return 0n;
    return view.byteLength === 8 ? view.getBigUint64(0, true) : BigInt(view.getUint32(0, true));
  };
  return [read(parameters[0]), read(parameters[1]), read(parameters[2])];
}

function text(words: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${words}\0`);
}

function binary(start: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4096);
  bytes.set(start);
  return bytes;
}
