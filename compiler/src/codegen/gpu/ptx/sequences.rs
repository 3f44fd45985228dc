//! Operations on sequences of varying length in a kernel. A sequence is the place of a buffer and a length; `sequences.rs` tells how
//! buffers are laid out.

use super::{Class, PtxPrinter};
use crate::{
    codegen::gpu::sequences::layout::{GROWS_AT_START, HEAD, SLACK, UNIT, UNITS, USED},
    device::Ty,
    low::{Dynamic, Element},
};

impl PtxPrinter<'_> {
    /// The results of an operation on sequences; nothing for others.
    pub(in crate::codegen::gpu) fn on_sequences(
        &mut self,
        op: &Dynamic,
        given: &[&str],
    ) -> Option<Vec<String>> {
        Some(match op {
            Dynamic::List(element, count) => self.list(*element, *count, given),
            Dynamic::Append(element) => self.append(*element, given),
            Dynamic::Prepend(element) => self.prepend(*element, given),
            Dynamic::Concatenate(element) => self.concatenate(*element, given),
            Dynamic::Item(element) => self.item(*element, given),
            _ => return None,
        })
    }

    /// Bytes of an element.
    fn element_bytes(&self, element: Element) -> usize {
        self.lanes.lane_bytes(element.ty) * element.scalars as usize
    }

    /// A sequence as the integers of the program.
    fn give(&mut self, place: &str, length: &str) -> Vec<String> {
        [place, length].map(|word| self.int_of(word)).into()
    }

    fn list(&mut self, element: Element, count: u32, given: &[&str]) -> Vec<String> {
        if count == 0 {
            return vec!["0".into(), "0".into()];
        }
        let bytes = self.element_bytes(element);
        let length = self.compute(Class::Word, "mov.u32", &[&count.to_string()]);
        let [place, units] = self.take(&length, bytes, 1);
        let buffer = self.new_buffer(&place);
        self.begin_buffer(&buffer, &units, &length, "0");
        self.put(element, given, &buffer, HEAD);
        self.give(&place, &length)
    }

    /// The buffer of a sequence: its address, its units, and whether the sequence is its newest value; for one that grows at its
    /// start, or at its end.
    fn open(&mut self, place: &str, length: &str, at_start: bool) -> [String; 3] {
        let buffer = self.buffer(place);
        let [units, used] = [UNITS, USED].map(|at| self.load("global", &buffer, at));
        let is_newest = self.compute(Class::Truth, "setp.eq.u32", &[&used, length]);
        let lists = self.kernel.lists.as_ref();
        if !lists.is_some_and(|lists| lists.prepends) {
            return [buffer, units, is_newest];
        }
        let grows = self.load("global", &buffer, GROWS_AT_START);
        let wanted = u32::from(at_start).to_string();
        let fits = self.compute(Class::Truth, "setp.eq.u32", &[&grows, &wanted]);
        let is_newest = self.compute(Class::Truth, "and.pred", &[&is_newest, &fits]);
        [buffer, units, is_newest]
    }

    /// Whether this many elements and some bytes have room in a buffer.
    fn has_room(&mut self, units: &str, count: &str, element: usize, more: u64) -> String {
        let wanted = self.bytes(count, element, &more.to_string());
        let unit = UNIT.to_string();
        let there = self.compute(Class::Wide, "mad.wide.u32", &[units, &unit, "0"]);
        self.compute(Class::Truth, "setp.le.u64", &[&wanted, &there])
    }

    fn append(&mut self, element: Element, given: &[&str]) -> Vec<String> {
        let bytes = self.element_bytes(element);
        let [place, length] = [given[0], given[1]].map(|int| self.word_of(int));
        let longer = self.compute(Class::Word, "add.u32", &[&length, "1"]);
        let [buffer, units, is_newest] = self.open(&place, &length, false);
        let fits = self.has_room(&units, &longer, bytes, HEAD);
        let in_place = self.compute(Class::Truth, "and.pred", &[&is_newest, &fits]);
        let write = self.label();
        self.line(&format!("@{in_place} bra {write}"));
        let [new, units] = self.take(&longer, bytes, 2);
        let to = self.new_buffer(&new);
        let from = self.first_of(&buffer, &length, bytes);
        self.copy_elements(&from, (&to, HEAD), &length, bytes);
        self.begin_buffer(&to, &units, &longer, "0");
        self.line(&format!("mov.u32 {place}, {new}"));
        self.line(&format!("mov.u64 {buffer}, {to}"));
        self.place_label(&write);
        self.line(&format!("st.global.u32 [{buffer}+{USED}], {longer}"));
        let at = self.bytes(&length, bytes, &buffer);
        self.put(element, &given[2..], &at, HEAD);
        self.give(&place, &longer)
    }

    fn prepend(&mut self, element: Element, given: &[&str]) -> Vec<String> {
        let bytes = self.element_bytes(element);
        let [place, length] = [given[0], given[1]].map(|int| self.word_of(int));
        let longer = self.compute(Class::Word, "add.u32", &[&length, "1"]);
        let [buffer, units, is_newest] = self.open(&place, &length, true);
        let fits = self.has_room(&units, &longer, bytes, HEAD + SLACK);
        let in_place = self.compute(Class::Truth, "and.pred", &[&is_newest, &fits]);
        let all = self.bytes(&longer, bytes, "0");
        let write = self.label();
        self.line(&format!("@{in_place} bra {write}"));
        let [new, more] = self.take(&longer, bytes, 2);
        let to = self.new_buffer(&new);
        let from = self.first_of(&buffer, &length, bytes);
        let end = self.buffer_end(&to, &more);
        let first = self.compute(Class::Wide, "sub.s64", &[&end, &all]);
        self.copy_elements(&from, (&first, bytes as u64), &length, bytes);
        self.begin_buffer(&to, &more, &longer, "1");
        self.line(&format!("mov.u32 {place}, {new}"));
        self.line(&format!("mov.u32 {units}, {more}"));
        self.line(&format!("mov.u64 {buffer}, {to}"));
        self.place_label(&write);
        self.line(&format!("st.global.u32 [{buffer}+{USED}], {longer}"));
        let end = self.buffer_end(&buffer, &units);
        let at = self.compute(Class::Wide, "sub.s64", &[&end, &all]);
        self.put(element, &given[2..], &at, 0);
        self.give(&place, &longer)
    }

    fn concatenate(&mut self, element: Element, given: &[&str]) -> Vec<String> {
        let bytes = self.element_bytes(element);
        let [place, left, right_place, right] = [0, 1, 2, 3].map(|n| self.word_of(given[n]));
        let done = self.label();
        let none = self.compute(Class::Truth, "setp.eq.u32", &[&right, "0"]);
        self.line(&format!("@{none} bra {done}"));
        let wide = [&left, &right].map(|n| self.compute(Class::Wide, "cvt.u64.u32", &[n]));
        let sum = self.compute(Class::Wide, "add.s64", &[&wide[0], &wide[1]]);
        let most = u32::MAX.to_string();
        let is_huge = self.compute(Class::Truth, "setp.gt.u64", &[&sum, &most]);
        self.line(&format!("@{is_huge} bra LEAVE"));
        let longer = self.compute(Class::Word, "cvt.u32.u64", &[&sum]);
        let [buffer, units, is_newest] = self.open(&place, &left, false);
        let fits = self.has_room(&units, &longer, bytes, HEAD + SLACK);
        let in_place = self.compute(Class::Truth, "and.pred", &[&is_newest, &fits]);
        let write = self.label();
        self.line(&format!("@{in_place} bra {write}"));
        let [new, units] = self.take(&longer, bytes, 2);
        let to = self.new_buffer(&new);
        let from = self.first_of(&buffer, &left, bytes);
        self.copy_elements(&from, (&to, HEAD), &left, bytes);
        self.begin_buffer(&to, &units, &longer, "0");
        self.line(&format!("mov.u32 {place}, {new}"));
        self.line(&format!("mov.u64 {buffer}, {to}"));
        self.place_label(&write);
        self.line(&format!("st.global.u32 [{buffer}+{USED}], {longer}"));
        let other = self.buffer(&right_place);
        let from = self.first_of(&other, &right, bytes);
        let at = self.bytes(&left, bytes, &buffer);
        self.copy_elements(&from, (&at, HEAD), &right, bytes);
        self.line(&format!("mov.u32 {left}, {longer}"));
        self.place_label(&done);
        self.give(&place, &left)
    }

    /// The scalars of an element, or zeros.
    fn item(&mut self, element: Element, given: &[&str]) -> Vec<String> {
        let bytes = self.element_bytes(element);
        let class = Class::of(Ty::Scalar(element.ty));
        let loaded = match class {
            Class::Truth => Class::Int,
            other => other,
        };
        let ty = self.ty(loaded);
        let zero = match loaded {
            Class::Real => self.number(0.0, Class::Real),
            _ => "0".into(),
        };
        let scalars = 0..element.scalars;
        let registers: Vec<String> = scalars
            .map(|_| self.compute(loaded, &format!("mov.{ty}"), &[&zero]))
            .collect();
        let [index, length] = [given[2], given[1]].map(|int| self.in_register(int));
        let int = self.ty(Class::Int);
        let end = self.label();
        let below = self.compute(Class::Truth, &format!("setp.lt.{int}"), &[&index, "0"]);
        self.line(&format!("@{below} bra {end}"));
        let above = self.compute(Class::Truth, &format!("setp.ge.{int}"), &[&index, &length]);
        self.line(&format!("@{above} bra {end}"));
        let [place, length, index] = [given[0], &length, &index].map(|int| self.word_of(int));
        let buffer = self.buffer(&place);
        let first = self.first_of(&buffer, &length, bytes);
        let at = self.bytes(&index, bytes, &first);
        let step = self.lanes.lane_bytes(element.ty);
        for (n, register) in registers.iter().enumerate() {
            self.line(&format!("ld.global.{ty} {register}, [{at}+{}]", n * step));
        }
        self.place_label(&end);
        if class != Class::Truth {
            return registers;
        }
        let truth =
            |register: &String| self.compute(class, &format!("setp.ne.{ty}"), &[register, "0"]);
        registers.iter().map(truth).collect()
    }

    /// Stores the scalars of elements, as states have them.
    pub(super) fn put(&mut self, element: Element, given: &[&str], at: &str, offset: u64) {
        let class = Class::of(Ty::Scalar(element.ty));
        let step = self.lanes.lane_bytes(element.ty);
        let int = self.ty(Class::Int);
        for (n, scalar) in given.iter().enumerate() {
            let place = offset as usize + n * step;
            let value = match class {
                Class::Real if scalar.starts_with('%') => (*scalar).to_string(),
                Class::Real => {
                    let ty = self.ty(class);
                    self.compute(class, &format!("mov.{ty}"), &[scalar])
                }
                Class::Truth => {
                    let select = format!("selp.{int}");
                    self.compute(Class::Int, &select, &["-1", "0", scalar])
                }
                _ => self.in_register(scalar),
            };
            if class == Class::Real {
                let ty = self.ty(class);
                self.line(&format!("st.global.{ty} [{at}+{place}], {value}"));
            } else if step == 8 && int == "s32" {
                let wide = self.compute(Class::Wide, "cvt.s64.s32", &[&value]);
                self.line(&format!("st.global.u64 [{at}+{place}], {wide}"));
            } else {
                self.line(&format!("st.global.{int} [{at}+{place}], {value}"));
            }
        }
    }
}

impl PtxPrinter<'_> {
    /// Loads one half of a handle, a word.
    pub(super) fn load_half(&mut self, lane: &str, offset: usize) -> String {
        let word = self.load("global", lane, offset);
        self.int_of(&word)
    }

    /// Stores one half of a handle.
    pub(super) fn store_half(&mut self, lane: &str, offset: usize, half: &str) {
        let word = self.word_of(half);
        self.line(&format!("st.global.u32 [{lane}+{offset}], {word}"));
    }
}
