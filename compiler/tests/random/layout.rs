//! The layout of random programs with comments at random places: it stays, and changes neither the program nor its comments.

use crate::{
    program::{Purpose, nth_seed, program, seed_of_run},
    tree,
};
use compiler::{
    format::{Symbols, formatted},
    front::syntax::print::print,
};
use std::path::Path;

/// Programs in every run of the tests.
const PROGRAMS: u64 = 2000;

/// A text with comments at random blanks; each has a number. Lines with strings and the version stay.
fn commented(text: &str, seed: u64) -> (String, usize) {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut count = 0;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with('#') || line.contains('"') {
            out += line;
            out.push('\n');
            continue;
        }
        for c in line.chars() {
            out.push(c);
            let comment = match below(40) {
                _ if c != ' ' => continue,
                0 => format!("/* <{count}> */ "),
                1 => format!("// <{count}>\n"),
                2 => format!("/* <{count}>\n   ∇ */"),
                _ => continue,
            };
            out += &comment;
            count += 1;
        }
        if below(10) == 0 {
            out += &format!(" // <{count}>");
            count += 1;
        }
        out.push('\n');
    }
    (out, count)
}

#[test]
fn layouts_of_random_programs_keep_them_and_their_comments() {
    let seed = seed_of_run();
    println!("DIDEROT_SEED={seed}");
    let path = Path::new("random.diderot");
    let (mut comments, mut changed) = (0, 0);
    for n in 0..PROGRAMS {
        let seed = nth_seed(seed, n);
        let plain = program(seed, Purpose::Any);
        let (text, count) = commented(&plain, seed);
        let made = formatted(path, &text, Symbols::AsWritten);
        let made = made.unwrap_or_else(|errors| panic!("program {n}: {errors:?}\n{text}"));
        let again = formatted(path, &made, Symbols::AsWritten);
        assert_eq!(again.as_deref(), Ok(&*made), "program {n}\n{text}");
        assert_eq!(print(&tree(&made)), print(&tree(&plain)), "program {n}");
        let mut rest = &*made;
        for comment in 0..count {
            let mark = format!("<{comment}>");
            let at = rest.find(&mark);
            let at = at.unwrap_or_else(|| panic!("program {n}: {mark} is gone\n{made}"));
            rest = &rest[at + mark.len()..];
        }
        comments += count;
        changed += usize::from(made != text);
    }
    println!("{comments} comments; the layout of {changed} programs changed");
    assert!(comments > 10 * PROGRAMS as usize, "{comments}");
    assert!(changed > PROGRAMS as usize / 2, "{changed}");
}
