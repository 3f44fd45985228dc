//! The roles of names, for editors that colour them by meaning.

use super::{documents::Analysis, positions::Text};
use crate::front::facts::{DefinitionKind, Referent};
use ls_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
};
use std::path::Path;

const TYPES: [SemanticTokenType; 9] = [
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::CLASS,
    SemanticTokenType::METHOD,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::KEYWORD,
];

const MODIFIERS: [SemanticTokenModifier; 3] = [
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::DEFAULT_LIBRARY,
];

/// The meanings of the numbers in tokens.
pub(super) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: MODIFIERS.to_vec(),
    }
}

/// The names of a file with their roles.
pub(super) fn tokens(analysis: &Analysis, path: &Path, text: &Text<'_>) -> SemanticTokens {
    let facts = &analysis.checked.facts;
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    for (place, referent) in facts.names() {
        let (file, here) = analysis.source.file_of(place);
        if file != path || here.start == here.end {
            continue;
        }
        let (ty, modifiers) = match referent {
            Referent::Defined(definition) => {
                let Some(known) = facts.definition(definition) else {
                    continue;
                };
                let declares = if definition == place { DECLARATION } else { 0 };
                let (ty, modifiers) = role(known.kind);
                (ty, modifiers | declares)
            }
            Referent::Operator(row) => {
                let is_called = row.syntax.iter().any(|syntax| {
                    syntax
                        .spelling()
                        .starts_with(|c: char| c.is_ascii_alphabetic())
                });
                let ty = if is_called {
                    SemanticTokenType::FUNCTION
                } else {
                    SemanticTokenType::OPERATOR
                };
                (ty, LIBRARY)
            }
            Referent::Kernel(_) => (SemanticTokenType::ENUM_MEMBER, READONLY | LIBRARY),
            Referent::StrandSet(_) => (SemanticTokenType::PROPERTY, LIBRARY),
            Referent::Word => (SemanticTokenType::KEYWORD, LIBRARY),
        };
        let range = text.range(here);
        // Tokens are in order and of one line each.
        let is_after = (range.start.line, range.start.character) >= (line, column);
        if range.start.line != range.end.line || !is_after {
            continue;
        }
        let delta_line = range.start.line - line;
        let before = if delta_line == 0 { column } else { 0 };
        data.push(SemanticToken {
            delta_line,
            delta_start: range.start.character - before,
            length: range.end.character - range.start.character,
            token_type: TYPES.iter().position(|known| *known == ty).unwrap_or(0) as u32,
            token_modifiers_bitset: modifiers,
        });
        (line, column) = (range.start.line, range.start.character);
    }
    SemanticTokens {
        result_id: None,
        data,
    }
}

const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const LIBRARY: u32 = 4;

fn role(kind: DefinitionKind) -> (SemanticTokenType, u32) {
    match kind {
        DefinitionKind::Input | DefinitionKind::Global | DefinitionKind::Local => {
            (SemanticTokenType::VARIABLE, 0)
        }
        DefinitionKind::Parameter | DefinitionKind::Index => (SemanticTokenType::PARAMETER, 0),
        DefinitionKind::Constant | DefinitionKind::Axis => {
            (SemanticTokenType::ENUM_MEMBER, READONLY)
        }
        DefinitionKind::Function => (SemanticTokenType::FUNCTION, 0),
        DefinitionKind::Strand => (SemanticTokenType::CLASS, 0),
        DefinitionKind::Method => (SemanticTokenType::METHOD, 0),
        DefinitionKind::State => (SemanticTokenType::PROPERTY, 0),
    }
}
