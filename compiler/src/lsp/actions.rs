//! Changes that an editor offers: those that the hints of messages propose, inputs for names that are not declared, and other
//! spellings of symbols.

use super::{
    diagnostics::{diagnostic, with_text},
    documents::{Analysis, Documents},
};
use crate::{
    format::{Symbols, formatted},
    front::{codes, diag::Diagnostic as Message, source::Span, syntax::ast::ItemKind},
};
use ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, TextEdit, Uri, WorkspaceEdit};
use std::{collections::HashMap, path::Path};

/// The fixes of the messages that touch a place of a file.
pub(super) fn actions(
    documents: &Documents,
    analysis: &Analysis,
    path: &Path,
    place: Span,
) -> Vec<CodeActionOrCommand> {
    let source = &analysis.source;
    let mut found = Vec::new();
    for message in messages(analysis, path, place) {
        for (n, fix) in message.fixes.iter().enumerate() {
            let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
            for (span, text) in &fix.edits {
                let Some(location) = documents.location(source, *span) else {
                    continue;
                };
                let edit = TextEdit::new(location.range, text.clone());
                changes.entry(location.uri).or_default().push(edit);
            }
            found.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: diagnostic(documents, analysis, message.clone()).map(|d| vec![d]),
                edit: Some(WorkspaceEdit::new(changes)),
                is_preferred: Some(n == 0),
                ..CodeAction::default()
            }));
        }
    }
    found.extend(declarations(documents, analysis, path, place));
    found.extend(spellings(documents, path));
    found
}

/// The messages that touch a place of a file.
fn messages<'a>(
    analysis: &'a Analysis,
    path: &'a Path,
    place: Span,
) -> impl Iterator<Item = &'a Message> {
    let all = analysis.checked.diagnostics.iter();
    all.filter(move |message| {
        let (file, here) = analysis.source.file_of(message.span);
        file == path && here.start <= place.end && place.start <= here.end
    })
}

/// Inputs for the names at a place that are not declared.
fn declarations(
    documents: &Documents,
    analysis: &Analysis,
    path: &Path,
    place: Span,
) -> Vec<CodeActionOrCommand> {
    let source = &analysis.source;
    let unknown = messages(analysis, path, place);
    let unknown = unknown.filter(|message| message.code == codes::UNDECLARED_VARIABLE);
    let declare = |message: &Message| {
        let span = message.span;
        let name = source.text.get(span.start as usize..span.end as usize)?;
        let edit = with_text(documents, path, |text, lines| {
            let at = end_of_inputs(analysis, path, text);
            let at = Span::new(at, at);
            TextEdit::new(lines.range(at), format!("input real {name} = 0;\n"))
        })?;
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("Declare `{name}` as an input"),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: diagnostic(documents, analysis, message.clone()).map(|d| vec![d]),
            edit: Some(WorkspaceEdit::new(
                [(documents.uri(path)?, vec![edit])].into(),
            )),
            ..CodeAction::default()
        }))
    };
    unknown.filter_map(declare).collect()
}

/// The byte after the line with the end of the last input of a file, of its version, or before everything.
fn end_of_inputs(analysis: &Analysis, path: &Path, text: &str) -> usize {
    let inputs = analysis.checked.ast.items.iter();
    let inputs = inputs.filter(|item| matches!(item.kind, ItemKind::Input { .. }));
    let ends = inputs.filter_map(|item| {
        let (file, here) = analysis.source.file_of(item.span);
        (file == path).then_some(here.end as usize)
    });
    let version = text.starts_with("#version").then_some(0);
    match ends.max().or(version) {
        Some(end) => text[end..].find('\n').map_or(text.len(), |at| end + at + 1),
        None => 0,
    }
}

/// The whole text with its symbols in another spelling.
fn spellings(documents: &Documents, path: &Path) -> Vec<CodeActionOrCommand> {
    let spellings = [
        ("Write with symbols, like ∇ and π", Symbols::Unicode),
        ("Write in ASCII, like \\grad and \\pi", Symbols::Ascii),
    ];
    let other = |(title, symbols): (&str, Symbols)| {
        let edit = with_text(documents, path, |text, lines| {
            let made = formatted(path, text, symbols).ok()?;
            let whole = lines.range(Span::new(0, text.len()));
            (made != text).then(|| TextEdit::new(whole, made))
        })??;
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: title.to_owned(),
            kind: Some(CodeActionKind::SOURCE),
            edit: Some(WorkspaceEdit::new(
                [(documents.uri(path)?, vec![edit])].into(),
            )),
            ..CodeAction::default()
        }))
    };
    spellings.into_iter().filter_map(other).collect()
}
