//! Text of files, file names and programs in messages.
//!
//! A terminal acts on control characters, and marks for the direction of text change the order of the text after them. [`visible`]
//! and [`visible_line`] give a text with one visible character in the place of each of these, so that columns stay the same.

use std::borrow::Cow;

/// The text with a visible character for each control character, except for line breaks and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| matches!(c, '\n' | '\t'))
}

/// The text as part of one line: with a visible character for each control character, line breaks and tabs included.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false)
}

fn replaced(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let shown = |c: char| if is_kept(c) { c } else { picture(c) };
    match text.chars().all(|c| shown(c) == c) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(shown).collect()),
    }
}

/// The character that is shown for another one: the same, unless a terminal would act on it.
fn picture(c: char) -> char {
    match c {
        // Unicode has pictures of these, in the same order.
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown_and_keeps_its_column() {
        let text = "a\u{1b}[31m\u{7}\u{9b}7m\u{202e}\u{7f}\0b";
        assert_eq!(visible(text), "a␛[31m␇\u{fffd}7m\u{fffd}␡␀b");
        assert_eq!(visible(text).chars().count(), text.chars().count());
    }

    #[test]
    fn lines_stay_lines_unless_one_is_wanted() {
        assert_eq!(visible("a\r\n\tb"), "a␍\n\tb");
        assert_eq!(visible_line("a\r\n\tb"), "a␍␊␉b");
    }

    #[test]
    fn other_text_is_not_copied() {
        assert!(matches!(visible("∇F ≠ 0\n"), Cow::Borrowed(_)));
        assert!(matches!(visible_line("ä 数"), Cow::Borrowed(_)));
    }
}
