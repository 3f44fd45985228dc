//! What an interrupt leaves behind: nothing, or with `--keep` what a run with a limit would have written.

use crate::commands::{command, diderotc, directory, interrupted, names, numbers, stderr, write};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

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

#[test]
fn an_interrupted_run_writes_no_output() {
    let dir = directory("interrupt");
    let text = "#version 2.0
strand s (int i) { output int n = 0; update { n += 1; } }
create_array { s(i) | i in 0..99 }
";
    write(&dir, "p.diderot", text);
    let words = ["p.diderot", "-s", "1000", "-o", "out.nrrd"];
    let (message, status) = interrupted(&dir, &words, "out-0000.nrrd", "-INT");
    assert_eq!(status, Some(130), "{message}");
    assert!(
        message.contains("interrupted") && message.contains("--keep"),
        "{message}"
    );
    let left = names(&dir);
    let is_output = |name: &String| name == "out.nrrd" || name.ends_with(".part");
    assert!(!left.iter().any(is_output), "{message}");
}

/// Starts a run, sends it SIGTERM after some wait, and returns its messages and its status.
fn ended_after(dir: &Path, words: &[&str], wait: impl FnOnce()) -> (String, Option<i32>) {
    let child = command(dir, words)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    wait();
    // It may have ended by itself.
    let _ = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    let output = child.wait_with_output().expect("a process");
    (stderr(&output), output.status.code())
}

#[test]
fn nothing_is_left_whenever_a_run_is_told_to_end() {
    let dir = directory("interrupt-early");
    let text = "#version 2.0
strand s (int i) { output int n = 0; update { n += 1; print(\"x\"); } }
create_array { s(i) | i in 0..99 }
";
    write(&dir, "p.diderot", text);
    for step in 0..40 {
        let words = ["p.diderot", "-print", "p.txt", "-o", "n.nrrd"];
        let pause = Duration::from_millis(2 * step);
        let (message, _) = ended_after(&dir, &words, || std::thread::sleep(pause));
        assert_eq!(names(&dir), ["p.diderot"], "after {pause:?}: {message}");
    }
}

#[test]
fn an_interrupt_before_the_strands_run_says_so() {
    let dir = directory("interrupt-before");
    // A stream that never ends.
    let made = Command::new("mkfifo").arg(dir.join("fifo")).status();
    assert!(made.expect("the command `mkfifo`").success());
    let text = "#version 2.0
input real[] numbers;
strand s (int i) { output real n = numbers[0] + i; update { stabilize; } }
create_array { s(i) | i in 0..9 }
";
    write(&dir, "p.diderot", text);
    let words = ["p.diderot", "--keep", "-numbers", "fifo"];
    // Opening the stream for writing waits until the run reads it.
    let mut writer = None;
    let wait = || writer = fs::File::options().write(true).open(dir.join("fifo")).ok();
    let (message, status) = ended_after(&dir, &words, wait);
    assert!(writer.is_some());
    assert_eq!(status, Some(130), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(
        message.contains("interrupted before the strands ran"),
        "{message}"
    );
}
