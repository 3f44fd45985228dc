//! The names of files: those that are not text, that are long, or that lead to a file which is used already.

use crate::commands::{command, diderotc, directory, names, stderr, stdout, write};
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::Path,
    process::Output,
};

/// Two outputs, and something printed.
const TWO: &str = "#version 2.0
input real scale = 1;
strand s (int i) {
    output real r = 0;
    output real q = 0;
    update { r = scale*i; q = 10.0 + i; print(\"strand \", i, \"\\n\"); stabilize; }
}
create_array { s(i) | i in 0..2 }
";

/// One output, of an image of one dimension.
const IMAGE: &str = "#version 2.0
input image(1)[] img;
field#0(1)[] F = tent ⊛ img;
strand s (int i) { output real v = 0; update { v = F(real(i)); stabilize; } }
create_array { s(i) | i in 0..2 }
";

/// The command with words that need not be text.
fn with_bytes(dir: &Path, words: &[&[u8]]) -> Output {
    let mut command = command(dir, &[]);
    command.args(words.iter().map(|word| OsStr::from_bytes(word)));
    command.output().expect("the command runs")
}

#[test]
fn names_need_not_be_text() {
    let dir = directory("names-bytes");
    write(&dir, "p.diderot", TWO);
    let program = OsString::from(OsStr::from_bytes(b"\xfep.diderot"));
    fs::copy(dir.join("p.diderot"), dir.join(&program)).expect("any name");
    write(&dir, "img.diderot", IMAGE);
    let numbers = "NRRD0005\ntype: float\ndimension: 1\nsizes: 3\nencoding: ascii\n\n1 2 3\n";
    let image = dir.join(OsStr::from_bytes(b"i\xff.nrrd"));
    fs::write(image, numbers).expect("any name");
    let rows: [&[&[u8]]; 12] = [
        &[b"p.diderot", b"-o-r", b"a\xff.nrrd"],
        &[b"p.diderot", b"-o-r=b\xff.nhdr", b"-o-q=txt:c\xff"],
        &[b"p.diderot", b"-o", b"d\xff.csv"],
        &[
            b"p.diderot",
            b"-s",
            b"1",
            b"-o",
            b"e\xff.csv",
            b"-sp",
            b"f\xff.csv",
        ],
        &[b"p.diderot", b"-print", b"g\xff"],
        &[b"\xfep.diderot", b"-o", b"h.csv"],
        &[b"img.diderot", b"-img", b"i\xff.nrrd", b"-o", b"j.txt"],
        &[b"check", b"\xfep.diderot"],
        &[b"emit", b"--stage", b"ast", b"\xfep.diderot"],
        &[b"info", b"\xfep.diderot", b"i\xff.nrrd"],
        &[b"flatten", b"\xfep.diderot"],
        &[b"build", b"\xfep.diderot", b"-o", b"k\xff"],
    ];
    for words in rows {
        let output = with_bytes(&dir, words);
        let shown: Vec<_> = words
            .iter()
            .map(|word| word.escape_ascii().to_string())
            .collect();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{shown:?}: {}",
            stderr(&output)
        );
    }
    let read = |name: &[u8]| fs::read_to_string(dir.join(OsStr::from_bytes(name))).expect("a file");
    assert_eq!(
        read(b"c\xff").split_whitespace().collect::<Vec<_>>(),
        ["10", "11", "12"]
    );
    assert_eq!(read(b"g\xff"), "strand 0\nstrand 1\nstrand 2\n");
    assert_eq!(
        read(b"j.txt").split_whitespace().collect::<Vec<_>>(),
        ["1", "2", "3"]
    );
    assert!(read(b"d\xff.csv").starts_with("r,q"));
    assert!(dir.join(OsStr::from_bytes(b"f\xff-0001.csv")).exists());
    assert!(dir.join(OsStr::from_bytes(b"k\xff")).exists());
}

#[test]
fn what_must_be_text_is_shown_with_escapes() {
    let dir = directory("names-text");
    write(&dir, "p.diderot", TWO);
    let rows: [(&[&[u8]], &str); 7] = [
        (&[b"p.diderot", b"-scale", b"\xff"], "`\\xff`"),
        (&[b"p.diderot", b"-l", b"1\xff"], "`1\\xff`"),
        (&[b"p.diderot", b"--range", b"\xfe,1"], "`\\xfe,1`"),
        (&[b"p.diderot", b"-\xff", b"1"], "`-\\xff`"),
        (&[b"p.diderot", b"--width", b"\xff"], "UTF-8"),
        (&[b"\xff"], "`\\xff` is not a command"),
        (&[b"check", b"no\xff.diderot"], "no\\xff.diderot"),
    ];
    for (words, part) in rows {
        let output = with_bytes(&dir, words);
        let told = stderr(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{told}");
        assert!(
            told.contains(part) && !told.contains("panicked"),
            "{part}: {told}"
        );
    }
}

#[test]
fn one_file_is_not_written_twice() {
    let dir = directory("names-twice");
    write(&dir, "p.diderot", TWO);
    fs::create_dir(dir.join("d")).expect("a directory");
    symlink("x.txt", dir.join("link.txt")).expect("a link");
    symlink(".", dir.join("here")).expect("a link");
    fs::hard_link(dir.join("p.diderot"), dir.join("other-name.txt")).expect("a link");
    let absolute = dir.join("x.txt").display().to_string();
    let rows: [(&[&str], &[&str]); 14] = [
        (&["-o-r", "x.txt", "-o-q", "x.txt"], &["`r`", "`q`"]),
        (&["-o-r", "x.txt", "-o-q", "./x.txt"], &["`r`", "`q`"]),
        (&["-o-r", "x.txt", "-o-q", "d/../x.txt"], &["`r`", "`q`"]),
        (&["-o-r", "x.txt", "-o-q", "here/x.txt"], &["`r`", "`q`"]),
        (&["-o-r", "x.txt", "-o-q", "link.txt"], &["`r`", "`q`"]),
        (&["-o-r", "x.txt", "-o-q", &absolute], &["`r`", "`q`"]),
        (
            &["-o-r", "txt:x.txt", "-o-q", "npy:./x.txt"],
            &["`r`", "`q`"],
        ),
        (&["-o-r", "x.nhdr", "-o-q", "txt:x.raw"], &["`r`", "`q`"]),
        (
            &["-o-r", "x.txt", "-print", "./x.txt"],
            &["`r`", "printed text"],
        ),
        (&["-print", "p.diderot"], &["printed text", "the program"]),
        (&["-o-r", "txt:./p.diderot"], &["`r`", "the program"]),
        (
            &["-print", "other-name.txt"],
            &["printed text", "the program"],
        ),
        (
            &["-s", "1", "-o-r", "a.txt", "-o-q", "./a-0001.txt"],
            &["the snapshots of `r`", "the output `q`"],
        ),
        (
            &[
                "--vary",
                "scale=1:2:2",
                "-o-r",
                "a.txt",
                "-print",
                "here/a-0001.txt",
            ],
            &["the output `r`", "printed text"],
        ),
    ];
    let before = names(&dir);
    for (words, parts) in rows {
        let output = diderotc(&dir, &[&["p.diderot"], words].concat());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        for part in parts {
            assert!(told.contains(part), "{words:?}: {part}: {told}");
        }
        assert_eq!(names(&dir), before, "{words:?}");
    }
    assert_eq!(
        fs::read_to_string(dir.join("p.diderot")).expect("the program"),
        TWO
    );
    // A table takes both, however it is spelled.
    let output = diderotc(&dir, &["p.diderot", "-o-r", "x.csv", "-o-q", "./x.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = fs::read_to_string(dir.join("x.csv")).expect("a table");
    assert!(table.starts_with("r,q\n"), "{table}");
}

#[test]
fn what_a_run_reads_is_not_replaced() {
    let dir = directory("names-read");
    let numbers = "NRRD0005\ntype: float\ndimension: 1\nsizes: 3\nencoding: ascii\n\n1 2 3\n";
    write(&dir, "img.nrrd", numbers);
    write(&dir, "seeds.txt", "1 2 3");
    write(
        &dir,
        "lib.diderot",
        "#version 2.0\nfunction real twice (real x) = 2*x;\n",
    );
    let text = IMAGE.replace(
        "input image(1)[] img;",
        "import \"lib.diderot\";\ninput image(1)[] img;\ninput real[] seeds;",
    );
    let text = text.replace("F(real(i));", "twice(F(real(i))) + seeds[0];");
    write(&dir, "p.diderot", &text);
    let header =
        "NRRD0005\ntype: float\ndimension: 1\nsizes: 3\nencoding: ascii\ndata file: out.raw\n";
    write(&dir, "detached.nhdr", header);
    write(&dir, "out.raw", "1 2 3");
    let files = [
        "img.nrrd",
        "seeds.txt",
        "lib.diderot",
        "p.diderot",
        "out.raw",
    ];
    let read = || files.map(|file| fs::read_to_string(dir.join(file)).expect("a file"));
    let before = read();
    for (words, part) in [
        (["-o", "./img.nrrd"], "the input `img`"),
        (["-o", "seeds.txt"], "the input `seeds`"),
        (["-print", "./lib.diderot"], "an import of the program"),
        (["-print", "p.diderot"], "the program"),
        // The data of a header, by the data of another or by themselves.
        (["-o", "out.nhdr"], "the input `img`"),
        (["-print", "out.raw"], "the input `img`"),
    ] {
        let image = match words[1].starts_with("out") {
            true => "detached.nhdr",
            false => "img.nrrd",
        };
        let given = ["p.diderot", "-img", image, "-seeds", "seeds.txt"];
        let output = diderotc(&dir, &[&given[..], &words[..]].concat());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(
            told.contains("would replace") && told.contains(part),
            "{told}"
        );
        assert_eq!(read(), before);
    }
}

#[test]
fn links_are_followed_as_a_shell_would() {
    let dir = directory("names-links");
    write(&dir, "p.diderot", TWO);
    fs::create_dir(dir.join("d")).expect("a directory");
    for (target, link) in [
        ("d/new.csv", "dangling.csv"),
        ("circle.csv", "circle.csv"),
        ("nowhere/new.csv", "nowhere.csv"),
    ] {
        symlink(target, dir.join(link)).expect("a link");
    }
    let output = diderotc(&dir, &["p.diderot", "-o", "dangling.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(dir.join("dangling.csv").is_symlink() && dir.join("d/new.csv").is_file());
    for (link, part) in [
        ("circle.csv", "circle"),
        ("nowhere.csv", "a link to nowhere/new.csv"),
    ] {
        let output = diderotc(&dir, &["p.diderot", "-o", link]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(part), "{told}");
        assert!(dir.join(link).is_symlink());
        // It was told before the run.
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_name_may_be_as_long_as_the_system_lets_it() {
    let dir = directory("names-long");
    write(&dir, "p.diderot", TWO);
    for length in [241, 242, 254, 255] {
        let name = format!(
            "{}.csv",
            "ö".repeat((length - 4) / 2) + &"a".repeat(length % 2)
        );
        let output = diderotc(&dir, &["p.diderot", "-o", &name]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{length}: {}",
            stderr(&output)
        );
        assert!(dir.join(&name).exists());
    }
    let name = format!("{}.csv", "a".repeat(252));
    let output = diderotc(&dir, &["p.diderot", "-o", &name]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(stdout(&output), "", "it is reported before the run");
    assert!(!names(&dir).iter().any(|name| name.ends_with(".part")));
}

#[test]
fn a_header_that_cannot_name_its_data_is_told_before_the_run() {
    let dir = directory("names-header");
    write(&dir, "p.diderot", TWO);
    for name in ["a\nb.nhdr", " a.nhdr"] {
        let output = diderotc(&dir, &["p.diderot", "-o-r", name]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(".nhdr names the file of its data"), "{told}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn what_is_said_twice_is_refused() {
    let dir = directory("names-repeated");
    write(&dir, "p.diderot", TWO);
    let rows: [(&[&str], &str); 7] = [
        (&["-scale", "1", "-scale", "2"], "`-scale 1` and `-scale 2`"),
        (
            &["-scale", "1", "--input-scale", "2"],
            "`-scale 1` and `--input-scale 2`",
        ),
        (&["-o", "a.csv", "-o", "b.csv"], "`-o a.csv` and `-o b.csv`"),
        (
            &["-o-r", "a.txt", "--output-r", "b.txt"],
            "`-o-r a.txt` and `--output-r b.txt`",
        ),
        (&["-l", "1", "--limit=2"], "`-l 1` and `--limit 2`"),
        (
            &["-o", "y.txt", "-o-r", "a.txt", "-o-q", "b.txt"],
            "`-o y.txt` says nothing beside",
        ),
        (
            &["--vary", "scale=1:2:2", "--vary", "scale=2:3:2"],
            "varied twice",
        ),
    ];
    for (words, part) in rows {
        let output = diderotc(&dir, &[&["p.diderot"], words].concat());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains(part), "{words:?}: {told}");
    }
    // What says the same again, and what holds for the others, stay.
    let words = ["p.diderot", "-v", "-v", "-o", "rest.txt", "-o-r", "r.txt"];
    let output = diderotc(&dir, &words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(dir.join("rest.txt").exists() && dir.join("r.txt").exists());
}

#[test]
fn a_number_beyond_the_precision_is_refused() {
    let dir = directory("names-range");
    write(&dir, "p.diderot", TWO);
    for words in [
        &["-scale", "1e400"][..],
        &["-scale", "1e39"],
        &["-scale", "-3.5e38"],
        &["--double", "-scale", "1e400"],
        &["--vary", "scale=1:1e39:2"],
    ] {
        let output = diderotc(&dir, &[&["p.diderot"], words].concat());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains("beyond the greatest"), "{told}");
    }
    for words in [
        &["-scale", "inf"][..],
        &["-scale", "3.4e38"],
        &["--double", "-scale", "1e39"],
    ] {
        let output = diderotc(&dir, &[&["p.diderot"], words].concat());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn advice_about_formats_can_be_followed() {
    let dir = directory("names-advice");
    let text = "#version 2.0
strand s (int i) {
    output real[] a = {};
    output real[] b = {};
    update { a = a @ 1.0; b = b @ 2.0; stabilize; }
}
create_array { s(i) | i in 0..2 }
";
    write(&dir, "p.diderot", text);
    let told = stderr(&diderotc(&dir, &["p.diderot", "-o", "x.nrrd"]));
    assert!(
        told.contains("-o-a, -o-b") && !told.contains(".csv"),
        "{told}"
    );
    write(&dir, "q.diderot", TWO);
    let told = stderr(&diderotc(&dir, &["q.diderot", "-o", "x.nrrd"]));
    assert!(told.contains(".csv"), "{told}");
}

#[test]
fn without_a_gpu_the_cpu_is_taken_unless_that_was_ruled_out() {
    let dir = directory("names-gpu");
    write(&dir, "p.diderot", TWO);
    let has_gpu = diderotc(&dir, &["info", "--devices"]).status.success();
    let cpu = diderotc(&dir, &["p.diderot", "-q", "-o", "cpu.csv"]);
    let any = diderotc(
        &dir,
        &["p.diderot", "-q", "--target", "cuda", "-o", "any.csv"],
    );
    assert_eq!(any.status.code(), Some(0), "{}", stderr(&any));
    assert_eq!(stdout(&cpu), stdout(&any));
    let read = |name: &str| fs::read(dir.join(name)).expect("a table");
    assert_eq!(read("cpu.csv"), read("any.csv"));
    if !has_gpu {
        let told = stderr(&any);
        assert_eq!(told.lines().count(), 1, "{told}");
        let only = diderotc(&dir, &["p.diderot", "--target", "cuda-only"]);
        assert_eq!(only.status.code(), Some(1), "{}", stderr(&only));
    }
}
