//! Records facts about the places of a program while it is checked.

use super::{context::Cx, ids::VarId};
use crate::front::{
    facts::{Definition, DefinitionKind, Referent},
    source::Span,
    syntax::ast,
};
use ein_ir::{Type, ops};

impl Cx<'_> {
    /// Records a name that the innermost scope defines.
    pub(super) fn define(
        &mut self,
        name: &ast::Name,
        kind: DefinitionKind,
        ty: Option<&Type>,
        parameters: Vec<Span>,
    ) {
        let definition = Definition {
            name: name.text.clone(),
            kind,
            ty: ty.cloned(),
            parameters,
            scope: self.scopes.extent_of(name.span),
        };
        self.facts.define(name.span, definition);
    }

    /// Records that a name stands for a variable.
    pub(super) fn refers(&mut self, place: Span, var: VarId) {
        let defined = self.var(var).span;
        self.facts.name(place, Referent::Defined(defined));
    }

    /// Whether a name is that of the strand, which is then recorded.
    pub(super) fn names_strand(&mut self, name: &str, place: Span) -> bool {
        match &self.strand {
            Some(strand) if strand.name == name => {
                self.facts.name(place, Referent::Defined(strand.span));
                true
            }
            _ => false,
        }
    }

    /// Records that a name is that of an operator.
    pub(super) fn names_operator(&mut self, place: Span, spelling: &str) {
        if let Some(row) = ops::candidates(spelling).next() {
            self.facts.name(place, Referent::Operator(row));
        }
    }
}
