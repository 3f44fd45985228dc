//! The words of the command line: commands, options on either side of the program's name, and messages for other words.

use crate::commands::{diderotc, directory, stderr, stdout, write};

/// A picture of a colour that is given.
const COLOUR: &str = "#version 2.0
input vec3 eye (\"a colour\") = [0.25, 0.5, 0.75];
input bool flip = false;
input real h = 0.5;
input real[] xs = {};
strand s (int i, int j) {
    output vec3 rgb = eye;
    output real sum = h;
    update { if (flip) { rgb = 1.0*[eye[2], eye[1], eye[0]]; } foreach (real x in xs) { sum += x; } stabilize; }
}
create_array { s(i, j) | i in 0..1, j in 0..2 }
";

#[test]
fn options_stand_on_either_side_of_the_program() {
    let dir = directory("words-sides");
    write(&dir, "p.diderot", COLOUR);
    for (n, words) in [
        &["-o-sum", "a.txt", "p.diderot", "-eye", "1,2,3"][..],
        &["p.diderot", "-o-sum", "a.txt", "--double"],
        &[
            "--double",
            "-eye",
            "[1,2,3]",
            "-o-sum=a.txt",
            "p.diderot",
            "--timing",
        ],
        &["run", "p.diderot", "-o-sum", "a.txt"],
    ]
    .into_iter()
    .enumerate()
    {
        let output = diderotc(&dir, words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        assert!(dir.join("a.txt").exists(), "{words:?}");
        std::fs::remove_file(dir.join("a.txt")).expect("written");
        let is_double = stderr(&output).contains("rgb.nrrd (3 × 2, 3 double)");
        assert_eq!(is_double, n == 1 || n == 2, "{}", stderr(&output));
    }
}

#[test]
fn values_are_spelled_in_several_ways() {
    let dir = directory("words-values");
    write(&dir, "p.diderot", COLOUR);
    let rgb = |words: &[&str]| {
        let words = [&["p.diderot", "-o-rgb", "c.txt", "-o-sum", "s.txt"], words].concat();
        let output = diderotc(&dir, &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        let read = |name: &str| {
            let text = std::fs::read_to_string(dir.join(name)).expect("written");
            text.lines().next().unwrap_or_default().to_string()
        };
        (read("c.txt"), read("s.txt"))
    };
    for words in [
        &["-eye", "1", "2", "3"][..],
        &["-eye=1,2,3"],
        &["-eye", "[1,2,3]"],
    ] {
        assert_eq!(rgb(words).0, "1 2 3", "{words:?}");
    }
    assert_eq!(rgb(&["-flip", "-eye", "1,2,3"]).0, "3 2 1");
    // `h` is an input; with a value it is not a request for help.
    assert!(rgb(&["-h", "0.125"]).1.starts_with("0.125 "));
    assert!(rgb(&["-xs", "1,2,3"]).1.starts_with("6.5 "));
    let help = diderotc(&dir, &["p.diderot", "-h"]);
    assert!(
        help.status.success() && stdout(&help).contains("--help"),
        "{}",
        stdout(&help)
    );
}

#[test]
fn every_command_has_its_own_usage() {
    let dir = directory("words-usage");
    for command in ["check", "build", "emit", "explain", "info"] {
        for words in [&[command, "--help"][..], &["help", command]] {
            let output = diderotc(&dir, words);
            let expected = format!("Usage: diderotc {command}");
            assert!(
                output.status.success() && stdout(&output).contains(&expected),
                "{words:?}: {}",
                stdout(&output)
            );
        }
        let output = diderotc(&dir, &[command, "--no-such-option"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains(&format!("diderotc {command}")),
            "{}",
            stderr(&output)
        );
        let whole = stdout(&diderotc(&dir, &["--help"]));
        assert!(
            whole
                .lines()
                .any(|line| line.trim_start().starts_with(command)),
            "{whole}"
        );
    }
    let version = stdout(&diderotc(&dir, &["version"]));
    assert_eq!(version, stdout(&diderotc(&dir, &["--version"])));
    assert!(version.starts_with("diderotc "), "{version}");
    assert!(diderotc(&dir, &["help"]).status.success());
}

#[test]
fn manual_pages_and_completions_have_what_help_has() {
    let dir = directory("words-manual");
    let whole = stdout(&diderotc(&dir, &["--help"]));
    let options: Vec<&str> = whole
        .split_whitespace()
        .filter(|word| word.starts_with("--") && !word.contains('='))
        .map(|word| word.trim_end_matches([',', '.', ';', ':', ')', '`']))
        .collect();
    assert!(options.contains(&"--long-int"), "{options:?}");
    // The language of manual pages escapes hyphens.
    let page = |words: &[&str]| stdout(&diderotc(&dir, words)).replace("\\-", "-");
    let main = page(&["man"]);
    assert!(main.contains(".TH diderotc 1"), "{main}");
    for option in &options {
        assert!(main.contains(option), "{option}: {main}");
    }
    let part = page(&["man", "emit"]);
    assert!(
        part.contains(".TH diderotc-emit 1") && part.contains("--stage"),
        "{part}"
    );
    let none = diderotc(&dir, &["man", "nothing"]);
    assert_eq!(none.status.code(), Some(2));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&diderotc(&dir, &["completions", shell]));
        for word in ["long-int", "flatten", "diderotc"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn what_was_mistyped_is_suggested() {
    let dir = directory("words-typos");
    write(&dir, "p.diderot", COLOUR);
    for (words, hint) in [
        (&["chekc", "p.diderot"][..], "did you mean `check`?"),
        (
            &["--color", "never", "check", "p.diderot"],
            "error: `check` stands before its options: diderotc check …\n",
        ),
        (&["p.diderot", "-ey", "1,2,3"], "did you mean `-eye`?"),
        (&["p.diderot", "-eyes", "1,2,3"], "did you mean `-eye`?"),
        (
            &["p.diderot", "-eyeposition", "1,2,3"],
            "did you mean `-eye`?",
        ),
        (&["p.diderot", "--doubel"], "did you mean `--double`?"),
        (
            &["--outptu", "x.nrrd", "p.diderot"],
            "did you mean `--output`?",
        ),
    ] {
        let output = diderotc(&dir, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(
            stderr(&output).contains(hint),
            "{words:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_directory_is_checked_with_all_its_programs() {
    let dir = directory("words-directory");
    std::fs::create_dir_all(dir.join("a/b")).expect("a directory");
    write(&dir, "a/good.diderot", COLOUR);
    write(
        &dir,
        "a/b/bad.diderot",
        &COLOUR.replace("eye[1]", "nothing"),
    );
    write(&dir, "a/b/not a program.txt", "");
    let output = diderotc(&dir, &["check", "a"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("bad.diderot") && !stderr(&output).contains("txt"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        diderotc(&dir, &["check", "a/good.diderot"]).status.code(),
        Some(0)
    );
}

#[test]
fn colour_is_as_asked_for() {
    let dir = directory("words-colour");
    write(&dir, "p.diderot", &COLOUR.replace("eye[1]", "nothing"));
    let escape = '\u{1b}';
    assert!(!stderr(&diderotc(&dir, &["p.diderot"])).contains(escape));
    for words in [
        &["--color", "always", "p.diderot"][..],
        &["p.diderot", "--color=always"],
        &["check", "--color=always", "p.diderot"],
    ] {
        assert!(stderr(&diderotc(&dir, words)).contains(escape), "{words:?}");
    }
    let output = diderotc(&dir, &["check", "--color=sometimes", "p.diderot"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn emitted_programs_keep_their_comments() {
    let dir = directory("words-comments");
    let text = "#version 2.0
// What this is about.
input real   h=0.5;   // the step
/* Strands
   of one kind. */
strand s (int i) {
    // state
    output real x = h; update { x  = x*2.0; /* twice */ stabilize; // done
    }
}
create_array { s(i) | i in 0..3 } // all of them
// The end.
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["emit", "--stage", "ast", "p.diderot"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = stdout(&output);
    for comment in [
        "// What this is about.",
        "// the step",
        "/* Strands\n   of one kind. */",
        "// state",
        "/* twice */",
        "// done",
        "// all of them",
        "// The end.",
    ] {
        assert_eq!(printed.matches(comment).count(), 1, "{comment}\n{printed}");
    }
    assert!(
        printed.contains("// What this is about.\ninput real h = 0.5;"),
        "{printed}"
    );
    assert!(
        printed.lines().any(|line| line.ends_with("; // the step")),
        "{printed}"
    );
    // Printing again changes nothing.
    write(&dir, "q.diderot", &printed);
    assert_eq!(
        stdout(&diderotc(&dir, &["emit", "--stage", "ast", "q.diderot"])),
        printed
    );
    write(&dir, "wrong.diderot", &text.replace("x*2.0;", "x*;"));
    let output = diderotc(&dir, &["emit", "--stage", "ast", "wrong.diderot"]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "the error of a repaired program is reported"
    );
    assert!(
        stderr(&output).contains("wrong.diderot:"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        diderotc(&dir, &["emit", "--stage", "generate", "p.diderot"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_target_that_there_is_not_is_refused_and_the_originals_are_the_cpu() {
    let dir = directory("words-targets");
    let text = "#version 2.0
strand s (int i) { output int x = i; update { stabilize; } }
create_array { s(i) | i in 0..1 }
";
    write(&dir, "p.diderot", text);
    for target in ["cpu", "sequential", "parallel", "pthread"] {
        let output = diderotc(&dir, &["--target", target, "p.diderot"]);
        assert!(output.status.success(), "{target}: {}", stderr(&output));
    }
    let output = diderotc(&dir, &["--target", "cdua", "p.diderot"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("cuda") && !message.contains("pthread"),
        "{message}"
    );
}

/// A viewer is not started for words that are not understood.
#[test]
fn a_viewer_reports_words_that_it_does_not_understand() {
    let dir = directory("words-view");
    write(&dir, "p.diderot", COLOUR);
    let help = diderotc(&dir, &["view", "--no-open", "p.diderot", "--help"]);
    assert!(help.status.success(), "{}", stderr(&help));
    assert!(stdout(&help).contains("-eye"), "{}", stdout(&help));
    for (words, message) in [
        (&["-nose", "1"][..], "unknown option `-nose`"),
        (&["-flop", "1"], "did you mean `-flip`"),
        (&["--vary", "h=0:1:3"], "a viewer shows one run"),
    ] {
        let words = [&["view", "--port", "0", "--no-open", "p.diderot"], words].concat();
        let output = diderotc(&dir, &words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "{words:?}");
    }
}
