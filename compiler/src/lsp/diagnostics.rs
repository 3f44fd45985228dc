//! Messages of the compiler as messages of the protocol.

use super::{
    documents::{Analysis, Documents},
    pages,
    positions::Text,
};
use crate::front::{
    codes,
    diag::{Diagnostic as Message, Severity, in_order},
};
use ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    NumberOrString,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The messages about all open files and the files that they import, by file.
pub(super) fn all(documents: &mut Documents) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    for path in documents.paths() {
        found.entry(path.clone()).or_default();
        let Some(analysis) = documents.best_analysis(&path) else {
            continue;
        };
        for message in in_order(analysis.checked.diagnostics.clone()) {
            let (file, _) = analysis.source.file_of(message.span);
            let file = file.to_path_buf();
            if let Some(diagnostic) = diagnostic(documents, &analysis, message) {
                let of_file = found.entry(file).or_default();
                // A file may belong to several programs.
                if !of_file.contains(&diagnostic) {
                    of_file.push(diagnostic);
                }
            }
        }
    }
    found
}

/// A message, if it is about a file that the editor can show.
pub(super) fn diagnostic(
    documents: &Documents,
    analysis: &Analysis,
    message: Message,
) -> Option<Diagnostic> {
    let place = documents.location(&analysis.source, message.span)?;
    let is_library = analysis.checked.ast.strand.is_none() && analysis.checked.ast.create.is_none();
    let severity = match message.severity {
        // A file without strands may be a library.
        _ if is_library && message.code == codes::MISSING_PART => DiagnosticSeverity::INFORMATION,
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let related = message.labels.into_iter().filter_map(|(span, message)| {
        let location = documents.location(&analysis.source, span)?;
        Some(DiagnosticRelatedInformation { location, message })
    });
    let hints = message.hints.iter().map(|hint| format!("\nhelp: {hint}"));
    Some(Diagnostic {
        range: place.range,
        severity: Some(severity),
        code: Some(NumberOrString::String(message.code.name.to_owned())),
        code_description: pages::page(message.code).map(|href| CodeDescription { href }),
        source: Some("diderot".to_owned()),
        message: message.message + &hints.collect::<String>(),
        related_information: Some(related.collect()),
        tags: (message.code == codes::UNUSED).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    })
}

/// The text of a file as the protocol counts it.
pub(super) fn with_text<R>(
    documents: &Documents,
    path: &Path,
    work: impl FnOnce(&str, &Text<'_>) -> R,
) -> Option<R> {
    let text = documents.text(path)?;
    Some(work(&text, &Text::new(&text, documents.encoding)))
}
