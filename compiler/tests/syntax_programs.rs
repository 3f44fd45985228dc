//! The sample programs are read without a message, and survive printing and reading again.

mod trees;

use std::{fs, path::Path};

use compiler::front::syntax::print;
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
