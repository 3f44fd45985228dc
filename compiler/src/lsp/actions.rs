//! Changes that an editor offers: those that the hints of messages propose.

use super::{
    diagnostics::diagnostic,
    documents::{Analysis, Documents},
};
use crate::front::source::Span;
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
    let messages = analysis.checked.diagnostics.iter().filter(|message| {
        let (file, here) = source.file_of(message.span);
        file == path && here.start <= place.end && place.start <= here.end
    });
    let mut found = Vec::new();
    for message in messages {
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
    found
}
