//! The help text of a program, from the descriptions of its inputs and the table of options.

use super::options::{About, InputSpec, OPTIONS, Program};
use runtime::{input::InputType, output::format::FileFormat};

/// Where the explanations begin; longer options get a line of their own.
const COLUMN: usize = 28;

/// Words that are written out one by one; more are counted.
const MAX_PLACEHOLDERS: usize = 4;

/// How to call the program.
pub(in crate::command) fn text(program: &Program) -> String {
    let mut text = format!("usage: {} [OPTION VALUES...]...\n", program.name);
    // The program's own first, then those of imported files, in the order of the imports.
    let mut modules = vec![None];
    for input in &program.inputs {
        if !modules.contains(&input.module.as_deref()) {
            modules.push(input.module.as_deref());
        }
    }
    for module in modules {
        let is_of_it = |input: &&InputSpec| input.module.as_deref() == module;
        let mut inputs = program.inputs.iter().filter(is_of_it).peekable();
        if inputs.peek().is_some() {
            text += &module.map_or("\ninputs\n".to_string(), |m| format!("\ninputs of {m}\n"));
        }
        for input in inputs {
            let left = format!("-{} {}", input.name, placeholders(&input.ty));
            text += &entry(&left, &explanation(input));
        }
    }
    text += "\noptions\n";
    let formats = FileFormat::suffixes(FileFormat::all());
    for row in OPTIONS {
        // One of several outputs or images is named by the option itself.
        let names = program.names(row.about()).len();
        if matches!(row.about(), About::Images | About::Frames) && names == 0 {
            continue;
        }
        let suffix = if names > 1 { "[-NAME]" } else { "" };
        let is_free = |s: &&&str| program.inputs.iter().all(|i| s[1..] != i.name);
        let spelled: Vec<_> = row
            .spellings
            .iter()
            .filter(is_free)
            .map(|s| format!("{s}{suffix}"))
            .collect();
        let left = format!("{} {}", spelled.join(", "), row.argument);
        text += &entry(&left, &row.help.replace("{formats}", &formats));
    }
    if program.outputs.len() > 1 {
        text += "\noutputs\n";
    } else if !program.outputs.is_empty() {
        text += "\noutput\n";
    }
    for output in &program.outputs {
        let name = &output.name;
        let files = match output.dynamic {
            true => format!("{name}-len.nrrd and {name}-data.nrrd"),
            false => format!("{name}.nrrd"),
        };
        text += &entry(name, &format!("usually written to {files}"));
    }
    text
}

fn entry(left: &str, right: &str) -> String {
    let left = format!("  {}", left.trim_end());
    let gap = if left.chars().count() < COLUMN {
        " ".repeat(COLUMN - left.chars().count())
    } else {
        format!("\n{}", " ".repeat(COLUMN))
    };
    format!("{left}{gap}{right}\n")
}

fn explanation(input: &InputSpec) -> String {
    let description = input.description.as_deref().unwrap_or("");
    let requirement = match &input.default {
        Some(default) => format!("default: {default}"),
        None => "required".to_string(),
    };
    let separator = if description.is_empty() { "" } else { ": " };
    format!("{}{separator}{description} ({requirement})", input.ty)
}

fn placeholders(ty: &InputType) -> String {
    let word = placeholder(ty);
    match ty.word_count() {
        0 => String::new(),
        n @ 1..=MAX_PLACEHOLDERS => [word].repeat(n).join(" "),
        n => format!("{word} ... ({n} values)"),
    }
}

fn placeholder(ty: &InputType) -> &'static str {
    match ty {
        InputType::Bool => "BOOL",
        InputType::Int => "INT",
        InputType::Real | InputType::Tensor(_) => "REAL",
        InputType::String => "TEXT",
        InputType::Seq { elem, len: Some(_) } => placeholder(elem),
        InputType::Seq { len: None, .. } | InputType::Image { .. } => "FILE",
        InputType::Mesh(_) => "FILE[#ARRAY]",
    }
}
