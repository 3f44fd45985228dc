//! Files that all runs of a sweep make together: contact sheets, and films that an encoder writes.

use crate::{
    commands::{command, diderotc, directory, names, stderr, write},
    repeated::STEPS,
    sweeps::{SUM, image},
};
use runtime::png;
use std::{fs, path::Path, process::Output};

#[test]
fn a_contact_sheet_shows_all_pictures_and_crosses_for_those_that_failed() {
    let dir = directory("together-sheet");
    write(&dir, "p.diderot", SUM);
    image(&dir, "a.nrrd", 0.0);
    image(&dir, "c.nrrd", 1.0);
    write(&dir, "b.nrrd", "NRRD0004\nbroken\n");
    let words = [
        "p.diderot",
        "--each",
        "vol=?.nrrd",
        "--vary",
        "base=0:0.5:2",
        "-o",
        "{vol}-{base}.png",
        "--contact-sheet",
        "sheet.png",
    ];
    let output = diderotc(&dir, &words);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("wrote sheet.png (4 pictures, "), "{told}");
    assert!(told.contains("2 of 6 runs failed"), "{told}");
    assert_eq!(told.matches("error: -vol b.nrrd").count(), 1, "{told}");
    let sheet = png::read(&dir.join("sheet.png")).expect("a picture");
    assert_eq!(sheet.channels(), 3);
    let at = |x: usize, y: usize| {
        let at = (y * sheet.width() + x) * 3;
        [0, 1, 2].map(|k| sheet.samples()[at + k])
    };
    // A row for each file, a column for each number; two lines of 18 pixels under pictures of 3 × 2 pixels.
    let caption = "base=0.5".len() * 12;
    let (columns, rows) = (caption + 8, 2 + 4 + 2 * 18 + 8);
    assert_eq!(
        (sheet.width(), sheet.height()),
        (2 * columns + 8, 3 * rows + 8)
    );
    assert_eq!(at(8, 8), [0; 3], "the first picture");
    assert_eq!(at(8 + columns, 8), [128; 3], "the second");
    assert_eq!(at(8, 8 + 2 * rows), [255; 3], "the last file");
    let [red, green, _] = at(8, 8 + rows);
    assert!(red > green, "the cross of the broken file");
    // As a page it has the same pictures and captions.
    let mut on_page = words;
    on_page[8] = "sheet.svg";
    let output = diderotc(&dir, &on_page);
    let told = stderr(&output);
    assert!(told.contains("wrote sheet.svg (4 pictures)"), "{told}");
    let page = fs::read_to_string(dir.join("sheet.svg")).expect("a page");
    assert_eq!(page.matches("<image ").count(), 4);
    assert_eq!(page.matches("base=0.5").count(), 3);
    // A sheet is refused where it cannot be made.
    for (words, part) in [
        (&["-vol", "a.nrrd"][..], "needs something that varies"),
        (
            &["-vol", "a.nrrd", "--vary", "base=0:1:2", "-o", "sheet.png"],
            "",
        ),
    ] {
        let words = [&["p.diderot", "--contact-sheet", "s.png"], words].concat();
        let output = diderotc(&dir, &words);
        let is_wrong = !part.is_empty();
        assert_eq!(output.status.code(), Some(if is_wrong { 2 } else { 0 }));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    for (words, part) in [
        (
            &["--contact-sheet", "s.tif"][..],
            "ends in .png, .svg, .pdf",
        ),
        (&["--contact-sheet", "none/s.png"], "there is no directory"),
        (
            &[
                "--contact-sheet",
                "v.png",
                "-o",
                "v-{base}.png",
                "-print",
                "v.png",
            ],
            "would replace",
        ),
    ] {
        let start = ["p.diderot", "-vol", "a.nrrd", "--vary", "base=0:1:2"];
        let output = diderotc(&dir, &[&start[..], words].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn a_contact_sheet_shows_one_output() {
    let dir = directory("together-outputs");
    write(&dir, "p.diderot", STEPS);
    let words = [
        "p.diderot",
        "--vary",
        "base=0:1:2",
        "--contact-sheet",
        "s.png",
    ];
    let output = diderotc(&dir, &words);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("for one of -o-v, -o-where"),
        "{}",
        stderr(&output)
    );
    let output = diderotc(&dir, &[&words[..], &["-o-v", "v.png"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(dir.join("s.png").exists(), "{}", stderr(&output));
}

/// Runs the command with a program `ffmpeg` that does this.
#[cfg(unix)]
fn with_ffmpeg(dir: &Path, script: Option<&str>, words: &[&str]) -> Output {
    use std::os::unix::fs::PermissionsExt;
    let programs = dir.join("bin");
    let _ = fs::remove_dir_all(&programs);
    fs::create_dir_all(&programs).expect("a directory");
    if let Some(script) = script {
        let file = programs.join("ffmpeg");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a script");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(file, executable).expect("an executable");
    }
    let path = std::env::join_paths([programs.as_path(), Path::new("/bin"), Path::new("/usr/bin")]);
    let path = match script {
        Some(_) => path.expect("a path"),
        None => programs.into_os_string(),
    };
    let mut command = command(dir, words);
    command
        .env("PATH", path)
        .output()
        .expect("the command runs")
}

#[test]
#[cfg(unix)]
fn frames_go_through_ffmpeg_and_nothing_half_written_is_left() {
    let dir = directory("together-mp4");
    write(&dir, "p.diderot", STEPS);
    let words = [
        "p.diderot",
        "--vary",
        "base=0:1:3",
        "-o-where",
        "w.txt",
        "-o-v",
        "film.mp4",
    ];
    // The last word is the file.
    let copies = "for file; do :; done; cat > \"$file\"";
    let output = with_ffmpeg(&dir, Some(copies), &words);
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(
        told.contains("wrote film.mp4 (3 frames of 3 × 2, grey, 8 bit)"),
        "{told}"
    );
    let film = fs::read(dir.join("film.mp4")).expect("a film");
    assert!(film.starts_with(b"YUV4MPEG2 W3 H2 F25000:1000"));
    assert_eq!(film.windows(6).filter(|w| w == b"FRAME\n").count(), 3);
    fs::remove_file(dir.join("film.mp4")).expect("a film");
    // Snapshots of one run.
    let snapshots = [
        "p.diderot",
        "-s",
        "1",
        "-o-where",
        "w.txt",
        "-o-v",
        "film.mp4",
    ];
    let output = with_ffmpeg(&dir, Some(copies), &snapshots);
    assert!(
        stderr(&output).contains("wrote film.mp4 (4 frames"),
        "{}",
        stderr(&output)
    );
    fs::remove_file(dir.join("film.mp4")).expect("a film");
    for (script, status, part) in [
        (
            Some("cat > /dev/null; echo no such codec >&2; exit 1"),
            1,
            "ffmpeg failed: no such codec",
        ),
        (Some("exit 3"), 1, "ffmpeg failed"),
        (
            None,
            2,
            "film.mp4: this needs the program ffmpeg, which is not on the PATH; a film with the suffix .y4m",
        ),
    ] {
        let output = with_ffmpeg(&dir, script, &words);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{script:?}: {told}");
        assert!(told.contains(part), "{script:?}: {told}");
        let left = names(&dir).into_iter().filter(|name| name.contains("mp4"));
        assert_eq!(left.collect::<Vec<_>>(), [""; 0], "{script:?}");
    }
    let output = with_ffmpeg(&dir, Some(copies), &[&words[..6], &["mp4:-"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
