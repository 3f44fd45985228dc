//! The sample programs are read without a message, and survive printing and reading again.

mod trees;

use std::{fs, path::Path};

use compiler::front::{source::Source, syntax::print};
use expect_test::expect;
use trees::{parse_right, without_spans};

fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/language");
    let entries = fs::read_dir(folder).expect("the folder of samples");
    let mut samples: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a sample");
            (path.display().to_string(), text)
        })
        .collect();
    samples.sort();
    samples
}

#[test]
fn the_samples_are_read_without_a_message_and_printing_keeps_their_trees() {
    let samples = samples();
    assert!(samples.len() >= 6);
    for (name, text) in samples {
        let program = parse_right(&text);
        let printed = print::print(&program);
        let again = parse_right(&printed);
        assert_eq!(without_spans(&program), without_spans(&again), "{name}");
        assert_eq!(print::print(&again), printed, "{name}");
    }
}

/// All programs of the repository.
fn programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let folders = fs::read_dir(folder).expect("the programs");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    });
    let is_program = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "diderot");
    let files = files.filter(is_program);
    files
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a program");
            // With the text of its imports.
            let source = Source::new(&path, text);
            (path.display().to_string(), source.text)
        })
        .collect()
}

/// The comments of a text, sorted. Strings of these programs have no slashes.
fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        rest = &rest[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else {
            rest = &rest[1..];
            continue;
        };
        found.push(rest[..length].trim_end().to_string());
        rest = &rest[length..];
    }
    found.sort();
    found
}

#[test]
fn comments_survive_printing_and_stay_where_they_are() {
    let programs = programs();
    assert!(programs.len() > 50);
    for (name, text) in programs {
        let program = parse_right(&text);
        let printed = print::print_with_comments(&program, &text);
        assert_eq!(comments(&printed), comments(&text), "{name}");
        let again = parse_right(&printed);
        assert_eq!(without_spans(&program), without_spans(&again), "{name}");
        assert_eq!(
            print::print_with_comments(&again, &printed),
            printed,
            "{name}"
        );
    }
}

#[test]
fn programs_are_printed_in_one_layout() {
    let program = parse_right(
        "#version 2\nconst int N=3;const real s = ((1.0));input real x(\"a\\tb\")=-(2)^N;\n\
         function real f(real a,vec3[] b){if(a>0)return a;else{return -a;}}\n\
         strand S(int i){output real r=(a+(b*c))-(d-e);vec2[N]q;\
         initialize{q={};}update{if(r==1){stabilize;}else if(|r|<2)die;foreach(real w in q){r+=w;}{}}};\n\
         create_array{S(i)|i in 0..(N-1)};",
    );
    expect![[r#"
        #version 2.0

        const int N = 3;
        const real s = 1.0;

        input real x ("a\tb") = -2^N;

        function real f(real a, vec3[] b) {
            if (a > 0) return a;
            else {
                return -a;
            }
        }

        strand S(int i) {
            output real r = a + b * c - (d - e);
            vec2[N] q;

            initialize {
                q = {};
            }

            update {
                if (r == 1) {
                    stabilize;
                } else if (|r| < 2) die;
                foreach (real w in q) {
                    r += w;
                }
                { }
            }
        }

        create_array { S(i) | i in 0..N - 1 }
    "#]]
    .assert_eq(&print::print(&program));
}

#[test]
fn bounds_of_1_0_iterators_may_be_conditional_without_parentheses() {
    let program = |range: &str| {
        let text = format!(
            "#version 1.0\nstrand S () {{ update {{ }} }}\ninitially [ S() | i in {range} ];\n"
        );
        without_spans(&parse_right(&text).create)
    };
    let plain = program("a if c else b..x if d else y");
    assert_eq!(plain, program("(a if c else b)..(x if d else y)"));
    assert_eq!(program("a..b if c else d"), program("a..(b if c else d)"));
    assert_ne!(plain, program("a..b if c else d"));
}
