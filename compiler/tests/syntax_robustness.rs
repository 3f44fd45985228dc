//! No text makes the front end panic or run on: random bytes, random tokens, and programs with tokens deleted, doubled and swapped.

mod trees;

use compiler::front::{
    diag, report,
    syntax::{self, print},
};
use proptest::{prelude::*, test_runner::RngSeed};
use trees::{source, without_spans};

const PROGRAMS: &[&str] = &[
    include_str!("../../programs/language/everything-1.diderot"),
    include_str!("../../programs/language/everything-2.diderot"),
    include_str!("../../programs/language/mote-2.diderot"),
    include_str!("../../programs/language/trail-1.diderot"),
];

/// Reads the text and does with the result everything that can be done.
fn survives(text: &str) {
    let source = source(text);
    let (program, diagnostics) = syntax::parse(&source);
    assert_eq!(diagnostics, diag::in_order(diagnostics.clone()));
    for diagnostic in &diagnostics {
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        assert!(
            start <= end && text.get(start..end).is_some(),
            "{diagnostic:?}"
        );
        assert!(!diagnostic.message.contains("unreadable"), "{diagnostic:?}");
    }
    report::render(&source, diagnostics.clone(), false);
    let lines = report::to_json_lines(&source, diagnostics.clone());
    assert_eq!(lines.lines().count(), diagnostics.len());
    let printed = print::print(&program);
    if !diagnostics.iter().any(diag::Diagnostic::is_error) {
        let (again, errors) = syntax::parse(&trees::source(&printed));
        assert_eq!(errors, [], "{printed}");
        assert_eq!(without_spans(&program), without_spans(&again));
    }
}

/// The pieces of a text between blanks and around symbols, blanks included.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

#[rustfmt::skip]
const VOCABULARY: &[&str] = &[
    "strand", "update", "stabilize", "start", "initialize", "global", "initially", "create_array", "create_collection", "input",
    "output", "const", "function", "if", "else", "foreach", "in", "return", "print", "new", "die", "continue", "real", "int",
    "vec2", "mat3", "tensor", "field", "image", "kernel", "nan", "zeros", "identity", "load", "load_image", "true", "x", "S",
    "π", "while", "0", "1.5", "1.", "\"s\"", "+", "-", "*", "/", "^", "⊗", "∇", "∇×", "•", "⊛", "∘", ":", "<", "==", "=", "+=",
    "&&", "||", "!", "@", "(", ")", "[", "]", "{", "}", ",", ";", ".", "..", "#", "|", "\n", "\\otimes", "\\", "/*", "*/", "//",
    "\"", "é", "?",
];

#[derive(Clone, Debug)]
enum Edit {
    Delete(prop::sample::Index),
    Double(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, &'static str),
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Edit::Delete),
        index().prop_map(Edit::Double),
        (index(), index()).prop_map(|(a, b)| Edit::Swap(a, b)),
        (index(), prop::sample::select(VOCABULARY)).prop_map(|(at, word)| Edit::Insert(at, word)),
    ]
}

fn apply(pieces: &mut Vec<&str>, edit: &Edit) {
    match edit {
        Edit::Delete(at) => {
            pieces.remove(at.index(pieces.len()));
        }
        Edit::Double(at) => {
            let at = at.index(pieces.len());
            pieces.insert(at, pieces[at]);
        }
        Edit::Swap(a, b) => {
            let (a, b) = (a.index(pieces.len()), b.index(pieces.len()));
            pieces.swap(a, b);
        }
        Edit::Insert(at, word) => pieces.insert(at.index(pieces.len()), word),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(2017), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_characters_are_survived(text in "(#version [12].0\n)?[ -~∇⊗×•πα\\\\\n\"]{0,300}") {
        survives(&text);
    }

    #[test]
    fn random_tokens_are_survived(
        version in prop::sample::select(&["", "#version 1.0\n", "#version 2.0\n"][..]),
        words in prop::collection::vec(prop::sample::select(VOCABULARY), 0..120),
        glue in prop::sample::select(&["", " "][..]),
    ) {
        survives(&format!("{version}{}", words.join(glue)));
    }

    #[test]
    fn edited_programs_are_survived(
        program in prop::sample::select(PROGRAMS),
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let mut pieces = pieces(program);
        for edit in &edits {
            apply(&mut pieces, edit);
        }
        survives(&pieces.concat());
    }
}

#[test]
fn every_prefix_and_every_single_deletion_is_survived() {
    let program = PROGRAMS[3];
    let pieces = pieces(program);
    for end in 0..pieces.len() {
        survives(&pieces[..end].concat());
        survives(&[&pieces[..end], &pieces[end + 1..]].concat().concat());
    }
}
