//! Emits operations on sequences of varying length and on other strands.
//!
//! Creation and queries are calls of the host. Reading a strand's state is inline code, because loops over neighbours
//! consist of it. Lanes that do not run may hold any number, so they never decide which memory is read.

use super::{
    emit::{Emitter, PLAIN},
    lanes::Registers,
};
use crate::{
    codegen::abi::{StatePlane, offset},
    low::{Dynamic, Ty},
    ssa::Value,
};
use cranelift_codegen::ir::{self as cl, InstBuilder, condcodes::IntCC, types};
use ein_ir::ops::StrandSet;
use runtime::strands::Sharing;

impl Emitter<'_, '_> {
    pub(super) fn dynamic(&mut self, op: &Dynamic, args: &[Value], results: &[Value]) {
        let parts = match op {
            Dynamic::Count(set) => vec![self.count(*set)],
            Dynamic::StrandAt => self.strand_at(args),
            Dynamic::Other(slot, _) => self.other(*slot, args[0]),
            _ => {
                let call = self.linker.host_call(op, self.lanes, self.state_planes);
                let function = self.linker.operate();
                return self.host_call(function, call, args, results);
            }
        };
        self.set(results[0], parts);
    }

    fn count(&mut self, set: StrandSet) -> cl::Value {
        let place = match set {
            StrandSet::All => 0,
            StrandSet::Active => 1,
            StrandSet::Stable => 2,
        };
        let at = offset::COUNTS + place * 8;
        let count = self.b.ins().load(types::I64, PLAIN, self.frame, at);
        self.narrow(count)
    }

    /// A 64-bit number as an integer of the program.
    fn narrow(&mut self, number: cl::Value) -> cl::Value {
        match self.lanes.scalar(Ty::Int) {
            types::I64 => number,
            int => self.b.ins().ireduce(int, number),
        }
    }

    /// An unsigned 32-bit number as 64 bits, whatever an integer of the program is.
    fn widen(&mut self, number: cl::Value) -> cl::Value {
        match self.b.func.dfg.value_type(number) {
            types::I64 => number,
            _ => self.b.ins().uextend(types::I64, number),
        }
    }

    /// Calls a function of the host with a description of the operation, both by address.
    pub(super) fn host_call(
        &mut self,
        address: usize,
        call: usize,
        args: &[Value],
        results: &[Value],
    ) {
        let stored = self.store_args(args);
        let sizes = results.iter().map(|&v| self.lanes.plane_bytes(self.ty(v)));
        let out = self.sized_slot(sizes.sum());
        let lanes = self.lanes_of(results);
        let call = self.b.ins().iconst(types::I64, call as i64);
        let stored = self.b.ins().stack_addr(types::I64, stored, 0);
        let room = self.b.ins().stack_addr(types::I64, out, 0);
        self.call(address, &[self.frame, lanes, call, stored, room]);
        let mut at = 0;
        for &v in results {
            let ty = self.ty(v);
            let parts = if self.is_varying(v) {
                self.load_plane(room, at as i32, ty)
            } else {
                vec![self.load_one(room, at as i32, ty)]
            };
            self.set(v, parts);
            at += self.lanes.plane_bytes(ty);
        }
    }

    /// The first lane of a plane.
    fn load_one(&mut self, base: cl::Value, at: i32, ty: Ty) -> cl::Value {
        if ty == Ty::Bool {
            let word = self.lanes.scalar(Ty::Int);
            let word = self.b.ins().load(word, PLAIN, base, at);
            return self.b.ins().icmp_imm_s(IntCC::NotEqual, word, 0);
        }
        let scalar = self.lanes.scalar(ty);
        self.b.ins().load(scalar, PLAIN, base, at)
    }

    /// The strand at an index among those that a query found: address (two halves), number, index.
    fn strand_at(&mut self, args: &[Value]) -> Vec<cl::Value> {
        let [low, high, length, index] = [0, 1, 2, 3].map(|n| self.parts(args[n]));
        let zero = self.zero(Ty::Int, true);
        let from_zero = self.zip(&zero, &index, |e, z, i| {
            e.b.ins().icmp(IntCC::SignedLessThanOrEqual, z, i)
        });
        let below = self.zip(&index, &length, |e, i, n| {
            e.b.ins().icmp(IntCC::SignedLessThan, i, n)
        });
        let inside = self.zip(&from_zero, &below, |e, a, b| e.b.ins().band(a, b));
        let mask = self.mask.clone();
        let readable = self.zip(&inside, &mask, |e, a, b| e.b.ins().band(a, b));
        let [low, high, index, readable] =
            [low, high, index, readable].map(|parts| self.extract(&parts));
        let lanes: Vec<cl::Value> = (0..low.len())
            .map(|l| {
                let [low, high, index] = [low[l], high[l], index[l]].map(|v| self.widen(v));
                let high = self.b.ins().ishl_imm_u(high, 32);
                let list = self.b.ins().bor(high, low);
                let step = self.b.ins().ishl_imm_u(index, 2);
                let there = self.b.ins().iadd(list, step);
                // The frame can always be read; the word found there is not used.
                let address = self.b.ins().select(readable[l], there, self.frame);
                let found = self.b.ins().load(types::I32, PLAIN, address, 0);
                let zero = self.b.ins().iconst(types::I32, 0);
                let found = self.b.ins().select(readable[l], found, zero);
                match self.lanes.scalar(Ty::Int) {
                    types::I64 => self.b.ins().uextend(types::I64, found),
                    _ => found,
                }
            })
            .collect();
        self.gather(Ty::Int, &lanes)
    }

    /// A state slot of another strand.
    fn other(&mut self, slot: u32, strand: Value) -> Vec<cl::Value> {
        let plane = self.state_planes[slot as usize];
        let addresses =
            self.strand_addresses(strand, plane.sharing == Sharing::Communicated, plane.stride);
        let word = self.lane_word(&plane);
        let lanes: Vec<cl::Value> = addresses
            .into_iter()
            .map(|address| {
                let lane = self.b.ins().load(word, PLAIN, address, plane.offset as i32);
                self.lane_of_plane(&plane, lane)
            })
            .collect();
        self.gather(plane.ty, &lanes)
    }

    /// For each lane, the address of its strand's lane in a plane at offset 0 with this stride: in the published copy, or in the
    /// state itself.
    fn strand_addresses(
        &mut self,
        strand: Value,
        published: bool,
        stride: usize,
    ) -> Vec<cl::Value> {
        let key = (strand, published);
        if let Some((known, place, addresses)) = &self.last_read
            && (*known, *place) == key
            && stride == self.lanes.lane_bytes(Ty::Int)
        {
            return addresses.clone();
        }
        let mut slots = self.parts(strand);
        if self.lanes.width > 1 {
            // Lanes that do not run read strand 0, which exists.
            let mask = self.mask.clone();
            slots = self.zip(&slots, &mask, |e, s, m| e.b.ins().band(s, m));
        }
        let (at, block_bytes) = if published {
            (offset::PUBLISHED, self.linker.published_stride)
        } else {
            (offset::BLOCKS, self.linker.state_stride)
        };
        let base = self.b.ins().load(types::I64, PLAIN, self.frame, at);
        let width = self.lanes.width as i64;
        let slots = self.extract(&slots);
        let addresses: Vec<cl::Value> = slots
            .into_iter()
            .map(|slot| {
                let slot = self.widen(slot);
                let block = self
                    .b
                    .ins()
                    .ushr_imm_u(slot, i64::from(width.trailing_zeros()));
                let block = self.b.ins().imul_imm_s(block, block_bytes as i64);
                let lane = self.b.ins().band_imm_u(slot, width - 1);
                let lane = self.b.ins().imul_imm_s(lane, stride as i64);
                let address = self.b.ins().iadd(base, block);
                self.b.ins().iadd(address, lane)
            })
            .collect();
        if stride == self.lanes.lane_bytes(Ty::Int) {
            self.last_read = Some((strand, published, addresses.clone()));
        }
        addresses
    }

    /// The type of a lane of a state plane in memory.
    fn lane_word(&self, plane: &StatePlane) -> cl::Type {
        match plane.ty {
            _ if plane.is_handle => types::I32,
            Ty::Bool => self.lanes.scalar(Ty::Int),
            ty => self.lanes.scalar(ty),
        }
    }

    /// A lane of a state plane as the program has it.
    fn lane_of_plane(&mut self, plane: &StatePlane, lane: cl::Value) -> cl::Value {
        if plane.is_handle && self.lanes.scalar(Ty::Int) == types::I64 {
            return self.b.ins().uextend(types::I64, lane);
        }
        if plane.ty == Ty::Bool && self.lanes.width == 1 {
            return self.b.ins().icmp_imm_s(IntCC::NotEqual, lane, 0);
        }
        lane
    }

    /// Loads a plane of the state.
    pub(super) fn load_state(&mut self, state: cl::Value, plane: &StatePlane) -> Vec<cl::Value> {
        if !plane.is_handle {
            return self.load_plane(state, plane.offset as i32, plane.ty);
        }
        let lanes: Vec<cl::Value> = (0..self.lanes.width)
            .map(|l| {
                let at = (plane.offset + l * plane.stride) as i32;
                let half = self.b.ins().load(types::I32, PLAIN, state, at);
                self.lane_of_plane(plane, half)
            })
            .collect();
        self.gather(plane.ty, &lanes)
    }

    /// Stores a plane of the state.
    pub(super) fn store_state(
        &mut self,
        state: cl::Value,
        plane: &StatePlane,
        parts: &[cl::Value],
    ) {
        if !plane.is_handle {
            return self.store_plane(state, plane.offset as i32, plane.ty, parts);
        }
        for (l, lane) in self.extract(parts).into_iter().enumerate() {
            let half = match self.b.func.dfg.value_type(lane) {
                types::I32 => lane,
                _ => self.b.ins().ireduce(types::I32, lane),
            };
            let at = (plane.offset + l * plane.stride) as i32;
            self.b.ins().store(PLAIN, half, state, at);
        }
    }
}
