//! `diderotc explain`: the mathematics of a program before and after normalization.

use super::{FAILURE, SUCCESS, args::ExplainWords, complain, read_source, report, say};
use crate::{
    explain::{Unexplained, explain as explain_program},
    pipeline::Options,
};

pub(super) fn explain(words: &ExplainWords, options: &Options) -> u8 {
    let (file, name) = (&words.file, words.name.as_deref());
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    match explain_program(&source, options, name) {
        Ok(explanation) if words.latex => say(&explanation.latex()),
        Ok(explanation) => say(&explanation.text(words.details)),
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
