//! Numbers in the text headers of several formats.

use std::str::FromStr;

/// The words of `text` as numbers; what `what` names must be `count` of them.
pub(super) fn numbers<T: FromStr>(text: &str, count: usize, what: &str) -> Result<Vec<T>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != count {
        let found = words.len();
        return Err(format!("`{what}` has {found} values, expected {count}"));
    }
    let number = |word: &&str| {
        let wrong = |_| format!("`{what}` has the value `{word}`, expected a number");
        word.parse().map_err(wrong)
    };
    words.iter().map(number).collect()
}

/// Numbers that are finite.
pub(super) fn reals(text: &str, count: usize, what: &str) -> Result<Vec<f64>, String> {
    let values = numbers::<f64>(text, count, what)?;
    match values.iter().all(|x| x.is_finite()) {
        true => Ok(values),
        false => Err(format!("`{what}` is `{text}`, expected finite numbers")),
    }
}

/// The beginning of a file as text, for messages: its first line without what a terminal would act on.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    let text: String = String::from_utf8_lossy(line).chars().take(40).collect();
    text.escape_debug().to_string()
}
