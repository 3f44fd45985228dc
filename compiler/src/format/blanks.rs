//! Blanks within a line of code.

/// Signs with a blank on both sides, the longest first.
const APART: [&str; 13] = [
    "+=", "-=", "*=", "/=", "%=", "@=", "==", "!=", "<=", ">=", "&&", "||", "=",
];

/// Code with one blank where several were, with blanks around assignments, comparisons and logical operators, and after semicolons. Other
/// blanks are the author's: they show how a formula is read.
pub(super) fn spaced(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code.trim_end();
    // The blanks before a comment keep comments in a column.
    let trailing = &code[rest.len()..];
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() {
            rest = rest.trim_start();
            if !out.ends_with(' ') && !rest.starts_with([',', ';']) {
                out.push(' ');
            }
            continue;
        }
        if let Some(sign) = APART.iter().find(|sign| rest.starts_with(**sign)) {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
            out += sign;
            rest = rest[sign.len()..].trim_start();
            if !rest.is_empty() {
                out.push(' ');
            }
            continue;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
        let goes_on = !rest.is_empty() && !rest.starts_with(char::is_whitespace);
        if c == ';' && goes_on {
            out.push(' ');
        }
    }
    out + trailing
}
