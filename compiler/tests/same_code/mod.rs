//! The text of a program's code without what does not matter: the numbers of values and of summation indices, copies, and the order
//! of independent operations.

use compiler::{
    pipeline::Lowered,
    ssa::{Dialect, Program},
};

/// What a function without control flow yields, with the operations in the place of the numbers of their values: the order of
/// independent operations does not count.
pub(crate) fn written_out(function: &str) -> String {
    let mut values: Vec<(String, String)> = Vec::new();
    let mut result = String::new();
    for line in function.lines() {
        let mut text = with_indices_in_order(&without_places(line.trim()));
        let defined = text.split_once(": ").filter(|(name, _)| is_value(name));
        let defined = defined.map(|(name, _)| name.to_owned());
        if let Some(name) = &defined {
            text = text[name.len()..].to_owned();
        }
        let pieces = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        let resolved = pieces.map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            match values.iter().find(|(name, _)| name == word) {
                Some((_, value)) => format!("({value}){}", &piece[word.len()..]),
                None => piece.to_owned(),
            }
        });
        let resolved: String = resolved.collect();
        let copied = copied(&text).and_then(|arg| values.iter().find(|(name, _)| name == arg));
        match defined {
            Some(name) => {
                let value = copied.map_or(resolved, |(_, value)| value.clone());
                values.push((name, value));
            }
            None => result += &format!("{resolved}\n"),
        }
    }
    result
}

fn is_value(name: &str) -> bool {
    name.strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// A line without the places in the source that operations which may fail remember.
fn without_places(line: &str) -> String {
    let mut line = line.to_owned();
    for operation in ["element ", "check-index "] {
        if let Some((before, after)) = line.split_once(operation) {
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
            line = format!("{before}{operation}{after}");
        }
    }
    line
}

/// A line of High-IR with the summation indices `s3`, `s7`, … numbered in the order in which they occur.
fn with_indices_in_order(line: &str) -> String {
    if !line.contains("ein ⟨") {
        return line.to_owned();
    }
    let mut known: Vec<String> = Vec::new();
    let pieces = line.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let renamed = pieces.map(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits = word.strip_prefix('s').unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return piece.to_owned();
        }
        let place = known.iter().position(|other| other == word);
        let place = place.unwrap_or_else(|| {
            known.push(word.to_owned());
            known.len() - 1
        });
        format!("s{place}{}", &piece[word.len()..])
    });
    renamed.collect()
}

/// The value that an operator copies, if it does nothing else: `ein ⟨λ(a:[3]) i:3 | a[i]⟩(v1)`.
fn copied(text: &str) -> Option<&str> {
    let (_, operator) = text.split_once("ein ⟨λ(a:[")?;
    let (_, operator) = operator.split_once("])")?;
    let (axes, operator) = operator.split_once('|')?;
    let (body, arg) = operator.split_once("⟩(")?;
    let axes = axes
        .split_whitespace()
        .filter_map(|axis| axis.split(':').next());
    let axes: Vec<&str> = axes.collect();
    let copy = match axes.is_empty() {
        true => "a".to_owned(),
        false => format!("a[{}]", axes.join(" ")),
    };
    (body.trim() == copy).then(|| arg.trim_end_matches(')'))
}

fn printed<D: Dialect>(program: &Program<D>) -> String {
    let functions = program.functions.iter();
    let printed = functions
        .map(|(role, function)| format!("{role:?}\n{}", written_out(&function.to_string())));
    printed.collect::<Vec<_>>().join("\n")
}

/// A program's operators in normal form.
pub(crate) fn normal_of(lowered: &Lowered) -> String {
    printed(&lowered.normalized)
}

/// A program's Low-IR.
pub(crate) fn low_of(lowered: &Lowered) -> String {
    printed(&lowered.hoisted)
}
