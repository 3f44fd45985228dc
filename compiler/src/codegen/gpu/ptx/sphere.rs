//! Queries for other strands, and reads of their variables: the counterpart of `runtime::neighbours`, one strand per thread.
//!
//! A query visits the boxes that a sphere touches, tests every strand there in the program's precision, and keeps
//! those inside, in the order of their ranks, in memory of the thread. A list is its start there, an unused number, and
//! its length; a strand is its index in the order of boxes.

use super::{Class, KnownAddress, PtxPrinter};
use crate::{
    codegen::gpu::{header::Header, kernel::Near},
    device::Ty,
    low,
    ssa::Value,
};
use runtime::neighbours::Coordinate;

/// The lists that are sorted by the code for that: where it finds their beginning, their length and the number of the
/// one in work, and how many there are.
pub(super) struct Sorts {
    registers: [String; 3],
    returns: usize,
}

/// Candidates that a query looks at in a turn of its loop; their records are on the way together.
const TOGETHER: usize = 1 + Near::AHEAD;

/// One strand in this many reports its query radius.
const SAMPLES: u32 = 64;

/// Memory of a thread: the strands in all lists.
const HITS: &str = "HITS";
/// A key for sorting has the number of a strand in its list as its last bits, so that strands behind it tell each other apart.
const NUMBER_BITS: u32 = 8;
/// The key of no strand, behind all others. Strands whose ranks reach its own are left to the CPU.
const NONE: u32 = u32::MAX << NUMBER_BITS;
/// Lists of up to this many strands are sorted in registers, by the smallest network of exchanges that has room for those of all
/// threads that sort together; longer ones in memory.
const NETWORKS: [usize; 4] = [16, 32, 48, 64];

/// The declaration of it. A network writes as many strands as it has places.
pub(super) fn memory() -> String {
    let bytes = 4 * (Near::HITS + NETWORKS[3]);
    format!("  .local .align 4 .b8 {HITS}[{bytes}];\n")
}

/// The exchanges of Batcher's network that sorts this many numbers: that for a power of two, without those at its end, which
/// would find the largest numbers there already.
fn exchanges(wanted: usize) -> Vec<(usize, usize)> {
    let count = wanted.next_power_of_two();
    let mut found = Vec::new();
    let powers = |from: usize| (0..=from.ilog2()).map(|n| 1 << n);
    for sorted in powers(count / 2) {
        for apart in powers(sorted).rev() {
            for first in (apart % sorted..count - apart).step_by(2 * apart) {
                for low in first..(first + apart).min(count - apart) {
                    let high = low + apart;
                    if low / (2 * sorted) == high / (2 * sorted) && high < wanted {
                        found.push((low, high));
                    }
                }
            }
        }
    }
    found
}

impl PtxPrinter<'_> {
    /// No list is kept any more.
    pub(super) fn forget_hits(&mut self) {
        if !self.kept.is_empty() {
            self.line(&format!("mov.u32 {}, 0", self.kept));
        }
    }

    /// The strands closer to a centre than a radius; the arguments are those of the operation.
    pub(in crate::codegen::gpu) fn sphere(&mut self, given: &[&str]) -> [String; 3] {
        let (real, kept) = (self.ty(Class::Real), self.kept.clone());
        let given: Vec<String> = given.iter().map(|x| self.real_in_register(x)).collect();
        let (radius, centre) = given.split_last().expect("a radius");
        let count = self.register(Class::Word);
        let [none, unsampled] = [0; 2].map(|_| self.label());
        self.line(&format!("mov.u32 {count}, 0"));
        let zero = self.number(0.0, Class::Real);
        let above = self.compute(Class::Truth, &format!("setp.gt.{real}"), &[radius, &zero]);
        let finite = self.are_finite(centre);
        let asks = self.compute(Class::Truth, "and.pred", &[&above, &finite]);
        self.line(&format!("@!{asks} bra {none}"));
        self.tell_radius(radius, &unsampled);
        let square = self.compute(Class::Real, &format!("mul.rn.{real}"), &[radius, radius]);
        let (mask, bits) = self.box_mask();
        let ranges = self.ranges(centre, radius, &mask);
        let first = self.kept_at(&kept);
        let end_of_list = self.compute(Class::Wide, "mov.u64", &[&first]);
        let limit = self.compute(Class::Word, "mov.u32", &[&Near::HITS.to_string()]);
        let limit = self.kept_at(&limit);
        let strands = self.word(Header::COUNT);
        let most = (NONE >> NUMBER_BITS).to_string();
        let too_many = self.compute(Class::Truth, "setp.gt.u32", &[&strands, &most]);
        self.line(&format!("@{too_many} bra LEAVE"));
        let own = self.number_of_thread();
        let [boxes, places] = [Header::BOXES, Header::PLACES].map(|at| self.address(at));
        // A loop for every axis, that of the last one outside. Along the first one it takes several boxes at a time.
        let mut number = None;
        let mut loops = Vec::new();
        for (low, steps) in ranges.iter().rev() {
            let (top, step) = (self.label(), self.register(Class::Word));
            self.line(&format!("mov.u32 {step}, 0"));
            self.place_label(&top);
            let along = self.compute(Class::Word, "add.u32", &[low, &step]);
            let along = self.compute(Class::Word, "and.b32", &[&along, &mask]);
            number = Some(self.append_box(number, &along, &bits));
            loops.push((top, step, steps, along, "1".to_string()));
        }
        let number = number.expect("a position has coordinates");
        let (_, step, steps, along, by) = loops.last_mut().expect("an axis");
        *by = self.boxes_together(&number, [along, &mask], [step, steps]);
        let at = self.compute(Class::Wide, "mad.wide.u32", &[&number, "8", &boxes]);
        let begin = self.load("global.nc", &at, 4);
        let last = self.compute(Class::Wide, "mad.wide.u32", &[by, "8", &at]);
        let last = self.compute(Class::Wide, "add.s64", &[&last, "-8"]);
        let [count_there, last_begin] = [0; 2].map(|_| self.register(Class::Word));
        self.line(&format!(
            "ld.global.nc.v2.u32 {{{count_there}, {last_begin}}}, [{last}]"
        ));
        let end = self.compute(Class::Word, "add.u32", &[&last_begin, &count_there]);
        let left = self.compute(Class::Word, "sub.u32", &[&end, &begin]);
        let record = 4 * self.lanes.bytes();
        let bytes = record.to_string();
        let place = self.compute(Class::Wide, "mad.wide.u32", &[&begin, &bytes, &places]);
        let [candidates, done] = [0; 2].map(|_| self.label());
        let is_empty = self.compute(Class::Truth, "setp.eq.u32", &[&left, "0"]);
        self.line(&format!("@{is_empty} bra {done}"));
        self.place_label(&candidates);
        let positions: Vec<Vec<String>> = (0..TOGETHER)
            .map(|n| self.position_at(&place, n, centre.len()))
            .collect();
        for (n, position) in positions.iter().enumerate() {
            let strand = self.compute(Class::Word, "add.u32", &[&begin, &n.to_string()]);
            let distance = self.square_distance(position, centre);
            let inside = self.compute(
                Class::Truth,
                &format!("setp.lt.{real}"),
                &[&distance, &square],
            );
            let other = self.compute(Class::Truth, "setp.ne.u32", &[&strand, &own]);
            let mut found = self.compute(Class::Truth, "and.pred", &[&inside, &other]);
            if n > 0 {
                let is_there = self.compute(Class::Truth, "setp.gt.s32", &[&left, &n.to_string()]);
                found = self.compute(Class::Truth, "and.pred", &[&found, &is_there]);
            }
            self.line(&format!("@{found} st.local.u32 [{end_of_list}], {strand}"));
            self.line(&format!("@{found} add.s64 {end_of_list}, {end_of_list}, 4"));
        }
        // A strand that finds too many leaves. Behind the room for hits there is more, so that looking now and then will do.
        let full = self.compute(Class::Truth, "setp.gt.u64", &[&end_of_list, &limit]);
        self.line(&format!("@{full} bra LEAVE"));
        self.line(&format!("add.s64 {place}, {place}, {}", TOGETHER * record));
        self.line(&format!("add.u32 {begin}, {begin}, {TOGETHER}"));
        self.line(&format!("sub.u32 {left}, {left}, {TOGETHER}"));
        let more = self.compute(Class::Truth, "setp.gt.s32", &[&left, "0"]);
        self.line(&format!("@{more} bra {candidates}"));
        self.place_label(&done);
        for (top, step, steps, _, by) in loops.iter().rev() {
            self.line(&format!("add.u32 {step}, {step}, {by}"));
            let more = self.compute(Class::Truth, "setp.lt.u32", &[step, steps]);
            self.line(&format!("@{more} bra {top}"));
        }
        let bytes = self.compute(Class::Wide, "sub.s64", &[&end_of_list, &first]);
        let number = self.compute(Class::Wide, "shr.u64", &[&bytes, "2"]);
        self.line(&format!("cvt.u32.u64 {count}, {number}"));
        self.sort(&first, &count);
        self.place_label(&none);
        let list = [&kept, &count].map(|word| self.int_of(word));
        self.line(&format!("add.u32 {kept}, {kept}, {count}"));
        let [begin, count] = list;
        [begin.clone(), begin, count]
    }

    /// How many boxes from one on have their strands next to each other in the order of boxes, of those that are left:
    /// threads give places to [`Near::BOXES`] at a time, and the numbers along the first axis go round.
    fn boxes_together(
        &mut self,
        number: &str,
        [along, mask]: [&str; 2],
        [step, steps]: [&str; 2],
    ) -> String {
        let [chunk, within] = [Near::BOXES, Near::BOXES - 1].map(|n| n.to_string());
        let within = self.compute(Class::Word, "and.b32", &[number, &within]);
        let in_chunk = self.compute(Class::Word, "sub.u32", &[&chunk, &within]);
        let in_row = self.compute(Class::Word, "sub.u32", &[mask, along]);
        let in_row = self.compute(Class::Word, "add.u32", &[&in_row, "1"]);
        let left = self.compute(Class::Word, "sub.u32", &[steps, step]);
        let most = self.compute(Class::Word, "min.u32", &[&in_chunk, &in_row]);
        self.compute(Class::Word, "min.u32", &[&most, &left])
    }

    /// Tells the radius, if this strand is among those that do.
    fn tell_radius(&mut self, radius: &str, end: &str) {
        let slot = self.slot.clone();
        let mask = (SAMPLES - 1).to_string();
        let number = self.compute(Class::Word, "and.b32", &[&slot, &mask]);
        let silent = self.compute(Class::Truth, "setp.ne.u32", &[&number, "0"]);
        self.line(&format!("@{silent} bra {end}"));
        let bits = self.register(Class::Word);
        if self.lanes.double {
            // The high half of a positive number orders like the number, and is as good here.
            let wide = self.compute(Class::Wide, "mov.b64", &[radius]);
            let high = self.compute(Class::Wide, "shr.u64", &[&wide, "32"]);
            self.line(&format!("cvt.u32.u64 {bits}, {high}"));
        } else {
            self.line(&format!("mov.b32 {bits}, {radius}"));
        }
        let flags = self.address(Header::FLAGS);
        self.line(&format!(
            "red.global.max.u32 [{flags}+{}], {bits}",
            Header::RADIUS
        ));
        self.place_label(end);
    }

    /// For every axis the number of the first box that the sphere touches, and how many there are; no more than all.
    fn ranges(&mut self, centre: &[String], radius: &str, mask: &str) -> Vec<(String, String)> {
        let (slack, tiny) = match self.lanes.double {
            true => (<f64 as Coordinate>::SLACK, <f64 as Coordinate>::TINY),
            false => (<f32 as Coordinate>::SLACK, <f32 as Coordinate>::TINY),
        };
        let [slack, tiny] = [1.0 + slack, tiny].map(|x| self.number(x, Class::Double));
        let reach = self.widened(radius);
        let reach = self.compute(Class::Double, "mul.rn.f64", &[&reach, &slack]);
        let reach = self.compute(Class::Double, "add.rn.f64", &[&reach, &tiny]);
        let mut ranges = Vec::new();
        for x in centre {
            let x = self.widened(x);
            let [low, high] = ["sub.rn.f64", "add.rn.f64"].map(|instruction| {
                let end = self.compute(Class::Double, instruction, &[&x, &reach]);
                self.box_along(&end)
            });
            let last = self.compute(Class::Word, "sub.u32", &[&high, &low]);
            let last = self.compute(Class::Word, "min.u32", &[&last, mask]);
            let steps = self.compute(Class::Word, "add.u32", &[&last, "1"]);
            ranges.push((low, steps));
        }
        ranges
    }

    /// The square of the distance of two places.
    fn square_distance(&mut self, one: &[String], other: &[String]) -> String {
        let real = self.ty(Class::Real);
        let mut sum: Option<String> = None;
        for (a, b) in one.iter().zip(other) {
            let along = self.compute(Class::Real, &format!("sub.rn.{real}"), &[a, b]);
            let along = self.compute(Class::Real, &format!("mul.rn.{real}"), &[&along, &along]);
            sum = Some(match sum {
                None => along,
                Some(sum) => self.compute(Class::Real, &format!("add.rn.{real}"), &[&sum, &along]),
            });
        }
        sum.expect("a position has coordinates")
    }

    /// The position of the strand this many after a place in the order of boxes.
    fn position_at(&mut self, place: &str, ahead: usize, dim: usize) -> Vec<String> {
        let all: Vec<String> = (0..4).map(|_| self.register(Class::Real)).collect();
        let (bytes, ty) = (self.lanes.bytes(), self.ty(Class::Real));
        let vector = 16 / bytes;
        for (n, some) in all.chunks(vector).enumerate().take(dim.div_ceil(vector)) {
            let (some, at) = (some.join(", "), 4 * bytes * ahead + 16 * n);
            self.line(&format!(
                "ld.global.nc.v{vector}.{ty} {{{some}}}, [{place}+{at}]"
            ));
        }
        all[..dim].to_vec()
    }

    /// The rank of the strand at a place in the order of boxes.
    fn rank_at(&mut self, place: &str) -> String {
        let bytes = self.lanes.bytes();
        let at = self.element(Header::PLACES, place, 4 * bytes);
        self.load("global.nc", &at, 3 * bytes)
    }

    /// The address of a strand in the memory of the thread.
    fn kept_at(&mut self, index: &str) -> String {
        let first = self.compute(Class::Wide, "mov.u64", &[HITS]);
        self.compute(Class::Wide, "mad.wide.u32", &[index, "4", &first])
    }

    /// Sorts this many strands from an address on by their ranks. The code for that stands once in a kernel, behind the methods.
    fn sort(&mut self, first: &str, count: &str) {
        if self.sorts.is_none() {
            let classes = [Class::Wide, Class::Word, Class::Word];
            let registers = classes.map(|class| self.register(class));
            self.sorts = Some(Sorts {
                registers,
                returns: 0,
            });
        }
        let sorts = self.sorts.as_mut().expect("there are some now");
        let number = sorts.returns;
        sorts.returns += 1;
        let [to_first, to_count, from] = sorts.registers.clone();
        self.line(&format!("mov.u64 {to_first}, {first}"));
        self.line(&format!("mov.u32 {to_count}, {count}"));
        self.line(&format!("mov.u32 {from}, {number}"));
        self.line("bra SORT");
        self.place_label(&format!("SORTED{number}"));
    }

    /// What [`PtxPrinter::sort`] goes to.
    pub(super) fn sorting(&mut self) {
        let Some(Sorts { registers, returns }) = self.sorts.take() else {
            return;
        };
        let [first, count, from] = registers;
        self.place_label("SORT");
        let threads = self.register(Class::Word);
        self.line(&format!("activemask.b32 {threads}"));
        for size in NETWORKS {
            let larger = self.label();
            let most = size.to_string();
            let beyond = self.compute(Class::Truth, "setp.gt.u32", &[&count, &most]);
            // Threads that run together would go through all the networks that one of them takes.
            let some = self.compute(Class::Truth, "vote.sync.any.pred", &[&beyond, &threads]);
            self.line(&format!("@{some} bra {larger}"));
            self.network(size, &first, &count);
            self.line("bra SORTED");
            self.place_label(&larger);
        }
        self.insert_all(&first, &count);
        self.place_label("SORTED");
        for number in 1..returns {
            let here = self.compute(Class::Truth, "setp.eq.u32", &[&from, &number.to_string()]);
            self.line(&format!("@{here} bra SORTED{number}"));
        }
        self.line("bra SORTED0");
    }

    /// Sorts by a network: threads exchange the same keys at a time, whatever these are. A key has the rank of a strand in
    /// front of its number in the list.
    fn network(&mut self, size: usize, first: &str, count: &str) {
        const { assert!(NETWORKS[NETWORKS.len() - 1] <= 1 << NUMBER_BITS) };
        let none = self.compute(Class::Word, "mov.u32", &[&NONE.to_string()]);
        let mut keys: Vec<String> = (0..size)
            .map(|n| {
                let key = self.compute(Class::Word, "mov.u32", &[&none]);
                let is = self.compute(Class::Truth, "setp.gt.u32", &[count, &n.to_string()]);
                let strand = self.load("local", first, 4 * n);
                let strand = self.compute(Class::Word, "selp.u32", &[&strand, "0", &is]);
                let rank = self.rank_at(&strand);
                let rank = self.compute(Class::Word, "shl.b32", &[&rank, &NUMBER_BITS.to_string()]);
                self.line(&format!("@{is} or.b32 {key}, {rank}, {n}"));
                key
            })
            .collect();
        for (low, high) in exchanges(size) {
            let [a, b] = [low, high].map(|n| keys[n].clone());
            keys[low] = self.compute(Class::Word, "min.u32", &[&a, &b]);
            keys[high] = self.compute(Class::Word, "max.u32", &[&a, &b]);
        }
        let mask = ((1u32 << NUMBER_BITS) - 1).to_string();
        let strands: Vec<String> = keys
            .iter()
            .map(|key| {
                let number = self.compute(Class::Word, "and.b32", &[key, &mask]);
                let at = self.compute(Class::Wide, "mad.wide.u32", &[&number, "4", first]);
                self.load("local", &at, 0)
            })
            .collect();
        for (n, strand) in strands.iter().enumerate() {
            self.line(&format!("st.local.u32 [{first}+{}], {strand}", 4 * n));
        }
    }

    /// Sorts in memory, one strand after the other.
    fn insert_all(&mut self, first: &str, count: &str) {
        let [next, shift, put] = [0; 3].map(|_| self.label());
        let which = self.compute(Class::Word, "mov.u32", &["1"]);
        self.place_label(&next);
        let at = self.compute(Class::Wide, "mad.wide.u32", &[&which, "4", first]);
        let strand = self.load("local", &at, 0);
        let rank = self.rank_at(&strand);
        self.place_label(&shift);
        let is_first = self.compute(Class::Truth, "setp.eq.u64", &[&at, first]);
        self.line(&format!("@{is_first} bra {put}"));
        let before = self.compute(Class::Wide, "add.s64", &[&at, "-4"]);
        let known = self.load("local", &before, 0);
        let known_rank = self.rank_at(&known);
        let smaller = self.compute(Class::Truth, "setp.lt.u32", &[&known_rank, &rank]);
        self.line(&format!("@{smaller} bra {put}"));
        self.line(&format!("st.local.u32 [{at}], {known}"));
        self.line(&format!("mov.u64 {at}, {before}"));
        self.line(&format!("bra {shift}"));
        self.place_label(&put);
        self.line(&format!("st.local.u32 [{at}], {strand}"));
        self.line(&format!("add.u32 {which}, {which}, 1"));
        let more = self.compute(Class::Truth, "setp.lt.u32", &[&which, count]);
        self.line(&format!("@{more} bra {next}"));
    }

    /// The strand at an index among those that a query found: where the list begins, a number, how long it is, the index.
    pub(in crate::codegen::gpu) fn strand_at(&mut self, given: &[&str]) -> String {
        let int = self.ty(Class::Int);
        let [begin, count, index] = [0, 2, 3].map(|n| self.in_register(given[n]));
        let below = self.compute(Class::Truth, &format!("setp.lt.{int}"), &[&index, "0"]);
        let above = self.compute(Class::Truth, &format!("setp.ge.{int}"), &[&index, &count]);
        let outside = self.compute(Class::Truth, "or.pred", &[&below, &above]);
        let (place, end) = (self.register(Class::Word), self.label());
        self.line(&format!("mov.u32 {place}, 0"));
        self.line(&format!("@{outside} bra {end}"));
        let number = self.compute(Class::Int, &format!("add.{int}"), &[&begin, &index]);
        let number = self.word_of(&number);
        let at = self.kept_at(&number);
        self.line(&format!("ld.local.u32 {place}, [{at}]"));
        self.place_label(&end);
        self.int_of(&place)
    }

    /// A state slot of another strand.
    pub(in crate::codegen::gpu) fn other(
        &mut self,
        slot: u32,
        strand: Value,
        given: &str,
    ) -> String {
        let near = self.near.expect("strands look at others");
        let plane = self.planes[slot as usize];
        // A position is among those that queries look at.
        let (array, bytes, offset) = match near.axis_of(slot) {
            Some(axis) => {
                let bytes = self.lanes.bytes();
                (Header::PLACES, 4 * bytes, axis * bytes)
            }
            None => (Header::SEEN, near.record, self.seen[&slot]),
        };
        let known = self
            .places
            .get(&KnownAddress::Strand(strand, array))
            .cloned();
        let record = known.unwrap_or_else(|| {
            let number = self.in_register(given);
            let number = self.word_of(&number);
            let record = self.element(array, &number, bytes);
            let place = KnownAddress::Strand(strand, array);
            self.places.insert(place, record.clone());
            record
        });
        let class = Class::of(Ty::Scalar(plane.ty));
        let loaded = match plane.ty {
            low::Ty::Bool => Class::Int,
            _ => class,
        };
        let (register, ty) = (self.register(loaded), self.ty(loaded));
        self.line(&format!(
            "ld.global.nc.{ty} {register}, [{record}+{offset}]"
        ));
        match plane.ty {
            low::Ty::Bool => self.compute(class, &format!("setp.ne.{ty}"), &[&register, "0"]),
            _ => register,
        }
    }

    /// A word as an integer.
    pub(super) fn int_of(&mut self, word: &str) -> String {
        let instruction = if self.lanes.long_int {
            "cvt.u64.u32"
        } else {
            "mov.u32"
        };
        self.compute(Class::Int, instruction, &[word])
    }

    /// An integer that is a word.
    pub(super) fn word_of(&mut self, int: &str) -> String {
        let instruction = if self.lanes.long_int && int.starts_with('%') {
            "cvt.u32.u64"
        } else {
            "mov.u32"
        };
        self.compute(Class::Word, instruction, &[int])
    }

    /// A real, in a register if it is a constant.
    fn real_in_register(&mut self, operand: &str) -> String {
        if operand.starts_with('%') {
            return operand.to_string();
        }
        let ty = self.ty(Class::Real);
        self.compute(Class::Real, &format!("mov.{ty}"), &[operand])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts zeros and ones sorts everything.
    #[test]
    fn networks_sort() {
        for size in NETWORKS {
            let network = exchanges(size);
            let mut bits = 0x9E37_79B9_7F4A_7C15u64;
            for _ in 0..10_000 {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let mixed = bits ^ bits >> 29;
                let mut list: Vec<u64> = (0..size).map(|n| mixed >> n & 1).collect();
                for &(low, high) in &network {
                    if list[low] > list[high] {
                        list.swap(low, high);
                    }
                }
                assert!(list.is_sorted(), "{size}: {mixed:x}");
            }
        }
    }
}
