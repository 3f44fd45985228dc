//! `diderotc explain`: the mathematics of a program before and after normalization.

use super::{
    FAILURE, SUCCESS, args::ExplainWords, complain, read_source, report, say, words::is_bare,
};
use crate::{
    explain::{Unexplained, explain as explain_program},
    front::codes::Code,
    pipeline::Options,
};
use runtime::{file_name::FileName, text::visible};

pub(super) fn explain(words: &ExplainWords, options: &Options) -> u8 {
    if let Some(code) = words.file.to_str().and_then(Code::named) {
        say(code.page);
        return SUCCESS;
    }
    let file = FileName::from(&words.file);
    if is_bare(file.as_os_str()) {
        let message = "is neither the code of a message nor the file of a program";
        complain(&format!("error: `{file}` {message}\n"));
        return FAILURE;
    }
    let name = words.name.as_deref();
    let Some(source) = read_source(&file) else {
        return FAILURE;
    };
    match explain_program(&source, options, name) {
        Ok(explanation) if words.latex => say(&visible(&explanation.latex())),
        Ok(explanation) => say(&visible(&explanation.text(words.details))),
        Err(Unexplained::Errors(diagnostics)) => {
            report(&source, diagnostics);
            return FAILURE;
        }
        Err(Unexplained::NoSuchName(known)) => {
            let name = name.unwrap_or_default();
            complain(&format!(
                "error: {file} has no tensor or field `{name}`; it has {}\n",
                listed(&known)
            ));
            return FAILURE;
        }
        Err(Unexplained::PlainNumber(others)) => {
            let name = name.unwrap_or_default();
            complain(&format!(
                "error: {file}: `{name}` is computed from plain numbers, which are compiled as written; there is something to explain of {}\n",
                listed(&others)
            ));
            return FAILURE;
        }
    }
    SUCCESS
}

/// Some of the names, if there are many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let some = names[..names.len().min(MOST)].join(", ");
    match names.len() {
        0 => "nothing".to_string(),
        n if n > MOST => format!("{some}, …"),
        _ => some,
    }
}
