//! What runs write: checked before they begin, placed in the world, kept when they are interrupted, and told about.

mod commands;

use commands::{command, diderotc, directory, stderr, stdout, write};
use runtime::{nrrd, png};
use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
};

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

fn numbers(dir: &Path, file: &str) -> Vec<f64> {
    let array = nrrd::read(&dir.join(file)).unwrap_or_else(|e| panic!("{e}"));
    array.samples().convert().expect("numbers")
}

#[test]
fn all_that_is_wrong_with_the_outputs_is_told_before_the_run() {
    let dir = directory("outputs-problems");
    // It never ends, so whatever is said is said before.
    let text = "#version 2.0
input int res = 4;
strand s (int i) { output real a = 0; output real b = 0; output vec3 c = [0,0,0]; update { a += 1; } }
create_array { s(i) | i in 0..res-1 }
";
    write(&dir, "p.diderot", text);
    let words = [
        "p.diderot",
        "-res",
        "-3",
        "-o-a",
        "nodir/x.png",
        "-o-b",
        "x.jpg",
        "-o-c",
        "c.png",
    ];
    let output = diderotc(&dir, &words);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    for problem in [
        "the grid has no strands",
        "nodir/x.png: there is no directory nodir",
        "x.jpg: found suffix `.jpg`",
        "c.png: found 3 values per strand over a grid of 1 axes",
    ] {
        assert!(message.contains(problem), "{problem}\n{message}");
    }
    let output = diderotc(&dir, &["p.diderot", "-o", "all.nrrd"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(names(&dir), ["p.diderot"]);
}

/// A picture with opacity, of numbers beyond 1.
const PICTURE: &str = "#version 2.0
strand s (int i, int j) { output vec4 rgba = [100.0*real(i), 50.0*real(j), 255, 0.2*real(i) + 0.4*real(j)]; update { stabilize; } }
create_array { s(i, j) | i in 0..1, j in 0..2 }
";

#[test]
fn opacity_is_not_scaled_and_surprises_are_told() {
    let dir = directory("outputs-opacity");
    write(&dir, "p.diderot", PICTURE);
    let alphas = |words: &[&str]| {
        let output = diderotc(&dir, &[&["p.diderot", "-o", "a.png"], words].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let picture = png::read(&dir.join("a.png")).expect("a picture");
        let alphas: Vec<u16> = picture
            .samples()
            .iter()
            .skip(3)
            .step_by(4)
            .copied()
            .collect();
        (alphas, stderr(&output))
    };
    let expected = [0, 102, 204, 51, 153, 255];
    let (found, told) = alphas(&[]);
    assert_eq!(found, expected);
    assert!(
        told.contains("note: a.png: 72 % of values are above 1 (largest 255); --range auto"),
        "{told}"
    );
    for range in ["0,255", "auto", "auto:1,99", "0,1.2"] {
        let (found, told) = alphas(&["--range", range]);
        assert_eq!(found, expected, "{range}");
        assert!(range.contains('1') || !told.contains("note:"), "{told}");
    }
    let (_, told) = alphas(&["--range-rgba", "0,255", "-v"]);
    assert!(told.contains("values from 0 to 255"), "{told}");
    // Standard output takes a picture if it is named.
    let output = diderotc(&dir, &["p.diderot", "-o", "png:-", "-q"]);
    let file = fs::read(dir.join("a.png")).expect("a picture");
    assert!(output.status.success() && output.stdout[..16] == file[..16]);
}

/// Samples a volume at every voxel of a turned grid.
const IDENTITY: &str = "#version 2.0
input image(3)[] vol;
input real off = 0;
field#0(3)[] F = tent ⊛ vol;
vec3 dx = [0, 2, 0]; vec3 dy = [-1, 0, 0]; vec3 dz = [0, 0, 3];
strand s (int k, int j, int i) {
    vec3 pos = [10, 20, 30] + i*dx + j*dy + k*dz + (off*[1, 0, 0] if i == 2 && j == 1 && k == 1 else [0, 0, 0]);
    output real v = 0;
    output vec3 at = pos;
    update { v = F(pos); stabilize; }
}
create_array { s(k, j, i) | k in 0..2, j in 0..3, i in 0..4 }
";

const VOLUME: &str = "NRRD0005
type: float
dimension: 3
sizes: 5 4 3
space: left-posterior-superior
space directions: (0,2,0) (-1,0,0) (0,0,3)
space origin: (10,20,30)
kinds: domain domain domain
encoding: ascii

";

fn identity(name: &str) -> std::path::PathBuf {
    let dir = directory(name);
    write(&dir, "p.diderot", IDENTITY);
    let samples: Vec<String> = (0..60).map(|i| i.to_string()).collect();
    write(
        &dir,
        "vol.nrrd",
        &format!("{VOLUME}{}\n", samples.join(" ")),
    );
    dir
}

#[test]
fn a_filter_on_every_voxel_lies_where_its_volume_lies() {
    let dir = identity("outputs-identity");
    let words = [
        "p.diderot",
        "-vol",
        "vol.nrrd",
        "-o-v",
        "v.nrrd",
        "-o-at",
        "at.nrrd",
    ];
    let output = diderotc(&dir, &words);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("no probe"), "{}", stderr(&output));
    let (v, vol) = (
        nrrd::read(&dir.join("v.nrrd")).expect("v"),
        nrrd::read(&dir.join("vol.nrrd")).expect("vol"),
    );
    let place = |array: &nrrd::Nrrd| {
        let directions: Vec<_> = array
            .header()
            .axes
            .iter()
            .map(|axis| axis.direction.clone())
            .collect();
        (
            directions,
            array.header().space_origin.clone(),
            array.header().sizes(),
        )
    };
    assert_eq!(place(&v), place(&vol));
    assert_eq!(numbers(&dir, "v.nrrd"), numbers(&dir, "vol.nrrd"));
    // The world position that the header gives each sample is the strand's own.
    let at = nrrd::read(&dir.join("at.nrrd")).expect("at");
    let positions: Vec<f64> = at.samples().convert().expect("numbers");
    let axes: Vec<Vec<f64>> = at.header().axes[1..]
        .iter()
        .map(|a| a.direction.clone().expect("placed"))
        .collect();
    assert_eq!(at.header().axes[0].direction, None);
    let origin = at.header().space_origin.clone().expect("placed");
    for (n, position) in positions.chunks(3).enumerate() {
        let index = [n % 5, n / 5 % 4, n / 20];
        for c in 0..3 {
            let world: f64 = origin[c] + (0..3).map(|a| axes[a][c] * index[a] as f64).sum::<f64>();
            assert!((world - position[c]).abs() < 1e-5, "strand {n}");
        }
    }
}

#[test]
fn a_place_is_as_asked_for_and_never_guessed() {
    let dir = identity("outputs-place");
    let directions = |words: &[&str]| {
        let words = [
            &[
                "p.diderot",
                "-vol",
                "vol.nrrd",
                "-o-v",
                "v.nrrd",
                "-o-at",
                "at.nrrd",
            ],
            words,
        ]
        .concat();
        let output = diderotc(&dir, &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        let array = nrrd::read(&dir.join("v.nrrd")).expect("v");
        let all: Vec<_> = array
            .header()
            .axes
            .iter()
            .map(|axis| axis.direction.clone())
            .collect();
        (all, stderr(&output))
    };
    // One strand is off by one part in a hundred of a step.
    let (found, told) = directions(&["-off", "0.01", "-v"]);
    assert_eq!(found, [None, None, None]);
    assert!(told.contains("do not place the grid: strand"), "{told}");
    let none = directions(&["--place", "none"]).0;
    assert_eq!(none, [None, None, None]);
    let unit = directions(&["--place-v", "index"]).0;
    assert_eq!(unit[1], Some(vec![0.0, 1.0, 0.0]));
    for like in ["like:vol", "like:vol.nrrd", "var:at"] {
        let found = directions(&["--place", like]).0;
        assert_eq!(found[0], Some(vec![0.0, 2.0, 0.0]), "{like}");
    }
    let scaled = directions(&["--place", "spacing:0.5,0.5,2"]).0;
    assert_eq!(scaled[2], Some(vec![0.0, 0.0, 2.0]));
    for (place, reason) in [
        ("like:nothing.nrrd", "nothing.nrrd"),
        ("like:off", "not an image"),
        ("var:nothing", "no variable `nothing`"),
        ("spacing:1,2", "2 spacings are given for a grid of 3 axes"),
    ] {
        let output = diderotc(&dir, &["p.diderot", "-vol", "vol.nrrd", "--place", place]);
        assert_eq!(output.status.code(), Some(2), "{place}");
        assert!(
            stderr(&output).contains(reason),
            "{place}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_volume_that_lies_elsewhere_is_told() {
    let dir = identity("outputs-elsewhere");
    let moved = fs::read_to_string(dir.join("vol.nrrd")).expect("text");
    write(
        &dir,
        "far.nrrd",
        &moved.replace("origin: (10,20,30)", "origin: (1000,20,30)"),
    );
    for width in ["1", "4", "8", "16"] {
        let run = |file: &str| {
            let output = diderotc(&dir, &["--width", width, "p.diderot", "-vol", file]);
            assert!(output.status.success(), "{}", stderr(&output));
            stderr(&output)
        };
        let told = run("far.nrrd");
        let expected = "warning: no probe was inside the image `vol`; its world box is [997, 1000] × [20, 28] × [30, 36]";
        assert!(told.contains(expected), "{told}");
        assert!(!run("vol.nrrd").contains("no probe"));
    }
}

/// Particles that see each other, and never end.
const PARTICLES: &str = "#version 2.0
strand p (int i) {
    output vec2 pos = [real(i % 10), real(i / 10)];
    int steps = 0;
    update {
        vec2 push = [0, 0];
        foreach (p other in sphere(2.0)) { push += 0.001*(pos - other.pos); }
        pos += push + 0.0001*[1, real(i)];
        steps += 1;
    }
}
create_collection { p(i) | i in 0..99 }
";

fn signal(child: &Child, name: &str) {
    let sent = std::process::Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.expect("the command `kill`").success());
}

/// Starts a run and sends it a signal when it has written a snapshot; gives what it says and its status.
fn interrupted(dir: &Path, words: &[&str], first: &str, name: &str) -> (String, Option<i32>) {
    let _ = fs::remove_file(dir.join(first));
    let mut child = command(dir, words)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    while !dir.join(first).exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signal(&child, name);
    let status = child.wait().expect("it ends");
    let mut message = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("piped"), &mut message)
        .expect("text");
    (message, status.code())
}

#[test]
fn an_interrupted_run_keeps_a_whole_super_step() {
    let dir = directory("outputs-keep");
    write(&dir, "p.diderot", PARTICLES);
    for (workers, name) in [("1", "-INT"), ("2", "-TERM"), ("7", "-INT")] {
        let words = [
            "p.diderot",
            "--keep",
            "-s",
            "1000000",
            "-o",
            "kept.nrrd",
            "--nworkers",
            workers,
        ];
        let (message, status) = interrupted(&dir, &words, "kept-0000.nrrd", name);
        assert_eq!(status, Some(130), "{message}");
        let steps = message
            .split("interrupted after ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let steps = steps.unwrap_or_else(|| panic!("{message}")).to_string();
        assert!(
            message.contains("100 strands were not finished"),
            "{message}"
        );
        let limited = diderotc(&dir, &["p.diderot", "-l", &steps, "-o", "limited.nrrd"]);
        assert!(limited.status.success(), "{}", stderr(&limited));
        let read = |file: &str| fs::read(dir.join(file)).expect("an output");
        assert_eq!(
            read("kept.nrrd"),
            read("limited.nrrd"),
            "after {steps} super-steps on {workers} workers"
        );
        for file in names(&dir).iter().filter(|name| name.starts_with("kept")) {
            fs::remove_file(dir.join(file)).expect("written");
        }
    }
    assert!(!names(&dir).iter().any(|name| name.ends_with(".part")));
}

#[test]
fn independent_strands_keep_what_they_have() {
    let dir = directory("outputs-keep-grid");
    let text = "#version 2.0
strand s (int i) { output int n = 0; update { n += 1; if (n == 5 && i < 50) stabilize; } }
create_array { s(i) | i in 0..99 }
";
    write(&dir, "p.diderot", text);
    let words = ["p.diderot", "--keep", "-s", "1000", "-o", "n.nrrd"];
    let (message, status) = interrupted(&dir, &words, "n-1000.nrrd", "-INT");
    assert_eq!(status, Some(130), "{message}");
    assert!(
        message.contains("50 strands were not finished"),
        "{message}"
    );
    let values = numbers(&dir, "n.nrrd");
    assert!(
        values[..50].iter().all(|&n| n == 5.0) && values[50..].iter().all(|&n| n > 5.0),
        "{values:?}"
    );
}

/// A grid that grows brighter by steps, with a camera.
const STEPS: &str = "#version 2.0
input vec3 eye = [2, 0, 1];
input vec3 look = [0, 0, 0];
input vec3 up = [0, 0, 1];
input real base = 0;
strand s (int i, int j) {
    output real v = base;
    output vec3 where = eye;
    int n = 0;
    update { v += 0.25; n += 1; if (n == 3) stabilize; }
}
create_array { s(i, j) | i in 0..1, j in 0..2 }
";

#[test]
fn snapshots_have_the_format_of_the_output_and_can_be_a_film() {
    let dir = directory("outputs-film");
    write(&dir, "p.diderot", STEPS);
    let output = diderotc(
        &dir,
        &["p.diderot", "-o-v", "v.png", "-o-where", "w.txt", "-s", "2"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    for name in [
        "v-0000.png",
        "v-0002.png",
        "v-0003.png",
        "v.png",
        "w-0000.txt",
        "w-0003.txt",
        "w.txt",
    ] {
        assert!(dir.join(name).exists(), "{name}: {:?}", names(&dir));
    }
    assert!(
        stderr(&output).contains("ffmpeg -framerate 25 -pattern_type glob -i 'v-*.png'"),
        "{}",
        stderr(&output)
    );
    let grey = |name: &str| png::read(&dir.join(name)).expect("a picture").samples()[0];
    assert_eq!(
        [grey("v-0000.png"), grey("v-0002.png"), grey("v.png")],
        [0, 128, 191]
    );
    let output = diderotc(
        &dir,
        &[
            "p.diderot",
            "-o-v",
            "film.apng",
            "-o-where",
            "w.txt",
            "-s",
            "1",
            "--fps",
            "10",
        ],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("wrote film.apng (4 frames of 3 × 2, grey, 8 bit)"),
        "{}",
        stderr(&output)
    );
    let bytes = fs::read(dir.join("film.apng")).expect("a film");
    let count = |name: &[u8]| bytes.windows(4).filter(|w| *w == name).count();
    assert_eq!((count(b"fcTL"), count(b"IDAT"), count(b"fdAT")), (4, 1, 3));
    let output = diderotc(&dir, &["p.diderot", "-o-v", "film.apng"]);
    assert_eq!(output.status.code(), Some(2), "a film needs pictures");
}

#[test]
fn sweeps_run_once_for_each_value() {
    let dir = directory("outputs-sweep");
    write(&dir, "p.diderot", STEPS);
    let output = diderotc(
        &dir,
        &[
            "p.diderot",
            "-o-v",
            "v.txt",
            "-o-where",
            "w.txt",
            "--vary",
            "base=0:1:3",
        ],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let first = |name: &str| {
        let text = fs::read_to_string(dir.join(name)).expect("written");
        text.lines().next().unwrap_or_default().to_string()
    };
    assert_eq!(
        [
            first("v-0000.txt"),
            first("v-0001.txt"),
            first("v-0002.txt")
        ],
        ["0.75 0.75 0.75", "1.25 1.25 1.25", "1.75 1.75 1.75"]
    );
    // Four stations of an orbit about the vertical axis, as pictures and in numbers.
    let words = [
        "p.diderot",
        "--orbit",
        "4",
        "-o-v",
        "round.apng",
        "-o-where",
        "w.txt",
    ];
    let output = diderotc(&dir, &words);
    assert!(output.status.success(), "{}", stderr(&output));
    let eye = |n: usize| -> Vec<f64> {
        let line = first(&format!("w-000{n}.txt"));
        line.split(' ')
            .map(|w| w.parse().expect("a number"))
            .collect()
    };
    for (n, expected) in [
        [2.0, 0.0, 1.0],
        [0.0, 2.0, 1.0],
        [-2.0, 0.0, 1.0],
        [0.0, -2.0, 1.0],
    ]
    .into_iter()
    .enumerate()
    {
        for (found, expected) in eye(n).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "station {n}");
        }
    }
    assert!(
        stderr(&output).contains("round.apng (4 frames"),
        "{}",
        stderr(&output)
    );
    for words in [
        &["--vary", "nothing=0:1:3"][..],
        &["--vary", "base=0:1:3", "--orbit", "4"],
        &["--vary", "base=0,1:1,2:3"],
        &["--vary", "base=0:1:3", "-s", "1"],
    ] {
        let output = diderotc(&dir, &[&["p.diderot"], words].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{words:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn several_outputs_go_to_one_file_of_points() {
    let dir = directory("outputs-points");
    let text = "#version 2.0
strand s (int i) { output vec2 pos = [real(i), 1]; output int id = i; vec2 hidden = [0, 0]; update { stabilize; } }
create_collection { s(i) | i in 0..4 }
";
    write(&dir, "p.diderot", text);
    let output = diderotc(&dir, &["p.diderot", "-o", "p.vtp"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("wrote p.vtp (5 points)"),
        "{}",
        stderr(&output)
    );
    let output = diderotc(&dir, &["p.diderot", "-o", "p.csv"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = fs::read_to_string(dir.join("p.csv")).expect("a table");
    assert_eq!(table.lines().next(), Some("pos_0,pos_1,id"));
    assert_eq!(table.lines().last(), Some("4.0,1.0,4"));
}

#[test]
fn a_log_that_is_written_through_standard_output_stays() {
    let dir = directory("outputs-stream");
    write(&dir, "p.diderot", STEPS);
    write(&dir, "log", "before\n");
    let log = fs::File::options()
        .append(true)
        .open(dir.join("log"))
        .expect("a log");
    let status = command(
        &dir,
        &[
            "p.diderot",
            "-o-v",
            "txt:/dev/stdout",
            "-o-where",
            "w.txt",
            "-q",
        ],
    )
    .stdout(log)
    .status()
    .expect("the command runs");
    assert!(status.success());
    let text = fs::read_to_string(dir.join("log")).expect("the log");
    assert_eq!(text, "before\n0.75 0.75 0.75\n0.75 0.75 0.75\n");
}

#[test]
fn info_tells_what_files_are() {
    let dir = identity("outputs-info");
    let output = diderotc(&dir, &["info", "vol.nrrd", "p.diderot"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for line in [
        "  declare    input image(3)[] vol;",
        "[7, 10] × [20, 28] × [30, 36]",
        "0 … 59, mean 29.5, 1 %–99 % 0 … 59, no NaN",
        "  input      image(3)[] vol, required",
        "  output     vec3 at",
        "  strands    a grid of 3 axes",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let declared = text
        .lines()
        .find_map(|l| l.trim().strip_prefix("declare"))
        .expect("a declaration");
    write(
        &dir,
        "q.diderot",
        &IDENTITY.replace("input image(3)[] vol;", declared.trim()),
    );
    assert!(diderotc(&dir, &["check", "q.diderot"]).status.success());
    let output = diderotc(&dir, &["info", "--json", "vol.nrrd", "p.diderot"]);
    let objects: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    assert_eq!(objects[0]["image"]["sizes"], serde_json::json!([5, 4, 3]));
    assert_eq!(
        (
            objects[0]["values"]["min"].as_f64(),
            objects[0]["values"]["max"].as_f64()
        ),
        (Some(0.0), Some(59.0))
    );
    assert_eq!(objects[1]["inputs"][1]["default"], "0");
    assert_eq!(objects[1]["outputs"][1]["type"], "vec3");
    let header = stdout(&diderotc(&dir, &["info", "--header", "vol.nrrd"]));
    assert!(
        header.contains("5 × 4 × 3") && !header.contains("mean"),
        "{header}"
    );
    assert_eq!(
        diderotc(&dir, &["info", "nothing.nrrd"]).status.code(),
        Some(1)
    );
}
