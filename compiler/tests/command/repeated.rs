//! Several pictures of one program: snapshots, films, sweeps over inputs.

use crate::commands::{diderotc, directory, names, stderr, write};
use runtime::png;
use std::fs;

/// A grid that grows brighter by steps, with a camera.
pub(crate) const STEPS: &str = "#version 2.0
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
        &["--vary", "base=0:1:3", "--orbit", "4", "--zip"],
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
