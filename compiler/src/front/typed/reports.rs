//! Reports errors and warnings of the check.

use super::{context::Cx, foreign_names::Foreign, scope::nearest};
use crate::front::{
    codes::Code,
    diag::{Diagnostic, Fix, Severity},
    source::Span,
};

impl Cx<'_> {
    /// Reports an error; labels and hints can be added to the returned report.
    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> Report<'_> {
        self.report(Severity::Error, code, span, message.into())
    }

    /// Reports a warning.
    pub(super) fn warning(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> Report<'_> {
        self.report(Severity::Warning, code, span, message.into())
    }

    fn report(
        &mut self,
        severity: Severity,
        code: Code,
        span: Span,
        message: String,
    ) -> Report<'_> {
        self.diagnostics.push(Diagnostic {
            severity,
            ..Diagnostic::error(code, span, message)
        });
        Report(
            self.diagnostics
                .last_mut()
                .expect("a diagnostic was just added"),
        )
    }

    /// Whether an error was reported.
    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }

    /// The candidate that is like the name, if there is one.
    pub(super) fn similar_name<'n>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'n str>,
    ) -> Option<String> {
        if self.comparisons_left == 0 {
            return None;
        }
        let left = &mut self.comparisons_left;
        let candidates = candidates.into_iter();
        let counted = candidates.inspect(|_| *left = left.saturating_sub(1));
        nearest(name, counted).map(str::to_owned)
    }
}

/// A diagnostic that was just reported.
pub(super) struct Report<'d>(&'d mut Diagnostic);

impl Report<'_> {
    /// Marks another place.
    pub(super) fn label(self, span: Span, text: impl Into<String>) -> Self {
        self.0.labels.push((span, text.into()));
        self
    }

    /// Says what would help.
    pub(super) fn hint(self, text: impl Into<String>) -> Self {
        self.0.hints.push(text.into());
        self
    }

    /// Proposes another name for the one that was found, if there is any.
    pub(super) fn did_you_mean(self, name: Option<String>) -> Self {
        match name {
            Some(name) => {
                let fix = Fix::replace(self.0.span, &name);
                self.hint(format!("did you mean `{name}`?")).fix(fix)
            }
            None => self,
        }
    }

    /// Says how something of another language is written here.
    pub(super) fn foreign(self, foreign: Foreign) -> Self {
        let fix = foreign.name.map(|name| Fix::replace(self.0.span, name));
        self.hint(foreign.advice).fix(fix)
    }

    /// Offers a change that a hint proposes.
    pub(super) fn fix(self, fix: impl Into<Option<Fix>>) -> Self {
        self.0.fixes.extend(fix.into());
        self
    }

    /// Says what would help, if anything is known.
    pub(super) fn hints(self, texts: impl IntoIterator<Item = String>) -> Self {
        self.0.hints.extend(texts);
        self
    }
}
