//! Memory of sequences in a kernel: the frame of a strand's chunk, new buffers, and copies.

use super::{Class, PtxPrinter};
use crate::codegen::gpu::{
    header::Header,
    kernel::Kernel,
    sequences::layout::{
        CHUNK, COMMON, GROWS_AT_START, HEAD, MOST_UNITS, SLACK, UNIT, UNITS, USED,
    },
};
use runtime::world::fate;

/// The registers of the heap.
#[derive(Clone, Default)]
pub(super) struct HeapRegisters {
    /// Where the buffers are, and the common ones.
    buffers: String,
    common: String,
    /// The address of the counter, and the number of units.
    next: String,
    units: String,
    /// The first free unit of the strand's chunk, its end, and the first that was free when the super-step began.
    free: String,
    end: String,
    floor: String,
    /// The address of the first two.
    chunk_at: String,
    /// Where a strand goes for which there is no room.
    full: &'static str,
}

/// A piece of an array in memory: an address, and bytes from there.
pub(super) type At<'a> = (&'a str, u64);

impl PtxPrinter<'_> {
    pub(super) fn has_lists(&self) -> bool {
        self.kernel.lists.is_some()
    }

    /// Loads the addresses of buffers.
    fn find_heap(&mut self) {
        self.heap.buffers = self.address(Header::HEAP);
        self.heap.common = self.address(Header::COMMON);
    }

    /// Loads the counter and the size of the heap, for new buffers.
    fn find_counter(&mut self) {
        self.heap.next = self.address(Header::NEXT);
        self.heap.units = self.register(Class::Wide);
        let units = self.heap.units.clone();
        self.line(&format!("ld.param.u64 {units}, [P+{}]", Header::UNITS));
    }

    /// Loads the chunk of the strand in a slot.
    pub(super) fn open_heap(&mut self, slot: &str) {
        self.find_heap();
        self.find_counter();
        self.heap.chunk_at = self.element(Header::CHUNKS_OF, slot, 8);
        let at = self.heap.chunk_at.clone();
        self.heap.free = self.load("global", &at, 0);
        self.heap.end = self.load("global", &at, 4);
        self.heap.floor = self.register(Class::Word);
        self.begin_step();
        self.heap.full = "RETRY";
    }

    /// A super-step begins: its memory may be taken again after it.
    pub(super) fn begin_step(&mut self) {
        let (floor, free) = (self.heap.floor.clone(), self.heap.free.clone());
        self.line(&format!("mov.u32 {floor}, {free}"));
    }

    /// Where a strand goes from now on if there is no room.
    pub(super) fn when_full(&mut self, label: &'static str) {
        self.heap.full = label;
    }

    /// The end of a super-step: its memory is free again, unless the state refers to a part of it.
    pub(super) fn end_step(&mut self) {
        let (floor, free) = (self.heap.floor.clone(), self.heap.free.clone());
        let taken = self.compute(Class::Word, "sub.u32", &[&free, &floor]);
        let mut is_kept = self.truths[0].clone();
        for slot in self.buffer_slots() {
            let place = self.state[slot].clone();
            let place = self.word_of(&place);
            let ahead = self.compute(Class::Word, "sub.u32", &[&place, &floor]);
            let is_inside = self.compute(Class::Truth, "setp.lt.u32", &[&ahead, &taken]);
            is_kept = self.compute(Class::Truth, "or.pred", &[&is_kept, &is_inside]);
        }
        self.line(&format!("@!{is_kept} mov.u32 {free}, {floor}"));
    }

    /// The state slots with the buffers of sequences.
    fn buffer_slots(&self) -> Vec<usize> {
        let slots = self.planes.iter().enumerate();
        let slots = slots.filter(|(_, plane)| plane.is_handle);
        slots.step_by(2).map(|(slot, _)| slot).collect()
    }

    /// Stores the rest of the chunk.
    pub(super) fn close_heap(&mut self) {
        let at = self.heap.chunk_at.clone();
        for (word, offset) in [(self.heap.free.clone(), 0), (self.heap.end.clone(), 4)] {
            self.line(&format!("st.global.u32 [{at}+{offset}], {word}"));
        }
    }

    /// Strands for which there is no room: they wait with the state after their last super-step, or with that before the launch.
    pub(super) fn waiting(&mut self, (fate, done, fresh): (&str, &str, &str)) {
        self.place_label("FULL");
        let none = self.compute(Class::Truth, "setp.eq.u32", &[done, "0"]);
        self.line(&format!("@{none} bra RETRY"));
        let (floor, free) = (self.heap.floor.clone(), self.heap.free.clone());
        self.line(&format!("mov.u32 {free}, {floor}"));
        self.end(fate, fate::WAITING, Header::FULL);
        self.line("bra STORE");
        self.place_label("RETRY");
        self.line(&format!("mov.u32 {done}, 0"));
        self.end(fate, fate::WAITING, Header::FULL);
        let waiting = fate::WAITING_FRESH.to_string();
        self.line(&format!("@{fresh} mov.u32 {fate}, {waiting}"));
        self.line("bra TELL");
    }

    /// The address of a buffer of the heap.
    pub(super) fn new_buffer(&mut self, place: &str) -> String {
        let (buffers, unit) = (self.heap.buffers.clone(), UNIT.to_string());
        self.compute(Class::Wide, "mad.wide.u32", &[place, &unit, &buffers])
    }

    /// The address of a buffer of the heap, or of a common one.
    pub(super) fn buffer(&mut self, place: &str) -> String {
        let first = COMMON.to_string();
        let is_common = self.compute(Class::Truth, "setp.ge.u32", &[place, &first]);
        let all = (COMMON - 1).to_string();
        let number = self.compute(Class::Word, "and.b32", &[place, &all]);
        let operands = [self.heap.common.clone(), self.heap.buffers.clone()];
        let first = self.compute(
            Class::Wide,
            "selp.u64",
            &[&operands[0], &operands[1], &is_common],
        );
        let unit = UNIT.to_string();
        self.compute(Class::Wide, "mad.wide.u32", &[&number, &unit, &first])
    }

    /// Bytes of this many elements and some more.
    pub(super) fn bytes(&mut self, count: &str, element: usize, more: &str) -> String {
        let element = element.to_string();
        self.compute(Class::Wide, "mad.wide.u32", &[count, &element, more])
    }

    /// The units of a buffer for this many elements.
    fn units(&mut self, count: &str, element: usize) -> String {
        let more = (HEAD + SLACK + UNIT - 1).to_string();
        let bytes = self.bytes(count, element, &more);
        let shift = UNIT.trailing_zeros().to_string();
        self.compute(Class::Wide, "shr.u64", &[&bytes, &shift])
    }

    /// A new buffer for this many elements, with a multiple of the units that they need: its place and its units.
    pub(super) fn take(&mut self, count: &str, element: usize, times: u32) -> [String; 2] {
        let units = self.units(count, element);
        let most = MOST_UNITS.to_string();
        let is_huge = self.compute(Class::Truth, "setp.ge.u64", &[&units, &most]);
        self.line(&format!("@{is_huge} bra LEAVE"));
        let units = self.compute(Class::Word, "cvt.u32.u64", &[&units]);
        let times = times.to_string();
        let units = self.compute(Class::Word, "mad.lo.u32", &[&units, &times, "0"]);
        let HeapRegisters {
            free,
            end,
            floor,
            next,
            units: all,
            full,
            ..
        } = self.heap.clone();
        let got = self.label();
        let place = self.compute(Class::Word, "mov.u32", &[&free]);
        let after = self.compute(Class::Word, "add.u32", &[&free, &units]);
        let fits = self.compute(Class::Truth, "setp.le.u32", &[&after, &end]);
        self.line(&format!("@{fits} bra {got}"));
        let chunk = CHUNK.to_string();
        let size = self.compute(Class::Word, "max.u32", &[&units, &chunk]);
        // A chunk that is too small for one super-step is followed by a larger one, until one is large enough for all that come.
        let had = self.compute(Class::Word, "sub.u32", &[&end, &floor]);
        let twice = self.compute(Class::Word, "add.u32", &[&had, &had]);
        let size = self.compute(Class::Word, "max.u32", &[&size, &twice]);
        let first = self.count(&next, &size);
        let wide = self.compute(Class::Wide, "cvt.u64.u32", &[&size]);
        let last = self.compute(Class::Wide, "add.s64", &[&first, &wide]);
        let is_full = self.compute(Class::Truth, "setp.gt.u64", &[&last, &all]);
        self.line(&format!("@{is_full} bra {full}"));
        self.line(&format!("cvt.u32.u64 {place}, {first}"));
        self.line(&format!("mov.u32 {floor}, {place}"));
        self.line(&format!("add.u32 {end}, {place}, {size}"));
        self.line(&format!("add.u32 {after}, {place}, {units}"));
        self.place_label(&got);
        self.line(&format!("mov.u32 {free}, {after}"));
        [place, units]
    }

    /// Counts units at an address; gives the number before.
    fn count(&mut self, counter: &str, units: &str) -> String {
        let wide = self.compute(Class::Wide, "cvt.u64.u32", &[units]);
        let before = self.register(Class::Wide);
        self.line(&format!(
            "atom.global.add.u64 {before}, [{counter}], {wide}"
        ));
        before
    }

    /// The words at the beginning of a buffer.
    pub(super) fn begin_buffer(&mut self, at: &str, units: &str, used: &str, at_start: &str) {
        for (word, offset) in [(units, UNITS), (used, USED), (at_start, GROWS_AT_START)] {
            let word = match word.starts_with('%') {
                true => word.to_string(),
                false => self.compute(Class::Word, "mov.u32", &[word]),
            };
            self.line(&format!("st.global.u32 [{at}+{offset}], {word}"));
        }
    }

    /// The end of the elements in a buffer that grows at its start.
    pub(super) fn buffer_end(&mut self, buffer: &str, units: &str) -> String {
        let unit = UNIT.to_string();
        let end = self.compute(Class::Wide, "mad.wide.u32", &[units, &unit, buffer]);
        let slack = format!("-{SLACK}");
        self.compute(Class::Wide, "add.s64", &[&end, &slack])
    }

    /// The address of the first of this many bytes of elements in a buffer.
    fn first(&mut self, buffer: &str, bytes: &str) -> String {
        let head = HEAD.to_string();
        let first = self.compute(Class::Wide, "add.s64", &[buffer, &head]);
        let lists = self.kernel.lists.as_ref();
        if !lists.is_some_and(|lists| lists.prepends) {
            return first;
        }
        let [units, at_start] = [UNITS, GROWS_AT_START].map(|at| self.load("global", buffer, at));
        let end = self.buffer_end(buffer, &units);
        let other = self.compute(Class::Wide, "sub.s64", &[&end, bytes]);
        let grows = self.compute(Class::Truth, "setp.ne.u32", &[&at_start, "0"]);
        self.compute(Class::Wide, "selp.u64", &[&other, &first, &grows])
    }

    /// The address of the first of this many elements in a buffer.
    pub(super) fn first_of(&mut self, buffer: &str, count: &str, element: usize) -> String {
        let bytes = self.bytes(count, element, "0");
        self.first(buffer, &bytes)
    }

    /// Copies elements, a few words at a time and perhaps some too many.
    pub(super) fn copy_elements(
        &mut self,
        from: &str,
        (to, offset): At<'_>,
        count: &str,
        element: usize,
    ) {
        const AHEAD: usize = 4;
        let (bytes, class, ty) = match element % 8 {
            0 => (8, Class::Wide, "u64"),
            _ => (4, Class::Word, "u32"),
        };
        let per_element = (element / bytes).to_string();
        let left = self.compute(Class::Word, "mad.lo.u32", &[count, &per_element, "0"]);
        let [top, end] = [0; 2].map(|_| self.label());
        let [from, to] = [from, to].map(|at| self.compute(Class::Wide, "mov.u64", &[at]));
        let none = self.compute(Class::Truth, "setp.eq.u32", &[&left, "0"]);
        self.line(&format!("@{none} bra {end}"));
        self.place_label(&top);
        let words: Vec<String> = (0..AHEAD).map(|_| self.register(class)).collect();
        for (n, word) in words.iter().enumerate() {
            self.line(&format!("ld.global.{ty} {word}, [{from}+{}]", n * bytes));
        }
        for (n, word) in words.iter().enumerate() {
            let at = offset as usize + n * bytes;
            self.line(&format!("st.global.{ty} [{to}+{at}], {word}"));
        }
        for at in [&from, &to] {
            self.line(&format!("add.s64 {at}, {at}, {}", AHEAD * bytes));
        }
        let ahead = AHEAD.to_string();
        let last = self.compute(Class::Truth, "setp.le.u32", &[&left, &ahead]);
        self.line(&format!("@{last} bra {end}"));
        self.line(&format!("sub.u32 {left}, {left}, {ahead}"));
        self.line(&format!("bra {top}"));
        self.place_label(&end);
    }

    /// The entry point that counts the units of the sequences that states refer to, or copies these into another heap.
    pub(super) fn compact_entry(&mut self) {
        let lists = self.kernel.lists.clone().expect("a kernel with sequences");
        let slot = self.thread(Header::COUNT);
        self.find_heap();
        let other = self.address(Header::PLACES);
        let counter = self.address(Header::NEXT);
        let copies = self.word(Header::STEPS);
        let measures = self.compute(Class::Truth, "setp.eq.u32", &[&copies, "0"]);
        let chunk = self.element(Header::CHUNKS_OF, &slot, 8);
        let zero = self.register(Class::Word);
        self.line(&format!("mov.u32 {zero}, 0"));
        for offset in [0, 4] {
            self.line(&format!("st.global.u32 [{chunk}+{offset}], {zero}"));
        }
        let fate_at = self.element(Header::FATES, &slot, 4);
        let told = self.load("global", &fate_at, 0);
        let kinds = ((1u32 << fate::BITS) - 1).to_string();
        let kind = self.compute(Class::Word, "and.b32", &[&told, &kinds]);
        let [idle, dead] = [fate::IDLE, fate::DEAD].map(|kind_of| {
            let number = kind_of.to_string();
            self.compute(Class::Truth, "setp.eq.u32", &[&kind, &number])
        });
        let is_gone = self.compute(Class::Truth, "or.pred", &[&idle, &dead]);
        let lanes = self.lane_addresses(&slot, Header::STATE, self.stride);
        let at = lanes[1].clone();
        for plane in &lists.planes {
            let next = self.label();
            let length = self.load("global", &at, plane.offset);
            self.line(&format!("@{is_gone} mov.u32 {length}, 0"));
            let place = self.load("global", &at, plane.offset + 4);
            let none = self.compute(Class::Truth, "setp.eq.u32", &[&length, "0"]);
            for half in [0, 4] {
                let half = plane.offset + half;
                self.line(&format!("@{none} st.global.u32 [{at}+{half}], {zero}"));
            }
            self.line(&format!("@{none} bra {next}"));
            let first = COMMON.to_string();
            let is_common = self.compute(Class::Truth, "setp.ge.u32", &[&place, &first]);
            self.line(&format!("@{is_common} bra {next}"));
            let buffer = self.new_buffer(&place);
            let had = self.load("global", &buffer, UNITS);
            let units = self.units(&length, plane.element);
            let units = self.compute(Class::Word, "cvt.u32.u64", &[&units]);
            // It keeps room to grow, but not much more.
            let twice = self.compute(Class::Word, "add.u32", &[&units, &units]);
            let enough = self.compute(Class::Word, "max.u32", &[&had, &units]);
            let units = self.compute(Class::Word, "min.u32", &[&enough, &twice]);
            let new = self.count(&counter, &units);
            self.line(&format!("@{measures} bra {next}"));
            let new = self.compute(Class::Word, "cvt.u32.u64", &[&new]);
            let unit = UNIT.to_string();
            let to = self.compute(Class::Wide, "mad.wide.u32", &[&new, &unit, &other]);
            self.begin_buffer(&to, &units, &length, "0");
            let from = self.first_of(&buffer, &length, plane.element);
            self.copy_elements(&from, (&to, HEAD), &length, plane.element);
            self.line(&format!("st.global.u32 [{at}+{}], {new}", plane.offset + 4));
            self.place_label(&next);
        }
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::COMPACT);
    }

    /// The entry point that puts the elements of sequences side by side: neighbouring threads copy neighbouring words.
    pub(super) fn gather_entry(&mut self) {
        let number = self.thread(Header::COUNT);
        self.find_heap();
        let job = self.compute(Class::Word, "shr.u32", &[&number, "5"]);
        let word = self.compute(Class::Word, "and.b32", &[&number, "31"]);
        let job = self.element(Header::STATE, &job, 16);
        let place = self.load("global", &job, 0);
        let words = self.load("global", &job, 4);
        let offset = self.register(Class::Wide);
        self.line(&format!("ld.global.u64 {offset}, [{job}+8]"));
        let buffer = self.buffer(&place);
        let from = self.first_of(&buffer, &words, 4);
        let to = self.address(Header::PLACES);
        let to = self.compute(Class::Wide, "add.s64", &[&to, &offset]);
        let [from, to] = [from, to]
            .map(|first| self.compute(Class::Wide, "mad.wide.u32", &[&word, "4", &first]));
        self.place_label("NEXT");
        let beyond = self.compute(Class::Truth, "setp.ge.u32", &[&word, &words]);
        self.line(&format!("@{beyond} bra DONE"));
        let copied = self.load("global", &from, 0);
        self.line(&format!("st.global.u32 [{to}+0], {copied}"));
        for at in [&from, &to] {
            self.line(&format!("add.s64 {at}, {at}, 128"));
        }
        self.line(&format!("add.u32 {word}, {word}, 32"));
        self.line("bra NEXT");
        self.place_label("DONE");
        self.line("ret");
        self.finish(Kernel::GATHER);
    }
}
