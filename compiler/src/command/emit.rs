//! `diderotc emit`: the program after a stage.

use super::{FAILURE, SUCCESS, complain, read_source, report, say};
use crate::front::syntax;
use crate::pipeline::{self, Options, STAGES, Session, Stopped};
use std::path::Path;

pub(super) fn emit(file: &Path, stage: &str, options: Options) -> u8 {
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    let mut session = Session {
        stop_after: Some(stage.to_string()),
        ..Session::default()
    };
    match pipeline::compile(&mut session, &source, &options) {
        Err(Stopped::Asked) => {
            for (_, text) in session.dumps {
                say(&text);
            }
            // The syntax tree is there even if the text is wrong: then it is a repaired one.
            let (_, errors) = syntax::parse(&source);
            let is_repaired = !errors.is_empty();
            report(&source, errors);
            if is_repaired { FAILURE } else { SUCCESS }
        }
        Err(Stopped::Errors(diagnostics)) => {
            report(&source, diagnostics);
            FAILURE
        }
        Ok(_) => {
            complain(&format!("error: stage `{stage}` has no text\n"));
            FAILURE
        }
    }
}

pub(super) fn list_stages() -> u8 {
    for stage in STAGES {
        say(&format!("{:12} {}\n", stage.name, stage.about));
    }
    SUCCESS
}
