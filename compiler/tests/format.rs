//! The layout of programs: the repository's own have it, and a program whose blanks were changed at random gets one that is its own layout,
//! with the same comments and the same tree.

use compiler::{
    format::{Symbols, formatted},
    front::{
        source::Source,
        syntax::{self, print::print},
    },
};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .flat_map(|path| match path.is_dir() {
            true => programs(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|end| end == "diderot"))
        .collect();
    found.sort();
    found
}

/// The programs of the repository, and its library.
fn all() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("../programs"), root.join("std")];
    let paths = folders.iter().flat_map(|folder| programs(folder));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a program is UTF-8 text");
        (path, text)
    };
    paths.map(read).collect()
}

#[track_caller]
fn laid_out(path: &Path, text: &str, symbols: Symbols) -> String {
    let made = formatted(path, text, symbols);
    made.unwrap_or_else(|errors| panic!("{}: {errors:?}\n{text}", path.display()))
}

fn tree(path: &Path, text: &str) -> String {
    print(&syntax::parse(&Source::new(path, text)).0)
}

/// The comments of a text, without the blanks around them.
fn comments(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.contains('"'));
    let found = lines.filter_map(|line| line.find("//").map(|at| line[at..].trim().to_owned()));
    found.collect()
}

/// A sequence of numbers that looks like chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A program with other blanks at the beginning and end of lines, between words, and with other blank lines.
fn disturbed(text: &str, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut is_comment = false;
    for line in text.lines() {
        let was_comment = is_comment || line.contains("/*");
        is_comment = was_comment && !line.contains("*/");
        if was_comment || line.starts_with('#') || line.contains('"') {
            out += line;
        } else {
            let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
            out += &" ".repeat(dice.below(9) as usize);
            for c in code.trim_start().chars() {
                out.push(c);
                if c == ' ' {
                    out += &" ".repeat(dice.below(3) as usize);
                }
            }
            out += comment;
            out += &" ".repeat(dice.below(3) as usize);
        }
        out += &"\n".repeat(1 + dice.below(2) as usize);
    }
    out
}

#[test]
fn the_programs_of_the_repository_have_their_layout() {
    for (path, text) in all() {
        let made = laid_out(&path, &text, Symbols::AsWritten);
        assert_eq!(made, text, "{}: `diderotc fmt` lays it out", path.display());
    }
}

#[test]
fn any_blanks_lead_to_a_layout_that_stays() {
    let seed = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_secs());
    println!("seed {seed}");
    let mut dice = Dice(seed);
    for (path, text) in all() {
        for _ in 0..4 {
            let other = disturbed(&text, &mut dice);
            let made = laid_out(&path, &other, Symbols::AsWritten);
            let name = path.display();
            assert_eq!(
                laid_out(&path, &made, Symbols::AsWritten),
                made,
                "{name}, seed {seed}"
            );
            assert_eq!(comments(&made), comments(&other), "{name}, seed {seed}");
            assert_eq!(
                tree(&path, &made),
                tree(&path, &text),
                "{name}, seed {seed}"
            );
        }
    }
}

#[test]
fn symbols_go_to_ascii_and_back() {
    for (path, text) in all() {
        let unicode = laid_out(&path, &text, Symbols::Unicode);
        let ascii = laid_out(&path, &unicode, Symbols::Ascii);
        assert_eq!(
            tree(&path, &ascii),
            tree(&path, &text),
            "{}",
            path.display()
        );
        let again = laid_out(&path, &ascii, Symbols::Unicode);
        assert_eq!(
            tree(&path, &again),
            tree(&path, &text),
            "{}",
            path.display()
        );
    }
}
