//! `diderotc explain`: the mathematics of definitions before and after normalization.

use super::{FAILURE, SUCCESS, complain, read_source, report, say};
use crate::{front, high, pipeline::Options};

pub(super) fn explain(file: &str, name: Option<&str>, options: &Options) -> u8 {
    let Some(source) = read_source(file) else {
        return FAILURE;
    };
    let checked = front::check(&source, &options.check());
    let Some(typed) = checked.program else {
        report(&source, checked.diagnostics);
        return FAILURE;
    };
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
