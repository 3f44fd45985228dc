//! What an editor shows about the name or expression under the pointer.

use super::documents::{Analysis, Asked, Documents};
use crate::front::{
    facts::{Definition, DefinitionKind, Referent},
    source::Span,
};
use ein_ir::{
    Kernel,
    ops::{OPERATORS, OpDef},
};
use ls_types::{Hover, HoverContents, MarkupContent, MarkupKind};

/// The text about a place.
pub(super) fn hover(documents: &Documents, asked: &Asked) -> Option<Hover> {
    let facts = &asked.analysis.checked.facts;
    let (place, value) = match facts.name_at(asked.byte) {
        Some((place, Referent::Defined(definition))) => {
            let known = facts.definition(definition)?;
            let text = about(&asked.analysis, definition, known);
            (
                place,
                text + &explained(documents, &asked.analysis, definition),
            )
        }
        Some((place, Referent::Operator(row))) => {
            let ty = facts.type_at(asked.byte).map(|(_, ty)| ty.to_string());
            (place, of_operator(row, ty))
        }
        Some((place, Referent::Kernel(kernel))) => (place, of_kernel(kernel)),
        Some((place, Referent::StrandSet(set))) => {
            (place, format!("the set of {} strands", set.name()))
        }
        Some((_, Referent::Word)) | None => {
            let (place, ty) = facts.type_at(asked.byte)?;
            (place, code(&ty.to_string()))
        }
    };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: documents
            .location(&asked.analysis.source, place)
            .map(|location| location.range),
    })
}

fn code(text: &str) -> String {
    format!("```diderot\n{text}\n```")
}

/// A definition in one line: its role, type and name, and the parameters of a function.
pub(super) fn headline(analysis: &Analysis, known: &Definition) -> String {
    let Definition { name, kind, .. } = known;
    let ty = known.ty.as_ref().map(|ty| format!("{ty} "));
    let ty = ty.unwrap_or_default();
    match kind {
        DefinitionKind::Function => {
            let parameters = parameters(analysis, known).join(", ");
            format!("function {ty}{name} ({parameters})")
        }
        DefinitionKind::Strand => {
            let parameters = parameters(analysis, known).join(", ");
            format!("strand {name} ({parameters})")
        }
        DefinitionKind::Input => format!("input {ty}{name}"),
        DefinitionKind::Constant => format!("const {ty}{name}"),
        DefinitionKind::Axis => format!("axis {ty}{name}"),
        DefinitionKind::Method => format!("{name} method"),
        DefinitionKind::Index => format!("index {ty}{name}"),
        DefinitionKind::Global
        | DefinitionKind::State
        | DefinitionKind::Parameter
        | DefinitionKind::Local => format!("{ty}{name}"),
    }
}

/// The parameters of a function or strand, each with its type.
pub(super) fn parameters(analysis: &Analysis, known: &Definition) -> Vec<String> {
    let parameter = |place: &Span| {
        let found = analysis.checked.facts.definition(*place)?;
        let ty = found
            .ty
            .as_ref()
            .map_or("?".to_owned(), ToString::to_string);
        Some(format!("{ty} {}", found.name))
    };
    known.parameters.iter().filter_map(parameter).collect()
}

/// A definition with its text and the comment above it.
fn about(analysis: &Analysis, place: Span, known: &Definition) -> String {
    let mut text = code(&headline(analysis, known));
    let whole = &analysis.source.text;
    let written = line_around(whole, place);
    if matches!(
        known.kind,
        DefinitionKind::Input | DefinitionKind::Global | DefinitionKind::Constant
    ) {
        text += &format!("\n{}", code(written));
    }
    let comment = comment_above(whole, place);
    if !comment.is_empty() {
        text += &format!("\n\n{comment}");
    }
    let (path, _) = analysis.source.file_of(place);
    if analysis.source.is_imported(place) {
        text += &format!("\n\nfrom `{}`", path.display());
    }
    text
}

/// How a field is computed at a point `x`, if it is one and the program has no errors.
fn explained(documents: &Documents, analysis: &Analysis, definition: Span) -> String {
    let Some(explanation) = analysis.explanation(definition) else {
        return String::new();
    };
    let formula = explanation
        .summary_latex()
        .filter(|_| documents.shows_latex);
    match formula {
        Some(formula) => format!("\n\n$$\n{formula}\n$$\n\n{}", code(&explanation.summary())),
        None => format!("\n\nAt a point:\n{}", code(&explanation.summary())),
    }
}

/// The line that a place is in.
fn line_around(text: &str, place: Span) -> &str {
    let start = place.start as usize;
    let before = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let after = text[start..].find('\n').map_or(text.len(), |at| start + at);
    text[before..after].trim()
}

/// The lines of comments directly above the line of a place.
pub(super) fn comment_above(text: &str, place: Span) -> String {
    let start = text[..place.start as usize]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let above = text[..start].lines().rev();
    let mut lines: Vec<&str> = above
        .map_while(|line| line.trim().strip_prefix("//"))
        .map(str::trim)
        .collect();
    lines.reverse();
    lines.join("\n")
}

fn of_operator(row: &OpDef, ty: Option<String>) -> String {
    let same = OPERATORS.iter().filter(|other| {
        other.syntax.first().map(|s| s.spelling()) == row.syntax.first().map(|s| s.spelling())
    });
    let spellings: Vec<String> = row
        .syntax
        .iter()
        .map(|syntax| format!("`{}`", syntax.spelling()))
        .collect();
    let mut text = match ty {
        Some(ty) => code(&ty),
        None => String::new(),
    };
    text += &format!("\n**{}** — {}\n", spellings.join(" or "), row.doc);
    for row in same {
        text += &format!("\n- `{}`", row.sig);
    }
    text
}

fn of_kernel(kernel: &Kernel) -> String {
    let Kernel {
        name,
        continuity,
        support,
        doc,
        ..
    } = kernel;
    format!(
        "{}\n{doc}\n\nIt has {continuity} continuous derivatives and reads {} samples along each axis.",
        code(&format!("kernel#{continuity} {name}")),
        2 * support
    )
}
