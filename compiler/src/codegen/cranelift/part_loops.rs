//! Emits runs of arithmetic as loops over the parts of values.
//!
//! One instruction for each part of every operation makes code that takes long to compile and has several times as many
//! values as there are registers. So operations that work lane by lane and follow each other are emitted once, for one part,
//! in a loop over the parts. The arguments and results of such a run are in memory, a plane of lanes per value. Inside, values stay
//! in registers while these suffice; then the one whose next use is farthest goes to memory. The code generator, whose
//! time grows faster than the length of code it has to find registers for, thus has little left to decide.

use super::{
    emit::{Emitted, Emitter, PLAIN},
    lanes::Registers,
};
use crate::{
    codegen::abi::offset,
    low::{Low, Op, Ty},
    ssa::{Block, Dialect, Function, Inst, Kind, Value},
};
use cranelift_codegen::ir::{
    self as cl, BlockArg, InstBuilder, StackSlotData, StackSlotKind, condcodes::IntCC, types,
};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::{FxHashMap, FxHashSet};

/// Runs shorter than this are emitted part by part: the loop would cost more than it saves.
const SHORTEST: usize = 8;
/// The same where values have one part only, and just the choice of registers is gained.
const SHORTEST_OF_ONE_PART: usize = 64;
/// Values kept in registers; the machine has 16, and some operations need one or two of their own.
const REGISTERS: usize = 12;

/// Facts about a function's values, and the memory for runs.
pub(super) struct PlaneMemory<'a> {
    /// The operations that define constants.
    constants: FxHashMap<Value, &'a Op>,
    /// How often each value is used.
    uses: Vec<usize>,
    /// Memory for planes; those of a block are free again when it ends.
    slot: cl::StackSlot,
    next: usize,
    most: usize,
    /// Memory for parts without a register, reused by every run.
    scratch: cl::StackSlot,
    most_scratch: usize,
    /// Values that were moved to planes in the open blocks, and how they were held before.
    moved: Vec<(Value, Emitted)>,
}

impl<'a> PlaneMemory<'a> {
    pub(super) fn new(b: &mut FunctionBuilder<'_>, function: &'a Function<Low>) -> PlaneMemory<'a> {
        let mut slot = || {
            b.create_sized_stack_slot(StackSlotData::new(
                StackSlotKind::ExplicitSlot,
                0,
                ALIGNMENT,
            ))
        };
        let (planes, scratch) = (slot(), slot());
        let mut found = PlaneMemory {
            constants: FxHashMap::default(),
            uses: vec![0; function.types.len()],
            slot: planes,
            next: 0,
            most: 0,
            scratch,
            most_scratch: 0,
            moved: Vec::new(),
        };
        found.look_at(&function.body);
        found
    }

    fn look_at(&mut self, block: &'a Block<Low>) {
        for inst in &block.insts {
            match &inst.kind {
                Kind::Op(op @ (Op::Real(_) | Op::Int(_) | Op::Bool(_)), _) => {
                    self.constants.insert(inst.results[0], op);
                }
                Kind::Op(_, args) => self.count(args),
                kind @ (Kind::If { .. } | Kind::For { .. }) => {
                    self.count(&kind.operands());
                    for block in kind.blocks() {
                        self.look_at(block);
                    }
                }
            }
        }
        self.count(&block.yields);
    }

    fn count(&mut self, values: &[Value]) {
        for v in values {
            self.uses[v.0 as usize] += 1;
        }
    }

    /// The operation that defines a value, if it is a constant.
    pub(super) fn constant(&self, v: Value) -> Option<&'a Op> {
        self.constants.get(&v).copied()
    }

    /// Where the open block's planes begin and which values it moved, to be given back at its end.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.next, self.moved.len())
    }

    /// Makes room for all planes and scratch memory that were asked for.
    pub(super) fn settle(&self, b: &mut FunctionBuilder<'_>) {
        b.func.sized_stack_slots[self.slot].size = self.most as u32;
        b.func.sized_stack_slots[self.scratch].size = self.most_scratch as u32;
    }
}

/// Memory is aligned to the length of a cache line, as a power of two.
const ALIGNMENT: u8 = 6;
/// Bytes between parts in scratch memory.
const PART: usize = 16;

/// An operation of a run.
struct Step<'a> {
    op: &'a Op,
    args: &'a [Value],
    result: Value,
}

/// The place of a value of a run, other than a register.
#[derive(Clone, Copy)]
enum Storage<'a> {
    /// It is a constant.
    Constant(&'a Op),
    /// A plane of lanes on the stack.
    Plane(cl::StackSlot, i32),
    /// A plane of the strands' state.
    State(i32),
    /// The same part for the whole run, in scratch memory.
    Fixed(i32),
    /// A part that did not find a register, in scratch memory.
    Scratch(i32),
}

/// The state of emitting a run.
#[derive(Default)]
struct Run<'a> {
    storage: FxHashMap<Value, Storage<'a>>,
    /// The steps at which a value is used, the next one last.
    uses: FxHashMap<Value, Vec<usize>>,
    registers: Vec<(Value, cl::Value)>,
    scratch: usize,
    free: Vec<i32>,
    /// Distance of the current part from the first, if there are several.
    offset: Option<cl::Value>,
    /// The current part of the first plane of a piece of memory.
    bases: FxHashMap<Option<cl::StackSlot>, cl::Value>,
}

impl<'a> Emitter<'a, '_> {
    /// How many of these instructions could be a run, and whether they are worth it. If they are not, no part of them is.
    pub(super) fn run_length(&self, insts: &[Inst<Low>]) -> (usize, bool) {
        let mut steps = 0;
        let length = insts
            .iter()
            .take_while(|inst| match &inst.kind {
                Kind::Op(op, _) if self.is_step(op, &inst.results) => {
                    steps += 1;
                    true
                }
                Kind::Op(op, _) => self.goes_before(op, &inst.results),
                Kind::If { .. } | Kind::For { .. } => false,
            })
            .count();
        let shortest = if self.lanes.parts() == 1 {
            SHORTEST_OF_ONE_PART
        } else {
            SHORTEST
        };
        (length, steps >= shortest)
    }

    /// Whether an operation is emitted once per part.
    fn is_step(&self, op: &Op, results: &[Value]) -> bool {
        let lane_by_lane = match op {
            Op::Simple(_) | Op::Select(_) => true,
            Op::Math(function) => function.def().native,
            Op::State(slot, _) => {
                self.lanes.parts() > 1 && !self.state_planes[*slot as usize].is_handle
            }
            _ => false,
        };
        lane_by_lane && self.is_varying(results[0])
    }

    /// Whether an operation can be emitted before the run in which it stands.
    fn goes_before(&self, op: &Op, results: &[Value]) -> bool {
        !Low::has_effect(op)
            && (results.iter().all(|&v| !self.is_varying(v))
                || crate::low::signature(op).0.is_empty())
    }

    /// Emits a run.
    pub(super) fn run(&mut self, insts: &'a [Inst<Low>]) {
        let mut steps = Vec::new();
        for inst in insts {
            let Kind::Op(op, args) = &inst.kind else {
                unreachable!("a run has operations only")
            };
            if self.is_step(op, &inst.results) {
                let result = inst.results[0];
                steps.push(Step { op, args, result });
            } else {
                self.op(op, args, &inst.results);
            }
        }
        let mut run = Run::default();
        for (n, step) in steps.iter().enumerate().rev() {
            for &v in step.args {
                run.uses.entry(v).or_default().push(n);
            }
        }
        let own: FxHashSet<Value> = steps.iter().map(|step| step.result).collect();
        for v in steps.iter().flat_map(|step| step.args) {
            if !own.contains(v) {
                self.bring(&mut run, *v);
            }
        }
        if self.lanes.parts() == 1 {
            self.steps(&mut run, &steps);
            return;
        }
        let [body, exit] = [(); 2].map(|()| self.b.create_block());
        let first = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(body, &[BlockArg::from(first)]);
        let offset = self.b.append_block_param(body, types::I64);
        self.b.switch_to_block(body);
        run.offset = Some(offset);
        self.steps(&mut run, &steps);
        let end = (self.lanes.parts() * PART) as i64;
        let next = self.b.ins().iadd_imm_s(offset, PART as i64);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, end);
        self.b
            .ins()
            .brif(more, body, &[BlockArg::from(next)], exit, &[]);
        self.b.seal_block(body);
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
    }

    /// Brings a value from outside where the run finds it.
    fn bring(&mut self, run: &mut Run<'a>, v: Value) {
        if run.storage.contains_key(&v) || run.registers.iter().any(|(r, _)| *r == v) {
            return;
        }
        let storage = match self.planes.constants.get(&v) {
            Some(op) => Storage::Constant(op),
            None => match self.held(v) {
                Emitted::Memory(slot, at) => Storage::Plane(slot, at),
                Emitted::Uniform(value) => {
                    let part = self.splat(self.ty(v), value)[0];
                    let at = self.scratch(run);
                    self.b
                        .ins()
                        .stack_store(types::I64, part, self.planes.scratch, at);
                    Storage::Fixed(at)
                }
                Emitted::Varying(parts) if parts.len() == 1 => {
                    run.registers.push((v, parts[0]));
                    return;
                }
                Emitted::Varying(parts) => {
                    let at = self.new_plane();
                    for (p, &part) in parts.iter().enumerate() {
                        let at = at + (p * PART) as i32;
                        self.b
                            .ins()
                            .stack_store(types::I64, part, self.planes.slot, at);
                    }
                    self.planes.moved.push((v, Emitted::Varying(parts)));
                    self.hold(v, Emitted::Memory(self.planes.slot, at));
                    Storage::Plane(self.planes.slot, at)
                }
            },
        };
        run.storage.insert(v, storage);
    }

    fn steps(&mut self, run: &mut Run<'a>, steps: &[Step<'a>]) {
        for (n, step) in steps.iter().enumerate() {
            let inside = run.uses.get(&step.result).map_or(0, Vec::len);
            let value = if let Op::State(slot, _) = step.op {
                let at = self.state_planes[*slot as usize].offset as i32;
                run.storage.insert(step.result, Storage::State(at));
                self.fetch(run, step.result)
            } else {
                let value = self.step(run, step);
                self.retire(run, step.args, n);
                run.registers.push((step.result, value));
                value
            };
            if self.planes.uses[step.result.0 as usize] > inside {
                let at = self.new_plane();
                let slot = self.planes.slot;
                let base = self.base(run, Some(slot));
                self.b.ins().store(PLAIN, value, base, at);
                self.hold(step.result, Emitted::Memory(slot, at));
                run.storage.insert(step.result, Storage::Plane(slot, at));
            }
            if inside == 0 {
                run.registers.retain(|(v, _)| *v != step.result);
            }
            while run.registers.len() > REGISTERS {
                self.evict(run);
            }
        }
    }

    fn step(&mut self, run: &mut Run<'a>, step: &Step<'a>) -> cl::Value {
        let operands: Vec<cl::Value> = step.args.iter().map(|&v| self.fetch(run, v)).collect();
        match step.op {
            Op::Simple(simple) => {
                let b = operands.get(1).copied().unwrap_or(operands[0]);
                self.simple_part(*simple, operands[0], b, true)
            }
            Op::Select(_) => self.select_part(operands[0], operands[1], operands[2], true),
            Op::Math(function) => self.native_part(*function, operands[0], true),
            op => unreachable!("`{op}` does not work lane by lane"),
        }
    }

    /// A value's current part in a register.
    fn fetch(&mut self, run: &mut Run<'a>, v: Value) -> cl::Value {
        if let Some((_, value)) = run.registers.iter().find(|(r, _)| *r == v) {
            return *value;
        }
        let part = self.lanes.part(self.ty(v));
        let scratch = self.planes.scratch;
        let value = match run.storage[&v] {
            Storage::Constant(op) => return self.constant(op),
            Storage::Fixed(at) | Storage::Scratch(at) => {
                self.b.ins().stack_load(types::I64, part, scratch, at)
            }
            Storage::Plane(slot, at) => {
                let base = self.base(run, Some(slot));
                self.b.ins().load(part, PLAIN, base, at)
            }
            Storage::State(at) => {
                let base = self.base(run, None);
                self.b.ins().load(part, PLAIN, base, at)
            }
        };
        run.registers.push((v, value));
        value
    }

    /// The address of the current part of the first plane in a stack slot, or in the strands' state.
    fn base(&mut self, run: &mut Run<'a>, slot: Option<cl::StackSlot>) -> cl::Value {
        if let Some(base) = run.bases.get(&slot) {
            return *base;
        }
        let start = match slot {
            Some(slot) => self.b.ins().stack_addr(types::I64, slot, 0),
            None => self
                .b
                .ins()
                .load(types::I64, PLAIN, self.frame, offset::STATE),
        };
        let base = match run.offset {
            Some(distance) => self.b.ins().iadd(start, distance),
            None => start,
        };
        run.bases.insert(slot, base);
        base
    }

    fn constant(&mut self, op: &Op) -> cl::Value {
        let (ty, bits) = match op {
            Op::Real(x) if self.lanes.double => (Ty::Real, x.get().to_bits()),
            Op::Real(x) => (Ty::Real, u64::from((x.get() as f32).to_bits())),
            Op::Int(n) => (Ty::Int, *n as u64),
            Op::Bool(b) => (Ty::Bool, if *b { u64::MAX } else { 0 }),
            op => unreachable!("`{op}` is not a constant"),
        };
        if self.lanes.width > 1 {
            let lanes = vec![bits; self.lanes.per_part()];
            return self.lane_constants(self.lanes.part(ty), &lanes);
        }
        self.scalar_constant(op)
    }

    /// Forgets the uses at a step, and the values that have no other.
    fn retire(&mut self, run: &mut Run<'a>, args: &[Value], n: usize) {
        for v in args {
            let Some(uses) = run.uses.get_mut(v) else {
                continue;
            };
            while uses.last() == Some(&n) {
                uses.pop();
            }
            if uses.is_empty() {
                run.uses.remove(v);
                run.registers.retain(|(r, _)| r != v);
                if let Some(Storage::Scratch(at)) = run.storage.get(v) {
                    run.free.push(*at);
                }
            }
        }
    }

    /// Takes the value whose next use is farthest out of its register.
    fn evict(&mut self, run: &mut Run<'a>) {
        let next = |v: &Value| run.uses.get(v).and_then(|uses| uses.last().copied());
        let farthest = (0..run.registers.len())
            .max_by_key(|&r| next(&run.registers[r].0).unwrap_or(usize::MAX))
            .expect("there are registers");
        let (v, value) = run.registers.swap_remove(farthest);
        if !run.storage.contains_key(&v) {
            let at = self.scratch(run);
            let scratch = self.planes.scratch;
            self.b.ins().stack_store(types::I64, value, scratch, at);
            run.storage.insert(v, Storage::Scratch(at));
        }
    }

    fn scratch(&mut self, run: &mut Run<'a>) -> i32 {
        run.free.pop().unwrap_or_else(|| {
            let at = run.scratch;
            run.scratch += PART;
            self.planes.most_scratch = self.planes.most_scratch.max(run.scratch);
            at as i32
        })
    }

    fn new_plane(&mut self) -> i32 {
        let at = self.planes.next;
        self.planes.next += (self.lanes.width * self.lanes.bytes()).max(PART);
        self.planes.most = self.planes.most.max(self.planes.next);
        at as i32
    }

    /// Gives back what a block used: its planes, and how values were held before it.
    pub(super) fn release(&mut self, (next, moved): (usize, usize)) {
        self.planes.next = next;
        while self.planes.moved.len() > moved {
            let (v, held) = self.planes.moved.pop().expect("more than before");
            self.hold(v, held);
        }
    }
}
