//! Symbols in Unicode or in ASCII.

use crate::front::syntax::vocabulary::{program_words, symbol_words};
use std::collections::BTreeMap;

/// How symbols are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// As they are.
    #[default]
    AsWritten,
    /// In Unicode: `∇`.
    Unicode,
    /// In ASCII: `\grad`.
    Ascii,
}

/// Code with its symbols in one spelling.
pub(super) fn spelled(code: &str, symbols: Symbols) -> String {
    match symbols {
        Symbols::AsWritten => code.to_owned(),
        Symbols::Unicode => in_unicode(code),
        Symbols::Ascii => in_ascii(code),
    }
}

fn in_unicode(code: &str) -> String {
    let words = symbol_words();
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find('\\') {
        out += &rest[..at];
        let after = &rest[at + 1..];
        let length = after
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(after.len());
        match words.get(&after[..length]) {
            Some(symbol) => {
                out += symbol;
                rest = &after[length..];
                // The blank that ended the word is not needed any more before an operand of a prefix.
                if symbol.starts_with(['∇', '∂']) {
                    rest = rest.trim_start_matches(' ');
                }
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out + rest
}

fn in_ascii(code: &str) -> String {
    let names: BTreeMap<String, &str> = program_words()
        .map(|(word, symbol)| (symbol, word))
        .collect();
    let mut symbols: Vec<(&String, &&str)> = names.iter().collect();
    symbols.sort_by_key(|(symbol, _)| std::cmp::Reverse(symbol.len()));
    let mut out = String::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let found = (!c.is_ascii())
            .then(|| {
                symbols
                    .iter()
                    .find(|(symbol, _)| rest.starts_with(symbol.as_str()))
            })
            .flatten();
        match found {
            Some((symbol, word)) => {
                out.push('\\');
                out += word;
                rest = &rest[symbol.len()..];
                if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                    out.push(' ');
                }
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}
