//! Emits single Low operations.

use super::{
    emit::{Emitted, Emitter, PLAIN},
    lanes::Registers,
};
use crate::{
    codegen::abi::{images::cell, offset},
    ir::{Orders, Simple, leaf::Convolution, print_piece::Piece},
    low::{Op, Ty},
    ssa::Value,
};
use cranelift_codegen::ir::{
    self as cl, AbiParam, InstBuilder, StackSlotData, StackSlotKind,
    condcodes::{FloatCC, IntCC},
    types,
};
use ein_ir::Elementary;
use runtime::abi::FailureKind;
use std::sync::Arc;

impl Emitter<'_, '_> {
    /// Emits an operation and keeps its results.
    pub(super) fn op(&mut self, op: &Op, args: &[Value], results: &[Value]) {
        let parts = match op {
            Op::Real(_) | Op::Int(_) | Op::Bool(_) => vec![self.scalar_constant(op)],
            Op::Str(text) => {
                let id = self.linker.string(text);
                vec![self.int(id)]
            }
            Op::Global(slot, ty) => {
                let globals = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::GLOBALS);
                let scalar = self.lanes.scalar(*ty);
                vec![self.b.ins().load(scalar, PLAIN, globals, *slot as i32 * 8)]
            }
            Op::Image(image, info) => {
                let images = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::IMAGES);
                let ty = if info.is_int() { Ty::Int } else { Ty::Real };
                let scalar = self.lanes.scalar(ty);
                vec![
                    self.b
                        .ins()
                        .load(scalar, PLAIN, images, cell(*image, *info) as i32 * 8),
                ]
            }
            Op::State(slot, _) => {
                let state = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::STATE);
                let plane = self.state_planes[*slot as usize];
                self.load_state(state, &plane)
            }
            Op::Arg(slot, ty) => {
                let planes = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::ARGS);
                self.load_plane(planes, (*slot as usize * self.lanes.width * 8) as i32, *ty)
            }
            Op::Simple(simple) => self.simple(*simple, args, results[0]),
            Op::Math(function) => self.math(*function, args, results[0]),
            Op::Select(_) => {
                let varying = self.is_varying(results[0]);
                let [c, a, b] = [0, 1, 2].map(|n| self.operand(args[n], varying));
                if varying {
                    self.blend(&c, &a, &b)
                } else {
                    vec![self.b.ins().select(c[0], a[0], b[0])]
                }
            }
            Op::IntDiv(place) => self.divide(args, results[0], *place, true),
            Op::IntRem(place) => self.divide(args, results[0], *place, false),
            Op::Probe(field, orders) => return self.probe(field, *orders, args, results),
            Op::Frame(field) => return self.frame_of_time(field, args, results),
            Op::Extremes(field) => return self.extremes(field, args, results),
            Op::Ask(field, axis) => return self.ask(field, *axis, args),
            Op::Decide(comparison, _) => return self.decide(*comparison, args, results),
            Op::Locate(..) | Op::CellNumber(_) | Op::FemProbe(_) => {
                let call = self.linker.fem_call(op, self.lanes);
                let call = call.expect("an operation on a mesh");
                let function = self.linker.fem();
                return self.host_call(function, call, args, results);
            }
            Op::Eigen(n) => {
                let primitive = self.linker.eigen(*n, self.lanes);
                let matrix = self.store_args(args);
                let out = self.slot(results.len());
                let vectors = usize::from(*n) * self.lanes.width * self.lanes.bytes();
                let matrix = self.b.ins().stack_addr(types::I64, matrix, 0);
                let values = self.b.ins().stack_addr(types::I64, out, 0);
                let vectors = self.b.ins().stack_addr(types::I64, out, vectors as i32);
                self.call(primitive, &[matrix, values, vectors]);
                return self.hold_results(out, results);
            }
            Op::Print(pieces) => return self.print(pieces, args),
            Op::Dynamic(dynamic) => return self.dynamic(dynamic, args, results),
            Op::CheckIndex(place) => return self.check_index(args, *place),
        };
        self.set(results[0], parts);
    }

    /// The value of a number or a truth value.
    pub(super) fn scalar_constant(&mut self, op: &Op) -> cl::Value {
        match op {
            Op::Real(bits) => self.real(bits.get()),
            Op::Int(n) => self.int(*n),
            Op::Bool(b) => self.b.ins().iconst(types::I8, i64::from(*b)),
            _ => unreachable!("called for constants only"),
        }
    }

    pub(super) fn real(&mut self, x: f64) -> cl::Value {
        if self.lanes.double {
            self.b.ins().f64const(x)
        } else {
            self.b.ins().f32const(x as f32)
        }
    }

    pub(super) fn int(&mut self, n: i64) -> cl::Value {
        let ty = self.lanes.scalar(Ty::Int);
        let n = if self.lanes.long_int {
            n
        } else {
            i64::from(n as i32)
        };
        self.b.ins().iconst(ty, n)
    }

    fn simple(&mut self, op: Simple, args: &[Value], result: Value) -> Vec<cl::Value> {
        let varying = self.is_varying(result);
        let operands: Vec<Vec<cl::Value>> =
            args.iter().map(|&v| self.operand(v, varying)).collect();
        (0..operands[0].len())
            .map(|p| {
                let a = operands[0][p];
                let b = operands.get(1).map_or(a, |parts| parts[p]);
                self.simple_part(op, a, b, varying)
            })
            .collect()
    }

    /// One part of an operation; operations of one operand take it twice.
    pub(super) fn simple_part(
        &mut self,
        op: Simple,
        a: cl::Value,
        b: cl::Value,
        varying: bool,
    ) -> cl::Value {
        // With masks a truth value is all ones, as a byte it is one.
        let one_bit = !varying || self.lanes.width == 1;
        let ins = self.b.ins();
        match op {
            Simple::Add => ins.fadd(a, b),
            Simple::Sub => ins.fsub(a, b),
            Simple::Mul => ins.fmul(a, b),
            Simple::Div => ins.fdiv(a, b),
            Simple::Neg => ins.fneg(a),
            Simple::Less => ins.fcmp(FloatCC::LessThan, a, b),
            Simple::LessEqual => ins.fcmp(FloatCC::LessThanOrEqual, a, b),
            Simple::Equal => ins.fcmp(FloatCC::Equal, a, b),
            Simple::IntAdd => {
                let n = ins.iadd(a, b);
                self.wrap(n)
            }
            Simple::IntSub => {
                let n = ins.isub(a, b);
                self.wrap(n)
            }
            Simple::IntMul => {
                let n = ins.imul(a, b);
                self.wrap(n)
            }
            Simple::IntNeg => {
                let n = ins.ineg(a);
                self.wrap(n)
            }
            Simple::IntLess => ins.icmp(IntCC::SignedLessThan, a, b),
            Simple::IntLessEqual => ins.icmp(IntCC::SignedLessThanOrEqual, a, b),
            Simple::IntEqual | Simple::StrEqual => ins.icmp(IntCC::Equal, a, b),
            Simple::ToReal => {
                let real = if one_bit {
                    self.lanes.scalar(Ty::Real)
                } else {
                    self.lanes.part(Ty::Real)
                };
                ins.fcvt_from_sint(real, a)
            }
            Simple::And => ins.band(a, b),
            Simple::Or => ins.bor(a, b),
            Simple::Not if one_bit => ins.bxor_imm_u(a, 1),
            Simple::Not => ins.bnot(a),
        }
    }

    /// Keeps 32-bit integers that live in 64-bit lanes in their range.
    fn wrap(&mut self, n: cl::Value) -> cl::Value {
        let lane = self.b.func.dfg.value_type(n).lane_type();
        if lane == types::I64 && !self.lanes.long_int {
            let high = self.b.ins().ishl_imm_u(n, 32);
            self.b.ins().sshr_imm_u(high, 32)
        } else {
            n
        }
    }

    fn math(&mut self, function: Elementary, args: &[Value], result: Value) -> Vec<cl::Value> {
        let varying = self.is_varying(result);
        if let Some(parts) = self.native_math(function, args, varying) {
            return parts;
        }
        let primitive = self.linker.math(function, self.lanes);
        let slot = self.call_primitive(primitive, args, 1);
        let part = self.lanes.part(Ty::Real);
        if varying {
            (0..self.lanes.parts())
                .map(|p| {
                    self.b.ins().stack_load(
                        types::I64,
                        part,
                        slot,
                        (p as u32 * part.bytes()) as i32,
                    )
                })
                .collect()
        } else {
            let scalar = self.lanes.scalar(Ty::Real);
            vec![self.b.ins().stack_load(types::I64, scalar, slot, 0)]
        }
    }

    /// Functions that the machine computes itself.
    fn native_math(
        &mut self,
        function: Elementary,
        args: &[Value],
        varying: bool,
    ) -> Option<Vec<cl::Value>> {
        if !function.def().native {
            return None;
        }
        let parts = self.operand(args[0], varying).into_iter();
        Some(
            parts
                .map(|x| self.native_part(function, x, varying))
                .collect(),
        )
    }

    /// One part of a function that the machine computes itself.
    pub(super) fn native_part(
        &mut self,
        function: Elementary,
        x: cl::Value,
        varying: bool,
    ) -> cl::Value {
        match function {
            Elementary::Sqrt => self.b.ins().sqrt(x),
            Elementary::Abs => self.b.ins().fabs(x),
            Elementary::Floor => self.b.ins().floor(x),
            Elementary::Ceil => self.b.ins().ceil(x),
            Elementary::Trunc => self.b.ins().trunc(x),
            Elementary::Sign => {
                let [one, minus, zero] = [1.0, -1.0, 0.0].map(|x| {
                    let scalar = self.real(x);
                    if varying {
                        self.splat(Ty::Real, scalar)[0]
                    } else {
                        scalar
                    }
                });
                let positive = self.b.ins().fcmp(FloatCC::LessThan, zero, x);
                let negative = self.b.ins().fcmp(FloatCC::LessThan, x, zero);
                // Zero and NaN give themselves, so that a NaN is not lost.
                let below = self.select_part(negative, minus, x, varying);
                self.select_part(positive, one, below, varying)
            }
            _ => unreachable!("{function:?} is a primitive"),
        }
    }

    /// One part of a selection.
    pub(super) fn select_part(
        &mut self,
        condition: cl::Value,
        a: cl::Value,
        b: cl::Value,
        varying: bool,
    ) -> cl::Value {
        if varying {
            self.blend(&[condition], &[a], &[b])[0]
        } else {
            self.b.ins().select(condition, a, b)
        }
    }

    fn divide(
        &mut self,
        args: &[Value],
        result: Value,
        place: u32,
        quotient: bool,
    ) -> Vec<cl::Value> {
        let varying = self.is_varying(result);
        let int = self.lanes.scalar(Ty::Int);
        let (a, b) = (self.parts(args[0]), self.parts(args[1]));
        let zero = self.zero(Ty::Int, true);
        let none = self.zip(&b, &zero, |e, x, z| e.b.ins().icmp(IntCC::Equal, x, z));
        let mask = self.mask.clone();
        let wrong = self.zip(&none, &mask, |e, x, m| e.b.ins().band(x, m));
        self.report(
            &wrong,
            FailureKind::DivisionByZero,
            place,
            &[args[0], args[1]],
        );
        let (a, b) = (self.extract(&a), self.extract(&b));
        let lanes: Vec<cl::Value> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| {
                // Dividing by 0 was reported; dividing by −1 could overflow: both go another way.
                let [zero, one, minus] = [0, 1, -1].map(|n| self.b.ins().iconst(int, n));
                let is_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
                let is_minus = self.b.ins().icmp(IntCC::Equal, b, minus);
                let odd = self.b.ins().bor(is_zero, is_minus);
                let divisor = self.b.ins().select(odd, one, b);
                if quotient {
                    let q = self.b.ins().sdiv(a, divisor);
                    let negated = self.b.ins().ineg(a);
                    let negated = self.wrap(negated);
                    self.b.ins().select(is_minus, negated, q)
                } else {
                    self.b.ins().srem(a, divisor)
                }
            })
            .collect();
        if varying {
            self.gather(Ty::Int, &lanes)
        } else {
            vec![lanes[0]]
        }
    }

    /// Reports an index that is not below the length of its sequence.
    fn check_index(&mut self, args: &[Value], place: u32) {
        let (index, length) = (self.parts(args[0]), self.parts(args[1]));
        let zero = self.zero(Ty::Int, true);
        let below = self.zip(&index, &zero, |e, i, z| {
            e.b.ins().icmp(IntCC::SignedLessThan, i, z)
        });
        let above = self.zip(&index, &length, |e, i, n| {
            e.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, n)
        });
        let outside = self.zip(&below, &above, |e, a, b| e.b.ins().bor(a, b));
        let mask = self.mask.clone();
        let wrong = self.zip(&outside, &mask, |e, x, m| e.b.ins().band(x, m));
        self.report(&wrong, FailureKind::IndexOutOfRange, place, args);
    }

    /// Tells the host of a run-time error, if any lane has one.
    fn report(&mut self, wrong: &[cl::Value], kind: FailureKind, place: u32, details: &[Value]) {
        let bits = self.mask_bits(wrong);
        let [report, on] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().brif(bits, report, &[], on, &[]);
        self.b.switch_to_block(report);
        self.b.seal_block(report);
        let details = self.store_args(details);
        let details = self.b.ins().stack_addr(types::I64, details, 0);
        let [kind, place] =
            [kind as u32, place].map(|n| self.b.ins().iconst(types::I32, i64::from(n)));
        let address = self.linker.report();
        self.call(address, &[self.frame, bits, kind, place, details]);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
    }

    fn probe(
        &mut self,
        field: &Arc<Convolution>,
        orders: Orders,
        args: &[Value],
        results: &[Value],
    ) {
        let (primitive, kernel) = self.linker.probe(field, orders, self.lanes);
        let positions = self.store_args(args);
        let out = self.slot(results.len());
        let image = self.image_of(field);
        let kernel = self.b.ins().iconst(types::I64, kernel as i64);
        let bits = self.lanes_of(results);
        let positions = self.b.ins().stack_addr(types::I64, positions, 0);
        let room = self.b.ins().stack_addr(types::I64, out, 0);
        self.call(primitive, &[image, kernel, bits, positions, room]);
        self.hold_results(out, results);
    }

    /// The place of a time among frames.
    fn frame_of_time(&mut self, field: &Convolution, args: &[Value], results: &[Value]) {
        let image = self.image_of(field);
        self.look_up(self.linker.frame(self.lanes), image, args, results);
    }

    /// The extremes of the samples in a box.
    fn extremes(&mut self, field: &Convolution, args: &[Value], results: &[Value]) {
        let image = self.image_of(field);
        self.look_up(self.linker.extremes(self.lanes), image, args, results);
    }

    /// Takes notice of a coordinate.
    fn ask(&mut self, field: &Convolution, axis: u8, args: &[Value]) {
        let image = self.image_of(field);
        self.look_up(self.linker.ask(self.lanes, axis), image, args, &[]);
    }

    /// What bounds tell about a comparison.
    fn decide(&mut self, comparison: u32, args: &[Value], results: &[Value]) {
        let table = self.at_place(self.linker.decision_index(comparison));
        self.look_up(self.linker.decide(self.lanes), table, args, results);
    }

    /// Calls a primitive `fn(table, lanes, args, out)`.
    fn look_up(&mut self, primitive: usize, table: cl::Value, args: &[Value], results: &[Value]) {
        let values = self.store_args(args);
        let out = self.slot(results.len());
        let bits = self.lanes_of(results);
        let values = self.b.ins().stack_addr(types::I64, values, 0);
        let room = self.b.ins().stack_addr(types::I64, out, 0);
        self.call(primitive, &[table, bits, values, room]);
        self.hold_results(out, results);
    }

    /// The address of the image of a field.
    fn image_of(&mut self, field: &Convolution) -> cl::Value {
        self.at_place(self.linker.field_index(field))
    }

    /// An address in the frame's table of fields and decisions.
    fn at_place(&mut self, index: usize) -> cl::Value {
        let fields = self
            .b
            .ins()
            .load(types::I64, PLAIN, self.frame, offset::FIELDS);
        self.b
            .ins()
            .load(types::I64, PLAIN, fields, index as i32 * 8)
    }

    /// The lanes for which a call computes results: those that run, or the first, which need not run, if the results are
    /// the same for all.
    pub(super) fn lanes_of(&mut self, results: &[Value]) -> cl::Value {
        if results.iter().any(|&v| !self.is_varying(v)) {
            return self.b.ins().iconst(types::I32, 1);
        }
        let mask = self.mask.clone();
        self.mask_bits(&mask)
    }

    /// Calls a primitive `fn(args, out)` on planes of reals; gives the planes of its results.
    fn call_primitive(&mut self, address: usize, args: &[Value], results: usize) -> cl::StackSlot {
        let input = self.store_args(args);
        let out = self.slot(results);
        let input = self.b.ins().stack_addr(types::I64, input, 0);
        let room = self.b.ins().stack_addr(types::I64, out, 0);
        self.call(address, &[input, room]);
        out
    }

    fn hold_results(&mut self, out: cl::StackSlot, results: &[Value]) {
        let plane = (self.lanes.width * self.lanes.bytes()) as i32;
        for (n, &v) in results.iter().enumerate() {
            let at = n as i32 * plane;
            if self.is_varying(v) {
                self.hold(v, Emitted::Memory(out, at));
            } else {
                let scalar = self.lanes.scalar(Ty::Real);
                let value = self.b.ins().stack_load(types::I64, scalar, out, at);
                self.hold(v, Emitted::Uniform(value));
            }
        }
    }

    /// Room for planes of reals.
    fn slot(&mut self, planes: usize) -> cl::StackSlot {
        self.sized_slot(planes * self.lanes.width * self.lanes.bytes())
    }

    pub(super) fn sized_slot(&mut self, size: usize) -> cl::StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(
            StackSlotKind::ExplicitSlot,
            size.max(8) as u32,
            6,
        ))
    }

    /// Stores arguments as consecutive planes of lanes.
    pub(super) fn store_args(&mut self, args: &[Value]) -> cl::StackSlot {
        let types = args.iter().map(|&v| self.ty(v));
        let slot = self.sized_slot(types.map(|ty| self.lanes.plane_bytes(ty)).sum());
        let mut at = 0;
        for &v in args {
            let ty = self.ty(v);
            let parts = self.parts(v);
            let base = self.b.ins().stack_addr(types::I64, slot, 0);
            self.store_plane(base, at as i32, ty, &parts);
            at += self.lanes.plane_bytes(ty);
        }
        slot
    }

    fn print(&mut self, pieces: &Arc<[Piece]>, args: &[Value]) {
        let slot = self.store_args(args);
        let mask = self.mask.clone();
        let bits = self.mask_bits(&mask);
        let pieces = self.linker.pieces(pieces, self.lanes);
        let pieces = self.b.ins().iconst(types::I64, pieces as i64);
        let values = self.b.ins().stack_addr(types::I64, slot, 0);
        let address = self.linker.print();
        self.call(address, &[self.frame, bits, pieces, values]);
    }

    pub(super) fn call(&mut self, address: usize, args: &[cl::Value]) {
        let mut signature = cl::Signature::new(self.call_conv);
        for &arg in args {
            signature
                .params
                .push(AbiParam::new(self.b.func.dfg.value_type(arg)));
        }
        let signature = self.b.import_signature(signature);
        let callee = self.b.ins().iconst(types::I64, address as i64);
        self.b.ins().call_indirect(signature, callee, args);
    }

    /// Loads a plane of lanes. With one lane a truth value in memory is a word.
    pub(super) fn load_plane(&mut self, base: cl::Value, at: i32, ty: Ty) -> Vec<cl::Value> {
        if self.lanes.width == 1 && ty == Ty::Bool {
            let word = self
                .b
                .ins()
                .load(self.lanes.scalar(Ty::Int), PLAIN, base, at);
            return vec![self.b.ins().icmp_imm_s(IntCC::NotEqual, word, 0)];
        }
        let part = self.lanes.part(ty);
        (0..self.lanes.parts())
            .map(|p| {
                self.b
                    .ins()
                    .load(part, PLAIN, base, at + (p as u32 * part.bytes()) as i32)
            })
            .collect()
    }

    /// Stores a plane of lanes.
    pub(super) fn store_plane(&mut self, base: cl::Value, at: i32, ty: Ty, parts: &[cl::Value]) {
        if self.lanes.width == 1 && ty == Ty::Bool {
            let word = self.b.ins().uextend(self.lanes.scalar(Ty::Int), parts[0]);
            let word = self.b.ins().ineg(word);
            self.b.ins().store(PLAIN, word, base, at);
            return;
        }
        for (p, &part) in parts.iter().enumerate() {
            let bytes = self.b.func.dfg.value_type(part).bytes() as i32;
            self.b.ins().store(PLAIN, part, base, at + p as i32 * bytes);
        }
    }
}
