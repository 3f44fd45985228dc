//! Warnings that no probe was inside an image, with the positions of the probes.

use crate::{
    commands::{command, diderotc, stderr, write},
    places::identity,
};
use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

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

/// A projection along rays from points, which is only read inside.
const FROM_POINTS: &str = "#version 2.0
input image(3)[] vol;
input vec3[] points;
input real away = 0;
field#0(3)[] F = tent ⊛ vol;
strand point (int i) {
    vec3 x = points[i] + [away, 0, 0];
    output real v = F(x) if inside(x, F) else 0;
    update { stabilize; }
}
create_collection { point(i) | i in 0..length(points) - 1 }
";

const NOT_INSIDE: &str =
    "no probe was inside the image `vol`; its world box is [7, 10] × [20, 28] × [30, 36]";

#[test]
fn runs_of_a_sweep_are_not_told_the_positions_of_one_as_those_of_all() {
    let dir = identity("outputs-missed-in-a-sweep");
    write(&dir, "p.diderot", FROM_POINTS);
    write(&dir, "points.txt", "8 21 99\n9 22 98\n");
    let words = ["p.diderot", "-vol", "vol.nrrd", "-points", "points.txt"];
    let run = |more: &[&str]| {
        let output = diderotc(&dir, &[&words, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let alone = run(&[]);
    let expected = "; the positions of the probes were in [8, 9] × [21, 22] × [98, 99]";
    assert!(
        alone.contains(&format!("{NOT_INSIDE}{expected}")),
        "{alone}"
    );
    let several = run(&["--vary", "away=0;50"]);
    let expected = "; the positions of some probes were in [58, 59] × [21, 22] × [98, 99]";
    assert!(
        several.contains(&format!("{NOT_INSIDE}{expected}")),
        "{several}"
    );
}

/// A pipe gives its contents once, and opening it again would take forever.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_read_again_for_a_warning() {
    let dir = identity("outputs-missed-from-a-pipe");
    write(&dir, "p.diderot", FROM_POINTS);
    let made = Command::new("mkfifo").arg(dir.join("points.txt")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let words = ["p.diderot", "-vol", "vol.nrrd", "-points", "points.txt"];
    let mut child = command(&dir, &words)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    fs::write(dir.join("points.txt"), "8 21 99\n9 22 98\n").expect("a pipe");
    for _ in 0..600 {
        if child.try_wait().expect("a process").is_some() {
            let told = stderr(&child.wait_with_output().expect("its output"));
            assert!(
                told.contains(NOT_INSIDE) && !told.contains("positions"),
                "{told}"
            );
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().expect("a process that waits");
    panic!("the command waits for the pipe");
}
