//! `diderotc explain`: the mathematics of a program before and after normalization.

use super::{FAILURE, SUCCESS, complain, read_source, report, say};
use crate::{
    explain::{Unexplained, explain as explain_program},
    pipeline::Options,
};

/// How the explanation is printed.
pub(super) struct Manner {
    /// With operators in index notation and the equations of the derivation.
    pub(super) details: bool,
    /// As LaTeX.
    pub(super) latex: bool,
}

pub(super) fn explain(file: &str, name: Option<&str>, manner: &Manner, options: &Options) -> u8 {
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    match explain_program(&source, options, name) {
        Ok(explanation) if manner.latex => say(&explanation.latex()),
        Ok(explanation) => say(&explanation.text(manner.details)),
        Err(Unexplained::Errors(diagnostics)) => {
            report(&source, diagnostics);
            return FAILURE;
        }
        Err(Unexplained::NoSuchName(known)) => {
            let name = name.unwrap_or_default();
            complain(&format!(
                "error: {file} has no tensor or field `{name}`; it has {}\n",
                known.join(", ")
            ));
            return FAILURE;
        }
    }
    SUCCESS
}
