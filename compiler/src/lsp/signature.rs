//! The parameters of the function whose call is being written.

use super::{
    documents::{Asked, Documents},
    hover::{comment_above, headline, parameters},
};
use crate::front::{facts::DefinitionKind, source::Span};
use ein_ir::ops::{OPERATORS, Syntax};
use ls_types::{
    Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation,
};

/// The signatures of the innermost call around a place, and the argument that the place is in.
pub(super) fn signature(documents: &Documents, asked: &Asked) -> Option<SignatureHelp> {
    let text = documents.text(&asked.path)?;
    let (_, here) = asked.analysis.source.file_of(Span {
        start: asked.byte,
        end: asked.byte,
    });
    let before = &text[..text.floor_char_boundary(here.start as usize)];
    let (name, argument) = call_around(before)?;
    let mut visible = asked
        .analysis
        .checked
        .facts
        .in_scope(asked.byte)
        .into_iter();
    let own = visible.find(|(_, known)| {
        known.name == name
            && matches!(
                known.kind,
                DefinitionKind::Function | DefinitionKind::Strand
            )
    });
    let signatures: Vec<SignatureInformation> = match own {
        Some((place, known)) => {
            let comment = comment_above(&asked.analysis.source.text, place);
            let parameters = parameters(&asked.analysis, known).into_iter();
            let parameters = parameters.map(|parameter| ParameterInformation {
                label: ParameterLabel::Simple(parameter),
                documentation: None,
            });
            vec![SignatureInformation {
                label: headline(&asked.analysis, known),
                documentation: (!comment.is_empty()).then_some(Documentation::String(comment)),
                parameters: Some(parameters.collect()),
                active_parameter: None,
            }]
        }
        None => {
            let rows = OPERATORS.iter().filter(|row| {
                let mut syntax = row.syntax.iter();
                syntax.any(|syntax| matches!(syntax, Syntax::Call(called) if *called == name))
            });
            let signature = rows.map(|row| SignatureInformation {
                label: format!("{name}: {}", row.sig),
                documentation: Some(Documentation::String(row.doc.to_owned())),
                parameters: None,
                active_parameter: None,
            });
            signature.collect()
        }
    };
    (!signatures.is_empty()).then_some(SignatureHelp {
        signatures,
        active_signature: None,
        active_parameter: Some(argument),
    })
}

/// The name before the last parenthesis that is open at the end of a text, and the number of commas after it.
pub(super) fn call_around(text: &str) -> Option<(&str, u32)> {
    /// Calls are not longer than this.
    const FARTHEST: usize = 4000;
    let start = text.ceil_char_boundary(text.len().saturating_sub(FARTHEST));
    let text = &text[start..];
    let (mut depth, mut commas) = (0_u32, 0);
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' if depth == 0 => {
                let before = text[..at].trim_end();
                let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
                let name = &before[before.trim_end_matches(is_letter).len()..];
                return (!name.is_empty()).then_some((name, commas));
            }
            '[' | '{' if depth == 0 => return None,
            '(' | '[' | '{' => depth -= 1,
            ',' if depth == 0 => commas += 1,
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_open_call_counts() {
        assert_eq!(call_around("x = f(a, g(b, c"), Some(("g", 1)));
        assert_eq!(call_around("x = f(a, g(b, c), "), Some(("f", 2)));
        assert_eq!(call_around("x = f(a, [1, 2], "), Some(("f", 2)));
        assert_eq!(call_around("x = f(a); y = "), None);
        assert_eq!(call_around("if (a, "), Some(("if", 1)));
        assert_eq!(call_around("(1, "), None);
    }
}
