//! Images whose files are mapped: the outputs are those of images that are read, files may be larger than the memory, and a file that
//! becomes shorter ends the run with a message.

use crate::commands::{command, diderotc, directory, names, stderr, write};
use std::{
    fs,
    io::Read,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

/// Probes with all kernels and borders, near the edge and beyond it, and an image at a scale.
const ALL: &str = "#version 2.0
input image(3)[] img;
field#0(3)[] T = img ⊛ tent;
field#1(3)[] C = clamp(img) ⊛ ctmr;
field#2(3)[] B = mirror(img) ⊛ bspln3;
field#4(3)[] Q = wrap(img) ⊛ bspln5;
field#2(3)[] P = border(img, 0.5) ⊛ bspln3;
strand s (int i, int j) {
    output tensor[8] v = zeros[8];
    update {
        vec3 x = [0.37*i - 2, 0.41*j - 2, 0.2*(i + j) - 1];
        vec3 g = ∇B(x);
        v = [T(x), C(x), B(x), Q(x), P(x), g[0], g[1], ∇C(x)[2]];
        stabilize;
    }
}
create_array { s(i, j) | i in 0..63, j in 0..63 }
";

/// A volume of this many samples along each axis, as a raw NRRD file whose samples are not aligned.
fn volume(dir: &Path, name: &str, size: usize) {
    let header = format!(
        "NRRD0004\ntype: float\ndimension: 3\nsizes: {size} {size} {size}\nencoding: raw\nendian: little\n"
    );
    let missing = (5 - (header.len() + 1) % 4) % 4;
    let comment = format!("#{}\n", "x".repeat(missing + 3));
    let mut bytes = [header.as_bytes(), comment.as_bytes(), b"\n"].concat();
    let sample = |n: usize| ((n * 7919 % 1013) as f32 / 97.0).to_le_bytes();
    bytes.extend((0..size * size * size).flat_map(sample));
    fs::write(dir.join(name), bytes).expect("a file");
}

#[test]
fn mapped_and_read_files_give_the_same_outputs() {
    let dir = directory("mapped-same");
    write(&dir, "p.diderot", ALL);
    volume(&dir, "v.nrrd", 21);
    let run = |map: &str, more: &[&str]| {
        let words = [
            &[
                "p.diderot",
                "-img",
                "v.nrrd",
                "--map",
                map,
                "-o",
                "out.nrrd",
            ],
            more,
        ]
        .concat();
        let output = diderotc(&dir, &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        (
            fs::read(dir.join("out.nrrd")).expect("an output"),
            stderr(&output),
        )
    };
    let (read, _) = run("never", &[]);
    assert!(read.len() > 64 * 64 * 8 * 4);
    for more in [
        &[][..],
        &["--isa", "none"],
        &["--isa", "avx2"],
        &["-n", "1"],
    ] {
        let (again, _) = run("never", more);
        let (mapped, said) = run("always", more);
        assert!(mapped == again, "{more:?}: {said}");
    }
    // In double precision the samples must be converted.
    let (again, _) = run("never", &["--double"]);
    let (converted, said) = run("always", &["--double", "--cache", "1M"]);
    assert!(converted == again, "{said}");
}

#[test]
fn a_file_may_be_larger_than_the_memory() {
    let dir = directory("mapped-memory");
    write(&dir, "p.diderot", ALL);
    volume(&dir, "v.nrrd", 160);
    let run = |words: &[&str]| {
        let words = [&["p.diderot", "-img", "v.nrrd", "-o", "out.nrrd"], words].concat();
        let output = diderotc(&dir, &words);
        (output.status.code(), stderr(&output))
    };
    let outputs = || fs::read(dir.join("out.nrrd")).expect("an output");
    assert_eq!(run(&[]).0, Some(0));
    let wanted = outputs();
    fs::remove_file(dir.join("out.nrrd")).expect("an output");
    // 16.4 MB of samples.
    let (status, said) = run(&["--memory", "8MB"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(outputs() == wanted);
    let (status, said) = run(&["--memory", "8MB", "--map", "never"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the image needs 16.4 MB of memory"), "{said}");
    assert!(outputs() == wanted);
}

/// Samples that are loaded on demand are counted while they are loaded, and reported once after the last run.
#[cfg(target_os = "linux")]
#[test]
fn samples_that_became_infinite_on_demand_are_reported_after_the_runs() {
    let dir = directory("mapped-infinite");
    let program = "#version 2.0
input image(2)[] img;
input int column = 0;
field#0(2)[] F = img ⊛ tent;
strand s (int i) {
    output real v = 0;
    update { v = F([column, i]); stabilize; }
}
create_array { s(i) | i in 0..999 }
";
    write(&dir, "p.diderot", program);
    let header =
        "NRRD0004\ntype: double\ndimension: 2\nsizes: 500 1000\nencoding: raw\nendian: big\n\n";
    let sample = |n: usize| if n % 500 == 3 { -1e200 } else { n as f64 };
    let bytes = (0..500 * 1000).flat_map(|n| sample(n).to_be_bytes());
    let bytes: Vec<u8> = header.bytes().chain(bytes).collect();
    fs::write(dir.join("v.nrrd"), bytes).expect("a file");
    let run = |more: &[&str]| {
        let words = [&["p.diderot", "-img", "v.nrrd", "-o", "out.nrrd"], more].concat();
        let output = diderotc(&dir, &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        stderr(&output)
    };
    let told = "1000 samples are beyond the greatest number of single precision";
    assert!(run(&["--map", "never"]).contains(told));
    for more in [&[][..], &["--vary", "column=0:4:3"], &["-n", "1"]] {
        let said = run(&[&["--map", "always", "--cache", "1M"], more].concat());
        let warning = format!("warning: v.nrrd: in the parts that were loaded: {told}");
        assert_eq!(said.matches(&warning).count(), 1, "{said}");
        assert_eq!(said.matches("single precision").count(), 1, "{said}");
    }
    let said = run(&["--map", "always", "--double"]);
    assert!(!said.contains("single precision"), "{said}");
}

/// Reads all of an image again and again.
const ENDLESS: &str = "#version 2.0
input image(3)[] img;
field#1(3)[] F = img ⊛ ctmr;
strand s (int i, int j) {
    output real sum = 0;
    int k = 0;
    update {
        sum += F([real(i), real(j), real(k % 160)]);
        k += 1;
    }
}
create_array { s(i, j) | i in 0..159, j in 0..159 }
";

#[test]
fn a_file_that_becomes_shorter_ends_the_run_with_a_message() {
    const PATIENCE: Duration = Duration::from_secs(120);
    let dir = directory("mapped-shorter");
    write(&dir, "p.diderot", ENDLESS);
    write(&dir, "out.nrrd", "as before");
    for workers in ["1", "5"] {
        volume(&dir, "v.nrrd", 160);
        let snapshot = dir.join("out-0000.nrrd");
        let _ = fs::remove_file(&snapshot);
        let words = [
            "p.diderot",
            "-img",
            "v.nrrd",
            "--map",
            "always",
            "-s",
            "1000000",
            "-o",
            "out.nrrd",
            "-n",
            workers,
        ];
        let mut child = command(&dir, &words)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let start = Instant::now();
        while !snapshot.exists() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        let file = fs::File::options().write(true).open(dir.join("v.nrrd"));
        file.and_then(|file| file.set_len(1000))
            .expect("a shorter file");
        let status = loop {
            match child.try_wait().expect("a process") {
                Some(status) => break status,
                None if start.elapsed() > PATIENCE => {
                    let _ = child.kill();
                    panic!("the run goes on");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let mut said = String::new();
        let mut told = child.stderr.take().expect("piped");
        told.read_to_string(&mut said).expect("text");
        assert_eq!(status.code(), Some(2), "{said}");
        assert_eq!(
            said.matches("v.nrrd became shorter while it was read")
                .count(),
            1,
            "{said}"
        );
        assert_eq!(
            fs::read(dir.join("out.nrrd")).expect("an output"),
            b"as before"
        );
        assert!(names(&dir).iter().all(|name| !name.ends_with(".part")));
    }
}
