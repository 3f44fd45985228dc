//! The places of outputs and images in the world.

use crate::commands::{diderotc, directory, numbers, stderr, write};
use runtime::nrrd;
use std::fs;

/// Samples a volume at every voxel of a turned grid.
pub(crate) const IDENTITY: &str = "#version 2.0
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

pub(crate) fn identity(name: &str) -> std::path::PathBuf {
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
            array.header().space.clone(),
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

/// Far from the origin, positions in index space are rounded by parts of a sample.
#[test]
fn intervals_contain_values_far_from_the_origin() {
    let dir = directory("ranges-far-away");
    let samples: Vec<String> = (0..400).map(|i| (i * 7919 % 101).to_string()).collect();
    let text = format!(
        "NRRD0004\ntype: float\ndimension: 1\nsizes: 400\nspace dimension: 1\nspace directions: (0.001)\nspace origin: (4000)\n\
         encoding: ascii\n\n{}\n",
        samples.join(" ")
    );
    write(&dir, "line.nrrd", &text);
    write(
        &dir,
        "p.diderot",
        "#version 2.0
input image(1)[] line;
field#0(1)[] F = tent ⊛ line;
strand place (int i) {
    real x = 4000 + 0.0004*i;
    real[2] interval = range(F, x, x);
    output int beyond = 1 if F(x) < interval[0] || F(x) > interval[1] else 0;
    update { stabilize; }
}
create_array { place(i) | i in 0..999 }
",
    );
    for options in [&[][..], &["--double"]] {
        let words = [
            &["p.diderot", "-line", "line.nrrd", "-o", "beyond.txt"],
            options,
        ]
        .concat();
        let output = diderotc(&dir, &words);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = fs::read_to_string(dir.join("beyond.txt")).expect("text");
        assert_eq!(text.matches('1').count(), 0, "{options:?}: {text}");
        assert!(text.matches('0').count() >= 1000, "{text}");
    }
}
