//! Decides whether messages have colour: by `--color`, else on terminals unless `NO_COLOR` or `TERM=dumb` forbid it.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// What may stand after `--color`.
pub(super) const CHOICES: [&str; 3] = ["auto", "always", "never"];

static WANTED: OnceLock<String> = OnceLock::new();

/// Remembers what the words say, wherever they say it. A word that is not a choice is reported when the words are parsed.
pub(super) fn choose(words: &[OsString]) {
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.to_str().unwrap_or_default())
        .collect();
    let next = words.iter().skip(1).map(Some).chain([None]);
    for (word, next) in words.iter().zip(next) {
        let value = match word.strip_prefix("--color") {
            Some("") => next.copied(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if let Some(value) = value {
            let _ = WANTED.set(value.to_string());
        }
    }
}

/// Whether messages on standard error have colour.
pub(super) fn is_wanted() -> bool {
    let says =
        |name: &str, forbids: fn(&str) -> bool| std::env::var(name).is_ok_and(|v| forbids(&v));
    match WANTED.get().map(String::as_str) {
        Some("always") => true,
        Some("never") => false,
        _ => {
            std::io::stderr().is_terminal()
                && !says("NO_COLOR", |value| !value.is_empty())
                && !says("TERM", |value| value == "dumb")
        }
    }
}
