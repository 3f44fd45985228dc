//! Names and their definitions.
//!
//! Variables and constants live in nested scopes, functions in a table of their own that only the top level writes to.
//! Entering and leaving a scope costs as much as the names declared in it, so deep or long programs stay linear.

use super::ids::{ConstId, FunctionId, VarId};
use crate::front::source::Span;
use std::collections::HashMap;

/// What a name used as a value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    /// A variable.
    Var(VarId),
    /// A compile-time constant.
    Const(ConstId),
}

struct Entry {
    entity: Entity,
    span: Span,
    depth: usize,
}

/// The names visible at one place of the program.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    values: HashMap<&'a str, Vec<Entry>>,
    functions: HashMap<&'a str, (FunctionId, Span)>,
    frames: Vec<Frame<'a>>,
}

struct Frame<'a> {
    names: Vec<&'a str>,
    /// The text in which they can be used.
    extent: Span,
}

/// The extent of the top level.
const EVERYWHERE: Span = Span {
    start: 0,
    end: u32::MAX,
};

impl<'a> Scopes<'a> {
    /// Enters a new innermost scope, whose names can be used in a part of the text.
    pub(super) fn push(&mut self, extent: Span) {
        let names = Vec::new();
        self.frames.push(Frame { names, extent });
    }

    /// The part of the text in which a name that the innermost scope declares can be used.
    pub(super) fn extent_of(&self, name: Span) -> Span {
        let extent = self.frames.last().map_or(EVERYWHERE, |frame| frame.extent);
        let is_inside = extent.start <= name.start && name.end <= extent.end;
        let start = if is_inside { name.end } else { extent.start };
        Span { start, ..extent }
    }

    /// Leaves the innermost scope; its names are forgotten.
    pub(super) fn pop(&mut self) {
        let names = self.frames.pop().map(|frame| frame.names);
        for name in names.into_iter().flatten() {
            if let Some(entries) = self.values.get_mut(name) {
                entries.pop();
            }
        }
    }

    /// Declares a variable or constant in the innermost scope. If the scope has the name already, the place of the
    /// first declaration is returned; the new one hides it, so that what follows is judged by the nearest declaration.
    pub(super) fn declare(&mut self, name: &'a str, entity: Entity, span: Span) -> Option<Span> {
        let depth = self.frames.len();
        let entries = self.values.entry(name).or_default();
        let earlier = entries
            .last()
            .filter(|entry| entry.depth == depth)
            .map(|entry| entry.span);
        let function = self
            .functions
            .get(name)
            .filter(|_| depth == 0)
            .map(|(_, span)| *span);
        entries.push(Entry {
            entity,
            span,
            depth,
        });
        if let Some(frame) = self.frames.last_mut() {
            frame.names.push(name);
        }
        earlier.or(function)
    }

    /// Declares a function. If the top level has the name already, the place of the first declaration is returned.
    pub(super) fn declare_function(
        &mut self,
        name: &'a str,
        function: FunctionId,
        span: Span,
    ) -> Option<Span> {
        let variable = self
            .values
            .get(name)
            .and_then(|entries| entries.first())
            .map(|entry| entry.span);
        let earlier = self
            .functions
            .insert(name, (function, span))
            .map(|(_, span)| span);
        variable.or(earlier)
    }

    /// What a name stands for as a value.
    pub(super) fn value(&self, name: &str) -> Option<Entity> {
        self.values
            .get(name)
            .and_then(|entries| entries.last())
            .map(|entry| entry.entity)
    }

    /// The user function of a name.
    pub(super) fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.get(name).map(|(function, _)| *function)
    }

    /// Where the user function of a name is defined.
    pub(super) fn function_span(&self, name: &str) -> Option<Span> {
        self.functions.get(name).map(|(_, span)| *span)
    }

    /// The names of all visible variables and constants, in any order.
    pub(super) fn value_names(&self) -> impl Iterator<Item = &'a str> {
        self.values
            .iter()
            .filter(|(_, entries)| !entries.is_empty())
            .map(|(name, _)| *name)
    }

    /// The names of all user functions, in any order.
    pub(super) fn function_names(&self) -> impl Iterator<Item = &'a str> {
        self.functions.keys().copied()
    }
}

/// The longest name for which a similar one is looked for, in characters.
const LONGEST: usize = 64;

/// The candidate most like `name`, if one is like it at all: at most a third of its letters, and at least one, may be
/// inserted, deleted, replaced or exchanged with a neighbour. The order of the candidates does not matter.
pub(super) fn nearest<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let length = name.chars().count();
    // To compare names takes time in proportion to the product of their lengths.
    if length > LONGEST {
        return None;
    }
    let limit = (length / 3).max(1);
    candidates
        .filter(|candidate| {
            *candidate != name && candidate.chars().count().abs_diff(length) <= limit
        })
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Span = Span { start: 0, end: 0 };

    #[test]
    fn inner_declarations_hide_outer_ones_until_their_scope_ends() {
        let mut scopes = Scopes::default();
        assert_eq!(scopes.declare("x", Entity::Var(VarId(0)), HERE), None);
        scopes.push(HERE);
        assert_eq!(scopes.declare("x", Entity::Var(VarId(1)), HERE), None);
        assert_eq!(scopes.value("x"), Some(Entity::Var(VarId(1))));
        scopes.pop();
        assert_eq!(scopes.value("x"), Some(Entity::Var(VarId(0))));
    }

    #[test]
    fn a_second_declaration_in_one_scope_names_the_first() {
        let first = Span { start: 3, end: 4 };
        let mut scopes = Scopes::default();
        scopes.push(HERE);
        scopes.declare("x", Entity::Var(VarId(0)), first);
        assert_eq!(
            scopes.declare("x", Entity::Var(VarId(1)), HERE),
            Some(first)
        );
        scopes.pop();
        assert_eq!(scopes.value("x"), None);
    }

    #[test]
    fn functions_and_variables_of_the_top_level_exclude_each_other() {
        let mut scopes = Scopes::default();
        scopes.declare_function("f", FunctionId(0), HERE);
        assert_eq!(scopes.declare("f", Entity::Var(VarId(0)), HERE), Some(HERE));
        scopes.push(HERE);
        assert_eq!(scopes.declare("f", Entity::Var(VarId(1)), HERE), None);
        assert_eq!(scopes.declare_function("g", FunctionId(1), HERE), None);
    }

    #[test]
    fn the_nearest_name_is_found_and_strangers_are_not() {
        let names = || ["bspln3", "bspln5", "tent", "x", "radius"].into_iter();
        assert_eq!(nearest("bspln", names()), Some("bspln3"));
        assert_eq!(nearest("raduis", names()), Some("radius"));
        assert_eq!(nearest("radus", names()), Some("radius"));
        assert_eq!(nearest("y", names()), None);
        assert_eq!(nearest("velocity", names()), None);
    }
}
