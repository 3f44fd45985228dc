//! The entry point that makes strands: a thread finds the values of the iterators of its strand, and stores its state and its fate.

use super::{Class, PtxPrinter};
use crate::{
    codegen::gpu::{
        header::Header,
        kernel::{Cell, Iteration, Kernel, WORD},
    },
    device::Device,
    ssa::Function,
};
use runtime::world::fate;

impl PtxPrinter<'_> {
    /// The entry point, for the function that gives the state; whether strands have a method `start`.
    pub(super) fn create_entry(&mut self, creation: &Function<Device>, has_start: bool) {
        let slot = self.thread(Header::COUNT);
        self.begin_truths();
        self.more = self.address(Header::MORE);
        let fate_at = self.element(Header::FATES, &slot, WORD);
        let rank_at = self.element(Header::RANKS, &slot, WORD);
        let (fate, rank) = (self.register(Class::Word), self.register(Class::Word));
        self.line(&format!("ld.global.u32 {rank}, [{rank_at}]"));
        // A place without a strand has a rank behind the last.
        let count = self.word(Header::BITS);
        let is_empty = self.compute(Class::Truth, "setp.ge.u32", &[&rank, &count]);
        self.line(&format!("mov.u32 {fate}, {}", fate::IDLE));
        self.line(&format!("@{is_empty} bra TELL"));
        self.given = self.iterators(rank);
        self.begin(creation);
        self.block(creation, &creation.body);
        self.state = (creation.body.yields.iter())
            .map(|value| {
                let class = Class::of(*creation.type_of(*value));
                let (to, from) = (self.register(class), self.values[value].clone());
                self.copy(class, &to, &from);
                to
            })
            .collect();
        let lanes = self.lane_addresses(&slot, Header::STATE, self.stride);
        (0..self.state.len()).for_each(|slot| self.store_scalar(&lanes, slot));
        // No cell of a mesh was looked for yet.
        let none = self.compute(Class::Word, "mov.u32", &["0"]);
        for offset in &self.kernel.hints {
            self.line(&format!("st.global.u32 [{}+{offset}], {none}", lanes[0]));
        }
        let made = if has_start {
            fate::FRESH
        } else {
            fate::RUNNING
        };
        self.line(&format!("mov.u32 {fate}, {made}"));
        self.line("bra TELL");
        self.place_label("LEAVE");
        self.line(&format!("mov.u32 {fate}, {}", fate::LEFT));
        self.place_label("TELL");
        self.line(&format!("st.global.u32 [{fate_at}], {fate}"));
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::CREATE);
    }

    /// The entry point that tells what became of all strands together: a flag if one of them is not stable, and the most super-steps.
    pub(super) fn tally_entry(&mut self) {
        let slot = self.thread(Header::COUNT);
        let fate_at = self.element(Header::FATES, &slot, WORD);
        let told = self.load("global", &fate_at, 0);
        let kinds = ((1u32 << fate::BITS) - 1).to_string();
        let kind = self.compute(Class::Word, "and.b32", &[&told, &kinds]);
        let is_empty = self.compare("eq", &kind, fate::IDLE);
        self.line(&format!("@{is_empty} bra DONE"));
        let steps = self.compute(Class::Word, "shr.u32", &[&told, &fate::BITS.to_string()]);
        let flags = self.address(Header::FLAGS);
        // Only few write: it is one word for all.
        let most = self.load("global", &flags, Header::MOST_STEPS);
        let is_less = self.compute(Class::Truth, "setp.le.u32", &[&steps, &most]);
        self.line(&format!("@{is_less} bra KNOWN"));
        let at = format!("[{flags}+{}]", Header::MOST_STEPS);
        self.line(&format!("red.global.max.u32 {at}, {steps}"));
        self.place_label("KNOWN");
        let is_stable = self.compare("eq", &kind, fate::STABLE);
        self.line(&format!("@{is_stable} bra DONE"));
        self.end(&told, fate::LEFT, Header::LEFT);
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::TALLY);
    }

    /// The values of the iterators for the strand of a rank: the last one changes from each rank to the next.
    fn iterators(&mut self, rank: String) -> Vec<String> {
        let (int, mut rest) = (self.ty(Class::Int), rank);
        let mut values = Vec::new();
        for axis in (0..self.kernel.interface.axes.len() as u8).rev() {
            let mut cell = |what, ty, class| self.cell(Cell::Iterator(axis, what), ty, class);
            let count = cell(Iteration::Count, "u32", Class::Word);
            let [first, stride] =
                [Iteration::First, Iteration::Stride].map(|what| cell(what, int, Class::Int));
            let place = self.compute(Class::Word, "rem.u32", &[&rest, &count]);
            rest = self.compute(Class::Word, "div.u32", &[&rest, &count]);
            let place = match int {
                "s32" => self.compute(Class::Int, "mov.b32", &[&place]),
                _ => self.compute(Class::Int, "cvt.u64.u32", &[&place]),
            };
            let instruction = format!("mad.lo.{int}");
            values.push(self.compute(Class::Int, &instruction, &[&place, &stride, &first]));
        }
        values.reverse();
        values
    }
}
