//! Index notation as text. Indices have their ranges where they are bound.

use super::{
    Expr, VarId,
    notation::{Binder, Clause, Notation, Range, Values},
    print::Printer,
};

impl Printer<'_> {
    pub(super) fn notation(&self, notation: &Notation) -> String {
        match notation {
            Notation::Index(var) | Notation::Itself(var) => self.var(*var),
            Notation::Component { base, indices } => {
                let index = |index: &Option<Expr>| match index {
                    Some(index) => self.expr(index),
                    None => ":".to_owned(),
                };
                format!("{}[{}]", self.expr(base), joined(indices, index))
            }
            Notation::Partial { indices, field } => {
                format!("(∂[{}] {})", self.list(indices), self.expr(field))
            }
            Notation::Delta(indices) => format!("δ[{}]", self.list(&indices[..])),
            Notation::Epsilon(indices) => format!("ε[{}]", self.list(indices)),
            Notation::Reduced {
                reduction,
                over,
                body,
            } => {
                let over = joined(over, |binder| self.binder(binder));
                format!("{}[{over}]({})", reduction.name(), self.expr(body))
            }
            Notation::Definition { left, body } => {
                let left = joined(left, |binder| self.binder(binder));
                format!("([{left}] = {})", self.expr(body))
            }
            Notation::Clauses { itself, clauses } => {
                let clause = |clause: &Clause| {
                    let axes: Vec<_> = clause.indices.iter().zip(&clause.places).collect();
                    let axes = joined(&axes, |(index, range)| self.slot(**index, **range));
                    format!(
                        " {}[{axes}] = {};",
                        self.var(*itself),
                        self.expr(&clause.body)
                    )
                };
                let clauses: String = clauses.iter().map(clause).collect();
                format!("{{{clauses} }}")
            }
        }
    }

    fn binder(&self, binder: &Binder) -> String {
        match &binder.values {
            Values::Range(range) => self.slot(Some(binder.var), *range),
            Values::Elements { sequence, element } => {
                format!("{} in {}", self.var(*element), self.expr(sequence))
            }
        }
    }

    /// An index with its range, or a place.
    fn slot(&self, index: Option<VarId>, range: Range) -> String {
        match index {
            Some(var) => format!("{} in {}..{}", self.var(var), range.low, range.end() - 1),
            None => range.low.to_string(),
        }
    }
}

fn joined<T>(parts: &[T], text: impl Fn(&T) -> String) -> String {
    let texts: Vec<String> = parts.iter().map(text).collect();
    texts.join(", ")
}
