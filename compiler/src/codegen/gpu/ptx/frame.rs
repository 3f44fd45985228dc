//! The frame of a kernel: finds the strand of a thread, loads its state, runs its methods until it ends or the super-steps
//! of this launch are over, and stores its state and its fate.

use super::{Class, PtxPrinter};
use crate::{
    codegen::gpu::{
        header::Header,
        kernel::{Cell, Kernel},
        sequences::makes_sequence,
    },
    device::{self, Arithmetic, Device, MeshOp, Op, Ty, Width},
    ir::{Simple, status},
    low,
    ssa::{Block, Dialect, Function, Inst, Kind, Value},
};
use runtime::world::fate;
use std::collections::HashSet;

impl PtxPrinter<'_> {
    /// The whole text, for the methods `start`, `update` and `stabilize`.
    pub(in crate::codegen::gpu) fn kernel(
        &mut self,
        methods: &[Option<Function<Device>>; 3],
    ) -> String {
        let [start, update, stabilize] = methods;
        let update = update.as_ref().expect("strands have an update method");
        let slot = match self.near {
            None => self.thread(Header::COUNT),
            Some(_) => self.next_in_order(),
        };
        self.slot = slot.clone();
        self.begin_truths();
        let fate_at = self.element(Header::FATES, &slot, 4);
        let told = self.register(Class::Word);
        self.line(&format!("ld.global.u32 {told}, [{fate_at}]"));
        let before = self.compute(Class::Word, "shr.u32", &[&told, &fate::BITS.to_string()]);
        let kinds = (1u32 << fate::BITS) - 1;
        let fate = self.compute(Class::Word, "and.b32", &[&told, &kinds.to_string()]);
        let running = self.compare("eq", &fate, fate::RUNNING);
        let fresh = self.compare("eq", &fate, fate::FRESH);
        let runs = self.compute(Class::Truth, "or.pred", &[&running, &fresh]);
        self.line(&format!("@!{runs} bra DONE"));
        self.more = self.address(Header::MORE);
        let functions: Vec<Function<Device>> = methods.iter().flatten().cloned().collect();
        for (image, component) in device::planes(&functions) {
            let component = self.first_beside(image, component);
            if self.bases.contains_key(&(image, component)) {
                continue;
            }
            let generic = self.cell(Cell::Samples(image, component), "u64", Class::Wide);
            let base = self.compute(Class::Wide, "cvta.to.global.u64", &[&generic]);
            self.bases.insert((image, component), base);
        }
        let lanes = self.lane_addresses(&slot, Header::STATE, self.stride);
        self.load_state(&lanes);
        self.load_hints(&lanes);
        self.begin_contacts();
        let mut budget = self.word(Header::STEPS);
        if self.has_lists() {
            // A strand that has waited catches up with the others.
            let until = self.word(Header::UNTIL);
            let is_there = self.compute(Class::Truth, "setp.ge.u32", &[&before, &until]);
            self.line(&format!("@{is_there} bra DONE"));
            let left = self.compute(Class::Word, "sub.u32", &[&until, &before]);
            budget = self.compute(Class::Word, "min.u32", &[&budget, &left]);
            self.open_heap(&slot);
        }
        if self.near.is_some() {
            self.kept = self.register(Class::Word);
        }
        let done = self.register(Class::Word);
        let status = self.register(Class::Int);
        if let Some(start) = start {
            self.begin(start);
            self.forget_hits();
            self.line(&format!("mov.u32 {done}, 1"));
            self.line(&format!("@!{fresh} bra STARTED"));
            self.method(start, &status);
            self.leave_on_status(&status);
            self.place_label("STARTED");
        }
        self.line(&format!("mov.u32 {done}, 0"));
        self.begin(update);
        self.forget_hits();
        self.invariants(update);
        // A launch is for one super-step at least.
        self.place_label("AGAIN");
        if self.has_lists() {
            self.begin_step();
            self.when_full("FULL");
        }
        self.method(update, &status);
        if self.has_lists() {
            self.end_step();
            self.when_full("RETRY");
        }
        self.line(&format!("add.u32 {done}, {done}, 1"));
        let ends = self.ends_with(update, &status);
        let stays = self.compute(Class::Truth, "not.pred", &[&ends]);
        let within = self.compute(Class::Truth, "setp.lt.u32", &[&done, &budget]);
        let goes_on = self.compute(Class::Truth, "and.pred", &[&within, &stays]);
        self.line(&format!("@{goes_on} bra AGAIN"));
        self.line(&format!("@{stays} bra PAUSE"));
        self.place_label("ENDED");
        let died = self.status_is("eq", &status, status::DIE);
        self.line(&format!("@{died} bra DEAD"));
        if let Some(stabilize) = stabilize {
            self.begin(stabilize);
            self.forget_hits();
            self.method(stabilize, &status);
        }
        self.end(&fate, fate::STABLE, Header::ENDED);
        self.line("bra STORE");
        self.place_label("DEAD");
        self.end(&fate, fate::DEAD, Header::ENDED);
        self.line("bra STORE");
        self.place_label("LEAVE");
        self.end(&fate, fate::LEFT, Header::LEFT);
        self.line("bra TELL");
        if self.has_lists() {
            self.waiting((&fate, &done, &fresh));
        }
        self.place_label("PAUSE");
        self.end(&fate, fate::RUNNING, Header::GOES_ON);
        self.place_label("STORE");
        self.store_state(&lanes, &[start.as_ref(), Some(update), stabilize.as_ref()]);
        self.store_hints(&lanes);
        self.tell_contacts();
        if self.has_lists() {
            self.close_heap();
        }
        self.place_label("TELL");
        self.line(&format!("add.u32 {done}, {done}, {before}"));
        self.line(&format!("shl.b32 {done}, {done}, {}", fate::BITS));
        self.line(&format!("or.b32 {fate}, {fate}, {done}"));
        self.line(&format!("st.global.u32 [{fate_at}], {fate}"));
        self.place_label("DONE");
        self.line("ret");
        self.sorting();
        self.finish(Kernel::STRANDS);
        if let Some(near) = self.near {
            self.make_ready(near);
        }
        if !self.packs.is_empty() {
            self.pack_entry();
        }
        if !self.kernel.results.is_empty() {
            self.collect_entry();
        }
        if let Some(creation) = &self.kernel.creation {
            self.create_entry(creation, start.is_some());
            self.tally_entry();
        }
        if !self.kernel.reductions.is_empty() {
            self.reduce_entry();
        }
        if self.near.is_none() {
            self.spread_entry();
        }
        if self.has_lists() {
            self.compact_entry();
            self.gather_entry();
        }
        self.text()
    }

    /// Registers for both truth values.
    pub(super) fn begin_truths(&mut self) {
        let zero = self.register(Class::Word);
        self.line(&format!("mov.u32 {zero}, 0"));
        self.truths = ["setp.ne.u32", "setp.eq.u32"]
            .map(|instruction| self.compute(Class::Truth, instruction, &[&zero, "0"]));
    }

    /// The number of the thread; one that is not below a number of the header has nothing to do.
    pub(super) fn thread(&mut self, count: usize) -> String {
        let number = self.number_of_thread();
        let count = self.word(count);
        self.end_from(&number, &count);
        number
    }

    pub(super) fn number_of_thread(&mut self) -> String {
        let [block, size, thread] = [0; 3].map(|_| self.register(Class::Word));
        self.line(&format!("mov.u32 {block}, %ctaid.x"));
        self.line(&format!("mov.u32 {size}, %ntid.x"));
        self.line(&format!("mov.u32 {thread}, %tid.x"));
        self.compute(Class::Word, "mad.lo.u32", &[&block, &size, &thread])
    }

    /// Threads from a number on have nothing to do.
    pub(super) fn end_from(&mut self, number: &str, count: &str) {
        let beyond = self.compute(Class::Truth, "setp.ge.u32", &[number, count]);
        self.line(&format!("@{beyond} bra DONE"));
    }

    /// A word of the header.
    pub(super) fn word(&mut self, at: usize) -> String {
        let word = self.register(Class::Word);
        self.line(&format!("ld.param.u32 {word}, [P+{at}]"));
        word
    }

    /// The address of an element of an array of the header.
    pub(super) fn element(&mut self, array: usize, index: &str, bytes: usize) -> String {
        let first = self.address(array);
        let bytes = bytes.to_string();
        self.compute(Class::Wide, "mad.wide.u32", &[index, &bytes, &first])
    }

    /// An address of the header, in global memory.
    pub(super) fn address(&mut self, at: usize) -> String {
        let generic = self.register(Class::Wide);
        self.line(&format!("ld.param.u64 {generic}, [P+{at}]"));
        self.compute(Class::Wide, "cvta.to.global.u64", &[&generic])
    }

    pub(super) fn compare(&mut self, how: &str, word: &str, number: u32) -> String {
        let number = number.to_string();
        self.compute(Class::Truth, &format!("setp.{how}.u32"), &[word, &number])
    }

    /// What becomes of the strand, and a flag that it does of one. Only few write that: it is one word for all.
    pub(super) fn end(&mut self, fate: &str, value: u32, flag: usize) {
        let flags = self.address(Header::FLAGS);
        let told = self.load("global", &flags, flag);
        let silent = self.compare("eq", &told, 0);
        self.line(&format!("mov.u32 {fate}, 1"));
        self.line(&format!("@{silent} st.global.u32 [{flags}+{flag}], {fate}"));
        self.line(&format!("mov.u32 {fate}, {value}"));
    }

    /// Whether a strand ends after a method: most often a condition that chooses between two numbers for its status. That is
    /// still known, unless it was a truth value of the state.
    fn ends_with(&mut self, function: &Function<Device>, status: &str) -> String {
        if let Some((condition, then, otherwise)) = self.choice(function.body.yields[0]) {
            let condition = self.values[&condition].clone();
            let is_known = !self.state.contains(&condition);
            if is_known && then >= status::STABILIZE && otherwise < status::STABILIZE {
                return condition;
            }
        }
        self.status_is("ge", status, status::STABILIZE)
    }

    fn leave_on_status(&mut self, status: &str) {
        let ends = self.status_is("ge", status, status::STABILIZE);
        self.line(&format!("@{ends} bra ENDED"));
    }

    fn status_is(&mut self, how: &str, status: &str, value: i64) -> String {
        let compare = format!("setp.{how}.{}", self.ty(Class::Int));
        self.compute(Class::Truth, &compare, &[status, &value.to_string()])
    }

    /// The addresses of a strand's lane in planes of 4 and 8 bytes per lane, from which the offset of a plane counts: in
    /// blocks of this many bytes.
    pub(super) fn lane_addresses(
        &mut self,
        slot: &str,
        blocks: usize,
        stride: usize,
    ) -> [String; 2] {
        let width = self.lanes.width;
        let shift = width.trailing_zeros().to_string();
        let block = self.compute(Class::Word, "shr.u32", &[slot, &shift]);
        let lane = self.compute(Class::Word, "and.b32", &[slot, &(width - 1).to_string()]);
        let first = self.address(blocks);
        let stride = stride.to_string();
        let block = self.compute(Class::Wide, "mad.wide.u32", &[&block, &stride, &first]);
        ["4", "8"].map(|bytes| self.compute(Class::Wide, "mad.wide.u32", &[&lane, bytes, &block]))
    }

    pub(super) fn load_state(&mut self, lanes: &[String; 2]) {
        for plane in self.planes {
            let class = Class::of(Ty::Scalar(plane.ty));
            if plane.is_handle {
                let half = self.load_half(&lanes[plane.stride / 8], plane.offset);
                self.state.push(half);
                continue;
            }
            let at = format!("[{}+{}]", lanes[plane.stride / 8], plane.offset);
            // An integer is in the first bytes of its lane; a truth value is all ones or zero.
            let loaded = match class {
                Class::Truth => Class::Int,
                other => other,
            };
            let register = self.register(loaded);
            let ty = self.ty(loaded);
            self.line(&format!("ld.global.{ty} {register}, {at}"));
            let register = if class == Class::Truth {
                self.compute(class, &format!("setp.ne.{ty}"), &[&register, "0"])
            } else {
                register
            };
            self.state.push(register);
        }
    }

    fn store_state(&mut self, lanes: &[String; 2], methods: &[Option<&Function<Device>>]) {
        let changed = |slot: usize| methods.iter().flatten().any(|f| !keeps(f, slot));
        for slot in 0..self.planes.len() {
            if changed(slot) {
                self.store_scalar(lanes, slot);
            }
        }
    }

    /// Stores a scalar of the state.
    pub(super) fn store_scalar(&mut self, lanes: &[String; 2], slot: usize) {
        let plane = &self.planes[slot];
        let class = Class::of(Ty::Scalar(plane.ty));
        let lane = &lanes[plane.stride / 8];
        let mut value = self.state[slot].clone();
        if plane.is_handle {
            return self.store_half(lane, plane.offset, &value);
        }
        if class == Class::Truth {
            let select = format!("selp.{}", self.ty(Class::Int));
            value = self.compute(Class::Int, &select, &["-1", "0", &value]);
        }
        let class = if class == Class::Truth {
            Class::Int
        } else {
            class
        };
        let at = format!("[{lane}+{}]", plane.offset);
        self.store_number(&at, (class, plane.stride), &value);
    }

    /// Stores a real or an integer where there are this many bytes for it.
    pub(super) fn store_number(&mut self, at: &str, (class, bytes): (Class, usize), value: &str) {
        let ty = self.ty(class);
        if class == Class::Int && bytes == 8 && ty == "s32" {
            let wide = self.compute(Class::Wide, "cvt.s64.s32", &[value]);
            self.line(&format!("st.global.u64 {at}, {wide}"));
        } else {
            self.line(&format!("st.global.{ty} {at}, {value}"));
        }
    }

    /// Computes values before the super-steps that are the same in all of them: operations of `update` on constants, globals and
    /// state that it keeps. Under conditions and in loops, only slow operations and their operands are taken: a strand may never
    /// come there, and kept values take registers.
    fn invariants(&mut self, update: &Function<Device>) {
        let mut known = HashSet::new();
        let mut inner = Vec::new();
        for inst in &update.body.insts {
            if is_same(update, inst, &known) {
                known.extend(inst.results.iter().copied());
                self.inst(update, inst);
            }
        }
        collect_same(update, &update.body, &mut known, &mut inner);
        let mut wanted: HashSet<Value> = HashSet::new();
        inner.retain(|inst: &&Inst<Device>| {
            !inst
                .results
                .iter()
                .any(|value| self.values.contains_key(value))
        });
        for inst in inner.iter().rev() {
            let Kind::Op(op, args) = &inst.kind else {
                unreachable!("operations were collected")
            };
            if is_slow(op) || inst.results.iter().any(|value| wanted.contains(value)) {
                wanted.extend(&inst.results);
                wanted.extend(args);
            }
        }
        inner.retain(|inst| wanted.contains(&inst.results[0]));
        for inst in inner.into_iter().take(MOST_INNER) {
            self.inst(update, inst);
        }
    }
}

/// Operations under conditions that are computed for strands which may never come there, at most.
const MOST_INNER: usize = 100;

/// Whether an operation gives the same in all super-steps, given values that do.
fn is_same(update: &Function<Device>, inst: &Inst<Device>, known: &HashSet<Value>) -> bool {
    match &inst.kind {
        Kind::Op(Op::Low(low::Op::State(slot, _)), _) => keeps(update, *slot as usize),
        Kind::Op(Op::Low(op), _) if makes_sequence(op) => false,
        Kind::Op(op, args) => {
            !Device::has_effect(op) && args.iter().all(|value| known.contains(value))
        }
        _ => false,
    }
}

/// The operations inside a block, at any depth, that give the same in all super-steps; those on samples stay where they are,
/// because they are many, and those on intervals of time and on meshes because they are parts of a search.
fn collect_same<'f>(
    update: &'f Function<Device>,
    block: &'f Block<Device>,
    known: &mut HashSet<Value>,
    found: &mut Vec<&'f Inst<Device>>,
) {
    for inst in &block.insts {
        let loads = matches!(
            inst.kind,
            Kind::Op(
                Op::Load { .. }
                    | Op::IntervalBegin(_)
                    | Op::IntervalRate(_)
                    | Op::Mesh(MeshOp::Load { .. }),
                _
            )
        );
        if is_same(update, inst, known) && !inst.results.is_empty() && !loads {
            known.extend(inst.results.iter().copied());
            found.push(inst);
        }
        for inner in inst.kind.blocks() {
            collect_same(update, inner, known, found);
        }
    }
}

/// Whether an operation takes many instructions of the machine.
fn is_slow(op: &Op) -> bool {
    matches!(
        op,
        Op::Low(low::Op::Simple(Simple::Div))
            | Op::Arithmetic(Arithmetic::Div | Arithmetic::Sqrt, _)
            | Op::Arithmetic(_, Width::Double)
    )
}

/// Whether a method leaves a slot of the state unchanged.
fn keeps(function: &Function<Device>, slot: usize) -> bool {
    let value = function.body.yields[slot + 1];
    function.body.insts.iter().any(|inst| {
        let loads = matches!(&inst.kind, Kind::Op(Op::Low(low::Op::State(from, _)), _) if *from as usize == slot);
        loads && inst.results[..] == [value]
    })
}
