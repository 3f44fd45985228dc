//! Emits one Low function: structured control flow under masks.
//!
//! With several strands per call a varying `if` runs both sides, each under the mask of its lanes and only if that is not
//! empty, and blends their results; a varying `for` runs while any lane does. A mask only ever narrows towards the inside,
//! because no block is left early. With one strand per call, or where the condition is uniform, both are plain branches.

use super::{lanes::Registers, part_loops::PlaneMemory};
use crate::{
    codegen::{
        Linker, Sink, Task,
        abi::{Lanes, StatePlane, offset},
    },
    ir::status,
    low::{Low, Op, Ty, is_short, long_loops, varying},
    ssa::{Block, Function, Inst, Kind, Value},
};
use cranelift_codegen::{
    ir::{self as cl, BlockArg, InstBuilder, MemFlagsData, condcodes::IntCC, types},
    isa::CallConv,
};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A Low value in generated code.
#[derive(Clone, Debug)]
pub(super) enum Emitted {
    /// The same for all lanes.
    Uniform(cl::Value),
    /// Its parts.
    Varying(Vec<cl::Value>),
    /// Its parts, consecutive in memory: results of a primitive, loaded where they are used.
    Memory(cl::StackSlot, i32),
}

/// The state of emitting one function.
pub(super) struct Emitter<'a, 'b> {
    pub(super) b: FunctionBuilder<'b>,
    pub(super) function: &'a Function<Low>,
    pub(super) lanes: Lanes,
    pub(super) linker: &'a Linker,
    pub(super) state_planes: &'a Arc<[StatePlane]>,
    pub(super) frame: cl::Value,
    /// The lanes that run here.
    pub(super) mask: Vec<cl::Value>,
    pub(super) planes: PlaneMemory<'a>,
    varying: Vec<bool>,
    held: Vec<Option<Emitted>>,
    /// Where the lanes of the strand that was read last are, while the code of one block is emitted.
    pub(super) last_read: Option<(Value, bool, Vec<cl::Value>)>,
    /// How functions of the host are called.
    pub(super) call_conv: CallConv,
    /// The indices of loops that may take long.
    long_loops: FxHashSet<Value>,
}

/// Flags of accesses that cannot fault and need no alignment.
pub(super) const PLAIN: MemFlagsData = MemFlagsData::new().with_notrap();

/// Emits the whole body of a function into `b`, whose entry block has the frame's address as its only parameter.
pub(super) fn emit(
    mut b: FunctionBuilder<'_>,
    task: &Task<'_>,
    linker: &Linker,
    state_planes: &Arc<[StatePlane]>,
    target: cranelift_codegen::isa::TargetFrontendConfig,
) {
    let &Task {
        function, lanes, ..
    } = task;
    let varying = if lanes.width == 1 {
        vec![true; function.types.len()]
    } else {
        varying(function)
    };
    let held = vec![None; function.types.len()];
    let frame = cl::Value::from_u32(0);
    let planes = PlaneMemory::new(&mut b, function);
    let mut emitter = Emitter {
        b,
        function,
        lanes,
        linker,
        state_planes,
        frame,
        mask: Vec::new(),
        planes,
        varying,
        held,
        last_read: None,
        call_conv: target.default_call_conv,
        long_loops: long_loops(function),
    };
    let entry = emitter.b.create_block();
    emitter.b.append_block_params_for_function_params(entry);
    emitter.b.switch_to_block(entry);
    emitter.b.seal_block(entry);
    emitter.frame = emitter.b.block_params(entry)[0];
    let bits = emitter
        .b
        .ins()
        .load(types::I32, PLAIN, emitter.frame, offset::MASK);
    emitter.mask = emitter.mask_of_bits(bits);
    emitter.insts(&function.body);
    emitter.sink(&function.body.yields, &task.sink);
    emitter.b.ins().return_(&[]);
    emitter.planes.settle(&mut emitter.b);
    emitter.b.finalize(target);
}

impl<'a> Emitter<'a, '_> {
    pub(super) fn ty(&self, v: Value) -> Ty {
        *self.function.type_of(v)
    }

    pub(super) fn is_varying(&self, v: Value) -> bool {
        self.varying[v.0 as usize]
    }

    pub(super) fn held(&self, v: Value) -> Emitted {
        self.held[v.0 as usize].clone().expect("emitted before use")
    }

    pub(super) fn hold(&mut self, v: Value, held: Emitted) {
        self.held[v.0 as usize] = Some(held);
    }

    /// Keeps parts, or the scalar of a uniform value.
    pub(super) fn set(&mut self, v: Value, parts: Vec<cl::Value>) {
        let held = if self.is_varying(v) {
            Emitted::Varying(parts)
        } else {
            Emitted::Uniform(parts[0])
        };
        self.hold(v, held);
    }

    /// A value in all lanes.
    pub(super) fn parts(&mut self, v: Value) -> Vec<cl::Value> {
        match self.held(v) {
            Emitted::Uniform(value) => self.splat(self.ty(v), value),
            Emitted::Varying(parts) => parts,
            Emitted::Memory(slot, at) => {
                let part = self.lanes.part(self.ty(v));
                (0..self.lanes.parts())
                    .map(|p| {
                        self.b.ins().stack_load(
                            types::I64,
                            part,
                            slot,
                            at + p as i32 * part.bytes() as i32,
                        )
                    })
                    .collect()
            }
        }
    }

    /// A value as its own kind wants it: one scalar if uniform, else parts.
    pub(super) fn natural(&mut self, v: Value) -> Vec<cl::Value> {
        match &self.held[v.0 as usize] {
            Some(Emitted::Uniform(value)) => vec![*value],
            _ => self.parts(v),
        }
    }

    /// A value as `like` is held: operands of a varying result are spread over the lanes.
    pub(super) fn operand(&mut self, v: Value, like_varying: bool) -> Vec<cl::Value> {
        if like_varying {
            self.parts(v)
        } else {
            self.natural(v)
        }
    }

    fn insts(&mut self, block: &'a Block<Low>) {
        self.last_read = None;
        let mark = self.planes.mark();
        let mut rest = &block.insts[..];
        while !rest.is_empty() {
            let (length, is_run) = self.run_length(rest);
            let (part, beyond) = rest.split_at(length.max(1));
            rest = beyond;
            if is_run {
                self.run(part);
            } else {
                part.iter().for_each(|inst| self.inst(inst));
            }
        }
        self.last_read = None;
        self.release(mark);
    }

    fn inst(&mut self, inst: &'a Inst<Low>) {
        match &inst.kind {
            Kind::Op(op, args) => self.op(op, args, &inst.results),
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                if self.lanes.width == 1 || !self.is_varying(*condition) {
                    self.branch(&inst.results, *condition, then, otherwise);
                } else {
                    self.masked_if(&inst.results, *condition, then, otherwise);
                }
            }
            Kind::For { .. } => self.for_loop(inst),
        }
    }

    /// The types of the registers that hold `v`.
    fn registers(&self, v: Value) -> Vec<cl::Type> {
        let ty = self.ty(v);
        if self.is_varying(v) {
            vec![self.lanes.part(ty); self.lanes.parts()]
        } else {
            vec![self.lanes.scalar(ty)]
        }
    }

    /// Makes the parameters of a block hold these values.
    fn block_params(&mut self, block: cl::Block, values: &[Value]) {
        for &v in values {
            let parts = self
                .registers(v)
                .into_iter()
                .map(|ty| self.b.append_block_param(block, ty))
                .collect();
            self.set(v, parts);
        }
    }

    /// The registers of `values`, each held as the value of `like` beside it.
    fn block_args(&mut self, values: &[Value], like: &[Value]) -> Vec<BlockArg> {
        let mut args = Vec::new();
        for (&v, &l) in values.iter().zip(like) {
            let like_varying = self.is_varying(l);
            args.extend(
                self.operand(v, like_varying)
                    .into_iter()
                    .map(BlockArg::from),
            );
        }
        args
    }

    /// A condition that is one truth value.
    fn scalar_condition(&mut self, v: Value) -> cl::Value {
        self.natural(v)[0]
    }

    fn branch(
        &mut self,
        results: &[Value],
        condition: Value,
        then: &'a Block<Low>,
        otherwise: &'a Block<Low>,
    ) {
        let condition = self.scalar_condition(condition);
        let [yes, no, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(condition, yes, &[], no, &[]);
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.b.switch_to_block(block);
            self.b.seal_block(block);
            self.insts(body);
            let args = self.block_args(&body.yields, results);
            self.b.ins().jump(join, &args);
        }
        self.block_params(join, results);
        self.b.switch_to_block(join);
        self.b.seal_block(join);
    }

    fn masked_if(
        &mut self,
        results: &[Value],
        condition: Value,
        then: &'a Block<Low>,
        otherwise: &'a Block<Low>,
    ) {
        let chosen = self.parts(condition);
        let outer = self.mask.clone();
        let yes = self.zip(&outer, &chosen, |e, m, c| e.b.ins().band(m, c));
        let no = self.zip(&outer, &chosen, |e, m, c| e.b.ins().band_not(m, c));
        let a = self.under_mask(yes, then);
        let b = self.under_mask(no, otherwise);
        self.mask = outer;
        for ((&v, a), b) in results.iter().zip(a).zip(b) {
            let parts = self.blend(&chosen, &a, &b);
            self.set(v, parts);
        }
    }

    /// Runs a block under a mask, unless it is long and no lane wants it; gives the parts of its yields.
    fn under_mask(&mut self, mask: Vec<cl::Value>, block: &'a Block<Low>) -> Vec<Vec<cl::Value>> {
        self.mask.clone_from(&mask);
        if is_short(block) {
            self.insts(block);
            return block.yields.iter().map(|&v| self.parts(v)).collect();
        }
        let [run, join] = [(); 2].map(|()| self.b.create_block());
        let any = self.any(&mask);
        let mut skipped = Vec::new();
        for &v in &block.yields {
            let ty = self.ty(v);
            skipped.extend(self.zero(ty, true).into_iter().map(BlockArg::from));
        }
        self.b.ins().brif(any, run, &[], join, &skipped);
        self.b.switch_to_block(run);
        self.b.seal_block(run);
        self.insts(block);
        let mut args = Vec::new();
        for &v in &block.yields {
            args.extend(self.parts(v).into_iter().map(BlockArg::from));
        }
        self.b.ins().jump(join, &args);
        let results = block
            .yields
            .iter()
            .map(|&v| {
                let part = self.lanes.part(self.ty(v));
                (0..self.lanes.parts())
                    .map(|_| self.b.append_block_param(join, part))
                    .collect()
            })
            .collect();
        self.b.switch_to_block(join);
        self.b.seal_block(join);
        results
    }

    fn for_loop(&mut self, inst: &'a Inst<Low>) {
        let Kind::For {
            index,
            low,
            high,
            breaks,
            carried,
            init,
            body,
        } = &inst.kind
        else {
            unreachable!("called for loops only");
        };
        let masked = self.lanes.width > 1
            && (self.is_varying(*low)
                || self.is_varying(*high)
                || (*breaks && self.is_varying(carried[0])));
        let outer = self.mask.clone();
        let [head, run, exit] = [(); 3].map(|()| self.b.create_block());
        // Whether there is another round is found before the index grows, which may go around.
        let bound = self.operand(*high, masked);
        let first = self.operand(*low, masked);
        let enters = self.zip(&first, &bound, |e, i, h| {
            e.b.ins().icmp(IntCC::SignedLessThanOrEqual, i, h)
        });
        let mut args = self.block_args(&[*low], &[*index]);
        args.extend(self.block_args(init, carried));
        args.extend(enters.iter().map(|&v| BlockArg::from(v)));
        self.b.ins().jump(head, &args);
        self.block_params(head, &[*index]);
        self.block_params(head, carried);
        let mut goes_on = enters;
        for truth in &mut goes_on {
            let ty = self.b.func.dfg.value_type(*truth);
            *truth = self.b.append_block_param(head, ty);
        }
        self.b.switch_to_block(head);
        let before: Vec<Emitted> = carried
            .iter()
            .map(|v| self.held[v.0 as usize].clone().expect("just set"))
            .collect();

        if *breaks {
            let wanted = self.operand(carried[0], masked);
            goes_on = self.zip(&goes_on, &wanted, |e, a, b| e.b.ins().band(a, b));
        }
        let again = if masked {
            goes_on = self.zip(&goes_on, &outer, |e, a, b| e.b.ins().band(a, b));
            self.mask.clone_from(&goes_on);
            self.any(&goes_on)
        } else {
            goes_on[0]
        };
        self.b.ins().brif(again, run, &[], exit, &[]);

        self.b.switch_to_block(run);
        self.b.seal_block(run);
        if self.long_loops.contains(index) {
            self.leave_if_stopped();
        }
        self.insts(body);
        let counter = self.natural(*index);
        let mut args: Vec<BlockArg> = counter.iter().map(|&i| self.increment(i).into()).collect();
        for ((&v, &param), old) in body.yields.iter().zip(carried).zip(before) {
            let new = self.operand(v, matches!(old, Emitted::Varying(_)));
            // Lanes that are done keep their values.
            let next = match old {
                Emitted::Varying(old) if masked => self.blend(&goes_on, &new, &old),
                _ => new,
            };
            debug_assert_eq!(next.len(), self.registers(param).len());
            args.extend(next.into_iter().map(BlockArg::from));
        }
        let counter = self.operand(*index, masked);
        let mut more = self.zip(&counter, &bound, |e, i, h| {
            e.b.ins().icmp(IntCC::SignedLessThan, i, h)
        });
        if masked {
            more = self.zip(&more, &goes_on, |e, a, b| e.b.ins().band(a, b));
        }
        args.extend(more.into_iter().map(BlockArg::from));
        self.b.ins().jump(head, &args);
        self.b.seal_block(head);
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
        self.mask = outer;
        for (&result, &param) in inst.results.iter().zip(carried) {
            let held = self.held[param.0 as usize]
                .clone()
                .expect("the loop's parameter");
            self.hold(result, held);
        }
    }

    /// Returns if the call is to be left, without storing anything.
    fn leave_if_stopped(&mut self) {
        let flag = self
            .b
            .ins()
            .load(types::I64, PLAIN, self.frame, offset::STOP);
        let stopped = self.b.ins().load(types::I8, PLAIN, flag, 0);
        let [leave, stay] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(leave);
        self.b.ins().brif(stopped, leave, &[], stay, &[]);
        self.b.switch_to_block(leave);
        self.b.seal_block(leave);
        self.b.ins().return_(&[]);
        self.b.switch_to_block(stay);
        self.b.seal_block(stay);
    }

    fn increment(&mut self, index: cl::Value) -> cl::Value {
        let ty = self.b.func.dfg.value_type(index);
        let one = self.b.ins().iconst(ty.lane_type(), 1);
        let one = if ty.is_vector() {
            self.b.ins().splat(ty, one)
        } else {
            one
        };
        self.b.ins().iadd(index, one)
    }

    /// Stores the results of the function for the lanes that run.
    fn sink(&mut self, yields: &[Value], sink: &Sink) {
        match sink {
            Sink::State { status } => {
                let results = if *status {
                    self.store_status(yields)
                } else {
                    yields
                };
                let state = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::STATE);
                for (&v, plane) in results.iter().zip(&**self.state_planes) {
                    let new = self.parts(v);
                    let old = self.load_state(state, plane);
                    let mask = self.mask.clone();
                    let value = self.blend(&mask, &new, &old);
                    self.store_state(state, plane, &value);
                }
            }
            Sink::Globals { status, slots } => {
                let results = if *status {
                    self.store_status(yields)
                } else {
                    yields
                };
                let globals = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::GLOBALS);
                // Variables that do not change are not stored, and constants are made where they are stored: many live values slow
                // down a code generator.
                let unchanged: FxHashMap<Value, u32> = self
                    .function
                    .body
                    .insts
                    .iter()
                    .filter_map(|inst| match &inst.kind {
                        Kind::Op(Op::Global(slot, _), _) => Some((inst.results[0], *slot)),
                        _ => None,
                    })
                    .collect();
                let changed = |(v, slot): &(&Value, &u32)| unchanged.get(v) != Some(slot);
                for (&v, &slot) in results.iter().zip(slots).filter(changed) {
                    let value = match self.planes.constant(v) {
                        Some(op) => self.scalar_constant(op),
                        None => self.natural(v)[0],
                    };
                    self.b.ins().store(PLAIN, value, globals, slot as i32 * 8);
                }
            }
            Sink::Results => {
                let results = self
                    .b
                    .ins()
                    .load(types::I64, PLAIN, self.frame, offset::RESULTS);
                let mut at = 0;
                for &v in yields {
                    let (ty, parts) = (self.ty(v), self.parts(v));
                    self.store_plane(results, at as i32, ty, &parts);
                    at += self.lanes.plane_bytes(ty);
                }
            }
        }
    }

    /// Tells the frame which lanes stabilize and which die; gives the other results.
    fn store_status<'v>(&mut self, yields: &'v [Value]) -> &'v [Value] {
        let ended = self.parts(yields[0]);
        for (code, at) in [
            (status::STABILIZE, offset::STABLE),
            (status::DIE, offset::DEAD),
        ] {
            let int = self.lanes.scalar(Ty::Int);
            let wanted = self.b.ins().iconst(int, code);
            let wanted = self.splat(Ty::Int, wanted);
            let same = self.zip(&ended, &wanted, |e, a, b| {
                e.b.ins().icmp(IntCC::Equal, a, b)
            });
            let mask = self.mask.clone();
            let lanes = self.zip(&same, &mask, |e, a, b| e.b.ins().band(a, b));
            let bits = self.mask_bits(&lanes);
            self.b.ins().store(PLAIN, bits, self.frame, at);
        }
        &yields[1..]
    }
}
