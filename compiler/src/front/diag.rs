//! Messages to the user: error, place and hints.
//!
//! Texts are lower case without a final period, and name the thing that was found and the one that was expected.

use super::{codes::Code, span::Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be compiled.
    Error,
    /// The program can be compiled, but may contain a mistake.
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

/// A change of the text that removes the cause of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A description that names the new text.
    pub title: String,
    /// Places with the texts that replace them, in the order of the text.
    pub edits: Vec<(Span, String)>,
}

impl Fix {
    /// Replaces the text of a place.
    pub fn replace(span: Span, with: impl Into<String>) -> Fix {
        let with = with.into();
        Fix {
            title: format!("write `{with}`"),
            edits: vec![(span, with)],
        }
    }

    /// Inserts a text.
    pub fn insert(at: u32, text: &str) -> Fix {
        Fix {
            title: format!("insert `{text}`"),
            edits: vec![(Span { start: at, end: at }, text.to_owned())],
        }
    }

    /// Removes a place that has this text.
    pub fn remove(span: Span, text: &str) -> Fix {
        Fix {
            title: format!("remove `{text}`"),
            edits: vec![(span, String::new())],
        }
    }

    /// Puts texts before and after a place.
    pub fn wrap(span: Span, before: &str, after: &str) -> Fix {
        let [start, end] = [span.start, span.end].map(|at| Span { start: at, end: at });
        Fix {
            title: format!("write `{before}…{after}`"),
            edits: vec![(start, before.to_owned()), (end, after.to_owned())],
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
    /// The text: the thing that was found, and the one that was expected.
    pub message: String,
    /// Further places with their texts; a text for the place itself replaces the code's own label.
    pub labels: Vec<(Span, String)>,
    /// What may help.
    pub hints: Vec<String>,
    /// Changes that tools offer; each is what a hint proposes.
    pub fixes: Vec<Fix>,
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
            fixes: Vec::new(),
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

    /// The same with a change that tools offer.
    pub fn fix(mut self, fix: Fix) -> Diagnostic {
        self.fixes.push(fix);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::codes;

    #[test]
    fn messages_come_in_order_and_once() {
        let undeclared = |start: usize, name: &str| {
            let message = format!("undeclared variable `{name}`");
            let span = Span::new(start, start + 1);
            Diagnostic::error(codes::UNDECLARED_VARIABLE, span, message)
        };
        let diagnostics = vec![
            undeclared(22, "m"),
            undeclared(10, "β"),
            undeclared(22, "m"),
        ];
        let places: Vec<u32> = in_order(diagnostics).iter().map(|d| d.span.start).collect();
        assert_eq!(places, [10, 22]);
    }
}
