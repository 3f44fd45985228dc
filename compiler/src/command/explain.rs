//! `diderotc explain`: the mathematics of a program before and after normalization.

use super::{
    FAILURE, SUCCESS, args::ExplainWords, complain, read_source, report, say, words::is_bare,
};
use crate::{
    explain::{Unexplained, explain as explain_program},
    front::codes::Code,
    pipeline::Options,
};

pub(super) fn explain(words: &ExplainWords, options: &Options) -> u8 {
    if let Some(code) = Code::named(&words.file) {
        say(code.page);
        return SUCCESS;
    }
    if is_bare(&words.file) {
        let message = "is neither the code of a message nor the file of a program";
        complain(&format!("error: `{}` {message}\n", words.file));
        return FAILURE;
    }
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
