//! Completion: names in scope, words of the language, functions, kernels, and symbols by their names after a backslash.

use super::{
    documents::{Asked, Documents},
    expected::Expected,
    hover::{comment_above, headline},
    positions::Text,
};
use crate::front::{
    facts::DefinitionKind,
    source::Span,
    standard::LIBRARY,
    syntax::vocabulary::{self, Role},
};
use ein_ir::{
    KERNELS,
    ops::{OPERATORS, Syntax},
};
use ls_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, Range, TextEdit,
};

/// The completions at a place.
pub(super) fn completions(documents: &Documents, asked: &Asked) -> Option<Vec<CompletionItem>> {
    let text = documents.text(&asked.path)?;
    let (_, here) = asked.analysis.source.file_of(Span {
        start: asked.byte,
        end: asked.byte,
    });
    let lines = Text::new(&text, documents.encoding);
    let at = text.floor_char_boundary(here.start as usize);
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    if line.contains("//") {
        return None;
    }
    if let Some(word) = word_after_backslash(line) {
        let start = at - word.len() - 1;
        return Some(symbols(word, lines.range(Span::new(start, at))));
    }
    if line.trim_start().starts_with("import") {
        return Some(modules());
    }
    let facts = &asked.analysis.checked.facts;
    let source = &asked.analysis.source;
    let expected = Expected::after(&text[..at], asked);
    let names = facts.in_scope(asked.byte).into_iter();
    let mut items: Vec<CompletionItem> = names
        .map(|(place, known)| {
            let comment = comment_above(&source.text, place);
            // The names that suit come first, then the others that the program defines.
            let suits = expected
                .as_ref()
                .is_some_and(|expected| expected.suits(known));
            let group = if suits { SUITABLE } else { DEFINED };
            CompletionItem {
                label: known.name.clone(),
                kind: Some(kind(known.kind)),
                detail: Some(headline(&asked.analysis, known)),
                documentation: (!comment.is_empty()).then_some(Documentation::String(comment)),
                sort_text: Some(format!("{group}{}", known.name)),
                ..CompletionItem::default()
            }
        })
        .collect();
    items.extend(words());
    items.extend(functions());
    let is_kernel = expected.is_some_and(|expected| expected.suits_kernel());
    items.extend(kernels(if is_kernel { SUITABLE } else { BUILT_IN }));
    Some(items)
}

/// The order of groups of completions.
const SUITABLE: char = '0';
const DEFINED: char = '1';
const WORD: char = '2';
const BUILT_IN: char = '3';

fn kind(kind: DefinitionKind) -> CompletionItemKind {
    match kind {
        DefinitionKind::Function | DefinitionKind::Method => CompletionItemKind::FUNCTION,
        DefinitionKind::Constant | DefinitionKind::Axis => CompletionItemKind::CONSTANT,
        DefinitionKind::Strand => CompletionItemKind::CLASS,
        DefinitionKind::State => CompletionItemKind::FIELD,
        DefinitionKind::Input
        | DefinitionKind::Global
        | DefinitionKind::Parameter
        | DefinitionKind::Local
        | DefinitionKind::Index => CompletionItemKind::VARIABLE,
    }
}

/// The letters after a backslash, before the place.
fn word_after_backslash(line: &str) -> Option<&str> {
    let (_, word) = line.rsplit_once('\\')?;
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric());
    is_word.then_some(word)
}

/// The symbols whose names begin with a word; they replace the backslash too.
fn symbols(word: &str, range: Range) -> Vec<CompletionItem> {
    let named = vocabulary::symbol_words().into_iter();
    let named = named.filter(|(name, _)| name.starts_with(word));
    let item = |(name, symbol): (&str, String)| CompletionItem {
        label: format!("{symbol}  \\{name}"),
        kind: Some(CompletionItemKind::OPERATOR),
        filter_text: Some(format!("\\{name}")),
        sort_text: Some(name.to_owned()),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, symbol))),
        ..CompletionItem::default()
    };
    named.map(item).collect()
}

/// The modules of the library.
fn modules() -> Vec<CompletionItem> {
    let modules = LIBRARY.iter().map(|(name, text)| {
        let mut comments = text.lines().filter_map(|line| line.strip_prefix("// "));
        CompletionItem {
            label: format!("std/{name}"),
            kind: Some(CompletionItemKind::MODULE),
            detail: comments.next().map(str::to_owned),
            ..CompletionItem::default()
        }
    });
    modules.collect()
}

fn words() -> impl Iterator<Item = CompletionItem> {
    vocabulary::words().into_iter().map(|word| CompletionItem {
        label: word.text.to_owned(),
        kind: Some(match word.role {
            Role::Type => CompletionItemKind::TYPE_PARAMETER,
            Role::Function => CompletionItemKind::FUNCTION,
            Role::Literal => CompletionItemKind::VALUE,
            Role::Definition | Role::Part | Role::Statement => CompletionItemKind::KEYWORD,
        }),
        sort_text: Some(format!("{WORD}{}", word.text)),
        ..CompletionItem::default()
    })
}

fn functions() -> impl Iterator<Item = CompletionItem> {
    vocabulary::functions().into_iter().map(|name| {
        let mut rows = OPERATORS
            .iter()
            .filter(move |row| row.syntax.contains(&Syntax::Call(name)));
        CompletionItem {
            label: name.to_owned(),
            kind: Some(CompletionItemKind::FUNCTION),
            detail: rows.next().map(|row| row.doc.to_owned()),
            sort_text: Some(format!("{BUILT_IN}{name}")),
            ..CompletionItem::default()
        }
    })
}

fn kernels(group: char) -> impl Iterator<Item = CompletionItem> {
    KERNELS.iter().map(move |kernel| CompletionItem {
        label: kernel.name.to_owned(),
        kind: Some(CompletionItemKind::CONSTANT),
        detail: Some(format!("kernel#{}: {}", kernel.continuity, kernel.doc)),
        sort_text: Some(format!("{group}{}", kernel.name)),
        ..CompletionItem::default()
    })
}
