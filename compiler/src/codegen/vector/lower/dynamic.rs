//! Lowers operations on sequences of varying length and on other strands.
//!
//! Whatever makes or searches something is a call of the host. The state of another strand is read at an address that is
//! computed here, because loops over neighbours consist of it; lanes that do not run read nothing.

use super::{Lowering, calls::host_arguments};
use crate::{
    codegen::{
        abi::offset,
        vector::tree::{Binary, Class, Compare, Gather, Half, Home, Kind, Op, Unary, Val},
    },
    low::Dynamic,
    ssa::Value,
};
use runtime::strands::Sharing;

impl Lowering<'_> {
    pub(super) fn dynamic(
        &mut self,
        op: &Dynamic,
        args: &[Value],
        results: &[Value],
    ) -> Result<(), String> {
        let result = match op {
            Dynamic::Count(set) => self.count(*set),
            Dynamic::StrandAt => self.strand_at(args),
            Dynamic::Other(slot, _) => self.other(*slot as usize, args[0]),
            Dynamic::Reduce(_) => return Err("a reduction over strands in strand code".into()),
            Dynamic::List(..)
            | Dynamic::Append(_)
            | Dynamic::Prepend(_)
            | Dynamic::Concatenate(_)
            | Dynamic::Item(_)
            | Dynamic::Sphere { .. }
            | Dynamic::New(_) => {
                let lanes = self.machine.lanes;
                let call = self.linker.host_call(op, lanes, self.state);
                let arguments = host_arguments(call);
                let function = self.linker.operate();
                let effect = matches!(op, Dynamic::New(_));
                self.call(function, arguments, args, results, effect);
                return Ok(());
            }
        };
        self.set(results[0], result);
        Ok(())
    }

    /// Words of the state that are 64 bits apart: one half of sequences' handles.
    pub(super) fn unpacked(&mut self, at: i32) -> Val {
        let result = self.values.make(Class::Vector, Home::None);
        self.push(Kind::Unpack { result, at });
        result
    }

    fn unary(&mut self, op: Unary, a: Val) -> Val {
        self.op(Op::Unary(op), &[a])
    }

    fn binary(&mut self, op: Binary, a: Val, b: Val) -> Val {
        self.op(Op::Binary(op), &[a, b])
    }

    /// The lanes of integers as numbers of 64 bits: one vector, or two halves.
    fn widened(&mut self, v: Val) -> Vec<Val> {
        if self.machine.lane_bytes() == 8 {
            return vec![v];
        }
        let halves = [Half::Low, Half::High].map(|half| self.unary(Unary::Widen(half), v));
        halves.to_vec()
    }

    /// The strand at an index among those that a query found: address (two halves), number, index.
    fn strand_at(&mut self, args: &[Value]) -> Val {
        let [low, high, length, index] = [0, 1, 2, 3].map(|n| self.get(args[n]));
        let zero = self.constant(0);
        let from_zero = self.op(Op::Compare(Compare::IntLessEqual), &[zero, index]);
        let below = self.op(Op::Compare(Compare::IntLess), &[index, length]);
        let inside = self.and(from_zero, below, [true; 2]);
        let readable = self.and(self.active, inside, [false, true]);
        let [low, high, index] = [low, high, index].map(|v| self.widened(v));
        let addresses = (0..low.len())
            .map(|n| {
                let upper = self.unary(Unary::LongShiftLeft(32), high[n]);
                let list = self.binary(Binary::Or, upper, low[n]);
                let step = self.unary(Unary::LongShiftLeft(2), index[n]);
                self.binary(Binary::LongAdd, list, step)
            })
            .collect();
        self.gather(None, 0, addresses, readable, true)
    }

    /// A state slot of another strand.
    fn other(&mut self, slot: usize, strand: Value) -> Val {
        let plane = self.state[slot];
        let published = plane.sharing == Sharing::Communicated;
        let addresses = self.strand_addresses(self.get(strand), published, plane.stride);
        let origin = Some(if published {
            offset::PUBLISHED
        } else {
            offset::BLOCKS
        });
        let lanes = self.active;
        let plane_at = plane.offset as i32;
        let word = self.gather(origin, plane_at, addresses, lanes, plane.is_handle);
        self.typed(word, plane.ty)
    }

    /// For each lane, the distance from the first block to its strand's lane in a plane at offset 0, with lanes `stride` bytes
    /// apart: in the published copy, or in the state itself.
    fn strand_addresses(&mut self, strand: Val, published: bool, stride: usize) -> Vec<Val> {
        let key = (strand, published, stride, self.block);
        if let Some(known) = self.addresses.get(&key) {
            return known.clone();
        }
        let width = self.machine.lanes.width;
        let block_bytes = if published {
            self.linker.published_stride
        } else {
            self.linker.state_stride
        };
        let last = self.constant(width as u64 - 1);
        let block = self.unary(Unary::ShiftRight(width.trailing_zeros() as u8), strand);
        let lane = self.binary(Binary::And, strand, last);
        let within = self.unary(Unary::ShiftLeft(stride.trailing_zeros() as u8), lane);
        let (blocks, within) = (self.widened(block), self.widened(within));
        let block_bytes = self.long_constant(block_bytes as u64);
        let addresses: Vec<Val> = blocks
            .into_iter()
            .zip(within)
            .map(|(block, within)| {
                let block = self.binary(Binary::LongMulHalves, block, block_bytes);
                self.binary(Binary::LongAdd, block, within)
            })
            .collect();
        self.addresses.insert(key, addresses.clone());
        addresses
    }

    /// Reads a number of 32 bits or as wide as a lane for each of some lanes.
    fn gather(
        &mut self,
        origin: Option<i32>,
        displacement: i32,
        addresses: Vec<Val>,
        lanes: Val,
        narrow: bool,
    ) -> Val {
        let result = self.values.make(Class::Vector, Home::None);
        self.push(Kind::Gather(Box::new(Gather {
            result,
            origin,
            displacement,
            addresses,
            lanes,
            narrow: narrow && self.machine.lane_bytes() == 8,
        })));
        result
    }
}
