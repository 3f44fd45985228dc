//! Findings about derivatives, as messages.

use super::{Fact, Finding};
use crate::{
    front::{codes, diag::Diagnostic, source::Source},
    high::Request,
};

/// The messages about the derivatives that a program asks for. Warnings are about the program itself, not about its imports.
pub fn diagnostics(
    source: &Source,
    requests: &[Request],
    findings: Vec<Finding>,
) -> Vec<Diagnostic> {
    let messages = findings
        .into_iter()
        .filter_map(|Finding { request, fact }| {
            let request = requests.get(request as usize)?;
            Some(diagnostic(request, fact))
        });
    messages
        .filter(|message| message.is_error() || !source.is_imported(message.span))
        .collect()
}

fn diagnostic(request: &Request, fact: Fact) -> Diagnostic {
    let (span, x) = (request.span, &request.parameter);
    let y = match &request.target {
        Some(name) => format!("`{name}`"),
        None => "this value".to_owned(),
    };
    match fact {
        Fact::Zero { from_earlier } => {
            let message = match from_earlier {
                false => format!("{y} does not depend on `{x}`, so this derivative is zero"),
                true => format!("{y} is not computed from `{x}` here, so this derivative is zero"),
            };
            Diagnostic::warning(codes::ZERO_DERIVATIVE, span, message)
        }
        Fact::Stale => {
            let message = format!("`{x}` was assigned after {y} was computed from it");
            Diagnostic::error(codes::STALE_DERIVATIVE, span, message).hint(
                "ask for the derivative before the assignment, or give the new value another name",
            )
        }
        Fact::Obstacle(what) => {
            let message = format!("there is no derivative by `{x}` through {what}");
            Diagnostic::error(codes::NOT_DIFFERENTIABLE, span, message)
        }
        Fact::TooRough { needed, has } => {
            let message = format!(
                "this derivative needs {needed} of a field that is probed on the way, which is C{has}"
            );
            Diagnostic::error(codes::NO_DERIVATIVE, span, message)
        }
    }
}
