// The PTX of ready_source.ts, written by `deno task kernels`; a test compares the two.

/** The text. */
export const READY_PTX = `.version 7.0
.target sm_52
.address_size 64

	// .globl	vramkit_iota_u8

.visible .entry vramkit_iota_u8(
	.param .u64 vramkit_iota_u8_param_0,
	.param .u64 vramkit_iota_u8_param_1,
	.param .u64 vramkit_iota_u8_param_2,
	.param .u64 vramkit_iota_u8_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<18>;


	ld.param.u64 	%rd7, [vramkit_iota_u8_param_0];
	ld.param.u64 	%rd8, [vramkit_iota_u8_param_1];
	ld.param.u64 	%rd9, [vramkit_iota_u8_param_2];
	ld.param.u64 	%rd10, [vramkit_iota_u8_param_3];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd1, %r2;
	mul.wide.u32 	%rd11, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd12, %r3;
	add.s64 	%rd17, %rd11, %rd12;
	setp.ge.u64 	%p1, %rd17, %rd8;
	@%p1 bra 	$L__BB0_3;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd13, %r4;
	mul.lo.s64 	%rd3, %rd13, %rd1;
	cvta.to.global.u64 	%rd4, %rd7;

$L__BB0_2:
	mul.lo.s64 	%rd14, %rd17, %rd10;
	add.s64 	%rd15, %rd14, %rd9;
	add.s64 	%rd16, %rd4, %rd17;
	st.global.u8 	[%rd16], %rd15;
	add.s64 	%rd17, %rd17, %rd3;
	setp.lt.u64 	%p2, %rd17, %rd8;
	@%p2 bra 	$L__BB0_2;

$L__BB0_3:
	ret;

}
	// .globl	vramkit_iota_u16
.visible .entry vramkit_iota_u16(
	.param .u64 vramkit_iota_u16_param_0,
	.param .u64 vramkit_iota_u16_param_1,
	.param .u64 vramkit_iota_u16_param_2,
	.param .u64 vramkit_iota_u16_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<19>;


	ld.param.u64 	%rd7, [vramkit_iota_u16_param_0];
	ld.param.u64 	%rd8, [vramkit_iota_u16_param_1];
	ld.param.u64 	%rd9, [vramkit_iota_u16_param_2];
	ld.param.u64 	%rd10, [vramkit_iota_u16_param_3];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd1, %r2;
	mul.wide.u32 	%rd11, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd12, %r3;
	add.s64 	%rd18, %rd11, %rd12;
	setp.ge.u64 	%p1, %rd18, %rd8;
	@%p1 bra 	$L__BB1_3;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd13, %r4;
	mul.lo.s64 	%rd3, %rd13, %rd1;
	cvta.to.global.u64 	%rd4, %rd7;

$L__BB1_2:
	mul.lo.s64 	%rd14, %rd18, %rd10;
	add.s64 	%rd15, %rd14, %rd9;
	shl.b64 	%rd16, %rd18, 1;
	add.s64 	%rd17, %rd4, %rd16;
	st.global.u16 	[%rd17], %rd15;
	add.s64 	%rd18, %rd18, %rd3;
	setp.lt.u64 	%p2, %rd18, %rd8;
	@%p2 bra 	$L__BB1_2;

$L__BB1_3:
	ret;

}
	// .globl	vramkit_iota_u32
.visible .entry vramkit_iota_u32(
	.param .u64 vramkit_iota_u32_param_0,
	.param .u64 vramkit_iota_u32_param_1,
	.param .u64 vramkit_iota_u32_param_2,
	.param .u64 vramkit_iota_u32_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<19>;


	ld.param.u64 	%rd7, [vramkit_iota_u32_param_0];
	ld.param.u64 	%rd8, [vramkit_iota_u32_param_1];
	ld.param.u64 	%rd9, [vramkit_iota_u32_param_2];
	ld.param.u64 	%rd10, [vramkit_iota_u32_param_3];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd1, %r2;
	mul.wide.u32 	%rd11, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd12, %r3;
	add.s64 	%rd18, %rd11, %rd12;
	setp.ge.u64 	%p1, %rd18, %rd8;
	@%p1 bra 	$L__BB2_3;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd13, %r4;
	mul.lo.s64 	%rd3, %rd13, %rd1;
	cvta.to.global.u64 	%rd4, %rd7;

$L__BB2_2:
	mul.lo.s64 	%rd14, %rd18, %rd10;
	add.s64 	%rd15, %rd14, %rd9;
	shl.b64 	%rd16, %rd18, 2;
	add.s64 	%rd17, %rd4, %rd16;
	st.global.u32 	[%rd17], %rd15;
	add.s64 	%rd18, %rd18, %rd3;
	setp.lt.u64 	%p2, %rd18, %rd8;
	@%p2 bra 	$L__BB2_2;

$L__BB2_3:
	ret;

}
	// .globl	vramkit_iota_u64
.visible .entry vramkit_iota_u64(
	.param .u64 vramkit_iota_u64_param_0,
	.param .u64 vramkit_iota_u64_param_1,
	.param .u64 vramkit_iota_u64_param_2,
	.param .u64 vramkit_iota_u64_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<19>;


	ld.param.u64 	%rd7, [vramkit_iota_u64_param_0];
	ld.param.u64 	%rd8, [vramkit_iota_u64_param_1];
	ld.param.u64 	%rd9, [vramkit_iota_u64_param_2];
	ld.param.u64 	%rd10, [vramkit_iota_u64_param_3];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd1, %r2;
	mul.wide.u32 	%rd11, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd12, %r3;
	add.s64 	%rd18, %rd11, %rd12;
	setp.ge.u64 	%p1, %rd18, %rd8;
	@%p1 bra 	$L__BB3_3;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd13, %r4;
	mul.lo.s64 	%rd3, %rd13, %rd1;
	cvta.to.global.u64 	%rd4, %rd7;

$L__BB3_2:
	mul.lo.s64 	%rd14, %rd18, %rd10;
	add.s64 	%rd15, %rd14, %rd9;
	shl.b64 	%rd16, %rd18, 3;
	add.s64 	%rd17, %rd4, %rd16;
	st.global.u64 	[%rd17], %rd15;
	add.s64 	%rd18, %rd18, %rd3;
	setp.lt.u64 	%p2, %rd18, %rd8;
	@%p2 bra 	$L__BB3_2;

$L__BB3_3:
	ret;

}
	// .globl	vramkit_iota_f32
.visible .entry vramkit_iota_f32(
	.param .u64 vramkit_iota_f32_param_0,
	.param .u64 vramkit_iota_f32_param_1,
	.param .f64 vramkit_iota_f32_param_2,
	.param .f64 vramkit_iota_f32_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<2>;
	.reg .b32 	%r<5>;
	.reg .f64 	%fd<6>;
	.reg .b64 	%rd<15>;


	ld.param.u64 	%rd7, [vramkit_iota_f32_param_0];
	ld.param.u64 	%rd8, [vramkit_iota_f32_param_1];
	ld.param.f64 	%fd1, [vramkit_iota_f32_param_2];
	ld.param.f64 	%fd2, [vramkit_iota_f32_param_3];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd1, %r2;
	mul.wide.u32 	%rd9, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd10, %r3;
	add.s64 	%rd14, %rd9, %rd10;
	setp.ge.u64 	%p1, %rd14, %rd8;
	@%p1 bra 	$L__BB4_3;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd11, %r4;
	mul.lo.s64 	%rd3, %rd11, %rd1;
	cvta.to.global.u64 	%rd4, %rd7;

$L__BB4_2:
	cvt.rn.f64.u64 	%fd3, %rd14;
	mul.rn.f64 	%fd4, %fd3, %fd2;
	add.rn.f64 	%fd5, %fd1, %fd4;
	cvt.rn.f32.f64 	%f1, %fd5;
	shl.b64 	%rd12, %rd14, 2;
	add.s64 	%rd13, %rd4, %rd12;
	st.global.f32 	[%rd13], %f1;
	add.s64 	%rd14, %rd14, %rd3;
	setp.lt.u64 	%p2, %rd14, %rd8;
	@%p2 bra 	$L__BB4_2;

$L__BB4_3:
	ret;

}
	// .globl	vramkit_iota_f64
.visible .entry vramkit_iota_f64(
	.param .u64 vramkit_iota_f64_param_0,
	.param .u64 vramkit_iota_f64_param_1,
	.param .f64 vramkit_iota_f64_param_2,
	.param .f64 vramkit_iota_f64_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .f64 	%fd<6>;
	.reg .b64 	%rd<15>;


	ld.param.u64 	%rd7, [vramkit_iota_f64_param_0];
	ld.param.u64 	%rd8, [vramkit_iota_f64_param_1];
	ld.param.f64 	%fd1, [vramkit_iota_f64_param_2];
	ld.param.f64 	%fd2, [vramkit_iota_f64_param_3];
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd1, %r2;
	mul.wide.u32 	%rd9, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd10, %r3;
	add.s64 	%rd14, %rd9, %rd10;
	setp.ge.u64 	%p1, %rd14, %rd8;
	@%p1 bra 	$L__BB5_3;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd11, %r4;
	mul.lo.s64 	%rd3, %rd11, %rd1;
	cvta.to.global.u64 	%rd4, %rd7;

$L__BB5_2:
	cvt.rn.f64.u64 	%fd3, %rd14;
	mul.rn.f64 	%fd4, %fd3, %fd2;
	add.rn.f64 	%fd5, %fd1, %fd4;
	shl.b64 	%rd12, %rd14, 3;
	add.s64 	%rd13, %rd4, %rd12;
	st.global.f64 	[%rd13], %fd5;
	add.s64 	%rd14, %rd14, %rd3;
	setp.lt.u64 	%p2, %rd14, %rd8;
	@%p2 bra 	$L__BB5_2;

$L__BB5_3:
	ret;

}
	// .globl	vramkit_first_difference
.visible .entry vramkit_first_difference(
	.param .u64 vramkit_first_difference_param_0,
	.param .u64 vramkit_first_difference_param_1,
	.param .u64 vramkit_first_difference_param_2,
	.param .u64 vramkit_first_difference_param_3
)
{
	.reg .pred 	%p<8>;
	.reg .b16 	%rs<3>;
	.reg .b32 	%r<17>;
	.reg .b64 	%rd<48>;


	ld.param.u64 	%rd20, [vramkit_first_difference_param_0];
	ld.param.u64 	%rd21, [vramkit_first_difference_param_1];
	ld.param.u64 	%rd19, [vramkit_first_difference_param_2];
	ld.param.u64 	%rd22, [vramkit_first_difference_param_3];
	cvta.to.global.u64 	%rd1, %rd22;
	cvta.to.global.u64 	%rd2, %rd21;
	cvta.to.global.u64 	%rd3, %rd20;
	or.b64  	%rd23, %rd21, %rd20;
	and.b64  	%rd24, %rd23, 7;
	setp.eq.s64 	%p1, %rd24, 0;
	@%p1 bra 	$L__BB6_2;

	mov.u64 	%rd46, 0;
	bra.uni 	$L__BB6_8;

$L__BB6_2:
	mov.u32 	%r1, %ctaid.x;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd4, %r2;
	mul.wide.u32 	%rd26, %r1, %r2;
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd27, %r3;
	add.s64 	%rd45, %rd26, %rd27;
	shr.u64 	%rd6, %rd19, 3;
	setp.ge.u64 	%p2, %rd45, %rd6;
	@%p2 bra 	$L__BB6_7;

	mov.u32 	%r4, %nctaid.x;
	cvt.u64.u32 	%rd28, %r4;
	mul.lo.s64 	%rd7, %rd28, %rd4;

$L__BB6_4:
	shl.b64 	%rd29, %rd45, 3;
	add.s64 	%rd30, %rd3, %rd29;
	add.s64 	%rd31, %rd2, %rd29;
	ld.global.u64 	%rd32, [%rd31];
	ld.global.u64 	%rd33, [%rd30];
	xor.b64  	%rd9, %rd32, %rd33;
	setp.eq.s64 	%p3, %rd9, 0;
	@%p3 bra 	$L__BB6_6;
	bra.uni 	$L__BB6_5;

$L__BB6_6:
	add.s64 	%rd45, %rd45, %rd7;
	setp.lt.u64 	%p4, %rd45, %rd6;
	@%p4 bra 	$L__BB6_4;
	bra.uni 	$L__BB6_7;

$L__BB6_5:
	neg.s64 	%rd35, %rd9;
	and.b64  	%rd36, %rd9, %rd35;
	clz.b64 	%r5, %rd36;
	mov.u32 	%r6, 63;
	sub.s32 	%r7, %r6, %r5;
	shr.s32 	%r8, %r7, 31;
	shr.u32 	%r9, %r8, 29;
	add.s32 	%r10, %r7, %r9;
	shr.s32 	%r11, %r10, 3;
	cvt.s64.s32 	%rd37, %r11;
	add.s64 	%rd38, %rd29, %rd37;
	atom.global.min.u64 	%rd39, [%rd1], %rd38;

$L__BB6_7:
	and.b64  	%rd46, %rd19, -8;

$L__BB6_8:
	mov.u32 	%r12, %tid.x;
	cvt.u64.u32 	%rd40, %r12;
	mov.u32 	%r13, %ntid.x;
	mov.u32 	%r14, %ctaid.x;
	mul.wide.u32 	%rd41, %r14, %r13;
	add.s64 	%rd47, %rd41, %rd40;
	sub.s64 	%rd14, %rd19, %rd46;
	setp.ge.u64 	%p5, %rd47, %rd14;
	@%p5 bra 	$L__BB6_13;

	mov.u32 	%r15, %nctaid.x;
	mul.wide.u32 	%rd15, %r15, %r13;

$L__BB6_10:
	add.s64 	%rd17, %rd47, %rd46;
	add.s64 	%rd42, %rd3, %rd17;
	add.s64 	%rd43, %rd2, %rd17;
	ld.global.u8 	%rs1, [%rd43];
	ld.global.u8 	%rs2, [%rd42];
	setp.eq.s16 	%p6, %rs2, %rs1;
	@%p6 bra 	$L__BB6_12;
	bra.uni 	$L__BB6_11;

$L__BB6_12:
	add.s64 	%rd47, %rd47, %rd15;
	setp.lt.u64 	%p7, %rd47, %rd14;
	@%p7 bra 	$L__BB6_10;
	bra.uni 	$L__BB6_13;

$L__BB6_11:
	atom.global.min.u64 	%rd44, [%rd1], %rd17;

$L__BB6_13:
	ret;

}
	// .globl	vramkit_checksum
.visible .entry vramkit_checksum(
	.param .u64 vramkit_checksum_param_0,
	.param .u64 vramkit_checksum_param_1,
	.param .u64 vramkit_checksum_param_2
)
{
	.reg .pred 	%p<21>;
	.reg .b32 	%r<165>;
	.reg .b64 	%rd<113>;
	// demoted variable
	.shared .align 4 .b8 _ZZ16vramkit_checksumE4sums[8];

	ld.param.u64 	%rd50, [vramkit_checksum_param_0];
	ld.param.u64 	%rd51, [vramkit_checksum_param_1];
	ld.param.u64 	%rd52, [vramkit_checksum_param_2];
	cvta.to.global.u64 	%rd1, %rd50;
	mov.u32 	%r1, %tid.x;
	setp.lt.u32 	%p1, %r1, 2;
	cvt.u64.u32 	%rd2, %r1;
	mul.wide.u32 	%rd53, %r1, 4;
	mov.u64 	%rd54, _ZZ16vramkit_checksumE4sums;
	add.s64 	%rd3, %rd54, %rd53;
	@%p1 bra 	$L__BB7_1;
	bra.uni 	$L__BB7_2;

$L__BB7_1:
	mov.u32 	%r31, 0;
	st.shared.u32 	[%rd3], %r31;

$L__BB7_2:
	bar.sync 	0;
	mov.u32 	%r34, %ctaid.x;
	cvt.u64.u32 	%rd4, %r34;
	mov.u32 	%r35, %ntid.x;
	cvt.u64.u32 	%rd5, %r35;
	mul.wide.u32 	%rd55, %r34, %r35;
	add.s64 	%rd102, %rd55, %rd2;
	add.s64 	%rd56, %rd51, 3;
	shr.u64 	%rd7, %rd56, 2;
	setp.ge.u64 	%p2, %rd102, %rd7;
	mov.u32 	%r163, 0;
	mov.u32 	%r164, %r163;
	@%p2 bra 	$L__BB7_27;

	and.b64  	%rd57, %rd50, 3;
	setp.eq.s64 	%p3, %rd57, 0;
	mov.u32 	%r36, %nctaid.x;
	cvt.u64.u32 	%rd8, %r36;
	mul.lo.s64 	%rd9, %rd8, %rd5;
	shl.b64 	%rd10, %rd102, 2;
	sub.s64 	%rd11, %rd10, %rd51;
	shl.b64 	%rd12, %rd9, 2;
	@%p3 bra 	$L__BB7_14;

	mov.u32 	%r38, 0;
	mov.u64 	%rd101, 0;
	mov.u32 	%r164, %r38;
	mov.u32 	%r163, %r38;

$L__BB7_5:
	mul.lo.s64 	%rd59, %rd12, %rd101;
	add.s64 	%rd15, %rd11, %rd59;
	setp.gt.u64 	%p4, %rd15, -4;
	neg.s64 	%rd60, %rd15;
	selp.b64 	%rd16, %rd60, 4, %p4;
	shl.b64 	%rd17, %rd102, 2;
	setp.ge.u64 	%p5, %rd17, %rd51;
	mov.u32 	%r155, %r38;
	@%p5 bra 	$L__BB7_13;

	and.b64  	%rd18, %rd16, 3;
	mov.u32 	%r155, 0;
	mov.u64 	%rd107, 0;
	mov.u64 	%rd106, %rd17;
	@%p4 bra 	$L__BB7_9;

	sub.s64 	%rd105, %rd16, %rd18;
	mov.u32 	%r155, 0;
	mov.u64 	%rd107, 0;
	mov.u64 	%rd106, %rd17;

$L__BB7_8:
	add.s64 	%rd63, %rd1, %rd106;
	ld.global.u8 	%r43, [%rd63];
	or.b32  	%r44, %r155, %r43;
	ld.global.u8 	%r45, [%rd63+1];
	add.s64 	%rd64, %rd107, 1;
	cvt.u32.u64 	%r46, %rd64;
	shl.b32 	%r47, %r46, 3;
	shl.b32 	%r48, %r45, %r47;
	or.b32  	%r49, %r48, %r44;
	ld.global.u8 	%r50, [%rd63+2];
	add.s64 	%rd65, %rd107, 2;
	cvt.u32.u64 	%r51, %rd65;
	shl.b32 	%r52, %r51, 3;
	shl.b32 	%r53, %r50, %r52;
	or.b32  	%r54, %r53, %r49;
	ld.global.u8 	%r55, [%rd63+3];
	add.s64 	%rd66, %rd107, 3;
	cvt.u32.u64 	%r56, %rd66;
	shl.b32 	%r57, %r56, 3;
	shl.b32 	%r58, %r55, %r57;
	or.b32  	%r155, %r58, %r54;
	add.s64 	%rd107, %rd107, 4;
	add.s64 	%rd106, %rd107, %rd17;
	add.s64 	%rd105, %rd105, -4;
	setp.ne.s64 	%p7, %rd105, 0;
	@%p7 bra 	$L__BB7_8;

$L__BB7_9:
	setp.eq.s64 	%p8, %rd18, 0;
	@%p8 bra 	$L__BB7_13;

	add.s64 	%rd67, %rd1, %rd106;
	ld.global.u8 	%r59, [%rd67];
	cvt.u32.u64 	%r60, %rd107;
	shl.b32 	%r61, %r60, 3;
	shl.b32 	%r62, %r59, %r61;
	or.b32  	%r155, %r62, %r155;
	setp.eq.s64 	%p9, %rd18, 1;
	@%p9 bra 	$L__BB7_13;

	add.s64 	%rd68, %rd107, %rd17;
	add.s64 	%rd28, %rd1, %rd68;
	ld.global.u8 	%r63, [%rd28+1];
	add.s64 	%rd69, %rd107, 1;
	cvt.u32.u64 	%r64, %rd69;
	shl.b32 	%r65, %r64, 3;
	shl.b32 	%r66, %r63, %r65;
	or.b32  	%r155, %r66, %r155;
	setp.eq.s64 	%p10, %rd18, 2;
	@%p10 bra 	$L__BB7_13;

	ld.global.u8 	%r67, [%rd28+2];
	add.s64 	%rd70, %rd107, 2;
	cvt.u32.u64 	%r68, %rd70;
	shl.b32 	%r69, %r68, 3;
	shl.b32 	%r70, %r67, %r69;
	or.b32  	%r155, %r70, %r155;

$L__BB7_13:
	cvt.u32.u64 	%r71, %rd102;
	mul.lo.s32 	%r72, %r71, -1640531535;
	xor.b32  	%r73, %r155, %r72;
	shr.u32 	%r74, %r73, 16;
	xor.b32  	%r75, %r74, %r73;
	mul.lo.s32 	%r76, %r75, -2048144789;
	shr.u32 	%r77, %r76, 13;
	xor.b32  	%r78, %r77, %r76;
	mul.lo.s32 	%r79, %r78, -1028477387;
	shr.u32 	%r80, %r79, 16;
	xor.b32  	%r81, %r80, %r79;
	add.s32 	%r163, %r81, %r163;
	add.s32 	%r82, %r71, 2135587861;
	mul.lo.s32 	%r83, %r155, -2048144777;
	xor.b32  	%r84, %r83, %r82;
	shr.u32 	%r85, %r84, 16;
	xor.b32  	%r86, %r85, %r84;
	mul.lo.s32 	%r87, %r86, -2048144789;
	shr.u32 	%r88, %r87, 13;
	xor.b32  	%r89, %r88, %r87;
	mul.lo.s32 	%r90, %r89, -1028477387;
	shr.u32 	%r91, %r90, 16;
	xor.b32  	%r92, %r91, %r90;
	add.s32 	%r164, %r92, %r164;
	add.s64 	%rd102, %rd102, %rd9;
	setp.lt.u64 	%p11, %rd102, %rd7;
	add.s64 	%rd101, %rd101, 1;
	@%p11 bra 	$L__BB7_5;
	bra.uni 	$L__BB7_27;

$L__BB7_14:
	shl.b64 	%rd72, %rd2, 2;
	add.s64 	%rd73, %rd72, -3;
	sub.s64 	%rd31, %rd73, %rd51;
	add.s64 	%rd74, %rd51, -1;
	sub.s64 	%rd32, %rd74, %rd10;
	shl.b64 	%rd33, %rd4, 2;
	shl.b64 	%rd34, %rd8, 2;
	mov.u32 	%r164, 0;
	mov.u64 	%rd108, 0;
	mov.u32 	%r163, %r164;

$L__BB7_15:
	mul.lo.s64 	%rd37, %rd12, %rd108;
	shl.b64 	%rd38, %rd102, 2;
	add.s64 	%rd75, %rd38, 4;
	setp.gt.u64 	%p12, %rd75, %rd51;
	@%p12 bra 	$L__BB7_17;
	bra.uni 	$L__BB7_16;

$L__BB7_17:
	setp.ge.u64 	%p13, %rd38, %rd51;
	mov.u32 	%r162, 0;
	@%p13 bra 	$L__BB7_26;

	add.s64 	%rd79, %rd11, %rd37;
	setp.gt.u64 	%p14, %rd79, -4;
	neg.s64 	%rd80, %rd79;
	mov.u64 	%rd112, 0;
	selp.b64 	%rd81, %rd80, 4, %p14;
	and.b64  	%rd39, %rd81, 3;
	mov.u32 	%r162, 0;
	mov.u64 	%rd111, %rd38;
	@%p14 bra 	$L__BB7_22;

	sub.s64 	%rd83, %rd32, %rd37;
	max.u64 	%rd84, %rd83, 3;
	add.s64 	%rd85, %rd31, %rd84;
	mul.lo.s64 	%rd86, %rd34, %rd108;
	add.s64 	%rd87, %rd33, %rd86;
	mul.lo.s64 	%rd88, %rd5, %rd87;
	add.s64 	%rd89, %rd85, %rd88;
	add.s64 	%rd40, %rd89, %rd39;
	add.s64 	%rd41, %rd1, %rd38;
	mov.u32 	%r162, 0;
	mov.u64 	%rd112, 0;
	mov.u32 	%r158, 24;

$L__BB7_20:
	add.s64 	%rd90, %rd41, %rd112;
	ld.global.u8 	%r100, [%rd90];
	or.b32  	%r101, %r162, %r100;
	ld.global.u8 	%r102, [%rd90+1];
	add.s32 	%r103, %r158, -16;
	shl.b32 	%r104, %r102, %r103;
	or.b32  	%r105, %r104, %r101;
	ld.global.u8 	%r106, [%rd90+2];
	add.s32 	%r107, %r158, -8;
	shl.b32 	%r108, %r106, %r107;
	or.b32  	%r109, %r108, %r105;
	ld.global.u8 	%r110, [%rd90+3];
	shl.b32 	%r111, %r110, %r158;
	or.b32  	%r162, %r111, %r109;
	add.s64 	%rd112, %rd112, 4;
	add.s64 	%rd91, %rd40, %rd112;
	add.s32 	%r158, %r158, 32;
	setp.ne.s64 	%p15, %rd91, 0;
	@%p15 bra 	$L__BB7_20;

	add.s64 	%rd111, %rd38, %rd112;

$L__BB7_22:
	setp.eq.s64 	%p16, %rd39, 0;
	@%p16 bra 	$L__BB7_26;

	add.s64 	%rd92, %rd1, %rd111;
	ld.global.u8 	%r112, [%rd92];
	cvt.u32.u64 	%r113, %rd112;
	shl.b32 	%r114, %r113, 3;
	shl.b32 	%r115, %r112, %r114;
	or.b32  	%r162, %r115, %r162;
	setp.eq.s64 	%p17, %rd39, 1;
	@%p17 bra 	$L__BB7_26;

	add.s64 	%rd93, %rd112, %rd38;
	add.s64 	%rd47, %rd1, %rd93;
	ld.global.u8 	%r116, [%rd47+1];
	add.s64 	%rd94, %rd112, 1;
	cvt.u32.u64 	%r117, %rd94;
	shl.b32 	%r118, %r117, 3;
	shl.b32 	%r119, %r116, %r118;
	or.b32  	%r162, %r119, %r162;
	setp.eq.s64 	%p18, %rd39, 2;
	@%p18 bra 	$L__BB7_26;

	ld.global.u8 	%r120, [%rd47+2];
	add.s64 	%rd95, %rd112, 2;
	cvt.u32.u64 	%r121, %rd95;
	shl.b32 	%r122, %r121, 3;
	shl.b32 	%r123, %r120, %r122;
	or.b32  	%r162, %r123, %r162;
	bra.uni 	$L__BB7_26;

$L__BB7_16:
	shl.b64 	%rd76, %rd102, 2;
	add.s64 	%rd77, %rd1, %rd76;
	ld.global.u32 	%r162, [%rd77];

$L__BB7_26:
	cvt.u32.u64 	%r124, %rd102;
	mul.lo.s32 	%r125, %r124, -1640531535;
	xor.b32  	%r126, %r162, %r125;
	shr.u32 	%r127, %r126, 16;
	xor.b32  	%r128, %r127, %r126;
	mul.lo.s32 	%r129, %r128, -2048144789;
	shr.u32 	%r130, %r129, 13;
	xor.b32  	%r131, %r130, %r129;
	mul.lo.s32 	%r132, %r131, -1028477387;
	shr.u32 	%r133, %r132, 16;
	xor.b32  	%r134, %r133, %r132;
	add.s32 	%r163, %r134, %r163;
	add.s32 	%r135, %r124, 2135587861;
	mul.lo.s32 	%r136, %r162, -2048144777;
	xor.b32  	%r137, %r136, %r135;
	shr.u32 	%r138, %r137, 16;
	xor.b32  	%r139, %r138, %r137;
	mul.lo.s32 	%r140, %r139, -2048144789;
	shr.u32 	%r141, %r140, 13;
	xor.b32  	%r142, %r141, %r140;
	mul.lo.s32 	%r143, %r142, -1028477387;
	shr.u32 	%r144, %r143, 16;
	xor.b32  	%r145, %r144, %r143;
	add.s32 	%r164, %r145, %r164;
	add.s64 	%rd102, %rd102, %rd9;
	setp.lt.u64 	%p19, %rd102, %rd7;
	add.s64 	%rd108, %rd108, 1;
	@%p19 bra 	$L__BB7_15;

$L__BB7_27:
	atom.shared.add.u32 	%r146, [%rd54], %r163;
	add.s64 	%rd97, %rd54, 4;
	atom.shared.add.u32 	%r147, [%rd97], %r164;
	bar.sync 	0;
	setp.gt.u32 	%p20, %r1, 1;
	@%p20 bra 	$L__BB7_29;

	cvta.to.global.u64 	%rd98, %rd52;
	shl.b64 	%rd99, %rd2, 2;
	add.s64 	%rd100, %rd98, %rd99;
	ld.shared.u32 	%r148, [%rd3];
	atom.global.add.u32 	%r149, [%rd100], %r148;

$L__BB7_29:
	ret;

}`;
