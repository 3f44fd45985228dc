//! The vector instructions that are generated, one row each, with their codes in the two encodings.

/// A vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opcode {
    /// The name that manuals and disassemblers use.
    pub(crate) name: &'static str,
    /// Which table of opcodes the byte is from.
    pub(super) map: u8,
    /// The mandatory prefix, by its code.
    pub(super) prefix: u8,
    /// The opcode itself.
    pub(super) byte: u8,
    /// What stands in the place of the first register, for instructions that share an opcode.
    pub(super) digit: Option<u8>,
    /// The bit W of the VEX encoding, if there is one.
    pub(super) vex: Option<bool>,
    /// The bit W of the EVEX encoding, if there is one.
    pub(super) evex: Option<bool>,
    /// What a memory operand is.
    pub(super) memory: Memory,
    /// Which operands there are.
    pub(super) shape: Shape,
}

/// What an instruction reads or writes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// A whole vector of lanes of this many bytes, or one lane for all.
    Vector(i32),
    /// One lane, or some next to each other, of this many bytes.
    Lane(i32),
    /// Half a vector.
    Half,
    /// A quarter of a vector.
    Quarter,
    /// Nothing: in its place is a general register.
    General,
}

/// Which operands an instruction has, in the order of manuals: the register of the field `reg` (r), that of the field `vvvv`
/// (v), register or memory of the field `rm` (m), an immediate byte (i).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Rvm,
    Rvmi,
    Rm,
    Rmi,
    Mr,
    Mri,
    Mvr,
    Vmi,
    /// The last operand is a register in the upper half of the immediate byte.
    Rvmr,
    /// The memory operand has a vector of indices. With VEX the field `vvvv` is the mask.
    Gather,
}

const NP: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;
const M0F: u8 = 1;
const M38: u8 = 2;
const M3A: u8 = 3;
const W0: Option<bool> = Some(false);
const W1: Option<bool> = Some(true);
const NO: Option<bool> = None;
const V4: Memory = Memory::Vector(4);
const V8: Memory = Memory::Vector(8);
const L2: Memory = Memory::Lane(2);
const L4: Memory = Memory::Lane(4);
const L8: Memory = Memory::Lane(8);
const L16: Memory = Memory::Lane(16);
const HALF: Memory = Memory::Half;
const QUARTER: Memory = Memory::Quarter;
const GPR: Memory = Memory::General;

/// Defines the instructions: name, map, prefix, opcode (/ digit), W in VEX, W in EVEX, memory operand, operands.
macro_rules! opcodes {
    ($($name:ident $text:literal $map:ident $prefix:ident $byte:literal $(/ $digit:literal)?, $vex:ident $evex:ident $memory:ident $shape:ident;)*) => {
        $(pub(crate) const $name: Opcode = Opcode {
            name: $text,
            map: $map,
            prefix: $prefix,
            byte: $byte,
            digit: opcodes!(@digit $($digit)?),
            vex: $vex,
            evex: $evex,
            memory: $memory,
            shape: Shape::$shape,
        };)*

        /// Every instruction.
        #[cfg(test)]
        pub(super) const ALL: &[Opcode] = &[$($name,)*];
    };
    (@digit) => { None };
    (@digit $digit:literal) => { Some($digit) };
}

opcodes! {
    VADDPS       "vaddps"       M0F NP  0x58, W0 W0 V4 Rvm;
    VADDPD       "vaddpd"       M0F P66 0x58, W0 W1 V8 Rvm;
    VSUBPS       "vsubps"       M0F NP  0x5c, W0 W0 V4 Rvm;
    VSUBPD       "vsubpd"       M0F P66 0x5c, W0 W1 V8 Rvm;
    VMULPS       "vmulps"       M0F NP  0x59, W0 W0 V4 Rvm;
    VMULPD       "vmulpd"       M0F P66 0x59, W0 W1 V8 Rvm;
    VDIVPS       "vdivps"       M0F NP  0x5e, W0 W0 V4 Rvm;
    VDIVPD       "vdivpd"       M0F P66 0x5e, W0 W1 V8 Rvm;
    VMINPS       "vminps"       M0F NP  0x5d, W0 W0 V4 Rvm;
    VMINPD       "vminpd"       M0F P66 0x5d, W0 W1 V8 Rvm;
    VMAXPS       "vmaxps"       M0F NP  0x5f, W0 W0 V4 Rvm;
    VMAXPD       "vmaxpd"       M0F P66 0x5f, W0 W1 V8 Rvm;
    VSQRTPS      "vsqrtps"      M0F NP  0x51, W0 W0 V4 Rm;
    VSQRTPD      "vsqrtpd"      M0F P66 0x51, W0 W1 V8 Rm;
    VFMADD231PS  "vfmadd231ps"  M38 P66 0xb8, W0 W0 V4 Rvm;

    VANDPS       "vandps"       M0F NP  0x54, W0 W0 V4 Rvm;
    VANDPD       "vandpd"       M0F P66 0x54, W0 W1 V8 Rvm;
    VANDNPS      "vandnps"      M0F NP  0x55, W0 W0 V4 Rvm;
    VORPS        "vorps"        M0F NP  0x56, W0 W0 V4 Rvm;
    VORPD        "vorpd"        M0F P66 0x56, W0 W1 V8 Rvm;
    VXORPS       "vxorps"       M0F NP  0x57, W0 W0 V4 Rvm;
    VXORPD       "vxorpd"       M0F P66 0x57, W0 W1 V8 Rvm;

    VPTERNLOGD   "vpternlogd"   M3A P66 0x25, NO W0 V4 Rvmi;

    VPADDD       "vpaddd"       M0F P66 0xfe, W0 W0 V4 Rvm;
    VPADDQ       "vpaddq"       M0F P66 0xd4, W0 W1 V8 Rvm;
    VPSUBD       "vpsubd"       M0F P66 0xfa, W0 W0 V4 Rvm;
    VPSUBQ       "vpsubq"       M0F P66 0xfb, W0 W1 V8 Rvm;
    VPMULLD      "vpmulld"      M38 P66 0x40, W0 W0 V4 Rvm;
    VPMINUD      "vpminud"      M38 P66 0x3b, W0 W0 V4 Rvm;
    VPMULLQ      "vpmullq"      M38 P66 0x40, NO W1 V8 Rvm;
    VPMULUDQ     "vpmuludq"     M0F P66 0xf4, W0 W1 V8 Rvm;
    VPSRLD       "vpsrld"       M0F P66 0x72 / 2, W0 W0 V4 Vmi;
    VPSRAD       "vpsrad"       M0F P66 0x72 / 4, W0 W0 V4 Vmi;
    VPSLLD       "vpslld"       M0F P66 0x72 / 6, W0 W0 V4 Vmi;
    VPSRLVD      "vpsrlvd"      M38 P66 0x45, W0 W0 V4 Rvm;
    VPSLLVD      "vpsllvd"      M38 P66 0x47, W0 W0 V4 Rvm;
    VPSRAQ       "vpsraq"       M0F P66 0x72 / 4, NO W1 V8 Vmi;
    VPSRLQ       "vpsrlq"       M0F P66 0x73 / 2, W0 W1 V8 Vmi;
    VPSLLQ       "vpsllq"       M0F P66 0x73 / 6, W0 W1 V8 Vmi;

    VCVTDQ2PS    "vcvtdq2ps"    M0F NP  0x5b, W0 W0 V4 Rm;
    VCVTQQ2PD    "vcvtqq2pd"    M0F PF3 0xe6, NO W1 V8 Rm;
    VCVTDQ2PD    "vcvtdq2pd"    M0F PF3 0xe6, W0 W0 HALF Rm;
    VCVTTPD2DQ   "vcvttpd2dq"   M0F P66 0xe6, W0 W1 V8 Rm;
    VCVTTPS2DQ   "vcvttps2dq"   M0F PF3 0x5b, W0 W0 V4 Rm;
    VROUNDPS     "vroundps"     M3A P66 0x08, W0 NO V4 Rmi;
    VROUNDPD     "vroundpd"     M3A P66 0x09, W0 NO V8 Rmi;
    VRNDSCALEPS  "vrndscaleps"  M3A P66 0x08, NO W0 V4 Rmi;
    VRNDSCALEPD  "vrndscalepd"  M3A P66 0x09, NO W1 V8 Rmi;

    VCMPPS       "vcmpps"       M0F NP  0xc2, W0 W0 V4 Rvmi;
    VCMPPD       "vcmppd"       M0F P66 0xc2, W0 W1 V8 Rvmi;
    VPCMPD       "vpcmpd"       M3A P66 0x1f, NO W0 V4 Rvmi;
    VPCMPUD      "vpcmpud"      M3A P66 0x1e, NO W0 V4 Rvmi;
    VPCMPQ       "vpcmpq"       M3A P66 0x1f, NO W1 V8 Rvmi;
    VPCMPEQD     "vpcmpeqd"     M0F P66 0x76, W0 NO V4 Rvm;
    VPCMPEQQ     "vpcmpeqq"     M38 P66 0x29, W0 NO V8 Rvm;
    VPCMPGTD     "vpcmpgtd"     M0F P66 0x66, W0 NO V4 Rvm;
    VPCMPGTQ     "vpcmpgtq"     M38 P66 0x37, W0 NO V8 Rvm;

    VBLENDMPS    "vblendmps"    M38 P66 0x65, NO W0 V4 Rvm;
    VBLENDMPD    "vblendmpd"    M38 P66 0x65, NO W1 V8 Rvm;
    VBLENDVPS    "vblendvps"    M3A P66 0x4a, W0 NO V4 Rvmr;
    VPBLENDD     "vpblendd"     M3A P66 0x02, W0 NO V4 Rvmi;

    VMOVAPS      "vmovaps"      M0F NP  0x28, W0 W0 V4 Rm;
    VMOVAPD      "vmovapd"      M0F P66 0x28, W0 W1 V8 Rm;
    VMOVUPS      "vmovups"      M0F NP  0x10, W0 W0 V4 Rm;
    VMOVUPD      "vmovupd"      M0F P66 0x10, W0 W1 V8 Rm;
    VMOVUPS_TO   "vmovups"      M0F NP  0x11, W0 W0 V4 Mr;
    VMOVUPD_TO   "vmovupd"      M0F P66 0x11, W0 W1 V8 Mr;
    VMASKMOVPS   "vmaskmovps"   M38 P66 0x2e, W0 NO V4 Mvr;
    VMASKMOVPD   "vmaskmovpd"   M38 P66 0x2f, W0 NO V8 Mvr;
    VPMOVM2D     "vpmovm2d"     M38 PF3 0x38, NO W0 V4 Rm;
    VPMOVM2Q     "vpmovm2q"     M38 PF3 0x38, NO W1 V8 Rm;
    VPMOVD2M     "vpmovd2m"     M38 PF3 0x39, NO W0 V4 Rm;
    VPMOVQ2M     "vpmovq2m"     M38 PF3 0x39, NO W1 V8 Rm;
    VBROADCASTSS "vbroadcastss" M38 P66 0x18, W0 W0 L4 Rm;
    VBROADCASTSD "vbroadcastsd" M38 P66 0x19, W0 W1 L8 Rm;
    VPBROADCASTD "vpbroadcastd" M38 P66 0x58, W0 NO L4 Rm;
    VPBROADCASTD_GPR "vpbroadcastd" M38 P66 0x7c, NO W0 GPR Rm;
    VMOVD        "vmovd"        M0F P66 0x6e, W0 NO L4 Rm;
    VMOVQ        "vmovq"        M0F PF3 0x7e, NO W1 L8 Rm;
    VMOVHPS      "vmovhps"      M0F NP  0x16, NO W0 L8 Rvm;
    VMOVMSKPS    "vmovmskps"    M0F NP  0x50, W0 NO V4 Rm;
    VMOVMSKPD    "vmovmskpd"    M0F P66 0x50, W0 NO V8 Rm;
    VTESTPS      "vtestps"      M38 P66 0x0e, W0 NO V4 Rm;

    VPSHUFD      "vpshufd"      M0F P66 0x70, W0 W0 V4 Rmi;
    VPERMT2PS    "vpermt2ps"    M38 P66 0x7f, NO W0 V4 Rvm;
    VSHUFPS      "vshufps"      M0F NP  0xc6, W0 W0 V4 Rvmi;
    VEXTRACTF64X4 "vextractf64x4" M3A P66 0x1b, NO W1 HALF Mri;
    VINSERTF64X4 "vinsertf64x4" M3A P66 0x1a, NO W1 HALF Rvmi;
    VEXTRACTF128 "vextractf128" M3A P66 0x19, W0 NO HALF Mri;
    VINSERTF32X4 "vinsertf32x4" M3A P66 0x18, NO W0 L16 Rvmi;
    VINSERTF128  "vinsertf128"  M3A P66 0x18, W0 NO HALF Rvmi;
    VPMOVZXBD    "vpmovzxbd"    M38 P66 0x31, W0 W0 QUARTER Rm;
    VPMOVZXWD    "vpmovzxwd"    M38 P66 0x33, W0 W0 HALF Rm;
    VPMOVZXDQ    "vpmovzxdq"    M38 P66 0x35, W0 W0 HALF Rm;
    VPMOVSXDQ    "vpmovsxdq"    M38 P66 0x25, W0 W0 HALF Rm;

    VGATHERQPS   "vgatherqps"   M38 P66 0x93, W0 W0 L4 Gather;
    VGATHERQPD   "vgatherqpd"   M38 P66 0x93, W1 W1 L8 Gather;

    KANDW        "kandw"        M0F NP  0x41, W0 NO L2 Rvm;
    KANDNW       "kandnw"       M0F NP  0x42, W0 NO L2 Rvm;
    KORW         "korw"         M0F NP  0x45, W0 NO L2 Rvm;
    KXNORW       "kxnorw"       M0F NP  0x46, W0 NO L2 Rvm;
    KXORW        "kxorw"        M0F NP  0x47, W0 NO L2 Rvm;
    KNOTW        "knotw"        M0F NP  0x44, W0 NO L2 Rm;
    KMOVW        "kmovw"        M0F NP  0x90, W0 NO L2 Rm;
    KMOVW_TO     "kmovw"        M0F NP  0x91, W0 NO L2 Mr;
    KMOVW_GPR    "kmovw"        M0F NP  0x92, W0 NO L2 Rm;
    KMOVW_TO_GPR "kmovw"        M0F NP  0x93, W0 NO L2 Rm;
    KORTESTW     "kortestw"     M0F NP  0x98, W0 NO L2 Rm;
    KSHIFTRW     "kshiftrw"     M3A P66 0x30, W1 NO L2 Rmi;
}
