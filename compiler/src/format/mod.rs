//! The layout of programs: indentation, blanks and blank lines, and one spelling of symbols.
//!
//! A line stays a line: the author decides where formulas break. Within a line, only blanks change. So comments stay where they are,
//! and the program stays the same, which is checked.

mod blanks;
mod lines;
mod spelling;

use crate::front::{
    codes::{self, Code},
    diag::Diagnostic,
    source::Source,
    syntax::{self, print::print},
};
use blanks::spaced;
use lines::{Line, Piece, lines};
pub use spelling::Symbols;
use spelling::spelled;
use std::path::Path;

/// The blanks of one level of indentation.
const INDENT: usize = 4;

/// Errors of files that a program imports.
const OF_IMPORTS: [Code; 4] = [
    codes::IMPORT_MISSING,
    codes::IMPORT_CIRCLE,
    codes::IMPORT_CONTENTS,
    codes::IMPORT_VERSION,
];

/// The text of a program in the usual layout.
///
/// # Errors
/// The text cannot be read, so its layout is not known.
pub fn formatted(path: &Path, text: &str, symbols: Symbols) -> Result<String, Vec<Diagnostic>> {
    let before = tree(path, text)?;
    let made = laid_out(text, symbols);
    match tree(path, &made) {
        Ok(after) if after == before => Ok(made),
        // Text that the rules do not understand is left alone.
        _ => Ok(text.to_owned()),
    }
}

/// The program that a text is, without its layout.
fn tree(path: &Path, text: &str) -> Result<String, Vec<Diagnostic>> {
    let source = Source::new(path, text);
    let (program, mut errors) = syntax::parse(&source);
    errors.retain(|error| {
        // A library has no strands, and a program has its layout without the files that it imports.
        let matters = error.code != codes::MISSING_PART && !OF_IMPORTS.contains(&error.code);
        error.is_error() && matters && !source.is_imported(error.span)
    });
    match errors.is_empty() {
        true => Ok(print(&program)),
        false => Err(errors),
    }
}

fn laid_out(text: &str, symbols: Symbols) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    // The last character of the code before.
    let mut last = ';';
    let mut blank_lines = 0;
    for line in lines(text) {
        if line.is_blank() {
            blank_lines += 1;
            continue;
        }
        if blank_lines > 0 && !out.is_empty() {
            out.push('\n');
        }
        blank_lines = 0;
        if line.is_inside_comment {
            out += line.text.trim_end();
            out.push('\n');
            continue;
        }
        let (level, after) = levels(&line, depth);
        depth = after;
        let goes_on = !matches!(last, ';' | '{' | '}' | '(' | '[' | ',' | '|');
        let extra = usize::from(goes_on && !line.begins_with_closer() && !line.is_only_comment());
        let least = INDENT * (level + extra);
        // Within a statement the author may indent further, to show how a formula is read.
        let is_within = !matches!(last, ';' | '{' | '}') || line.begins_with("else");
        let indent = match is_within && !line.begins_with_closer() {
            true => least.max(line.indent()),
            false => least,
        };
        out += &" ".repeat(indent);
        out += &contents(&line, symbols);
        out.push('\n');
        let is_version = line.begins_with("#version");
        last = match line.last_of_code() {
            _ if is_version => ';',
            Some(found) => found,
            None => last,
        };
    }
    out
}

/// The level of a line, and the depth of brackets after it. A line that begins with closing brackets is on the level of their
/// opening ones.
fn levels(line: &Line<'_>, depth: usize) -> (usize, usize) {
    let closers = line.closers_first();
    let level = depth.saturating_sub(closers);
    let mut after = depth;
    for c in line.code() {
        match c {
            '{' | '(' | '[' => after += 1,
            '}' | ')' | ']' => after = after.saturating_sub(1),
            _ => {}
        }
    }
    (level, after)
}

/// A line without its indentation.
fn contents(line: &Line<'_>, symbols: Symbols) -> String {
    let mut out = String::new();
    for piece in &line.pieces {
        match piece {
            Piece::Code(code) => {
                let code = spaced(&spelled(code, symbols));
                let is_first = out.is_empty();
                out += if is_first { code.trim_start() } else { &code };
            }
            Piece::Text(text) => out += text,
            Piece::Comment(comment) => out += comment,
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> String {
        let made = formatted(Path::new("a.diderot"), text, Symbols::AsWritten);
        made.unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    #[test]
    fn blanks_and_levels_are_the_usual_ones() {
        let text = "#version 2.0\r\nreal a=1 ;  // one\n\n\n\nstrand S (int i) {\noutput real y=a +\n2*i;\n  update {   if (y>=1) { y-=f(y,2);stabilize; }\n}\n  }\n/* two\n   lines */\ncreate_array { S(i) | i in 0..9 }";
        let wanted = "#version 2.0\nreal a = 1;  // one\n\nstrand S (int i) {\n    output real y = a +\n        2*i;\n    update { if (y >= 1) { y -= f(y,2); stabilize; }\n    }\n}\n/* two\n   lines */\ncreate_array { S(i) | i in 0..9 }\n";
        assert_eq!(format(text), wanted);
        assert_eq!(format(wanted), wanted);
    }

    #[test]
    fn symbols_have_one_spelling() {
        let text = "#version 2.0\ninput image(3)[] v; // \\conv\nfield#2(3)[] F = bspln3 \\conv v;\nfield#1(3)[3] G = \\grad F;\nstrand S (int i) {\n    output real y = |G([0, 0, \\pi])| + i;\n    update { stabilize; }\n}\ncreate_array { S(i) | i in 0..9 }\n";
        let path = Path::new("a.diderot");
        let unicode = formatted(path, text, Symbols::Unicode).expect("a program");
        assert!(
            unicode.contains("bspln3 ⊛ v")
                && unicode.contains("∇F")
                && unicode.contains("// \\conv"),
            "{unicode}"
        );
        let ascii = formatted(path, &unicode, Symbols::Ascii).expect("a program");
        assert!(ascii.is_ascii(), "{ascii}");
        assert_eq!(
            formatted(path, &ascii, Symbols::Unicode).expect("a program"),
            unicode
        );
    }

    #[test]
    fn a_text_with_errors_is_not_changed() {
        assert!(
            formatted(
                Path::new("a.diderot"),
                "#version 2.0\nreal = 1;\n",
                Symbols::AsWritten
            )
            .is_err()
        );
    }
}
