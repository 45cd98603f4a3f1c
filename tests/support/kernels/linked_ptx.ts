// A kernel in PTX that calls a function of another piece, and that piece: they have to be linked.

const HEAD = `.version 7.0
.target sm_52
.address_size 64
`;

/** The kernel `apply(to, value)`: writes what the function `change` makes of a value. */
export const CALLER_PTX = `${HEAD}
.extern .func (.param .b32 result) change(.param .b32 given);

.visible .entry apply(
  .param .u64 apply_to,
  .param .u32 apply_value
)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [apply_to];
  ld.param.u32 %r1, [apply_value];
  cvta.to.global.u64 %rd2, %rd1;
  {
    .param .b32 given;
    .param .b32 result;
    st.param.b32 [given], %r1;
    call.uni (result), change, (given);
    ld.param.b32 %r2, [result];
  }
  st.global.u32 [%rd2], %r2;
  ret;
}
`;

/** The function: multiplies by a factor. */
export function changePtx(factor: number): string {
  return `${HEAD}
.visible .func (.param .b32 result) change(.param .b32 given)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [given];
  mul.lo.s32 %r2, %r1, ${factor};
  st.param.b32 [result], %r2;
  ret;
}
`;
}

/** The kernel in JavaScript, for a simulated driver: that links nothing, so the factor is fixed. */
export const APPLY_KERNEL = {
  run(launch: {
    parameters: readonly DataView[];
    write(address: bigint, bytes: Uint8Array): void;
  }): void {
    const [to, value] = launch.parameters;
    const result = Uint32Array.of(2 * (value?.getUint32(0, true) ?? 0));
    launch.write(to?.getBigUint64(0, true) ?? 0n, new Uint8Array(result.buffer));
  },
};
