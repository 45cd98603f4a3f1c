// The PTX of ../conversion_source.ts, written by `deno task kernels`; a test compares the two.

/** The text. */
export const CONVERSION_PTX = `.version 7.0
.target sm_52
.address_size 64
.visible .entry vramkit_convert(
	.param .u64 vramkit_convert_param_0,
	.param .u64 vramkit_convert_param_1,
	.param .u64 vramkit_convert_param_2,
	.param .u32 vramkit_convert_param_3,
	.param .u32 vramkit_convert_param_4
)
{
	.reg .pred 	%p<170>;
	.reg .b16 	%rs<22>;
	.reg .f32 	%f<85>;
	.reg .b32 	%r<100>;
	.reg .f64 	%fd<41>;
	.reg .b64 	%rd<302>;
	ld.param.u64 	%rd152, [vramkit_convert_param_0];
	ld.param.u64 	%rd153, [vramkit_convert_param_1];
	ld.param.u64 	%rd151, [vramkit_convert_param_2];
	ld.param.u32 	%r6, [vramkit_convert_param_3];
	ld.param.u32 	%r7, [vramkit_convert_param_4];
	cvta.to.global.u64 	%rd1, %rd153;
	cvta.to.global.u64 	%rd2, %rd152;
	mov.u32 	%r8, %nctaid.x;
	mov.u32 	%r9, %ntid.x;
	mul.wide.u32 	%rd3, %r8, %r9;
	mov.u32 	%r10, %ctaid.x;
	mul.wide.u32 	%rd154, %r10, %r9;
	mov.u32 	%r11, %tid.x;
	cvt.u64.u32 	%rd155, %r11;
	add.s64 	%rd269, %rd154, %rd155;
	setp.ge.u64 	%p2, %rd269, %rd151;
	@%p2 bra 	$L__BB0_266;
	cvt.u16.u32 	%rs3, %r7;
	and.b16  	%rs1, %rs3, 3;
	setp.ne.s32 	%p3, %r7, 12;
	setp.gt.u32 	%p4, %r7, 8;
	and.pred  	%p1, %p4, %p3;
	and.b32  	%r1, %r7, -4;
	cvt.u16.u32 	%rs4, %r6;
	and.b16  	%rs2, %rs4, 3;
	setp.eq.s32 	%p5, %r6, 9;
	selp.b64 	%rd5, 32256, 32704, %p5;
$L__BB0_2:
	setp.eq.s16 	%p6, %rs1, 0;
	@%p6 bra 	$L__BB0_21;
	setp.eq.s16 	%p7, %rs1, 1;
	@%p7 bra 	$L__BB0_13;
	setp.ne.s16 	%p8, %rs1, 2;
	@%p8 bra 	$L__BB0_29;
	setp.ge.u64 	%p9, %rd269, %rd151;
	@%p9 bra 	$L__BB0_7;
	shl.b64 	%rd157, %rd269, 2;
	add.s64 	%rd158, %rd1, %rd157;
	ld.global.u32 	%rd285, [%rd158];
$L__BB0_7:
	add.s64 	%rd13, %rd3, %rd269;
	setp.ge.u64 	%p10, %rd13, %rd151;
	@%p10 bra 	$L__BB0_9;
	shl.b64 	%rd159, %rd13, 2;
	add.s64 	%rd160, %rd1, %rd159;
	ld.global.u32 	%rd284, [%rd160];
$L__BB0_9:
	add.s64 	%rd16, %rd13, %rd3;
	setp.ge.u64 	%p11, %rd16, %rd151;
	@%p11 bra 	$L__BB0_11;
	shl.b64 	%rd161, %rd16, 2;
	add.s64 	%rd162, %rd1, %rd161;
	ld.global.u32 	%rd283, [%rd162];
$L__BB0_11:
	add.s64 	%rd19, %rd16, %rd3;
	setp.ge.u64 	%p12, %rd19, %rd151;
	@%p12 bra 	$L__BB0_37;
	shl.b64 	%rd163, %rd19, 2;
	add.s64 	%rd164, %rd1, %rd163;
	ld.global.u32 	%rd282, [%rd164];
	bra.uni 	$L__BB0_37;
$L__BB0_21:
	setp.ge.u64 	%p17, %rd269, %rd151;
	@%p17 bra 	$L__BB0_23;
	add.s64 	%rd173, %rd1, %rd269;
	ld.global.u8 	%rd285, [%rd173];
$L__BB0_23:
	add.s64 	%rd33, %rd3, %rd269;
	setp.ge.u64 	%p18, %rd33, %rd151;
	@%p18 bra 	$L__BB0_25;
	add.s64 	%rd174, %rd1, %rd33;
	ld.global.u8 	%rd284, [%rd174];
$L__BB0_25:
	add.s64 	%rd36, %rd33, %rd3;
	setp.ge.u64 	%p19, %rd36, %rd151;
	@%p19 bra 	$L__BB0_27;
	add.s64 	%rd175, %rd1, %rd36;
	ld.global.u8 	%rd283, [%rd175];
$L__BB0_27:
	add.s64 	%rd39, %rd36, %rd3;
	setp.ge.u64 	%p20, %rd39, %rd151;
	@%p20 bra 	$L__BB0_37;
	add.s64 	%rd176, %rd1, %rd39;
	ld.global.u8 	%rd282, [%rd176];
	bra.uni 	$L__BB0_37;
$L__BB0_13:
	setp.ge.u64 	%p13, %rd269, %rd151;
	@%p13 bra 	$L__BB0_15;
	shl.b64 	%rd165, %rd269, 1;
	add.s64 	%rd166, %rd1, %rd165;
	ld.global.u16 	%rd285, [%rd166];
$L__BB0_15:
	add.s64 	%rd23, %rd3, %rd269;
	setp.ge.u64 	%p14, %rd23, %rd151;
	@%p14 bra 	$L__BB0_17;
	shl.b64 	%rd167, %rd23, 1;
	add.s64 	%rd168, %rd1, %rd167;
	ld.global.u16 	%rd284, [%rd168];
$L__BB0_17:
	add.s64 	%rd26, %rd23, %rd3;
	setp.ge.u64 	%p15, %rd26, %rd151;
	@%p15 bra 	$L__BB0_19;
	shl.b64 	%rd169, %rd26, 1;
	add.s64 	%rd170, %rd1, %rd169;
	ld.global.u16 	%rd283, [%rd170];
$L__BB0_19:
	add.s64 	%rd29, %rd26, %rd3;
	setp.ge.u64 	%p16, %rd29, %rd151;
	@%p16 bra 	$L__BB0_37;
	shl.b64 	%rd171, %rd29, 1;
	add.s64 	%rd172, %rd1, %rd171;
	ld.global.u16 	%rd282, [%rd172];
	bra.uni 	$L__BB0_37;
$L__BB0_29:
	setp.ge.u64 	%p21, %rd269, %rd151;
	@%p21 bra 	$L__BB0_31;
	shl.b64 	%rd177, %rd269, 3;
	add.s64 	%rd178, %rd1, %rd177;
	ld.global.u64 	%rd285, [%rd178];
$L__BB0_31:
	add.s64 	%rd43, %rd3, %rd269;
	setp.ge.u64 	%p22, %rd43, %rd151;
	@%p22 bra 	$L__BB0_33;
	shl.b64 	%rd179, %rd43, 3;
	add.s64 	%rd180, %rd1, %rd179;
	ld.global.u64 	%rd284, [%rd180];
$L__BB0_33:
	add.s64 	%rd46, %rd43, %rd3;
	setp.ge.u64 	%p23, %rd46, %rd151;
	@%p23 bra 	$L__BB0_35;
	shl.b64 	%rd181, %rd46, 3;
	add.s64 	%rd182, %rd1, %rd181;
	ld.global.u64 	%rd283, [%rd182];
$L__BB0_35:
	add.s64 	%rd49, %rd46, %rd3;
	setp.ge.u64 	%p24, %rd49, %rd151;
	@%p24 bra 	$L__BB0_37;
	shl.b64 	%rd183, %rd49, 3;
	add.s64 	%rd184, %rd1, %rd183;
	ld.global.u64 	%rd282, [%rd184];
$L__BB0_37:
	setp.ge.u64 	%p25, %rd269, %rd151;
	@%p25 bra 	$L__BB0_94;
	@%p1 bra 	$L__BB0_66;
	bra.uni 	$L__BB0_39;
$L__BB0_66:
	setp.eq.s32 	%p42, %r7, 11;
	@%p42 bra 	$L__BB0_70;
	bra.uni 	$L__BB0_67;
$L__BB0_70:
	mov.b64 	%fd6, %rd285;
	bra.uni 	$L__BB0_71;
$L__BB0_39:
	setp.gt.s32 	%p26, %r7, 5;
	@%p26 bra 	$L__BB0_43;
	setp.eq.s32 	%p29, %r7, 4;
	@%p29 bra 	$L__BB0_47;
	setp.eq.s32 	%p30, %r7, 5;
	mov.u64 	%rd289, %rd285;
	@%p30 bra 	$L__BB0_42;
	bra.uni 	$L__BB0_48;
$L__BB0_42:
	cvt.s64.s16 	%rd289, %rd285;
	bra.uni 	$L__BB0_48;
$L__BB0_67:
	setp.eq.s32 	%p43, %r7, 13;
	shl.b64 	%rd185, %rd285, 16;
	selp.b64 	%rd186, %rd185, %rd285, %p43;
	cvt.u32.u64 	%r20, %rd186;
	mov.b32 	%f75, %r20;
	setp.ne.s32 	%p44, %r7, 9;
	@%p44 bra 	$L__BB0_69;
	cvt.u16.u64 	%rs7, %rd285;
	cvt.f32.f16 %f75, %rs7;
$L__BB0_69:
	cvt.f64.f32 	%fd6, %f75;
$L__BB0_71:
	setp.eq.s32 	%p45, %r6, 12;
	@%p45 bra 	$L__BB0_86;
	bra.uni 	$L__BB0_72;
$L__BB0_86:
	setp.neu.f64 	%p57, %fd6, 0d0000000000000000;
	selp.u64 	%rd289, 1, 0, %p57;
	bra.uni 	$L__BB0_87;
$L__BB0_43:
	setp.eq.s32 	%p27, %r7, 6;
	@%p27 bra 	$L__BB0_46;
	mov.u64 	%rd289, %rd285;
	@%p3 bra 	$L__BB0_48;
	setp.ne.s64 	%p31, %rd285, 0;
	selp.u64 	%rd289, 1, 0, %p31;
	bra.uni 	$L__BB0_48;
$L__BB0_72:
	setp.lt.u32 	%p46, %r6, 8;
	@%p46 bra 	$L__BB0_83;
	bra.uni 	$L__BB0_73;
$L__BB0_83:
	mov.b64 	%rd72, %fd6;
	shr.u64 	%rd190, %rd72, 52;
	cvt.u32.u64 	%r29, %rd190;
	and.b32  	%r2, %r29, 2047;
	add.s32 	%r30, %r2, -1023;
	setp.gt.u32 	%p54, %r30, 115;
	mov.u64 	%rd288, 0;
	@%p54 bra 	$L__BB0_85;
	and.b64  	%rd191, %rd72, 4503599627370495;
	or.b64  	%rd192, %rd191, 4503599627370496;
	add.s32 	%r31, %r2, -1075;
	shl.b64 	%rd193, %rd192, %r31;
	mov.u32 	%r32, 1075;
	sub.s32 	%r33, %r32, %r2;
	shr.u64 	%rd194, %rd192, %r33;
	setp.gt.u32 	%p55, %r2, 1074;
	selp.b64 	%rd288, %rd193, %rd194, %p55;
$L__BB0_85:
	neg.s64 	%rd195, %rd288;
	setp.lt.s64 	%p56, %rd72, 0;
	selp.b64 	%rd289, %rd195, %rd288, %p56;
	bra.uni 	$L__BB0_87;
$L__BB0_73:
	setp.eq.s32 	%p47, %r6, 11;
	@%p47 bra 	$L__BB0_77;
	setp.ne.s32 	%p48, %r6, 10;
	@%p48 bra 	$L__BB0_79;
	setp.nan.f64 	%p49, %fd6, %fd6;
	mov.u64 	%rd289, 2143289344;
	@%p49 bra 	$L__BB0_87;
	cvt.rn.f32.f64 	%f48, %fd6;
	mov.b32 	%r21, %f48;
	cvt.u64.u32 	%rd289, %r21;
	bra.uni 	$L__BB0_87;
$L__BB0_47:
	cvt.s64.s8 	%rd289, %rd285;
	bra.uni 	$L__BB0_48;
$L__BB0_46:
	cvt.s64.s32 	%rd289, %rd285;
$L__BB0_48:
	setp.lt.u32 	%p32, %r6, 8;
	@%p32 bra 	$L__BB0_87;
	setp.eq.s32 	%p33, %r6, 12;
	@%p33 bra 	$L__BB0_65;
	bra.uni 	$L__BB0_50;
$L__BB0_65:
	setp.ne.s64 	%p41, %rd289, 0;
	selp.u64 	%rd289, 1, 0, %p41;
	bra.uni 	$L__BB0_87;
$L__BB0_50:
	setp.eq.s32 	%p34, %r6, 11;
	@%p34 bra 	$L__BB0_56;
	setp.ne.s32 	%p35, %r6, 10;
	@%p35 bra 	$L__BB0_59;
	setp.eq.s32 	%p36, %r1, 4;
	@%p36 bra 	$L__BB0_54;
	bra.uni 	$L__BB0_53;
$L__BB0_54:
	cvt.rn.f32.s64 	%f73, %rd289;
	bra.uni 	$L__BB0_55;
$L__BB0_77:
	setp.nan.f64 	%p50, %fd6, %fd6;
	mov.u64 	%rd289, 9221120237041090560;
	@%p50 bra 	$L__BB0_87;
	mov.b64 	%rd289, %fd6;
	bra.uni 	$L__BB0_87;
$L__BB0_79:
	setp.nan.f64 	%p51, %fd6, %fd6;
	mov.u64 	%rd289, %rd5;
	@%p51 bra 	$L__BB0_87;
	setp.eq.s32 	%p52, %r6, 13;
	cvt.rz.f32.f64 	%f49, %fd6;
	cvt.f64.f32 	%fd25, %f49;
	setp.neu.f64 	%p53, %fd6, %fd25;
	mov.b32 	%r22, %f49;
	or.b32  	%r23, %r22, 1;
	mov.b32 	%f50, %r23;
	selp.f32 	%f11, %f50, %f49, %p53;
	@%p52 bra 	$L__BB0_82;
	bra.uni 	$L__BB0_81;
$L__BB0_82:
	mov.b32 	%r24, %f11;
	bfe.u32 	%r25, %r24, 16, 1;
	add.s32 	%r26, %r24, %r25;
	add.s32 	%r27, %r26, 32767;
	shr.u32 	%r28, %r27, 16;
	cvt.u64.u32 	%rd289, %r28;
	bra.uni 	$L__BB0_87;
$L__BB0_56:
	setp.eq.s32 	%p37, %r1, 4;
	@%p37 bra 	$L__BB0_58;
	bra.uni 	$L__BB0_57;
$L__BB0_58:
	cvt.rn.f64.s64 	%fd2, %rd289;
	mov.b64 	%rd289, %fd2;
	bra.uni 	$L__BB0_87;
$L__BB0_59:
	setp.eq.s32 	%p38, %r1, 4;
	@%p38 bra 	$L__BB0_61;
	bra.uni 	$L__BB0_60;
$L__BB0_61:
	cvt.rz.f32.s64 	%f74, %rd289;
	cvt.rzi.s64.f32 	%rd287, %f74;
	bra.uni 	$L__BB0_62;
$L__BB0_53:
	cvt.rn.f32.u64 	%f73, %rd289;
$L__BB0_55:
	mov.b32 	%r12, %f73;
	cvt.u64.u32 	%rd289, %r12;
	bra.uni 	$L__BB0_87;
$L__BB0_57:
	cvt.rn.f64.u64 	%fd1, %rd289;
	mov.b64 	%rd289, %fd1;
	bra.uni 	$L__BB0_87;
$L__BB0_60:
	cvt.rz.f32.u64 	%f74, %rd289;
	cvt.rzi.u64.f32 	%rd287, %f74;
$L__BB0_62:
	mov.b32 	%r13, %f74;
	or.b32  	%r14, %r13, 1;
	mov.b32 	%f45, %r14;
	setp.eq.s64 	%p39, %rd287, %rd289;
	selp.f32 	%f7, %f74, %f45, %p39;
	setp.eq.s32 	%p40, %r6, 13;
	@%p40 bra 	$L__BB0_64;
	bra.uni 	$L__BB0_63;
$L__BB0_64:
	mov.b32 	%r15, %f7;
	bfe.u32 	%r16, %r15, 16, 1;
	add.s32 	%r17, %r15, %r16;
	add.s32 	%r18, %r17, 32767;
	shr.u32 	%r19, %r18, 16;
	cvt.u64.u32 	%rd289, %r19;
	bra.uni 	$L__BB0_87;
$L__BB0_63:
	cvt.rn.f16.f32 %rs6, %f7;
	cvt.u64.u16 	%rd289, %rs6;
	bra.uni 	$L__BB0_87;
$L__BB0_81:
	cvt.rn.f16.f32 %rs8, %f11;
	cvt.u64.u16 	%rd289, %rs8;
$L__BB0_87:
	setp.eq.s16 	%p58, %rs2, 0;
	@%p58 bra 	$L__BB0_92;
	setp.eq.s16 	%p59, %rs2, 1;
	@%p59 bra 	$L__BB0_91;
	setp.ne.s16 	%p60, %rs2, 2;
	@%p60 bra 	$L__BB0_93;
	shl.b64 	%rd196, %rd269, 2;
	add.s64 	%rd197, %rd2, %rd196;
	st.global.u32 	[%rd197], %rd289;
	bra.uni 	$L__BB0_94;
$L__BB0_92:
	add.s64 	%rd200, %rd2, %rd269;
	st.global.u8 	[%rd200], %rd289;
	bra.uni 	$L__BB0_94;
$L__BB0_91:
	shl.b64 	%rd198, %rd269, 1;
	add.s64 	%rd199, %rd2, %rd198;
	st.global.u16 	[%rd199], %rd289;
	bra.uni 	$L__BB0_94;
$L__BB0_93:
	shl.b64 	%rd201, %rd269, 3;
	add.s64 	%rd202, %rd2, %rd201;
	st.global.u64 	[%rd202], %rd289;
$L__BB0_94:
	add.s64 	%rd78, %rd3, %rd269;
	setp.ge.u64 	%p61, %rd78, %rd151;
	@%p61 bra 	$L__BB0_151;
	@%p1 bra 	$L__BB0_123;
	bra.uni 	$L__BB0_96;
$L__BB0_123:
	setp.eq.s32 	%p78, %r7, 11;
	@%p78 bra 	$L__BB0_127;
	bra.uni 	$L__BB0_124;
$L__BB0_127:
	mov.b64 	%fd12, %rd284;
	bra.uni 	$L__BB0_128;
$L__BB0_96:
	setp.gt.s32 	%p62, %r7, 5;
	@%p62 bra 	$L__BB0_100;
	setp.eq.s32 	%p65, %r7, 4;
	@%p65 bra 	$L__BB0_104;
	setp.eq.s32 	%p66, %r7, 5;
	mov.u64 	%rd293, %rd284;
	@%p66 bra 	$L__BB0_99;
	bra.uni 	$L__BB0_105;
$L__BB0_99:
	cvt.s64.s16 	%rd293, %rd284;
	bra.uni 	$L__BB0_105;
$L__BB0_124:
	setp.eq.s32 	%p79, %r7, 13;
	shl.b64 	%rd203, %rd284, 16;
	selp.b64 	%rd204, %rd203, %rd284, %p79;
	cvt.u32.u64 	%r42, %rd204;
	mov.b32 	%f78, %r42;
	setp.ne.s32 	%p80, %r7, 9;
	@%p80 bra 	$L__BB0_126;
	cvt.u16.u64 	%rs11, %rd284;
	cvt.f32.f16 %f78, %rs11;
$L__BB0_126:
	cvt.f64.f32 	%fd12, %f78;
$L__BB0_128:
	setp.eq.s32 	%p81, %r6, 12;
	@%p81 bra 	$L__BB0_143;
	bra.uni 	$L__BB0_129;
$L__BB0_143:
	setp.neu.f64 	%p93, %fd12, 0d0000000000000000;
	selp.u64 	%rd293, 1, 0, %p93;
	bra.uni 	$L__BB0_144;
$L__BB0_100:
	setp.eq.s32 	%p63, %r7, 6;
	@%p63 bra 	$L__BB0_103;
	mov.u64 	%rd293, %rd284;
	@%p3 bra 	$L__BB0_105;
	setp.ne.s64 	%p67, %rd284, 0;
	selp.u64 	%rd293, 1, 0, %p67;
	bra.uni 	$L__BB0_105;
$L__BB0_129:
	setp.lt.u32 	%p82, %r6, 8;
	@%p82 bra 	$L__BB0_140;
	bra.uni 	$L__BB0_130;
$L__BB0_140:
	mov.b64 	%rd96, %fd12;
	shr.u64 	%rd208, %rd96, 52;
	cvt.u32.u64 	%r51, %rd208;
	and.b32  	%r3, %r51, 2047;
	add.s32 	%r52, %r3, -1023;
	setp.gt.u32 	%p90, %r52, 115;
	mov.u64 	%rd292, 0;
	@%p90 bra 	$L__BB0_142;
	and.b64  	%rd209, %rd96, 4503599627370495;
	or.b64  	%rd210, %rd209, 4503599627370496;
	add.s32 	%r53, %r3, -1075;
	shl.b64 	%rd211, %rd210, %r53;
	mov.u32 	%r54, 1075;
	sub.s32 	%r55, %r54, %r3;
	shr.u64 	%rd212, %rd210, %r55;
	setp.gt.u32 	%p91, %r3, 1074;
	selp.b64 	%rd292, %rd211, %rd212, %p91;
$L__BB0_142:
	neg.s64 	%rd213, %rd292;
	setp.lt.s64 	%p92, %rd96, 0;
	selp.b64 	%rd293, %rd213, %rd292, %p92;
	bra.uni 	$L__BB0_144;
$L__BB0_130:
	setp.eq.s32 	%p83, %r6, 11;
	@%p83 bra 	$L__BB0_134;
	setp.ne.s32 	%p84, %r6, 10;
	@%p84 bra 	$L__BB0_136;
	setp.nan.f64 	%p85, %fd12, %fd12;
	mov.u64 	%rd293, 2143289344;
	@%p85 bra 	$L__BB0_144;
	cvt.rn.f32.f64 	%f55, %fd12;
	mov.b32 	%r43, %f55;
	cvt.u64.u32 	%rd293, %r43;
	bra.uni 	$L__BB0_144;
$L__BB0_104:
	cvt.s64.s8 	%rd293, %rd284;
	bra.uni 	$L__BB0_105;
$L__BB0_103:
	cvt.s64.s32 	%rd293, %rd284;
$L__BB0_105:
	setp.lt.u32 	%p68, %r6, 8;
	@%p68 bra 	$L__BB0_144;
	setp.eq.s32 	%p69, %r6, 12;
	@%p69 bra 	$L__BB0_122;
	bra.uni 	$L__BB0_107;
$L__BB0_122:
	setp.ne.s64 	%p77, %rd293, 0;
	selp.u64 	%rd293, 1, 0, %p77;
	bra.uni 	$L__BB0_144;
$L__BB0_107:
	setp.eq.s32 	%p70, %r6, 11;
	@%p70 bra 	$L__BB0_113;
	setp.ne.s32 	%p71, %r6, 10;
	@%p71 bra 	$L__BB0_116;
	setp.eq.s32 	%p72, %r1, 4;
	@%p72 bra 	$L__BB0_111;
	bra.uni 	$L__BB0_110;
$L__BB0_111:
	cvt.rn.f32.s64 	%f76, %rd293;
	bra.uni 	$L__BB0_112;
$L__BB0_134:
	setp.nan.f64 	%p86, %fd12, %fd12;
	mov.u64 	%rd293, 9221120237041090560;
	@%p86 bra 	$L__BB0_144;
	mov.b64 	%rd293, %fd12;
	bra.uni 	$L__BB0_144;
$L__BB0_136:
	setp.nan.f64 	%p87, %fd12, %fd12;
	mov.u64 	%rd293, %rd5;
	@%p87 bra 	$L__BB0_144;
	setp.eq.s32 	%p88, %r6, 13;
	cvt.rz.f32.f64 	%f56, %fd12;
	cvt.f64.f32 	%fd26, %f56;
	setp.neu.f64 	%p89, %fd12, %fd26;
	mov.b32 	%r44, %f56;
	or.b32  	%r45, %r44, 1;
	mov.b32 	%f57, %r45;
	selp.f32 	%f22, %f57, %f56, %p89;
	@%p88 bra 	$L__BB0_139;
	bra.uni 	$L__BB0_138;
$L__BB0_139:
	mov.b32 	%r46, %f22;
	bfe.u32 	%r47, %r46, 16, 1;
	add.s32 	%r48, %r46, %r47;
	add.s32 	%r49, %r48, 32767;
	shr.u32 	%r50, %r49, 16;
	cvt.u64.u32 	%rd293, %r50;
	bra.uni 	$L__BB0_144;
$L__BB0_113:
	setp.eq.s32 	%p73, %r1, 4;
	@%p73 bra 	$L__BB0_115;
	bra.uni 	$L__BB0_114;
$L__BB0_115:
	cvt.rn.f64.s64 	%fd8, %rd293;
	mov.b64 	%rd293, %fd8;
	bra.uni 	$L__BB0_144;
$L__BB0_116:
	setp.eq.s32 	%p74, %r1, 4;
	@%p74 bra 	$L__BB0_118;
	bra.uni 	$L__BB0_117;
$L__BB0_118:
	cvt.rz.f32.s64 	%f77, %rd293;
	cvt.rzi.s64.f32 	%rd291, %f77;
	bra.uni 	$L__BB0_119;
$L__BB0_110:
	cvt.rn.f32.u64 	%f76, %rd293;
$L__BB0_112:
	mov.b32 	%r34, %f76;
	cvt.u64.u32 	%rd293, %r34;
	bra.uni 	$L__BB0_144;
$L__BB0_114:
	cvt.rn.f64.u64 	%fd7, %rd293;
	mov.b64 	%rd293, %fd7;
	bra.uni 	$L__BB0_144;
$L__BB0_117:
	cvt.rz.f32.u64 	%f77, %rd293;
	cvt.rzi.u64.f32 	%rd291, %f77;
$L__BB0_119:
	mov.b32 	%r35, %f77;
	or.b32  	%r36, %r35, 1;
	mov.b32 	%f52, %r36;
	setp.eq.s64 	%p75, %rd291, %rd293;
	selp.f32 	%f18, %f77, %f52, %p75;
	setp.eq.s32 	%p76, %r6, 13;
	@%p76 bra 	$L__BB0_121;
	bra.uni 	$L__BB0_120;
$L__BB0_121:
	mov.b32 	%r37, %f18;
	bfe.u32 	%r38, %r37, 16, 1;
	add.s32 	%r39, %r37, %r38;
	add.s32 	%r40, %r39, 32767;
	shr.u32 	%r41, %r40, 16;
	cvt.u64.u32 	%rd293, %r41;
	bra.uni 	$L__BB0_144;
$L__BB0_120:
	cvt.rn.f16.f32 %rs10, %f18;
	cvt.u64.u16 	%rd293, %rs10;
	bra.uni 	$L__BB0_144;
$L__BB0_138:
	cvt.rn.f16.f32 %rs12, %f22;
	cvt.u64.u16 	%rd293, %rs12;
$L__BB0_144:
	setp.eq.s16 	%p94, %rs2, 0;
	@%p94 bra 	$L__BB0_149;
	setp.eq.s16 	%p95, %rs2, 1;
	@%p95 bra 	$L__BB0_148;
	setp.ne.s16 	%p96, %rs2, 2;
	@%p96 bra 	$L__BB0_150;
	shl.b64 	%rd214, %rd78, 2;
	add.s64 	%rd215, %rd2, %rd214;
	st.global.u32 	[%rd215], %rd293;
	bra.uni 	$L__BB0_151;
$L__BB0_149:
	add.s64 	%rd218, %rd2, %rd78;
	st.global.u8 	[%rd218], %rd293;
	bra.uni 	$L__BB0_151;
$L__BB0_148:
	shl.b64 	%rd216, %rd78, 1;
	add.s64 	%rd217, %rd2, %rd216;
	st.global.u16 	[%rd217], %rd293;
	bra.uni 	$L__BB0_151;
$L__BB0_150:
	shl.b64 	%rd219, %rd78, 3;
	add.s64 	%rd220, %rd2, %rd219;
	st.global.u64 	[%rd220], %rd293;
$L__BB0_151:
	add.s64 	%rd102, %rd78, %rd3;
	setp.ge.u64 	%p97, %rd102, %rd151;
	@%p97 bra 	$L__BB0_208;
	@%p1 bra 	$L__BB0_180;
	bra.uni 	$L__BB0_153;
$L__BB0_180:
	setp.eq.s32 	%p114, %r7, 11;
	@%p114 bra 	$L__BB0_184;
	bra.uni 	$L__BB0_181;
$L__BB0_184:
	mov.b64 	%fd18, %rd283;
	bra.uni 	$L__BB0_185;
$L__BB0_153:
	setp.gt.s32 	%p98, %r7, 5;
	@%p98 bra 	$L__BB0_157;
	setp.eq.s32 	%p101, %r7, 4;
	@%p101 bra 	$L__BB0_161;
	setp.eq.s32 	%p102, %r7, 5;
	mov.u64 	%rd297, %rd283;
	@%p102 bra 	$L__BB0_156;
	bra.uni 	$L__BB0_162;
$L__BB0_156:
	cvt.s64.s16 	%rd297, %rd283;
	bra.uni 	$L__BB0_162;
$L__BB0_181:
	setp.eq.s32 	%p115, %r7, 13;
	shl.b64 	%rd221, %rd283, 16;
	selp.b64 	%rd222, %rd221, %rd283, %p115;
	cvt.u32.u64 	%r64, %rd222;
	mov.b32 	%f81, %r64;
	setp.ne.s32 	%p116, %r7, 9;
	@%p116 bra 	$L__BB0_183;
	cvt.u16.u64 	%rs15, %rd283;
	cvt.f32.f16 %f81, %rs15;
$L__BB0_183:
	cvt.f64.f32 	%fd18, %f81;
$L__BB0_185:
	setp.eq.s32 	%p117, %r6, 12;
	@%p117 bra 	$L__BB0_200;
	bra.uni 	$L__BB0_186;
$L__BB0_200:
	setp.neu.f64 	%p129, %fd18, 0d0000000000000000;
	selp.u64 	%rd297, 1, 0, %p129;
	bra.uni 	$L__BB0_201;
$L__BB0_157:
	setp.eq.s32 	%p99, %r7, 6;
	@%p99 bra 	$L__BB0_160;
	mov.u64 	%rd297, %rd283;
	@%p3 bra 	$L__BB0_162;
	setp.ne.s64 	%p103, %rd283, 0;
	selp.u64 	%rd297, 1, 0, %p103;
	bra.uni 	$L__BB0_162;
$L__BB0_186:
	setp.lt.u32 	%p118, %r6, 8;
	@%p118 bra 	$L__BB0_197;
	bra.uni 	$L__BB0_187;
$L__BB0_197:
	mov.b64 	%rd120, %fd18;
	shr.u64 	%rd226, %rd120, 52;
	cvt.u32.u64 	%r73, %rd226;
	and.b32  	%r4, %r73, 2047;
	add.s32 	%r74, %r4, -1023;
	setp.gt.u32 	%p126, %r74, 115;
	mov.u64 	%rd296, 0;
	@%p126 bra 	$L__BB0_199;
	and.b64  	%rd227, %rd120, 4503599627370495;
	or.b64  	%rd228, %rd227, 4503599627370496;
	add.s32 	%r75, %r4, -1075;
	shl.b64 	%rd229, %rd228, %r75;
	mov.u32 	%r76, 1075;
	sub.s32 	%r77, %r76, %r4;
	shr.u64 	%rd230, %rd228, %r77;
	setp.gt.u32 	%p127, %r4, 1074;
	selp.b64 	%rd296, %rd229, %rd230, %p127;
$L__BB0_199:
	neg.s64 	%rd231, %rd296;
	setp.lt.s64 	%p128, %rd120, 0;
	selp.b64 	%rd297, %rd231, %rd296, %p128;
	bra.uni 	$L__BB0_201;
$L__BB0_187:
	setp.eq.s32 	%p119, %r6, 11;
	@%p119 bra 	$L__BB0_191;
	setp.ne.s32 	%p120, %r6, 10;
	@%p120 bra 	$L__BB0_193;
	setp.nan.f64 	%p121, %fd18, %fd18;
	mov.u64 	%rd297, 2143289344;
	@%p121 bra 	$L__BB0_201;
	cvt.rn.f32.f64 	%f62, %fd18;
	mov.b32 	%r65, %f62;
	cvt.u64.u32 	%rd297, %r65;
	bra.uni 	$L__BB0_201;
$L__BB0_161:
	cvt.s64.s8 	%rd297, %rd283;
	bra.uni 	$L__BB0_162;
$L__BB0_160:
	cvt.s64.s32 	%rd297, %rd283;
$L__BB0_162:
	setp.lt.u32 	%p104, %r6, 8;
	@%p104 bra 	$L__BB0_201;
	setp.eq.s32 	%p105, %r6, 12;
	@%p105 bra 	$L__BB0_179;
	bra.uni 	$L__BB0_164;
$L__BB0_179:
	setp.ne.s64 	%p113, %rd297, 0;
	selp.u64 	%rd297, 1, 0, %p113;
	bra.uni 	$L__BB0_201;
$L__BB0_164:
	setp.eq.s32 	%p106, %r6, 11;
	@%p106 bra 	$L__BB0_170;
	setp.ne.s32 	%p107, %r6, 10;
	@%p107 bra 	$L__BB0_173;
	setp.eq.s32 	%p108, %r1, 4;
	@%p108 bra 	$L__BB0_168;
	bra.uni 	$L__BB0_167;
$L__BB0_168:
	cvt.rn.f32.s64 	%f79, %rd297;
	bra.uni 	$L__BB0_169;
$L__BB0_191:
	setp.nan.f64 	%p122, %fd18, %fd18;
	mov.u64 	%rd297, 9221120237041090560;
	@%p122 bra 	$L__BB0_201;
	mov.b64 	%rd297, %fd18;
	bra.uni 	$L__BB0_201;
$L__BB0_193:
	setp.nan.f64 	%p123, %fd18, %fd18;
	mov.u64 	%rd297, %rd5;
	@%p123 bra 	$L__BB0_201;
	setp.eq.s32 	%p124, %r6, 13;
	cvt.rz.f32.f64 	%f63, %fd18;
	cvt.f64.f32 	%fd27, %f63;
	setp.neu.f64 	%p125, %fd18, %fd27;
	mov.b32 	%r66, %f63;
	or.b32  	%r67, %r66, 1;
	mov.b32 	%f64, %r67;
	selp.f32 	%f33, %f64, %f63, %p125;
	@%p124 bra 	$L__BB0_196;
	bra.uni 	$L__BB0_195;
$L__BB0_196:
	mov.b32 	%r68, %f33;
	bfe.u32 	%r69, %r68, 16, 1;
	add.s32 	%r70, %r68, %r69;
	add.s32 	%r71, %r70, 32767;
	shr.u32 	%r72, %r71, 16;
	cvt.u64.u32 	%rd297, %r72;
	bra.uni 	$L__BB0_201;
$L__BB0_170:
	setp.eq.s32 	%p109, %r1, 4;
	@%p109 bra 	$L__BB0_172;
	bra.uni 	$L__BB0_171;
$L__BB0_172:
	cvt.rn.f64.s64 	%fd14, %rd297;
	mov.b64 	%rd297, %fd14;
	bra.uni 	$L__BB0_201;
$L__BB0_173:
	setp.eq.s32 	%p110, %r1, 4;
	@%p110 bra 	$L__BB0_175;
	bra.uni 	$L__BB0_174;
$L__BB0_175:
	cvt.rz.f32.s64 	%f80, %rd297;
	cvt.rzi.s64.f32 	%rd295, %f80;
	bra.uni 	$L__BB0_176;
$L__BB0_167:
	cvt.rn.f32.u64 	%f79, %rd297;
$L__BB0_169:
	mov.b32 	%r56, %f79;
	cvt.u64.u32 	%rd297, %r56;
	bra.uni 	$L__BB0_201;
$L__BB0_171:
	cvt.rn.f64.u64 	%fd13, %rd297;
	mov.b64 	%rd297, %fd13;
	bra.uni 	$L__BB0_201;
$L__BB0_174:
	cvt.rz.f32.u64 	%f80, %rd297;
	cvt.rzi.u64.f32 	%rd295, %f80;
$L__BB0_176:
	mov.b32 	%r57, %f80;
	or.b32  	%r58, %r57, 1;
	mov.b32 	%f59, %r58;
	setp.eq.s64 	%p111, %rd295, %rd297;
	selp.f32 	%f29, %f80, %f59, %p111;
	setp.eq.s32 	%p112, %r6, 13;
	@%p112 bra 	$L__BB0_178;
	bra.uni 	$L__BB0_177;
$L__BB0_178:
	mov.b32 	%r59, %f29;
	bfe.u32 	%r60, %r59, 16, 1;
	add.s32 	%r61, %r59, %r60;
	add.s32 	%r62, %r61, 32767;
	shr.u32 	%r63, %r62, 16;
	cvt.u64.u32 	%rd297, %r63;
	bra.uni 	$L__BB0_201;
$L__BB0_177:
	cvt.rn.f16.f32 %rs14, %f29;
	cvt.u64.u16 	%rd297, %rs14;
	bra.uni 	$L__BB0_201;
$L__BB0_195:
	cvt.rn.f16.f32 %rs16, %f33;
	cvt.u64.u16 	%rd297, %rs16;
$L__BB0_201:
	setp.eq.s16 	%p130, %rs2, 0;
	@%p130 bra 	$L__BB0_206;
	setp.eq.s16 	%p131, %rs2, 1;
	@%p131 bra 	$L__BB0_205;
	setp.ne.s16 	%p132, %rs2, 2;
	@%p132 bra 	$L__BB0_207;
	shl.b64 	%rd232, %rd102, 2;
	add.s64 	%rd233, %rd2, %rd232;
	st.global.u32 	[%rd233], %rd297;
	bra.uni 	$L__BB0_208;
$L__BB0_206:
	add.s64 	%rd236, %rd2, %rd102;
	st.global.u8 	[%rd236], %rd297;
	bra.uni 	$L__BB0_208;
$L__BB0_205:
	shl.b64 	%rd234, %rd102, 1;
	add.s64 	%rd235, %rd2, %rd234;
	st.global.u16 	[%rd235], %rd297;
	bra.uni 	$L__BB0_208;
$L__BB0_207:
	shl.b64 	%rd237, %rd102, 3;
	add.s64 	%rd238, %rd2, %rd237;
	st.global.u64 	[%rd238], %rd297;
$L__BB0_208:
	add.s64 	%rd126, %rd102, %rd3;
	setp.ge.u64 	%p133, %rd126, %rd151;
	@%p133 bra 	$L__BB0_265;
	@%p1 bra 	$L__BB0_237;
	bra.uni 	$L__BB0_210;
$L__BB0_237:
	setp.eq.s32 	%p150, %r7, 11;
	@%p150 bra 	$L__BB0_241;
	bra.uni 	$L__BB0_238;
$L__BB0_241:
	mov.b64 	%fd24, %rd282;
	bra.uni 	$L__BB0_242;
$L__BB0_210:
	setp.gt.s32 	%p134, %r7, 5;
	@%p134 bra 	$L__BB0_214;
	setp.eq.s32 	%p137, %r7, 4;
	@%p137 bra 	$L__BB0_218;
	setp.eq.s32 	%p138, %r7, 5;
	mov.u64 	%rd301, %rd282;
	@%p138 bra 	$L__BB0_213;
	bra.uni 	$L__BB0_219;
$L__BB0_213:
	cvt.s64.s16 	%rd301, %rd282;
	bra.uni 	$L__BB0_219;
$L__BB0_238:
	setp.eq.s32 	%p151, %r7, 13;
	shl.b64 	%rd239, %rd282, 16;
	selp.b64 	%rd240, %rd239, %rd282, %p151;
	cvt.u32.u64 	%r86, %rd240;
	mov.b32 	%f84, %r86;
	setp.ne.s32 	%p152, %r7, 9;
	@%p152 bra 	$L__BB0_240;
	cvt.u16.u64 	%rs19, %rd282;
	cvt.f32.f16 %f84, %rs19;
$L__BB0_240:
	cvt.f64.f32 	%fd24, %f84;
$L__BB0_242:
	setp.eq.s32 	%p153, %r6, 12;
	@%p153 bra 	$L__BB0_257;
	bra.uni 	$L__BB0_243;
$L__BB0_257:
	setp.neu.f64 	%p165, %fd24, 0d0000000000000000;
	selp.u64 	%rd301, 1, 0, %p165;
	bra.uni 	$L__BB0_258;
$L__BB0_214:
	setp.eq.s32 	%p135, %r7, 6;
	@%p135 bra 	$L__BB0_217;
	mov.u64 	%rd301, %rd282;
	@%p3 bra 	$L__BB0_219;
	setp.ne.s64 	%p139, %rd282, 0;
	selp.u64 	%rd301, 1, 0, %p139;
	bra.uni 	$L__BB0_219;
$L__BB0_243:
	setp.lt.u32 	%p154, %r6, 8;
	@%p154 bra 	$L__BB0_254;
	bra.uni 	$L__BB0_244;
$L__BB0_254:
	mov.b64 	%rd144, %fd24;
	shr.u64 	%rd244, %rd144, 52;
	cvt.u32.u64 	%r95, %rd244;
	and.b32  	%r5, %r95, 2047;
	add.s32 	%r96, %r5, -1023;
	setp.gt.u32 	%p162, %r96, 115;
	mov.u64 	%rd300, 0;
	@%p162 bra 	$L__BB0_256;
	and.b64  	%rd245, %rd144, 4503599627370495;
	or.b64  	%rd246, %rd245, 4503599627370496;
	add.s32 	%r97, %r5, -1075;
	shl.b64 	%rd247, %rd246, %r97;
	mov.u32 	%r98, 1075;
	sub.s32 	%r99, %r98, %r5;
	shr.u64 	%rd248, %rd246, %r99;
	setp.gt.u32 	%p163, %r5, 1074;
	selp.b64 	%rd300, %rd247, %rd248, %p163;
$L__BB0_256:
	neg.s64 	%rd249, %rd300;
	setp.lt.s64 	%p164, %rd144, 0;
	selp.b64 	%rd301, %rd249, %rd300, %p164;
	bra.uni 	$L__BB0_258;
$L__BB0_244:
	setp.eq.s32 	%p155, %r6, 11;
	@%p155 bra 	$L__BB0_248;
	setp.ne.s32 	%p156, %r6, 10;
	@%p156 bra 	$L__BB0_250;
	setp.nan.f64 	%p157, %fd24, %fd24;
	mov.u64 	%rd301, 2143289344;
	@%p157 bra 	$L__BB0_258;
	cvt.rn.f32.f64 	%f69, %fd24;
	mov.b32 	%r87, %f69;
	cvt.u64.u32 	%rd301, %r87;
	bra.uni 	$L__BB0_258;
$L__BB0_218:
	cvt.s64.s8 	%rd301, %rd282;
	bra.uni 	$L__BB0_219;
$L__BB0_217:
	cvt.s64.s32 	%rd301, %rd282;
$L__BB0_219:
	setp.lt.u32 	%p140, %r6, 8;
	@%p140 bra 	$L__BB0_258;
	setp.eq.s32 	%p141, %r6, 12;
	@%p141 bra 	$L__BB0_236;
	bra.uni 	$L__BB0_221;
$L__BB0_236:
	setp.ne.s64 	%p149, %rd301, 0;
	selp.u64 	%rd301, 1, 0, %p149;
	bra.uni 	$L__BB0_258;
$L__BB0_221:
	setp.eq.s32 	%p142, %r6, 11;
	@%p142 bra 	$L__BB0_227;
	setp.ne.s32 	%p143, %r6, 10;
	@%p143 bra 	$L__BB0_230;
	setp.eq.s32 	%p144, %r1, 4;
	@%p144 bra 	$L__BB0_225;
	bra.uni 	$L__BB0_224;
$L__BB0_225:
	cvt.rn.f32.s64 	%f82, %rd301;
	bra.uni 	$L__BB0_226;
$L__BB0_248:
	setp.nan.f64 	%p158, %fd24, %fd24;
	mov.u64 	%rd301, 9221120237041090560;
	@%p158 bra 	$L__BB0_258;
	mov.b64 	%rd301, %fd24;
	bra.uni 	$L__BB0_258;
$L__BB0_250:
	setp.nan.f64 	%p159, %fd24, %fd24;
	mov.u64 	%rd301, %rd5;
	@%p159 bra 	$L__BB0_258;
	setp.eq.s32 	%p160, %r6, 13;
	cvt.rz.f32.f64 	%f70, %fd24;
	cvt.f64.f32 	%fd28, %f70;
	setp.neu.f64 	%p161, %fd24, %fd28;
	mov.b32 	%r88, %f70;
	or.b32  	%r89, %r88, 1;
	mov.b32 	%f71, %r89;
	selp.f32 	%f44, %f71, %f70, %p161;
	@%p160 bra 	$L__BB0_253;
	bra.uni 	$L__BB0_252;
$L__BB0_253:
	mov.b32 	%r90, %f44;
	bfe.u32 	%r91, %r90, 16, 1;
	add.s32 	%r92, %r90, %r91;
	add.s32 	%r93, %r92, 32767;
	shr.u32 	%r94, %r93, 16;
	cvt.u64.u32 	%rd301, %r94;
	bra.uni 	$L__BB0_258;
$L__BB0_227:
	setp.eq.s32 	%p145, %r1, 4;
	@%p145 bra 	$L__BB0_229;
	bra.uni 	$L__BB0_228;
$L__BB0_229:
	cvt.rn.f64.s64 	%fd20, %rd301;
	mov.b64 	%rd301, %fd20;
	bra.uni 	$L__BB0_258;
$L__BB0_230:
	setp.eq.s32 	%p146, %r1, 4;
	@%p146 bra 	$L__BB0_232;
	bra.uni 	$L__BB0_231;
$L__BB0_232:
	cvt.rz.f32.s64 	%f83, %rd301;
	cvt.rzi.s64.f32 	%rd299, %f83;
	bra.uni 	$L__BB0_233;
$L__BB0_224:
	cvt.rn.f32.u64 	%f82, %rd301;
$L__BB0_226:
	mov.b32 	%r78, %f82;
	cvt.u64.u32 	%rd301, %r78;
	bra.uni 	$L__BB0_258;
$L__BB0_228:
	cvt.rn.f64.u64 	%fd19, %rd301;
	mov.b64 	%rd301, %fd19;
	bra.uni 	$L__BB0_258;
$L__BB0_231:
	cvt.rz.f32.u64 	%f83, %rd301;
	cvt.rzi.u64.f32 	%rd299, %f83;
$L__BB0_233:
	mov.b32 	%r79, %f83;
	or.b32  	%r80, %r79, 1;
	mov.b32 	%f66, %r80;
	setp.eq.s64 	%p147, %rd299, %rd301;
	selp.f32 	%f40, %f83, %f66, %p147;
	setp.eq.s32 	%p148, %r6, 13;
	@%p148 bra 	$L__BB0_235;
	bra.uni 	$L__BB0_234;
$L__BB0_235:
	mov.b32 	%r81, %f40;
	bfe.u32 	%r82, %r81, 16, 1;
	add.s32 	%r83, %r81, %r82;
	add.s32 	%r84, %r83, 32767;
	shr.u32 	%r85, %r84, 16;
	cvt.u64.u32 	%rd301, %r85;
	bra.uni 	$L__BB0_258;
$L__BB0_234:
	cvt.rn.f16.f32 %rs18, %f40;
	cvt.u64.u16 	%rd301, %rs18;
	bra.uni 	$L__BB0_258;
$L__BB0_252:
	cvt.rn.f16.f32 %rs20, %f44;
	cvt.u64.u16 	%rd301, %rs20;
$L__BB0_258:
	setp.eq.s16 	%p166, %rs2, 0;
	@%p166 bra 	$L__BB0_263;
	setp.eq.s16 	%p167, %rs2, 1;
	@%p167 bra 	$L__BB0_262;
	setp.ne.s16 	%p168, %rs2, 2;
	@%p168 bra 	$L__BB0_264;
	shl.b64 	%rd250, %rd126, 2;
	add.s64 	%rd251, %rd2, %rd250;
	st.global.u32 	[%rd251], %rd301;
	bra.uni 	$L__BB0_265;
$L__BB0_263:
	add.s64 	%rd254, %rd2, %rd126;
	st.global.u8 	[%rd254], %rd301;
	bra.uni 	$L__BB0_265;
$L__BB0_262:
	shl.b64 	%rd252, %rd126, 1;
	add.s64 	%rd253, %rd2, %rd252;
	st.global.u16 	[%rd253], %rd301;
	bra.uni 	$L__BB0_265;
$L__BB0_264:
	shl.b64 	%rd255, %rd126, 3;
	add.s64 	%rd256, %rd2, %rd255;
	st.global.u64 	[%rd256], %rd301;
$L__BB0_265:
	add.s64 	%rd269, %rd126, %rd3;
	setp.lt.u64 	%p169, %rd269, %rd151;
	@%p169 bra 	$L__BB0_2;
$L__BB0_266:
	ret;
}
.visible .entry vramkit_convert_strided(
	.param .u64 vramkit_convert_strided_param_0,
	.param .u64 vramkit_convert_strided_param_1,
	.param .u64 vramkit_convert_strided_param_2,
	.param .u32 vramkit_convert_strided_param_3,
	.param .u32 vramkit_convert_strided_param_4,
	.param .align 8 .b8 vramkit_convert_strided_param_5[136]
)
{
	.reg .pred 	%p<70>;
	.reg .b16 	%rs<10>;
	.reg .f32 	%f<22>;
	.reg .b32 	%r<79>;
	.reg .f64 	%fd<11>;
	.reg .b64 	%rd<273>;
	ld.param.u64 	%rd133, [vramkit_convert_strided_param_0];
	ld.param.u64 	%rd134, [vramkit_convert_strided_param_1];
	ld.param.u64 	%rd131, [vramkit_convert_strided_param_2];
	ld.param.u32 	%r11, [vramkit_convert_strided_param_3];
	ld.param.u32 	%r12, [vramkit_convert_strided_param_4];
	mov.b64 	%rd132, vramkit_convert_strided_param_5;
	cvta.to.global.u64 	%rd1, %rd133;
	cvta.to.global.u64 	%rd2, %rd134;
	mov.u32 	%r13, %ntid.x;
	cvt.u64.u32 	%rd3, %r13;
	mov.u32 	%r14, %ctaid.x;
	mul.wide.u32 	%rd135, %r14, %r13;
	mov.u32 	%r15, %tid.x;
	cvt.u64.u32 	%rd136, %r15;
	add.s64 	%rd230, %rd135, %rd136;
	setp.ge.u64 	%p2, %rd230, %rd131;
	@%p2 bra 	$L__BB1_123;
	ld.param.u64 	%rd5, [%rd132+128];
	cvt.u16.u32 	%rs3, %r12;
	and.b16  	%rs1, %rs3, 3;
	setp.ne.s32 	%p3, %r12, 12;
	setp.gt.u32 	%p4, %r12, 8;
	and.pred  	%p1, %p4, %p3;
	cvt.u16.u32 	%rs4, %r11;
	and.b16  	%rs2, %rs4, 3;
	and.b32  	%r1, %r12, -4;
	setp.eq.s32 	%p5, %r11, 9;
	selp.b64 	%rd7, 32256, 32704, %p5;
	ld.param.u64 	%rd8, [%rd132+56];
	cvt.u32.u64 	%r2, %rd8;
	ld.param.u64 	%rd9, [%rd132+120];
	ld.param.u64 	%rd10, [%rd132+48];
	cvt.u32.u64 	%r3, %rd10;
	ld.param.u64 	%rd11, [%rd132+112];
	ld.param.u64 	%rd12, [%rd132+40];
	cvt.u32.u64 	%r4, %rd12;
	ld.param.u64 	%rd13, [%rd132+104];
	ld.param.u64 	%rd14, [%rd132+32];
	cvt.u32.u64 	%r5, %rd14;
	ld.param.u64 	%rd15, [%rd132+96];
	ld.param.u64 	%rd16, [%rd132+24];
	cvt.u32.u64 	%r6, %rd16;
	ld.param.u64 	%rd17, [%rd132+88];
	ld.param.u64 	%rd18, [%rd132+16];
	cvt.u32.u64 	%r7, %rd18;
	ld.param.u64 	%rd19, [%rd132+80];
	ld.param.u64 	%rd20, [%rd132+8];
	cvt.u32.u64 	%r8, %rd20;
	ld.param.u64 	%rd21, [%rd132+72];
	ld.param.u64 	%rd22, [%rd132];
	cvt.u32.u64 	%r9, %rd22;
	ld.param.u64 	%rd23, [%rd132+64];
	mov.u32 	%r16, %nctaid.x;
	cvt.u64.u32 	%rd138, %r16;
	mul.lo.s64 	%rd24, %rd138, %rd3;
$L__BB1_2:
	and.b64  	%rd229, %rd131, -4294967296;
	setp.eq.s64 	%p6, %rd229, 0;
	@%p6 bra 	$L__BB1_43;
	setp.eq.s64 	%p7, %rd8, 1;
	mov.u64 	%rd235, %rd230;
	mov.u64 	%rd236, %rd5;
	@%p7 bra 	$L__BB1_8;
	or.b64  	%rd139, %rd230, %rd8;
	and.b64  	%rd140, %rd139, -4294967296;
	setp.eq.s64 	%p8, %rd140, 0;
	@%p8 bra 	$L__BB1_6;
	div.u64 	%rd235, %rd230, %rd8;
	bra.uni 	$L__BB1_7;
$L__BB1_43:
	setp.eq.s64 	%p23, %rd8, 1;
	mov.u64 	%rd255, %rd230;
	mov.u64 	%rd236, %rd5;
	@%p23 bra 	$L__BB1_45;
	cvt.u32.u64 	%r41, %rd230;
	div.u32 	%r42, %r41, %r2;
	cvt.u64.u32 	%rd255, %r42;
	mul.lo.s64 	%rd177, %rd8, %rd255;
	sub.s64 	%rd178, %rd230, %rd177;
	mul.lo.s64 	%rd179, %rd178, %rd9;
	add.s64 	%rd236, %rd179, %rd5;
$L__BB1_45:
	setp.eq.s64 	%p24, %rd10, 1;
	@%p24 bra 	$L__BB1_47;
	cvt.u32.u64 	%r43, %rd255;
	div.u32 	%r44, %r43, %r3;
	cvt.u64.u32 	%rd76, %r44;
	mul.lo.s64 	%rd180, %rd10, %rd76;
	sub.s64 	%rd181, %rd255, %rd180;
	mul.lo.s64 	%rd182, %rd181, %rd11;
	add.s64 	%rd236, %rd182, %rd236;
	mov.u64 	%rd255, %rd76;
$L__BB1_47:
	setp.eq.s64 	%p25, %rd12, 1;
	@%p25 bra 	$L__BB1_49;
	cvt.u32.u64 	%r45, %rd255;
	div.u32 	%r46, %r45, %r4;
	cvt.u64.u32 	%rd80, %r46;
	mul.lo.s64 	%rd183, %rd12, %rd80;
	sub.s64 	%rd184, %rd255, %rd183;
	mul.lo.s64 	%rd185, %rd184, %rd13;
	add.s64 	%rd236, %rd185, %rd236;
	mov.u64 	%rd255, %rd80;
$L__BB1_49:
	setp.eq.s64 	%p26, %rd14, 1;
	@%p26 bra 	$L__BB1_51;
	cvt.u32.u64 	%r47, %rd255;
	div.u32 	%r48, %r47, %r5;
	cvt.u64.u32 	%rd84, %r48;
	mul.lo.s64 	%rd186, %rd14, %rd84;
	sub.s64 	%rd187, %rd255, %rd186;
	mul.lo.s64 	%rd188, %rd187, %rd15;
	add.s64 	%rd236, %rd188, %rd236;
	mov.u64 	%rd255, %rd84;
$L__BB1_51:
	setp.eq.s64 	%p27, %rd16, 1;
	@%p27 bra 	$L__BB1_53;
	cvt.u32.u64 	%r49, %rd255;
	div.u32 	%r50, %r49, %r6;
	cvt.u64.u32 	%rd88, %r50;
	mul.lo.s64 	%rd189, %rd16, %rd88;
	sub.s64 	%rd190, %rd255, %rd189;
	mul.lo.s64 	%rd191, %rd190, %rd17;
	add.s64 	%rd236, %rd191, %rd236;
	mov.u64 	%rd255, %rd88;
$L__BB1_53:
	setp.eq.s64 	%p28, %rd18, 1;
	@%p28 bra 	$L__BB1_55;
	cvt.u32.u64 	%r51, %rd255;
	div.u32 	%r52, %r51, %r7;
	cvt.u64.u32 	%rd92, %r52;
	mul.lo.s64 	%rd192, %rd18, %rd92;
	sub.s64 	%rd193, %rd255, %rd192;
	mul.lo.s64 	%rd194, %rd193, %rd19;
	add.s64 	%rd236, %rd194, %rd236;
	mov.u64 	%rd255, %rd92;
$L__BB1_55:
	setp.eq.s64 	%p29, %rd20, 1;
	@%p29 bra 	$L__BB1_57;
	cvt.u32.u64 	%r53, %rd255;
	div.u32 	%r54, %r53, %r8;
	cvt.u64.u32 	%rd96, %r54;
	mul.lo.s64 	%rd195, %rd20, %rd96;
	sub.s64 	%rd196, %rd255, %rd195;
	mul.lo.s64 	%rd197, %rd196, %rd21;
	add.s64 	%rd236, %rd197, %rd236;
	mov.u64 	%rd255, %rd96;
$L__BB1_57:
	setp.eq.s64 	%p30, %rd22, 1;
	@%p30 bra 	$L__BB1_59;
	cvt.u32.u64 	%r55, %rd255;
	div.u32 	%r56, %r55, %r9;
	cvt.u64.u32 	%rd198, %r56;
	mul.lo.s64 	%rd199, %rd22, %rd198;
	sub.s64 	%rd200, %rd255, %rd199;
	mul.lo.s64 	%rd201, %rd200, %rd23;
	add.s64 	%rd236, %rd201, %rd236;
	bra.uni 	$L__BB1_59;
$L__BB1_6:
	cvt.u32.u64 	%r18, %rd230;
	div.u32 	%r19, %r18, %r2;
	cvt.u64.u32 	%rd235, %r19;
$L__BB1_7:
	mul.lo.s64 	%rd141, %rd235, %rd8;
	sub.s64 	%rd142, %rd230, %rd141;
	mul.lo.s64 	%rd143, %rd142, %rd9;
	add.s64 	%rd236, %rd143, %rd5;
$L__BB1_8:
	setp.eq.s64 	%p9, %rd10, 1;
	@%p9 bra 	$L__BB1_13;
	or.b64  	%rd144, %rd235, %rd10;
	and.b64  	%rd145, %rd144, -4294967296;
	setp.eq.s64 	%p10, %rd145, 0;
	@%p10 bra 	$L__BB1_11;
	div.u64 	%rd234, %rd235, %rd10;
	bra.uni 	$L__BB1_12;
$L__BB1_11:
	cvt.u32.u64 	%r21, %rd235;
	div.u32 	%r22, %r21, %r3;
	cvt.u64.u32 	%rd234, %r22;
$L__BB1_12:
	mul.lo.s64 	%rd146, %rd234, %rd10;
	sub.s64 	%rd147, %rd235, %rd146;
	mul.lo.s64 	%rd148, %rd147, %rd11;
	add.s64 	%rd236, %rd148, %rd236;
	mov.u64 	%rd235, %rd234;
$L__BB1_13:
	setp.eq.s64 	%p11, %rd12, 1;
	@%p11 bra 	$L__BB1_18;
	or.b64  	%rd149, %rd235, %rd12;
	and.b64  	%rd150, %rd149, -4294967296;
	setp.eq.s64 	%p12, %rd150, 0;
	@%p12 bra 	$L__BB1_16;
	div.u64 	%rd237, %rd235, %rd12;
	bra.uni 	$L__BB1_17;
$L__BB1_16:
	cvt.u32.u64 	%r24, %rd235;
	div.u32 	%r25, %r24, %r4;
	cvt.u64.u32 	%rd237, %r25;
$L__BB1_17:
	mul.lo.s64 	%rd151, %rd237, %rd12;
	sub.s64 	%rd152, %rd235, %rd151;
	mul.lo.s64 	%rd153, %rd152, %rd13;
	add.s64 	%rd236, %rd153, %rd236;
	mov.u64 	%rd235, %rd237;
$L__BB1_18:
	setp.eq.s64 	%p13, %rd14, 1;
	@%p13 bra 	$L__BB1_23;
	or.b64  	%rd154, %rd235, %rd14;
	and.b64  	%rd155, %rd154, -4294967296;
	setp.eq.s64 	%p14, %rd155, 0;
	@%p14 bra 	$L__BB1_21;
	div.u64 	%rd240, %rd235, %rd14;
	bra.uni 	$L__BB1_22;
$L__BB1_21:
	cvt.u32.u64 	%r27, %rd235;
	div.u32 	%r28, %r27, %r5;
	cvt.u64.u32 	%rd240, %r28;
$L__BB1_22:
	mul.lo.s64 	%rd156, %rd240, %rd14;
	sub.s64 	%rd157, %rd235, %rd156;
	mul.lo.s64 	%rd158, %rd157, %rd15;
	add.s64 	%rd236, %rd158, %rd236;
	mov.u64 	%rd235, %rd240;
$L__BB1_23:
	setp.eq.s64 	%p15, %rd16, 1;
	@%p15 bra 	$L__BB1_28;
	or.b64  	%rd159, %rd235, %rd16;
	and.b64  	%rd160, %rd159, -4294967296;
	setp.eq.s64 	%p16, %rd160, 0;
	@%p16 bra 	$L__BB1_26;
	div.u64 	%rd243, %rd235, %rd16;
	bra.uni 	$L__BB1_27;
$L__BB1_26:
	cvt.u32.u64 	%r30, %rd235;
	div.u32 	%r31, %r30, %r6;
	cvt.u64.u32 	%rd243, %r31;
$L__BB1_27:
	mul.lo.s64 	%rd161, %rd243, %rd16;
	sub.s64 	%rd162, %rd235, %rd161;
	mul.lo.s64 	%rd163, %rd162, %rd17;
	add.s64 	%rd236, %rd163, %rd236;
	mov.u64 	%rd235, %rd243;
$L__BB1_28:
	setp.eq.s64 	%p17, %rd18, 1;
	@%p17 bra 	$L__BB1_33;
	or.b64  	%rd164, %rd235, %rd18;
	and.b64  	%rd165, %rd164, -4294967296;
	setp.eq.s64 	%p18, %rd165, 0;
	@%p18 bra 	$L__BB1_31;
	div.u64 	%rd246, %rd235, %rd18;
	bra.uni 	$L__BB1_32;
$L__BB1_31:
	cvt.u32.u64 	%r33, %rd235;
	div.u32 	%r34, %r33, %r7;
	cvt.u64.u32 	%rd246, %r34;
$L__BB1_32:
	mul.lo.s64 	%rd166, %rd246, %rd18;
	sub.s64 	%rd167, %rd235, %rd166;
	mul.lo.s64 	%rd168, %rd167, %rd19;
	add.s64 	%rd236, %rd168, %rd236;
	mov.u64 	%rd235, %rd246;
$L__BB1_33:
	setp.eq.s64 	%p19, %rd20, 1;
	@%p19 bra 	$L__BB1_38;
	or.b64  	%rd169, %rd235, %rd20;
	and.b64  	%rd170, %rd169, -4294967296;
	setp.eq.s64 	%p20, %rd170, 0;
	@%p20 bra 	$L__BB1_36;
	div.u64 	%rd249, %rd235, %rd20;
	bra.uni 	$L__BB1_37;
$L__BB1_36:
	cvt.u32.u64 	%r36, %rd235;
	div.u32 	%r37, %r36, %r8;
	cvt.u64.u32 	%rd249, %r37;
$L__BB1_37:
	mul.lo.s64 	%rd171, %rd249, %rd20;
	sub.s64 	%rd172, %rd235, %rd171;
	mul.lo.s64 	%rd173, %rd172, %rd21;
	add.s64 	%rd236, %rd173, %rd236;
	mov.u64 	%rd235, %rd249;
$L__BB1_38:
	setp.eq.s64 	%p21, %rd22, 1;
	@%p21 bra 	$L__BB1_59;
	or.b64  	%rd174, %rd235, %rd22;
	and.b64  	%rd175, %rd174, -4294967296;
	setp.eq.s64 	%p22, %rd175, 0;
	@%p22 bra 	$L__BB1_41;
	rem.u64 	%rd252, %rd235, %rd22;
	bra.uni 	$L__BB1_42;
$L__BB1_41:
	cvt.u32.u64 	%r39, %rd235;
	rem.u32 	%r40, %r39, %r9;
	cvt.u64.u32 	%rd252, %r40;
$L__BB1_42:
	mul.lo.s64 	%rd176, %rd252, %rd23;
	add.s64 	%rd236, %rd176, %rd236;
$L__BB1_59:
	setp.eq.s16 	%p31, %rs1, 0;
	@%p31 bra 	$L__BB1_64;
	setp.eq.s16 	%p32, %rs1, 1;
	@%p32 bra 	$L__BB1_63;
	setp.ne.s16 	%p33, %rs1, 2;
	@%p33 bra 	$L__BB1_65;
	shl.b64 	%rd202, %rd236, 2;
	add.s64 	%rd203, %rd2, %rd202;
	ld.global.u32 	%rd272, [%rd203];
	bra.uni 	$L__BB1_66;
$L__BB1_64:
	add.s64 	%rd206, %rd2, %rd236;
	ld.global.u8 	%rd272, [%rd206];
	bra.uni 	$L__BB1_66;
$L__BB1_63:
	shl.b64 	%rd204, %rd236, 1;
	add.s64 	%rd205, %rd2, %rd204;
	ld.global.u16 	%rd272, [%rd205];
	bra.uni 	$L__BB1_66;
$L__BB1_65:
	shl.b64 	%rd207, %rd236, 3;
	add.s64 	%rd208, %rd2, %rd207;
	ld.global.u64 	%rd272, [%rd208];
$L__BB1_66:
	@%p1 bra 	$L__BB1_94;
	bra.uni 	$L__BB1_67;
$L__BB1_94:
	setp.eq.s32 	%p50, %r12, 11;
	@%p50 bra 	$L__BB1_98;
	bra.uni 	$L__BB1_95;
$L__BB1_98:
	mov.b64 	%fd6, %rd272;
	bra.uni 	$L__BB1_99;
$L__BB1_67:
	setp.gt.s32 	%p34, %r12, 5;
	@%p34 bra 	$L__BB1_71;
	setp.eq.s32 	%p37, %r12, 4;
	@%p37 bra 	$L__BB1_75;
	setp.eq.s32 	%p38, %r12, 5;
	@%p38 bra 	$L__BB1_70;
	bra.uni 	$L__BB1_76;
$L__BB1_70:
	cvt.s64.s16 	%rd272, %rd272;
	bra.uni 	$L__BB1_76;
$L__BB1_95:
	setp.ne.s32 	%p51, %r12, 9;
	shl.b64 	%rd209, %rd272, 16;
	setp.eq.s32 	%p52, %r12, 13;
	selp.b64 	%rd210, %rd209, %rd272, %p52;
	cvt.u32.u64 	%r65, %rd210;
	mov.b32 	%f21, %r65;
	@%p51 bra 	$L__BB1_97;
	cvt.u16.u64 	%rs7, %rd272;
	cvt.f32.f16 %f21, %rs7;
$L__BB1_97:
	cvt.f64.f32 	%fd6, %f21;
$L__BB1_99:
	setp.eq.s32 	%p53, %r11, 12;
	@%p53 bra 	$L__BB1_114;
	bra.uni 	$L__BB1_100;
$L__BB1_114:
	setp.neu.f64 	%p65, %fd6, 0d0000000000000000;
	selp.u64 	%rd272, 1, 0, %p65;
	bra.uni 	$L__BB1_115;
$L__BB1_71:
	setp.eq.s32 	%p35, %r12, 6;
	@%p35 bra 	$L__BB1_74;
	@%p3 bra 	$L__BB1_76;
	setp.ne.s64 	%p39, %rd272, 0;
	selp.u64 	%rd272, 1, 0, %p39;
	bra.uni 	$L__BB1_76;
$L__BB1_100:
	setp.lt.u32 	%p54, %r11, 8;
	@%p54 bra 	$L__BB1_111;
	bra.uni 	$L__BB1_101;
$L__BB1_111:
	mov.b64 	%rd124, %fd6;
	shr.u64 	%rd214, %rd124, 52;
	cvt.u32.u64 	%r74, %rd214;
	and.b32  	%r10, %r74, 2047;
	add.s32 	%r75, %r10, -1023;
	setp.gt.u32 	%p62, %r75, 115;
	mov.u64 	%rd271, 0;
	@%p62 bra 	$L__BB1_113;
	and.b64  	%rd215, %rd124, 4503599627370495;
	or.b64  	%rd216, %rd215, 4503599627370496;
	add.s32 	%r76, %r10, -1075;
	shl.b64 	%rd217, %rd216, %r76;
	mov.u32 	%r77, 1075;
	sub.s32 	%r78, %r77, %r10;
	shr.u64 	%rd218, %rd216, %r78;
	setp.gt.u32 	%p63, %r10, 1074;
	selp.b64 	%rd271, %rd217, %rd218, %p63;
$L__BB1_113:
	neg.s64 	%rd219, %rd271;
	setp.lt.s64 	%p64, %rd124, 0;
	selp.b64 	%rd272, %rd219, %rd271, %p64;
	bra.uni 	$L__BB1_115;
$L__BB1_101:
	setp.eq.s32 	%p55, %r11, 11;
	@%p55 bra 	$L__BB1_105;
	setp.ne.s32 	%p56, %r11, 10;
	@%p56 bra 	$L__BB1_107;
	setp.nan.f64 	%p57, %fd6, %fd6;
	mov.u64 	%rd272, 2143289344;
	@%p57 bra 	$L__BB1_115;
	cvt.rn.f32.f64 	%f15, %fd6;
	mov.b32 	%r66, %f15;
	cvt.u64.u32 	%rd272, %r66;
	bra.uni 	$L__BB1_115;
$L__BB1_75:
	cvt.s64.s8 	%rd272, %rd272;
	bra.uni 	$L__BB1_76;
$L__BB1_74:
	cvt.s64.s32 	%rd272, %rd272;
$L__BB1_76:
	setp.lt.u32 	%p40, %r11, 8;
	@%p40 bra 	$L__BB1_115;
	setp.eq.s32 	%p41, %r11, 12;
	@%p41 bra 	$L__BB1_87;
	setp.eq.s32 	%p42, %r11, 11;
	@%p42 bra 	$L__BB1_84;
	setp.ne.s32 	%p43, %r11, 10;
	@%p43 bra 	$L__BB1_88;
	setp.eq.s32 	%p44, %r1, 4;
	@%p44 bra 	$L__BB1_82;
	bra.uni 	$L__BB1_81;
$L__BB1_82:
	cvt.rn.f32.s64 	%f19, %rd272;
	bra.uni 	$L__BB1_83;
$L__BB1_87:
	setp.ne.s64 	%p46, %rd272, 0;
	selp.u64 	%rd272, 1, 0, %p46;
	bra.uni 	$L__BB1_115;
$L__BB1_84:
	setp.eq.s32 	%p45, %r1, 4;
	@%p45 bra 	$L__BB1_86;
	bra.uni 	$L__BB1_85;
$L__BB1_86:
	cvt.rn.f64.s64 	%fd2, %rd272;
	mov.b64 	%rd272, %fd2;
	bra.uni 	$L__BB1_115;
$L__BB1_88:
	setp.eq.s32 	%p47, %r1, 4;
	@%p47 bra 	$L__BB1_90;
	bra.uni 	$L__BB1_89;
$L__BB1_90:
	cvt.rz.f32.s64 	%f20, %rd272;
	cvt.rzi.s64.f32 	%rd270, %f20;
	bra.uni 	$L__BB1_91;
$L__BB1_105:
	setp.nan.f64 	%p58, %fd6, %fd6;
	mov.u64 	%rd272, 9221120237041090560;
	@%p58 bra 	$L__BB1_115;
	mov.b64 	%rd272, %fd6;
	bra.uni 	$L__BB1_115;
$L__BB1_107:
	setp.nan.f64 	%p59, %fd6, %fd6;
	mov.u64 	%rd272, %rd7;
	@%p59 bra 	$L__BB1_115;
	setp.eq.s32 	%p60, %r11, 13;
	cvt.rz.f32.f64 	%f16, %fd6;
	cvt.f64.f32 	%fd7, %f16;
	setp.neu.f64 	%p61, %fd6, %fd7;
	mov.b32 	%r67, %f16;
	or.b32  	%r68, %r67, 1;
	mov.b32 	%f17, %r68;
	selp.f32 	%f11, %f17, %f16, %p61;
	@%p60 bra 	$L__BB1_110;
	bra.uni 	$L__BB1_109;
$L__BB1_110:
	mov.b32 	%r69, %f11;
	bfe.u32 	%r70, %r69, 16, 1;
	add.s32 	%r71, %r69, %r70;
	add.s32 	%r72, %r71, 32767;
	shr.u32 	%r73, %r72, 16;
	cvt.u64.u32 	%rd272, %r73;
	bra.uni 	$L__BB1_115;
$L__BB1_81:
	cvt.rn.f32.u64 	%f19, %rd272;
$L__BB1_83:
	mov.b32 	%r57, %f19;
	cvt.u64.u32 	%rd272, %r57;
	bra.uni 	$L__BB1_115;
$L__BB1_85:
	cvt.rn.f64.u64 	%fd1, %rd272;
	mov.b64 	%rd272, %fd1;
	bra.uni 	$L__BB1_115;
$L__BB1_89:
	cvt.rz.f32.u64 	%f20, %rd272;
	cvt.rzi.u64.f32 	%rd270, %f20;
$L__BB1_91:
	mov.b32 	%r58, %f20;
	or.b32  	%r59, %r58, 1;
	mov.b32 	%f12, %r59;
	setp.eq.s64 	%p48, %rd270, %rd272;
	selp.f32 	%f7, %f20, %f12, %p48;
	setp.eq.s32 	%p49, %r11, 13;
	@%p49 bra 	$L__BB1_93;
	bra.uni 	$L__BB1_92;
$L__BB1_93:
	mov.b32 	%r60, %f7;
	bfe.u32 	%r61, %r60, 16, 1;
	add.s32 	%r62, %r60, %r61;
	add.s32 	%r63, %r62, 32767;
	shr.u32 	%r64, %r63, 16;
	cvt.u64.u32 	%rd272, %r64;
	bra.uni 	$L__BB1_115;
$L__BB1_92:
	cvt.rn.f16.f32 %rs6, %f7;
	cvt.u64.u16 	%rd272, %rs6;
	bra.uni 	$L__BB1_115;
$L__BB1_109:
	cvt.rn.f16.f32 %rs8, %f11;
	cvt.u64.u16 	%rd272, %rs8;
$L__BB1_115:
	setp.eq.s16 	%p66, %rs2, 0;
	@%p66 bra 	$L__BB1_120;
	setp.eq.s16 	%p67, %rs2, 1;
	@%p67 bra 	$L__BB1_119;
	setp.ne.s16 	%p68, %rs2, 2;
	@%p68 bra 	$L__BB1_121;
	shl.b64 	%rd220, %rd230, 2;
	add.s64 	%rd221, %rd1, %rd220;
	st.global.u32 	[%rd221], %rd272;
	bra.uni 	$L__BB1_122;
$L__BB1_120:
	add.s64 	%rd224, %rd1, %rd230;
	st.global.u8 	[%rd224], %rd272;
	bra.uni 	$L__BB1_122;
$L__BB1_119:
	shl.b64 	%rd222, %rd230, 1;
	add.s64 	%rd223, %rd1, %rd222;
	st.global.u16 	[%rd223], %rd272;
	bra.uni 	$L__BB1_122;
$L__BB1_121:
	shl.b64 	%rd225, %rd230, 3;
	add.s64 	%rd226, %rd1, %rd225;
	st.global.u64 	[%rd226], %rd272;
$L__BB1_122:
	add.s64 	%rd230, %rd230, %rd24;
	setp.lt.u64 	%p69, %rd230, %rd131;
	@%p69 bra 	$L__BB1_2;
$L__BB1_123:
	ret;
}`;
