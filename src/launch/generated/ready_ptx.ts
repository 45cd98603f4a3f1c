// The PTX of ../ready_source.ts, written by `deno task kernels`; a test compares the two.

/** The text. */
export const READY_PTX = `.version 7.0
.target sm_52
.address_size 64
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
.visible .entry vramkit_checksum(
	.param .u64 vramkit_checksum_param_0,
	.param .u64 vramkit_checksum_param_1,
	.param .u64 vramkit_checksum_param_2
)
{
	.reg .pred 	%p<21>;
	.reg .b32 	%r<165>;
	.reg .b64 	%rd<113>;
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
}
.visible .entry vramkit_repeat(
	.param .u64 vramkit_repeat_param_0,
	.param .u64 vramkit_repeat_param_1,
	.param .u64 vramkit_repeat_param_2,
	.param .align 8 .b8 vramkit_repeat_param_3[1024]
)
{
	.reg .pred 	%p<11>;
	.reg .b16 	%rs<3>;
	.reg .b32 	%r<43>;
	.reg .b64 	%rd<189>;
	.shared .align 8 .b8 _ZZ14vramkit_repeatE5words[1040];
	ld.param.u64 	%rd28, [vramkit_repeat_param_0];
	ld.param.u64 	%rd29, [vramkit_repeat_param_1];
	ld.param.u64 	%rd30, [vramkit_repeat_param_2];
	mov.b64 	%rd31, vramkit_repeat_param_3;
	cvta.to.global.u64 	%rd1, %rd28;
	mov.u32 	%r1, %tid.x;
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB8_2;
	ld.param.u64 	%rd33, [%rd31];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words], %rd33;
	ld.param.u64 	%rd34, [%rd31+8];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+8], %rd34;
	ld.param.u64 	%rd35, [%rd31+16];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+16], %rd35;
	ld.param.u64 	%rd36, [%rd31+24];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+24], %rd36;
	ld.param.u64 	%rd37, [%rd31+32];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+32], %rd37;
	ld.param.u64 	%rd38, [%rd31+40];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+40], %rd38;
	ld.param.u64 	%rd39, [%rd31+48];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+48], %rd39;
	ld.param.u64 	%rd40, [%rd31+56];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+56], %rd40;
	ld.param.u64 	%rd41, [%rd31+64];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+64], %rd41;
	ld.param.u64 	%rd42, [%rd31+72];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+72], %rd42;
	ld.param.u64 	%rd43, [%rd31+80];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+80], %rd43;
	ld.param.u64 	%rd44, [%rd31+88];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+88], %rd44;
	ld.param.u64 	%rd45, [%rd31+96];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+96], %rd45;
	ld.param.u64 	%rd46, [%rd31+104];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+104], %rd46;
	ld.param.u64 	%rd47, [%rd31+112];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+112], %rd47;
	ld.param.u64 	%rd48, [%rd31+120];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+120], %rd48;
	ld.param.u64 	%rd49, [%rd31+128];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+128], %rd49;
	ld.param.u64 	%rd50, [%rd31+136];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+136], %rd50;
	ld.param.u64 	%rd51, [%rd31+144];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+144], %rd51;
	ld.param.u64 	%rd52, [%rd31+152];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+152], %rd52;
	ld.param.u64 	%rd53, [%rd31+160];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+160], %rd53;
	ld.param.u64 	%rd54, [%rd31+168];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+168], %rd54;
	ld.param.u64 	%rd55, [%rd31+176];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+176], %rd55;
	ld.param.u64 	%rd56, [%rd31+184];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+184], %rd56;
	ld.param.u64 	%rd57, [%rd31+192];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+192], %rd57;
	ld.param.u64 	%rd58, [%rd31+200];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+200], %rd58;
	ld.param.u64 	%rd59, [%rd31+208];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+208], %rd59;
	ld.param.u64 	%rd60, [%rd31+216];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+216], %rd60;
	ld.param.u64 	%rd61, [%rd31+224];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+224], %rd61;
	ld.param.u64 	%rd62, [%rd31+232];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+232], %rd62;
	ld.param.u64 	%rd63, [%rd31+240];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+240], %rd63;
	ld.param.u64 	%rd64, [%rd31+248];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+248], %rd64;
	ld.param.u64 	%rd65, [%rd31+256];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+256], %rd65;
	ld.param.u64 	%rd66, [%rd31+264];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+264], %rd66;
	ld.param.u64 	%rd67, [%rd31+272];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+272], %rd67;
	ld.param.u64 	%rd68, [%rd31+280];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+280], %rd68;
	ld.param.u64 	%rd69, [%rd31+288];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+288], %rd69;
	ld.param.u64 	%rd70, [%rd31+296];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+296], %rd70;
	ld.param.u64 	%rd71, [%rd31+304];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+304], %rd71;
	ld.param.u64 	%rd72, [%rd31+312];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+312], %rd72;
	ld.param.u64 	%rd73, [%rd31+320];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+320], %rd73;
	ld.param.u64 	%rd74, [%rd31+328];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+328], %rd74;
	ld.param.u64 	%rd75, [%rd31+336];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+336], %rd75;
	ld.param.u64 	%rd76, [%rd31+344];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+344], %rd76;
	ld.param.u64 	%rd77, [%rd31+352];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+352], %rd77;
	ld.param.u64 	%rd78, [%rd31+360];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+360], %rd78;
	ld.param.u64 	%rd79, [%rd31+368];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+368], %rd79;
	ld.param.u64 	%rd80, [%rd31+376];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+376], %rd80;
	ld.param.u64 	%rd81, [%rd31+384];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+384], %rd81;
	ld.param.u64 	%rd82, [%rd31+392];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+392], %rd82;
	ld.param.u64 	%rd83, [%rd31+400];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+400], %rd83;
	ld.param.u64 	%rd84, [%rd31+408];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+408], %rd84;
	ld.param.u64 	%rd85, [%rd31+416];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+416], %rd85;
	ld.param.u64 	%rd86, [%rd31+424];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+424], %rd86;
	ld.param.u64 	%rd87, [%rd31+432];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+432], %rd87;
	ld.param.u64 	%rd88, [%rd31+440];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+440], %rd88;
	ld.param.u64 	%rd89, [%rd31+448];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+448], %rd89;
	ld.param.u64 	%rd90, [%rd31+456];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+456], %rd90;
	ld.param.u64 	%rd91, [%rd31+464];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+464], %rd91;
	ld.param.u64 	%rd92, [%rd31+472];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+472], %rd92;
	ld.param.u64 	%rd93, [%rd31+480];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+480], %rd93;
	ld.param.u64 	%rd94, [%rd31+488];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+488], %rd94;
	ld.param.u64 	%rd95, [%rd31+496];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+496], %rd95;
	ld.param.u64 	%rd96, [%rd31+504];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+504], %rd96;
	ld.param.u64 	%rd97, [%rd31+512];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+512], %rd97;
	ld.param.u64 	%rd98, [%rd31+520];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+520], %rd98;
	ld.param.u64 	%rd99, [%rd31+528];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+528], %rd99;
	ld.param.u64 	%rd100, [%rd31+536];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+536], %rd100;
	ld.param.u64 	%rd101, [%rd31+544];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+544], %rd101;
	ld.param.u64 	%rd102, [%rd31+552];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+552], %rd102;
	ld.param.u64 	%rd103, [%rd31+560];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+560], %rd103;
	ld.param.u64 	%rd104, [%rd31+568];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+568], %rd104;
	ld.param.u64 	%rd105, [%rd31+576];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+576], %rd105;
	ld.param.u64 	%rd106, [%rd31+584];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+584], %rd106;
	ld.param.u64 	%rd107, [%rd31+592];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+592], %rd107;
	ld.param.u64 	%rd108, [%rd31+600];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+600], %rd108;
	ld.param.u64 	%rd109, [%rd31+608];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+608], %rd109;
	ld.param.u64 	%rd110, [%rd31+616];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+616], %rd110;
	ld.param.u64 	%rd111, [%rd31+624];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+624], %rd111;
	ld.param.u64 	%rd112, [%rd31+632];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+632], %rd112;
	ld.param.u64 	%rd113, [%rd31+640];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+640], %rd113;
	ld.param.u64 	%rd114, [%rd31+648];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+648], %rd114;
	ld.param.u64 	%rd115, [%rd31+656];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+656], %rd115;
	ld.param.u64 	%rd116, [%rd31+664];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+664], %rd116;
	ld.param.u64 	%rd117, [%rd31+672];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+672], %rd117;
	ld.param.u64 	%rd118, [%rd31+680];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+680], %rd118;
	ld.param.u64 	%rd119, [%rd31+688];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+688], %rd119;
	ld.param.u64 	%rd120, [%rd31+696];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+696], %rd120;
	ld.param.u64 	%rd121, [%rd31+704];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+704], %rd121;
	ld.param.u64 	%rd122, [%rd31+712];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+712], %rd122;
	ld.param.u64 	%rd123, [%rd31+720];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+720], %rd123;
	ld.param.u64 	%rd124, [%rd31+728];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+728], %rd124;
	ld.param.u64 	%rd125, [%rd31+736];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+736], %rd125;
	ld.param.u64 	%rd126, [%rd31+744];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+744], %rd126;
	ld.param.u64 	%rd127, [%rd31+752];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+752], %rd127;
	ld.param.u64 	%rd128, [%rd31+760];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+760], %rd128;
	ld.param.u64 	%rd129, [%rd31+768];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+768], %rd129;
	ld.param.u64 	%rd130, [%rd31+776];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+776], %rd130;
	ld.param.u64 	%rd131, [%rd31+784];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+784], %rd131;
	ld.param.u64 	%rd132, [%rd31+792];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+792], %rd132;
	ld.param.u64 	%rd133, [%rd31+800];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+800], %rd133;
	ld.param.u64 	%rd134, [%rd31+808];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+808], %rd134;
	ld.param.u64 	%rd135, [%rd31+816];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+816], %rd135;
	ld.param.u64 	%rd136, [%rd31+824];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+824], %rd136;
	ld.param.u64 	%rd137, [%rd31+832];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+832], %rd137;
	ld.param.u64 	%rd138, [%rd31+840];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+840], %rd138;
	ld.param.u64 	%rd139, [%rd31+848];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+848], %rd139;
	ld.param.u64 	%rd140, [%rd31+856];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+856], %rd140;
	ld.param.u64 	%rd141, [%rd31+864];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+864], %rd141;
	ld.param.u64 	%rd142, [%rd31+872];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+872], %rd142;
	ld.param.u64 	%rd143, [%rd31+880];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+880], %rd143;
	ld.param.u64 	%rd144, [%rd31+888];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+888], %rd144;
	ld.param.u64 	%rd145, [%rd31+896];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+896], %rd145;
	ld.param.u64 	%rd146, [%rd31+904];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+904], %rd146;
	ld.param.u64 	%rd147, [%rd31+912];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+912], %rd147;
	ld.param.u64 	%rd148, [%rd31+920];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+920], %rd148;
	ld.param.u64 	%rd149, [%rd31+928];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+928], %rd149;
	ld.param.u64 	%rd150, [%rd31+936];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+936], %rd150;
	ld.param.u64 	%rd151, [%rd31+944];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+944], %rd151;
	ld.param.u64 	%rd152, [%rd31+952];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+952], %rd152;
	ld.param.u64 	%rd153, [%rd31+960];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+960], %rd153;
	ld.param.u64 	%rd154, [%rd31+968];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+968], %rd154;
	ld.param.u64 	%rd155, [%rd31+976];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+976], %rd155;
	ld.param.u64 	%rd156, [%rd31+984];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+984], %rd156;
	ld.param.u64 	%rd157, [%rd31+992];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+992], %rd157;
	ld.param.u64 	%rd158, [%rd31+1000];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+1000], %rd158;
	ld.param.u64 	%rd159, [%rd31+1008];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+1008], %rd159;
	ld.param.u64 	%rd160, [%rd31+1016];
	st.shared.u64 	[_ZZ14vramkit_repeatE5words+1016], %rd160;
$L__BB8_2:
	bar.sync 	0;
	cvt.u64.u32 	%rd2, %r1;
	setp.gt.u32 	%p2, %r1, 15;
	@%p2 bra 	$L__BB8_7;
	and.b64  	%rd161, %rd30, -4294967296;
	setp.eq.s64 	%p3, %rd161, 0;
	@%p3 bra 	$L__BB8_5;
	rem.u64 	%rd184, %rd2, %rd30;
	bra.uni 	$L__BB8_6;
$L__BB8_5:
	cvt.u32.u64 	%r2, %rd30;
	cvt.u32.u64 	%r3, %rd2;
	rem.u32 	%r4, %r3, %r2;
	cvt.u64.u32 	%rd184, %r4;
$L__BB8_6:
	mov.u64 	%rd162, _ZZ14vramkit_repeatE5words;
	add.s64 	%rd163, %rd162, %rd184;
	ld.shared.u8 	%rs1, [%rd163];
	add.s64 	%rd164, %rd2, %rd30;
	add.s64 	%rd165, %rd162, %rd164;
	st.shared.u8 	[%rd165], %rs1;
$L__BB8_7:
	bar.sync 	0;
	neg.s64 	%rd166, %rd28;
	and.b64  	%rd167, %rd166, 15;
	min.u64 	%rd6, %rd167, %rd29;
	sub.s64 	%rd7, %rd29, %rd6;
	shr.u64 	%rd8, %rd7, 4;
	mov.u32 	%r5, %ctaid.x;
	mov.u32 	%r6, %ntid.x;
	cvt.u64.u32 	%rd9, %r6;
	mul.wide.u32 	%rd168, %r5, %r6;
	add.s64 	%rd187, %rd168, %rd2;
	setp.ge.u64 	%p4, %rd187, %rd8;
	@%p4 bra 	$L__BB8_13;
	mov.u32 	%r7, %nctaid.x;
	cvt.u64.u32 	%rd169, %r7;
	mul.lo.s64 	%rd11, %rd169, %rd9;
	add.s64 	%rd12, %rd1, %rd6;
	cvt.u32.u64 	%r8, %rd30;
	mov.u64 	%rd185, %rd187;
$L__BB8_9:
	shl.b64 	%rd170, %rd185, 4;
	or.b64  	%rd14, %rd170, %rd6;
	or.b64  	%rd171, %rd14, %rd30;
	and.b64  	%rd172, %rd171, -4294967296;
	setp.eq.s64 	%p5, %rd172, 0;
	@%p5 bra 	$L__BB8_11;
	rem.u64 	%rd186, %rd14, %rd30;
	bra.uni 	$L__BB8_12;
$L__BB8_11:
	cvt.u32.u64 	%r9, %rd14;
	rem.u32 	%r10, %r9, %r8;
	cvt.u64.u32 	%rd186, %r10;
$L__BB8_12:
	mov.u64 	%rd173, _ZZ14vramkit_repeatE5words;
	add.s64 	%rd174, %rd173, %rd186;
	ld.shared.u8 	%r11, [%rd174];
	ld.shared.u8 	%r12, [%rd174+1];
	prmt.b32 	%r13, %r12, %r11, 30212;
	ld.shared.u8 	%r14, [%rd174+2];
	prmt.b32 	%r15, %r14, %r13, 28756;
	ld.shared.u8 	%r16, [%rd174+3];
	ld.shared.u8 	%r17, [%rd174+4];
	ld.shared.u8 	%r18, [%rd174+5];
	prmt.b32 	%r19, %r18, %r17, 30212;
	ld.shared.u8 	%r20, [%rd174+6];
	prmt.b32 	%r21, %r20, %r19, 28756;
	ld.shared.u8 	%r22, [%rd174+7];
	ld.shared.u8 	%r23, [%rd174+8];
	ld.shared.u8 	%r24, [%rd174+9];
	prmt.b32 	%r25, %r24, %r23, 30212;
	ld.shared.u8 	%r26, [%rd174+10];
	prmt.b32 	%r27, %r26, %r25, 28756;
	ld.shared.u8 	%r28, [%rd174+11];
	ld.shared.u8 	%r29, [%rd174+12];
	ld.shared.u8 	%r30, [%rd174+13];
	prmt.b32 	%r31, %r30, %r29, 30212;
	ld.shared.u8 	%r32, [%rd174+14];
	prmt.b32 	%r33, %r32, %r31, 28756;
	ld.shared.u8 	%r34, [%rd174+15];
	add.s64 	%rd176, %rd12, %rd170;
	prmt.b32 	%r35, %r34, %r33, 1620;
	prmt.b32 	%r36, %r28, %r27, 1620;
	prmt.b32 	%r37, %r22, %r21, 1620;
	prmt.b32 	%r38, %r16, %r15, 1620;
	st.global.v4.u32 	[%rd176], {%r38, %r37, %r36, %r35};
	add.s64 	%rd185, %rd185, %rd11;
	setp.lt.u64 	%p6, %rd185, %rd8;
	@%p6 bra 	$L__BB8_9;
$L__BB8_13:
	and.b64  	%rd19, %rd7, -16;
	sub.s64 	%rd20, %rd29, %rd19;
	setp.ge.u64 	%p7, %rd187, %rd20;
	@%p7 bra 	$L__BB8_19;
	mov.u32 	%r39, %nctaid.x;
	cvt.u64.u32 	%rd177, %r39;
	mul.lo.s64 	%rd21, %rd177, %rd9;
	cvt.u32.u64 	%r40, %rd30;
$L__BB8_15:
	setp.lt.u64 	%p8, %rd187, %rd6;
	selp.b64 	%rd178, 0, %rd19, %p8;
	add.s64 	%rd23, %rd178, %rd187;
	or.b64  	%rd179, %rd23, %rd30;
	and.b64  	%rd180, %rd179, -4294967296;
	setp.eq.s64 	%p9, %rd180, 0;
	@%p9 bra 	$L__BB8_17;
	rem.u64 	%rd188, %rd23, %rd30;
	bra.uni 	$L__BB8_18;
$L__BB8_17:
	cvt.u32.u64 	%r41, %rd23;
	rem.u32 	%r42, %r41, %r40;
	cvt.u64.u32 	%rd188, %r42;
$L__BB8_18:
	mov.u64 	%rd181, _ZZ14vramkit_repeatE5words;
	add.s64 	%rd182, %rd181, %rd188;
	ld.shared.u8 	%rs2, [%rd182];
	add.s64 	%rd183, %rd1, %rd23;
	st.global.u8 	[%rd183], %rs2;
	add.s64 	%rd187, %rd187, %rd21;
	setp.lt.u64 	%p10, %rd187, %rd20;
	@%p10 bra 	$L__BB8_15;
$L__BB8_19:
	ret;
}
.visible .entry vramkit_copy(
	.param .u64 vramkit_copy_param_0,
	.param .u64 vramkit_copy_param_1,
	.param .u64 vramkit_copy_param_2
)
{
	.reg .pred 	%p<8>;
	.reg .b16 	%rs<2>;
	.reg .b32 	%r<82>;
	.reg .b64 	%rd<80>;
	ld.param.u64 	%rd31, [vramkit_copy_param_0];
	ld.param.u64 	%rd32, [vramkit_copy_param_1];
	ld.param.u64 	%rd30, [vramkit_copy_param_2];
	cvta.to.global.u64 	%rd1, %rd31;
	cvta.to.global.u64 	%rd2, %rd32;
	or.b64  	%rd33, %rd32, %rd31;
	and.b64  	%rd34, %rd33, 15;
	setp.eq.s64 	%p1, %rd34, 0;
	@%p1 bra 	$L__BB9_2;
	mov.u64 	%rd78, 0;
	bra.uni 	$L__BB9_8;
$L__BB9_2:
	shr.u64 	%rd3, %rd30, 4;
	mov.u32 	%r1, %nctaid.x;
	cvt.u64.u32 	%rd4, %r1;
	mov.u32 	%r2, %ntid.x;
	cvt.u64.u32 	%rd5, %r2;
	mul.wide.u32 	%rd6, %r1, %r2;
	mov.u32 	%r3, %ctaid.x;
	cvt.u64.u32 	%rd7, %r3;
	mul.wide.u32 	%rd36, %r3, %r2;
	mov.u32 	%r4, %tid.x;
	cvt.u64.u32 	%rd8, %r4;
	add.s64 	%rd76, %rd36, %rd8;
	mul.lo.s64 	%rd10, %rd6, 7;
	add.s64 	%rd37, %rd76, %rd10;
	setp.ge.u64 	%p2, %rd37, %rd3;
	@%p2 bra 	$L__BB9_5;
	mul.lo.s64 	%rd38, %rd7, %rd5;
	shl.b64 	%rd39, %rd38, 4;
	shl.b64 	%rd40, %rd8, 4;
	add.s64 	%rd41, %rd39, %rd40;
	add.s64 	%rd74, %rd2, %rd41;
	mul.lo.s64 	%rd42, %rd4, %rd5;
	shl.b64 	%rd12, %rd42, 4;
	add.s64 	%rd75, %rd1, %rd41;
$L__BB9_4:
	ld.global.v4.u32 	{%r5, %r6, %r7, %r8}, [%rd74];
	add.s64 	%rd43, %rd74, %rd12;
	ld.global.v4.u32 	{%r13, %r14, %r15, %r16}, [%rd43];
	add.s64 	%rd44, %rd6, %rd76;
	add.s64 	%rd45, %rd44, %rd6;
	add.s64 	%rd46, %rd43, %rd12;
	ld.global.v4.u32 	{%r21, %r22, %r23, %r24}, [%rd46];
	add.s64 	%rd47, %rd45, %rd6;
	add.s64 	%rd48, %rd46, %rd12;
	ld.global.v4.u32 	{%r29, %r30, %r31, %r32}, [%rd48];
	add.s64 	%rd49, %rd47, %rd6;
	add.s64 	%rd50, %rd48, %rd12;
	ld.global.v4.u32 	{%r37, %r38, %r39, %r40}, [%rd50];
	add.s64 	%rd51, %rd49, %rd6;
	add.s64 	%rd52, %rd50, %rd12;
	ld.global.v4.u32 	{%r45, %r46, %r47, %r48}, [%rd52];
	add.s64 	%rd53, %rd51, %rd6;
	add.s64 	%rd54, %rd52, %rd12;
	ld.global.v4.u32 	{%r53, %r54, %r55, %r56}, [%rd54];
	add.s64 	%rd55, %rd53, %rd6;
	add.s64 	%rd56, %rd54, %rd12;
	add.s64 	%rd74, %rd56, %rd12;
	ld.global.v4.u32 	{%r61, %r62, %r63, %r64}, [%rd56];
	st.global.v4.u32 	[%rd75], {%r5, %r6, %r7, %r8};
	add.s64 	%rd57, %rd75, %rd12;
	st.global.v4.u32 	[%rd57], {%r13, %r14, %r15, %r16};
	add.s64 	%rd58, %rd57, %rd12;
	st.global.v4.u32 	[%rd58], {%r21, %r22, %r23, %r24};
	add.s64 	%rd59, %rd58, %rd12;
	st.global.v4.u32 	[%rd59], {%r29, %r30, %r31, %r32};
	add.s64 	%rd60, %rd59, %rd12;
	st.global.v4.u32 	[%rd60], {%r37, %r38, %r39, %r40};
	add.s64 	%rd61, %rd60, %rd12;
	st.global.v4.u32 	[%rd61], {%r45, %r46, %r47, %r48};
	add.s64 	%rd62, %rd61, %rd12;
	st.global.v4.u32 	[%rd62], {%r53, %r54, %r55, %r56};
	add.s64 	%rd63, %rd62, %rd12;
	add.s64 	%rd75, %rd63, %rd12;
	st.global.v4.u32 	[%rd63], {%r61, %r62, %r63, %r64};
	add.s64 	%rd76, %rd55, %rd6;
	add.s64 	%rd64, %rd76, %rd10;
	setp.lt.u64 	%p3, %rd64, %rd3;
	@%p3 bra 	$L__BB9_4;
$L__BB9_5:
	setp.ge.u64 	%p4, %rd76, %rd3;
	@%p4 bra 	$L__BB9_7;
$L__BB9_6:
	shl.b64 	%rd65, %rd76, 4;
	add.s64 	%rd66, %rd1, %rd65;
	add.s64 	%rd67, %rd2, %rd65;
	ld.global.v4.u32 	{%r69, %r70, %r71, %r72}, [%rd67];
	st.global.v4.u32 	[%rd66], {%r69, %r70, %r71, %r72};
	add.s64 	%rd76, %rd76, %rd6;
	setp.lt.u64 	%p5, %rd76, %rd3;
	@%p5 bra 	$L__BB9_6;
$L__BB9_7:
	and.b64  	%rd78, %rd30, -16;
$L__BB9_8:
	mov.u32 	%r77, %tid.x;
	cvt.u64.u32 	%rd68, %r77;
	mov.u32 	%r78, %ntid.x;
	mov.u32 	%r79, %ctaid.x;
	mul.wide.u32 	%rd69, %r79, %r78;
	add.s64 	%rd79, %rd69, %rd68;
	sub.s64 	%rd26, %rd30, %rd78;
	setp.ge.u64 	%p6, %rd79, %rd26;
	@%p6 bra 	$L__BB9_11;
	mov.u32 	%r80, %nctaid.x;
	mul.wide.u32 	%rd27, %r80, %r78;
$L__BB9_10:
	add.s64 	%rd70, %rd79, %rd78;
	add.s64 	%rd71, %rd2, %rd70;
	ld.global.u8 	%rs1, [%rd71];
	add.s64 	%rd72, %rd1, %rd70;
	st.global.u8 	[%rd72], %rs1;
	add.s64 	%rd79, %rd79, %rd27;
	setp.lt.u64 	%p7, %rd79, %rd26;
	@%p7 bra 	$L__BB9_10;
$L__BB9_11:
	ret;
}
.visible .entry vramkit_chase(
	.param .u64 vramkit_chase_param_0,
	.param .u64 vramkit_chase_param_1,
	.param .u64 vramkit_chase_param_2
)
{
	.reg .pred 	%p<7>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<33>;
	ld.param.u64 	%rd28, [vramkit_chase_param_0];
	ld.param.u64 	%rd18, [vramkit_chase_param_1];
	ld.param.u64 	%rd19, [vramkit_chase_param_2];
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r2, %ctaid.x;
	or.b32  	%r3, %r1, %r2;
	setp.ne.s32 	%p1, %r3, 0;
	@%p1 bra 	$L__BB10_9;
	setp.eq.s64 	%p2, %rd18, 0;
	@%p2 bra 	$L__BB10_8;
	add.s64 	%rd21, %rd18, -1;
	and.b64  	%rd1, %rd18, 3;
	setp.lt.u64 	%p3, %rd21, 3;
	@%p3 bra 	$L__BB10_5;
	sub.s64 	%rd26, %rd1, %rd18;
$L__BB10_4:
	ld.volatile.u64 	%rd22, [%rd28];
	ld.volatile.u64 	%rd23, [%rd22];
	ld.volatile.u64 	%rd24, [%rd23];
	ld.volatile.u64 	%rd28, [%rd24];
	add.s64 	%rd26, %rd26, 4;
	setp.ne.s64 	%p4, %rd26, 0;
	@%p4 bra 	$L__BB10_4;
$L__BB10_5:
	setp.eq.s64 	%p5, %rd1, 0;
	@%p5 bra 	$L__BB10_8;
	neg.s64 	%rd30, %rd1;
$L__BB10_7:
	.pragma "nounroll";
	ld.volatile.u64 	%rd28, [%rd28];
	add.s64 	%rd30, %rd30, 1;
	setp.eq.s64 	%p6, %rd30, 0;
	@%p6 bra 	$L__BB10_8;
	bra.uni 	$L__BB10_7;
$L__BB10_8:
	cvta.to.global.u64 	%rd25, %rd19;
	st.global.u64 	[%rd25], %rd28;
$L__BB10_9:
	ret;
}`;
