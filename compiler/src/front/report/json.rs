//! Messages for tools: data with the places in files, and JSON of it.

use crate::front::{
    diag::{Diagnostic, Severity, in_order},
    source::{Lines, Source, Span},
};
use serde::Serialize;

/// A place in a file of a program. Lines and columns count from 1, columns in characters, and the end is one past the last character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The path of the file.
    pub file: String,
    /// The line of the first character.
    pub line: usize,
    /// The column of the first character.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column of the end.
    pub end_column: usize,
}

/// A further place of a message, with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocatedLabel {
    /// The place.
    #[serde(flatten)]
    pub location: Location,
    /// The text.
    pub text: String,
}

/// A change of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocatedEdit {
    /// The place.
    #[serde(flatten)]
    pub location: Location,
    /// Its new text.
    pub text: String,
}

/// Changes that together remove the cause of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocatedFix {
    /// A description that names the new text.
    pub title: String,
    /// The changes; their places do not overlap.
    pub edits: Vec<LocatedEdit>,
}

/// A message with the places that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The place.
    #[serde(flatten)]
    pub location: Location,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The code.
    pub code: &'static str,
    /// The text.
    pub message: String,
    /// Further places.
    pub labels: Vec<LocatedLabel>,
    /// Ways out.
    pub hints: Vec<String>,
    /// Changes that a tool can make.
    pub fixes: Vec<LocatedFix>,
}

impl Located {
    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error.text()
    }
}

/// The messages in order, each with its places.
pub fn located(source: &Source, diagnostics: Vec<Diagnostic>) -> Vec<Located> {
    let files = source.files();
    let lines: Vec<Lines> = files.iter().map(|file| Lines::of(file.1)).collect();
    let at_start = |(file, lines)| Cursor::at_start(file, lines);
    let texts = files.iter().map(|file| file.1);
    let mut cursors: Vec<Cursor> = texts.zip(&lines).map(at_start).collect();
    let mut location = |span: Span| {
        let (file, span) = source.origin_of(span);
        let (line, column) = cursors[file].position(span.start);
        let (end_line, end_column) = { cursors[file] }.position(span.end);
        Location {
            file: files[file].0.display().to_string(),
            line,
            column,
            end_line,
            end_column,
        }
    };
    let of = |diagnostic: Diagnostic| Located {
        location: location(diagnostic.span),
        severity: diagnostic.severity.text(),
        code: diagnostic.code.name,
        message: diagnostic.message,
        labels: diagnostic
            .labels
            .into_iter()
            .map(|(span, text)| LocatedLabel {
                location: location(span),
                text,
            })
            .collect(),
        hints: diagnostic.hints,
        fixes: diagnostic
            .fixes
            .into_iter()
            .map(|fix| LocatedFix {
                title: fix.title,
                edits: fix
                    .edits
                    .into_iter()
                    .map(|(span, text)| LocatedEdit {
                        location: location(span),
                        text,
                    })
                    .collect(),
            })
            .collect(),
    };
    in_order(diagnostics).into_iter().map(of).collect()
}

/// The messages in order: one JSON object a line.
pub fn to_json_lines(source: &Source, diagnostics: Vec<Diagnostic>) -> String {
    let messages = located(source, diagnostics).into_iter();
    messages
        .map(|message| serde_json::to_string(&message).expect("texts and numbers") + "\n")
        .collect()
}

/// A place in a text from which places after it are found: a line of any length is counted once, not for every message.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    text: &'a str,
    lines: &'a Lines,
    byte: usize,
    /// Line and column, from 1.
    at: (usize, usize),
}

impl<'a> Cursor<'a> {
    fn at_start(text: &'a str, lines: &'a Lines) -> Cursor<'a> {
        Cursor {
            text,
            lines,
            byte: 0,
            at: (1, 1),
        }
    }

    /// The line and the column of a byte. A byte past the end is the end.
    fn position(&mut self, byte: u32) -> (usize, usize) {
        let end = (byte as usize).min(self.text.len());
        let end = self.text.floor_char_boundary(end);
        let line = self.lines.line(end as u32);
        let (start, column) = match self.at {
            (known, column) if known == line && self.byte <= end => (self.byte, column),
            _ => (self.lines.start(line), 1),
        };
        self.byte = end;
        self.at = (line, column + self.text[start..end].chars().count());
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::{
        codes,
        diag::Fix,
        report::examples::{source, undeclared},
    };
    use serde_json::json;

    #[test]
    fn json_has_one_object_a_line_with_columns_in_characters() {
        let first = undeclared(10, 12, "β").label(Span::new(5, 7), "here");
        let fix = Fix::replace(Span::new(10, 12), "α");
        let diagnostics = vec![undeclared(22, 23, "m"), first.hint("h").fix(fix)];
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
                "labels": [{
                    "file": "a.diderot", "line": 1, "column": 6, "end_line": 1, "end_column": 7, "text": "here",
                }],
                "fixes": [{
                    "title": "write `α`",
                    "edits": [{
                        "file": "a.diderot", "line": 1, "column": 10, "end_line": 1, "end_column": 11, "text": "α",
                    }],
                }],
            })
        );
        assert_eq!(
            (&objects[1]["line"], &objects[1]["column"]),
            (&json!(2), &json!(9))
        );
    }

    #[test]
    fn places_past_the_end_are_the_end() {
        for span in [Span::new(25, 25), Span::new(24, 90), Span::new(90, 90)] {
            let end = Diagnostic::warning(codes::UNUSED, span, "at the end");
            assert!(to_json_lines(&source(), vec![end]).contains("at the end"));
        }
    }

    #[test]
    fn columns_of_one_line_are_those_counted_from_its_start() {
        let names: Vec<(usize, usize)> = vec![(5, 7), (10, 12), (10, 25), (22, 23)];
        let diagnostics = names
            .iter()
            .map(|&(start, end)| undeclared(start, end, "x"));
        let lines = to_json_lines(&source(), diagnostics.collect());
        let text = source().text;
        let expected = Lines::of(&text);
        for (line, (start, end)) in lines.lines().zip(names) {
            let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let (row, column) = expected.position(&text, start as u32);
            let (end_row, end_column) = expected.position(&text, end as u32);
            assert_eq!(object["line"], json!(row));
            assert_eq!(object["column"], json!(column));
            assert_eq!(object["end_line"], json!(end_row));
            assert_eq!(object["end_column"], json!(end_column));
        }
    }
}
