//! From a name to its definition and all its uses, and new names for all of them.

use super::documents::{Asked, Documents};
use crate::front::{
    facts::{DefinitionKind, Referent},
    source::Span,
    syntax::vocabulary,
};
use ls_types::{DocumentHighlight, Location, PrepareRenameResponse, TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;

/// The definition of the name at a place.
fn defined(asked: &Asked) -> Option<Span> {
    match asked.analysis.checked.facts.name_at(asked.byte)? {
        (_, Referent::Defined(definition)) => Some(definition),
        _ => None,
    }
}

pub(super) fn definition(documents: &Documents, asked: &Asked) -> Option<Location> {
    documents.location(&asked.analysis.source, defined(asked)?)
}

/// The places where the name at a place is used, in all files of the program.
pub(super) fn references(
    documents: &Documents,
    asked: &Asked,
    with_definition: bool,
) -> Option<Vec<Location>> {
    let definition = defined(asked)?;
    let places = asked.analysis.checked.facts.references(definition);
    let places = places.filter(|place| with_definition || *place != definition);
    let source = &asked.analysis.source;
    Some(
        places
            .filter_map(|place| documents.location(source, place))
            .collect(),
    )
}

/// The same in the file itself.
pub(super) fn highlights(documents: &Documents, asked: &Asked) -> Option<Vec<DocumentHighlight>> {
    let source = &asked.analysis.source;
    let places = asked.analysis.checked.facts.references(defined(asked)?);
    let here = places.filter(|place| source.file_of(*place).0 == asked.path);
    let highlights = here.filter_map(|place| {
        let range = documents.location(source, place)?.range;
        Some(DocumentHighlight { range, kind: None })
    });
    Some(highlights.collect())
}

/// Whether the name at a place can have another one.
pub(super) fn prepare_rename(
    documents: &Documents,
    asked: &Asked,
) -> Option<PrepareRenameResponse> {
    let facts = &asked.analysis.checked.facts;
    let definition = defined(asked)?;
    let known = facts.definition(definition)?;
    // Names that the library has or uses, those of methods, and that of the position of strands are fixed.
    let mut places = facts.references(definition);
    let is_fixed = |place| documents.location(&asked.analysis.source, place).is_none();
    let is_position = known.kind == DefinitionKind::State && known.name == "pos";
    if known.kind == DefinitionKind::Method || is_position || places.any(is_fixed) {
        return None;
    }
    let (place, _) = facts.name_at(asked.byte)?;
    let range = documents.location(&asked.analysis.source, place)?.range;
    Some(PrepareRenameResponse::RangeWithPlaceholder {
        range,
        placeholder: known.name.clone(),
    })
}

/// The edits that give the name at a place another one.
///
/// # Errors
/// The name is not possible, or it would mean something else somewhere.
pub(super) fn rename(
    documents: &Documents,
    asked: &Asked,
    name: &str,
) -> Result<WorkspaceEdit, String> {
    let none = || "there is nothing here that can have another name".to_owned();
    let definition = defined(asked).ok_or_else(none)?;
    let facts = &asked.analysis.checked.facts;
    let source = &asked.analysis.source;
    prepare_rename(documents, asked).ok_or_else(none)?;
    if !is_name(name) {
        return Err(format!("`{name}` is not a name"));
    }
    let known = facts.definition(definition).ok_or_else(none)?;
    let places: Vec<Span> = facts.references(definition).collect();
    for place in &places {
        let mut visible = facts.in_scope(place.start).into_iter();
        if let Some((other, _)) = visible.find(|(_, other)| other.name == name) {
            let line = source.line_of(other.start);
            return Err(format!("`{name}` is already defined, at {line}"));
        }
    }
    // A definition of the new name further in would hide this one.
    let scope = known.scope;
    let inner = facts.definitions().find(|(place, other)| {
        other.name == name && (scope.start..scope.end).contains(&place.start)
    });
    if let Some((other, _)) = inner {
        let line = source.line_of(other.start);
        return Err(format!(
            "`{name}` would be hidden by the definition at {line}"
        ));
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for place in places {
        let location = documents.location(source, place).ok_or_else(none)?;
        let edit = TextEdit::new(location.range, name.to_owned());
        changes.entry(location.uri).or_default().push(edit);
    }
    Ok(WorkspaceEdit::new(changes))
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let goes_on = chars.all(|c| c.is_alphanumeric() || c == '_' || c == '\'');
    let is_reserved = |word: &vocabulary::Word| word.reserved && word.text == text;
    begins && goes_on && !vocabulary::words().iter().any(is_reserved)
}
