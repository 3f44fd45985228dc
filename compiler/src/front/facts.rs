//! Facts about the places of a program, for editors: the referents of names, the types of expressions, and the names in scope.
//!
//! The checker records them while it walks a program, also one with errors. Code that is checked several times, such as a loop that is
//! written out, has the facts of its first check.

use super::span::Span;
use ein_ir::{
    Kernel, Type,
    ops::{OpDef, StrandSet},
};
use std::collections::{BTreeMap, btree_map::Entry};

/// The role of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// An input.
    Input,
    /// A global variable, field, image or kernel.
    Global,
    /// A compile-time constant.
    Constant,
    /// A constant that labels axes.
    Axis,
    /// A user function.
    Function,
    /// The strand.
    Strand,
    /// A method of the strand.
    Method,
    /// A state variable of the strand.
    State,
    /// A parameter of a function, field function or strand.
    Parameter,
    /// A local variable, or the variable of an iteration.
    Local,
    /// An index of index notation.
    Index,
}

/// A name that the program defines.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// Its role.
    pub kind: DefinitionKind,
    /// Its type, that of the result for a function; none if the definition is wrong, and none for the strand and its methods.
    pub ty: Option<Type>,
    /// The parameters of a function or of the strand, by the places of their definitions.
    pub parameters: Vec<Span>,
    /// The part of the text in which the name can be used by itself.
    pub scope: Span,
}

/// The referent of a name or symbol where it is written.
#[derive(Clone, Copy, Debug)]
pub enum Referent {
    /// A definition of the program, by its place.
    Defined(Span),
    /// A row of the operator table: the one that was chosen, or the first of its name if none fits.
    Operator(&'static OpDef),
    /// A kernel of the language.
    Kernel(&'static Kernel),
    /// A set of strands.
    StrandSet(StrandSet),
    /// A symbol of index notation, or a word that begins a type of data.
    Word,
}

/// Everything that is known about the places of a program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    definitions: BTreeMap<Span, Definition>,
    // In the order of the check until they are sorted by place.
    names: Vec<(Span, Referent)>,
    types: Vec<(Span, Type)>,
}

impl Facts {
    /// The definitions of the program with the places of their names, in the order of the text.
    pub fn definitions(&self) -> impl Iterator<Item = (Span, &Definition)> {
        self.definitions
            .iter()
            .map(|(place, known)| (*place, known))
    }

    /// The definition whose name stands at a place.
    pub fn definition(&self, place: Span) -> Option<&Definition> {
        self.definitions.get(&place)
    }

    /// The names and symbols with known referents, in the order of the text. Definitions are among them.
    pub fn names(&self) -> impl Iterator<Item = (Span, Referent)> {
        self.names.iter().copied()
    }

    /// The name or symbol around a byte of the text, or right before it.
    pub fn name_at(&self, byte: u32) -> Option<(Span, Referent)> {
        innermost(&self.names, byte).map(|(place, referent)| (place, *referent))
    }

    /// The type of the expression at a place.
    pub fn type_of(&self, place: Span) -> Option<&Type> {
        let at = self.types.binary_search_by_key(&place, |known| known.0);
        at.ok().map(|at| &self.types[at].1)
    }

    /// The expressions with known types, in the order of the text.
    pub fn types(&self) -> impl Iterator<Item = (Span, &Type)> {
        self.types.iter().map(|(place, ty)| (*place, ty))
    }

    /// The smallest expression around a byte of the text that has a type.
    pub fn type_at(&self, byte: u32) -> Option<(Span, &Type)> {
        innermost(&self.types, byte)
    }

    /// All places where the definition at a place is named, its own among them.
    pub fn references(&self, definition: Span) -> impl Iterator<Item = Span> {
        let names = self.names();
        names.filter_map(move |(place, referent)| match referent {
            Referent::Defined(found) if found == definition => Some(place),
            _ => None,
        })
    }

    /// The definitions that can be used by name at a byte of the text, in the order of their names. Hidden ones are left out.
    pub fn in_scope(&self, byte: u32) -> Vec<(Span, &Definition)> {
        let mut visible: BTreeMap<&str, (Span, &Definition)> = BTreeMap::new();
        for (place, definition) in self.definitions() {
            let Span { start, end } = definition.scope;
            if !(start..=end).contains(&byte) || definition.kind == DefinitionKind::Method {
                continue;
            }
            match visible.get(definition.name.as_str()) {
                Some((_, other)) if other.scope.start > start => {}
                _ => {
                    visible.insert(&definition.name, (place, definition));
                }
            }
        }
        visible.into_values().collect()
    }

    /// Records a definition. Of several at one place the first counts that has a type.
    pub(super) fn define(&mut self, place: Span, definition: Definition) {
        self.name(place, Referent::Defined(place));
        match self.definitions.entry(place) {
            Entry::Vacant(entry) => {
                entry.insert(definition);
            }
            Entry::Occupied(mut entry) if entry.get().ty.is_none() => {
                entry.insert(definition);
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Records the referent of a name.
    pub(super) fn name(&mut self, place: Span, referent: Referent) {
        self.names.push((place, referent));
    }

    /// Records the type of an expression.
    pub(super) fn expression(&mut self, place: Span, ty: &Type) {
        self.types.push((place, ty.clone()));
    }

    /// The same in the order of the text. Of several facts about a place the first counts, except that the row of an operator that was
    /// chosen is recorded after the first of its name.
    pub(super) fn sorted(mut self) -> Facts {
        self.names.sort_by_key(|known| known.0);
        self.names.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            if is_same && matches!(first.1, Referent::Operator(_)) {
                first.1 = later.1;
            }
            is_same
        });
        self.types.sort_by_key(|known| known.0);
        self.types.dedup_by_key(|known| known.0);
        self
    }

    /// Records that a name can be used from a byte of the text on.
    pub(super) fn known_from(&mut self, place: Span, byte: u32) {
        if let Some(definition) = self.definitions.get_mut(&place) {
            let scope = &mut definition.scope;
            scope.start = byte.clamp(scope.start, scope.end);
        }
    }
}

/// The smallest of the places around a byte, or right before it. Places are nested or apart, and sorted.
fn innermost<T>(places: &[(Span, T)], byte: u32) -> Option<(Span, &T)> {
    let before = places.partition_point(|(place, _)| place.start <= byte);
    let around = places[..before]
        .iter()
        .rposition(|(place, _)| place.end >= byte)?;
    let least = Span {
        start: places[around].0.start,
        end: byte,
    };
    let smallest = places.partition_point(|(place, _)| *place < least);
    let (place, found) = &places[smallest];
    Some((*place, found))
}
