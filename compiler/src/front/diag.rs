//! Messages to the user: what was wrong, where, and what may help; as text for people and as JSON for tools.
//!
//! Texts are lower case without a final period, and say what was found and what was wanted.

use std::ops::Range;

use ariadne::{Config, IndexType, Label, Report, ReportKind};
use serde_json::json;

use crate::front::codes::Code;
use crate::front::source::{Lines, Source, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be compiled.
    Error,
    /// The program can be compiled, but may not be what was meant.
    Warning,
}

impl Severity {
    /// The word for it.
    pub fn text(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One message about a place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of message it is.
    pub code: Code,
    /// The place it is about.
    pub span: Span,
    /// What was found and what was wanted.
    pub message: String,
    /// Places that matter, and why; what is said of the place itself stands there instead of the code's own words.
    pub labels: Vec<(Span, String)>,
    /// What may help.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error without labels and hints.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            span,
            message: message.into(),
            labels: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// A warning without labels and hints.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(code, span, message)
        }
    }

    /// The same with a further place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// The same with a further hint.
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hints.push(text.into());
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Sorts by place and keeps one of several messages that say the same about one place.
pub fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by(|a, b| {
        (a.span, a.severity, a.code, &a.message).cmp(&(b.span, b.severity, b.code, &b.message))
    });
    diagnostics.dedup_by(|a, b| (a.span, a.code, &a.message) == (b.span, b.code, &b.message));
    diagnostics
}

/// The messages as text that quotes the lines they are about, in order; with colour only if asked, since a file should have none.
pub fn render(source: &Source, diagnostics: Vec<Diagnostic>, colour: bool) -> String {
    let files = source.files();
    let names: Vec<String> = files
        .iter()
        .map(|f| shown(&f.0.display().to_string()))
        .collect();
    // Lines are found once for all messages.
    let texts = files.iter().map(|file| shown(file.1));
    let mut cache = ariadne::sources(names.iter().cloned().zip(texts));
    let mut out = Vec::new();
    for diagnostic in in_order(diagnostics) {
        let report = report(source, &names, &diagnostic, colour);
        let written = report.write(&mut cache, &mut out);
        debug_assert!(written.is_ok(), "writing to memory does not fail");
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn report(
    source: &Source,
    names: &[String],
    diagnostic: &Diagnostic,
    colour: bool,
) -> Report<'static, (String, Range<usize>)> {
    let files = source.files();
    let in_file = |(file, span): (usize, Span)| {
        let end = files[file].1.len();
        let start = (span.start as usize).min(end);
        (
            names[file].clone(),
            start..(span.end as usize).clamp(start, end),
        )
    };
    let place = |span: Span| in_file(source.origin_of(span));
    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
    };
    let config = Config::default()
        .with_index_type(IndexType::Byte)
        .with_color(colour);
    let mut report = Report::build(kind, place(diagnostic.span))
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(shown(&diagnostic.message));
    if !diagnostic
        .labels
        .iter()
        .any(|(span, _)| *span == diagnostic.span)
    {
        let reason = diagnostic.code.label;
        report = report.with_label(Label::new(place(diagnostic.span)).with_message(reason));
    }
    for (span, text) in &diagnostic.labels {
        report = report.with_label(Label::new(place(*span)).with_message(shown(text)));
    }
    for importer in source.importers(source.origin_of(diagnostic.span).0) {
        report = report.with_label(Label::new(in_file(importer)).with_message("imported here"));
    }
    for hint in &diagnostic.hints {
        report = report.with_help(shown(hint));
    }
    report.finish()
}

/// A text with visible characters for those that a terminal would obey: control characters, and marks that turn the order of
/// what follows. Each is replaced by one of the same length, so that places in the text stay what they are.
fn shown(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => c,
            '\0'..='\x1f' | '\x7f' => '?',
            '\u{80}'..='\u{9f}' => '¿',
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                '\u{fffd}'
            }
            _ => c,
        })
        .collect()
}

/// The messages for tools, in order: one JSON object a line. Lines and columns count from 1, columns in characters, and the end is
/// one past the last character.
pub fn to_json_lines(source: &Source, diagnostics: Vec<Diagnostic>) -> String {
    let files = source.files();
    let lines: Vec<Lines> = files.iter().map(|file| Lines::of(file.1)).collect();
    let mut out = String::new();
    for diagnostic in in_order(diagnostics) {
        let (file, span) = source.origin_of(diagnostic.span);
        let (path, text) = files[file];
        let (line, column) = lines[file].position(text, span.start);
        let (end_line, end_column) = lines[file].position(text, span.end);
        let object = json!({
            "file": path.display().to_string(),
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "severity": diagnostic.severity.text(),
            "code": diagnostic.code.name,
            "message": diagnostic.message,
            "hints": diagnostic.hints,
        });
        out.push_str(&object.to_string());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::codes;

    fn source() -> Source {
        Source::new("a.diderot", "real α = β;\nint n = m;\n")
    }

    fn undeclared(start: usize, end: usize, name: &str) -> Diagnostic {
        let message = format!("undeclared variable `{name}`");
        Diagnostic::error(codes::UNDECLARED_VARIABLE, Span::new(start, end), message)
    }

    #[test]
    fn messages_come_in_order_and_once() {
        let diagnostics = vec![
            undeclared(22, 23, "m"),
            undeclared(10, 12, "β"),
            undeclared(22, 23, "m"),
        ];
        let places: Vec<u32> = in_order(diagnostics).iter().map(|d| d.span.start).collect();
        assert_eq!(places, [10, 22]);
    }

    #[test]
    fn text_quotes_the_line_and_has_no_colour_unless_asked() {
        let diagnostic = undeclared(10, 12, "β")
            .label(Span::new(5, 7), "for this")
            .hint("did you mean `α`?");
        let text = render(&source(), vec![diagnostic.clone()], false);
        for part in [
            "undeclared variable `β`",
            "a.diderot:1:10",
            "real α = β;",
            "for this",
            "did you mean `α`?",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\x1b'));
        assert!(render(&source(), vec![diagnostic], true).contains('\x1b'));
    }

    #[test]
    fn terminals_obey_nothing_that_is_quoted() {
        let text = "real \u{1b}[31m\u{9b}7m\u{202e}\u{7} = m;\n";
        let source = Source::new("a\u{1b}c.diderot", text);
        let diagnostic = undeclared(21, 22, "\u{1b}]0;m\u{7}")
            .label(Span::new(0, 4), "\u{1b}")
            .hint("\u{1b}");
        let text = render(&source, vec![diagnostic], false);
        let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(hidden), "{text:?}");
        // What follows is underlined where it is.
        assert!(text.contains("real ?[31m¿7m\u{fffd}? = m;"), "{text}");
        assert!(text.contains("a?c.diderot:1:19"), "{text}");
    }

    #[test]
    fn json_has_one_object_a_line_with_columns_in_characters() {
        let diagnostics = vec![undeclared(22, 23, "m"), undeclared(10, 12, "β").hint("h")];
        let lines = to_json_lines(&source(), diagnostics);
        let objects: Vec<serde_json::Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(
            objects[0],
            json!({
                "file": "a.diderot", "line": 1, "column": 10, "end_line": 1, "end_column": 11, "severity": "error",
                "code": "undeclared-variable", "message": "undeclared variable `β`", "hints": ["h"],
            })
        );
        assert_eq!(
            (&objects[1]["line"], &objects[1]["column"]),
            (&json!(2), &json!(9))
        );
    }

    #[test]
    fn places_at_and_past_the_end_are_shown() {
        for span in [Span::new(25, 25), Span::new(24, 90), Span::new(90, 90)] {
            let end = Diagnostic::warning(codes::UNUSED, span, "at the end");
            assert!(render(&source(), vec![end.clone()], false).contains("at the end"));
            assert!(to_json_lines(&source(), vec![end]).contains("at the end"));
        }
    }
}
