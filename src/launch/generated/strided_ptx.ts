// The PTX of ../strided_source.ts, written by `deno task kernels`; a test compares the two.

/** The text. */
export const STRIDED_PTX = `.version 7.0
.target sm_52
.address_size 64
.visible .entry vramkit_strided_copy(
	.param .u64 vramkit_strided_copy_param_0,
	.param .u64 vramkit_strided_copy_param_1,
	.param .u64 vramkit_strided_copy_param_2,
	.param .u32 vramkit_strided_copy_param_3,
	.param .align 8 .b8 vramkit_strided_copy_param_4[208]
)
{
	.reg .pred 	%p<92>;
	.reg .b16 	%rs<3>;
	.reg .b32 	%r<79>;
	.reg .b64 	%rd<606>;
	ld.param.u64 	%rd270, [vramkit_strided_copy_param_0];
	ld.param.u64 	%rd271, [vramkit_strided_copy_param_1];
	ld.param.u64 	%rd268, [vramkit_strided_copy_param_2];
	ld.param.u32 	%r1, [vramkit_strided_copy_param_3];
	mov.b64 	%rd269, vramkit_strided_copy_param_4;
	cvta.to.global.u64 	%rd1, %rd271;
	cvta.to.global.u64 	%rd2, %rd270;
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %ntid.x;
	cvt.u64.u32 	%rd3, %r3;
	mul.wide.u32 	%rd272, %r2, %r3;
	mov.u32 	%r4, %tid.x;
	cvt.u64.u32 	%rd273, %r4;
	add.s64 	%rd274, %rd272, %rd273;
	shr.u64 	%rd275, %rd274, 5;
	and.b64  	%rd276, %rd274, 31;
	bfi.b64 	%rd500, %rd275, %rd276, 7, 57;
	setp.ge.u64 	%p1, %rd500, %rd268;
	@%p1 bra 	$L__BB0_161;
	mov.u32 	%r5, %nctaid.x;
	cvt.u64.u32 	%rd277, %r5;
	mul.lo.s64 	%rd278, %rd3, %rd277;
	shl.b64 	%rd5, %rd278, 2;
	ld.param.u64 	%rd6, [%rd269+192];
	ld.param.u64 	%rd7, [%rd269+200];
	ld.param.u64 	%rd8, [%rd269+56];
	ld.param.u64 	%rd9, [%rd269+48];
	ld.param.u64 	%rd10, [%rd269+40];
	ld.param.u64 	%rd11, [%rd269+112];
	ld.param.u64 	%rd12, [%rd269+176];
	ld.param.u64 	%rd13, [%rd269+32];
	ld.param.u64 	%rd14, [%rd269+104];
	ld.param.u64 	%rd15, [%rd269+168];
	ld.param.u64 	%rd16, [%rd269+24];
	ld.param.u64 	%rd17, [%rd269+96];
	ld.param.u64 	%rd18, [%rd269+160];
	ld.param.u64 	%rd19, [%rd269+16];
	ld.param.u64 	%rd20, [%rd269+88];
	ld.param.u64 	%rd21, [%rd269+152];
	ld.param.u64 	%rd22, [%rd269+8];
	ld.param.u64 	%rd23, [%rd269+80];
	ld.param.u64 	%rd24, [%rd269+144];
	ld.param.u64 	%rd25, [%rd269];
	ld.param.u64 	%rd26, [%rd269+72];
	ld.param.u64 	%rd27, [%rd269+136];
	ld.param.u64 	%rd28, [%rd269+64];
	ld.param.u64 	%rd29, [%rd269+128];
	ld.param.u64 	%rd30, [%rd269+184];
	ld.param.u64 	%rd32, [%rd269+120];
	shl.b64 	%rd33, %rd32, 5;
	cvt.u32.u64 	%r54, %rd8;
	cvt.u32.u64 	%r57, %rd9;
$L__BB0_2:
	setp.ge.u64 	%p2, %rd500, %rd268;
	setp.gt.u64 	%p3, %rd500, -129;
	or.pred  	%p4, %p3, %p2;
	@%p4 bra 	$L__BB0_160;
	setp.eq.s32 	%p5, %r1, 1;
	@%p5 bra 	$L__BB0_48;
	setp.ne.s32 	%p6, %r1, 2;
	@%p6 bra 	$L__BB0_91;
	mov.u64 	%rd501, %rd500;
$L__BB0_6:
	setp.eq.s64 	%p7, %rd8, 1;
	mov.u64 	%rd505, 1;
	mov.u64 	%rd508, %rd6;
	mov.u64 	%rd509, %rd7;
	mov.u64 	%rd510, %rd501;
	@%p7 bra 	$L__BB0_11;
	or.b64  	%rd281, %rd501, %rd8;
	and.b64  	%rd282, %rd281, -4294967296;
	setp.eq.s64 	%p8, %rd282, 0;
	@%p8 bra 	$L__BB0_9;
	div.u64 	%rd510, %rd501, %rd8;
	bra.uni 	$L__BB0_10;
$L__BB0_9:
	cvt.u32.u64 	%r7, %rd501;
	div.u32 	%r8, %r7, %r54;
	cvt.u64.u32 	%rd510, %r8;
$L__BB0_10:
	mul.lo.s64 	%rd283, %rd510, %rd8;
	sub.s64 	%rd284, %rd501, %rd283;
	sub.s64 	%rd505, %rd8, %rd284;
	mul.lo.s64 	%rd285, %rd284, %rd32;
	add.s64 	%rd508, %rd285, %rd6;
	mul.lo.s64 	%rd286, %rd284, %rd30;
	add.s64 	%rd509, %rd286, %rd7;
$L__BB0_11:
	setp.eq.s64 	%p9, %rd9, 1;
	@%p9 bra 	$L__BB0_16;
	or.b64  	%rd287, %rd510, %rd9;
	and.b64  	%rd288, %rd287, -4294967296;
	setp.eq.s64 	%p10, %rd288, 0;
	@%p10 bra 	$L__BB0_14;
	div.u64 	%rd507, %rd510, %rd9;
	bra.uni 	$L__BB0_15;
$L__BB0_14:
	cvt.u32.u64 	%r10, %rd510;
	div.u32 	%r11, %r10, %r57;
	cvt.u64.u32 	%rd507, %r11;
$L__BB0_15:
	mul.lo.s64 	%rd289, %rd507, %rd9;
	sub.s64 	%rd290, %rd510, %rd289;
	mul.lo.s64 	%rd291, %rd290, %rd11;
	add.s64 	%rd508, %rd291, %rd508;
	mul.lo.s64 	%rd292, %rd290, %rd12;
	add.s64 	%rd509, %rd292, %rd509;
	mov.u64 	%rd510, %rd507;
$L__BB0_16:
	setp.eq.s64 	%p11, %rd10, 1;
	@%p11 bra 	$L__BB0_21;
	or.b64  	%rd293, %rd510, %rd10;
	and.b64  	%rd294, %rd293, -4294967296;
	setp.eq.s64 	%p12, %rd294, 0;
	@%p12 bra 	$L__BB0_19;
	div.u64 	%rd511, %rd510, %rd10;
	bra.uni 	$L__BB0_20;
$L__BB0_19:
	cvt.u32.u64 	%r12, %rd10;
	cvt.u32.u64 	%r13, %rd510;
	div.u32 	%r14, %r13, %r12;
	cvt.u64.u32 	%rd511, %r14;
$L__BB0_20:
	mul.lo.s64 	%rd295, %rd511, %rd10;
	sub.s64 	%rd296, %rd510, %rd295;
	mul.lo.s64 	%rd297, %rd296, %rd14;
	add.s64 	%rd508, %rd297, %rd508;
	mul.lo.s64 	%rd298, %rd296, %rd15;
	add.s64 	%rd509, %rd298, %rd509;
	mov.u64 	%rd510, %rd511;
$L__BB0_21:
	setp.eq.s64 	%p13, %rd13, 1;
	@%p13 bra 	$L__BB0_26;
	or.b64  	%rd299, %rd510, %rd13;
	and.b64  	%rd300, %rd299, -4294967296;
	setp.eq.s64 	%p14, %rd300, 0;
	@%p14 bra 	$L__BB0_24;
	div.u64 	%rd515, %rd510, %rd13;
	bra.uni 	$L__BB0_25;
$L__BB0_24:
	cvt.u32.u64 	%r15, %rd13;
	cvt.u32.u64 	%r16, %rd510;
	div.u32 	%r17, %r16, %r15;
	cvt.u64.u32 	%rd515, %r17;
$L__BB0_25:
	mul.lo.s64 	%rd301, %rd515, %rd13;
	sub.s64 	%rd302, %rd510, %rd301;
	mul.lo.s64 	%rd303, %rd302, %rd17;
	add.s64 	%rd508, %rd303, %rd508;
	mul.lo.s64 	%rd304, %rd302, %rd18;
	add.s64 	%rd509, %rd304, %rd509;
	mov.u64 	%rd510, %rd515;
$L__BB0_26:
	setp.eq.s64 	%p15, %rd16, 1;
	@%p15 bra 	$L__BB0_31;
	or.b64  	%rd305, %rd510, %rd16;
	and.b64  	%rd306, %rd305, -4294967296;
	setp.eq.s64 	%p16, %rd306, 0;
	@%p16 bra 	$L__BB0_29;
	div.u64 	%rd519, %rd510, %rd16;
	bra.uni 	$L__BB0_30;
$L__BB0_29:
	cvt.u32.u64 	%r18, %rd16;
	cvt.u32.u64 	%r19, %rd510;
	div.u32 	%r20, %r19, %r18;
	cvt.u64.u32 	%rd519, %r20;
$L__BB0_30:
	mul.lo.s64 	%rd307, %rd519, %rd16;
	sub.s64 	%rd308, %rd510, %rd307;
	mul.lo.s64 	%rd309, %rd308, %rd20;
	add.s64 	%rd508, %rd309, %rd508;
	mul.lo.s64 	%rd310, %rd308, %rd21;
	add.s64 	%rd509, %rd310, %rd509;
	mov.u64 	%rd510, %rd519;
$L__BB0_31:
	setp.eq.s64 	%p17, %rd19, 1;
	@%p17 bra 	$L__BB0_36;
	or.b64  	%rd311, %rd510, %rd19;
	and.b64  	%rd312, %rd311, -4294967296;
	setp.eq.s64 	%p18, %rd312, 0;
	@%p18 bra 	$L__BB0_34;
	div.u64 	%rd523, %rd510, %rd19;
	bra.uni 	$L__BB0_35;
$L__BB0_34:
	cvt.u32.u64 	%r21, %rd19;
	cvt.u32.u64 	%r22, %rd510;
	div.u32 	%r23, %r22, %r21;
	cvt.u64.u32 	%rd523, %r23;
$L__BB0_35:
	mul.lo.s64 	%rd313, %rd523, %rd19;
	sub.s64 	%rd314, %rd510, %rd313;
	mul.lo.s64 	%rd315, %rd314, %rd23;
	add.s64 	%rd508, %rd315, %rd508;
	mul.lo.s64 	%rd316, %rd314, %rd24;
	add.s64 	%rd509, %rd316, %rd509;
	mov.u64 	%rd510, %rd523;
$L__BB0_36:
	setp.eq.s64 	%p19, %rd22, 1;
	@%p19 bra 	$L__BB0_41;
	or.b64  	%rd317, %rd510, %rd22;
	and.b64  	%rd318, %rd317, -4294967296;
	setp.eq.s64 	%p20, %rd318, 0;
	@%p20 bra 	$L__BB0_39;
	div.u64 	%rd527, %rd510, %rd22;
	bra.uni 	$L__BB0_40;
$L__BB0_39:
	cvt.u32.u64 	%r24, %rd22;
	cvt.u32.u64 	%r25, %rd510;
	div.u32 	%r26, %r25, %r24;
	cvt.u64.u32 	%rd527, %r26;
$L__BB0_40:
	mul.lo.s64 	%rd319, %rd527, %rd22;
	sub.s64 	%rd320, %rd510, %rd319;
	mul.lo.s64 	%rd321, %rd320, %rd26;
	add.s64 	%rd508, %rd321, %rd508;
	mul.lo.s64 	%rd322, %rd320, %rd27;
	add.s64 	%rd509, %rd322, %rd509;
	mov.u64 	%rd510, %rd527;
$L__BB0_41:
	setp.eq.s64 	%p21, %rd25, 1;
	@%p21 bra 	$L__BB0_46;
	or.b64  	%rd323, %rd510, %rd25;
	and.b64  	%rd324, %rd323, -4294967296;
	setp.eq.s64 	%p22, %rd324, 0;
	@%p22 bra 	$L__BB0_44;
	rem.u64 	%rd531, %rd510, %rd25;
	bra.uni 	$L__BB0_45;
$L__BB0_44:
	cvt.u32.u64 	%r27, %rd25;
	cvt.u32.u64 	%r28, %rd510;
	rem.u32 	%r29, %r28, %r27;
	cvt.u64.u32 	%rd531, %r29;
$L__BB0_45:
	mul.lo.s64 	%rd325, %rd531, %rd28;
	add.s64 	%rd508, %rd325, %rd508;
	mul.lo.s64 	%rd326, %rd531, %rd29;
	add.s64 	%rd509, %rd326, %rd509;
$L__BB0_46:
	add.s64 	%rd485, %rd500, 96;
	setp.gt.u64 	%p23, %rd505, 96;
	setp.le.u64 	%p24, %rd501, %rd500;
	and.pred  	%p25, %p24, %p23;
	setp.lt.u64 	%p26, %rd485, %rd268;
	and.pred  	%p27, %p26, %p25;
	@%p27 bra 	$L__BB0_133;
	add.s64 	%rd486, %rd500, 128;
	shl.b64 	%rd327, %rd509, 1;
	add.s64 	%rd328, %rd1, %rd327;
	ld.global.u16 	%rs1, [%rd328];
	shl.b64 	%rd329, %rd508, 1;
	add.s64 	%rd330, %rd2, %rd329;
	st.global.u16 	[%rd330], %rs1;
	add.s64 	%rd501, %rd501, 32;
	setp.lt.u64 	%p28, %rd501, %rd486;
	setp.lt.u64 	%p29, %rd501, %rd268;
	and.pred  	%p30, %p28, %p29;
	@%p30 bra 	$L__BB0_6;
	bra.uni 	$L__BB0_160;
$L__BB0_48:
	mov.u64 	%rd534, %rd500;
$L__BB0_49:
	setp.eq.s64 	%p31, %rd8, 1;
	mov.u64 	%rd538, 1;
	mov.u64 	%rd508, %rd6;
	mov.u64 	%rd509, %rd7;
	mov.u64 	%rd543, %rd534;
	@%p31 bra 	$L__BB0_54;
	or.b64  	%rd332, %rd534, %rd8;
	and.b64  	%rd333, %rd332, -4294967296;
	setp.eq.s64 	%p32, %rd333, 0;
	@%p32 bra 	$L__BB0_52;
	div.u64 	%rd543, %rd534, %rd8;
	bra.uni 	$L__BB0_53;
$L__BB0_52:
	cvt.u32.u64 	%r31, %rd534;
	div.u32 	%r32, %r31, %r54;
	cvt.u64.u32 	%rd543, %r32;
$L__BB0_53:
	mul.lo.s64 	%rd334, %rd543, %rd8;
	sub.s64 	%rd335, %rd534, %rd334;
	sub.s64 	%rd538, %rd8, %rd335;
	mul.lo.s64 	%rd336, %rd335, %rd32;
	add.s64 	%rd508, %rd336, %rd6;
	mul.lo.s64 	%rd337, %rd335, %rd30;
	add.s64 	%rd509, %rd337, %rd7;
$L__BB0_54:
	setp.eq.s64 	%p33, %rd9, 1;
	@%p33 bra 	$L__BB0_59;
	or.b64  	%rd338, %rd543, %rd9;
	and.b64  	%rd339, %rd338, -4294967296;
	setp.eq.s64 	%p34, %rd339, 0;
	@%p34 bra 	$L__BB0_57;
	div.u64 	%rd540, %rd543, %rd9;
	bra.uni 	$L__BB0_58;
$L__BB0_57:
	cvt.u32.u64 	%r34, %rd543;
	div.u32 	%r35, %r34, %r57;
	cvt.u64.u32 	%rd540, %r35;
$L__BB0_58:
	mul.lo.s64 	%rd340, %rd540, %rd9;
	sub.s64 	%rd341, %rd543, %rd340;
	mul.lo.s64 	%rd342, %rd341, %rd11;
	add.s64 	%rd508, %rd342, %rd508;
	mul.lo.s64 	%rd343, %rd341, %rd12;
	add.s64 	%rd509, %rd343, %rd509;
	mov.u64 	%rd543, %rd540;
$L__BB0_59:
	setp.eq.s64 	%p35, %rd10, 1;
	@%p35 bra 	$L__BB0_64;
	or.b64  	%rd344, %rd543, %rd10;
	and.b64  	%rd345, %rd344, -4294967296;
	setp.eq.s64 	%p36, %rd345, 0;
	@%p36 bra 	$L__BB0_62;
	div.u64 	%rd544, %rd543, %rd10;
	bra.uni 	$L__BB0_63;
$L__BB0_62:
	cvt.u32.u64 	%r36, %rd10;
	cvt.u32.u64 	%r37, %rd543;
	div.u32 	%r38, %r37, %r36;
	cvt.u64.u32 	%rd544, %r38;
$L__BB0_63:
	mul.lo.s64 	%rd346, %rd544, %rd10;
	sub.s64 	%rd347, %rd543, %rd346;
	mul.lo.s64 	%rd348, %rd347, %rd14;
	add.s64 	%rd508, %rd348, %rd508;
	mul.lo.s64 	%rd349, %rd347, %rd15;
	add.s64 	%rd509, %rd349, %rd509;
	mov.u64 	%rd543, %rd544;
$L__BB0_64:
	setp.eq.s64 	%p37, %rd13, 1;
	@%p37 bra 	$L__BB0_69;
	or.b64  	%rd350, %rd543, %rd13;
	and.b64  	%rd351, %rd350, -4294967296;
	setp.eq.s64 	%p38, %rd351, 0;
	@%p38 bra 	$L__BB0_67;
	div.u64 	%rd548, %rd543, %rd13;
	bra.uni 	$L__BB0_68;
$L__BB0_67:
	cvt.u32.u64 	%r39, %rd13;
	cvt.u32.u64 	%r40, %rd543;
	div.u32 	%r41, %r40, %r39;
	cvt.u64.u32 	%rd548, %r41;
$L__BB0_68:
	mul.lo.s64 	%rd352, %rd548, %rd13;
	sub.s64 	%rd353, %rd543, %rd352;
	mul.lo.s64 	%rd354, %rd353, %rd17;
	add.s64 	%rd508, %rd354, %rd508;
	mul.lo.s64 	%rd355, %rd353, %rd18;
	add.s64 	%rd509, %rd355, %rd509;
	mov.u64 	%rd543, %rd548;
$L__BB0_69:
	setp.eq.s64 	%p39, %rd16, 1;
	@%p39 bra 	$L__BB0_74;
	or.b64  	%rd356, %rd543, %rd16;
	and.b64  	%rd357, %rd356, -4294967296;
	setp.eq.s64 	%p40, %rd357, 0;
	@%p40 bra 	$L__BB0_72;
	div.u64 	%rd552, %rd543, %rd16;
	bra.uni 	$L__BB0_73;
$L__BB0_72:
	cvt.u32.u64 	%r42, %rd16;
	cvt.u32.u64 	%r43, %rd543;
	div.u32 	%r44, %r43, %r42;
	cvt.u64.u32 	%rd552, %r44;
$L__BB0_73:
	mul.lo.s64 	%rd358, %rd552, %rd16;
	sub.s64 	%rd359, %rd543, %rd358;
	mul.lo.s64 	%rd360, %rd359, %rd20;
	add.s64 	%rd508, %rd360, %rd508;
	mul.lo.s64 	%rd361, %rd359, %rd21;
	add.s64 	%rd509, %rd361, %rd509;
	mov.u64 	%rd543, %rd552;
$L__BB0_74:
	setp.eq.s64 	%p41, %rd19, 1;
	@%p41 bra 	$L__BB0_79;
	or.b64  	%rd362, %rd543, %rd19;
	and.b64  	%rd363, %rd362, -4294967296;
	setp.eq.s64 	%p42, %rd363, 0;
	@%p42 bra 	$L__BB0_77;
	div.u64 	%rd556, %rd543, %rd19;
	bra.uni 	$L__BB0_78;
$L__BB0_77:
	cvt.u32.u64 	%r45, %rd19;
	cvt.u32.u64 	%r46, %rd543;
	div.u32 	%r47, %r46, %r45;
	cvt.u64.u32 	%rd556, %r47;
$L__BB0_78:
	mul.lo.s64 	%rd364, %rd556, %rd19;
	sub.s64 	%rd365, %rd543, %rd364;
	mul.lo.s64 	%rd366, %rd365, %rd23;
	add.s64 	%rd508, %rd366, %rd508;
	mul.lo.s64 	%rd367, %rd365, %rd24;
	add.s64 	%rd509, %rd367, %rd509;
	mov.u64 	%rd543, %rd556;
$L__BB0_79:
	setp.eq.s64 	%p43, %rd22, 1;
	@%p43 bra 	$L__BB0_84;
	or.b64  	%rd368, %rd543, %rd22;
	and.b64  	%rd369, %rd368, -4294967296;
	setp.eq.s64 	%p44, %rd369, 0;
	@%p44 bra 	$L__BB0_82;
	div.u64 	%rd560, %rd543, %rd22;
	bra.uni 	$L__BB0_83;
$L__BB0_82:
	cvt.u32.u64 	%r48, %rd22;
	cvt.u32.u64 	%r49, %rd543;
	div.u32 	%r50, %r49, %r48;
	cvt.u64.u32 	%rd560, %r50;
$L__BB0_83:
	mul.lo.s64 	%rd370, %rd560, %rd22;
	sub.s64 	%rd371, %rd543, %rd370;
	mul.lo.s64 	%rd372, %rd371, %rd26;
	add.s64 	%rd508, %rd372, %rd508;
	mul.lo.s64 	%rd373, %rd371, %rd27;
	add.s64 	%rd509, %rd373, %rd509;
	mov.u64 	%rd543, %rd560;
$L__BB0_84:
	setp.eq.s64 	%p45, %rd25, 1;
	@%p45 bra 	$L__BB0_89;
	or.b64  	%rd374, %rd543, %rd25;
	and.b64  	%rd375, %rd374, -4294967296;
	setp.eq.s64 	%p46, %rd375, 0;
	@%p46 bra 	$L__BB0_87;
	rem.u64 	%rd564, %rd543, %rd25;
	bra.uni 	$L__BB0_88;
$L__BB0_87:
	cvt.u32.u64 	%r51, %rd25;
	cvt.u32.u64 	%r52, %rd543;
	rem.u32 	%r53, %r52, %r51;
	cvt.u64.u32 	%rd564, %r53;
$L__BB0_88:
	mul.lo.s64 	%rd376, %rd564, %rd28;
	add.s64 	%rd508, %rd376, %rd508;
	mul.lo.s64 	%rd377, %rd564, %rd29;
	add.s64 	%rd509, %rd377, %rd509;
$L__BB0_89:
	add.s64 	%rd487, %rd500, 96;
	setp.gt.u64 	%p47, %rd538, 96;
	setp.le.u64 	%p48, %rd534, %rd500;
	and.pred  	%p49, %p48, %p47;
	setp.lt.u64 	%p50, %rd487, %rd268;
	and.pred  	%p51, %p50, %p49;
	@%p51 bra 	$L__BB0_133;
	add.s64 	%rd488, %rd500, 128;
	add.s64 	%rd378, %rd1, %rd509;
	ld.global.u8 	%rs2, [%rd378];
	add.s64 	%rd379, %rd2, %rd508;
	st.global.u8 	[%rd379], %rs2;
	add.s64 	%rd534, %rd534, 32;
	setp.lt.u64 	%p52, %rd534, %rd488;
	setp.lt.u64 	%p53, %rd534, %rd268;
	and.pred  	%p54, %p52, %p53;
	@%p54 bra 	$L__BB0_49;
	bra.uni 	$L__BB0_160;
$L__BB0_91:
	mov.u64 	%rd567, %rd500;
$L__BB0_92:
	setp.eq.s64 	%p55, %rd8, 1;
	mov.u64 	%rd571, 1;
	mov.u64 	%rd508, %rd6;
	mov.u64 	%rd509, %rd7;
	mov.u64 	%rd576, %rd567;
	@%p55 bra 	$L__BB0_97;
	or.b64  	%rd381, %rd567, %rd8;
	and.b64  	%rd382, %rd381, -4294967296;
	setp.eq.s64 	%p56, %rd382, 0;
	@%p56 bra 	$L__BB0_95;
	div.u64 	%rd576, %rd567, %rd8;
	bra.uni 	$L__BB0_96;
$L__BB0_95:
	cvt.u32.u64 	%r55, %rd567;
	div.u32 	%r56, %r55, %r54;
	cvt.u64.u32 	%rd576, %r56;
$L__BB0_96:
	mul.lo.s64 	%rd383, %rd576, %rd8;
	sub.s64 	%rd384, %rd567, %rd383;
	sub.s64 	%rd571, %rd8, %rd384;
	mul.lo.s64 	%rd385, %rd384, %rd32;
	add.s64 	%rd508, %rd385, %rd6;
	mul.lo.s64 	%rd386, %rd384, %rd30;
	add.s64 	%rd509, %rd386, %rd7;
$L__BB0_97:
	setp.eq.s64 	%p57, %rd9, 1;
	@%p57 bra 	$L__BB0_102;
	or.b64  	%rd387, %rd576, %rd9;
	and.b64  	%rd388, %rd387, -4294967296;
	setp.eq.s64 	%p58, %rd388, 0;
	@%p58 bra 	$L__BB0_100;
	div.u64 	%rd573, %rd576, %rd9;
	bra.uni 	$L__BB0_101;
$L__BB0_100:
	cvt.u32.u64 	%r58, %rd576;
	div.u32 	%r59, %r58, %r57;
	cvt.u64.u32 	%rd573, %r59;
$L__BB0_101:
	mul.lo.s64 	%rd389, %rd573, %rd9;
	sub.s64 	%rd390, %rd576, %rd389;
	mul.lo.s64 	%rd391, %rd390, %rd11;
	add.s64 	%rd508, %rd391, %rd508;
	mul.lo.s64 	%rd392, %rd390, %rd12;
	add.s64 	%rd509, %rd392, %rd509;
	mov.u64 	%rd576, %rd573;
$L__BB0_102:
	setp.eq.s64 	%p59, %rd10, 1;
	@%p59 bra 	$L__BB0_107;
	or.b64  	%rd393, %rd576, %rd10;
	and.b64  	%rd394, %rd393, -4294967296;
	setp.eq.s64 	%p60, %rd394, 0;
	@%p60 bra 	$L__BB0_105;
	div.u64 	%rd577, %rd576, %rd10;
	bra.uni 	$L__BB0_106;
$L__BB0_105:
	cvt.u32.u64 	%r60, %rd10;
	cvt.u32.u64 	%r61, %rd576;
	div.u32 	%r62, %r61, %r60;
	cvt.u64.u32 	%rd577, %r62;
$L__BB0_106:
	mul.lo.s64 	%rd395, %rd577, %rd10;
	sub.s64 	%rd396, %rd576, %rd395;
	mul.lo.s64 	%rd397, %rd396, %rd14;
	add.s64 	%rd508, %rd397, %rd508;
	mul.lo.s64 	%rd398, %rd396, %rd15;
	add.s64 	%rd509, %rd398, %rd509;
	mov.u64 	%rd576, %rd577;
$L__BB0_107:
	setp.eq.s64 	%p61, %rd13, 1;
	@%p61 bra 	$L__BB0_112;
	or.b64  	%rd399, %rd576, %rd13;
	and.b64  	%rd400, %rd399, -4294967296;
	setp.eq.s64 	%p62, %rd400, 0;
	@%p62 bra 	$L__BB0_110;
	div.u64 	%rd581, %rd576, %rd13;
	bra.uni 	$L__BB0_111;
$L__BB0_110:
	cvt.u32.u64 	%r63, %rd13;
	cvt.u32.u64 	%r64, %rd576;
	div.u32 	%r65, %r64, %r63;
	cvt.u64.u32 	%rd581, %r65;
$L__BB0_111:
	mul.lo.s64 	%rd401, %rd581, %rd13;
	sub.s64 	%rd402, %rd576, %rd401;
	mul.lo.s64 	%rd403, %rd402, %rd17;
	add.s64 	%rd508, %rd403, %rd508;
	mul.lo.s64 	%rd404, %rd402, %rd18;
	add.s64 	%rd509, %rd404, %rd509;
	mov.u64 	%rd576, %rd581;
$L__BB0_112:
	setp.eq.s64 	%p63, %rd16, 1;
	@%p63 bra 	$L__BB0_117;
	or.b64  	%rd405, %rd576, %rd16;
	and.b64  	%rd406, %rd405, -4294967296;
	setp.eq.s64 	%p64, %rd406, 0;
	@%p64 bra 	$L__BB0_115;
	div.u64 	%rd585, %rd576, %rd16;
	bra.uni 	$L__BB0_116;
$L__BB0_115:
	cvt.u32.u64 	%r66, %rd16;
	cvt.u32.u64 	%r67, %rd576;
	div.u32 	%r68, %r67, %r66;
	cvt.u64.u32 	%rd585, %r68;
$L__BB0_116:
	mul.lo.s64 	%rd407, %rd585, %rd16;
	sub.s64 	%rd408, %rd576, %rd407;
	mul.lo.s64 	%rd409, %rd408, %rd20;
	add.s64 	%rd508, %rd409, %rd508;
	mul.lo.s64 	%rd410, %rd408, %rd21;
	add.s64 	%rd509, %rd410, %rd509;
	mov.u64 	%rd576, %rd585;
$L__BB0_117:
	setp.eq.s64 	%p65, %rd19, 1;
	@%p65 bra 	$L__BB0_122;
	or.b64  	%rd411, %rd576, %rd19;
	and.b64  	%rd412, %rd411, -4294967296;
	setp.eq.s64 	%p66, %rd412, 0;
	@%p66 bra 	$L__BB0_120;
	div.u64 	%rd589, %rd576, %rd19;
	bra.uni 	$L__BB0_121;
$L__BB0_120:
	cvt.u32.u64 	%r69, %rd19;
	cvt.u32.u64 	%r70, %rd576;
	div.u32 	%r71, %r70, %r69;
	cvt.u64.u32 	%rd589, %r71;
$L__BB0_121:
	mul.lo.s64 	%rd413, %rd589, %rd19;
	sub.s64 	%rd414, %rd576, %rd413;
	mul.lo.s64 	%rd415, %rd414, %rd23;
	add.s64 	%rd508, %rd415, %rd508;
	mul.lo.s64 	%rd416, %rd414, %rd24;
	add.s64 	%rd509, %rd416, %rd509;
	mov.u64 	%rd576, %rd589;
$L__BB0_122:
	setp.eq.s64 	%p67, %rd22, 1;
	@%p67 bra 	$L__BB0_127;
	or.b64  	%rd417, %rd576, %rd22;
	and.b64  	%rd418, %rd417, -4294967296;
	setp.eq.s64 	%p68, %rd418, 0;
	@%p68 bra 	$L__BB0_125;
	div.u64 	%rd593, %rd576, %rd22;
	bra.uni 	$L__BB0_126;
$L__BB0_125:
	cvt.u32.u64 	%r72, %rd22;
	cvt.u32.u64 	%r73, %rd576;
	div.u32 	%r74, %r73, %r72;
	cvt.u64.u32 	%rd593, %r74;
$L__BB0_126:
	mul.lo.s64 	%rd419, %rd593, %rd22;
	sub.s64 	%rd420, %rd576, %rd419;
	mul.lo.s64 	%rd421, %rd420, %rd26;
	add.s64 	%rd508, %rd421, %rd508;
	mul.lo.s64 	%rd422, %rd420, %rd27;
	add.s64 	%rd509, %rd422, %rd509;
	mov.u64 	%rd576, %rd593;
$L__BB0_127:
	setp.eq.s64 	%p69, %rd25, 1;
	@%p69 bra 	$L__BB0_132;
	or.b64  	%rd423, %rd576, %rd25;
	and.b64  	%rd424, %rd423, -4294967296;
	setp.eq.s64 	%p70, %rd424, 0;
	@%p70 bra 	$L__BB0_130;
	rem.u64 	%rd597, %rd576, %rd25;
	bra.uni 	$L__BB0_131;
$L__BB0_130:
	cvt.u32.u64 	%r75, %rd25;
	cvt.u32.u64 	%r76, %rd576;
	rem.u32 	%r77, %r76, %r75;
	cvt.u64.u32 	%rd597, %r77;
$L__BB0_131:
	mul.lo.s64 	%rd425, %rd597, %rd28;
	add.s64 	%rd508, %rd425, %rd508;
	mul.lo.s64 	%rd426, %rd597, %rd29;
	add.s64 	%rd509, %rd426, %rd509;
$L__BB0_132:
	add.s64 	%rd489, %rd500, 96;
	setp.lt.u64 	%p71, %rd571, 97;
	setp.gt.u64 	%p72, %rd567, %rd500;
	or.pred  	%p73, %p72, %p71;
	setp.ge.u64 	%p74, %rd489, %rd268;
	or.pred  	%p75, %p74, %p73;
	@%p75 bra 	$L__BB0_156;
	bra.uni 	$L__BB0_133;
$L__BB0_156:
	setp.eq.s32 	%p85, %r1, 4;
	@%p85 bra 	$L__BB0_158;
	bra.uni 	$L__BB0_157;
$L__BB0_158:
	shl.b64 	%rd476, %rd509, 2;
	add.s64 	%rd477, %rd1, %rd476;
	ld.global.u32 	%r78, [%rd477];
	shl.b64 	%rd478, %rd508, 2;
	add.s64 	%rd479, %rd2, %rd478;
	st.global.u32 	[%rd479], %r78;
	bra.uni 	$L__BB0_159;
$L__BB0_157:
	shl.b64 	%rd471, %rd509, 3;
	add.s64 	%rd472, %rd1, %rd471;
	ld.global.u64 	%rd473, [%rd472];
	shl.b64 	%rd474, %rd508, 3;
	add.s64 	%rd475, %rd2, %rd474;
	st.global.u64 	[%rd475], %rd473;
$L__BB0_159:
	add.s64 	%rd490, %rd500, 128;
	add.s64 	%rd567, %rd567, 32;
	setp.lt.u64 	%p86, %rd567, %rd490;
	setp.lt.u64 	%p87, %rd567, %rd268;
	and.pred  	%p88, %p86, %p87;
	@%p88 bra 	$L__BB0_92;
	bra.uni 	$L__BB0_160;
$L__BB0_133:
	setp.eq.s32 	%p90, %r1, 1;
	@%p90 bra 	$L__BB0_138;
	setp.eq.s32 	%p77, %r1, 2;
	@%p77 bra 	$L__BB0_137;
	setp.ne.s32 	%p78, %r1, 4;
	@%p78 bra 	$L__BB0_139;
	shl.b64 	%rd482, %rd30, 7;
	shl.b64 	%rd427, %rd509, 2;
	add.s64 	%rd428, %rd1, %rd427;
	ld.global.u32 	%rd605, [%rd428];
	add.s64 	%rd429, %rd428, %rd482;
	ld.global.u32 	%rd604, [%rd429];
	add.s64 	%rd430, %rd429, %rd482;
	ld.global.u32 	%rd603, [%rd430];
	add.s64 	%rd431, %rd430, %rd482;
	ld.global.u32 	%rd602, [%rd431];
	bra.uni 	$L__BB0_140;
$L__BB0_138:
	shl.b64 	%rd484, %rd30, 5;
	add.s64 	%rd437, %rd1, %rd509;
	ld.global.u8 	%rd605, [%rd437];
	add.s64 	%rd438, %rd437, %rd484;
	ld.global.u8 	%rd604, [%rd438];
	add.s64 	%rd439, %rd438, %rd484;
	ld.global.u8 	%rd603, [%rd439];
	add.s64 	%rd440, %rd439, %rd484;
	ld.global.u8 	%rd602, [%rd440];
	bra.uni 	$L__BB0_140;
$L__BB0_137:
	shl.b64 	%rd483, %rd30, 6;
	shl.b64 	%rd432, %rd509, 1;
	add.s64 	%rd433, %rd1, %rd432;
	ld.global.u16 	%rd605, [%rd433];
	add.s64 	%rd434, %rd433, %rd483;
	ld.global.u16 	%rd604, [%rd434];
	add.s64 	%rd435, %rd434, %rd483;
	ld.global.u16 	%rd603, [%rd435];
	add.s64 	%rd436, %rd435, %rd483;
	ld.global.u16 	%rd602, [%rd436];
	bra.uni 	$L__BB0_140;
$L__BB0_139:
	shl.b64 	%rd480, %rd30, 8;
	shl.b64 	%rd441, %rd509, 3;
	add.s64 	%rd442, %rd1, %rd441;
	ld.global.u64 	%rd605, [%rd442];
	add.s64 	%rd443, %rd442, %rd480;
	ld.global.u64 	%rd604, [%rd443];
	add.s64 	%rd444, %rd443, %rd480;
	ld.global.u64 	%rd603, [%rd444];
	add.s64 	%rd445, %rd444, %rd480;
	ld.global.u64 	%rd602, [%rd445];
$L__BB0_140:
	setp.eq.s32 	%p91, %r1, 1;
	@%p91 bra 	$L__BB0_143;
	setp.ne.s32 	%p80, %r1, 2;
	@%p80 bra 	$L__BB0_144;
	shl.b64 	%rd481, %rd32, 6;
	shl.b64 	%rd446, %rd508, 1;
	add.s64 	%rd447, %rd2, %rd446;
	st.global.u16 	[%rd447], %rd605;
	add.s64 	%rd448, %rd447, %rd481;
	st.global.u16 	[%rd448], %rd604;
	add.s64 	%rd449, %rd448, %rd481;
	st.global.u16 	[%rd449], %rd603;
	add.s64 	%rd450, %rd449, %rd481;
	st.global.u16 	[%rd450], %rd602;
	bra.uni 	$L__BB0_160;
$L__BB0_143:
	add.s64 	%rd451, %rd2, %rd508;
	st.global.u8 	[%rd451], %rd605;
	add.s64 	%rd452, %rd451, %rd33;
	st.global.u8 	[%rd452], %rd604;
	add.s64 	%rd453, %rd452, %rd33;
	st.global.u8 	[%rd453], %rd603;
	add.s64 	%rd454, %rd453, %rd33;
	st.global.u8 	[%rd454], %rd602;
	bra.uni 	$L__BB0_160;
$L__BB0_144:
	setp.eq.s32 	%p81, %r1, 4;
	@%p81 bra 	$L__BB0_146;
	bra.uni 	$L__BB0_145;
$L__BB0_146:
	shl.b64 	%rd457, %rd508, 2;
	add.s64 	%rd458, %rd2, %rd457;
	st.global.u32 	[%rd458], %rd605;
	bra.uni 	$L__BB0_147;
$L__BB0_145:
	shl.b64 	%rd455, %rd508, 3;
	add.s64 	%rd456, %rd2, %rd455;
	st.global.u64 	[%rd456], %rd605;
$L__BB0_147:
	@%p81 bra 	$L__BB0_149;
	bra.uni 	$L__BB0_148;
$L__BB0_149:
	add.s64 	%rd493, %rd33, %rd508;
	shl.b64 	%rd461, %rd493, 2;
	add.s64 	%rd462, %rd2, %rd461;
	st.global.u32 	[%rd462], %rd604;
	bra.uni 	$L__BB0_150;
$L__BB0_148:
	add.s64 	%rd491, %rd33, %rd508;
	shl.b64 	%rd459, %rd491, 3;
	add.s64 	%rd460, %rd2, %rd459;
	st.global.u64 	[%rd460], %rd604;
$L__BB0_150:
	@%p81 bra 	$L__BB0_152;
	bra.uni 	$L__BB0_151;
$L__BB0_152:
	add.s64 	%rd499, %rd33, %rd508;
	add.s64 	%rd498, %rd499, %rd33;
	shl.b64 	%rd465, %rd498, 2;
	add.s64 	%rd466, %rd2, %rd465;
	st.global.u32 	[%rd466], %rd603;
	bra.uni 	$L__BB0_153;
$L__BB0_151:
	add.s64 	%rd495, %rd33, %rd508;
	add.s64 	%rd494, %rd495, %rd33;
	shl.b64 	%rd463, %rd494, 3;
	add.s64 	%rd464, %rd2, %rd463;
	st.global.u64 	[%rd464], %rd603;
$L__BB0_153:
	add.s64 	%rd497, %rd33, %rd508;
	add.s64 	%rd496, %rd497, %rd33;
	add.s64 	%rd265, %rd496, %rd33;
	@%p81 bra 	$L__BB0_155;
	bra.uni 	$L__BB0_154;
$L__BB0_155:
	shl.b64 	%rd469, %rd265, 2;
	add.s64 	%rd470, %rd2, %rd469;
	st.global.u32 	[%rd470], %rd602;
	bra.uni 	$L__BB0_160;
$L__BB0_154:
	shl.b64 	%rd467, %rd265, 3;
	add.s64 	%rd468, %rd2, %rd467;
	st.global.u64 	[%rd468], %rd602;
$L__BB0_160:
	add.s64 	%rd500, %rd500, %rd5;
	setp.lt.u64 	%p89, %rd500, %rd268;
	@%p89 bra 	$L__BB0_2;
$L__BB0_161:
	ret;
}
.visible .entry vramkit_strided_transpose(
	.param .u64 vramkit_strided_transpose_param_0,
	.param .u64 vramkit_strided_transpose_param_1,
	.param .u64 vramkit_strided_transpose_param_2,
	.param .u32 vramkit_strided_transpose_param_3,
	.param .align 8 .b8 vramkit_strided_transpose_param_4[208]
)
{
	.reg .pred 	%p<95>;
	.reg .b32 	%r<74>;
	.reg .b64 	%rd<364>;
	.shared .align 8 .b8 _ZZ25vramkit_strided_transposeE6square[8448];
	ld.param.u64 	%rd136, [vramkit_strided_transpose_param_0];
	ld.param.u64 	%rd137, [vramkit_strided_transpose_param_1];
	ld.param.u64 	%rd135, [vramkit_strided_transpose_param_2];
	ld.param.u32 	%r20, [vramkit_strided_transpose_param_3];
	mov.b64 	%rd138, vramkit_strided_transpose_param_4;
	cvta.to.global.u64 	%rd1, %rd137;
	cvta.to.global.u64 	%rd2, %rd136;
	mov.u32 	%r1, %tid.x;
	shr.u32 	%r2, %r1, 5;
	ld.param.u64 	%rd4, [vramkit_strided_transpose_param_4+56];
	add.s64 	%rd139, %rd4, 31;
	shr.u64 	%rd5, %rd139, 5;
	ld.param.u64 	%rd6, [vramkit_strided_transpose_param_4+48];
	add.s64 	%rd140, %rd6, 31;
	shr.u64 	%rd7, %rd140, 5;
	mov.u32 	%r21, %ctaid.x;
	cvt.u64.u32 	%rd335, %r21;
	setp.ge.u64 	%p1, %rd335, %rd135;
	@%p1 bra 	$L__BB1_104;
	and.b32  	%r22, %r1, 31;
	ld.param.u64 	%rd9, [%rd138+192];
	ld.param.u64 	%rd10, [%rd138+200];
	cvt.u64.u32 	%rd11, %r22;
	ld.param.u64 	%rd12, [%rd138+184];
	mov.u32 	%r23, %nctaid.x;
	cvt.u64.u32 	%rd13, %r23;
	ld.param.u64 	%rd14, [%rd138+112];
	add.s32 	%r3, %r2, 8;
	max.u32 	%r24, %r3, 32;
	not.b32 	%r25, %r2;
	add.s32 	%r4, %r24, %r25;
	shr.u32 	%r26, %r4, 3;
	add.s32 	%r27, %r26, 1;
	ld.param.u64 	%rd15, [%rd138+40];
	ld.param.u64 	%rd16, [%rd138+32];
	ld.param.u64 	%rd17, [%rd138+104];
	ld.param.u64 	%rd18, [%rd138+168];
	ld.param.u64 	%rd19, [%rd138+24];
	ld.param.u64 	%rd20, [%rd138+96];
	ld.param.u64 	%rd21, [%rd138+160];
	ld.param.u64 	%rd22, [%rd138+16];
	ld.param.u64 	%rd23, [%rd138+88];
	ld.param.u64 	%rd24, [%rd138+152];
	ld.param.u64 	%rd25, [%rd138+8];
	ld.param.u64 	%rd26, [%rd138+80];
	ld.param.u64 	%rd27, [%rd138+144];
	ld.param.u64 	%rd28, [%rd138];
	ld.param.u64 	%rd29, [%rd138+72];
	ld.param.u64 	%rd30, [%rd138+136];
	ld.param.u64 	%rd31, [%rd138+64];
	ld.param.u64 	%rd32, [%rd138+128];
	and.b32  	%r5, %r27, 3;
	cvt.u64.u32 	%rd33, %r2;
	mul.wide.u32 	%rd141, %r2, 264;
	mov.u64 	%rd142, _ZZ25vramkit_strided_transposeE6square;
	add.s64 	%rd143, %rd142, %rd141;
	shl.b32 	%r28, %r1, 3;
	cvt.u64.u32 	%rd144, %r28;
	and.b64  	%rd145, %rd144, 248;
	add.s64 	%rd34, %rd143, %rd145;
	cvt.u64.u32 	%rd35, %r3;
	mul.wide.u32 	%rd146, %r22, 264;
	add.s64 	%rd147, %rd142, %rd146;
	mul.wide.u32 	%rd148, %r2, 8;
	add.s64 	%rd36, %rd147, %rd148;
	add.s32 	%r6, %r2, 16;
	cvt.u64.u32 	%rd37, %r6;
	add.s32 	%r7, %r2, 24;
$L__BB1_2:
	or.b64  	%rd149, %rd335, %rd5;
	and.b64  	%rd150, %rd149, -4294967296;
	setp.eq.s64 	%p2, %rd150, 0;
	@%p2 bra 	$L__BB1_4;
	div.u64 	%rd336, %rd335, %rd5;
	mul.lo.s64 	%rd151, %rd336, %rd5;
	sub.s64 	%rd337, %rd335, %rd151;
	bra.uni 	$L__BB1_5;
$L__BB1_4:
	cvt.u32.u64 	%r29, %rd5;
	cvt.u32.u64 	%r30, %rd335;
	div.u32 	%r31, %r30, %r29;
	mul.lo.s32 	%r32, %r31, %r29;
	sub.s32 	%r33, %r30, %r32;
	cvt.u64.u32 	%rd336, %r31;
	cvt.u64.u32 	%rd337, %r33;
$L__BB1_5:
	or.b64  	%rd152, %rd336, %rd7;
	and.b64  	%rd153, %rd152, -4294967296;
	setp.eq.s64 	%p3, %rd153, 0;
	@%p3 bra 	$L__BB1_7;
	div.u64 	%rd343, %rd336, %rd7;
	mul.lo.s64 	%rd154, %rd343, %rd7;
	sub.s64 	%rd339, %rd336, %rd154;
	bra.uni 	$L__BB1_8;
$L__BB1_7:
	cvt.u32.u64 	%r34, %rd7;
	cvt.u32.u64 	%r35, %rd336;
	div.u32 	%r36, %r35, %r34;
	mul.lo.s32 	%r37, %r36, %r34;
	sub.s32 	%r38, %r35, %r37;
	cvt.u64.u32 	%rd343, %r36;
	cvt.u64.u32 	%rd339, %r38;
$L__BB1_8:
	setp.eq.s64 	%p4, %rd15, 1;
	mov.u64 	%rd345, %rd9;
	mov.u64 	%rd346, %rd10;
	@%p4 bra 	$L__BB1_13;
	or.b64  	%rd155, %rd343, %rd15;
	and.b64  	%rd156, %rd155, -4294967296;
	setp.eq.s64 	%p5, %rd156, 0;
	@%p5 bra 	$L__BB1_11;
	div.u64 	%rd340, %rd343, %rd15;
	bra.uni 	$L__BB1_12;
$L__BB1_11:
	cvt.u32.u64 	%r39, %rd15;
	cvt.u32.u64 	%r40, %rd343;
	div.u32 	%r41, %r40, %r39;
	cvt.u64.u32 	%rd340, %r41;
$L__BB1_12:
	mul.lo.s64 	%rd157, %rd340, %rd15;
	sub.s64 	%rd158, %rd343, %rd157;
	mul.lo.s64 	%rd159, %rd158, %rd17;
	add.s64 	%rd345, %rd159, %rd9;
	mul.lo.s64 	%rd160, %rd158, %rd18;
	add.s64 	%rd346, %rd160, %rd10;
	mov.u64 	%rd343, %rd340;
$L__BB1_13:
	setp.eq.s64 	%p6, %rd16, 1;
	@%p6 bra 	$L__BB1_18;
	or.b64  	%rd161, %rd343, %rd16;
	and.b64  	%rd162, %rd161, -4294967296;
	setp.eq.s64 	%p7, %rd162, 0;
	@%p7 bra 	$L__BB1_16;
	div.u64 	%rd344, %rd343, %rd16;
	bra.uni 	$L__BB1_17;
$L__BB1_16:
	cvt.u32.u64 	%r42, %rd16;
	cvt.u32.u64 	%r43, %rd343;
	div.u32 	%r44, %r43, %r42;
	cvt.u64.u32 	%rd344, %r44;
$L__BB1_17:
	mul.lo.s64 	%rd163, %rd344, %rd16;
	sub.s64 	%rd164, %rd343, %rd163;
	mul.lo.s64 	%rd165, %rd164, %rd20;
	add.s64 	%rd345, %rd165, %rd345;
	mul.lo.s64 	%rd166, %rd164, %rd21;
	add.s64 	%rd346, %rd166, %rd346;
	mov.u64 	%rd343, %rd344;
$L__BB1_18:
	setp.eq.s64 	%p8, %rd19, 1;
	@%p8 bra 	$L__BB1_23;
	or.b64  	%rd167, %rd343, %rd19;
	and.b64  	%rd168, %rd167, -4294967296;
	setp.eq.s64 	%p9, %rd168, 0;
	@%p9 bra 	$L__BB1_21;
	div.u64 	%rd348, %rd343, %rd19;
	bra.uni 	$L__BB1_22;
$L__BB1_21:
	cvt.u32.u64 	%r45, %rd19;
	cvt.u32.u64 	%r46, %rd343;
	div.u32 	%r47, %r46, %r45;
	cvt.u64.u32 	%rd348, %r47;
$L__BB1_22:
	mul.lo.s64 	%rd169, %rd348, %rd19;
	sub.s64 	%rd170, %rd343, %rd169;
	mul.lo.s64 	%rd171, %rd170, %rd23;
	add.s64 	%rd345, %rd171, %rd345;
	mul.lo.s64 	%rd172, %rd170, %rd24;
	add.s64 	%rd346, %rd172, %rd346;
	mov.u64 	%rd343, %rd348;
$L__BB1_23:
	setp.eq.s64 	%p10, %rd22, 1;
	@%p10 bra 	$L__BB1_28;
	or.b64  	%rd173, %rd343, %rd22;
	and.b64  	%rd174, %rd173, -4294967296;
	setp.eq.s64 	%p11, %rd174, 0;
	@%p11 bra 	$L__BB1_26;
	div.u64 	%rd352, %rd343, %rd22;
	bra.uni 	$L__BB1_27;
$L__BB1_26:
	cvt.u32.u64 	%r48, %rd22;
	cvt.u32.u64 	%r49, %rd343;
	div.u32 	%r50, %r49, %r48;
	cvt.u64.u32 	%rd352, %r50;
$L__BB1_27:
	mul.lo.s64 	%rd175, %rd352, %rd22;
	sub.s64 	%rd176, %rd343, %rd175;
	mul.lo.s64 	%rd177, %rd176, %rd26;
	add.s64 	%rd345, %rd177, %rd345;
	mul.lo.s64 	%rd178, %rd176, %rd27;
	add.s64 	%rd346, %rd178, %rd346;
	mov.u64 	%rd343, %rd352;
$L__BB1_28:
	setp.eq.s64 	%p12, %rd25, 1;
	@%p12 bra 	$L__BB1_33;
	or.b64  	%rd179, %rd343, %rd25;
	and.b64  	%rd180, %rd179, -4294967296;
	setp.eq.s64 	%p13, %rd180, 0;
	@%p13 bra 	$L__BB1_31;
	div.u64 	%rd356, %rd343, %rd25;
	bra.uni 	$L__BB1_32;
$L__BB1_31:
	cvt.u32.u64 	%r51, %rd25;
	cvt.u32.u64 	%r52, %rd343;
	div.u32 	%r53, %r52, %r51;
	cvt.u64.u32 	%rd356, %r53;
$L__BB1_32:
	mul.lo.s64 	%rd181, %rd356, %rd25;
	sub.s64 	%rd182, %rd343, %rd181;
	mul.lo.s64 	%rd183, %rd182, %rd29;
	add.s64 	%rd345, %rd183, %rd345;
	mul.lo.s64 	%rd184, %rd182, %rd30;
	add.s64 	%rd346, %rd184, %rd346;
	mov.u64 	%rd343, %rd356;
$L__BB1_33:
	setp.eq.s64 	%p14, %rd28, 1;
	@%p14 bra 	$L__BB1_38;
	or.b64  	%rd185, %rd343, %rd28;
	and.b64  	%rd186, %rd185, -4294967296;
	setp.eq.s64 	%p15, %rd186, 0;
	@%p15 bra 	$L__BB1_36;
	rem.u64 	%rd360, %rd343, %rd28;
	bra.uni 	$L__BB1_37;
$L__BB1_36:
	cvt.u32.u64 	%r54, %rd28;
	cvt.u32.u64 	%r55, %rd343;
	rem.u32 	%r56, %r55, %r54;
	cvt.u64.u32 	%rd360, %r56;
$L__BB1_37:
	mul.lo.s64 	%rd187, %rd360, %rd31;
	add.s64 	%rd345, %rd187, %rd345;
	mul.lo.s64 	%rd188, %rd360, %rd32;
	add.s64 	%rd346, %rd188, %rd346;
$L__BB1_38:
	shl.b64 	%rd98, %rd337, 5;
	setp.gt.u32 	%p16, %r1, 1023;
	@%p16 bra 	$L__BB1_72;
	shl.b64 	%rd308, %rd339, 5;
	add.s64 	%rd100, %rd308, %rd11;
	add.s64 	%rd101, %rd346, %rd100;
	setp.eq.s32 	%p17, %r20, 1;
	@%p17 bra 	$L__BB1_50;
	setp.eq.s32 	%p18, %r20, 2;
	@%p18 bra 	$L__BB1_46;
	setp.ne.s32 	%p19, %r20, 4;
	@%p19 bra 	$L__BB1_68;
	mov.u64 	%rd363, %rd34;
	mov.u32 	%r67, %r2;
$L__BB1_43:
	add.s64 	%rd326, %rd308, %rd11;
	cvt.u64.u32 	%rd189, %r67;
	add.s64 	%rd104, %rd98, %rd189;
	setp.ge.u64 	%p20, %rd104, %rd4;
	setp.ge.u64 	%p21, %rd326, %rd6;
	or.pred  	%p22, %p21, %p20;
	@%p22 bra 	$L__BB1_45;
	mul.lo.s64 	%rd190, %rd12, %rd104;
	add.s64 	%rd191, %rd101, %rd190;
	shl.b64 	%rd192, %rd191, 2;
	add.s64 	%rd193, %rd1, %rd192;
	ld.global.u32 	%rd194, [%rd193];
	st.shared.u64 	[%rd363], %rd194;
$L__BB1_45:
	add.s32 	%r67, %r67, 8;
	add.s64 	%rd363, %rd363, 2112;
	setp.lt.u32 	%p23, %r67, 32;
	@%p23 bra 	$L__BB1_43;
	bra.uni 	$L__BB1_72;
$L__BB1_50:
	setp.eq.s32 	%p28, %r5, 0;
	mov.u32 	%r69, %r2;
	@%p28 bra 	$L__BB1_59;
	shl.b64 	%rd314, %rd339, 5;
	add.s64 	%rd313, %rd308, %rd11;
	setp.ge.u64 	%p29, %rd313, %rd6;
	add.s64 	%rd108, %rd98, %rd33;
	setp.ge.u64 	%p30, %rd108, %rd4;
	or.pred  	%p31, %p29, %p30;
	@%p31 bra 	$L__BB1_53;
	mul.lo.s64 	%rd205, %rd12, %rd108;
	add.s64 	%rd206, %rd101, %rd205;
	add.s64 	%rd207, %rd1, %rd206;
	ld.global.u8 	%rd208, [%rd207];
	st.shared.u64 	[%rd34], %rd208;
$L__BB1_53:
	setp.eq.s32 	%p32, %r5, 1;
	mov.u32 	%r69, %r3;
	@%p32 bra 	$L__BB1_59;
	add.s64 	%rd109, %rd98, %rd35;
	setp.ge.u64 	%p34, %rd109, %rd4;
	or.pred  	%p35, %p29, %p34;
	@%p35 bra 	$L__BB1_56;
	mul.lo.s64 	%rd209, %rd12, %rd109;
	add.s64 	%rd210, %rd101, %rd209;
	add.s64 	%rd211, %rd1, %rd210;
	ld.global.u8 	%rd212, [%rd211];
	st.shared.u64 	[%rd34+2112], %rd212;
$L__BB1_56:
	setp.eq.s32 	%p36, %r5, 2;
	mov.u32 	%r69, %r6;
	@%p36 bra 	$L__BB1_59;
	add.s64 	%rd110, %rd98, %rd37;
	setp.ge.u64 	%p38, %rd110, %rd4;
	or.pred  	%p39, %p29, %p38;
	mov.u32 	%r69, %r7;
	@%p39 bra 	$L__BB1_59;
	mul.lo.s64 	%rd213, %rd12, %rd110;
	add.s64 	%rd214, %rd101, %rd213;
	add.s64 	%rd215, %rd1, %rd214;
	ld.global.u8 	%rd216, [%rd215];
	st.shared.u64 	[%rd34+4224], %rd216;
	mov.u32 	%r69, %r7;
$L__BB1_59:
	setp.lt.u32 	%p40, %r4, 24;
	@%p40 bra 	$L__BB1_72;
	shl.b64 	%rd316, %rd339, 5;
	add.s64 	%rd315, %rd308, %rd11;
	setp.ge.u64 	%p41, %rd315, %rd6;
	cvt.u64.u32 	%rd217, %r69;
	add.s64 	%rd111, %rd98, %rd217;
	setp.ge.u64 	%p42, %rd111, %rd4;
	or.pred  	%p43, %p41, %p42;
	mul.wide.u32 	%rd218, %r69, 264;
	add.s64 	%rd220, %rd142, %rd218;
	shl.b64 	%rd221, %rd11, 3;
	add.s64 	%rd112, %rd220, %rd221;
	@%p43 bra 	$L__BB1_62;
	mul.lo.s64 	%rd222, %rd12, %rd111;
	add.s64 	%rd223, %rd101, %rd222;
	add.s64 	%rd224, %rd1, %rd223;
	ld.global.u8 	%rd225, [%rd224];
	st.shared.u64 	[%rd112], %rd225;
$L__BB1_62:
	add.s32 	%r58, %r69, 8;
	cvt.u64.u32 	%rd226, %r58;
	add.s64 	%rd113, %rd98, %rd226;
	setp.ge.u64 	%p45, %rd113, %rd4;
	or.pred  	%p46, %p41, %p45;
	@%p46 bra 	$L__BB1_64;
	mul.lo.s64 	%rd227, %rd12, %rd113;
	add.s64 	%rd228, %rd101, %rd227;
	add.s64 	%rd229, %rd1, %rd228;
	ld.global.u8 	%rd230, [%rd229];
	st.shared.u64 	[%rd112+2112], %rd230;
$L__BB1_64:
	add.s32 	%r59, %r69, 16;
	cvt.u64.u32 	%rd231, %r59;
	add.s64 	%rd114, %rd98, %rd231;
	setp.ge.u64 	%p48, %rd114, %rd4;
	or.pred  	%p49, %p41, %p48;
	@%p49 bra 	$L__BB1_66;
	mul.lo.s64 	%rd232, %rd12, %rd114;
	add.s64 	%rd233, %rd101, %rd232;
	add.s64 	%rd234, %rd1, %rd233;
	ld.global.u8 	%rd235, [%rd234];
	st.shared.u64 	[%rd112+4224], %rd235;
$L__BB1_66:
	add.s32 	%r60, %r69, 24;
	cvt.u64.u32 	%rd236, %r60;
	add.s64 	%rd115, %rd98, %rd236;
	setp.ge.u64 	%p51, %rd115, %rd4;
	or.pred  	%p52, %p41, %p51;
	@%p52 bra 	$L__BB1_72;
	mul.lo.s64 	%rd237, %rd12, %rd115;
	add.s64 	%rd238, %rd101, %rd237;
	add.s64 	%rd239, %rd1, %rd238;
	ld.global.u8 	%rd240, [%rd239];
	st.shared.u64 	[%rd112+6336], %rd240;
	bra.uni 	$L__BB1_72;
$L__BB1_46:
	mov.u32 	%r68, %r2;
$L__BB1_47:
	shl.b64 	%rd312, %rd339, 5;
	add.s64 	%rd311, %rd308, %rd11;
	cvt.u64.u32 	%rd106, %r68;
	add.s64 	%rd107, %rd98, %rd106;
	setp.ge.u64 	%p24, %rd107, %rd4;
	setp.ge.u64 	%p25, %rd311, %rd6;
	or.pred  	%p26, %p25, %p24;
	@%p26 bra 	$L__BB1_49;
	mul.lo.s64 	%rd195, %rd12, %rd107;
	add.s64 	%rd196, %rd101, %rd195;
	shl.b64 	%rd197, %rd196, 1;
	add.s64 	%rd198, %rd1, %rd197;
	ld.global.u16 	%rd199, [%rd198];
	mul.lo.s64 	%rd200, %rd106, 264;
	add.s64 	%rd202, %rd142, %rd200;
	shl.b64 	%rd203, %rd11, 3;
	add.s64 	%rd204, %rd202, %rd203;
	st.shared.u64 	[%rd204], %rd199;
$L__BB1_49:
	cvt.u32.u64 	%r57, %rd106;
	add.s32 	%r68, %r57, 8;
	setp.lt.u32 	%p27, %r68, 32;
	@%p27 bra 	$L__BB1_47;
	bra.uni 	$L__BB1_72;
$L__BB1_68:
	mov.u32 	%r70, %r2;
$L__BB1_69:
	shl.b64 	%rd310, %rd339, 5;
	add.s64 	%rd309, %rd308, %rd11;
	cvt.u64.u32 	%rd116, %r70;
	add.s64 	%rd117, %rd98, %rd116;
	setp.ge.u64 	%p53, %rd117, %rd4;
	setp.ge.u64 	%p54, %rd309, %rd6;
	or.pred  	%p55, %p54, %p53;
	@%p55 bra 	$L__BB1_71;
	mul.lo.s64 	%rd241, %rd12, %rd117;
	add.s64 	%rd242, %rd101, %rd241;
	shl.b64 	%rd243, %rd242, 3;
	add.s64 	%rd244, %rd1, %rd243;
	ld.global.u64 	%rd245, [%rd244];
	mul.lo.s64 	%rd246, %rd116, 264;
	add.s64 	%rd248, %rd142, %rd246;
	shl.b64 	%rd249, %rd11, 3;
	add.s64 	%rd250, %rd248, %rd249;
	st.shared.u64 	[%rd250], %rd245;
$L__BB1_71:
	cvt.u32.u64 	%r61, %rd116;
	add.s32 	%r70, %r61, 8;
	setp.lt.u32 	%p56, %r70, 32;
	@%p56 bra 	$L__BB1_69;
$L__BB1_72:
	bar.sync 	0;
	@%p16 bra 	$L__BB1_103;
	add.s64 	%rd118, %rd98, %rd11;
	add.s64 	%rd119, %rd345, %rd118;
	setp.eq.s32 	%p58, %r20, 1;
	@%p58 bra 	$L__BB1_79;
	setp.ne.s32 	%p59, %r20, 2;
	@%p59 bra 	$L__BB1_97;
	mov.u32 	%r71, %r2;
$L__BB1_76:
	shl.b64 	%rd330, %rd337, 5;
	add.s64 	%rd329, %rd330, %rd11;
	shl.b64 	%rd318, %rd339, 5;
	cvt.u64.u32 	%rd120, %r71;
	add.s64 	%rd121, %rd318, %rd120;
	setp.ge.u64 	%p60, %rd121, %rd6;
	setp.ge.u64 	%p61, %rd329, %rd4;
	or.pred  	%p62, %p61, %p60;
	@%p62 bra 	$L__BB1_78;
	mul.lo.s64 	%rd251, %rd14, %rd121;
	add.s64 	%rd252, %rd119, %rd251;
	mul.lo.s64 	%rd253, %rd11, 264;
	add.s64 	%rd255, %rd142, %rd253;
	shl.b64 	%rd256, %rd120, 3;
	add.s64 	%rd257, %rd255, %rd256;
	ld.shared.u64 	%rd258, [%rd257];
	shl.b64 	%rd259, %rd252, 1;
	add.s64 	%rd260, %rd2, %rd259;
	st.global.u16 	[%rd260], %rd258;
$L__BB1_78:
	cvt.u32.u64 	%r62, %rd120;
	add.s32 	%r71, %r62, 8;
	setp.lt.u32 	%p63, %r71, 32;
	@%p63 bra 	$L__BB1_76;
	bra.uni 	$L__BB1_103;
$L__BB1_79:
	setp.eq.s32 	%p64, %r5, 0;
	mov.u32 	%r72, %r2;
	@%p64 bra 	$L__BB1_88;
	shl.b64 	%rd332, %rd337, 5;
	add.s64 	%rd331, %rd332, %rd11;
	shl.b64 	%rd319, %rd339, 5;
	setp.ge.u64 	%p65, %rd331, %rd4;
	add.s64 	%rd122, %rd319, %rd33;
	setp.ge.u64 	%p66, %rd122, %rd6;
	or.pred  	%p67, %p65, %p66;
	@%p67 bra 	$L__BB1_82;
	mul.lo.s64 	%rd261, %rd14, %rd122;
	add.s64 	%rd262, %rd119, %rd261;
	ld.shared.u64 	%rd263, [%rd36];
	add.s64 	%rd264, %rd2, %rd262;
	st.global.u8 	[%rd264], %rd263;
$L__BB1_82:
	setp.eq.s32 	%p68, %r5, 1;
	mov.u32 	%r72, %r3;
	@%p68 bra 	$L__BB1_88;
	shl.b64 	%rd320, %rd339, 5;
	add.s64 	%rd123, %rd320, %rd35;
	setp.ge.u64 	%p70, %rd123, %rd6;
	or.pred  	%p71, %p65, %p70;
	@%p71 bra 	$L__BB1_85;
	mul.lo.s64 	%rd265, %rd14, %rd123;
	add.s64 	%rd266, %rd119, %rd265;
	ld.shared.u64 	%rd267, [%rd36+64];
	add.s64 	%rd268, %rd2, %rd266;
	st.global.u8 	[%rd268], %rd267;
$L__BB1_85:
	setp.eq.s32 	%p72, %r5, 2;
	mov.u32 	%r72, %r6;
	@%p72 bra 	$L__BB1_88;
	shl.b64 	%rd321, %rd339, 5;
	add.s64 	%rd124, %rd321, %rd37;
	setp.ge.u64 	%p74, %rd124, %rd6;
	or.pred  	%p75, %p65, %p74;
	mov.u32 	%r72, %r7;
	@%p75 bra 	$L__BB1_88;
	mul.lo.s64 	%rd269, %rd14, %rd124;
	add.s64 	%rd270, %rd119, %rd269;
	ld.shared.u64 	%rd271, [%rd36+128];
	add.s64 	%rd272, %rd2, %rd270;
	st.global.u8 	[%rd272], %rd271;
	mov.u32 	%r72, %r7;
$L__BB1_88:
	setp.lt.u32 	%p76, %r4, 24;
	@%p76 bra 	$L__BB1_103;
	shl.b64 	%rd334, %rd337, 5;
	add.s64 	%rd333, %rd334, %rd11;
	shl.b64 	%rd322, %rd339, 5;
	setp.ge.u64 	%p77, %rd333, %rd4;
	cvt.u64.u32 	%rd273, %r72;
	add.s64 	%rd125, %rd322, %rd273;
	setp.ge.u64 	%p78, %rd125, %rd6;
	or.pred  	%p79, %p77, %p78;
	mul.lo.s64 	%rd274, %rd11, 264;
	add.s64 	%rd276, %rd142, %rd274;
	mul.wide.u32 	%rd277, %r72, 8;
	add.s64 	%rd126, %rd276, %rd277;
	@%p79 bra 	$L__BB1_91;
	mul.lo.s64 	%rd278, %rd14, %rd125;
	add.s64 	%rd279, %rd119, %rd278;
	ld.shared.u64 	%rd280, [%rd126];
	add.s64 	%rd281, %rd2, %rd279;
	st.global.u8 	[%rd281], %rd280;
$L__BB1_91:
	shl.b64 	%rd323, %rd339, 5;
	add.s32 	%r63, %r72, 8;
	cvt.u64.u32 	%rd282, %r63;
	add.s64 	%rd127, %rd323, %rd282;
	setp.ge.u64 	%p81, %rd127, %rd6;
	or.pred  	%p82, %p77, %p81;
	@%p82 bra 	$L__BB1_93;
	mul.lo.s64 	%rd283, %rd14, %rd127;
	add.s64 	%rd284, %rd119, %rd283;
	ld.shared.u64 	%rd285, [%rd126+64];
	add.s64 	%rd286, %rd2, %rd284;
	st.global.u8 	[%rd286], %rd285;
$L__BB1_93:
	shl.b64 	%rd324, %rd339, 5;
	add.s32 	%r64, %r72, 16;
	cvt.u64.u32 	%rd287, %r64;
	add.s64 	%rd128, %rd324, %rd287;
	setp.ge.u64 	%p84, %rd128, %rd6;
	or.pred  	%p85, %p77, %p84;
	@%p85 bra 	$L__BB1_95;
	mul.lo.s64 	%rd288, %rd14, %rd128;
	add.s64 	%rd289, %rd119, %rd288;
	ld.shared.u64 	%rd290, [%rd126+128];
	add.s64 	%rd291, %rd2, %rd289;
	st.global.u8 	[%rd291], %rd290;
$L__BB1_95:
	shl.b64 	%rd325, %rd339, 5;
	add.s32 	%r65, %r72, 24;
	cvt.u64.u32 	%rd292, %r65;
	add.s64 	%rd129, %rd325, %rd292;
	setp.ge.u64 	%p87, %rd129, %rd6;
	or.pred  	%p88, %p77, %p87;
	@%p88 bra 	$L__BB1_103;
	mul.lo.s64 	%rd293, %rd14, %rd129;
	add.s64 	%rd294, %rd119, %rd293;
	ld.shared.u64 	%rd295, [%rd126+192];
	add.s64 	%rd296, %rd2, %rd294;
	st.global.u8 	[%rd296], %rd295;
	bra.uni 	$L__BB1_103;
$L__BB1_97:
	mov.u32 	%r73, %r2;
$L__BB1_98:
	shl.b64 	%rd328, %rd337, 5;
	add.s64 	%rd327, %rd328, %rd11;
	shl.b64 	%rd317, %rd339, 5;
	cvt.u64.u32 	%rd130, %r73;
	add.s64 	%rd131, %rd317, %rd130;
	setp.ge.u64 	%p89, %rd131, %rd6;
	setp.ge.u64 	%p90, %rd327, %rd4;
	or.pred  	%p91, %p90, %p89;
	@%p91 bra 	$L__BB1_102;
	setp.eq.s32 	%p92, %r20, 4;
	mul.lo.s64 	%rd297, %rd14, %rd131;
	add.s64 	%rd132, %rd119, %rd297;
	mul.lo.s64 	%rd298, %rd11, 264;
	add.s64 	%rd300, %rd142, %rd298;
	shl.b64 	%rd301, %rd130, 3;
	add.s64 	%rd302, %rd300, %rd301;
	ld.shared.u64 	%rd133, [%rd302];
	@%p92 bra 	$L__BB1_101;
	bra.uni 	$L__BB1_100;
$L__BB1_101:
	shl.b64 	%rd305, %rd132, 2;
	add.s64 	%rd306, %rd2, %rd305;
	st.global.u32 	[%rd306], %rd133;
	bra.uni 	$L__BB1_102;
$L__BB1_100:
	shl.b64 	%rd303, %rd132, 3;
	add.s64 	%rd304, %rd2, %rd303;
	st.global.u64 	[%rd304], %rd133;
$L__BB1_102:
	cvt.u32.u64 	%r66, %rd130;
	add.s32 	%r73, %r66, 8;
	setp.lt.u32 	%p93, %r73, 32;
	@%p93 bra 	$L__BB1_98;
$L__BB1_103:
	ld.param.u64 	%rd307, [vramkit_strided_transpose_param_2];
	bar.sync 	0;
	add.s64 	%rd335, %rd335, %rd13;
	setp.lt.u64 	%p94, %rd335, %rd307;
	@%p94 bra 	$L__BB1_2;
$L__BB1_104:
	ret;
}`;
