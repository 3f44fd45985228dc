//! The gallery: its page is written from its programs, and its pictures, an eighth as large and from small data, are those that
//! were looked at, bit for bit.
//!
//! The head of a program of the gallery has a title, paragraphs, and further to the right the commands that make its picture; `docs/gallery/rebuild` runs
//! them, with data that scripts in `data/make` fetch or simulate. `data/gallery` has small files of the same names.

use crate::{diderotc, picture, root, updates};
use std::{fmt::Write, fs, path::Path};

/// The exhibits in their order: the program, and the parts of it that matter most, each from the first line that begins so.
#[rustfmt::skip]
const SHOWN: &[(&str, &[(&str, usize)])] = &[
    ("crest", &[("field#4(3)[] F", 7), ("// The normal has", 5)]),
    ("brain", &[("vec3 x = from", 13)]),
    ("vortices", &[("field#2(3)[3] V", 2), ("real hit = crossing", 7)]),
    ("tubes", &[("field#2(3)[3] V", 2), ("output tensor[3,3][] triangles", 2)]),
    ("orbital", &[("// The orbital 2p", 6), ("vec3 y = from + met", 5)]),
    ("particles", &[("// Onto the surface", 5), ("// Away from the others", 10)]),
    ("cortex", &[("field#2(3)[] F", 2), ("vec3 y = from", 7)]),
    ("edges", &[("field#4(3)[] F", 2), ("// A secant step", 6)]),
    ("glyphs", &[("mat3 D = T(middle)", 11)]),
    ("wake", &[("ahead = midpointStep2", 3), ("// Averaging narrows", 7)]),
    ("corners", &[("field#4(2)[3] colors", 4), ("// Uphill", 6)]),
    ("beam", &[("// Airy's function", 5), ("real[2] s", 7)]),
    ("bulb", &[("function real around", 3), ("mat3 D = identity", 8)]),
    ("ftle", &[("vec3[49] x {", 8), ("// The gradient of the flow map", 3)]),
    ("gyre-dye", &[("// The place of a particle", 8), ("real h = min", 11)]),
    ("gyre-ftle", &[("field#1(2,time#1)[2] V", 1), ("foreach (int n in 0..steps-1)", 11)]),
    ("gyre-force", &[("field#1(2,time#1)[2] V", 3)]),
    ("activity", &[("function vec3 fitted", 10), ("real now = F(x, t)", 4)]),
    ("swirls", &[("field#7(3)[3,3] stretch", 3), ("foreach (int n in 0..3)", 6)]),
    ("load", &[("field#3(3)[3,3] strain", 4)]),
    ("grain", &[("axis space", 2), ("field#2(space)[color] img", 2)]),
    ("alike", &[("real[33,33] D {", 8)]),
    ("link", &[("fem#1(3)[3] u", 4), ("function mat3 stress", 7)]),
    ("tangle", &[("field#1(3)[] F", 2), ("real hit = crossing", 3)]),
    ("around", &[("field#1(2)[2] V", 1), ("real h = step", 4)]),
    ("waves", &[("field#1(2)[] u", 1), ("function vec2 way", 3), ("real v = u(x)", 4)]),
    ("cubic", &[("function real highest", 5), ("function real border", 2)]),
];

/// How much smaller the tests' pictures are.
const SMALLER: usize = 8;

/// The head of a program of the gallery.
struct Head {
    title: String,
    paragraphs: Vec<String>,
    commands: Vec<String>,
}

fn program(name: &str) -> String {
    let file = root().join(format!("programs/gallery/{name}.diderot"));
    fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn head(name: &str) -> Head {
    let text = program(name);
    let comments = text.lines().skip(1).map_while(|l| l.strip_prefix("//"));
    let (mut paragraphs, mut commands) = (vec![String::new()], Vec::<String>::new());
    let mut goes_on = false;
    for line in comments {
        if let Some(command) = line.strip_prefix("   ") {
            let part = command.trim().trim_end_matches('\\').trim_end();
            match commands.last_mut() {
                Some(last) if goes_on => *last += &format!(" {part}"),
                _ => commands.push(part.to_owned()),
            }
            goes_on = command.ends_with('\\');
        } else if line.trim().is_empty() {
            paragraphs.push(String::new());
        } else if let Some(last) = paragraphs.last_mut() {
            // The rows of a table stay lines.
            let between = match line.trim().starts_with('|') {
                _ if last.is_empty() => "",
                true => "\n",
                false => " ",
            };
            *last += &format!("{between}{}", line.trim());
        }
    }
    paragraphs.retain(|p| !p.is_empty());
    let title = paragraphs.remove(0);
    Head {
        title: title.trim_end_matches('.').to_owned(),
        paragraphs,
        commands,
    }
}

/// This many lines of a program, moved to the left as far as all of them go.
fn lines(name: &str, begins: &str, count: usize) -> String {
    let text = program(name);
    let from = text
        .lines()
        .position(|line| line.trim_start().starts_with(begins))
        .unwrap_or_else(|| panic!("{name} has no line `{begins}`"));
    let part: Vec<&str> = text.lines().skip(from).take(count).collect();
    let filled = part.iter().filter(|line| !line.trim().is_empty());
    let left = filled.map(|line| line.len() - line.trim_start().len());
    let left = left.min().unwrap_or(0);
    let moved = part.iter().map(|line| line.get(left..).unwrap_or(""));
    moved.map(|line| format!("{line}\n")).collect()
}

/// What the last rebuild took.
fn seconds(name: &str) -> String {
    let times =
        fs::read_to_string(root().join("docs/gallery/times.txt")).expect("the times are kept");
    let mut found = times.lines().filter_map(|line| line.split_once(' '));
    let (_, seconds) = found.find(|(n, _)| *n == name).unwrap_or_else(|| {
        panic!("{name} has no time: docs/gallery/rebuild {name}");
    });
    seconds.to_owned()
}

#[test]
fn the_page_of_the_gallery_shows_its_programs() {
    let mut page = String::from(
        "# Gallery\n\nEvery picture is 1200 pixels wide and was computed at twice that size. With each picture are the most important lines of its program, the commands that make it from \
         fetched or simulated data, and the time that `diderotc` takes on one core. `docs/gallery/rebuild` runs all these commands. \
         The programs are in `programs/gallery`; `data/README.md` has the sources and licences of the data.\n",
    );
    for (name, parts) in SHOWN {
        let head = head(name);
        let parts = parts
            .iter()
            .map(|(begins, count)| lines(name, begins, *count));
        let parts: Vec<String> = parts.collect();
        // The rest of a long title is a text below the picture.
        let title = head.title.split(':').next().unwrap_or_default();
        let _ = write!(
            page,
            "\n## {title}\n\n![{title}](../../gallery/{name}.png)\n"
        );
        if title != head.title {
            let _ = write!(page, "\n{}.\n", head.title);
        }
        for paragraph in &head.paragraphs {
            let _ = write!(page, "\n{paragraph}\n");
        }
        let _ = write!(
            page,
            "\n```diderot\n{}```\n\n[The whole program](../../../programs/gallery/{name}.diderot)\n\n```sh\n{}\n```\n\nTime: {} s.\n",
            parts.join("\n"),
            head.commands.join("\n"),
            seconds(name),
        );
        let film = format!("docs/gallery/{name}.apng");
        if head.commands.iter().any(|command| command.contains(&film)) {
            let _ = write!(page, "\n![{title}, moving](../../../{film})\n");
        }
    }
    let file = root().join("docs/book/src/gallery.md");
    if updates() {
        fs::write(&file, &page).expect("the page can be written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == page,
        "docs/book/src/gallery.md is out of date: run the test with UPDATE_DOCS=1"
    );
}

#[test]
fn every_program_of_the_gallery_is_shown_or_used_by_one_that_is() {
    let used: String = SHOWN
        .iter()
        .map(|(name, ..)| head(name).commands.join("\n"))
        .collect();
    for entry in fs::read_dir(root().join("programs/gallery")).expect("the gallery") {
        let file = entry.expect("an entry").file_name();
        let file = file.to_string_lossy();
        assert!(used.contains(&format!("programs/gallery/{file}")), "{file}");
    }
}

#[test]
fn the_gallery_gives_its_pictures_bit_for_bit() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gallery");
    fs::create_dir_all(&dir).expect("a directory for the test");
    for entry in fs::read_dir(root().join("data/gallery")).expect("small data") {
        let file = entry.expect("an entry").path();
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, dir.join(name)).expect("a copy");
    }
    for (name, ..) in SHOWN {
        let commands = head(name).commands;
        let ours = commands.iter().filter_map(|c| c.strip_prefix("diderotc "));
        for command in ours {
            diderotc(&small(command, &dir));
        }
        let made = dir.join(format!("{name}.png"));
        let kept = root().join(format!("compiler/tests/pictures/gallery/{name}.png"));
        if updates() {
            fs::copy(&made, &kept).expect("the picture can be written");
        }
        let (made, kept) = (picture(&made), picture(&kept));
        assert_eq!(made.sizes(), kept.sizes(), "{name}");
        let differ = made.samples().iter().zip(kept.samples());
        let differ = differ.filter(|(a, b)| a != b).count();
        assert!(differ == 0, "{name}: {differ} values differ");
    }
}

/// The words of a command, for a smaller picture in another folder.
fn small(command: &str, dir: &Path) -> Vec<String> {
    let place = format!("{}/", dir.display());
    let mut is_size = false;
    let words = command.split_whitespace().map(|word| {
        let size = is_size.then(|| word.parse::<usize>().expect("a size") / SMALLER);
        is_size = ["-xres", "-yres", "-res"].contains(&word);
        match size {
            Some(size) => size.to_string(),
            None => word
                .replace("target/gallery/", &place)
                .replace("docs/gallery/", &place),
        }
    });
    words.collect()
}
