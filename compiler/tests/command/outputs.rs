//! What runs write: checked before they begin, and told about.

use crate::commands::{command, diderotc, directory, names, stderr, stdout, write};
use crate::places::{IDENTITY, identity};
use crate::repeated::STEPS;
use runtime::png;
use std::fs;

#[test]
fn all_that_is_wrong_with_the_outputs_is_told_before_the_run() {
    let dir = directory("outputs-problems");
    // The program never ends, so every message is from before the run.
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
        "  strands    a grid: k, j, i",
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
