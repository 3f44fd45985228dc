//! `diderotc compare`: numbers, exit statuses, and images of differences.

use crate::commands::{diderotc, directory, names, numbers, stderr, stdout, write};
use runtime::png;
use std::path::Path;

fn image(dir: &Path, name: &str, samples: &str) {
    let header = "NRRD0004\ntype: double\ndimension: 2\nspace dimension: 2\nsizes: 3 2\nspace directions: (2,0) (0,2)\n\
                  space origin: (10,20)\nencoding: text";
    write(dir, name, &format!("{header}\n\n{samples}\n"));
}

#[test]
fn the_status_says_whether_images_are_equal() {
    let dir = directory("compare-status");
    image(&dir, "a.nrrd", "1 2 3 4 5 nan");
    image(&dir, "b.nrrd", "1 2.5 3 4 3 nan");
    image(&dir, "c.nrrd", "1 2 3 4 5 6");
    let same = diderotc(&dir, &["compare", "a.nrrd", "a.nrrd"]);
    assert_eq!(same.status.code(), Some(0), "{}", stderr(&same));
    assert_eq!(
        stdout(&same),
        "a.nrrd and a.nrrd are equal: 3 × 2, 6 samples\n"
    );
    let other = diderotc(&dir, &["compare", "a.nrrd", "b.nrrd"]);
    assert_eq!(other.status.code(), Some(1), "{}", stderr(&other));
    assert_eq!(
        stdout(&other),
        "a.nrrd and b.nrrd differ: 3 × 2, 6 samples
  largest    2 at index [1, 1], world [12, 22]: 5 and 3
  mean       0.416667
  rms        0.841625
  differing  2 of 6 samples (33.3333 %)
"
    );
    for (tolerance, status) in [("2", 0), ("1.9", 1), ("0.1", 1)] {
        let words = ["compare", "a.nrrd", "b.nrrd", "--tolerance", tolerance];
        let output = diderotc(&dir, &words);
        assert_eq!(output.status.code(), Some(status), "{}", stdout(&output));
    }
    // NaN in one of them exceeds any tolerance.
    let words = ["compare", "a.nrrd", "c.nrrd", "--tolerance", "100"];
    let output = diderotc(&dir, &words);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("in one image only at 1 of 6 samples"));
}

#[test]
fn images_that_cannot_be_compared_are_an_error() {
    let dir = directory("compare-errors");
    image(&dir, "a.nrrd", "1 2 3 4 5 6");
    let header = "NRRD0004\ntype: float\ndimension: 3\nsizes: 2 3 3\nkinds: vector domain domain\nencoding: text\n\n";
    write(&dir, "b.nrrd", &format!("{header}{}\n", "1 ".repeat(18)));
    write(&dir, "c.txt", "nothing");
    let output = diderotc(&dir, &["compare", "a.nrrd", "b.nrrd"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: a.nrrd has 3 × 2 samples, and b.nrrd has 3 × 3 samples of 2 components\n"
    );
    for words in [
        &["a.nrrd", "none.nrrd"][..],
        &["a.nrrd", "c.txt"],
        &["a.nrrd"],
        &["a.nrrd", "a.nrrd", "--tolerance", "-1"],
        &["a.nrrd", "a.nrrd", "-o", "none/d.png"],
        &["a.nrrd", "a.nrrd", "-o", "a.nrrd"],
    ] {
        let output = diderotc(&dir, &[&["compare"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
    assert_eq!(names(&dir), ["a.nrrd", "b.nrrd", "c.txt"]);
}

#[test]
fn the_difference_is_a_picture_or_an_array_at_the_same_place() {
    let dir = directory("compare-files");
    image(&dir, "a.nrrd", "1 2 3 4 5 6");
    image(&dir, "b.nrrd", "1 2.5 3 4 3 6");
    let words = ["compare", "a.nrrd", "b.nrrd", "-o"];
    let output = diderotc(&dir, &[&words[..], &["d.nrrd"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(numbers(&dir, "d.nrrd"), [0.0, 0.5, 0.0, 0.0, 2.0, 0.0]);
    let info = stdout(&diderotc(&dir, &["info", "d.nrrd"]));
    assert!(info.contains("[10, 14] × [20, 22]"), "{info}");
    let output = diderotc(&dir, &[&words[..], &["d.png"]].concat());
    assert!(
        stderr(&output)
            .contains("wrote d.png (3 × 2, RGB, 8 bit)\nnote: d.png: viridis from 0 to 2\n"),
        "{}",
        stderr(&output)
    );
    let picture = png::read(&dir.join("d.png")).expect("a picture");
    let pixel = |n: usize| &picture.samples()[3 * n..3 * n + 3];
    assert_eq!(pixel(0), pixel(2));
    assert!(pixel(4)[1] > pixel(1)[1] && pixel(1)[1] > pixel(0)[1]);
}
