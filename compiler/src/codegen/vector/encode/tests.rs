//! Every instruction with every operand it may have, read back by a disassembler and encoded again by its assembler.

use super::{
    Address, Assembler, Condition, Gpr, Length, Opcode, Operand, Write,
    opcode::{ALL, Memory, Shape},
};
use iced_x86::{Code, Decoder, DecoderOptions, Encoder, Instruction, OpKind, Register};

/// Registers whose numbers differ in every bit.
const FEW: [u8; 5] = [0, 1, 6, 9, 15];
const MANY: [u8; 9] = [0, 1, 6, 9, 15, 16, 21, 30, 31];
const MASKS: [u8; 4] = [0, 1, 6, 7];
const BASES: [Gpr; 9] = [
    Gpr::RAX,
    Gpr::RBX,
    Gpr::RSP,
    Gpr::RBP,
    Gpr::RDI,
    Gpr::R12,
    Gpr::R13,
    Gpr::R14,
    Gpr::R15,
];
const DISPLACEMENTS: [i32; 12] = [
    0, 4, 8, 65, 127, 128, -64, -8192, 8128, 8192, 8196, 1_000_000,
];

/// The one instruction of some code; its assembler gives the same bytes.
#[track_caller]
fn read_back(code: &[u8]) -> Instruction {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let instruction = decoder.decode();
    assert_ne!(instruction.code(), Code::INVALID, "{code:x?}");
    assert_eq!(instruction.len(), code.len(), "{instruction:?} {code:x?}");
    let mut encoder = Encoder::new(64);
    encoder
        .encode(&instruction, 0)
        .unwrap_or_else(|e| panic!("{e}: {instruction:?}"));
    assert_eq!(encoder.take_buffer(), code, "{instruction:?}");
    instruction
}

fn gpr(number: u8) -> Register {
    let all = [
        Register::RAX,
        Register::RCX,
        Register::RDX,
        Register::RBX,
        Register::RSP,
        Register::RBP,
        Register::RSI,
        Register::RDI,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    all[usize::from(number)]
}

/// An operand as it should be read back.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Register(u8),
    Rm(Operand),
    Indexed(Address, u8, u8),
    Immediate(u8),
}

#[track_caller]
fn check(op: Opcode, code: &[u8], operands: &[Wanted]) -> Instruction {
    let instruction = read_back(code);
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    assert_eq!(name, op.name, "{op:?}");
    assert_eq!(
        instruction.op_count() as usize,
        operands.len(),
        "{op:?} {instruction:?}"
    );
    for (n, wanted) in operands.iter().enumerate() {
        let n = n as u32;
        match *wanted {
            Wanted::Register(r) | Wanted::Rm(Operand::Register(r)) => {
                assert_eq!(instruction.op_kind(n), OpKind::Register, "{op:?}");
                let found = instruction.op_register(n).number();
                assert_eq!(found, usize::from(r), "operand {n} of {op:?}");
            }
            Wanted::Rm(Operand::Memory(at)) => check_address(&instruction, n, at, false),
            Wanted::Rm(Operand::Broadcast(at)) => check_address(&instruction, n, at, true),
            Wanted::Indexed(at, index, scale) => {
                check_address(&instruction, n, at, false);
                assert_eq!(instruction.memory_index().number(), usize::from(index));
                assert_eq!(instruction.memory_index_scale(), 1 << scale);
            }
            Wanted::Immediate(i) => {
                assert_eq!(instruction.op_kind(n), OpKind::Immediate8, "{op:?}");
                assert_eq!(instruction.immediate8(), i);
            }
        }
    }
    instruction
}

#[track_caller]
fn check_address(instruction: &Instruction, n: u32, at: Address, broadcast: bool) {
    assert_eq!(
        instruction.op_kind(n),
        OpKind::Memory,
        "operand {n} of {instruction:?}"
    );
    assert_eq!(instruction.memory_base(), gpr(at.base.number()));
    assert_eq!(
        instruction.memory_displacement64() as i64,
        i64::from(at.displacement)
    );
    assert_eq!(instruction.is_broadcast(), broadcast);
}

/// The operands of an instruction, in the order of manuals.
fn wanted(op: Opcode, reg: u8, vvvv: u8, rm: Operand, immediate: u8) -> Vec<Wanted> {
    use Wanted::{Immediate, Register, Rm};
    match op.shape {
        Shape::Rvm => vec![Register(reg), Register(vvvv), Rm(rm)],
        Shape::Rvmi => vec![Register(reg), Register(vvvv), Rm(rm), Immediate(immediate)],
        Shape::Rm => vec![Register(reg), Rm(rm)],
        Shape::Rmi => vec![Register(reg), Rm(rm), Immediate(immediate)],
        Shape::Mr => vec![Rm(rm), Register(reg)],
        Shape::Mri => vec![Rm(rm), Register(reg), Immediate(immediate)],
        Shape::Mvr => vec![Rm(rm), Register(vvvv), Register(reg)],
        Shape::Vmi => vec![Register(vvvv), Rm(rm), Immediate(immediate)],
        Shape::Rvmr => vec![
            Register(reg),
            Register(vvvv),
            Rm(rm),
            Register(immediate >> 4),
        ],
        Shape::Gather => unreachable!("gathers are tested on their own"),
    }
}

fn has_immediate(op: Opcode) -> bool {
    matches!(
        op.shape,
        Shape::Rvmi | Shape::Rmi | Shape::Mri | Shape::Vmi | Shape::Rvmr
    )
}

fn uses_vvvv(op: Opcode) -> bool {
    !matches!(op.shape, Shape::Rm | Shape::Rmi | Shape::Mr | Shape::Mri)
}

fn is_on_masks(op: Opcode) -> bool {
    op.name.starts_with('k')
}

/// Memory operands; with `broadcasts`, also those of one number for all lanes.
fn memory_operands(broadcasts: bool) -> Vec<Operand> {
    let mut operands = Vec::new();
    for base in BASES {
        for displacement in DISPLACEMENTS {
            operands.push(Operand::Memory(base.at(displacement)));
            if broadcasts {
                operands.push(Operand::Broadcast(base.at(displacement)));
            }
        }
    }
    operands
}

/// Whether the last operand may be a register, and whether it may be memory.
fn operand_kinds(op: Opcode) -> (bool, bool) {
    let general = op.memory == Memory::General;
    let register = !matches!(op.shape, Shape::Mvr | Shape::Mr) || op.name == "vmovups";
    let only_register = [
        "vmovmskps",
        "vmovmskpd",
        "knotw",
        "kortestw",
        "kshiftrw",
        "vpmovm2d",
        "vpmovm2q",
        "vpmovd2m",
        "vpmovq2m",
    ];
    let only_memory = op.name == "vmovhps";
    let to_or_from_gpr = matches!(op.byte, 0x92 | 0x93) && is_on_masks(op);
    let three_masks = is_on_masks(op) && op.shape == Shape::Rvm;
    // With VEX, shifts by a number have no memory operand.
    let shift = op.shape == Shape::Vmi && op.evex.is_none();
    let memory =
        !(only_register.contains(&op.name) || to_or_from_gpr || three_masks || shift || general);
    (register && op.byte != 0x91 && !only_memory, memory)
}

#[test]
fn vex_instructions_are_read_back() {
    for &op in ALL.iter().filter(|op| op.vex.is_some()) {
        if op.shape == Shape::Gather {
            continue;
        }
        let length = match (is_on_masks(op), op.shape, op.name) {
            (true, Shape::Rvm, _) => Length::L256,
            (true, ..) | (_, _, "vmovd") => Length::L128,
            _ => Length::L256,
        };
        let registers: &[u8] = if is_on_masks(op) { &MASKS } else { &FEW };
        let (register, memory) = operand_kinds(op);
        let mut operands = Vec::new();
        if register {
            operands.extend(registers.iter().map(|&r| Operand::Register(r)));
        }
        if memory && op.shape != Shape::Vmi {
            operands.extend(memory_operands(false));
        }
        for &reg in registers {
            for &vvvv in if uses_vvvv(op) { registers } else { &[0] } {
                if op.digit.is_some() && reg != 0 {
                    continue;
                }
                for &rm in &operands {
                    let immediate = if op.shape == Shape::Rvmr { 0xb0 } else { 0x1 };
                    let mut a = Assembler::default();
                    if has_immediate(op) {
                        a.vex_imm(op, length, reg, vvvv, rm, immediate);
                    } else {
                        a.vex(op, length, reg, vvvv, rm);
                    }
                    let found = check(op, &a.finish(), &wanted(op, reg, vvvv, rm, immediate));
                    assert!(!found.has_op_mask());
                }
            }
        }
    }
}

#[test]
fn evex_instructions_are_read_back() {
    for &op in ALL.iter().filter(|op| op.evex.is_some()) {
        if op.shape == Shape::Gather {
            continue;
        }
        // What a comparison gives is a mask.
        let to_mask = op.name.contains("cmp") || op.name.ends_with("2m");
        let from_mask = op.name.starts_with("vpmovm2");
        // These are on less than a vector.
        let is_short = ["vmovq", "vmovhps"].contains(&op.name);
        let length = if is_short { Length::L128 } else { Length::L512 };
        // These have neither a mask of lanes nor another length of code.
        let bare = op.name.ends_with("2m") || from_mask || is_short;
        let firsts: &[u8] = if to_mask { &MASKS } else { &MANY };
        let (register, memory) = operand_kinds(op);
        let mut operands = Vec::new();
        if register {
            let registers: &[u8] = match op.memory {
                _ if from_mask => &MASKS,
                Memory::General => &FEW,
                _ => &MANY,
            };
            operands.extend(registers.iter().map(|&r| Operand::Register(r)));
        }
        if memory {
            let broadcasts = matches!(op.memory, Memory::Vector(_))
                && !op.name.starts_with("vmov")
                && op.shape != Shape::Mr;
            operands.extend(memory_operands(broadcasts));
        }
        for &reg in firsts {
            for &vvvv in if uses_vvvv(op) { &MANY[..] } else { &[0] } {
                if op.digit.is_some() && reg != 0 {
                    continue;
                }
                for (n, &rm) in operands.iter().enumerate() {
                    let into_memory = matches!(op.shape, Shape::Mr | Shape::Mri)
                        && !matches!(rm, Operand::Register(_));
                    let write = match n % 3 {
                        _ if bare => Write::All,
                        0 => Write::All,
                        1 if !(to_mask || into_memory) => Write::Under(3),
                        _ => Write::Under(7),
                    };
                    let mut a = Assembler::default();
                    if has_immediate(op) {
                        a.evex_imm(op, length, reg, vvvv, rm, write, 1);
                    } else {
                        a.evex(op, length, reg, vvvv, rm, write);
                    }
                    let found = check(op, &a.finish(), &wanted(op, reg, vvvv, rm, 1));
                    let mask = match write {
                        Write::All => Register::None,
                        Write::Under(3) => Register::K3,
                        Write::Under(_) => Register::K7,
                    };
                    assert_eq!(found.op_mask(), mask);
                    assert!(!found.zeroing_masking());
                }
            }
        }
    }
}

#[test]
fn gathers_are_read_back() {
    for &op in ALL.iter().filter(|op| op.shape == Shape::Gather) {
        for base in BASES {
            for scale in 0..4 {
                for index in FEW {
                    // Destination, indices and mask must be different registers.
                    let (reg, mask) = ((index + 1) % 16, (index + 2) % 16);
                    let mut a = Assembler::default();
                    a.vex_gather(op, Length::L256, reg, base, (index, scale), mask);
                    let operands = [
                        Wanted::Register(reg),
                        Wanted::Indexed(base.at(0), index, scale),
                        Wanted::Register(mask),
                    ];
                    check(op, &a.finish(), &operands);
                }
                for index in MANY {
                    let reg = (index + 7) % 32;
                    let mut a = Assembler::default();
                    a.evex_gather(op, Length::L512, reg, base, (index, scale), 5);
                    let operands = [
                        Wanted::Register(reg),
                        Wanted::Indexed(base.at(0), index, scale),
                    ];
                    let found = check(op, &a.finish(), &operands);
                    assert_eq!(found.op_mask(), Register::K5);
                }
            }
        }
    }
}

#[test]
fn loads_by_index_are_read_back() {
    use super::opcode::{VBROADCASTSS, VINSERTF64X4, VMOVHPS, VMOVQ, VMOVUPS};
    use Length::{L128, L256, L512};
    for base in BASES {
        for (index, scale) in [(Gpr::RAX, 0), (Gpr::RCX, 2), (Gpr::R8, 3), (Gpr::R12, 1)] {
            for (reg, displacement) in MANY.into_iter().zip(DISPLACEMENTS) {
                let at = Wanted::Indexed(base.at(displacement), index.number(), scale);
                let from = base.at(displacement);
                for (op, length) in [(VMOVQ, L128), (VMOVUPS, L256), (VBROADCASTSS, L512)] {
                    let mut a = Assembler::default();
                    a.evex_indexed(op, length, reg, 0, from, (index, scale));
                    check(op, &a.finish(), &[Wanted::Register(reg), at]);
                }
                for other in MANY {
                    let registers = [reg, other].map(Wanted::Register);
                    let mut a = Assembler::default();
                    a.evex_indexed(VMOVHPS, L128, reg, other, from, (index, scale));
                    check(VMOVHPS, &a.finish(), &[&registers[..], &[at]].concat());
                    let mut a = Assembler::default();
                    a.evex_indexed_imm(VINSERTF64X4, L512, reg, other, from, (index, scale), 1);
                    let last = [at, Wanted::Immediate(1)];
                    check(VINSERTF64X4, &a.finish(), &[&registers[..], &last].concat());
                }
            }
        }
    }
}

/// One instruction on general registers, as text.
#[track_caller]
fn one(write: impl FnOnce(&mut Assembler)) -> Instruction {
    let mut a = Assembler::default();
    write(&mut a);
    read_back(&a.finish())
}

/// An instruction that compares with memory and keeps one of both.
type Limit = fn(&mut Assembler, Gpr, Address);

#[test]
fn instructions_on_general_registers_are_read_back() {
    for number in 0..16 {
        let r = Gpr(number);
        let low = |i: &Instruction, n: u32| i.op_register(n).full_register();
        let is = |i: Instruction, code: Code| {
            assert_eq!(i.code(), code);
            assert_eq!(low(&i, 0), gpr(number));
        };
        is(one(|a| a.push(r)), Code::Push_r64);
        is(one(|a| a.pop(r)), Code::Pop_r64);
        is(one(|a| a.neg32(r)), Code::Neg_rm32);
        is(one(|a| a.all_if_borrowed32(r)), Code::Sbb_rm32_r32);
        is(one(|a| a.dec(r)), Code::Dec_rm64);
        is(one(|a| a.call(r)), Code::Call_rm64);
        is(one(|a| a.and(r, -64)), Code::And_rm64_imm8);
        let i = one(|a| a.sub(r, 123_456));
        let code = if r == Gpr::RAX {
            Code::Sub_RAX_imm32
        } else {
            Code::Sub_rm64_imm32
        };
        assert!(i.code() == code || i.code() == Code::Sub_rm64_imm32);
        assert_eq!(i.immediate(1), 123_456);
        let i = one(|a| a.mov_number(r, 77));
        assert_eq!((i.code(), i.immediate(1)), (Code::Mov_r32_imm32, 77));
        let i = one(|a| a.mov_number(r, 1 << 40));
        assert_eq!((i.code(), i.immediate(1)), (Code::Mov_r64_imm64, 1 << 40));
        assert_eq!(low(&i, 0), gpr(number));
        for base in BASES {
            let i = one(|a| a.add32(r, base));
            assert_eq!(i.code(), Code::Add_rm32_r32);
            assert_eq!([low(&i, 0), low(&i, 1)], [gpr(number), gpr(base.number())]);
            let i = one(|a| a.trailing_zeros32(r, base));
            assert_eq!(i.code(), Code::Tzcnt_r32_rm32);
            assert_eq!([low(&i, 0), low(&i, 1)], [gpr(number), gpr(base.number())]);
            let i = one(|a| a.mov(r, base));
            assert_eq!(i.code(), Code::Mov_rm64_r64);
            assert_eq!([low(&i, 0), low(&i, 1)], [gpr(number), gpr(base.number())]);
            for displacement in DISPLACEMENTS {
                let at = base.at(displacement);
                let loads = [
                    (one(|a| a.load64(r, at)), Code::Mov_r64_rm64),
                    (one(|a| a.load32(r, at)), Code::Mov_r32_rm32),
                    (one(|a| a.load8(r, at)), Code::Movzx_r32_rm8),
                    (one(|a| a.lea(r, at)), Code::Lea_r64_m),
                    (one(|a| a.sub_memory32(r, at)), Code::Sub_r32_rm32),
                    (one(|a| a.mul_memory32(r, at)), Code::Imul_r32_rm32),
                ];
                let stores = [
                    (one(|a| a.store64(at, r)), Code::Mov_rm64_r64),
                    (one(|a| a.store32(at, r)), Code::Mov_rm32_r32),
                    (one(|a| a.or_memory32(at, r)), Code::Or_rm32_r32),
                ];
                let both = loads
                    .map(|l| (l, 0))
                    .into_iter()
                    .chain(stores.map(|s| (s, 1)));
                for ((i, code), register) in both {
                    assert_eq!(i.code(), code);
                    assert_eq!(low(&i, register), gpr(number));
                    check_address(&i, 1 - register, at, false);
                }
                let limits: [(Limit, Code); 2] = [
                    (Assembler::at_least32, Code::Cmovb_r32_rm32),
                    (Assembler::at_most32, Code::Cmova_r32_rm32),
                ];
                for (limit, code) in limits {
                    let mut a = Assembler::default();
                    limit(&mut a, r, at);
                    let bytes = a.finish();
                    let decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
                    let found: Vec<Instruction> = decoder.into_iter().collect();
                    let codes: Vec<Code> = found.iter().map(Instruction::code).collect();
                    assert_eq!(codes, [Code::Cmp_r32_rm32, code]);
                    for i in &found {
                        assert_eq!(low(i, 0), gpr(number));
                        check_address(i, 1, at, false);
                    }
                }
                let i = one(|a| a.load32_indexed(r, at, (Gpr::R9, 2)));
                assert_eq!(i.code(), Code::Mov_r32_rm32);
                assert_eq!(low(&i, 0), gpr(number));
                assert_eq!(
                    (i.memory_index(), i.memory_index_scale()),
                    (Register::R9, 4)
                );
                check_address(&i, 1, at, false);
                let i = one(|a| a.compare_byte(at, 1));
                assert_eq!((i.code(), i.immediate8()), (Code::Cmp_rm8_imm8, 1));
                check_address(&i, 0, at, false);
            }
        }
    }
    assert_eq!(one(Assembler::ret).code(), Code::Retnq);
    assert_eq!(one(Assembler::vzeroupper).code(), Code::VEX_Vzeroupper);
}

#[test]
fn jumps_go_to_their_labels() {
    let mut a = Assembler::default();
    let [before, after] = [a.label(), a.label()];
    a.ret();
    a.bind(before);
    let at = a.len() as u64;
    a.jump(after);
    a.jump_if(Condition::Zero, before);
    a.jump_if(Condition::NotZero, after);
    a.lea_label(Gpr::R14, after);
    a.align(16);
    a.bind(after);
    let end = a.len() as u64;
    a.data(&[1, 2, 3]);
    let code = a.finish();
    assert_eq!(end % 16, 0);
    let decoder = Decoder::with_ip(64, &code, 0, DecoderOptions::NONE);
    let found: Vec<Instruction> = decoder.into_iter().skip(1).take(4).collect();
    assert_eq!(found[0].near_branch_target(), end);
    assert_eq!(found[1].code(), Code::Je_rel32_64);
    assert_eq!(found[1].near_branch_target(), at);
    assert_eq!(found[2].code(), Code::Jne_rel32_64);
    assert_eq!(found[2].near_branch_target(), end);
    assert_eq!(found[3].op0_register(), Register::R14);
    assert_eq!(found[3].ip_rel_memory_address(), end);
}
