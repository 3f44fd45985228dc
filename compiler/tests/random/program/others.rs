//! Other strands: neighbours in methods, all of them in global blocks.

use super::types::Ty;
use super::writer::Writer;

/// The strand of every program, and state variables that all of them have: an integer, a real, a truth value.
pub(crate) const STRAND: &str = "s";

impl Writer {
    /// A radius that is the distance of no two strands.
    fn radius(&mut self) -> &'static str {
        self.dice.pick(&["0.6137", "1.1371", "1.7113"])
    }

    /// The strands nearby.
    pub(crate) fn sphere(&mut self, d: usize) -> Option<String> {
        let ty = self.position.clone().filter(|_| self.place.is_method())?;
        let radius = self.radius();
        Some(match self.dice.below(3) {
            0 => {
                let centre = self.expr(&ty, d.min(1));
                format!("sphere({centre}, {radius})")
            }
            _ => format!("sphere({radius})"),
        })
    }

    /// A reduction over strands. Sums are those of integers, which do not depend on the order.
    pub(crate) fn neighbours(&mut self, ty: &Ty, d: usize) -> Option<String> {
        let strands = match self.place.is_method() {
            true => self.sphere(d)?,
            false => return None,
        };
        Some(self.reduced(ty, &strands))
    }

    /// A reduction over all strands, in a global block.
    pub(crate) fn over_all(&mut self, ty: &Ty) -> String {
        let set = self.dice.pick(&["all", "active", "stable"]);
        let strands = format!("{STRAND}.{set}");
        self.reduced(ty, &strands)
    }

    fn reduced(&mut self, ty: &Ty, strands: &str) -> String {
        let q = self.fresh("q");
        let c = self.dice.odd_number();
        match ty {
            Ty::Int => match self.dice.below(4) {
                0 => format!("sum {{{q}.p | {q} in {strands}}}"),
                1 => format!("(max {{|{q}.p % 7| | {q} in {strands}}} % 17)"),
                _ => format!("sum {{1 if {q}.a > {c} else 0 | {q} in {strands}}}"),
            },
            Ty::Bool => match self.dice.below(2) {
                0 => format!("exists {{{q}.p > 2 | {q} in {strands}}}"),
                _ => format!("all {{{q}.a < {c} | {q} in {strands}}}"),
            },
            _ => match self.dice.below(2) {
                0 => format!("clamp(-2, 2, max {{{q}.a | {q} in {strands}}})"),
                _ => format!("clamp(-2, 2, min {{{q}.a*{c} | {q} in {strands}}})"),
            },
        }
    }
}
