//! The values of header fields in text: lists of numbers, of quoted strings, of vectors.
//!
//! Every reader takes the whole rest of the line and returns the value, or a message with the actual and the expected value.
//! Every writer returns text that its reader accepts.

use super::number::{Written, parse_real};

pub(super) type Parsed<T> = Result<T, String>;

/// The blank-separated words of `text`; blanks are space and tab only, as in the format.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t']).filter(|word| !word.is_empty())
}

/// Exactly `count` words, each read by `parse`.
pub(super) fn list<T>(
    text: &str,
    count: usize,
    parse: impl Fn(&str) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let found = words(text).count();
    if found != count {
        return Err(format!("found {found} values, expected {count}"));
    }
    words(text).map(parse).collect()
}

/// A real number, `nan` for unknown.
pub(super) fn known_real(text: &str) -> Parsed<Option<f64>> {
    let x = parse_real(text).ok_or_else(|| format!("found `{text}`, expected a number"))?;
    Ok((!x.is_nan()).then_some(x))
}

/// An integer of the type asked for.
pub(super) fn integer<T: std::str::FromStr>(text: &str, wanted: &str) -> Parsed<T> {
    text.parse()
        .map_err(|_| format!("found `{text}`, expected {wanted}"))
}

/// A word of a vocabulary.
pub(super) fn one_of<T>(text: &str, value: Option<T>, choices: String) -> Parsed<T> {
    value.ok_or_else(|| format!("found `{text}`, expected one of: {choices}"))
}

/// A word of a vocabulary, or one of the spellings of "unknown".
pub(super) fn one_of_or_unknown<T>(
    text: &str,
    value: Option<T>,
    choices: String,
) -> Parsed<Option<T>> {
    match text.to_ascii_lowercase().as_str() {
        "???" | "none" => Ok(None),
        _ => one_of(text, value, choices).map(Some),
    }
}

/// Exactly `count` vectors of `dimension` finite numbers; `none` or a vector of `nan` is unknown.
pub(super) fn vectors(text: &str, count: usize, dimension: usize) -> Parsed<Vec<Option<Vec<f64>>>> {
    let mut vectors = Vec::new();
    let mut rest = text.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        let (vector, after) = first_vector(rest, dimension)?;
        vectors.push(vector);
        rest = after.trim_start_matches([' ', '\t']);
    }
    if vectors.len() != count {
        let found = vectors.len();
        return Err(format!("found {found} vectors, expected {count}"));
    }
    Ok(vectors)
}

fn first_vector(text: &str, dimension: usize) -> Parsed<(Option<Vec<f64>>, &str)> {
    if let Some(inner) = text.strip_prefix('(') {
        let (inner, after) = inner
            .split_once(')')
            .ok_or_else(|| format!("no `)` closes the vector `{text}`"))?;
        return Ok((vector(inner, dimension)?, after));
    }
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    if text[..end].eq_ignore_ascii_case("none") {
        return Ok((None, &text[end..]));
    }
    let found = &text[..end];
    Err(format!(
        "found `{found}`, expected a vector in parentheses or `none`"
    ))
}

fn vector(inner: &str, dimension: usize) -> Parsed<Option<Vec<f64>>> {
    let coefficients = inner
        .split(',')
        .map(|c| known_real(c.trim_matches([' ', '\t'])))
        .collect::<Parsed<Vec<_>>>()?;
    if coefficients.len() != dimension {
        let found = coefficients.len();
        return Err(format!(
            "vector `({inner})` has {found} coefficients, expected {dimension}"
        ));
    }
    let known: Vec<f64> = coefficients.iter().flatten().copied().collect();
    match known.len() {
        0 => Ok(None),
        n if n == dimension && known.iter().all(|x| x.is_finite()) => Ok(Some(known)),
        _ => Err(format!(
            "coefficients of `({inner})` must be all finite or all nan"
        )),
    }
}

/// Exactly `count` strings in double quotes, in which `\"` stands for a quote.
pub(super) fn quoted(text: &str, count: usize) -> Parsed<Vec<String>> {
    let mut strings = Vec::new();
    let mut rest = text.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        let inner = rest
            .strip_prefix('"')
            .ok_or_else(|| format!("found `{rest}`, expected a string in double quotes"))?;
        let (string, after) = until_quote(inner)?;
        strings.push(string);
        rest = after.trim_start_matches([' ', '\t']);
    }
    if strings.len() != count {
        let found = strings.len();
        return Err(format!("found {found} strings, expected {count}"));
    }
    Ok(strings)
}

fn until_quote(text: &str) -> Parsed<(String, &str)> {
    let mut string = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        match rest[..at].strip_suffix('\\') {
            Some(before) => {
                string.push_str(before);
                string.push('"');
                rest = &rest[at + 1..];
            }
            None => {
                string.push_str(&rest[..at]);
                return Ok((string, &rest[at + 1..]));
            }
        }
    }
    Err(format!("no quote closes the string `\"{text}`"))
}

/// A key or value of a key/value line: `\n` and `\\` stand for line feed and backslash.
pub(super) fn unescape(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        let (escaped, length) = match rest[at + 1..].chars().next() {
            Some('n') => ('\n', 2),
            Some('\\') => ('\\', 2),
            _ => ('\\', 1),
        };
        result.push(escaped);
        rest = &rest[at + length..];
    }
    result + rest
}

/// The inverse of [`unescape`].
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// `known` values separated by blanks, or nothing if none of them is known.
pub(super) fn written_list<T>(
    values: &[Option<T>],
    unknown: &str,
    write: impl Fn(&T) -> String,
) -> Option<String> {
    if values.iter().all(Option::is_none) {
        return None;
    }
    let text = |v: &Option<T>| v.as_ref().map_or(unknown.to_string(), &write);
    Some(values.iter().map(text).collect::<Vec<_>>().join(" "))
}

/// `(a,b,c)`.
pub(super) fn written_vector(vector: &[f64]) -> String {
    let coefficients: Vec<_> = vector.iter().map(|&x| Written(x).to_string()).collect();
    format!("({})", coefficients.join(","))
}

/// Strings in double quotes, or nothing if all are empty.
pub(super) fn written_quoted(strings: &[&str]) -> Option<String> {
    if strings.iter().all(|s| s.is_empty()) {
        return None;
    }
    let quote = |s: &&str| format!("\"{}\"", s.replace('"', "\\\""));
    Some(strings.iter().map(quote).collect::<Vec<_>>().join(" "))
}
