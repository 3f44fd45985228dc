//! The record of the emitted code: a machine that wraps another machine and records every operation.
//!
//! The emitter knows only [`Target`], so no operation can be left out. The instructions of an operation are not part of the
//! record: an operation is one entry, with its registers and addresses.

use crate::codegen::vector::{
    encode::{Address, Assembler, Gpr, Operand, Scalar},
    target::{TENT_VECTORS, Target, Temporaries, Tent},
    tree::{Binary, Class, Compare, Logic, Unary},
};
use smallvec::SmallVec;
use std::ops::Range;

/// An operation of a machine on vectors and masks. The fields are those of the functions of [`Target`].
#[derive(Clone, Debug)]
pub(super) enum Instr {
    Binary(Binary, u8, u8, Operand),
    Unary(Unary, u8, Operand),
    Compare(Compare, u8, u8, Operand, Option<u8>),
    Select {
        to: u8,
        mask: u8,
        a: Operand,
        b: u8,
    },
    Merge {
        to: u8,
        from: Operand,
        mask: u8,
    },
    Logic(Logic, u8, u8, u8),
    Not(u8, u8),
    SelectMask {
        to: u8,
        mask: u8,
        a: u8,
        b: u8,
    },
    Truth(u8, bool),
    TruthAt(u8, Address),
    ToMask(u8, Operand),
    ToWord(u8, u8),
    LanesOfBits {
        to: u8,
        bits: Address,
        table: Address,
    },
    BitsOfLanes(Gpr, u8),
    Test(u8),
    Copy(Class, u8, u8),
    Load(Class, u8, Address),
    Store(Class, Address, u8),
    Broadcast(u8, Address),
    StoreUnder {
        to: Address,
        from: u8,
        mask: u8,
    },
    Tent {
        to: u8,
        image: Gpr,
        positions: SmallVec<[u8; 3]>,
        room: Address,
        vectors: [u8; TENT_VECTORS],
        lanes: u8,
        active: u8,
        mask: u8,
    },
    Gather {
        to: u8,
        base: Gpr,
        addresses: SmallVec<[u8; 2]>,
        lanes: u8,
        narrow: bool,
        temporaries: Temporaries,
    },
}

/// An entry of the record.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Scalar(Scalar),
    Vector(Instr),
}

/// What a checker has to know of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) bytes: i32,
    pub(super) files: usize,
    /// The scratch registers for vectors and for masks.
    pub(super) scratch: [u8; 2],
}

impl Shape {
    pub(super) fn of<T: Target>() -> Shape {
        Shape {
            bytes: T::BYTES,
            files: T::FILES,
            scratch: [T::scratch(Class::Vector), T::scratch(Class::Mask)],
        }
    }
}

/// A machine whose operations are recorded, if wanted.
pub(in crate::codegen::vector) struct Recorded<T> {
    inner: T,
    /// The operations, each with the number of entries of the assembler before it.
    operations: Vec<(usize, Instr)>,
}

impl<T: Target> Recorded<T> {
    pub(in crate::codegen::vector) fn new(mut inner: T, wanted: bool) -> Recorded<T> {
        if wanted {
            inner.asm().start_record();
        }
        Recorded {
            inner,
            operations: Vec::new(),
        }
    }

    /// The machine itself, and the record.
    pub(in crate::codegen::vector) fn finish(mut self) -> (T, Record) {
        let scalars = self.inner.asm().take_record();
        let mut events = Vec::with_capacity(scalars.len() + self.operations.len());
        let mut taken = 0;
        for (before, operation) in self.operations {
            let scalars = scalars[taken..before].iter();
            events.extend(scalars.map(|&scalar| Event::Scalar(scalar)));
            taken = before;
            events.push(Event::Vector(operation));
        }
        let rest = scalars[taken..].iter();
        events.extend(rest.map(|&scalar| Event::Scalar(scalar)));
        let shape = Shape::of::<T>();
        (self.inner, Record { events, shape })
    }

    /// Does an operation and records it instead of its instructions.
    fn noting(&mut self, operate: impl FnOnce(&mut T), operation: impl FnOnce() -> Instr) {
        let before = self.inner.asm().recorded();
        operate(&mut self.inner);
        if let Some(before) = before {
            self.inner.asm().forget_after(before);
            self.operations.push((before, operation()));
        }
    }
}

/// The code emitted for a function, and the machine that it is for.
#[derive(Debug)]
pub(in crate::codegen::vector) struct Record {
    pub(super) events: Vec<Event>,
    pub(super) shape: Shape,
}

impl<T: Target> Target for Recorded<T> {
    const BYTES: i32 = T::BYTES;
    const FILES: usize = T::FILES;
    const SCRATCH: u8 = T::SCRATCH;
    const SPREADS: bool = T::SPREADS;

    fn file(class: Class) -> usize {
        T::file(class)
    }

    fn registers(file: usize) -> Range<u8> {
        T::registers(file)
    }

    fn scratch(class: Class) -> u8 {
        T::scratch(class)
    }

    fn asm(&mut self) -> &mut Assembler {
        self.inner.asm()
    }

    fn binary(&mut self, op: Binary, to: u8, a: u8, b: Operand) {
        self.noting(|t| t.binary(op, to, a, b), || Instr::Binary(op, to, a, b));
    }

    fn unary(&mut self, op: Unary, to: u8, a: Operand) {
        self.noting(|t| t.unary(op, to, a), || Instr::Unary(op, to, a));
    }

    fn compare(&mut self, op: Compare, to: u8, a: u8, b: Operand, under: Option<u8>) {
        self.noting(
            |t| t.compare(op, to, a, b, under),
            || Instr::Compare(op, to, a, b, under),
        );
    }

    fn select(&mut self, to: u8, mask: u8, a: Operand, b: u8) {
        self.noting(
            |t| t.select(to, mask, a, b),
            || Instr::Select { to, mask, a, b },
        );
    }

    fn merge(&mut self, to: u8, from: Operand, mask: u8) {
        self.noting(
            |t| t.merge(to, from, mask),
            || Instr::Merge { to, from, mask },
        );
    }

    fn logic(&mut self, op: Logic, to: u8, a: u8, b: u8) {
        self.noting(|t| t.logic(op, to, a, b), || Instr::Logic(op, to, a, b));
    }

    fn not(&mut self, to: u8, a: u8) {
        self.noting(|t| t.not(to, a), || Instr::Not(to, a));
    }

    fn select_mask(&mut self, to: u8, mask: u8, a: u8, b: u8) {
        self.noting(
            |t| t.select_mask(to, mask, a, b),
            || Instr::SelectMask { to, mask, a, b },
        );
    }

    fn truth(&mut self, to: u8, truth: bool) {
        self.noting(|t| t.truth(to, truth), || Instr::Truth(to, truth));
    }

    fn truth_at(&mut self, to: u8, at: Address) {
        self.noting(|t| t.truth_at(to, at), || Instr::TruthAt(to, at));
    }

    fn to_mask(&mut self, to: u8, from: Operand) {
        self.noting(|t| t.to_mask(to, from), || Instr::ToMask(to, from));
    }

    fn to_word(&mut self, to: u8, from: u8) {
        self.noting(|t| t.to_word(to, from), || Instr::ToWord(to, from));
    }

    fn lanes_of_bits(&mut self, to: u8, bits: Address, table: Address) {
        self.noting(
            |t| t.lanes_of_bits(to, bits, table),
            || Instr::LanesOfBits { to, bits, table },
        );
    }

    fn bits_of_lanes(&mut self, to: Gpr, mask: u8) {
        self.noting(
            |t| t.bits_of_lanes(to, mask),
            || Instr::BitsOfLanes(to, mask),
        );
    }

    fn test(&mut self, mask: u8) {
        self.noting(|t| t.test(mask), || Instr::Test(mask));
    }

    fn copy(&mut self, class: Class, to: u8, from: u8) {
        self.noting(|t| t.copy(class, to, from), || Instr::Copy(class, to, from));
    }

    fn load(&mut self, class: Class, to: u8, from: Address) {
        self.noting(|t| t.load(class, to, from), || Instr::Load(class, to, from));
    }

    fn store(&mut self, class: Class, to: Address, from: u8) {
        self.noting(
            |t| t.store(class, to, from),
            || Instr::Store(class, to, from),
        );
    }

    fn broadcast(&mut self, to: u8, from: Address) {
        self.noting(|t| t.broadcast(to, from), || Instr::Broadcast(to, from));
    }

    fn store_under(&mut self, to: Address, from: u8, mask: u8) {
        self.noting(
            |t| t.store_under(to, from, mask),
            || Instr::StoreUnder { to, from, mask },
        );
    }

    fn tent(&mut self, tent: &Tent<'_>) {
        self.noting(
            |t| t.tent(tent),
            || Instr::Tent {
                to: tent.to,
                image: tent.image,
                positions: tent.positions.into(),
                room: tent.room,
                vectors: tent.vectors,
                lanes: tent.lanes,
                active: tent.active,
                mask: tent.mask,
            },
        );
    }

    fn gather(
        &mut self,
        to: u8,
        base: Gpr,
        addresses: &[u8],
        lanes: u8,
        narrow: bool,
        temporaries: Temporaries,
    ) {
        self.noting(
            |t| t.gather(to, base, addresses, lanes, narrow, temporaries),
            || Instr::Gather {
                to,
                base,
                addresses: addresses.into(),
                lanes,
                narrow,
                temporaries,
            },
        );
    }
}
