//! Runs that exceed the memory or are interrupted: they end with a message, and with `--keep` they write the values so far. They never
//! abort and never leave a half-written file.

use crate::commands::{diderotc, directory, interrupted, names, numbers, stderr, stdout, write};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Compiled in proportion to its length; a code generator that is given all the numbers at once takes minutes.
#[test]
fn long_literals_have_their_values() {
    let dir = directory("limits-literal");
    let elements: Vec<String> = (0..20_000).map(|i| format!("{i}.5")).collect();
    let text = format!(
        "#version 2.0\nreal[20000] all = {{{}}};\nstrand s (int i) {{\n    output vec3 v = [all[0], all[777], all[19999]];\n    \
         update {{ stabilize; }}\n}}\ncreate_array {{ s(i) | i in 0..0 }}\n",
        elements.join(", ")
    );
    write(&dir, "p.diderot", &text);
    let output = diderotc(&dir, &["p.diderot", "-o", "v.nrrd"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(numbers(&dir, "v.nrrd"), [0.5, 777.5, 19999.5]);
}

/// A run that is refused or ends with a message about memory.
fn exhausted(dir: &Path, words: &[&str]) -> String {
    let output = diderotc(dir, words);
    let message = stderr(&output);
    assert!(
        matches!(output.status.code(), Some(1 | 2)),
        "{words:?}: {:?}: {message}",
        output.status
    );
    assert!(
        message.contains("memory") && !message.contains("panicked"),
        "{words:?}: {message}"
    );
    message
}

#[test]
fn what_needs_more_memory_than_is_allowed_is_refused_before_the_run() {
    let dir = directory("limits-before");
    let text = "#version 2.0
input int n = 1000000;
strand s (int i) {
    output vec3 x = [i, i, i];
    int k = 0;
    update { print(\"running\\n\"); k += 1; if (k == 2) { stabilize; } }
}
create_array { s(i) | i in 1..n }
";
    write(&dir, "strands.diderot", text);
    let message = exhausted(&dir, &["strands.diderot", "--memory", "1MB"]);
    assert!(message.contains("1000000 strands"), "{message}");
    // There is room for the strands, but not for their outputs beside them.
    let message = exhausted(
        &dir,
        &["strands.diderot", "--memory", "48MB", "-o", "x.nrrd"],
    );
    assert!(message.contains("x.nrrd: 12.0 MB of memory"), "{message}");
    let text = "#version 2.0
input image(3)[] vol;
field#0(3)[] F = tent ⊛ vol;
strand s (int i) { output real x = 0; update { x = F([i, 0, 0]); stabilize; } }
create_array { s(i) | i in 0..1 }
";
    write(&dir, "image.diderot", text);
    let header =
        "NRRD0005\ntype: int\ndimension: 3\nsizes: 100 100 100\nencoding: raw\nendian: little\n\n";
    let file = [header.as_bytes(), &[7; 4_000_000]].concat();
    fs::write(dir.join("vol.nrrd"), file).expect("a writable directory");
    let words = [
        "image.diderot",
        "-vol",
        "vol.nrrd",
        "--map",
        "never",
        "--memory",
    ];
    let message = exhausted(&dir, &[&words[..], &["2M"]].concat());
    assert!(
        message.contains("vol.nrrd: the image needs 4.0 MB of memory"),
        "{message}"
    );
    // Two strands need no more memory if there are many to run them.
    for workers in ["1", "2", "16"] {
        let enough = diderotc(&dir, &[&words[..], &["5M", "--nworkers", workers]].concat());
        assert!(enough.status.success(), "{}", stderr(&enough));
    }
    let wrong = diderotc(&dir, &[&words[..], &["much"]].concat());
    assert_eq!(wrong.status.code(), Some(2));
    let text = "#version 2.0
input fem#0(3)[] g;
field#0(3)[] F = toField(g);
strand s (int i) { output real x = 0; update { x = F([0.5, 0.5, 0.5]); stabilize; } }
create_array { s(i) | i in 0..1 }
";
    write(&dir, "mesh.diderot", text);
    write(&dir, "mesh.vtk", &mesh_of_cubes(16));
    let words = ["mesh.diderot", "-g", "mesh.vtk", "--memory"];
    for limit in ["50k", "500k", "1M"] {
        let message = exhausted(&dir, &[&words[..], &[limit]].concat());
        assert!(
            message.contains("mesh.vtk") && message.contains("of memory"),
            "{message}"
        );
    }
    let enough = diderotc(&dir, &[&words[..], &["16M"]].concat());
    assert!(enough.status.success(), "{}", stderr(&enough));
    // Far more than any machine has needs no limit.
    let message = exhausted(&dir, &["strands.diderot", "-n", "2000000000", "--double"]);
    assert!(message.contains("2000000000 strands"), "{message}");
}

/// A cube of n³ hexahedra with an array, as a legacy VTK file.
fn mesh_of_cubes(n: usize) -> String {
    let side = n + 1;
    let of = |m: usize| [m % side, m / side % side, m / side / side];
    let points: Vec<String> = (0..side.pow(3))
        .map(|m| of(m).map(|x| x.to_string()).join(" "))
        .collect();
    let corners = [0, 1, side + 1, side];
    let cells: Vec<String> = (0..n.pow(3))
        .map(|m| {
            let low = m % n + side * (m / n % n + side * (m / n / n));
            let all = corners.into_iter().chain(corners.map(|c| c + side * side));
            let all: Vec<String> = all.map(|c| (low + c).to_string()).collect();
            format!("8 {}", all.join(" "))
        })
        .collect();
    let values: Vec<String> = (0..points.len()).map(|m| m.to_string()).collect();
    let (p, c) = (points.len(), cells.len());
    format!(
        "# vtk DataFile Version 4.2\ncubes\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {p} double\n{}\nCELLS {c} {}\n{}\nCELL_TYPES {c}\n{}\nPOINT_DATA {p}\nSCALARS u double\nLOOKUP_TABLE default\n{}\n",
        points.join("\n"),
        9 * c,
        cells.join("\n"),
        vec!["12"; c].join("\n"),
        values.join("\n")
    )
}

/// Programs that grow without end, and the beginnings of their messages.
const GROWING: [(&str, &str, &str); 4] = [
    (
        "doubling",
        "strand s (int i) {
    int[] all = {1, 2, 3, 4};
    output int n = 0;
    update { all = all @ all; n += 1; }
}
create_array { s(i) | i in 5..5 }",
        "strand 0, created with 5, in super-step ",
    ),
    (
        "many-sequences",
        "strand s (int i) {
    vec3[] all = {};
    output int n = 0;
    update { foreach (int k in 1..1000) { all = all @ [n, k, i]; } n += 1; }
}
create_array { s(i) | i in 0..99 }",
        "in super-step ",
    ),
    (
        "births",
        "strand s (int i) {
    output int n = i;
    update { new s(n + 1); new s(n + 2); }
}
create_collection { s(i) | i in 0..3 }",
        "in super-step ",
    ),
    (
        "printing",
        "strand s (int i) {
    output int n = 0;
    update { foreach (int k in 1..2000000000) { print(\"again and again and again\\n\"); } n += 1; }
}
create_array { s(i) | i in 0..3 }",
        "in super-step 1: ",
    ),
];

#[test]
fn growth_ends_with_a_message_and_keeps_what_there_was() {
    // Where memory ends depends on the limit and on how many workers set some aside.
    let limits = [("60M", "2"), ("60M", "32"), ("50M", "1")];
    for ((name, text, said), (memory, workers)) in GROWING
        .into_iter()
        .flat_map(|program| limits.map(|limit| (program, limit)))
    {
        let dir = directory(&format!("limits-{name}"));
        write(&dir, "p.diderot", &format!("#version 2.0\n{text}\n"));
        let options =
            format!("p.diderot --memory {memory} --nworkers {workers} -o n.nrrd -print text");
        let words: Vec<&str> = options.split(' ').collect();
        let message = exhausted(&dir, &words);
        assert!(message.contains(said), "{name}: {message}");
        assert!(!dir.join("n.nrrd").exists(), "{name}");
        assert!(!names(&dir).iter().any(|n| n.ends_with(".part")), "{name}");
        let message = exhausted(&dir, &[&words[..], &["--keep"]].concat());
        let steps = message.split("out of memory after ").nth(1);
        let steps = steps.and_then(|rest| rest.split(' ').next());
        let steps = steps.unwrap_or_else(|| panic!("{name}: {message}"));
        let kept = numbers(&dir, "n.nrrd");
        if steps == "0" {
            assert_eq!(kept, [0.0; 4], "{name}");
            continue;
        }
        // Strands for which there is no memory are not born; those of this program change nothing else.
        let unborn = message.contains("strands that were made in super-step ");
        let steps = steps.parse::<u64>().expect("a number of super-steps") - u64::from(unborn);
        let steps = steps.to_string();
        let limited = diderotc(&dir, &["p.diderot", "-l", &steps, "-o", "l.nrrd"]);
        assert!(limited.status.success(), "{}", stderr(&limited));
        let limited = numbers(&dir, "l.nrrd");
        // Strands that cannot notice each other do not run in step: some have not come so far.
        let fits = |(k, l): (&f64, &f64)| k == l || name != "births" && (0.0..*l).contains(k);
        assert!(
            kept.len() == limited.len() && kept.iter().zip(&limited).all(fits),
            "{name}: {} and {}",
            kept.len(),
            limited.len()
        );
    }
}

#[test]
fn more_workers_than_cores_can_use_are_not_started() {
    let dir = directory("limits-workers");
    let text = "#version 2.0
strand s (int i) { output int n = i; update { n += 1; stabilize; } }
create_array { s(i) | i in 0..2000000 }
";
    write(&dir, "p.diderot", text);
    // No system has this many threads, and a few hundred of them would be slow enough.
    let output = diderotc(
        &dir,
        &["p.diderot", "--nworkers", "1000000", "-o", "n.nrrd"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn prepending_takes_as_little_memory_as_appending() {
    let dir = directory("limits-prepend");
    let text = "#version 2.0
strand s (int i) {
    int[] all = {};
    output int first = 0;
    output int last = 0;
    output int n = 0;
    update {
        foreach (int k in 1..50000) { all = k @ all; }
        first = all[0];
        last = all[49999];
        n = length(all);
        stabilize;
    }
}
create_array { s(i) | i in 0..2 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "--memory", "10M", "-o", "n.csv"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = fs::read_to_string(dir.join("n.csv")).expect("the output");
    assert_eq!(
        table.lines().skip(1).collect::<Vec<_>>(),
        ["50000,1,50000"; 3]
    );
}

/// Programs that come to no end: in a loop of independent strands, of strands that print, and of global code.
const ENDLESS: [(&str, &str); 3] = [
    (
        "independent",
        "strand s (int i) {
    output int n = 0;
    update {
        n += 1;
        if (n == 3) { foreach (int j in 1..2000000000) { foreach (int k in 1..2000000000) { n += k % (i + 2); } } }
    }
}
create_array { s(i) | i in 0..99 }",
    ),
    (
        "lockstep",
        "strand s (int i) {
    output int n = 0;
    update {
        n += 1;
        if (n == 3) { foreach (int j in 1..2000000000) { foreach (int k in 1..2000000000) { n += k % (i + 2); } } print(n); }
    }
}
create_array { s(i) | i in 0..99 }",
    ),
    (
        "global",
        "int total = 0;
strand s (int i) { output int n = 0; update { n += 1; } }
update { foreach (int j in 1..2000000000) { foreach (int k in 1..2000000000) { total += k % (j + 2); } } }
create_array { s(i) | i in 0..99 }",
    ),
];

#[test]
fn an_interrupt_ends_endless_loops() {
    for (name, text) in ENDLESS {
        let dir = directory(&format!("limits-endless-{name}"));
        write(&dir, "p.diderot", &format!("#version 2.0\n{text}\n"));
        for isa in ["none", "avx512"] {
            let words = ["p.diderot", "--isa", isa, "-s", "1", "-o", "n.nrrd"];
            let (message, status) = interrupted(&dir, &words, "n-0000.nrrd", "-TERM");
            assert_eq!(status, Some(130), "{name}: {message}");
            assert!(!dir.join("n.nrrd").exists(), "{name}: {message}");
        }
    }
}

#[test]
fn strands_that_are_left_in_a_loop_keep_their_last_values() {
    let (name, text) = ENDLESS[0];
    let dir = directory(&format!("limits-left-{name}"));
    write(&dir, "p.diderot", &format!("#version 2.0\n{text}\n"));
    for isa in ["none", "avx512"] {
        let words = [
            "p.diderot",
            "--isa",
            isa,
            "--keep",
            "-s",
            "2",
            "-o",
            "n.nrrd",
        ];
        let (message, status) = interrupted(&dir, &words, "n-0002.nrrd", "-INT");
        assert_eq!(status, Some(130), "{message}");
        assert_eq!(numbers(&dir, "n.nrrd"), [2.0; 100], "{isa}");
    }
}

/// A run in a shell that has set limits.
fn limited(dir: &Path, limits: &str, words: &str) -> Output {
    let line = format!(
        "trap '' XFSZ; {limits}; exec {} {words}",
        env!("CARGO_BIN_EXE_diderotc")
    );
    let mut shell = Command::new("sh");
    let run = shell.args(["-c", &line]).current_dir(dir);
    run.output().expect("a shell")
}

#[test]
fn printed_text_is_whole_or_not_there() {
    let dir = directory("limits-print");
    let text = "#version 2.0
strand s (int i) { output int n = i; update { print(\"line \", i, \"\\n\"); stabilize; } }
create_array { s(i) | i in 0..9999 }
";
    write(&dir, "p.diderot", text);
    let whole = diderotc(&dir, &["p.diderot", "-print", "whole.txt"]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    let wanted: String = (0..10_000).map(|i| format!("line {i}\n")).collect();
    let read = |file: &str| fs::read_to_string(dir.join(file)).expect("a file");
    assert_eq!(read("whole.txt"), wanted);
    fs::write(dir.join("text"), "before").expect("a writable directory");
    let output = limited(&dir, "ulimit -f 16", "p.diderot -print text");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(read("text"), "before");
    assert!(!names(&dir).iter().any(|name| name.ends_with(".part")));
    // What cannot be replaced is written to.
    let full = diderotc(&dir, &["p.diderot", "-print", "/dev/full"]);
    assert_eq!(full.status.code(), Some(1));
}

#[test]
fn a_process_with_little_memory_ends_with_a_message() {
    let dir = directory("limits-address-space");
    let (_, text, _) = GROWING[0];
    write(&dir, "p.diderot", &format!("#version 2.0\n{text}\n"));
    for kilobytes in [300_000, 600_000, 1_200_000] {
        let limits = format!("ulimit -v {kilobytes}");
        let output = limited(&dir, &limits, "p.diderot -n 2 -o n.nrrd");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{kilobytes}: {message}");
        assert!(message.contains("memory"), "{kilobytes}: {message}");
    }
}

#[test]
fn a_process_with_next_to_no_memory_does_not_panic() {
    let dir = directory("limits-stack");
    let (_, text, _) = GROWING[0];
    write(&dir, "p.diderot", &format!("#version 2.0\n{text}\n"));
    for kilobytes in (60_000..150_000).step_by(10_000) {
        for words in ["check p.diderot", "p.diderot -l 1 -n 1"] {
            let output = limited(&dir, &format!("ulimit -v {kilobytes}"), words);
            let message = stderr(&output);
            // The linker of the system may find too little to start the process.
            let is_status = matches!(output.status.code(), Some(0 | 1 | 127));
            assert!(
                is_status && !message.contains("panicked"),
                "{kilobytes} {words}: {:?} {message}",
                output.status
            );
        }
    }
}

/// What may have no end, or never begins.
#[test]
#[cfg(unix)]
fn programs_and_imports_are_read_from_files_of_bounded_size() {
    let dir = directory("limits-sources");
    let made = Command::new("mkfifo")
        .arg(dir.join("pipe.diderot"))
        .status();
    assert!(made.expect("the command `mkfifo`").success());
    fs::create_dir(dir.join("folder.diderot")).expect("a directory");
    std::os::unix::fs::symlink("/dev/zero", dir.join("zero.diderot")).expect("a link");
    let long = fs::File::create(dir.join("long.diderot")).expect("a file");
    long.set_len(1 << 40).expect("a file with a hole");
    for (file, reason) in [
        ("pipe.diderot", "a device or a pipe"),
        ("zero.diderot", "a device or a pipe"),
        ("/dev/urandom", "a device or a pipe"),
        ("folder.diderot", "a directory"),
        ("long.diderot", "more than the 16.8 MB"),
    ] {
        write(
            &dir,
            "importing.diderot",
            &format!("#version 2.0\nimport \"{file}\";\n"),
        );
        for program in [file, "importing.diderot"] {
            if program.ends_with(".diderot") {
                let output = diderotc(&dir, &["flatten", program]);
                let message = stderr(&output);
                assert_eq!(output.status.code(), Some(1), "{program}: {message}");
                assert!(message.contains(reason), "{program}: {message}");
            }
        }
    }
}

#[test]
fn descriptions_of_files_heed_the_limit_too() {
    let dir = directory("limits-info");
    // 8,000 × 8,000 pixels of three bytes, which a decoder of JPEG or PNM would keep.
    let pixels = format!("P6\n8000 8000\n255\n{}", "a".repeat(3 * 8000 * 8000));
    write(&dir, "large.ppm", &pixels);
    for limit in ["1M", "100M", "250M"] {
        let message = exhausted(&dir, &["info", "--memory", limit, "large.ppm"]);
        assert!(message.contains("large.ppm"), "{message}");
    }
    let enough = diderotc(&dir, &["info", "--memory", "1G", "large.ppm"]);
    assert!(stdout(&enough).contains("97 … 97"), "{}", stderr(&enough));
    write(&dir, "mesh.vtk", &mesh_of_cubes(16));
    exhausted(&dir, &["info", "--memory", "50k", "mesh.vtk"]);
    let wrong = diderotc(&dir, &["info", "--memory", "much", "mesh.vtk"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
}

#[test]
#[cfg(unix)]
fn a_header_cannot_name_a_device() {
    let dir = directory("limits-device");
    let header = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 10000 10000 10000\nencoding: raw\n\
                  data file: /dev/zero\n";
    write(&dir, "endless.nhdr", header);
    let output = diderotc(&dir, &["info", "endless.nhdr"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "error: /dev/zero: this is a device, not a file\n"
    );
}
