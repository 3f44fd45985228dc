//! Sequences: those of fixed and varying length, elements, reductions and comprehensions.

use super::types::{Kind, Origin, Ty};
use super::writer::Writer;

impl Writer {
    /// A sequence of fixed length.
    pub(crate) fn fixed(&mut self, element: &Ty, n: usize, depth: usize) -> String {
        let ty = Ty::fixed(element.clone(), n);
        if depth > 0 && self.dice.once_in(4) {
            let d = self.below(depth);
            let [a, b] = [0, 1].map(|_| self.fixed(element, n, d));
            return format!("({a} if {} else {b})", self.truth(d));
        }
        if !self.dice.once_in(3)
            && let Some(v) = self.variable(&ty)
        {
            return v;
        }
        let d = self.below(depth);
        let parts: Vec<String> = (0..n).map(|_| self.expr(element, d)).collect();
        format!("{{{}}}", parts.join(", "))
    }

    /// A sequence of varying length; empty sometimes, never long.
    pub(crate) fn list(&mut self, element: &Ty, depth: usize) -> String {
        let ty = Ty::list(element.clone());
        let d = self.below(depth);
        match self.dice.below(if depth == 0 { 2 } else { 7 }) {
            0 | 1 => self
                .variable(&ty)
                .unwrap_or_else(|| self.fixed(element, 2, d)),
            2 if self.is_new() => self.comprehension(element, d),
            3 => format!("({} @ {})", self.list(element, 0), self.expr(element, d)),
            4 => format!("({} @ {})", self.expr(element, d), self.list(element, 0)),
            5 => {
                let [a, b] = [0, 1].map(|_| self.list(element, d.min(1)));
                format!("({a} if {} else {b})", self.truth(d))
            }
            _ => {
                let n = 1 + self.dice.below(3);
                let parts: Vec<String> = (0..n).map(|_| self.expr(element, d)).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    /// `{ e | x in s }`
    fn comprehension(&mut self, element: &Ty, d: usize) -> String {
        format!("{{{}}}", self.inner_comprehension(element, d, false))
    }

    /// `e | x in s`, where `s` has an element if it must.
    fn inner_comprehension(&mut self, element: &Ty, d: usize, some: bool) -> String {
        let name = self.fresh("t");
        let lists = self.has_lists();
        let (source, ty, kind) = match self.dice.below(4) {
            0 if self.is_new() => {
                let end = self.dice.below(3);
                (format!("0..{end}"), Ty::Int, Kind::Counter)
            }
            1 if self.is_new() && !some && lists => {
                let end = self.int(0);
                (
                    format!("1..{}", self.limited(&end, 2)),
                    Ty::Int,
                    Kind::Counter,
                )
            }
            2 if lists => {
                let more = if some { self.real(0) } else { String::new() };
                let list = self.list(&Ty::Real, 0);
                let source = if some {
                    format!("{list} @ {more}")
                } else {
                    list
                };
                (source, Ty::Real, Kind::Varying)
            }
            _ => {
                let n = 2 + self.dice.below(2);
                (self.fixed(&Ty::Real, n, 0), Ty::Real, Kind::Varying)
            }
        };
        let before = self.vars.len();
        self.define(&name, ty, Origin::Fixed, kind);
        let body = self.expr(element, d.min(2));
        self.vars.truncate(before);
        format!("{body} | {name} in {source}")
    }

    /// A reduction of a sequence to a type.
    pub(crate) fn reduction(&mut self, ty: &Ty, d: usize) -> String {
        let (functions, some): (&[&str], bool) = match ty {
            Ty::Bool => (&["all", "exists"], false),
            Ty::Int => match self.dice.below(2) {
                0 => (&["sum", "product"], false),
                _ => (&["min", "max"], true),
            },
            Ty::Real => match self.dice.below(2) {
                0 => (&["sum", "product"], false),
                _ => (&["min", "max", "mean", "variance"], true),
            },
            _ => match self.dice.below(2) {
                0 => (&["sum"], false),
                _ => (&["mean", "variance"], true),
            },
        };
        let function = self.dice.pick(functions);
        if *ty == Ty::Int && self.has_lists() && self.dice.once_in(3) {
            let list = self.list(&Ty::Real, d.min(1));
            return match self.dice.below(3) {
                0 => format!("argmin({list})"),
                1 => format!("argmax({list})"),
                _ => format!("length({list})"),
            };
        }
        let inner = self.inner_comprehension(ty, d, some);
        match self.dice.below(3) {
            0 if self.is_new() => format!("{function}({{{inner}}})"),
            _ => format!("{function} {{{inner}}}"),
        }
    }

    /// An element of a sequence, at an index that is in range.
    pub(crate) fn item(&mut self, ty: &Ty, d: usize) -> String {
        let n = 2 + self.dice.below(3);
        if self.has_lists() && self.is_new() && self.dice.once_in(2) {
            let list = match self.variable(&Ty::list(ty.clone())) {
                Some(list) => list,
                None => return self.expr(ty, d),
            };
            let last = self.expr(ty, d.min(1));
            let index = self.int(d.min(1));
            return format!("({list} @ {last})[|{index}| % (length({list}) + 1)]");
        }
        let sequence = self.fixed(ty, n, d.min(1));
        // An index that is computed is checked.
        let index = match self.is_quiet || self.dice.once_in(2) {
            true => self.dice.below(n).to_string(),
            false => {
                let index = self.int(d.min(1));
                self.limited(&index, n - 1)
            }
        };
        let sequence = if self.is_new() {
            format!("({sequence})")
        } else {
            sequence
        };
        self.element(&sequence, &index)
    }
}
