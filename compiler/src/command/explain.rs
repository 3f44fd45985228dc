//! `diderotc explain`: the mathematics of definitions before and after normalization.

use super::{FAILURE, SUCCESS, complain, read_source, report, say};
use crate::{
    front::{syntax, typed},
    high,
    pipeline::Options,
};

pub(super) fn explain(file: &str, name: Option<&str>, options: &Options) -> u8 {
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    let (ast, errors) = syntax::parse(&source);
    let check = typed::CheckOptions {
        constants: options.constants.clone(),
    };
    let (typed, diagnostics) = typed::check(&ast, &check, errors);
    let Some(typed) = typed else {
        report(&source, diagnostics);
        return FAILURE;
    };
    let unsupported = typed::unsupported(&typed);
    if !unsupported.is_empty() {
        report(&source, unsupported);
        return FAILURE;
    }
    let definitions = high::definitions(&typed);
    let wanted: Vec<&high::Definition> = definitions
        .iter()
        .filter(|d| name.is_none_or(|name| d.name == name))
        .collect();
    if let (Some(name), []) = (name, &wanted[..]) {
        let known: Vec<&str> = definitions.iter().map(|d| d.name.as_str()).collect();
        complain(&format!(
            "error: {file} has no closed form `{name}` of a tensor or field; it has {}\n",
            known.join(", ")
        ));
        return FAILURE;
    }
    for definition in wanted {
        let explanation = rewrite::explain(&definition.region, 0, &options.normalization);
        say(&format!("{}\n{explanation}\n", definition.name));
    }
    SUCCESS
}
