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
	.reg .pred 	%p<149>;
	.reg .b16 	%rs<3>;
	.reg .b32 	%r<108>;
	.reg .b64 	%rd<900>;
	ld.param.u64 	%rd400, [vramkit_strided_copy_param_0];
	ld.param.u64 	%rd401, [vramkit_strided_copy_param_1];
	ld.param.u64 	%rd399, [vramkit_strided_copy_param_2];
	ld.param.u32 	%r2, [vramkit_strided_copy_param_3];
	mov.b64 	%rd402, vramkit_strided_copy_param_4;
	cvta.to.global.u64 	%rd1, %rd401;
	cvta.to.global.u64 	%rd2, %rd400;
	ld.param.u64 	%rd4, [vramkit_strided_copy_param_4+56];
	setp.lt.u64 	%p1, %rd4, 5;
	ld.param.u64 	%rd5, [vramkit_strided_copy_param_4+184];
	setp.ne.s64 	%p2, %rd5, 1;
	and.pred  	%p3, %p1, %p2;
	@%p3 bra 	$L__BB0_162;
	bra.uni 	$L__BB0_1;
$L__BB0_162:
	or.b64  	%rd610, %rd399, %rd4;
	and.b64  	%rd611, %rd610, -4294967296;
	setp.eq.s64 	%p93, %rd611, 0;
	@%p93 bra 	$L__BB0_164;
	div.u64 	%rd851, %rd399, %rd4;
	bra.uni 	$L__BB0_165;
$L__BB0_1:
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	cvt.u64.u32 	%rd6, %r4;
	mul.wide.u32 	%rd403, %r3, %r4;
	mov.u32 	%r5, %tid.x;
	cvt.u64.u32 	%rd404, %r5;
	add.s64 	%rd405, %rd403, %rd404;
	shr.u64 	%rd406, %rd405, 5;
	and.b64  	%rd407, %rd405, 31;
	bfi.b64 	%rd745, %rd406, %rd407, 7, 57;
	setp.ge.u64 	%p4, %rd745, %rd399;
	@%p4 bra 	$L__BB0_272;
	mov.u32 	%r6, %nctaid.x;
	cvt.u64.u32 	%rd408, %r6;
	mul.lo.s64 	%rd409, %rd6, %rd408;
	shl.b64 	%rd8, %rd409, 2;
	ld.param.u64 	%rd9, [%rd402+192];
	ld.param.u64 	%rd10, [%rd402+200];
	ld.param.u64 	%rd11, [%rd402+48];
	ld.param.u64 	%rd12, [%rd402+40];
	ld.param.u64 	%rd13, [%rd402+112];
	ld.param.u64 	%rd14, [%rd402+176];
	ld.param.u64 	%rd15, [%rd402+32];
	ld.param.u64 	%rd16, [%rd402+104];
	ld.param.u64 	%rd17, [%rd402+168];
	ld.param.u64 	%rd18, [%rd402+24];
	ld.param.u64 	%rd19, [%rd402+96];
	ld.param.u64 	%rd20, [%rd402+160];
	ld.param.u64 	%rd21, [%rd402+16];
	ld.param.u64 	%rd22, [%rd402+88];
	ld.param.u64 	%rd23, [%rd402+152];
	ld.param.u64 	%rd24, [%rd402+8];
	ld.param.u64 	%rd25, [%rd402+80];
	ld.param.u64 	%rd26, [%rd402+144];
	ld.param.u64 	%rd27, [%rd402];
	ld.param.u64 	%rd28, [%rd402+72];
	ld.param.u64 	%rd29, [%rd402+136];
	ld.param.u64 	%rd30, [%rd402+64];
	ld.param.u64 	%rd31, [%rd402+128];
	shl.b64 	%rd32, %rd5, 5;
	ld.param.u64 	%rd33, [%rd402+120];
	shl.b64 	%rd34, %rd33, 5;
	shl.b64 	%rd35, %rd5, 6;
	shl.b64 	%rd36, %rd33, 6;
	shl.b64 	%rd37, %rd5, 8;
	shl.b64 	%rd38, %rd5, 7;
	cvt.u32.u64 	%r55, %rd4;
	cvt.u32.u64 	%r58, %rd11;
	cvt.u32.u64 	%r61, %rd12;
$L__BB0_3:
	setp.ge.u64 	%p5, %rd745, %rd399;
	setp.gt.u64 	%p6, %rd745, -129;
	or.pred  	%p7, %p6, %p5;
	@%p7 bra 	$L__BB0_161;
	setp.eq.s32 	%p8, %r2, 1;
	@%p8 bra 	$L__BB0_49;
	setp.ne.s32 	%p9, %r2, 2;
	@%p9 bra 	$L__BB0_92;
	mov.u64 	%rd746, %rd745;
$L__BB0_7:
	setp.eq.s64 	%p10, %rd4, 1;
	mov.u64 	%rd750, 1;
	mov.u64 	%rd753, %rd9;
	mov.u64 	%rd754, %rd10;
	mov.u64 	%rd755, %rd746;
	@%p10 bra 	$L__BB0_12;
	or.b64  	%rd411, %rd746, %rd4;
	and.b64  	%rd412, %rd411, -4294967296;
	setp.eq.s64 	%p11, %rd412, 0;
	@%p11 bra 	$L__BB0_10;
	div.u64 	%rd755, %rd746, %rd4;
	bra.uni 	$L__BB0_11;
$L__BB0_10:
	cvt.u32.u64 	%r8, %rd746;
	div.u32 	%r9, %r8, %r55;
	cvt.u64.u32 	%rd755, %r9;
$L__BB0_11:
	mul.lo.s64 	%rd413, %rd755, %rd4;
	sub.s64 	%rd414, %rd746, %rd413;
	sub.s64 	%rd750, %rd4, %rd414;
	mul.lo.s64 	%rd415, %rd414, %rd33;
	add.s64 	%rd753, %rd415, %rd9;
	mul.lo.s64 	%rd416, %rd414, %rd5;
	add.s64 	%rd754, %rd416, %rd10;
$L__BB0_12:
	setp.eq.s64 	%p12, %rd11, 1;
	@%p12 bra 	$L__BB0_17;
	or.b64  	%rd417, %rd755, %rd11;
	and.b64  	%rd418, %rd417, -4294967296;
	setp.eq.s64 	%p13, %rd418, 0;
	@%p13 bra 	$L__BB0_15;
	div.u64 	%rd752, %rd755, %rd11;
	bra.uni 	$L__BB0_16;
$L__BB0_15:
	cvt.u32.u64 	%r11, %rd755;
	div.u32 	%r12, %r11, %r58;
	cvt.u64.u32 	%rd752, %r12;
$L__BB0_16:
	mul.lo.s64 	%rd419, %rd752, %rd11;
	sub.s64 	%rd420, %rd755, %rd419;
	mul.lo.s64 	%rd421, %rd420, %rd13;
	add.s64 	%rd753, %rd421, %rd753;
	mul.lo.s64 	%rd422, %rd420, %rd14;
	add.s64 	%rd754, %rd422, %rd754;
	mov.u64 	%rd755, %rd752;
$L__BB0_17:
	setp.eq.s64 	%p14, %rd12, 1;
	@%p14 bra 	$L__BB0_22;
	or.b64  	%rd423, %rd755, %rd12;
	and.b64  	%rd424, %rd423, -4294967296;
	setp.eq.s64 	%p15, %rd424, 0;
	@%p15 bra 	$L__BB0_20;
	div.u64 	%rd756, %rd755, %rd12;
	bra.uni 	$L__BB0_21;
$L__BB0_20:
	cvt.u32.u64 	%r14, %rd755;
	div.u32 	%r15, %r14, %r61;
	cvt.u64.u32 	%rd756, %r15;
$L__BB0_21:
	mul.lo.s64 	%rd425, %rd756, %rd12;
	sub.s64 	%rd426, %rd755, %rd425;
	mul.lo.s64 	%rd427, %rd426, %rd16;
	add.s64 	%rd753, %rd427, %rd753;
	mul.lo.s64 	%rd428, %rd426, %rd17;
	add.s64 	%rd754, %rd428, %rd754;
	mov.u64 	%rd755, %rd756;
$L__BB0_22:
	setp.eq.s64 	%p16, %rd15, 1;
	@%p16 bra 	$L__BB0_27;
	or.b64  	%rd429, %rd755, %rd15;
	and.b64  	%rd430, %rd429, -4294967296;
	setp.eq.s64 	%p17, %rd430, 0;
	@%p17 bra 	$L__BB0_25;
	div.u64 	%rd760, %rd755, %rd15;
	bra.uni 	$L__BB0_26;
$L__BB0_25:
	cvt.u32.u64 	%r16, %rd15;
	cvt.u32.u64 	%r17, %rd755;
	div.u32 	%r18, %r17, %r16;
	cvt.u64.u32 	%rd760, %r18;
$L__BB0_26:
	mul.lo.s64 	%rd431, %rd760, %rd15;
	sub.s64 	%rd432, %rd755, %rd431;
	mul.lo.s64 	%rd433, %rd432, %rd19;
	add.s64 	%rd753, %rd433, %rd753;
	mul.lo.s64 	%rd434, %rd432, %rd20;
	add.s64 	%rd754, %rd434, %rd754;
	mov.u64 	%rd755, %rd760;
$L__BB0_27:
	setp.eq.s64 	%p18, %rd18, 1;
	@%p18 bra 	$L__BB0_32;
	or.b64  	%rd435, %rd755, %rd18;
	and.b64  	%rd436, %rd435, -4294967296;
	setp.eq.s64 	%p19, %rd436, 0;
	@%p19 bra 	$L__BB0_30;
	div.u64 	%rd764, %rd755, %rd18;
	bra.uni 	$L__BB0_31;
$L__BB0_30:
	cvt.u32.u64 	%r19, %rd18;
	cvt.u32.u64 	%r20, %rd755;
	div.u32 	%r21, %r20, %r19;
	cvt.u64.u32 	%rd764, %r21;
$L__BB0_31:
	mul.lo.s64 	%rd437, %rd764, %rd18;
	sub.s64 	%rd438, %rd755, %rd437;
	mul.lo.s64 	%rd439, %rd438, %rd22;
	add.s64 	%rd753, %rd439, %rd753;
	mul.lo.s64 	%rd440, %rd438, %rd23;
	add.s64 	%rd754, %rd440, %rd754;
	mov.u64 	%rd755, %rd764;
$L__BB0_32:
	setp.eq.s64 	%p20, %rd21, 1;
	@%p20 bra 	$L__BB0_37;
	or.b64  	%rd441, %rd755, %rd21;
	and.b64  	%rd442, %rd441, -4294967296;
	setp.eq.s64 	%p21, %rd442, 0;
	@%p21 bra 	$L__BB0_35;
	div.u64 	%rd768, %rd755, %rd21;
	bra.uni 	$L__BB0_36;
$L__BB0_35:
	cvt.u32.u64 	%r22, %rd21;
	cvt.u32.u64 	%r23, %rd755;
	div.u32 	%r24, %r23, %r22;
	cvt.u64.u32 	%rd768, %r24;
$L__BB0_36:
	mul.lo.s64 	%rd443, %rd768, %rd21;
	sub.s64 	%rd444, %rd755, %rd443;
	mul.lo.s64 	%rd445, %rd444, %rd25;
	add.s64 	%rd753, %rd445, %rd753;
	mul.lo.s64 	%rd446, %rd444, %rd26;
	add.s64 	%rd754, %rd446, %rd754;
	mov.u64 	%rd755, %rd768;
$L__BB0_37:
	setp.eq.s64 	%p22, %rd24, 1;
	@%p22 bra 	$L__BB0_42;
	or.b64  	%rd447, %rd755, %rd24;
	and.b64  	%rd448, %rd447, -4294967296;
	setp.eq.s64 	%p23, %rd448, 0;
	@%p23 bra 	$L__BB0_40;
	div.u64 	%rd772, %rd755, %rd24;
	bra.uni 	$L__BB0_41;
$L__BB0_40:
	cvt.u32.u64 	%r25, %rd24;
	cvt.u32.u64 	%r26, %rd755;
	div.u32 	%r27, %r26, %r25;
	cvt.u64.u32 	%rd772, %r27;
$L__BB0_41:
	mul.lo.s64 	%rd449, %rd772, %rd24;
	sub.s64 	%rd450, %rd755, %rd449;
	mul.lo.s64 	%rd451, %rd450, %rd28;
	add.s64 	%rd753, %rd451, %rd753;
	mul.lo.s64 	%rd452, %rd450, %rd29;
	add.s64 	%rd754, %rd452, %rd754;
	mov.u64 	%rd755, %rd772;
$L__BB0_42:
	setp.eq.s64 	%p24, %rd27, 1;
	@%p24 bra 	$L__BB0_47;
	or.b64  	%rd453, %rd755, %rd27;
	and.b64  	%rd454, %rd453, -4294967296;
	setp.eq.s64 	%p25, %rd454, 0;
	@%p25 bra 	$L__BB0_45;
	rem.u64 	%rd776, %rd755, %rd27;
	bra.uni 	$L__BB0_46;
$L__BB0_45:
	cvt.u32.u64 	%r28, %rd27;
	cvt.u32.u64 	%r29, %rd755;
	rem.u32 	%r30, %r29, %r28;
	cvt.u64.u32 	%rd776, %r30;
$L__BB0_46:
	mul.lo.s64 	%rd455, %rd776, %rd30;
	add.s64 	%rd753, %rd455, %rd753;
	mul.lo.s64 	%rd456, %rd776, %rd31;
	add.s64 	%rd754, %rd456, %rd754;
$L__BB0_47:
	add.s64 	%rd730, %rd745, 96;
	setp.gt.u64 	%p26, %rd750, 96;
	setp.le.u64 	%p27, %rd746, %rd745;
	and.pred  	%p28, %p27, %p26;
	setp.lt.u64 	%p29, %rd730, %rd399;
	and.pred  	%p30, %p29, %p28;
	@%p30 bra 	$L__BB0_134;
	add.s64 	%rd731, %rd745, 128;
	shl.b64 	%rd457, %rd754, 1;
	add.s64 	%rd458, %rd1, %rd457;
	ld.global.u16 	%rs1, [%rd458];
	shl.b64 	%rd459, %rd753, 1;
	add.s64 	%rd460, %rd2, %rd459;
	st.global.u16 	[%rd460], %rs1;
	add.s64 	%rd746, %rd746, 32;
	setp.lt.u64 	%p31, %rd746, %rd731;
	setp.lt.u64 	%p32, %rd746, %rd399;
	and.pred  	%p33, %p31, %p32;
	@%p33 bra 	$L__BB0_7;
	bra.uni 	$L__BB0_161;
$L__BB0_49:
	mov.u64 	%rd779, %rd745;
$L__BB0_50:
	setp.eq.s64 	%p34, %rd4, 1;
	mov.u64 	%rd783, 1;
	mov.u64 	%rd753, %rd9;
	mov.u64 	%rd754, %rd10;
	mov.u64 	%rd788, %rd779;
	@%p34 bra 	$L__BB0_55;
	or.b64  	%rd462, %rd779, %rd4;
	and.b64  	%rd463, %rd462, -4294967296;
	setp.eq.s64 	%p35, %rd463, 0;
	@%p35 bra 	$L__BB0_53;
	div.u64 	%rd788, %rd779, %rd4;
	bra.uni 	$L__BB0_54;
$L__BB0_53:
	cvt.u32.u64 	%r32, %rd779;
	div.u32 	%r33, %r32, %r55;
	cvt.u64.u32 	%rd788, %r33;
$L__BB0_54:
	mul.lo.s64 	%rd464, %rd788, %rd4;
	sub.s64 	%rd465, %rd779, %rd464;
	sub.s64 	%rd783, %rd4, %rd465;
	mul.lo.s64 	%rd466, %rd465, %rd33;
	add.s64 	%rd753, %rd466, %rd9;
	mul.lo.s64 	%rd467, %rd465, %rd5;
	add.s64 	%rd754, %rd467, %rd10;
$L__BB0_55:
	setp.eq.s64 	%p36, %rd11, 1;
	@%p36 bra 	$L__BB0_60;
	or.b64  	%rd468, %rd788, %rd11;
	and.b64  	%rd469, %rd468, -4294967296;
	setp.eq.s64 	%p37, %rd469, 0;
	@%p37 bra 	$L__BB0_58;
	div.u64 	%rd785, %rd788, %rd11;
	bra.uni 	$L__BB0_59;
$L__BB0_58:
	cvt.u32.u64 	%r35, %rd788;
	div.u32 	%r36, %r35, %r58;
	cvt.u64.u32 	%rd785, %r36;
$L__BB0_59:
	mul.lo.s64 	%rd470, %rd785, %rd11;
	sub.s64 	%rd471, %rd788, %rd470;
	mul.lo.s64 	%rd472, %rd471, %rd13;
	add.s64 	%rd753, %rd472, %rd753;
	mul.lo.s64 	%rd473, %rd471, %rd14;
	add.s64 	%rd754, %rd473, %rd754;
	mov.u64 	%rd788, %rd785;
$L__BB0_60:
	setp.eq.s64 	%p38, %rd12, 1;
	@%p38 bra 	$L__BB0_65;
	or.b64  	%rd474, %rd788, %rd12;
	and.b64  	%rd475, %rd474, -4294967296;
	setp.eq.s64 	%p39, %rd475, 0;
	@%p39 bra 	$L__BB0_63;
	div.u64 	%rd789, %rd788, %rd12;
	bra.uni 	$L__BB0_64;
$L__BB0_63:
	cvt.u32.u64 	%r38, %rd788;
	div.u32 	%r39, %r38, %r61;
	cvt.u64.u32 	%rd789, %r39;
$L__BB0_64:
	mul.lo.s64 	%rd476, %rd789, %rd12;
	sub.s64 	%rd477, %rd788, %rd476;
	mul.lo.s64 	%rd478, %rd477, %rd16;
	add.s64 	%rd753, %rd478, %rd753;
	mul.lo.s64 	%rd479, %rd477, %rd17;
	add.s64 	%rd754, %rd479, %rd754;
	mov.u64 	%rd788, %rd789;
$L__BB0_65:
	setp.eq.s64 	%p40, %rd15, 1;
	@%p40 bra 	$L__BB0_70;
	or.b64  	%rd480, %rd788, %rd15;
	and.b64  	%rd481, %rd480, -4294967296;
	setp.eq.s64 	%p41, %rd481, 0;
	@%p41 bra 	$L__BB0_68;
	div.u64 	%rd793, %rd788, %rd15;
	bra.uni 	$L__BB0_69;
$L__BB0_68:
	cvt.u32.u64 	%r40, %rd15;
	cvt.u32.u64 	%r41, %rd788;
	div.u32 	%r42, %r41, %r40;
	cvt.u64.u32 	%rd793, %r42;
$L__BB0_69:
	mul.lo.s64 	%rd482, %rd793, %rd15;
	sub.s64 	%rd483, %rd788, %rd482;
	mul.lo.s64 	%rd484, %rd483, %rd19;
	add.s64 	%rd753, %rd484, %rd753;
	mul.lo.s64 	%rd485, %rd483, %rd20;
	add.s64 	%rd754, %rd485, %rd754;
	mov.u64 	%rd788, %rd793;
$L__BB0_70:
	setp.eq.s64 	%p42, %rd18, 1;
	@%p42 bra 	$L__BB0_75;
	or.b64  	%rd486, %rd788, %rd18;
	and.b64  	%rd487, %rd486, -4294967296;
	setp.eq.s64 	%p43, %rd487, 0;
	@%p43 bra 	$L__BB0_73;
	div.u64 	%rd797, %rd788, %rd18;
	bra.uni 	$L__BB0_74;
$L__BB0_73:
	cvt.u32.u64 	%r43, %rd18;
	cvt.u32.u64 	%r44, %rd788;
	div.u32 	%r45, %r44, %r43;
	cvt.u64.u32 	%rd797, %r45;
$L__BB0_74:
	mul.lo.s64 	%rd488, %rd797, %rd18;
	sub.s64 	%rd489, %rd788, %rd488;
	mul.lo.s64 	%rd490, %rd489, %rd22;
	add.s64 	%rd753, %rd490, %rd753;
	mul.lo.s64 	%rd491, %rd489, %rd23;
	add.s64 	%rd754, %rd491, %rd754;
	mov.u64 	%rd788, %rd797;
$L__BB0_75:
	setp.eq.s64 	%p44, %rd21, 1;
	@%p44 bra 	$L__BB0_80;
	or.b64  	%rd492, %rd788, %rd21;
	and.b64  	%rd493, %rd492, -4294967296;
	setp.eq.s64 	%p45, %rd493, 0;
	@%p45 bra 	$L__BB0_78;
	div.u64 	%rd801, %rd788, %rd21;
	bra.uni 	$L__BB0_79;
$L__BB0_78:
	cvt.u32.u64 	%r46, %rd21;
	cvt.u32.u64 	%r47, %rd788;
	div.u32 	%r48, %r47, %r46;
	cvt.u64.u32 	%rd801, %r48;
$L__BB0_79:
	mul.lo.s64 	%rd494, %rd801, %rd21;
	sub.s64 	%rd495, %rd788, %rd494;
	mul.lo.s64 	%rd496, %rd495, %rd25;
	add.s64 	%rd753, %rd496, %rd753;
	mul.lo.s64 	%rd497, %rd495, %rd26;
	add.s64 	%rd754, %rd497, %rd754;
	mov.u64 	%rd788, %rd801;
$L__BB0_80:
	setp.eq.s64 	%p46, %rd24, 1;
	@%p46 bra 	$L__BB0_85;
	or.b64  	%rd498, %rd788, %rd24;
	and.b64  	%rd499, %rd498, -4294967296;
	setp.eq.s64 	%p47, %rd499, 0;
	@%p47 bra 	$L__BB0_83;
	div.u64 	%rd805, %rd788, %rd24;
	bra.uni 	$L__BB0_84;
$L__BB0_83:
	cvt.u32.u64 	%r49, %rd24;
	cvt.u32.u64 	%r50, %rd788;
	div.u32 	%r51, %r50, %r49;
	cvt.u64.u32 	%rd805, %r51;
$L__BB0_84:
	mul.lo.s64 	%rd500, %rd805, %rd24;
	sub.s64 	%rd501, %rd788, %rd500;
	mul.lo.s64 	%rd502, %rd501, %rd28;
	add.s64 	%rd753, %rd502, %rd753;
	mul.lo.s64 	%rd503, %rd501, %rd29;
	add.s64 	%rd754, %rd503, %rd754;
	mov.u64 	%rd788, %rd805;
$L__BB0_85:
	setp.eq.s64 	%p48, %rd27, 1;
	@%p48 bra 	$L__BB0_90;
	or.b64  	%rd504, %rd788, %rd27;
	and.b64  	%rd505, %rd504, -4294967296;
	setp.eq.s64 	%p49, %rd505, 0;
	@%p49 bra 	$L__BB0_88;
	rem.u64 	%rd809, %rd788, %rd27;
	bra.uni 	$L__BB0_89;
$L__BB0_88:
	cvt.u32.u64 	%r52, %rd27;
	cvt.u32.u64 	%r53, %rd788;
	rem.u32 	%r54, %r53, %r52;
	cvt.u64.u32 	%rd809, %r54;
$L__BB0_89:
	mul.lo.s64 	%rd506, %rd809, %rd30;
	add.s64 	%rd753, %rd506, %rd753;
	mul.lo.s64 	%rd507, %rd809, %rd31;
	add.s64 	%rd754, %rd507, %rd754;
$L__BB0_90:
	add.s64 	%rd732, %rd745, 96;
	setp.gt.u64 	%p50, %rd783, 96;
	setp.le.u64 	%p51, %rd779, %rd745;
	and.pred  	%p52, %p51, %p50;
	setp.lt.u64 	%p53, %rd732, %rd399;
	and.pred  	%p54, %p53, %p52;
	@%p54 bra 	$L__BB0_134;
	add.s64 	%rd733, %rd745, 128;
	add.s64 	%rd508, %rd1, %rd754;
	ld.global.u8 	%rs2, [%rd508];
	add.s64 	%rd509, %rd2, %rd753;
	st.global.u8 	[%rd509], %rs2;
	add.s64 	%rd779, %rd779, 32;
	setp.lt.u64 	%p55, %rd779, %rd733;
	setp.lt.u64 	%p56, %rd779, %rd399;
	and.pred  	%p57, %p55, %p56;
	@%p57 bra 	$L__BB0_50;
	bra.uni 	$L__BB0_161;
$L__BB0_92:
	mov.u64 	%rd812, %rd745;
$L__BB0_93:
	setp.eq.s64 	%p58, %rd4, 1;
	mov.u64 	%rd816, 1;
	mov.u64 	%rd753, %rd9;
	mov.u64 	%rd754, %rd10;
	mov.u64 	%rd821, %rd812;
	@%p58 bra 	$L__BB0_98;
	or.b64  	%rd511, %rd812, %rd4;
	and.b64  	%rd512, %rd511, -4294967296;
	setp.eq.s64 	%p59, %rd512, 0;
	@%p59 bra 	$L__BB0_96;
	div.u64 	%rd821, %rd812, %rd4;
	bra.uni 	$L__BB0_97;
$L__BB0_96:
	cvt.u32.u64 	%r56, %rd812;
	div.u32 	%r57, %r56, %r55;
	cvt.u64.u32 	%rd821, %r57;
$L__BB0_97:
	mul.lo.s64 	%rd513, %rd821, %rd4;
	sub.s64 	%rd514, %rd812, %rd513;
	sub.s64 	%rd816, %rd4, %rd514;
	mul.lo.s64 	%rd515, %rd514, %rd33;
	add.s64 	%rd753, %rd515, %rd9;
	mul.lo.s64 	%rd516, %rd514, %rd5;
	add.s64 	%rd754, %rd516, %rd10;
$L__BB0_98:
	setp.eq.s64 	%p60, %rd11, 1;
	@%p60 bra 	$L__BB0_103;
	or.b64  	%rd517, %rd821, %rd11;
	and.b64  	%rd518, %rd517, -4294967296;
	setp.eq.s64 	%p61, %rd518, 0;
	@%p61 bra 	$L__BB0_101;
	div.u64 	%rd818, %rd821, %rd11;
	bra.uni 	$L__BB0_102;
$L__BB0_101:
	cvt.u32.u64 	%r59, %rd821;
	div.u32 	%r60, %r59, %r58;
	cvt.u64.u32 	%rd818, %r60;
$L__BB0_102:
	mul.lo.s64 	%rd519, %rd818, %rd11;
	sub.s64 	%rd520, %rd821, %rd519;
	mul.lo.s64 	%rd521, %rd520, %rd13;
	add.s64 	%rd753, %rd521, %rd753;
	mul.lo.s64 	%rd522, %rd520, %rd14;
	add.s64 	%rd754, %rd522, %rd754;
	mov.u64 	%rd821, %rd818;
$L__BB0_103:
	setp.eq.s64 	%p62, %rd12, 1;
	@%p62 bra 	$L__BB0_108;
	or.b64  	%rd523, %rd821, %rd12;
	and.b64  	%rd524, %rd523, -4294967296;
	setp.eq.s64 	%p63, %rd524, 0;
	@%p63 bra 	$L__BB0_106;
	div.u64 	%rd822, %rd821, %rd12;
	bra.uni 	$L__BB0_107;
$L__BB0_106:
	cvt.u32.u64 	%r62, %rd821;
	div.u32 	%r63, %r62, %r61;
	cvt.u64.u32 	%rd822, %r63;
$L__BB0_107:
	mul.lo.s64 	%rd525, %rd822, %rd12;
	sub.s64 	%rd526, %rd821, %rd525;
	mul.lo.s64 	%rd527, %rd526, %rd16;
	add.s64 	%rd753, %rd527, %rd753;
	mul.lo.s64 	%rd528, %rd526, %rd17;
	add.s64 	%rd754, %rd528, %rd754;
	mov.u64 	%rd821, %rd822;
$L__BB0_108:
	setp.eq.s64 	%p64, %rd15, 1;
	@%p64 bra 	$L__BB0_113;
	or.b64  	%rd529, %rd821, %rd15;
	and.b64  	%rd530, %rd529, -4294967296;
	setp.eq.s64 	%p65, %rd530, 0;
	@%p65 bra 	$L__BB0_111;
	div.u64 	%rd826, %rd821, %rd15;
	bra.uni 	$L__BB0_112;
$L__BB0_111:
	cvt.u32.u64 	%r64, %rd15;
	cvt.u32.u64 	%r65, %rd821;
	div.u32 	%r66, %r65, %r64;
	cvt.u64.u32 	%rd826, %r66;
$L__BB0_112:
	mul.lo.s64 	%rd531, %rd826, %rd15;
	sub.s64 	%rd532, %rd821, %rd531;
	mul.lo.s64 	%rd533, %rd532, %rd19;
	add.s64 	%rd753, %rd533, %rd753;
	mul.lo.s64 	%rd534, %rd532, %rd20;
	add.s64 	%rd754, %rd534, %rd754;
	mov.u64 	%rd821, %rd826;
$L__BB0_113:
	setp.eq.s64 	%p66, %rd18, 1;
	@%p66 bra 	$L__BB0_118;
	or.b64  	%rd535, %rd821, %rd18;
	and.b64  	%rd536, %rd535, -4294967296;
	setp.eq.s64 	%p67, %rd536, 0;
	@%p67 bra 	$L__BB0_116;
	div.u64 	%rd830, %rd821, %rd18;
	bra.uni 	$L__BB0_117;
$L__BB0_116:
	cvt.u32.u64 	%r67, %rd18;
	cvt.u32.u64 	%r68, %rd821;
	div.u32 	%r69, %r68, %r67;
	cvt.u64.u32 	%rd830, %r69;
$L__BB0_117:
	mul.lo.s64 	%rd537, %rd830, %rd18;
	sub.s64 	%rd538, %rd821, %rd537;
	mul.lo.s64 	%rd539, %rd538, %rd22;
	add.s64 	%rd753, %rd539, %rd753;
	mul.lo.s64 	%rd540, %rd538, %rd23;
	add.s64 	%rd754, %rd540, %rd754;
	mov.u64 	%rd821, %rd830;
$L__BB0_118:
	setp.eq.s64 	%p68, %rd21, 1;
	@%p68 bra 	$L__BB0_123;
	or.b64  	%rd541, %rd821, %rd21;
	and.b64  	%rd542, %rd541, -4294967296;
	setp.eq.s64 	%p69, %rd542, 0;
	@%p69 bra 	$L__BB0_121;
	div.u64 	%rd834, %rd821, %rd21;
	bra.uni 	$L__BB0_122;
$L__BB0_121:
	cvt.u32.u64 	%r70, %rd21;
	cvt.u32.u64 	%r71, %rd821;
	div.u32 	%r72, %r71, %r70;
	cvt.u64.u32 	%rd834, %r72;
$L__BB0_122:
	mul.lo.s64 	%rd543, %rd834, %rd21;
	sub.s64 	%rd544, %rd821, %rd543;
	mul.lo.s64 	%rd545, %rd544, %rd25;
	add.s64 	%rd753, %rd545, %rd753;
	mul.lo.s64 	%rd546, %rd544, %rd26;
	add.s64 	%rd754, %rd546, %rd754;
	mov.u64 	%rd821, %rd834;
$L__BB0_123:
	setp.eq.s64 	%p70, %rd24, 1;
	@%p70 bra 	$L__BB0_128;
	or.b64  	%rd547, %rd821, %rd24;
	and.b64  	%rd548, %rd547, -4294967296;
	setp.eq.s64 	%p71, %rd548, 0;
	@%p71 bra 	$L__BB0_126;
	div.u64 	%rd838, %rd821, %rd24;
	bra.uni 	$L__BB0_127;
$L__BB0_126:
	cvt.u32.u64 	%r73, %rd24;
	cvt.u32.u64 	%r74, %rd821;
	div.u32 	%r75, %r74, %r73;
	cvt.u64.u32 	%rd838, %r75;
$L__BB0_127:
	mul.lo.s64 	%rd549, %rd838, %rd24;
	sub.s64 	%rd550, %rd821, %rd549;
	mul.lo.s64 	%rd551, %rd550, %rd28;
	add.s64 	%rd753, %rd551, %rd753;
	mul.lo.s64 	%rd552, %rd550, %rd29;
	add.s64 	%rd754, %rd552, %rd754;
	mov.u64 	%rd821, %rd838;
$L__BB0_128:
	setp.eq.s64 	%p72, %rd27, 1;
	@%p72 bra 	$L__BB0_133;
	or.b64  	%rd553, %rd821, %rd27;
	and.b64  	%rd554, %rd553, -4294967296;
	setp.eq.s64 	%p73, %rd554, 0;
	@%p73 bra 	$L__BB0_131;
	rem.u64 	%rd842, %rd821, %rd27;
	bra.uni 	$L__BB0_132;
$L__BB0_131:
	cvt.u32.u64 	%r76, %rd27;
	cvt.u32.u64 	%r77, %rd821;
	rem.u32 	%r78, %r77, %r76;
	cvt.u64.u32 	%rd842, %r78;
$L__BB0_132:
	mul.lo.s64 	%rd555, %rd842, %rd30;
	add.s64 	%rd753, %rd555, %rd753;
	mul.lo.s64 	%rd556, %rd842, %rd31;
	add.s64 	%rd754, %rd556, %rd754;
$L__BB0_133:
	add.s64 	%rd734, %rd745, 96;
	setp.lt.u64 	%p74, %rd816, 97;
	setp.gt.u64 	%p75, %rd812, %rd745;
	or.pred  	%p76, %p75, %p74;
	setp.ge.u64 	%p77, %rd734, %rd399;
	or.pred  	%p78, %p77, %p76;
	@%p78 bra 	$L__BB0_157;
	bra.uni 	$L__BB0_134;
$L__BB0_157:
	setp.eq.s32 	%p88, %r2, 4;
	@%p88 bra 	$L__BB0_159;
	bra.uni 	$L__BB0_158;
$L__BB0_159:
	shl.b64 	%rd606, %rd754, 2;
	add.s64 	%rd607, %rd1, %rd606;
	ld.global.u32 	%r79, [%rd607];
	shl.b64 	%rd608, %rd753, 2;
	add.s64 	%rd609, %rd2, %rd608;
	st.global.u32 	[%rd609], %r79;
	bra.uni 	$L__BB0_160;
$L__BB0_158:
	shl.b64 	%rd601, %rd754, 3;
	add.s64 	%rd602, %rd1, %rd601;
	ld.global.u64 	%rd603, [%rd602];
	shl.b64 	%rd604, %rd753, 3;
	add.s64 	%rd605, %rd2, %rd604;
	st.global.u64 	[%rd605], %rd603;
$L__BB0_160:
	add.s64 	%rd735, %rd745, 128;
	add.s64 	%rd812, %rd812, 32;
	setp.lt.u64 	%p89, %rd812, %rd735;
	setp.lt.u64 	%p90, %rd812, %rd399;
	and.pred  	%p91, %p89, %p90;
	@%p91 bra 	$L__BB0_93;
	bra.uni 	$L__BB0_161;
$L__BB0_134:
	setp.eq.s32 	%p147, %r2, 1;
	@%p147 bra 	$L__BB0_139;
	setp.eq.s32 	%p80, %r2, 2;
	@%p80 bra 	$L__BB0_138;
	setp.ne.s32 	%p81, %r2, 4;
	@%p81 bra 	$L__BB0_140;
	shl.b64 	%rd557, %rd754, 2;
	add.s64 	%rd558, %rd1, %rd557;
	ld.global.u32 	%rd850, [%rd558];
	add.s64 	%rd559, %rd558, %rd38;
	ld.global.u32 	%rd849, [%rd559];
	add.s64 	%rd560, %rd559, %rd38;
	ld.global.u32 	%rd848, [%rd560];
	add.s64 	%rd561, %rd560, %rd38;
	ld.global.u32 	%rd847, [%rd561];
	bra.uni 	$L__BB0_141;
$L__BB0_139:
	add.s64 	%rd567, %rd1, %rd754;
	ld.global.u8 	%rd850, [%rd567];
	add.s64 	%rd568, %rd567, %rd32;
	ld.global.u8 	%rd849, [%rd568];
	add.s64 	%rd569, %rd568, %rd32;
	ld.global.u8 	%rd848, [%rd569];
	add.s64 	%rd570, %rd569, %rd32;
	ld.global.u8 	%rd847, [%rd570];
	bra.uni 	$L__BB0_141;
$L__BB0_138:
	shl.b64 	%rd562, %rd754, 1;
	add.s64 	%rd563, %rd1, %rd562;
	ld.global.u16 	%rd850, [%rd563];
	add.s64 	%rd564, %rd563, %rd35;
	ld.global.u16 	%rd849, [%rd564];
	add.s64 	%rd565, %rd564, %rd35;
	ld.global.u16 	%rd848, [%rd565];
	add.s64 	%rd566, %rd565, %rd35;
	ld.global.u16 	%rd847, [%rd566];
	bra.uni 	$L__BB0_141;
$L__BB0_140:
	shl.b64 	%rd571, %rd754, 3;
	add.s64 	%rd572, %rd1, %rd571;
	ld.global.u64 	%rd850, [%rd572];
	add.s64 	%rd573, %rd572, %rd37;
	ld.global.u64 	%rd849, [%rd573];
	add.s64 	%rd574, %rd573, %rd37;
	ld.global.u64 	%rd848, [%rd574];
	add.s64 	%rd575, %rd574, %rd37;
	ld.global.u64 	%rd847, [%rd575];
$L__BB0_141:
	setp.eq.s32 	%p148, %r2, 1;
	@%p148 bra 	$L__BB0_144;
	setp.ne.s32 	%p83, %r2, 2;
	@%p83 bra 	$L__BB0_145;
	shl.b64 	%rd576, %rd753, 1;
	add.s64 	%rd577, %rd2, %rd576;
	st.global.u16 	[%rd577], %rd850;
	add.s64 	%rd578, %rd577, %rd36;
	st.global.u16 	[%rd578], %rd849;
	add.s64 	%rd579, %rd578, %rd36;
	st.global.u16 	[%rd579], %rd848;
	add.s64 	%rd580, %rd579, %rd36;
	st.global.u16 	[%rd580], %rd847;
	bra.uni 	$L__BB0_161;
$L__BB0_144:
	add.s64 	%rd581, %rd2, %rd753;
	st.global.u8 	[%rd581], %rd850;
	add.s64 	%rd582, %rd581, %rd34;
	st.global.u8 	[%rd582], %rd849;
	add.s64 	%rd583, %rd582, %rd34;
	st.global.u8 	[%rd583], %rd848;
	add.s64 	%rd584, %rd583, %rd34;
	st.global.u8 	[%rd584], %rd847;
	bra.uni 	$L__BB0_161;
$L__BB0_145:
	setp.eq.s32 	%p84, %r2, 4;
	@%p84 bra 	$L__BB0_147;
	bra.uni 	$L__BB0_146;
$L__BB0_147:
	shl.b64 	%rd587, %rd753, 2;
	add.s64 	%rd588, %rd2, %rd587;
	st.global.u32 	[%rd588], %rd850;
	bra.uni 	$L__BB0_148;
$L__BB0_146:
	shl.b64 	%rd585, %rd753, 3;
	add.s64 	%rd586, %rd2, %rd585;
	st.global.u64 	[%rd586], %rd850;
$L__BB0_148:
	@%p84 bra 	$L__BB0_150;
	bra.uni 	$L__BB0_149;
$L__BB0_150:
	add.s64 	%rd738, %rd34, %rd753;
	shl.b64 	%rd591, %rd738, 2;
	add.s64 	%rd592, %rd2, %rd591;
	st.global.u32 	[%rd592], %rd849;
	bra.uni 	$L__BB0_151;
$L__BB0_149:
	add.s64 	%rd736, %rd34, %rd753;
	shl.b64 	%rd589, %rd736, 3;
	add.s64 	%rd590, %rd2, %rd589;
	st.global.u64 	[%rd590], %rd849;
$L__BB0_151:
	@%p84 bra 	$L__BB0_153;
	bra.uni 	$L__BB0_152;
$L__BB0_153:
	add.s64 	%rd744, %rd34, %rd753;
	add.s64 	%rd743, %rd744, %rd34;
	shl.b64 	%rd595, %rd743, 2;
	add.s64 	%rd596, %rd2, %rd595;
	st.global.u32 	[%rd596], %rd848;
	bra.uni 	$L__BB0_154;
$L__BB0_152:
	add.s64 	%rd740, %rd34, %rd753;
	add.s64 	%rd739, %rd740, %rd34;
	shl.b64 	%rd593, %rd739, 3;
	add.s64 	%rd594, %rd2, %rd593;
	st.global.u64 	[%rd594], %rd848;
$L__BB0_154:
	add.s64 	%rd742, %rd34, %rd753;
	add.s64 	%rd741, %rd742, %rd34;
	add.s64 	%rd266, %rd741, %rd34;
	@%p84 bra 	$L__BB0_156;
	bra.uni 	$L__BB0_155;
$L__BB0_156:
	shl.b64 	%rd599, %rd266, 2;
	add.s64 	%rd600, %rd2, %rd599;
	st.global.u32 	[%rd600], %rd847;
	bra.uni 	$L__BB0_161;
$L__BB0_155:
	shl.b64 	%rd597, %rd266, 3;
	add.s64 	%rd598, %rd2, %rd597;
	st.global.u64 	[%rd598], %rd847;
$L__BB0_161:
	add.s64 	%rd745, %rd745, %rd8;
	setp.lt.u64 	%p92, %rd745, %rd399;
	@%p92 bra 	$L__BB0_3;
	bra.uni 	$L__BB0_272;
$L__BB0_164:
	cvt.u32.u64 	%r80, %rd4;
	cvt.u32.u64 	%r81, %rd399;
	div.u32 	%r82, %r81, %r80;
	cvt.u64.u32 	%rd851, %r82;
$L__BB0_165:
	mov.u32 	%r83, %ctaid.x;
	mov.u32 	%r84, %ntid.x;
	cvt.u64.u32 	%rd272, %r84;
	mul.wide.u32 	%rd612, %r83, %r84;
	mov.u32 	%r85, %tid.x;
	cvt.u64.u32 	%rd613, %r85;
	add.s64 	%rd856, %rd612, %rd613;
	cvt.u32.u64 	%r1, %rd4;
	setp.ge.u64 	%p94, %rd856, %rd851;
	@%p94 bra 	$L__BB0_272;
	ld.param.u64 	%rd274, [%rd402+192];
	ld.param.u64 	%rd275, [%rd402+200];
	ld.param.u64 	%rd276, [%rd402+48];
	ld.param.u64 	%rd277, [%rd402+40];
	ld.param.u64 	%rd278, [%rd402+112];
	ld.param.u64 	%rd279, [%rd402+176];
	ld.param.u64 	%rd280, [%rd402+32];
	ld.param.u64 	%rd281, [%rd402+104];
	ld.param.u64 	%rd282, [%rd402+168];
	ld.param.u64 	%rd283, [%rd402+24];
	ld.param.u64 	%rd284, [%rd402+96];
	ld.param.u64 	%rd285, [%rd402+160];
	ld.param.u64 	%rd286, [%rd402+16];
	ld.param.u64 	%rd287, [%rd402+88];
	ld.param.u64 	%rd288, [%rd402+152];
	ld.param.u64 	%rd289, [%rd402+8];
	ld.param.u64 	%rd290, [%rd402+80];
	ld.param.u64 	%rd291, [%rd402+144];
	ld.param.u64 	%rd292, [%rd402];
	ld.param.u64 	%rd293, [%rd402+72];
	ld.param.u64 	%rd294, [%rd402+136];
	ld.param.u64 	%rd295, [%rd402+64];
	ld.param.u64 	%rd296, [%rd402+128];
	shl.b64 	%rd297, %rd5, 1;
	mul.lo.s64 	%rd298, %rd5, 3;
	ld.param.u64 	%rd299, [%rd402+120];
	shl.b64 	%rd300, %rd299, 1;
	mul.lo.s64 	%rd301, %rd299, 3;
	mov.u32 	%r86, %nctaid.x;
	cvt.u64.u32 	%rd615, %r86;
	mul.lo.s64 	%rd302, %rd615, %rd272;
	cvt.u32.u64 	%r87, %rd276;
	cvt.u32.u64 	%r90, %rd277;
$L__BB0_167:
	setp.eq.s64 	%p95, %rd276, 1;
	mov.u64 	%rd862, %rd274;
	mov.u64 	%rd863, %rd275;
	mov.u64 	%rd864, %rd856;
	@%p95 bra 	$L__BB0_172;
	or.b64  	%rd616, %rd856, %rd276;
	and.b64  	%rd617, %rd616, -4294967296;
	setp.eq.s64 	%p96, %rd617, 0;
	@%p96 bra 	$L__BB0_170;
	div.u64 	%rd864, %rd856, %rd276;
	bra.uni 	$L__BB0_171;
$L__BB0_170:
	cvt.u32.u64 	%r88, %rd856;
	div.u32 	%r89, %r88, %r87;
	cvt.u64.u32 	%rd864, %r89;
$L__BB0_171:
	mul.lo.s64 	%rd618, %rd864, %rd276;
	sub.s64 	%rd619, %rd856, %rd618;
	mul.lo.s64 	%rd620, %rd619, %rd278;
	add.s64 	%rd862, %rd620, %rd274;
	mul.lo.s64 	%rd621, %rd619, %rd279;
	add.s64 	%rd863, %rd621, %rd275;
$L__BB0_172:
	setp.eq.s64 	%p97, %rd277, 1;
	@%p97 bra 	$L__BB0_177;
	or.b64  	%rd622, %rd864, %rd277;
	and.b64  	%rd623, %rd622, -4294967296;
	setp.eq.s64 	%p98, %rd623, 0;
	@%p98 bra 	$L__BB0_175;
	div.u64 	%rd861, %rd864, %rd277;
	bra.uni 	$L__BB0_176;
$L__BB0_175:
	cvt.u32.u64 	%r91, %rd864;
	div.u32 	%r92, %r91, %r90;
	cvt.u64.u32 	%rd861, %r92;
$L__BB0_176:
	mul.lo.s64 	%rd624, %rd861, %rd277;
	sub.s64 	%rd625, %rd864, %rd624;
	mul.lo.s64 	%rd626, %rd625, %rd281;
	add.s64 	%rd862, %rd626, %rd862;
	mul.lo.s64 	%rd627, %rd625, %rd282;
	add.s64 	%rd863, %rd627, %rd863;
	mov.u64 	%rd864, %rd861;
$L__BB0_177:
	setp.eq.s64 	%p99, %rd280, 1;
	@%p99 bra 	$L__BB0_182;
	or.b64  	%rd628, %rd864, %rd280;
	and.b64  	%rd629, %rd628, -4294967296;
	setp.eq.s64 	%p100, %rd629, 0;
	@%p100 bra 	$L__BB0_180;
	div.u64 	%rd865, %rd864, %rd280;
	bra.uni 	$L__BB0_181;
$L__BB0_180:
	cvt.u32.u64 	%r93, %rd280;
	cvt.u32.u64 	%r94, %rd864;
	div.u32 	%r95, %r94, %r93;
	cvt.u64.u32 	%rd865, %r95;
$L__BB0_181:
	mul.lo.s64 	%rd630, %rd865, %rd280;
	sub.s64 	%rd631, %rd864, %rd630;
	mul.lo.s64 	%rd632, %rd631, %rd284;
	add.s64 	%rd862, %rd632, %rd862;
	mul.lo.s64 	%rd633, %rd631, %rd285;
	add.s64 	%rd863, %rd633, %rd863;
	mov.u64 	%rd864, %rd865;
$L__BB0_182:
	setp.eq.s64 	%p101, %rd283, 1;
	@%p101 bra 	$L__BB0_187;
	or.b64  	%rd634, %rd864, %rd283;
	and.b64  	%rd635, %rd634, -4294967296;
	setp.eq.s64 	%p102, %rd635, 0;
	@%p102 bra 	$L__BB0_185;
	div.u64 	%rd869, %rd864, %rd283;
	bra.uni 	$L__BB0_186;
$L__BB0_185:
	cvt.u32.u64 	%r96, %rd283;
	cvt.u32.u64 	%r97, %rd864;
	div.u32 	%r98, %r97, %r96;
	cvt.u64.u32 	%rd869, %r98;
$L__BB0_186:
	mul.lo.s64 	%rd636, %rd869, %rd283;
	sub.s64 	%rd637, %rd864, %rd636;
	mul.lo.s64 	%rd638, %rd637, %rd287;
	add.s64 	%rd862, %rd638, %rd862;
	mul.lo.s64 	%rd639, %rd637, %rd288;
	add.s64 	%rd863, %rd639, %rd863;
	mov.u64 	%rd864, %rd869;
$L__BB0_187:
	setp.eq.s64 	%p103, %rd286, 1;
	@%p103 bra 	$L__BB0_192;
	or.b64  	%rd640, %rd864, %rd286;
	and.b64  	%rd641, %rd640, -4294967296;
	setp.eq.s64 	%p104, %rd641, 0;
	@%p104 bra 	$L__BB0_190;
	div.u64 	%rd873, %rd864, %rd286;
	bra.uni 	$L__BB0_191;
$L__BB0_190:
	cvt.u32.u64 	%r99, %rd286;
	cvt.u32.u64 	%r100, %rd864;
	div.u32 	%r101, %r100, %r99;
	cvt.u64.u32 	%rd873, %r101;
$L__BB0_191:
	mul.lo.s64 	%rd642, %rd873, %rd286;
	sub.s64 	%rd643, %rd864, %rd642;
	mul.lo.s64 	%rd644, %rd643, %rd290;
	add.s64 	%rd862, %rd644, %rd862;
	mul.lo.s64 	%rd645, %rd643, %rd291;
	add.s64 	%rd863, %rd645, %rd863;
	mov.u64 	%rd864, %rd873;
$L__BB0_192:
	setp.eq.s64 	%p105, %rd289, 1;
	@%p105 bra 	$L__BB0_197;
	or.b64  	%rd646, %rd864, %rd289;
	and.b64  	%rd647, %rd646, -4294967296;
	setp.eq.s64 	%p106, %rd647, 0;
	@%p106 bra 	$L__BB0_195;
	div.u64 	%rd877, %rd864, %rd289;
	bra.uni 	$L__BB0_196;
$L__BB0_195:
	cvt.u32.u64 	%r102, %rd289;
	cvt.u32.u64 	%r103, %rd864;
	div.u32 	%r104, %r103, %r102;
	cvt.u64.u32 	%rd877, %r104;
$L__BB0_196:
	mul.lo.s64 	%rd648, %rd877, %rd289;
	sub.s64 	%rd649, %rd864, %rd648;
	mul.lo.s64 	%rd650, %rd649, %rd293;
	add.s64 	%rd862, %rd650, %rd862;
	mul.lo.s64 	%rd651, %rd649, %rd294;
	add.s64 	%rd863, %rd651, %rd863;
	mov.u64 	%rd864, %rd877;
$L__BB0_197:
	setp.eq.s64 	%p107, %rd292, 1;
	@%p107 bra 	$L__BB0_202;
	or.b64  	%rd652, %rd864, %rd292;
	and.b64  	%rd653, %rd652, -4294967296;
	setp.eq.s64 	%p108, %rd653, 0;
	@%p108 bra 	$L__BB0_200;
	rem.u64 	%rd881, %rd864, %rd292;
	bra.uni 	$L__BB0_201;
$L__BB0_200:
	cvt.u32.u64 	%r105, %rd292;
	cvt.u32.u64 	%r106, %rd864;
	rem.u32 	%r107, %r106, %r105;
	cvt.u64.u32 	%rd881, %r107;
$L__BB0_201:
	mul.lo.s64 	%rd654, %rd881, %rd295;
	add.s64 	%rd862, %rd654, %rd862;
	mul.lo.s64 	%rd655, %rd881, %rd296;
	add.s64 	%rd863, %rd655, %rd863;
$L__BB0_202:
	setp.eq.s32 	%p109, %r2, 1;
	@%p109 bra 	$L__BB0_221;
	setp.eq.s32 	%p110, %r2, 2;
	@%p110 bra 	$L__BB0_213;
	setp.ne.s32 	%p111, %r2, 4;
	@%p111 bra 	$L__BB0_229;
	setp.eq.s32 	%p112, %r1, 0;
	@%p112 bra 	$L__BB0_207;
	shl.b64 	%rd656, %rd863, 2;
	add.s64 	%rd657, %rd1, %rd656;
	ld.global.u32 	%rd899, [%rd657];
$L__BB0_207:
	setp.lt.u32 	%p113, %r1, 2;
	@%p113 bra 	$L__BB0_209;
	add.s64 	%rd658, %rd5, %rd863;
	shl.b64 	%rd659, %rd658, 2;
	add.s64 	%rd660, %rd1, %rd659;
	ld.global.u32 	%rd898, [%rd660];
$L__BB0_209:
	setp.lt.u32 	%p114, %r1, 3;
	@%p114 bra 	$L__BB0_211;
	add.s64 	%rd661, %rd297, %rd863;
	shl.b64 	%rd662, %rd661, 2;
	add.s64 	%rd663, %rd1, %rd662;
	ld.global.u32 	%rd897, [%rd663];
$L__BB0_211:
	setp.lt.u32 	%p115, %r1, 4;
	@%p115 bra 	$L__BB0_237;
	add.s64 	%rd664, %rd298, %rd863;
	shl.b64 	%rd665, %rd664, 2;
	add.s64 	%rd666, %rd1, %rd665;
	ld.global.u32 	%rd896, [%rd666];
	bra.uni 	$L__BB0_237;
$L__BB0_221:
	setp.eq.s32 	%p120, %r1, 0;
	@%p120 bra 	$L__BB0_223;
	add.s64 	%rd678, %rd1, %rd863;
	ld.global.u8 	%rd899, [%rd678];
$L__BB0_223:
	setp.lt.u32 	%p121, %r1, 2;
	@%p121 bra 	$L__BB0_225;
	add.s64 	%rd679, %rd5, %rd863;
	add.s64 	%rd680, %rd1, %rd679;
	ld.global.u8 	%rd898, [%rd680];
$L__BB0_225:
	setp.lt.u32 	%p122, %r1, 3;
	@%p122 bra 	$L__BB0_227;
	add.s64 	%rd681, %rd297, %rd863;
	add.s64 	%rd682, %rd1, %rd681;
	ld.global.u8 	%rd897, [%rd682];
$L__BB0_227:
	setp.lt.u32 	%p123, %r1, 4;
	@%p123 bra 	$L__BB0_237;
	add.s64 	%rd683, %rd298, %rd863;
	add.s64 	%rd684, %rd1, %rd683;
	ld.global.u8 	%rd896, [%rd684];
	bra.uni 	$L__BB0_237;
$L__BB0_213:
	setp.eq.s32 	%p116, %r1, 0;
	@%p116 bra 	$L__BB0_215;
	shl.b64 	%rd667, %rd863, 1;
	add.s64 	%rd668, %rd1, %rd667;
	ld.global.u16 	%rd899, [%rd668];
$L__BB0_215:
	setp.lt.u32 	%p117, %r1, 2;
	@%p117 bra 	$L__BB0_217;
	add.s64 	%rd669, %rd5, %rd863;
	shl.b64 	%rd670, %rd669, 1;
	add.s64 	%rd671, %rd1, %rd670;
	ld.global.u16 	%rd898, [%rd671];
$L__BB0_217:
	setp.lt.u32 	%p118, %r1, 3;
	@%p118 bra 	$L__BB0_219;
	add.s64 	%rd672, %rd297, %rd863;
	shl.b64 	%rd673, %rd672, 1;
	add.s64 	%rd674, %rd1, %rd673;
	ld.global.u16 	%rd897, [%rd674];
$L__BB0_219:
	setp.lt.u32 	%p119, %r1, 4;
	@%p119 bra 	$L__BB0_237;
	add.s64 	%rd675, %rd298, %rd863;
	shl.b64 	%rd676, %rd675, 1;
	add.s64 	%rd677, %rd1, %rd676;
	ld.global.u16 	%rd896, [%rd677];
	bra.uni 	$L__BB0_237;
$L__BB0_229:
	setp.eq.s32 	%p124, %r1, 0;
	@%p124 bra 	$L__BB0_231;
	shl.b64 	%rd685, %rd863, 3;
	add.s64 	%rd686, %rd1, %rd685;
	ld.global.u64 	%rd899, [%rd686];
$L__BB0_231:
	setp.lt.u32 	%p125, %r1, 2;
	@%p125 bra 	$L__BB0_233;
	add.s64 	%rd687, %rd5, %rd863;
	shl.b64 	%rd688, %rd687, 3;
	add.s64 	%rd689, %rd1, %rd688;
	ld.global.u64 	%rd898, [%rd689];
$L__BB0_233:
	setp.lt.u32 	%p126, %r1, 3;
	@%p126 bra 	$L__BB0_235;
	add.s64 	%rd690, %rd297, %rd863;
	shl.b64 	%rd691, %rd690, 3;
	add.s64 	%rd692, %rd1, %rd691;
	ld.global.u64 	%rd897, [%rd692];
$L__BB0_235:
	setp.lt.u32 	%p127, %r1, 4;
	@%p127 bra 	$L__BB0_237;
	add.s64 	%rd693, %rd298, %rd863;
	shl.b64 	%rd694, %rd693, 3;
	add.s64 	%rd695, %rd1, %rd694;
	ld.global.u64 	%rd896, [%rd695];
$L__BB0_237:
	@%p109 bra 	$L__BB0_247;
	setp.ne.s32 	%p129, %r2, 2;
	@%p129 bra 	$L__BB0_255;
	setp.eq.s32 	%p130, %r1, 0;
	@%p130 bra 	$L__BB0_241;
	shl.b64 	%rd696, %rd862, 1;
	add.s64 	%rd697, %rd2, %rd696;
	st.global.u16 	[%rd697], %rd899;
$L__BB0_241:
	setp.lt.u32 	%p131, %r1, 2;
	@%p131 bra 	$L__BB0_243;
	add.s64 	%rd698, %rd299, %rd862;
	shl.b64 	%rd699, %rd698, 1;
	add.s64 	%rd700, %rd2, %rd699;
	st.global.u16 	[%rd700], %rd898;
$L__BB0_243:
	setp.lt.u32 	%p132, %r1, 3;
	@%p132 bra 	$L__BB0_245;
	add.s64 	%rd701, %rd300, %rd862;
	shl.b64 	%rd702, %rd701, 1;
	add.s64 	%rd703, %rd2, %rd702;
	st.global.u16 	[%rd703], %rd897;
$L__BB0_245:
	setp.lt.u32 	%p133, %r1, 4;
	@%p133 bra 	$L__BB0_271;
	add.s64 	%rd704, %rd301, %rd862;
	shl.b64 	%rd705, %rd704, 1;
	add.s64 	%rd706, %rd2, %rd705;
	st.global.u16 	[%rd706], %rd896;
	bra.uni 	$L__BB0_271;
$L__BB0_247:
	setp.eq.s32 	%p134, %r1, 0;
	@%p134 bra 	$L__BB0_249;
	add.s64 	%rd707, %rd2, %rd862;
	st.global.u8 	[%rd707], %rd899;
$L__BB0_249:
	setp.lt.u32 	%p135, %r1, 2;
	@%p135 bra 	$L__BB0_251;
	add.s64 	%rd708, %rd299, %rd862;
	add.s64 	%rd709, %rd2, %rd708;
	st.global.u8 	[%rd709], %rd898;
$L__BB0_251:
	setp.lt.u32 	%p136, %r1, 3;
	@%p136 bra 	$L__BB0_253;
	add.s64 	%rd710, %rd300, %rd862;
	add.s64 	%rd711, %rd2, %rd710;
	st.global.u8 	[%rd711], %rd897;
$L__BB0_253:
	setp.lt.u32 	%p137, %r1, 4;
	@%p137 bra 	$L__BB0_271;
	add.s64 	%rd712, %rd301, %rd862;
	add.s64 	%rd713, %rd2, %rd712;
	st.global.u8 	[%rd713], %rd896;
	bra.uni 	$L__BB0_271;
$L__BB0_255:
	setp.eq.s32 	%p138, %r1, 0;
	@%p138 bra 	$L__BB0_259;
	setp.eq.s32 	%p139, %r2, 4;
	@%p139 bra 	$L__BB0_258;
	bra.uni 	$L__BB0_257;
$L__BB0_258:
	shl.b64 	%rd716, %rd862, 2;
	add.s64 	%rd717, %rd2, %rd716;
	st.global.u32 	[%rd717], %rd899;
	bra.uni 	$L__BB0_259;
$L__BB0_257:
	shl.b64 	%rd714, %rd862, 3;
	add.s64 	%rd715, %rd2, %rd714;
	st.global.u64 	[%rd715], %rd899;
$L__BB0_259:
	setp.lt.u32 	%p140, %r1, 2;
	@%p140 bra 	$L__BB0_263;
	setp.eq.s32 	%p141, %r2, 4;
	add.s64 	%rd395, %rd299, %rd862;
	@%p141 bra 	$L__BB0_262;
	bra.uni 	$L__BB0_261;
$L__BB0_262:
	shl.b64 	%rd720, %rd395, 2;
	add.s64 	%rd721, %rd2, %rd720;
	st.global.u32 	[%rd721], %rd898;
	bra.uni 	$L__BB0_263;
$L__BB0_261:
	shl.b64 	%rd718, %rd395, 3;
	add.s64 	%rd719, %rd2, %rd718;
	st.global.u64 	[%rd719], %rd898;
$L__BB0_263:
	setp.lt.u32 	%p142, %r1, 3;
	@%p142 bra 	$L__BB0_267;
	setp.eq.s32 	%p143, %r2, 4;
	add.s64 	%rd396, %rd300, %rd862;
	@%p143 bra 	$L__BB0_266;
	bra.uni 	$L__BB0_265;
$L__BB0_266:
	shl.b64 	%rd724, %rd396, 2;
	add.s64 	%rd725, %rd2, %rd724;
	st.global.u32 	[%rd725], %rd897;
	bra.uni 	$L__BB0_267;
$L__BB0_265:
	shl.b64 	%rd722, %rd396, 3;
	add.s64 	%rd723, %rd2, %rd722;
	st.global.u64 	[%rd723], %rd897;
$L__BB0_267:
	setp.lt.u32 	%p144, %r1, 4;
	@%p144 bra 	$L__BB0_271;
	setp.eq.s32 	%p145, %r2, 4;
	add.s64 	%rd397, %rd301, %rd862;
	@%p145 bra 	$L__BB0_270;
	bra.uni 	$L__BB0_269;
$L__BB0_270:
	shl.b64 	%rd728, %rd397, 2;
	add.s64 	%rd729, %rd2, %rd728;
	st.global.u32 	[%rd729], %rd896;
	bra.uni 	$L__BB0_271;
$L__BB0_269:
	shl.b64 	%rd726, %rd397, 3;
	add.s64 	%rd727, %rd2, %rd726;
	st.global.u64 	[%rd727], %rd896;
$L__BB0_271:
	add.s64 	%rd856, %rd856, %rd302;
	setp.lt.u64 	%p146, %rd856, %rd851;
	@%p146 bra 	$L__BB0_167;
$L__BB0_272:
	ret;
}
.visible .entry vramkit_strided_axes(
	.param .u64 vramkit_strided_axes_param_0,
	.param .u64 vramkit_strided_axes_param_1,
	.param .u64 vramkit_strided_axes_param_2,
	.param .u32 vramkit_strided_axes_param_3,
	.param .align 8 .b8 vramkit_strided_axes_param_4[1552]
)
{
	.reg .pred 	%p<17>;
	.reg .b16 	%rs<3>;
	.reg .b32 	%r<40>;
	.reg .b64 	%rd<137>;
	ld.param.u64 	%rd57, [vramkit_strided_axes_param_0];
	ld.param.u64 	%rd58, [vramkit_strided_axes_param_1];
	ld.param.u64 	%rd59, [vramkit_strided_axes_param_2];
	ld.param.u32 	%r7, [vramkit_strided_axes_param_3];
	mov.b64 	%rd60, vramkit_strided_axes_param_4;
	mov.u32 	%r8, %ctaid.x;
	mov.u32 	%r9, %ntid.x;
	mul.wide.u32 	%rd61, %r8, %r9;
	mov.u32 	%r10, %tid.x;
	cvt.u64.u32 	%rd62, %r10;
	add.s64 	%rd123, %rd61, %rd62;
	mov.u32 	%r11, %nctaid.x;
	mul.wide.u32 	%rd2, %r11, %r9;
	setp.ge.u64 	%p1, %rd123, %rd59;
	@%p1 bra 	$L__BB1_30;
	ld.param.u64 	%rd3, [%rd60+1536];
	ld.param.u64 	%rd4, [%rd60+1544];
	setp.eq.s32 	%p2, %r7, 1;
	@%p2 bra 	$L__BB1_11;
	setp.ne.s32 	%p3, %r7, 2;
	@%p3 bra 	$L__BB1_19;
	add.s64 	%rd116, %rd61, %rd62;
	cvta.to.global.u64 	%rd6, %rd57;
	cvta.to.global.u64 	%rd7, %rd58;
$L__BB1_4:
	mov.u32 	%r37, 63;
	mov.u64 	%rd117, %rd116;
	mov.u64 	%rd122, %rd4;
	mov.u64 	%rd121, %rd3;
$L__BB1_5:
	.pragma "nounroll";
	cvt.s64.s32 	%rd12, %r37;
	mul.wide.s32 	%rd66, %r37, 8;
	add.s64 	%rd13, %rd60, %rd66;
	ld.param.u64 	%rd14, [%rd13];
	setp.eq.s64 	%p4, %rd14, 1;
	@%p4 bra 	$L__BB1_10;
	or.b64  	%rd67, %rd117, %rd14;
	and.b64  	%rd68, %rd67, -4294967296;
	setp.eq.s64 	%p5, %rd68, 0;
	@%p5 bra 	$L__BB1_8;
	div.u64 	%rd120, %rd117, %rd14;
	bra.uni 	$L__BB1_9;
$L__BB1_8:
	cvt.u32.u64 	%r16, %rd14;
	cvt.u32.u64 	%r17, %rd117;
	div.u32 	%r18, %r17, %r16;
	cvt.u64.u32 	%rd120, %r18;
$L__BB1_9:
	mul.lo.s64 	%rd69, %rd120, %rd14;
	sub.s64 	%rd70, %rd117, %rd69;
	ld.param.u64 	%rd71, [%rd13+512];
	mul.lo.s64 	%rd72, %rd70, %rd71;
	add.s64 	%rd121, %rd72, %rd121;
	ld.param.u64 	%rd73, [%rd13+1024];
	mul.lo.s64 	%rd74, %rd70, %rd73;
	add.s64 	%rd122, %rd74, %rd122;
	cvt.u32.u64 	%r19, %rd12;
	add.s32 	%r37, %r19, -1;
	setp.gt.s32 	%p6, %r19, 0;
	mov.u64 	%rd117, %rd120;
	@%p6 bra 	$L__BB1_5;
$L__BB1_10:
	shl.b64 	%rd75, %rd122, 1;
	add.s64 	%rd76, %rd7, %rd75;
	ld.global.u16 	%rs1, [%rd76];
	shl.b64 	%rd77, %rd121, 1;
	add.s64 	%rd78, %rd6, %rd77;
	st.global.u16 	[%rd78], %rs1;
	add.s64 	%rd116, %rd116, %rd2;
	setp.lt.u64 	%p7, %rd116, %rd59;
	@%p7 bra 	$L__BB1_4;
	bra.uni 	$L__BB1_30;
$L__BB1_11:
	cvta.to.global.u64 	%rd24, %rd57;
	cvta.to.global.u64 	%rd25, %rd58;
$L__BB1_12:
	mov.u32 	%r38, 63;
	mov.u64 	%rd124, %rd123;
	mov.u64 	%rd129, %rd4;
	mov.u64 	%rd128, %rd3;
$L__BB1_13:
	.pragma "nounroll";
	cvt.s64.s32 	%rd30, %r38;
	mul.wide.s32 	%rd81, %r38, 8;
	add.s64 	%rd31, %rd60, %rd81;
	ld.param.u64 	%rd32, [%rd31];
	setp.eq.s64 	%p8, %rd32, 1;
	@%p8 bra 	$L__BB1_18;
	or.b64  	%rd82, %rd124, %rd32;
	and.b64  	%rd83, %rd82, -4294967296;
	setp.eq.s64 	%p9, %rd83, 0;
	@%p9 bra 	$L__BB1_16;
	div.u64 	%rd127, %rd124, %rd32;
	bra.uni 	$L__BB1_17;
$L__BB1_16:
	cvt.u32.u64 	%r24, %rd32;
	cvt.u32.u64 	%r25, %rd124;
	div.u32 	%r26, %r25, %r24;
	cvt.u64.u32 	%rd127, %r26;
$L__BB1_17:
	mul.lo.s64 	%rd84, %rd127, %rd32;
	sub.s64 	%rd85, %rd124, %rd84;
	ld.param.u64 	%rd86, [%rd31+512];
	mul.lo.s64 	%rd87, %rd85, %rd86;
	add.s64 	%rd128, %rd87, %rd128;
	ld.param.u64 	%rd88, [%rd31+1024];
	mul.lo.s64 	%rd89, %rd85, %rd88;
	add.s64 	%rd129, %rd89, %rd129;
	cvt.u32.u64 	%r27, %rd30;
	add.s32 	%r38, %r27, -1;
	setp.gt.s32 	%p10, %r27, 0;
	mov.u64 	%rd124, %rd127;
	@%p10 bra 	$L__BB1_13;
$L__BB1_18:
	add.s64 	%rd90, %rd25, %rd129;
	ld.global.u8 	%rs2, [%rd90];
	add.s64 	%rd91, %rd24, %rd128;
	st.global.u8 	[%rd91], %rs2;
	add.s64 	%rd123, %rd123, %rd2;
	setp.lt.u64 	%p11, %rd123, %rd59;
	@%p11 bra 	$L__BB1_12;
	bra.uni 	$L__BB1_30;
$L__BB1_19:
	add.s64 	%rd130, %rd61, %rd62;
$L__BB1_20:
	mov.u32 	%r39, 63;
	mov.u64 	%rd131, %rd130;
	mov.u64 	%rd136, %rd4;
	mov.u64 	%rd135, %rd3;
$L__BB1_21:
	.pragma "nounroll";
	cvt.s64.s32 	%rd46, %r39;
	mul.wide.s32 	%rd94, %r39, 8;
	add.s64 	%rd47, %rd60, %rd94;
	ld.param.u64 	%rd48, [%rd47];
	setp.eq.s64 	%p12, %rd48, 1;
	@%p12 bra 	$L__BB1_26;
	or.b64  	%rd95, %rd131, %rd48;
	and.b64  	%rd96, %rd95, -4294967296;
	setp.eq.s64 	%p13, %rd96, 0;
	@%p13 bra 	$L__BB1_24;
	div.u64 	%rd134, %rd131, %rd48;
	bra.uni 	$L__BB1_25;
$L__BB1_24:
	cvt.u32.u64 	%r32, %rd48;
	cvt.u32.u64 	%r33, %rd131;
	div.u32 	%r34, %r33, %r32;
	cvt.u64.u32 	%rd134, %r34;
$L__BB1_25:
	mul.lo.s64 	%rd97, %rd134, %rd48;
	sub.s64 	%rd98, %rd131, %rd97;
	ld.param.u64 	%rd99, [%rd47+512];
	mul.lo.s64 	%rd100, %rd98, %rd99;
	add.s64 	%rd135, %rd100, %rd135;
	ld.param.u64 	%rd101, [%rd47+1024];
	mul.lo.s64 	%rd102, %rd98, %rd101;
	add.s64 	%rd136, %rd102, %rd136;
	cvt.u32.u64 	%r35, %rd46;
	add.s32 	%r39, %r35, -1;
	setp.gt.s32 	%p14, %r35, 0;
	mov.u64 	%rd131, %rd134;
	@%p14 bra 	$L__BB1_21;
$L__BB1_26:
	setp.eq.s32 	%p15, %r7, 4;
	@%p15 bra 	$L__BB1_28;
	bra.uni 	$L__BB1_27;
$L__BB1_28:
	cvta.to.global.u64 	%rd110, %rd57;
	cvta.to.global.u64 	%rd111, %rd58;
	shl.b64 	%rd112, %rd136, 2;
	add.s64 	%rd113, %rd111, %rd112;
	ld.global.u32 	%r36, [%rd113];
	shl.b64 	%rd114, %rd135, 2;
	add.s64 	%rd115, %rd110, %rd114;
	st.global.u32 	[%rd115], %r36;
	bra.uni 	$L__BB1_29;
$L__BB1_27:
	cvta.to.global.u64 	%rd103, %rd57;
	cvta.to.global.u64 	%rd104, %rd58;
	shl.b64 	%rd105, %rd136, 3;
	add.s64 	%rd106, %rd104, %rd105;
	ld.global.u64 	%rd107, [%rd106];
	shl.b64 	%rd108, %rd135, 3;
	add.s64 	%rd109, %rd103, %rd108;
	st.global.u64 	[%rd109], %rd107;
$L__BB1_29:
	add.s64 	%rd130, %rd130, %rd2;
	setp.lt.u64 	%p16, %rd130, %rd59;
	@%p16 bra 	$L__BB1_20;
$L__BB1_30:
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
	@%p1 bra 	$L__BB2_104;
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
$L__BB2_2:
	or.b64  	%rd149, %rd335, %rd5;
	and.b64  	%rd150, %rd149, -4294967296;
	setp.eq.s64 	%p2, %rd150, 0;
	@%p2 bra 	$L__BB2_4;
	div.u64 	%rd336, %rd335, %rd5;
	mul.lo.s64 	%rd151, %rd336, %rd5;
	sub.s64 	%rd337, %rd335, %rd151;
	bra.uni 	$L__BB2_5;
$L__BB2_4:
	cvt.u32.u64 	%r29, %rd5;
	cvt.u32.u64 	%r30, %rd335;
	div.u32 	%r31, %r30, %r29;
	mul.lo.s32 	%r32, %r31, %r29;
	sub.s32 	%r33, %r30, %r32;
	cvt.u64.u32 	%rd336, %r31;
	cvt.u64.u32 	%rd337, %r33;
$L__BB2_5:
	or.b64  	%rd152, %rd336, %rd7;
	and.b64  	%rd153, %rd152, -4294967296;
	setp.eq.s64 	%p3, %rd153, 0;
	@%p3 bra 	$L__BB2_7;
	div.u64 	%rd343, %rd336, %rd7;
	mul.lo.s64 	%rd154, %rd343, %rd7;
	sub.s64 	%rd339, %rd336, %rd154;
	bra.uni 	$L__BB2_8;
$L__BB2_7:
	cvt.u32.u64 	%r34, %rd7;
	cvt.u32.u64 	%r35, %rd336;
	div.u32 	%r36, %r35, %r34;
	mul.lo.s32 	%r37, %r36, %r34;
	sub.s32 	%r38, %r35, %r37;
	cvt.u64.u32 	%rd343, %r36;
	cvt.u64.u32 	%rd339, %r38;
$L__BB2_8:
	setp.eq.s64 	%p4, %rd15, 1;
	mov.u64 	%rd345, %rd9;
	mov.u64 	%rd346, %rd10;
	@%p4 bra 	$L__BB2_13;
	or.b64  	%rd155, %rd343, %rd15;
	and.b64  	%rd156, %rd155, -4294967296;
	setp.eq.s64 	%p5, %rd156, 0;
	@%p5 bra 	$L__BB2_11;
	div.u64 	%rd340, %rd343, %rd15;
	bra.uni 	$L__BB2_12;
$L__BB2_11:
	cvt.u32.u64 	%r39, %rd15;
	cvt.u32.u64 	%r40, %rd343;
	div.u32 	%r41, %r40, %r39;
	cvt.u64.u32 	%rd340, %r41;
$L__BB2_12:
	mul.lo.s64 	%rd157, %rd340, %rd15;
	sub.s64 	%rd158, %rd343, %rd157;
	mul.lo.s64 	%rd159, %rd158, %rd17;
	add.s64 	%rd345, %rd159, %rd9;
	mul.lo.s64 	%rd160, %rd158, %rd18;
	add.s64 	%rd346, %rd160, %rd10;
	mov.u64 	%rd343, %rd340;
$L__BB2_13:
	setp.eq.s64 	%p6, %rd16, 1;
	@%p6 bra 	$L__BB2_18;
	or.b64  	%rd161, %rd343, %rd16;
	and.b64  	%rd162, %rd161, -4294967296;
	setp.eq.s64 	%p7, %rd162, 0;
	@%p7 bra 	$L__BB2_16;
	div.u64 	%rd344, %rd343, %rd16;
	bra.uni 	$L__BB2_17;
$L__BB2_16:
	cvt.u32.u64 	%r42, %rd16;
	cvt.u32.u64 	%r43, %rd343;
	div.u32 	%r44, %r43, %r42;
	cvt.u64.u32 	%rd344, %r44;
$L__BB2_17:
	mul.lo.s64 	%rd163, %rd344, %rd16;
	sub.s64 	%rd164, %rd343, %rd163;
	mul.lo.s64 	%rd165, %rd164, %rd20;
	add.s64 	%rd345, %rd165, %rd345;
	mul.lo.s64 	%rd166, %rd164, %rd21;
	add.s64 	%rd346, %rd166, %rd346;
	mov.u64 	%rd343, %rd344;
$L__BB2_18:
	setp.eq.s64 	%p8, %rd19, 1;
	@%p8 bra 	$L__BB2_23;
	or.b64  	%rd167, %rd343, %rd19;
	and.b64  	%rd168, %rd167, -4294967296;
	setp.eq.s64 	%p9, %rd168, 0;
	@%p9 bra 	$L__BB2_21;
	div.u64 	%rd348, %rd343, %rd19;
	bra.uni 	$L__BB2_22;
$L__BB2_21:
	cvt.u32.u64 	%r45, %rd19;
	cvt.u32.u64 	%r46, %rd343;
	div.u32 	%r47, %r46, %r45;
	cvt.u64.u32 	%rd348, %r47;
$L__BB2_22:
	mul.lo.s64 	%rd169, %rd348, %rd19;
	sub.s64 	%rd170, %rd343, %rd169;
	mul.lo.s64 	%rd171, %rd170, %rd23;
	add.s64 	%rd345, %rd171, %rd345;
	mul.lo.s64 	%rd172, %rd170, %rd24;
	add.s64 	%rd346, %rd172, %rd346;
	mov.u64 	%rd343, %rd348;
$L__BB2_23:
	setp.eq.s64 	%p10, %rd22, 1;
	@%p10 bra 	$L__BB2_28;
	or.b64  	%rd173, %rd343, %rd22;
	and.b64  	%rd174, %rd173, -4294967296;
	setp.eq.s64 	%p11, %rd174, 0;
	@%p11 bra 	$L__BB2_26;
	div.u64 	%rd352, %rd343, %rd22;
	bra.uni 	$L__BB2_27;
$L__BB2_26:
	cvt.u32.u64 	%r48, %rd22;
	cvt.u32.u64 	%r49, %rd343;
	div.u32 	%r50, %r49, %r48;
	cvt.u64.u32 	%rd352, %r50;
$L__BB2_27:
	mul.lo.s64 	%rd175, %rd352, %rd22;
	sub.s64 	%rd176, %rd343, %rd175;
	mul.lo.s64 	%rd177, %rd176, %rd26;
	add.s64 	%rd345, %rd177, %rd345;
	mul.lo.s64 	%rd178, %rd176, %rd27;
	add.s64 	%rd346, %rd178, %rd346;
	mov.u64 	%rd343, %rd352;
$L__BB2_28:
	setp.eq.s64 	%p12, %rd25, 1;
	@%p12 bra 	$L__BB2_33;
	or.b64  	%rd179, %rd343, %rd25;
	and.b64  	%rd180, %rd179, -4294967296;
	setp.eq.s64 	%p13, %rd180, 0;
	@%p13 bra 	$L__BB2_31;
	div.u64 	%rd356, %rd343, %rd25;
	bra.uni 	$L__BB2_32;
$L__BB2_31:
	cvt.u32.u64 	%r51, %rd25;
	cvt.u32.u64 	%r52, %rd343;
	div.u32 	%r53, %r52, %r51;
	cvt.u64.u32 	%rd356, %r53;
$L__BB2_32:
	mul.lo.s64 	%rd181, %rd356, %rd25;
	sub.s64 	%rd182, %rd343, %rd181;
	mul.lo.s64 	%rd183, %rd182, %rd29;
	add.s64 	%rd345, %rd183, %rd345;
	mul.lo.s64 	%rd184, %rd182, %rd30;
	add.s64 	%rd346, %rd184, %rd346;
	mov.u64 	%rd343, %rd356;
$L__BB2_33:
	setp.eq.s64 	%p14, %rd28, 1;
	@%p14 bra 	$L__BB2_38;
	or.b64  	%rd185, %rd343, %rd28;
	and.b64  	%rd186, %rd185, -4294967296;
	setp.eq.s64 	%p15, %rd186, 0;
	@%p15 bra 	$L__BB2_36;
	rem.u64 	%rd360, %rd343, %rd28;
	bra.uni 	$L__BB2_37;
$L__BB2_36:
	cvt.u32.u64 	%r54, %rd28;
	cvt.u32.u64 	%r55, %rd343;
	rem.u32 	%r56, %r55, %r54;
	cvt.u64.u32 	%rd360, %r56;
$L__BB2_37:
	mul.lo.s64 	%rd187, %rd360, %rd31;
	add.s64 	%rd345, %rd187, %rd345;
	mul.lo.s64 	%rd188, %rd360, %rd32;
	add.s64 	%rd346, %rd188, %rd346;
$L__BB2_38:
	shl.b64 	%rd98, %rd337, 5;
	setp.gt.u32 	%p16, %r1, 1023;
	@%p16 bra 	$L__BB2_72;
	shl.b64 	%rd308, %rd339, 5;
	add.s64 	%rd100, %rd308, %rd11;
	add.s64 	%rd101, %rd346, %rd100;
	setp.eq.s32 	%p17, %r20, 1;
	@%p17 bra 	$L__BB2_50;
	setp.eq.s32 	%p18, %r20, 2;
	@%p18 bra 	$L__BB2_46;
	setp.ne.s32 	%p19, %r20, 4;
	@%p19 bra 	$L__BB2_68;
	mov.u64 	%rd363, %rd34;
	mov.u32 	%r67, %r2;
$L__BB2_43:
	add.s64 	%rd326, %rd308, %rd11;
	cvt.u64.u32 	%rd189, %r67;
	add.s64 	%rd104, %rd98, %rd189;
	setp.ge.u64 	%p20, %rd104, %rd4;
	setp.ge.u64 	%p21, %rd326, %rd6;
	or.pred  	%p22, %p21, %p20;
	@%p22 bra 	$L__BB2_45;
	mul.lo.s64 	%rd190, %rd12, %rd104;
	add.s64 	%rd191, %rd101, %rd190;
	shl.b64 	%rd192, %rd191, 2;
	add.s64 	%rd193, %rd1, %rd192;
	ld.global.u32 	%rd194, [%rd193];
	st.shared.u64 	[%rd363], %rd194;
$L__BB2_45:
	add.s32 	%r67, %r67, 8;
	add.s64 	%rd363, %rd363, 2112;
	setp.lt.u32 	%p23, %r67, 32;
	@%p23 bra 	$L__BB2_43;
	bra.uni 	$L__BB2_72;
$L__BB2_50:
	setp.eq.s32 	%p28, %r5, 0;
	mov.u32 	%r69, %r2;
	@%p28 bra 	$L__BB2_59;
	shl.b64 	%rd314, %rd339, 5;
	add.s64 	%rd313, %rd308, %rd11;
	setp.ge.u64 	%p29, %rd313, %rd6;
	add.s64 	%rd108, %rd98, %rd33;
	setp.ge.u64 	%p30, %rd108, %rd4;
	or.pred  	%p31, %p29, %p30;
	@%p31 bra 	$L__BB2_53;
	mul.lo.s64 	%rd205, %rd12, %rd108;
	add.s64 	%rd206, %rd101, %rd205;
	add.s64 	%rd207, %rd1, %rd206;
	ld.global.u8 	%rd208, [%rd207];
	st.shared.u64 	[%rd34], %rd208;
$L__BB2_53:
	setp.eq.s32 	%p32, %r5, 1;
	mov.u32 	%r69, %r3;
	@%p32 bra 	$L__BB2_59;
	add.s64 	%rd109, %rd98, %rd35;
	setp.ge.u64 	%p34, %rd109, %rd4;
	or.pred  	%p35, %p29, %p34;
	@%p35 bra 	$L__BB2_56;
	mul.lo.s64 	%rd209, %rd12, %rd109;
	add.s64 	%rd210, %rd101, %rd209;
	add.s64 	%rd211, %rd1, %rd210;
	ld.global.u8 	%rd212, [%rd211];
	st.shared.u64 	[%rd34+2112], %rd212;
$L__BB2_56:
	setp.eq.s32 	%p36, %r5, 2;
	mov.u32 	%r69, %r6;
	@%p36 bra 	$L__BB2_59;
	add.s64 	%rd110, %rd98, %rd37;
	setp.ge.u64 	%p38, %rd110, %rd4;
	or.pred  	%p39, %p29, %p38;
	mov.u32 	%r69, %r7;
	@%p39 bra 	$L__BB2_59;
	mul.lo.s64 	%rd213, %rd12, %rd110;
	add.s64 	%rd214, %rd101, %rd213;
	add.s64 	%rd215, %rd1, %rd214;
	ld.global.u8 	%rd216, [%rd215];
	st.shared.u64 	[%rd34+4224], %rd216;
	mov.u32 	%r69, %r7;
$L__BB2_59:
	setp.lt.u32 	%p40, %r4, 24;
	@%p40 bra 	$L__BB2_72;
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
	@%p43 bra 	$L__BB2_62;
	mul.lo.s64 	%rd222, %rd12, %rd111;
	add.s64 	%rd223, %rd101, %rd222;
	add.s64 	%rd224, %rd1, %rd223;
	ld.global.u8 	%rd225, [%rd224];
	st.shared.u64 	[%rd112], %rd225;
$L__BB2_62:
	add.s32 	%r58, %r69, 8;
	cvt.u64.u32 	%rd226, %r58;
	add.s64 	%rd113, %rd98, %rd226;
	setp.ge.u64 	%p45, %rd113, %rd4;
	or.pred  	%p46, %p41, %p45;
	@%p46 bra 	$L__BB2_64;
	mul.lo.s64 	%rd227, %rd12, %rd113;
	add.s64 	%rd228, %rd101, %rd227;
	add.s64 	%rd229, %rd1, %rd228;
	ld.global.u8 	%rd230, [%rd229];
	st.shared.u64 	[%rd112+2112], %rd230;
$L__BB2_64:
	add.s32 	%r59, %r69, 16;
	cvt.u64.u32 	%rd231, %r59;
	add.s64 	%rd114, %rd98, %rd231;
	setp.ge.u64 	%p48, %rd114, %rd4;
	or.pred  	%p49, %p41, %p48;
	@%p49 bra 	$L__BB2_66;
	mul.lo.s64 	%rd232, %rd12, %rd114;
	add.s64 	%rd233, %rd101, %rd232;
	add.s64 	%rd234, %rd1, %rd233;
	ld.global.u8 	%rd235, [%rd234];
	st.shared.u64 	[%rd112+4224], %rd235;
$L__BB2_66:
	add.s32 	%r60, %r69, 24;
	cvt.u64.u32 	%rd236, %r60;
	add.s64 	%rd115, %rd98, %rd236;
	setp.ge.u64 	%p51, %rd115, %rd4;
	or.pred  	%p52, %p41, %p51;
	@%p52 bra 	$L__BB2_72;
	mul.lo.s64 	%rd237, %rd12, %rd115;
	add.s64 	%rd238, %rd101, %rd237;
	add.s64 	%rd239, %rd1, %rd238;
	ld.global.u8 	%rd240, [%rd239];
	st.shared.u64 	[%rd112+6336], %rd240;
	bra.uni 	$L__BB2_72;
$L__BB2_46:
	mov.u32 	%r68, %r2;
$L__BB2_47:
	shl.b64 	%rd312, %rd339, 5;
	add.s64 	%rd311, %rd308, %rd11;
	cvt.u64.u32 	%rd106, %r68;
	add.s64 	%rd107, %rd98, %rd106;
	setp.ge.u64 	%p24, %rd107, %rd4;
	setp.ge.u64 	%p25, %rd311, %rd6;
	or.pred  	%p26, %p25, %p24;
	@%p26 bra 	$L__BB2_49;
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
$L__BB2_49:
	cvt.u32.u64 	%r57, %rd106;
	add.s32 	%r68, %r57, 8;
	setp.lt.u32 	%p27, %r68, 32;
	@%p27 bra 	$L__BB2_47;
	bra.uni 	$L__BB2_72;
$L__BB2_68:
	mov.u32 	%r70, %r2;
$L__BB2_69:
	shl.b64 	%rd310, %rd339, 5;
	add.s64 	%rd309, %rd308, %rd11;
	cvt.u64.u32 	%rd116, %r70;
	add.s64 	%rd117, %rd98, %rd116;
	setp.ge.u64 	%p53, %rd117, %rd4;
	setp.ge.u64 	%p54, %rd309, %rd6;
	or.pred  	%p55, %p54, %p53;
	@%p55 bra 	$L__BB2_71;
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
$L__BB2_71:
	cvt.u32.u64 	%r61, %rd116;
	add.s32 	%r70, %r61, 8;
	setp.lt.u32 	%p56, %r70, 32;
	@%p56 bra 	$L__BB2_69;
$L__BB2_72:
	bar.sync 	0;
	@%p16 bra 	$L__BB2_103;
	add.s64 	%rd118, %rd98, %rd11;
	add.s64 	%rd119, %rd345, %rd118;
	setp.eq.s32 	%p58, %r20, 1;
	@%p58 bra 	$L__BB2_79;
	setp.ne.s32 	%p59, %r20, 2;
	@%p59 bra 	$L__BB2_97;
	mov.u32 	%r71, %r2;
$L__BB2_76:
	shl.b64 	%rd330, %rd337, 5;
	add.s64 	%rd329, %rd330, %rd11;
	shl.b64 	%rd318, %rd339, 5;
	cvt.u64.u32 	%rd120, %r71;
	add.s64 	%rd121, %rd318, %rd120;
	setp.ge.u64 	%p60, %rd121, %rd6;
	setp.ge.u64 	%p61, %rd329, %rd4;
	or.pred  	%p62, %p61, %p60;
	@%p62 bra 	$L__BB2_78;
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
$L__BB2_78:
	cvt.u32.u64 	%r62, %rd120;
	add.s32 	%r71, %r62, 8;
	setp.lt.u32 	%p63, %r71, 32;
	@%p63 bra 	$L__BB2_76;
	bra.uni 	$L__BB2_103;
$L__BB2_79:
	setp.eq.s32 	%p64, %r5, 0;
	mov.u32 	%r72, %r2;
	@%p64 bra 	$L__BB2_88;
	shl.b64 	%rd332, %rd337, 5;
	add.s64 	%rd331, %rd332, %rd11;
	shl.b64 	%rd319, %rd339, 5;
	setp.ge.u64 	%p65, %rd331, %rd4;
	add.s64 	%rd122, %rd319, %rd33;
	setp.ge.u64 	%p66, %rd122, %rd6;
	or.pred  	%p67, %p65, %p66;
	@%p67 bra 	$L__BB2_82;
	mul.lo.s64 	%rd261, %rd14, %rd122;
	add.s64 	%rd262, %rd119, %rd261;
	ld.shared.u64 	%rd263, [%rd36];
	add.s64 	%rd264, %rd2, %rd262;
	st.global.u8 	[%rd264], %rd263;
$L__BB2_82:
	setp.eq.s32 	%p68, %r5, 1;
	mov.u32 	%r72, %r3;
	@%p68 bra 	$L__BB2_88;
	shl.b64 	%rd320, %rd339, 5;
	add.s64 	%rd123, %rd320, %rd35;
	setp.ge.u64 	%p70, %rd123, %rd6;
	or.pred  	%p71, %p65, %p70;
	@%p71 bra 	$L__BB2_85;
	mul.lo.s64 	%rd265, %rd14, %rd123;
	add.s64 	%rd266, %rd119, %rd265;
	ld.shared.u64 	%rd267, [%rd36+64];
	add.s64 	%rd268, %rd2, %rd266;
	st.global.u8 	[%rd268], %rd267;
$L__BB2_85:
	setp.eq.s32 	%p72, %r5, 2;
	mov.u32 	%r72, %r6;
	@%p72 bra 	$L__BB2_88;
	shl.b64 	%rd321, %rd339, 5;
	add.s64 	%rd124, %rd321, %rd37;
	setp.ge.u64 	%p74, %rd124, %rd6;
	or.pred  	%p75, %p65, %p74;
	mov.u32 	%r72, %r7;
	@%p75 bra 	$L__BB2_88;
	mul.lo.s64 	%rd269, %rd14, %rd124;
	add.s64 	%rd270, %rd119, %rd269;
	ld.shared.u64 	%rd271, [%rd36+128];
	add.s64 	%rd272, %rd2, %rd270;
	st.global.u8 	[%rd272], %rd271;
	mov.u32 	%r72, %r7;
$L__BB2_88:
	setp.lt.u32 	%p76, %r4, 24;
	@%p76 bra 	$L__BB2_103;
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
	@%p79 bra 	$L__BB2_91;
	mul.lo.s64 	%rd278, %rd14, %rd125;
	add.s64 	%rd279, %rd119, %rd278;
	ld.shared.u64 	%rd280, [%rd126];
	add.s64 	%rd281, %rd2, %rd279;
	st.global.u8 	[%rd281], %rd280;
$L__BB2_91:
	shl.b64 	%rd323, %rd339, 5;
	add.s32 	%r63, %r72, 8;
	cvt.u64.u32 	%rd282, %r63;
	add.s64 	%rd127, %rd323, %rd282;
	setp.ge.u64 	%p81, %rd127, %rd6;
	or.pred  	%p82, %p77, %p81;
	@%p82 bra 	$L__BB2_93;
	mul.lo.s64 	%rd283, %rd14, %rd127;
	add.s64 	%rd284, %rd119, %rd283;
	ld.shared.u64 	%rd285, [%rd126+64];
	add.s64 	%rd286, %rd2, %rd284;
	st.global.u8 	[%rd286], %rd285;
$L__BB2_93:
	shl.b64 	%rd324, %rd339, 5;
	add.s32 	%r64, %r72, 16;
	cvt.u64.u32 	%rd287, %r64;
	add.s64 	%rd128, %rd324, %rd287;
	setp.ge.u64 	%p84, %rd128, %rd6;
	or.pred  	%p85, %p77, %p84;
	@%p85 bra 	$L__BB2_95;
	mul.lo.s64 	%rd288, %rd14, %rd128;
	add.s64 	%rd289, %rd119, %rd288;
	ld.shared.u64 	%rd290, [%rd126+128];
	add.s64 	%rd291, %rd2, %rd289;
	st.global.u8 	[%rd291], %rd290;
$L__BB2_95:
	shl.b64 	%rd325, %rd339, 5;
	add.s32 	%r65, %r72, 24;
	cvt.u64.u32 	%rd292, %r65;
	add.s64 	%rd129, %rd325, %rd292;
	setp.ge.u64 	%p87, %rd129, %rd6;
	or.pred  	%p88, %p77, %p87;
	@%p88 bra 	$L__BB2_103;
	mul.lo.s64 	%rd293, %rd14, %rd129;
	add.s64 	%rd294, %rd119, %rd293;
	ld.shared.u64 	%rd295, [%rd126+192];
	add.s64 	%rd296, %rd2, %rd294;
	st.global.u8 	[%rd296], %rd295;
	bra.uni 	$L__BB2_103;
$L__BB2_97:
	mov.u32 	%r73, %r2;
$L__BB2_98:
	shl.b64 	%rd328, %rd337, 5;
	add.s64 	%rd327, %rd328, %rd11;
	shl.b64 	%rd317, %rd339, 5;
	cvt.u64.u32 	%rd130, %r73;
	add.s64 	%rd131, %rd317, %rd130;
	setp.ge.u64 	%p89, %rd131, %rd6;
	setp.ge.u64 	%p90, %rd327, %rd4;
	or.pred  	%p91, %p90, %p89;
	@%p91 bra 	$L__BB2_102;
	setp.eq.s32 	%p92, %r20, 4;
	mul.lo.s64 	%rd297, %rd14, %rd131;
	add.s64 	%rd132, %rd119, %rd297;
	mul.lo.s64 	%rd298, %rd11, 264;
	add.s64 	%rd300, %rd142, %rd298;
	shl.b64 	%rd301, %rd130, 3;
	add.s64 	%rd302, %rd300, %rd301;
	ld.shared.u64 	%rd133, [%rd302];
	@%p92 bra 	$L__BB2_101;
	bra.uni 	$L__BB2_100;
$L__BB2_101:
	shl.b64 	%rd305, %rd132, 2;
	add.s64 	%rd306, %rd2, %rd305;
	st.global.u32 	[%rd306], %rd133;
	bra.uni 	$L__BB2_102;
$L__BB2_100:
	shl.b64 	%rd303, %rd132, 3;
	add.s64 	%rd304, %rd2, %rd303;
	st.global.u64 	[%rd304], %rd133;
$L__BB2_102:
	cvt.u32.u64 	%r66, %rd130;
	add.s32 	%r73, %r66, 8;
	setp.lt.u32 	%p93, %r73, 32;
	@%p93 bra 	$L__BB2_98;
$L__BB2_103:
	ld.param.u64 	%rd307, [vramkit_strided_transpose_param_2];
	bar.sync 	0;
	add.s64 	%rd335, %rd335, %rd13;
	setp.lt.u64 	%p94, %rd335, %rd307;
	@%p94 bra 	$L__BB2_2;
$L__BB2_104:
	ret;
}`;
