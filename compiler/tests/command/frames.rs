//! Grids with an axis of time: the files that a program writes are read as images over time.

use crate::commands::{diderotc, directory, stderr, write};
use std::fs;

/// A grid of frames, by the number of axes of space: samples tell their indices.
fn writer(dim: usize) -> String {
    let iterators = &["frame", "k", "j", "i"][..];
    let used = [&iterators[..1], &iterators[4 - dim..]].concat();
    let parameters: Vec<String> = used.iter().map(|name| format!("int {name}")).collect();
    let ranges: Vec<String> = used.iter().map(|name| format!("{name} in 0..3")).collect();
    let sum = if dim == 3 {
        "i + 4*j + 16*k"
    } else {
        "i + 4*j"
    };
    format!(
        "#version 2.0
strand S ({}) {{ output real v = {sum} + 100*frame; update {{ stabilize; }} }}
create_array {{ S({}) | {} }}
",
        parameters.join(", "),
        used.join(", "),
        ranges.join(", ")
    )
}

/// Probes at the sample 1, 1, … at some times.
fn reader(dim: usize) -> String {
    let position = ["[1, 1]", "[1, 1, 1]"][dim - 2];
    format!(
        "#version 2.0
input image({dim},time)[] img;
field#0({dim},time)[] F = tent ⊛ img;
strand S (int i) {{
    output real v = F({position}, 10 + 0.5*i);
    update {{ stabilize; }}
}}
create_array {{ S(i) | i in 0..4 }}
"
    )
}

#[test]
fn grids_of_frames_are_read_as_images_over_time() {
    let dir = directory("grids-of-frames");
    for dim in [2, 3] {
        write(&dir, "write.diderot", &writer(dim));
        write(&dir, "read.diderot", &reader(dim));
        let run = |words: &[&str]| {
            let output = diderotc(&dir, words);
            let said = stderr(&output);
            assert!(output.status.success(), "{words:?}: {said}");
            said
        };
        let values = |words: &[&str]| -> Vec<f64> {
            run(&[&["read.diderot", "-img", "g.nrrd", "-o", "v.txt"], words].concat());
            let text = fs::read_to_string(dir.join("v.txt")).expect("an output");
            let numbers = text.split_whitespace();
            numbers.map(|n| n.parse().expect("a number")).collect()
        };
        let sample = if dim == 3 { 21.0 } else { 5.0 };
        let frames = |frames: [f64; 5]| frames.map(|frame| sample + 100.0 * frame);
        // Frames at 10, 10.5, 11 and 11.5 s; after the last one nothing changes.
        let known = frames([0.0, 1.0, 2.0, 3.0, 3.0]);
        let spacing = [
            "box:-0.5,-0.5,9.75,3.5,3.5,11.75",
            "box:-0.5,-0.5,-0.5,9.75,3.5,3.5,3.5,11.75",
        ];
        run(&["write.diderot", "--place", spacing[dim - 2], "-o", "g.nrrd"]);
        assert_eq!(values(&[]), known, "{dim} axes of space, placed");
        run(&["write.diderot", "-o", "g.nrrd"]);
        assert_eq!(values(&["--times", "10:0.5"]), known);
        assert_eq!(
            values(&["--times-img", "9:1"]),
            frames([1.0, 1.5, 2.0, 2.5, 3.0])
        );
        // Linear between the times of a table; numbers of a text have seven digits.
        write(&dir, "times.txt", "9.5 10.5 11 20");
        let found = values(&["--times-img", "times.txt"]);
        let wanted = frames([0.5, 1.0, 2.0, 2.0 + 0.5 / 9.0, 2.0 + 1.0 / 9.0]);
        let off = found.iter().zip(wanted).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-4, "{found:?}");
    }
}
