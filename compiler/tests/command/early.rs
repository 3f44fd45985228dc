//! Files that are written while strands run are those that are written when all have ended.

use crate::commands::{diderotc, directory, stderr, write};
use std::{fs, path::Path};

/// Three outputs of a grid that is long enough for several parts; strands have no positions, so headers are known before
/// these run.
const GRID: &str = "#version 2.0
strand s (int i, int j) {
    output vec3 v = [0, 0, 0];
    output int n = i*j;
    output bool odd = true;
    update {
        v = [real(i)/7, real(j)*0.3, sqrt(real(i*j))];
        n = i - j;
        stabilize;
    }
}
create_array { s(i, j) | i in 0..399, j in 0..499 }
";

fn run(dir: &Path, name: &str, options: &[&str]) -> [Vec<u8>; 2] {
    let [v, n] = ["v", "n"].map(|output| format!("{name}-{output}.nrrd"));
    let files = ["p.diderot", "-o-v", &v, "-o-n", &n, "-o-odd", "odd.nrrd"];
    let output = diderotc(dir, &[&files[..], options].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    [v, n].map(|file| fs::read(dir.join(file)).expect("the file"))
}

#[test]
fn files_are_the_same_however_and_by_whomever_they_are_written() {
    let dir = directory("early");
    write(&dir, "p.diderot", GRID);
    for further in [&[][..], &["--place", "spacing:2,3"]] {
        // With a limit, everything is written at the end.
        let late = run(&dir, "late", &[&["-l", "10"], further].concat());
        for workers in ["1", "3"] {
            let early = run(&dir, "early", &[&["-n", workers], further].concat());
            assert!(early == late, "{workers} workers, {further:?}");
        }
    }
    let parts = fs::read_dir(&dir).expect("the directory");
    let hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    assert_eq!(
        parts
            .filter(|entry| hidden(entry.as_ref().unwrap()))
            .count(),
        0
    );
}
