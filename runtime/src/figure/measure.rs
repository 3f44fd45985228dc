//! The sizes of letters and lines, and the widths of texts in Helvetica, which every reader of PDF has and whose substitutes in
//! browsers are mostly as wide.

/// The size of the names of axes, and of the text beside the title.
pub(super) const LABEL: f64 = 8.0;
/// The size of the numbers at ticks.
pub(super) const NUMBER: f64 = 7.0;
/// The thickness of frames and ticks.
pub(super) const THIN: f64 = 0.5;
/// The height of capitals and digits, as a part of the size of the text.
pub(super) const CAPITALS: f64 = 0.72;
/// The depth of descending letters.
pub(super) const DESCENT: f64 = 0.22;
/// The size of exponents.
pub(super) const RAISED_SIZE: f64 = 0.7;
/// How far they are above the base line.
pub(super) const RAISED_BY: f64 = 0.36;

/// The widths of the characters from space to tilde, in thousandths of the size.
#[rustfmt::skip]
const ASCII: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// The width of a text as a part of the size of its letters.
pub(super) fn width_of(text: &str) -> f64 {
    let widths = text.chars().map(|c| u32::from(width_of_character(c)));
    f64::from(widths.sum::<u32>()) / 1000.0
}

fn width_of_character(c: char) -> u16 {
    match c {
        ' '..='~' => ASCII[c as usize - 32],
        '\u{2212}' | '×' => 584,
        '…' => 1000,
        // Letters with accents, Greek and Cyrillic ones are nearly all at most this wide.
        '\u{80}'..'\u{1100}' => 667,
        _ => 1000,
    }
}

/// A text that is not wider than this part of the size of its letters: its begin, and dots where letters are missing.
pub(super) fn shortened(text: &str, width: f64) -> String {
    if width_of(text) <= width {
        return text.to_string();
    }
    let mut kept = String::from("…");
    for c in text.chars() {
        kept.insert(kept.len() - '…'.len_utf8(), c);
        if width_of(&kept) > width {
            kept.remove(kept.len() - '…'.len_utf8() - c.len_utf8());
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // From the metrics that Adobe publishes for the font.
        assert_eq!(width_of("0.25"), 1.946);
        assert_eq!(width_of("Helvetica"), 4.112);
        assert_eq!(width_of("~"), 0.584);
    }

    #[test]
    fn long_texts_lose_their_end() {
        assert_eq!(shortened("short", 10.0), "short");
        assert_eq!(shortened("0123456789", 4.0), "01234…");
        assert_eq!(shortened("λλλλ", 2.0), "λ…");
        assert_eq!(shortened("anything", 0.0), "…");
    }
}
