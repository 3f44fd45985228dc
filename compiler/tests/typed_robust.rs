//! No program makes the checker panic, loop or overflow the stack, and there is a tree exactly if there are no errors.

mod typed_support;

use compiler::front::{self, CheckOptions, source::Source, syntax::MAX_DEPTH, tree};
use proptest::prelude::*;
use std::{fs, path::Path};
use typed_support::{accept, check, errors, with_items, with_update};

/// Programs to start from: the sample programs and the programs with errors.
fn programs() -> Vec<String> {
    let mut texts = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../programs/language"), root.join("tests/errors")];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).expect("the folder can be read");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("the entry can be read").path())
            .collect();
        paths.sort();
        for path in paths {
            match path.is_dir() {
                true => folders.push(path),
                false => texts.push(fs::read_to_string(path).expect("the program is UTF-8 text")),
            }
        }
    }
    texts
}

/// The text cut where tokens could begin: at blanks, between words, and around every other character.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_' || c == '\'' || c == '.';
        match pieces.last_mut() {
            Some(last) if word && in_word => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        in_word = word;
    }
    pieces
}

/// One change: the number of the piece, the kind of change, and the number of another piece that takes part.
type Change = (usize, u8, usize);

fn changed(text: &str, changes: &[Change]) -> String {
    let mut pieces = pieces(text);
    for &(at, kind, other) in changes {
        if pieces.is_empty() {
            break;
        }
        let (at, other) = (at % pieces.len(), other % pieces.len());
        match kind % 4 {
            0 => {
                pieces.remove(at);
            }
            1 => pieces.insert(at, pieces[other].clone()),
            2 => pieces.swap(at, other),
            _ => pieces[at] = pieces[other].clone(),
        }
    }
    pieces.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_programs_are_accepted_or_refused(
        which in any::<usize>(),
        changes in prop::collection::vec(any::<Change>(), 1..6),
    ) {
        let programs = programs();
        let text = changed(&programs[which % programs.len()], &changes);
        let (tree, diagnostics) = check(&text);
        prop_assert_eq!(tree.is_some(), errors(&diagnostics).is_empty());
        if let Some(tree) = tree {
            tree::print(&tree);
        }
    }

    #[test]
    fn exchanged_names_are_accepted_or_refused(
        which in any::<usize>(),
        changes in prop::collection::vec((any::<usize>(), any::<usize>()), 1..12),
    ) {
        // Words are replaced by words, so that most of these programs can be parsed and have all kinds of types.
        let programs = programs();
        let mut pieces = pieces(&programs[which % programs.len()]);
        let first_line = pieces.iter().position(|piece| piece == "\n").unwrap_or(0);
        let words: Vec<usize> = (first_line..pieces.len())
            .filter(|&at| pieces[at].chars().all(|c| c.is_alphanumeric()))
            .collect();
        for (at, other) in changes {
            if !words.is_empty() {
                let (at, other) = (words[at % words.len()], words[other % words.len()]);
                pieces[at] = pieces[other].clone();
            }
        }
        let (tree, diagnostics) = check(&pieces.concat());
        prop_assert_eq!(tree.is_some(), errors(&diagnostics).is_empty());
    }
}

#[test]
fn what_is_nested_as_deeply_as_can_be_parsed_is_checked() {
    // Some levels are taken by what stands around the expression.
    let levels = MAX_DEPTH as usize - 20;
    let nested = |before: &str, middle: &str, after: &str| {
        format!("{}{middle}{}", before.repeat(levels), after.repeat(levels))
    };
    // The compiler, too, gives such programs a stack of their own.
    front::deep(|| check_nested(nested));
}

fn check_nested(nested: impl Fn(&str, &str, &str) -> String) {
    for expr in [
        nested("(", "1", ")"),
        nested("-", "x", ""),
        nested("x + ", "x", ""),
        nested("", "x", " + x"),
        nested("sqrt(", "x", ")"),
        nested("1 if x > 0 else ", "x", ""),
        nested("x^", "2", ""),
    ] {
        let (tree, diagnostics) = check(&with_items(&format!("real x = 2; real y = {expr};")));
        assert!(tree.is_some(), "{:#?}\n{expr}", errors(&diagnostics));
    }
    let chain = nested("if (x > 1) { x = 2; } else ", "stabilize;", "");
    let program = accept(&with_update("", &chain));
    tree::print(&program);
}

#[test]
fn a_thousand_errors_are_a_thousand_messages() {
    let lines: String = (0..1000)
        .map(|k| format!("real v{k} = w{k} + true;\n"))
        .collect();
    let (_, diagnostics) = check(&with_items(&lines));
    assert_eq!(errors(&diagnostics).len(), 1000);
}

#[test]
fn suggestions_end_where_there_are_too_many_names() {
    let count = 3000;
    let known: String = (0..count)
        .map(|k| format!("real knownxvaluexnumber{k} = 1;\n"))
        .collect();
    let unknown: String = (0..count)
        .map(|k| format!("x = unkwnoxvaluexnumber{k};\n"))
        .collect();
    let (_, diagnostics) = check(&with_update(&known, &unknown));
    assert_eq!(errors(&diagnostics).len(), count);
    let helped = diagnostics.iter().filter(|d| !d.hints.is_empty()).count();
    assert!(0 < helped && helped < 100, "{helped} suggestions");
}

/// F1 = F0∘F0, F2 = F1∘F1, …: in both ways to write it the probes double with each line.
fn composed(levels: usize, line: impl Fn(usize) -> String) -> String {
    let lines: String = (1..=levels).map(line).collect();
    let update = format!("x = F{levels}(x);");
    with_update(&format!("field#2(1)[] F0(z) = z*z;\n{lines}"), &update)
}

/// The codes of the errors of a program.
fn refused(text: &str) -> Vec<&'static str> {
    let source = Source::new("test.diderot", text);
    let diagnostics = front::check(&source, &CheckOptions::default()).diagnostics;
    let errors = diagnostics.iter().filter(|d| d.is_error());
    errors.map(|d| d.code.name).collect()
}

#[test]
fn compositions_that_become_too_large_are_refused() {
    let operator = |k: usize| format!("field#2(1)[] F{k} = F{0}∘F{0};\n", k - 1);
    let function = |k: usize| format!("field#2(1)[] F{k}(z) = F{0}(F{0}(z));\n", k - 1);
    let called = |k: usize| {
        format!(
            "function real f{k}(real z) = F{0}(F{0}(z));\nfield#2(1)[] F{k}(z) = f{k}(z);\n",
            k - 1
        )
    };
    let given = |k: usize| {
        let twice = "function real twice(field#0(1)[] F, real z) = F(F(z));\n";
        let twice = if k == 1 { twice } else { "" };
        format!("{twice}field#0(1)[] F{k}(z) = twice(F{}, z);\n", k - 1)
    };
    let forms: [&dyn Fn(usize) -> String; 4] = [&operator, &function, &called, &given];
    for (number, form) in forms.iter().enumerate() {
        assert_eq!(refused(&composed(8, form)), [""; 0], "form {number}");
        let refused = refused(&composed(40, form));
        assert_eq!(refused, ["too-much-code"], "form {number}");
    }
}

#[test]
fn fields_that_share_what_they_probe_are_not_refused() {
    let sum = |k: usize| match k {
        1 => "field#2(1)[] F1(z) = F0(z) + z;\n".to_owned(),
        k => format!("field#2(1)[] F{k}(z) = F{}(z) + F{}(z);\n", k - 1, k - 2),
    };
    assert_eq!(refused(&composed(60, sum)), [""; 0]);
    let product = |k: usize| format!("field#2(1)[] F{k} = F{0}*F{0};\n", k - 1);
    assert_eq!(refused(&composed(60, product)), [""; 0]);
}

#[test]
fn long_names_are_not_compared() {
    let known = format!("real {} = 1;", "a".repeat(100_000));
    let unknown = format!("x = {};", "b".repeat(100_000));
    let (_, diagnostics) = check(&with_update(&known, &unknown));
    assert_eq!(errors(&diagnostics).len(), 1);
}

#[test]
fn the_same_program_gets_the_same_messages_every_time() {
    for text in programs() {
        assert_eq!(check(&text).1, check(&text).1);
    }
}
