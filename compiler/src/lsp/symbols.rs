//! The outline of a file, the parts of it that can be folded, and types beside derivatives.

use super::{
    documents::{Analysis, Documents},
    hover::headline,
    positions::Text,
};
use crate::front::{
    facts::{Definition, DefinitionKind},
    source::Span,
};
use ein_ir::Type;
use ls_types::{
    DocumentSymbol, FoldingRange, FoldingRangeKind, InlayHint, InlayHintKind, InlayHintLabel,
    SymbolKind,
};
use std::path::Path;

/// The definitions of a file, those of the strand below it.
pub(super) fn symbols(
    documents: &Documents,
    analysis: &Analysis,
    path: &Path,
) -> Option<Vec<DocumentSymbol>> {
    let facts = &analysis.checked.facts;
    let mut outline: Vec<DocumentSymbol> = Vec::new();
    for (place, known) in facts.definitions() {
        let (file, _) = analysis.source.file_of(place);
        let Some(kind) = kind(known.kind).filter(|_| file == path) else {
            continue;
        };
        let range = documents.location(&analysis.source, place)?.range;
        #[expect(deprecated, reason = "a field of the protocol that must be given")]
        let symbol = DocumentSymbol {
            name: known.name.clone(),
            detail: Some(headline(analysis, known)),
            kind,
            tags: None,
            deprecated: None,
            range,
            selection_range: range,
            children: None,
        };
        let strand = outline
            .last_mut()
            .filter(|last| last.kind == SymbolKind::CLASS && belongs_to_strand(known));
        match strand {
            Some(strand) => strand.children.get_or_insert_default().push(symbol),
            None => outline.push(symbol),
        }
    }
    Some(outline)
}

fn belongs_to_strand(known: &Definition) -> bool {
    matches!(known.kind, DefinitionKind::State | DefinitionKind::Method)
}

fn kind(kind: DefinitionKind) -> Option<SymbolKind> {
    match kind {
        DefinitionKind::Input | DefinitionKind::Global => Some(SymbolKind::VARIABLE),
        DefinitionKind::Constant | DefinitionKind::Axis => Some(SymbolKind::CONSTANT),
        DefinitionKind::Function => Some(SymbolKind::FUNCTION),
        DefinitionKind::Strand => Some(SymbolKind::CLASS),
        DefinitionKind::Method => Some(SymbolKind::METHOD),
        DefinitionKind::State => Some(SymbolKind::FIELD),
        DefinitionKind::Parameter | DefinitionKind::Local | DefinitionKind::Index => None,
    }
}

/// Braces and comments of several lines.
pub(super) fn foldings(text: &str) -> Vec<FoldingRange> {
    let mut found = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut comment: Option<u32> = None;
    let fold = |start: u32, end: u32, kind: Option<FoldingRangeKind>| FoldingRange {
        start_line: start,
        end_line: end,
        kind,
        ..FoldingRange::default()
    };
    for (number, line) in (0_u32..).zip(text.lines()) {
        let is_comment = line.trim_start().starts_with("//");
        match (comment, is_comment) {
            (None, true) => comment = Some(number),
            (Some(start), false) => {
                if start + 1 < number {
                    found.push(fold(start, number - 1, Some(FoldingRangeKind::Comment)));
                }
                comment = None;
            }
            _ => {}
        }
        let code = line.split("//").next().unwrap_or_default();
        for c in code.chars() {
            match c {
                '{' => open.push(number),
                '}' => {
                    let start = open.pop().filter(|start| *start < number);
                    found.extend(start.map(|start| fold(start, number, None)));
                }
                _ => {}
            }
        }
    }
    found
}

/// The types of derivatives of fields, after them, and the shapes of definitions by components whose types name them.
pub(super) fn inlay_hints(analysis: &Analysis, path: &Path, text: &Text<'_>) -> Vec<InlayHint> {
    let source = &analysis.source;
    let is_derivative = |span: Span| {
        let written = source.text.get(span.start as usize..span.end as usize);
        written.is_some_and(|written| written.starts_with('∇'))
    };
    let types = analysis.checked.facts.types();
    let derivatives = types.filter(|(span, ty)| {
        matches!(ty, Type::Field { .. }) && is_derivative(*span) && source.file_of(*span).0 == path
    });
    let hint = |span: Span, label: String| {
        let (_, place) = source.file_of(span);
        InlayHint {
            position: text.position(place.end),
            label: InlayHintLabel::String(label),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        }
    };
    let derivatives = derivatives.map(|(span, ty)| hint(span, format!(": {ty}")));
    let definitions = analysis.checked.facts.definitions();
    let definitions = definitions.filter(|(span, _)| source.file_of(*span).0 == path);
    let by_components = definitions.filter_map(|(span, known)| {
        let shape = match known.ty.as_ref()? {
            Type::Tensor(shape) | Type::Field { shape, .. } => shape.to_string(),
            _ => return None,
        };
        let (before, after) = source.text.split_at(span.end as usize);
        let indices = after.strip_prefix('[')?.find(']')? + 2;
        let line = before.rsplit('\n').next().unwrap_or_default();
        // The declaration may show the shape already.
        let is_written = line.replace(' ', "").contains(&shape);
        let end = Span::new(span.start as usize, span.end as usize + indices);
        (!is_written).then(|| hint(end, format!(": {shape}")))
    });
    let mut hints: Vec<InlayHint> = derivatives.chain(by_components).collect();
    hints.sort_by_key(|hint| hint.position);
    hints
}
