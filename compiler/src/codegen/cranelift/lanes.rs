//! The representation of values of W strands in registers.
//!
//! Cranelift's widest vector has 128 bits, so W lanes are several *parts*. Reals, integers and truth values of a program all
//! have lanes of the width of its reals (a truth value is all ones or all zeros), so that masks apply to all of them alike.
//! With W = 1 a value is one scalar and a truth value a byte.

use super::emit::Emitter;
use crate::{codegen::abi::Lanes, ir::Scalar as Ty};
use cranelift_codegen::ir::{self as cl, InstBuilder, MemFlagsData, condcodes::IntCC, types};

/// The registers of a program's lanes.
pub(super) trait Registers {
    /// Lanes in one part.
    fn per_part(self) -> usize;
    /// Parts of a value.
    fn parts(self) -> usize;
    /// The type of one uniform value, or of one lane.
    fn scalar(self, ty: Ty) -> cl::Type;
    /// The type of one part of a varying value.
    fn part(self, ty: Ty) -> cl::Type;
    /// The type of a mask's part.
    fn mask(self) -> cl::Type;
}

impl Registers for Lanes {
    fn per_part(self) -> usize {
        self.width.min(16 / self.bytes())
    }

    fn parts(self) -> usize {
        self.width / self.per_part()
    }
    fn scalar(self, ty: Ty) -> cl::Type {
        match ty {
            Ty::Real if self.double => types::F64,
            Ty::Real => types::F32,
            Ty::Int | Ty::Str if self.double || self.long_int => types::I64,
            Ty::Int | Ty::Str => types::I32,
            Ty::Bool => types::I8,
        }
    }

    fn part(self, ty: Ty) -> cl::Type {
        if self.width == 1 {
            return self.scalar(ty);
        }
        let lane = match ty {
            Ty::Bool if self.double => types::I64,
            Ty::Bool => types::I32,
            _ => self.scalar(ty),
        };
        lane.by(self.per_part() as u32)
            .expect("a vector of 128 bits")
    }

    fn mask(self) -> cl::Type {
        self.part(Ty::Bool)
    }
}

const LITTLE: MemFlagsData = MemFlagsData::new().with_endianness(cl::Endianness::Little);

impl Emitter<'_, '_> {
    /// A uniform value in all lanes.
    pub(super) fn splat(&mut self, ty: Ty, value: cl::Value) -> Vec<cl::Value> {
        if self.lanes.width == 1 {
            return vec![value];
        }
        let part = self.lanes.part(ty);
        let lane = if ty == Ty::Bool {
            // A byte 0 or 1 becomes a lane of zeros or ones.
            let wide = self.b.ins().uextend(part.lane_type(), value);
            self.b.ins().ineg(wide)
        } else {
            value
        };
        vec![self.b.ins().splat(part, lane); self.lanes.parts()]
    }

    /// The zero of a type, as parts or as one scalar.
    pub(super) fn zero(&mut self, ty: Ty, varying: bool) -> Vec<cl::Value> {
        let scalar = self.lanes.scalar(ty);
        if varying && self.lanes.width > 1 {
            let part = self.lanes.part(ty);
            let constant = self
                .b
                .func
                .dfg
                .constants
                .insert(cl::ConstantData::from(&[0u8; 16][..]));
            vec![self.b.ins().vconst(part, constant); self.lanes.parts()]
        } else if scalar == types::F32 {
            vec![self.b.ins().f32const(0.0)]
        } else if scalar == types::F64 {
            vec![self.b.ins().f64const(0.0)]
        } else {
            vec![self.b.ins().iconst(scalar, 0)]
        }
    }

    /// Per lane, `a` where the mask is set, else `b`.
    pub(super) fn blend(
        &mut self,
        mask: &[cl::Value],
        a: &[cl::Value],
        b: &[cl::Value],
    ) -> Vec<cl::Value> {
        (0..a.len())
            .map(|p| {
                if a[p] == b[p] {
                    return a[p];
                }
                if self.lanes.width == 1 {
                    return self.b.ins().select(mask[p], a[p], b[p]);
                }
                let ty = self.b.func.dfg.value_type(a[p]);
                let mask_ty = self.b.func.dfg.value_type(mask[p]);
                let m = if ty == mask_ty {
                    mask[p]
                } else {
                    self.b.ins().bitcast(ty, LITTLE, mask[p])
                };
                self.b.ins().bitselect(m, a[p], b[p])
            })
            .collect()
    }

    /// One instruction for each part of two operands.
    pub(super) fn zip(
        &mut self,
        a: &[cl::Value],
        b: &[cl::Value],
        mut f: impl FnMut(&mut Self, cl::Value, cl::Value) -> cl::Value,
    ) -> Vec<cl::Value> {
        a.iter().zip(b).map(|(&x, &y)| f(self, x, y)).collect()
    }

    /// A truth value (as a byte) that tells whether any lane of the mask is set.
    pub(super) fn any(&mut self, mask: &[cl::Value]) -> cl::Value {
        let all = mask[1..]
            .iter()
            .fold(mask[0], |a, &m| self.b.ins().bor(a, m));
        self.b.ins().vany_true(all)
    }

    /// The lanes of a mask as bits.
    pub(super) fn mask_bits(&mut self, mask: &[cl::Value]) -> cl::Value {
        if self.lanes.width == 1 {
            return self.b.ins().uextend(types::I32, mask[0]);
        }
        let per_part = self.lanes.per_part() as i64;
        let mut bits = self.b.ins().iconst(types::I32, 0);
        for (p, &part) in mask.iter().enumerate() {
            let high = self.b.ins().vhigh_bits(types::I32, part);
            let shifted = self.b.ins().ishl_imm_u(high, per_part * p as i64);
            bits = self.b.ins().bor(bits, shifted);
        }
        bits
    }

    /// The mask whose lanes are the bits of a number.
    pub(super) fn mask_of_bits(&mut self, bits: cl::Value) -> Vec<cl::Value> {
        if self.lanes.width == 1 {
            let bit = self.b.ins().band_imm_u(bits, 1);
            return vec![self.b.ins().ireduce(types::I8, bit)];
        }
        let part = self.lanes.mask();
        let lane = part.lane_type();
        let bits = if lane == types::I64 {
            self.b.ins().uextend(types::I64, bits)
        } else {
            bits
        };
        let spread = self.b.ins().splat(part, bits);
        let zero = self.zero(Ty::Bool, true)[0];
        (0..self.lanes.parts())
            .map(|p| {
                let select: Vec<u64> = (0..self.lanes.per_part())
                    .map(|l| 1 << (p * self.lanes.per_part() + l))
                    .collect();
                let select = self.lane_constants(part, &select);
                let chosen = self.b.ins().band(spread, select);
                self.b.ins().icmp(IntCC::NotEqual, chosen, zero)
            })
            .collect()
    }

    /// A constant vector from the bits of its lanes.
    pub(super) fn lane_constants(&mut self, part: cl::Type, lanes: &[u64]) -> cl::Value {
        let size = part.lane_type().bytes() as usize;
        let bytes: Vec<u8> = lanes
            .iter()
            .flat_map(|lane| lane.to_le_bytes()[..size].to_vec())
            .collect();
        let constant = self
            .b
            .func
            .dfg
            .constants
            .insert(cl::ConstantData::from(&bytes[..]));
        self.b.ins().vconst(part, constant)
    }

    /// The lanes of parts, one scalar each.
    pub(super) fn extract(&mut self, parts: &[cl::Value]) -> Vec<cl::Value> {
        if self.lanes.width == 1 {
            return parts.to_vec();
        }
        let per_part = self.lanes.per_part();
        parts
            .iter()
            .flat_map(|&part| (0..per_part).map(move |l| (part, l as u8)))
            .map(|(part, l)| self.b.ins().extractlane(part, l))
            .collect()
    }

    /// Parts from one scalar per lane.
    pub(super) fn gather(&mut self, ty: Ty, lanes: &[cl::Value]) -> Vec<cl::Value> {
        if self.lanes.width == 1 {
            return lanes.to_vec();
        }
        let part = self.lanes.part(ty);
        lanes
            .chunks(self.lanes.per_part())
            .map(|chunk| {
                let first = self.b.ins().scalar_to_vector(part, chunk[0]);
                (1..chunk.len()).fold(first, |v, l| self.b.ins().insertlane(v, chunk[l], l as u8))
            })
            .collect()
    }
}
