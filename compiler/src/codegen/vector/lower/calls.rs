//! Lowers what the runtime does: primitives, prints and reports of run-time errors.

use super::Lowering;
use crate::{
    codegen::vector::{
        Width, divide,
        tree::{Argument, Base, Call, Class, Compare, Home, Kind, MemoryPlace, Op, Val},
    },
    ir::{Orders, Simple, leaf::Convolution, print_piece::Piece},
    low::{self, Ty},
    ssa::Value,
};
use ein_ir::ops::Border;
use runtime::abi::FailureKind;
use std::sync::Arc;

impl Lowering<'_> {
    /// The values as planes: truth values are words.
    pub(super) fn words(&mut self, values: &[Value]) -> Vec<Val> {
        values.iter().map(|&v| self.word(v)).collect()
    }

    /// Appends a call for the lanes that run here, and keeps its results.
    pub(super) fn call(
        &mut self,
        function: usize,
        arguments: Vec<Argument>,
        args: &[Value],
        results: &[Value],
        effect: bool,
    ) {
        self.call_as(Kind::Call, function, arguments, (args, results), effect);
    }

    /// Appends a kind of call.
    fn call_as(
        &mut self,
        kind: impl FnOnce(Box<Call>) -> Kind,
        function: usize,
        arguments: Vec<Argument>,
        (args, results): (&[Value], &[Value]),
        effect: bool,
    ) {
        let values = self.words(args);
        let planes: Vec<Val> = results
            .iter()
            .map(|_| self.values.make(Class::Vector, Home::None))
            .collect();
        let call = Box::new(Call {
            function,
            arguments,
            lanes: self.active,
            values,
            results: planes.clone(),
            effect,
        });
        self.push(kind(call));
        for (&v, plane) in results.iter().zip(planes) {
            let val = self.typed(plane, self.ty(v));
            self.set(v, val);
        }
    }

    /// A primitive `fn(args, out)`.
    pub(super) fn primitive(
        &mut self,
        function: usize,
        args: &[Value],
        results: &[Value],
    ) -> Result<(), String> {
        let arguments = vec![Argument::Values, Argument::Results(0)];
        self.call(function, arguments, args, results, false);
        Ok(())
    }

    /// An operation on a mesh.
    pub(super) fn fem(&mut self, op: &low::Op, args: &[Value], results: &[Value]) {
        let call = self.linker.fem_call(op, self.machine.lanes);
        let call = call.expect("an operation on a mesh");
        let function = self.linker.fem();
        let arguments = host_arguments(call);
        self.call(function, arguments, args, results, false);
    }

    pub(super) fn eigen(&mut self, n: u8, args: &[Value], results: &[Value]) -> Result<(), String> {
        let function = self.linker.eigen(n, self.machine.lanes);
        let vectors = Argument::Results(usize::from(n));
        let arguments = vec![Argument::Values, Argument::Results(0), vectors];
        self.call(function, arguments, args, results, false);
        Ok(())
    }

    pub(super) fn probe(
        &mut self,
        field: &Arc<Convolution>,
        orders: Orders,
        args: &[Value],
        results: &[Value],
    ) {
        let (function, kernel) = self.linker.probe(field, orders, self.machine.lanes);
        let arguments = vec![
            Argument::Field(self.linker.field_index(field)),
            Argument::Number(kernel as u64),
            Argument::Lanes,
            Argument::Values,
            Argument::Results(0),
        ];
        if self.is_done_in_place(field, orders) {
            self.make_one();
            let inside = self.is_inside(field.image, args);
            let kind = |call| Kind::Tent { call, inside };
            self.call_as(kind, function, arguments, (args, results), false);
        } else {
            self.call(function, arguments, args, results, false);
        }
    }

    /// The place of a time among frames.
    pub(super) fn frame(&mut self, field: &Convolution, args: &[Value], results: &[Value]) {
        let place = self.linker.field_index(field);
        let function = self.linker.frame(self.machine.lanes);
        self.look_up(function, place, (args, results), false);
    }

    /// The extremes of the samples in a box.
    pub(super) fn extremes(&mut self, field: &Convolution, args: &[Value], results: &[Value]) {
        let place = self.linker.field_index(field);
        let function = self.linker.extremes(self.machine.lanes);
        self.look_up(function, place, (args, results), false);
    }

    /// Takes notice of a coordinate.
    pub(super) fn ask(&mut self, field: &Convolution, axis: u8, args: &[Value]) {
        let place = self.linker.field_index(field);
        let function = self.linker.ask(self.machine.lanes, axis);
        self.look_up(function, place, (args, &[]), true);
    }

    /// What bounds tell about a comparison.
    pub(super) fn decide(&mut self, comparison: u32, args: &[Value], results: &[Value]) {
        let place = self.linker.decision_index(comparison);
        let function = self.linker.decide(self.machine.lanes);
        self.look_up(function, place, (args, results), false);
    }

    /// Calls a primitive `fn(table, lanes, args, out)`, with a place in the frame's table of fields and decisions.
    fn look_up(
        &mut self,
        function: usize,
        place: usize,
        (args, results): (&[Value], &[Value]),
        effect: bool,
    ) {
        let arguments = vec![
            Argument::Field(place),
            Argument::Lanes,
            Argument::Values,
            Argument::Results(0),
        ];
        self.call(function, arguments, args, results, effect);
    }

    /// Whether a position is known to be inside an image where code runs: between the first and the last sample of every
    /// axis.
    fn is_inside(&mut self, image: u32, position: &[Value]) -> bool {
        let first = self.real(0.0);
        position.iter().enumerate().all(|(axis, &x)| {
            let x = self.get(x);
            let is_end = |v: Val| match self.values.home(v) {
                Home::Broadcast(MemoryPlace {
                    base: Base::Globals,
                    at,
                }) => self.ends.is_end(at as u32 / 8, image, axis),
                _ => false,
            };
            let below = |[a, b]: [Val; 2]| (a == x && is_end(b), a == first && b == x);
            let bounds = self.known_to_be_less().map(below);
            let (before, after) = bounds.fold((false, false), |a, b| (a.0 | b.0, a.1 | b.1));
            before && after
        })
    }

    /// Whether a probe interpolates linearly, and pairs of samples can be loaded.
    fn is_done_in_place(&self, field: &Convolution, orders: Orders) -> bool {
        self.machine.width == Width::Zmm
            && !self.machine.lanes.double
            && orders == Orders(1)
            && field.time.is_none()
            && field.border == Border::Clamp
            && field.shape.is_scalar()
            && field.dim() > 1
            && field.kernels.iter().all(|kernel| kernel.0.name == "tent")
    }

    fn make_one(&mut self) {
        if self.one.is_none() {
            self.one = Some(self.constants.words(&[1f32.to_bits()]));
        }
    }

    pub(super) fn print(&mut self, pieces: &Arc<[Piece]>, args: &[Value]) {
        let statement = self.linker.pieces(pieces, self.machine.lanes);
        let arguments = vec![
            Argument::Frame,
            Argument::Lanes,
            Argument::Number(statement as u64),
            Argument::Values,
        ];
        let function = self.linker.print();
        self.call(function, arguments, args, &[], true);
    }

    /// Integer quotient or remainder.
    pub(super) fn divide(&mut self, args: &[Value], place: u32, quotient: bool) -> Val {
        let [dividend, divisor] = [0, 1].map(|n| self.get(args[n]));
        let zero = self.constant(0);
        let none = self.op(Op::Compare(Compare::IntEqual), &[divisor, zero]);
        let wrong = self.and(none, self.active, [false; 2]);
        self.report(wrong, FailureKind::DivisionByZero, place, args);
        if self.machine.lanes.long_int {
            let result = self.values.make(Class::Vector, Home::None);
            self.push(Kind::Call(Box::new(Call {
                function: divide::function(self.machine.lanes, quotient),
                arguments: vec![Argument::Values, Argument::Results(0)],
                lanes: self.active,
                values: vec![dividend, divisor],
                results: vec![result],
                effect: false,
            })));
            return result;
        }
        // After the report, whatever was divided by zero is divided by one.
        let one = self.int(1);
        let divisor = self.op(Op::Select, &[none, one, divisor]);
        let whole = self.quotient(dividend, divisor);
        if quotient {
            return whole;
        }
        let product = self.product(whole, divisor);
        self.simple(Simple::IntSub, &[dividend, product], [false; 2])
    }

    /// Reports an index that is not below the length of its sequence.
    pub(super) fn check_index(&mut self, args: &[Value], place: u32) {
        let [index, length] = [0, 1].map(|n| self.get(args[n]));
        let zero = self.constant(0);
        let below = self.op(Op::Compare(Compare::IntLess), &[index, zero]);
        let above = self.op(Op::Compare(Compare::IntLessEqual), &[length, index]);
        let outside = self.or(below, above);
        let wrong = self.and(outside, self.active, [false; 2]);
        self.report(wrong, FailureKind::IndexOutOfRange, place, args);
    }

    /// Tells the host of a run-time error, if any lane has one.
    fn report(&mut self, wrong: Val, kind: FailureKind, place: u32, details: &[Value]) {
        debug_assert!(details.iter().all(|&v| self.ty(v) == Ty::Int));
        let values = self.words(details);
        let call = Call {
            function: self.linker.report(),
            arguments: vec![
                Argument::Frame,
                Argument::Lanes,
                Argument::Number(kind as u64),
                Argument::Number(place.into()),
                Argument::Values,
            ],
            lanes: wrong,
            values,
            results: Vec::new(),
            effect: true,
        };
        self.push(Kind::Report(Box::new(call)));
    }
}

/// What a function of the host is given: the frame, the lanes, a description by address, and planes.
pub(super) fn host_arguments(call: usize) -> Vec<Argument> {
    vec![
        Argument::Frame,
        Argument::Lanes,
        Argument::Number(call as u64),
        Argument::Values,
        Argument::Results(0),
    ]
}
