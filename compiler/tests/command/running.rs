//! The command as a user sees it: its files, its messages and its exit status.

use crate::commands::{diderotc, directory, stderr, stdout, write};
use std::{
    fs,
    io::{Error, ErrorKind},
    process::Command,
};

/// Squares of the numbers 0 … n−1.
const SQUARES: &str = "#version 2.0
input int n (\"how many\") = 4;
strand s (int i) {
    output int square = 0;
    update { square = i*i; stabilize; }
}
create_array { s(i) | i in 0..n-1 }
";

#[test]
fn a_program_runs_with_its_options() {
    let dir = directory("runs");
    write(&dir, "p.diderot", SQUARES);
    // The input `n` has the name of an option, which has another.
    let output = diderotc(
        &dir,
        &["p.diderot", "-n", "6", "--nworkers", "2", "-o", "out.txt"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(
        told.contains("note: `-n` sets the input `n`; `--nworkers`"),
        "{told}"
    );
    assert!(told.contains("wrote out.txt (6, int)"), "{told}");
    let numbers = fs::read_to_string(dir.join("out.txt")).expect("the output");
    assert_eq!(
        numbers.split_whitespace().collect::<Vec<_>>(),
        ["0", "1", "4", "9", "16", "25"]
    );
    let quiet = diderotc(&dir, &["p.diderot", "--input-n", "6", "-q"]);
    assert_eq!(
        (quiet.status.code(), stderr(&quiet).as_str()),
        (Some(0), "")
    );
    let checked = diderotc(&dir, &["check", "p.diderot"]);
    assert!(
        stderr(&checked).contains("`--nworkers`"),
        "{}",
        stderr(&checked)
    );
}

#[test]
fn help_comes_from_the_inputs() {
    let dir = directory("help");
    write(&dir, "p.diderot", SQUARES);
    let output = diderotc(&dir, &["p.diderot", "-h"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("how many") && text.contains("square.nrrd"),
        "{text}"
    );
}

#[test]
fn help_has_inputs_of_imports_under_their_names() {
    let dir = directory("help-imports");
    write(
        &dir,
        "lib.diderot",
        "#version 2.0\ninput real far (\"of the library\") = 1;\ninput real own = 2;\nfunction real both (real x) = x + far + own;\n",
    );
    write(
        &dir,
        "p.diderot",
        "#version 2.0\nimport \"std/camera\";\nimport \"lib.diderot\";\ninput real own (\"of the program\") = 3;\ninput int n = 2;\nstrand s (int i) { output real r = both(i) + rayStart; update { stabilize; } }\ncreate_array { s(i) | i in 1..n }\n",
    );
    let text = stdout(&diderotc(&dir, &["p.diderot", "-h"]));
    let part = |title: &str| {
        let (_, after) = text
            .split_once(&format!("\n{title}\n"))
            .unwrap_or_else(|| panic!("{title}: {text}"));
        let names = after.lines().take_while(|line| !line.is_empty());
        let names = names.filter_map(|line| line.trim().strip_prefix('-')?.split(' ').next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut own = part("inputs");
    own.sort();
    assert_eq!(own, ["n", "own"]);
    assert_eq!(part("inputs of lib.diderot"), ["far"]);
    assert!(part("inputs of std/camera").contains(&"eye".to_owned()));

    // An executable says the same, without the file that was imported.
    assert!(
        diderotc(&dir, &["build", "p.diderot", "-o", "built"])
            .status
            .success()
    );
    fs::remove_file(dir.join("lib.diderot")).expect("it was written");
    let built = Command::new(dir.join("built")).arg("-h").output();
    let built = stdout(&built.expect("it runs"));
    let after_usage = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(after_usage(&built), after_usage(&text));
}

#[test]
fn an_executable_gives_the_same_bytes() {
    let dir = directory("build");
    write(&dir, "p.diderot", SQUARES);
    assert!(
        diderotc(&dir, &["p.diderot", "-o", "a.nrrd"])
            .status
            .success()
    );
    let built = diderotc(&dir, &["build", "p.diderot", "-o", "squares"]);
    assert!(built.status.success(), "{}", stderr(&built));
    // `strip` makes the executable smaller, but keeps the program.
    let stripped = Command::new("strip").arg(dir.join("squares")).status();
    assert!(stripped.is_ok_and(|status| status.success()));
    let run = Command::new(dir.join("squares"))
        .args(["-o", "b.nrrd"])
        .current_dir(&dir)
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{}", stderr(&run));
    assert_eq!(
        fs::read(dir.join("a.nrrd")).expect("a"),
        fs::read(dir.join("b.nrrd")).expect("b")
    );
}

#[test]
#[cfg(unix)]
fn building_touches_no_other_file_and_damage_is_told() {
    let dir = directory("build-damage");
    let unused = SQUARES.replace("strand", "real unused = 1;\nstrand");
    write(&dir, "p.diderot", &unused);
    write(&dir, "precious", "mine");
    // The command does not write through links at the names of temporary files.
    for name in ["p.partial", "p.part", "p.tmp"] {
        std::os::unix::fs::symlink("precious", dir.join(name)).expect("a link");
    }
    let built = diderotc(&dir, &["build", "--width", "8", "p.diderot"]);
    assert!(built.status.success(), "{}", stderr(&built));
    assert!(stderr(&built).contains("never used"), "{}", stderr(&built));
    assert_eq!(fs::read(dir.join("precious")).expect("it"), b"mine");
    let run = || loop {
        let output = Command::new(dir.join("p"))
            .args(["-o", "a.nrrd", "-q"])
            .current_dir(&dir)
            .output();
        // A process that another test has just begun may still have the file open that was written here.
        let is_busy = |error: &Error| error.kind() == ErrorKind::ExecutableFileBusy;
        if !output.as_ref().is_err_and(is_busy) {
            break output.expect("it runs");
        }
    };
    // Warnings about the program are not shown to the user of the executable.
    assert_eq!(
        (run().status.code(), stderr(&run())),
        (Some(0), String::new())
    );
    let mut executable = fs::read(dir.join("p")).expect("it");
    let width = b"\"width\":8";
    let at = executable.windows(width.len()).rposition(|w| w == width);
    executable[at.expect("the width") + width.len() - 1] = b'3';
    fs::write(dir.join("p"), executable).expect("it is written");
    let damaged = run();
    assert_eq!(damaged.status.code(), Some(1));
    let told = stderr(&damaged);
    assert!(told.contains("damaged; build it again"), "{told}");
}

#[test]
fn an_executable_keeps_its_constants() {
    let dir = directory("build-constants");
    let text = "#version 2.0
const string mode = \"plain\";
strand s (int i) { output int n = 0; update { print(mode, \"\\n\"); stabilize; } }
create_array { s(i) | i in 0..0 }
";
    write(&dir, "p.diderot", text);
    let built = diderotc(&dir, &["build", "--Cmode=opensource", "p.diderot"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let run = Command::new(dir.join("p"))
        .current_dir(&dir)
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "opensource\n");
}

#[test]
fn all_errors_of_a_file_are_reported_and_nothing_is_written() {
    let dir = directory("errors");
    let text = SQUARES
        .replace("i*i", "i*missing")
        .replace("stabilize;", "stabilise;");
    write(&dir, "p.diderot", &text);
    let output = diderotc(&dir, &["check", "p.diderot"]);
    assert_eq!(output.status.code(), Some(1));
    let output = diderotc(&dir, &["p.diderot"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("p.diderot:"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_dir(&dir).expect("the directory").count(), 1);
}

#[test]
fn a_missing_image_is_named() {
    let dir = directory("image");
    let text = "#version 2.0
field#0(2)[] F = tent ⊛ load_image(\"nowhere.nrrd\");
strand s (int i) { output real v = 0; update { v = F([0.5, 0.5]); stabilize; } }
create_array { s(i) | i in 0..3 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-o", "v.nrrd"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("nowhere.nrrd"),
        "{}",
        stderr(&output)
    );
    assert!(!dir.join("v.nrrd").exists());
}

#[test]
fn a_wrong_image_says_what_was_found_and_what_was_wanted() {
    let dir = directory("wrong-image");
    let header = "NRRD0004\ntype: float\ndimension: 1\nsizes: 2\nencoding: ascii\n\n1 2\n";
    write(&dir, "line.nrrd", header);
    let text = "#version 2.0
input image(2)[] img (\"picture\");
field#0(2)[] F = tent ⊛ img;
strand s (int i) { output real v = 0; update { v = F([0.5, 0.5]); stabilize; } }
create_array { s(i) | i in 0..3 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-img", "line.nrrd"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("line.nrrd") && message.contains("wants 2 axes"),
        "{message}"
    );
    let output = diderotc(&dir, &["p.diderot"]);
    assert!(
        !output.status.success() && stderr(&output).contains("img"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let dir = directory("unwritable");
    write(&dir, "p.diderot", SQUARES);
    let output = diderotc(&dir, &["p.diderot", "-o", "no/such/folder/out.nrrd"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("no/such/folder"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wrong_usage_is_told_apart() {
    let dir = directory("usage");
    write(&dir, "p.diderot", SQUARES);
    for words in [
        &["p.diderot", "-bogus", "1"][..],
        &["p.diderot", "--input-n", "many"],
        &["--no-such-option", "p.diderot"],
    ] {
        let output = diderotc(&dir, words);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{words:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(diderotc(&dir, &["p.txt"]).status.code(), Some(1));
}

#[test]
fn a_run_that_meets_the_step_limit_writes_what_it_has() {
    let dir = directory("limit");
    let text = "#version 2.0
strand s (int i) { output int n = 0; update { n += 1; if (n == i) stabilize; } }
create_array { s(i) | i in 1..4 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-l", "2", "-o", "n.txt"]);
    assert!(
        output.status.success() && stderr(&output).contains("limit"),
        "{}",
        stderr(&output)
    );
    let numbers = fs::read_to_string(dir.join("n.txt")).expect("the output");
    assert_eq!(
        numbers.split_whitespace().collect::<Vec<_>>(),
        ["1", "2", "2", "2"]
    );
}

#[test]
fn a_run_time_error_names_strand_and_place() {
    let dir = directory("division");
    let text = "#version 2.0
strand s (int i) { output int n = 0; update { n = 10/(i - 2); stabilize; } }
create_array { s(i) | i in 0..9 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-o", "n.txt"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("strand 2") && message.contains("p.diderot:2:"),
        "{message}"
    );
    assert!(!dir.join("n.txt").exists());
}

#[test]
fn sequences_of_varying_length_are_two_files() {
    let dir = directory("sequences");
    let text = "#version 2.0
input real[] weights (\"what to repeat\");
strand s (int i) {
    output real[] r = {};
    output int[2][] pairs = {};
    int n = i;
    update { if (n == 0) { stabilize; } r = r @ weights[i - 1]; pairs = pairs @ {i, n}; n -= 1; }
}
create_array { s(i) | i in 0..3 }
";
    write(&dir, "p.diderot", text);
    write(&dir, "w.txt", "0.5\n1.5\n2.5\n");
    let output = diderotc(&dir, &["p.diderot", "-weights", "w.txt"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let read = |name: &str| runtime::nrrd::read(&dir.join(name)).expect("an array");
    let index: Vec<i32> = read("r-len.nrrd").samples().convert().expect("numbers");
    assert_eq!(index, [0, 0, 0, 1, 1, 2, 3, 3]);
    let data: Vec<f64> = read("r-data.nrrd").samples().convert().expect("numbers");
    assert_eq!(data, [0.5, 1.5, 1.5, 2.5, 2.5, 2.5]);
    let pairs = read("pairs-data.nrrd");
    let sizes: Vec<usize> = pairs.header().axes.iter().map(|axis| axis.size).collect();
    assert_eq!(sizes, [2, 6]);
    let pairs: Vec<i32> = pairs.samples().convert().expect("numbers");
    assert_eq!(pairs, [1, 1, 2, 2, 2, 1, 3, 3, 3, 2, 3, 1]);
}

#[test]
fn an_index_out_of_range_stops_the_run_and_names_the_strand() {
    let dir = directory("index");
    let text = "#version 2.0
strand s (int i) { output real r = 0; update { real[] w = { 0.5 | k in 1..3 }; r = w[i]; stabilize; } }
create_array { s(i) | i in 0..9 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-o", "r.txt"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("strand 3")
            && message.contains("index 3")
            && message.contains("p.diderot:2:"),
        "{message}"
    );
    assert!(!dir.join("r.txt").exists());
}

#[test]
fn what_cannot_be_run_yet_is_said_at_its_place() {
    let dir = directory("unsupported");
    let text = "#version 2.0
real[] w = { 0.5 | k in 1..3 };
field(1)[] F (x) = sum { x * y | y in w };
strand s (int i) { output real n = 0; update { n = ∇F(i); stabilize; } }
create_array { s(i) | i in 0..9 }
";
    write(&dir, "p.diderot", text);
    let ran = diderotc(&dir, &["p.diderot"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        stderr(&ran).contains("cannot be run yet"),
        "{}",
        stderr(&ran)
    );
    // Whatever a run refuses, `check` and `build` refuse at the same place with the same words.
    for command in ["check", "build", "explain"] {
        let output = diderotc(&dir, &[command, "p.diderot"]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert_eq!(stderr(&output), stderr(&ran), "{command}");
    }
    assert!(!dir.join("p").exists());
}

#[test]
fn snapshots_show_the_state_after_so_many_steps() {
    let dir = directory("snapshots");
    let text = "#version 2.0
strand s (int i) { output int n = 0; update { n += 1; if (n == 5) stabilize; } }
create_array { s(i) | i in 0..1 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-s", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for name in [
        "n-0000.nrrd",
        "n-0002.nrrd",
        "n-0004.nrrd",
        "n-0005.nrrd",
        "n.nrrd",
    ] {
        assert!(dir.join(name).exists(), "{name} is missing");
    }
}

#[test]
fn explanations_show_probes_and_rules() {
    let dir = directory("explain");
    let text = "#version 2.0
field#4(3)[] F = c4hexic ⊛ load_image(\"f.nrrd\");
field#2(3)[] L = ∇•∇F;
strand s (int i) { output real v = 0; update { v = L([1, 2, 3]); stabilize; } }
create_array { s(i) | i in 0..3 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["explain", "p.diderot", "L"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && shown.contains("before") && shown.contains("1 probe"),
        "{shown}"
    );
    let output = diderotc(&dir, &["explain", "--latex", "p.diderot", "L"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("L &= \\nabla\\cdot \\nabla F"), "{shown}");
    let output = diderotc(&dir, &["explain", "p.diderot", "--details"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.contains("as operators") && shown.contains("equations"),
        "{shown}"
    );
    assert_eq!(
        diderotc(&dir, &["explain", "p.diderot", "nothing"])
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn a_full_disk_is_reported_and_leaves_nothing_behind() {
    let dir = directory("full");
    write(&dir, "p.diderot", SQUARES);
    let output = diderotc(&dir, &["p.diderot", "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
    // Files may not grow beyond one block: the output, a temporary file until it is complete, cannot be finished.
    fs::write(dir.join("out.nrrd"), "before").expect("a writable directory");
    let line = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} p.diderot --input-n 100000 -o out.nrrd",
        env!("CARGO_BIN_EXE_diderotc")
    );
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(&dir)
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("out.nrrd"), "{}", stderr(&output));
    let kept = fs::read_to_string(dir.join("out.nrrd")).expect("the old file");
    assert_eq!(kept, "before");
    assert_eq!(
        fs::read_dir(&dir).expect("the directory").count(),
        2,
        "a temporary file is left"
    );
}

#[test]
fn what_is_built_names_no_place_of_this_machine() {
    let dir = directory("build-places");
    write(&dir, "squares.diderot", SQUARES);
    let program = dir.join("squares.diderot").display().to_string();
    for words in [
        &["build", &program, "-o", "built"][..],
        &["build", "--library", &program, "-o", "made"],
    ] {
        let output = diderotc(&dir, words);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    let root = env!("CARGO_MANIFEST_DIR").trim_end_matches("/compiler");
    let places = [dir.display().to_string(), root.to_string(), cargo];
    for file in [
        "built",
        "made/squares.c",
        "made/squares.h",
        "made/squares.json",
    ] {
        let bytes = fs::read(dir.join(file)).expect("it was made");
        let contains = |place: &str| {
            bytes
                .windows(place.len())
                .any(|part| part == place.as_bytes())
        };
        for place in &places {
            assert!(!contains(place), "{file} names {place}");
        }
        assert!(contains("squares"), "{file}");
    }
    let built = Command::new(dir.join("built"))
        .args(["-n", "3", "-o", "n.txt"])
        .current_dir(&dir)
        .output();
    assert!(built.expect("it runs").status.success());
}
