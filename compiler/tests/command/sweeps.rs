//! Sweeps: grids of values, files one after the other, names by patterns, and runs that fail among others that do not.

use crate::{
    commands::{command, diderotc, directory, names, stderr, write},
    repeated::STEPS,
};
use std::{fs, path::Path, process::Output};

/// The samples of an image, and a number added to them.
pub(crate) const SUM: &str = "#version 2.0
input image(2)[] vol;
input real base = 0;
input int n = 1;
field#0(2)[] F = vol ⊛ tent;
strand s (int i, int j) {
    output real v = 0;
    update { v = F([real(j), real(i)]) + base/real(n); stabilize; }
}
create_array { s(i, j) | i in 0..1, j in 0..2 }
";

/// A picture of two rows with all samples equal.
pub(crate) fn image(dir: &Path, name: &str, value: f64) {
    let samples = [value; 6].map(|x| x.to_string()).join(" ");
    let header = "NRRD0004\ntype: float\ndimension: 2\nsizes: 3 2\nencoding: text";
    write(dir, name, &format!("{header}\n\n{samples}\n"));
}

fn first(dir: &Path, name: &str) -> f64 {
    let text = fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let word = text.split_whitespace().next().expect("a number");
    word.parse().expect("a number")
}

#[track_caller]
fn succeeds(dir: &Path, words: &[&str]) -> String {
    let output = diderotc(dir, words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    stderr(&output)
}

#[track_caller]
fn fails(dir: &Path, words: &[&str], status: i32) -> String {
    let output: Output = diderotc(dir, words);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{words:?}: {}",
        stderr(&output)
    );
    stderr(&output)
}

#[test]
fn several_names_make_a_grid_whose_last_varies_fastest() {
    let dir = directory("sweeps-grid");
    write(&dir, "p.diderot", SUM);
    image(&dir, "a.nrrd", 10.0);
    let words = ["p.diderot", "-vol", "a.nrrd", "-o", "v.txt"];
    let grid = ["--vary", "base=1:2:2", "--vary", "n=1;2;4"];
    succeeds(&dir, &[&words[..], &grid].concat());
    let all: Vec<f64> = (0..6)
        .map(|n| first(&dir, &format!("v-000{n}.txt")))
        .collect();
    assert_eq!(all, [11.0, 10.5, 10.25, 12.0, 11.0, 10.5]);
    // The same values together.
    let zipped = ["--zip", "--vary", "base=1:3:3", "--vary", "n=1;2;4"];
    let dir = directory("sweeps-zip");
    write(&dir, "p.diderot", SUM);
    image(&dir, "a.nrrd", 10.0);
    succeeds(&dir, &[&words[..], &zipped].concat());
    let all: Vec<f64> = (0..3)
        .map(|n| first(&dir, &format!("v-000{n}.txt")))
        .collect();
    assert_eq!(all, [11.0, 11.0, 10.75]);
    assert!(!dir.join("v-0003.txt").exists());
    for (wrong, part) in [
        (
            &["--zip", "--vary", "base=1:3:3", "--vary", "n=1;2"][..],
            "3 and 2",
        ),
        (&["--zip"], "needs something that varies"),
        (
            &["--vary", "base=1:3:3", "--vary", "base=1;2"],
            "varied twice",
        ),
        (&["--vary", "base=1:3:3", "-base", "1"], "one is wanted"),
        (
            &["--vary", "bass=1:3:3"],
            "there is no input `bass`; there are: vol, base, n",
        ),
        (&["--vary", "base=1:2:1000000000"], "at most 1000000"),
        (
            &["--vary", "vol=a.nrrd;b.nrrd"],
            "`--each` runs once per file",
        ),
        (&["--each", "base=a.nrrd"], "does not take files"),
        (&["--each", "vol=*.none"], "no file matches `*.none`"),
    ] {
        let message = fails(&dir, &[&words[..], wrong].concat(), 2);
        assert!(message.contains(part), "{wrong:?}: {message}");
    }
}

#[test]
fn an_orbit_multiplies_with_the_grid_and_is_fastest() {
    let dir = directory("sweeps-orbit");
    write(&dir, "p.diderot", STEPS);
    let words = ["p.diderot", "--vary", "base=0:1:2", "--orbit", "4"];
    let files = ["-o-v", "v-{base}-{orbit}.txt", "-o-where", "w-{n:02}.txt"];
    succeeds(&dir, &[&words[..], &files].concat());
    let all: Vec<String> = names(&dir);
    assert_eq!(all.iter().filter(|name| name.ends_with(".txt")).count(), 16);
    assert_eq!(first(&dir, "v-0-3.txt"), 0.75);
    assert_eq!(first(&dir, "v-1-0.txt"), 1.75);
    // The camera is on the other side in the middle of each orbit.
    assert_eq!(first(&dir, "w-04.txt"), 2.0);
    assert!((first(&dir, "w-06.txt") + 2.0).abs() < 1e-5);
}

#[test]
fn each_file_is_a_run_and_patterns_name_the_outputs() {
    let dir = directory("sweeps-each");
    write(&dir, "p.diderot", SUM);
    for sub in ["scans", "more", "out"] {
        fs::create_dir(dir.join(sub)).expect("a directory");
    }
    image(&dir, "scans/b.nrrd", 20.0);
    image(&dir, "scans/a.nrrd", 10.0);
    image(&dir, "more/c.x.nrrd", 30.0);
    let words = [
        "p.diderot",
        "--vary",
        "base=0.25:0.5:2",
        "--each",
        "vol=scans/*.nrrd",
        "--each",
        "vol=more/c.x.nrrd",
        "-n",
        "2",
        "-o",
        "out/{vol}-{base:.2f}-{n}-{{}}.txt",
    ];
    let told = succeeds(&dir, &words);
    assert_eq!(
        names(&dir.join("out")),
        [
            "a-0.25-2-{}.txt",
            "a-0.50-2-{}.txt",
            "b-0.25-2-{}.txt",
            "b-0.50-2-{}.txt",
            "c.x-0.25-2-{}.txt",
            "c.x-0.50-2-{}.txt",
        ],
        "{told}"
    );
    assert_eq!(first(&dir, "out/b-0.50-2-{}.txt"), 20.25);
    assert_eq!(first(&dir, "out/c.x-0.25-2-{}.txt"), 30.125);
}

#[test]
fn names_are_checked_before_the_first_run() {
    let dir = directory("sweeps-names");
    write(&dir, "p.diderot", SUM);
    image(&dir, "a.nrrd", 10.0);
    image(&dir, "b.nrrd", 20.0);
    let words = ["p.diderot", "--each", "vol=?.nrrd", "-o"];
    for (pattern, part) in [
        ("{base}.txt", "there are: vol, n"),
        ("{vol:.2f}.txt", "not numbers"),
        ("{vol.txt", "found a single `{`"),
        ("x-{n:x}.txt", "formats are"),
        ("x-{{vol}}-{other}.txt", "`{other}`"),
        ("{vol}.nrrd", "would replace the input `vol`"),
        ("none/{vol}.txt", "there is no directory none"),
        ("{vol}.apng", "a film is one file of all runs"),
    ] {
        let message = fails(&dir, &[&words[..], &[pattern]].concat(), 2);
        assert!(message.contains(part), "{pattern}: {message}");
    }
    let same = ["--vary", "base=0:0.001:2"];
    let message = fails(
        &dir,
        &[&words[..], &["{vol}-{base:.2f}.txt"], &same].concat(),
        2,
    );
    let expected = "a-0.00.txt: run 0 (vol=a.nrrd, base=0) and run 1 (vol=a.nrrd, base=0.001) would write the same file";
    assert!(message.contains(expected), "{message}");
    assert_eq!(names(&dir), ["a.nrrd", "b.nrrd", "p.diderot"]);
    // Without a sweep a name is a name.
    succeeds(&dir, &["p.diderot", "-vol", "a.nrrd", "-o", "{vol}{.txt"]);
    assert!(dir.join("{vol}{.txt").exists());
}

#[test]
fn one_broken_file_among_a_hundred_costs_one_result() {
    let dir = directory("sweeps-broken");
    write(&dir, "p.diderot", SUM);
    for sub in ["scans", "out"] {
        fs::create_dir(dir.join(sub)).expect("a directory");
    }
    for n in 0..100 {
        image(&dir, &format!("scans/{n:02}.nrrd"), f64::from(n));
    }
    write(&dir, "scans/50.nrrd", "NRRD0004\nthis is not a header\n");
    let words = [
        "p.diderot",
        "--each",
        "vol=scans/*.nrrd",
        "-print",
        "log.txt",
        "-o",
        "out/{vol}.txt",
    ];
    let message = fails(&dir, &words, 1);
    let written = names(&dir.join("out"));
    assert_eq!(written.len(), 99, "{message}");
    assert!(!written.contains(&"50.txt".to_string()));
    for n in (0..100).filter(|&n| n != 50) {
        let name = format!("out/{n:02}.txt");
        assert_eq!(first(&dir, &name), f64::from(n));
    }
    assert_eq!(
        message.matches("error: -vol scans/50.nrrd").count(),
        1,
        "{message}"
    );
    let end = "error: 1 of 100 runs failed:\n  run 50: vol=scans/50.nrrd\n";
    assert!(message.contains(end), "{message}");
    // The message comes before the next result.
    let at = |part: &str| message.find(part).expect(part);
    assert!(at("error: -vol scans/50.nrrd") < at("wrote out/51.txt"));
}

#[test]
fn runs_that_fail_do_not_stop_the_others() {
    let dir = directory("sweeps-failures");
    // The second run divides by zero, after it has printed.
    let program = "#version 2.0
input int d = 1;
strand s (int i, int j) {
    output int v = 0;
    update { print(d, \"\\n\"); v = 12/d; stabilize; }
}
create_array { s(i, j) | i in 0..0, j in 0..0 }
";
    write(&dir, "p.diderot", program);
    let words = ["p.diderot", "--vary", "d=2;0;3", "-print", "log.txt", "-o"];
    let message = fails(&dir, &[&words[..], &["v-{d}.txt"]].concat(), 1);
    assert!(
        message.contains("1 of 3 runs failed:\n  run 1: d=0\n"),
        "{message}"
    );
    assert_eq!(first(&dir, "v-2.txt"), 6.0);
    assert_eq!(first(&dir, "v-3.txt"), 4.0);
    let log = fs::read_to_string(dir.join("log.txt")).expect("printed text");
    assert!(log.starts_with("2\n") && log.ends_with("3\n"), "{log}");
    // A film has the pictures of the runs that did not fail.
    let message = fails(&dir, &[&words[..], &["film.apng"]].concat(), 1);
    assert!(message.contains("wrote film.apng (2 frames"), "{message}");
    let message = fails(&dir, &["p.diderot", "--vary", "d=0;0", "-o", "all.apng"], 1);
    assert!(message.contains("2 of 2 runs failed"), "{message}");
    assert!(!message.contains("no pictures"), "{message}");
    assert!(!dir.join("all.apng").exists());
    // An image that all of them need.
    write(&dir, "q.diderot", SUM);
    let message = fails(
        &dir,
        &["q.diderot", "-vol", "none.nrrd", "--vary", "base=1:2:9"],
        1,
    );
    assert_eq!(message.matches("none.nrrd").count(), 1, "{message}");
    // A problem that all of them have is reported once.
    let message = fails(&dir, &["p.diderot", "--vary", "d=1;2", "-o", "v.vtp"], 2);
    assert_eq!(message.matches("error:").count(), 1, "{message}");
}

#[test]
#[cfg(unix)]
fn images_that_do_not_change_are_read_once() {
    let dir = directory("sweeps-kept");
    let program = SUM
        .replace(
            "input real base",
            "input image(2)[] fixed;\nfield#0(2)[] G = fixed ⊛ tent;\ninput real base",
        )
        .replace("+ base/real(n)", "+ G([real(j), real(i)])");
    write(&dir, "p.diderot", &program);
    for (name, value) in [("a.nrrd", 10.0), ("b.nrrd", 20.0), ("c.nrrd", 30.0)] {
        image(&dir, name, value);
    }
    image(&dir, "fixed", 0.5);
    // Standard input can be read only once.
    let words = [
        "p.diderot",
        "-fixed",
        "-",
        "--each",
        "vol=?.nrrd",
        "-o",
        "{vol}.txt",
    ];
    let input = fs::File::open(dir.join("fixed")).expect("an image");
    let output = command(&dir, &words).stdin(input).output();
    let output = output.expect("the command runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let all = ["a.txt", "b.txt", "c.txt"].map(|name| first(&dir, name));
    assert_eq!(all, [10.5, 20.5, 30.5]);
    // A broken file between them does not lose the others.
    write(&dir, "b.nrrd", "NRRD0004\nbroken\n");
    let input = fs::File::open(dir.join("fixed")).expect("an image");
    let output = command(&dir, &words).stdin(input).output();
    let output = output.expect("the command runs");
    assert!(
        stderr(&output).contains("1 of 3 runs failed"),
        "{}",
        stderr(&output)
    );
}

/// Surfaces of a ball in a small volume.
const SURFACE: &str = "#version 2.0
import \"std/contour\";
input image(3)[] vol;
field#1(3)[] F = vol ⊛ ctmr;
strand s (int row, int column) {
    output tensor[3,3][] surface = contourTile(F, 4, row, column);
    update { stabilize; }
}
create_collection { s(row, column) | row in 0..contourRows-1, column in 0..contourColumns-1 }
";

/// Values on a mesh along a line.
const ON_MESH: &str = "#version 2.0
input fem#1(2)[] m;
field#0(2)[] F = toField(m);
strand s (int i) {
    output real v = 0;
    update { v = F([0.1*i, 0.1]) if inside([0.1*i, 0.1], F) else -1; stabilize; }
}
create_array { s(i) | i in 0..3 }
";

/// A volume of six samples along each axis: the square of the distance from its middle, and a little more.
fn ball(dir: &Path, name: &str, more: f64) {
    let square = |i: usize| (i as f64 - 2.5).powi(2);
    let mut samples = Vec::new();
    for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
        let row = (0..6).map(|k| (square(i) + square(j) + square(k) + more).to_string());
        samples.push(row.collect::<Vec<_>>().join(" "));
    }
    let header = "NRRD0004\ntype: float\ndimension: 3\nsizes: 6 6 6\nencoding: text";
    write(dir, name, &format!("{header}\n\n{}\n", samples.join("\n")));
}

#[test]
fn a_broken_file_costs_one_figure_one_surface_and_one_result_on_a_mesh() {
    let dir = directory("sweeps-kinds");
    for sub in ["scans", "volumes", "meshes", "out"] {
        fs::create_dir(dir.join(sub)).expect("a directory");
    }
    let mesh = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../data/check-mesh.vtu"
    ));
    let mesh = mesh.expect("the mesh");
    for n in 0..100 {
        image(&dir, &format!("scans/{n:02}.nrrd"), f64::from(n));
        ball(&dir, &format!("volumes/{n:02}.nrrd"), 0.01 * f64::from(n));
        write(&dir, &format!("meshes/{n:02}.vtu"), &mesh);
    }
    write(&dir, "scans/50.nrrd", "NRRD0004\nthis is not a header\n");
    write(&dir, "volumes/50.nrrd", "NRRD0004\nthis is not a header\n");
    write(
        &dir,
        "meshes/50.vtu",
        "<VTKFile type=\"UnstructuredGrid\">\n",
    );
    for (name, program, files, suffix, more) in [
        ("sum", SUM, "vol=scans/*.nrrd", "svg", &[][..]),
        ("sum", SUM, "vol=scans/*.nrrd", "pdf", &["--cmap", "magma"]),
        ("surface", SURFACE, "vol=volumes/*.nrrd", "ply", &[]),
        ("surface", SURFACE, "vol=volumes/*.nrrd", "stl", &[]),
        ("on-mesh", ON_MESH, "m=meshes/*.vtu#poly", "npy", &[]),
    ] {
        let file = format!("{name}.diderot");
        write(&dir, &file, program);
        let input = files.split('=').next().expect("an input");
        let pattern = format!("out/{{{input}}}.{suffix}");
        let mut words = vec![file.as_str(), "--each", files, "-o", &pattern];
        words.extend(more);
        let message = fails(&dir, &words, 1);
        let written = names(&dir.join("out"));
        let own = written.iter().filter(|name| name.ends_with(suffix));
        assert_eq!(own.count(), 99, "{suffix}: {message}");
        assert!(
            message.contains("1 of 100 runs failed"),
            "{suffix}: {message}"
        );
        assert!(!written.contains(&format!("50.{suffix}")), "{suffix}");
    }
}
