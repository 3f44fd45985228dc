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
        let expected = "warning: no probe was inside the image `vol`; its world box is [997, 1000] × [20, 28] × [30, 36]; \
            the positions of the probes were in [7, 10] × [20, 28] × [30, 36]";
        assert!(told.contains(expected), "{told}");
        assert!(!run("vol.nrrd").contains("no probe"));
    }
}

/// A projection of a volume that is only read inside, and of another volume too if the input `both` is true.
const LOOK: &str = "#version 2.0
input image(3)[] vol (\"a volume\");
input image(3)[] other (\"another\");
input bool both = true;
input real first = 0;
field#2(3)[] F = bspln3 ⊛ vol;
field#0(3)[] G = tent ⊛ other;
strand ray (int i, int j) {
    real t = first;
    output real most = 0;
    update {
        if (t > 8) { stabilize; }
        vec3 x = [10.0 - 0.5*i, 20.0 + 0.5*j, 30.0 + t];
        if (inside(x, F)) { most = max(most, F(x)); }
        if (both) { if (inside(x, G)) { most += G(x); } }
        t += 0.5;
    }
}
create_array { ray(i, j) | i in 0..8, j in 0..15 }
";

#[test]
fn a_volume_that_no_position_is_inside_is_told_also_behind_inside() {
    let dir = identity("outputs-look");
    write(&dir, "look.diderot", LOOK);
    let text = fs::read_to_string(dir.join("vol.nrrd")).expect("text");
    let elsewhere = text.replace("origin: (10,20,30)", "origin: (1000,20,30)");
    write(&dir, "far.nrrd", &elsewhere);
    // The kernel needs four samples along every axis.
    let samples: Vec<String> = (0..216).map(|i| i.to_string()).collect();
    let wide = text.split("\n\n").next().expect("a header");
    let wide = wide.replace("sizes: 5 4 3", "sizes: 6 6 6");
    write(
        &dir,
        "wide.nrrd",
        &format!("{wide}\n\n{}\n", samples.join(" ")),
    );
    for options in [
        &["--width", "1"][..],
        &["--width", "16"],
        &["--isa", "none"],
        &["--isa", "avx2"],
        &["--double"],
    ] {
        let told = |words: &[&str]| {
            let words = [options, &["look.diderot"], words].concat();
            let output = diderotc(&dir, &words);
            assert!(output.status.success(), "{words:?}: {}", stderr(&output));
            stderr(&output)
        };
        let warning = "warning: no probe was inside the image";
        let box_ = "its world box is [997, 1000] × [20, 28] × [30, 36]; the positions of the probes were in";
        let rays = "[6, 10] × [20, 27.5] × [30, 38]";
        let far = told(&["-vol", "far.nrrd", "-other", "vol.nrrd"]);
        assert!(
            far.contains(&format!("{warning} `vol`; {box_} {rays}")),
            "{far}"
        );
        assert!(!far.contains("`other`"), "{far}");
        let other = told(&["-vol", "wide.nrrd", "-other", "far.nrrd"]);
        assert!(
            other.contains(&format!("{warning} `other`; {box_} {rays}")),
            "{other}"
        );
        assert!(!other.contains("`vol`"), "{other}");
        // The same in an initial value, and of an image that is smoothed.
        let slice = "#version 2.0
input image(3)[] vol (\"a volume\");
field#0(3)[] F = tent ⊛ blur(vol, 1);
strand pixel (int i) {
    vec3 x = [10.0 - 0.5*i, 20.0, 30.0];
    output real v = F(x) if inside(x, F) else 0;
    update { stabilize; }
}
create_array { pixel(i) | i in 0..8 }
";
        write(&dir, "slice.diderot", slice);
        let words = [options, &["slice.diderot", "-vol", "far.nrrd"]].concat();
        let output = diderotc(&dir, &words);
        let sliced = stderr(&output);
        assert!(
            sliced.contains(&format!(
                "{warning} `vol`; {box_} [6, 10] × [20, 20] × [30, 30]"
            )),
            "{sliced}"
        );
        // An image that is not wanted is not missed.
        let unwanted = told(&["-vol", "wide.nrrd", "-other", "far.nrrd", "-both", "false"]);
        assert!(!unwanted.contains(warning), "{unwanted}");
        let none = told(&["-vol", "wide.nrrd", "-other", "vol.nrrd"]);
        assert!(!none.contains(warning), "{none}");
    }
}
