//! Files that change while a viewer shows them.

use crate::page::{InFile, Page, folder, open};
use compiler::{
    codegen::Compiled,
    front::source::Source,
    pipeline::Options,
    view::{Given, Subject, Viewer},
};
use runtime::memory::Shortage;
use serde_json::{Value, json};
use std::{fs, path::Path, sync::Arc, time::Duration};

fn program(extra: &str, value: &str) -> String {
    format!(
        "#version 2.0
{extra}
input real a = 2;
strand s (int n) {{ output real v = 0; update {{ v = a*n + {value}; stabilize; }} }}
create_array {{ s(n) | n in 0..2 }}"
    )
}

/// Writes a file so that its time or its size is another.
fn save(path: &Path, text: &str) {
    // The clock of some file systems is coarse.
    std::thread::sleep(Duration::from_millis(20));
    fs::write(path, text).expect("a file");
}

fn is_bad(diagnostics: &Value) -> bool {
    diagnostics["good"] == false
}

#[test]
fn a_wrong_text_is_reported_and_the_mended_one_shown_with_the_same_inputs() {
    let (_viewer, mut page, path) = open("mended", &program("", "0"));
    let set = page.set(json!({ "a": 10 }), false);
    assert_eq!(page.final_frame(set).numbers(), [0.0, 10.0, 20.0]);
    save(&path, &program("", "∇b"));
    let messages = page.text("diagnostics", is_bad);
    let item = &messages["items"][0];
    assert_eq!(
        (&item["severity"], &item["line"]),
        (&json!("error"), &json!(4))
    );
    assert!(item["text"].as_str().expect("an excerpt").contains("∇b"));
    save(&path, &program("", "5"));
    page.text("diagnostics", |messages| messages["good"] == true);
    let frame = page.frame(|frame| frame.is_final());
    assert_eq!(frame.numbers(), [5.0, 15.0, 25.0]);
}

/// A program whose text may say that there is no memory, or that the compiler is at fault.
struct Unlucky(InFile);

impl Subject for Unlucky {
    fn source(&self) -> Result<Source, String> {
        self.0.source()
    }

    fn options(&self) -> &Options {
        self.0.options()
    }

    fn given(&self, source: &Source, program: &Compiled) -> Result<Given, String> {
        if source.text.contains("// short") {
            let shortage = Shortage {
                wanted: 1 << 40,
                left: 1 << 20,
            };
            std::panic::resume_unwind(Box::new(shortage));
        }
        assert!(!source.text.contains("// fault"), "a fault on purpose");
        self.0.given(source, program)
    }
}

#[test]
fn a_run_that_unwinds_is_a_failure_and_not_the_end() {
    let path = folder("unlucky").join("p.diderot");
    fs::write(&path, program("// short", "0")).expect("a file");
    let viewer = Arc::new(Viewer::start(Unlucky(InFile {
        path: path.clone(),
        options: Options::default(),
        image: None,
    })));
    let page = Page::of(&viewer);
    for (mark, message) in [("// short", "out of memory"), ("// fault", "a fault of")] {
        save(&path, &program(mark, "0"));
        page.text("failure", |failure| {
            failure["message"]
                .as_str()
                .is_some_and(|text| text.contains(message))
        });
    }
    save(&path, &program("", "7"));
    let frame = page.frame(|frame| frame.is_final());
    assert_eq!(frame.numbers(), [7.0, 9.0, 11.0]);
}

#[test]
fn imported_files_are_watched() {
    let (_viewer, page, path) = open("imported", "#version 2.0\n");
    page.text("diagnostics", is_bad);
    let other = path.with_file_name("other.diderot");
    fs::write(&other, "#version 2.0\nconst real b = 1;\n").expect("a file");
    save(&path, &program("import \"other.diderot\";", "b"));
    assert_eq!(
        page.frame(|frame| frame.is_final()).numbers(),
        [1.0, 3.0, 5.0]
    );
    save(&other, "#version 2.0\nconst real b = 100;\n");
    let is_new = |frame: &crate::page::Frame| frame.numbers()[0] == 100.0;
    assert_eq!(page.frame(is_new).numbers(), [100.0, 102.0, 104.0]);
}

#[test]
fn data_that_change_are_read_again() {
    let text = |kind: &str| {
        format!(
            "#version 2.0
image(1)[] img = load_image(\"data.nrrd\");
field#0(1)[] F = tent ⊛ img;
strand s (int n) {{ output {kind} v = F(n); update {{ stabilize; }} }}
create_array {{ s(n) | n in 0..1 }}"
        )
    };
    let nrrd = |numbers: &str| {
        format!("NRRD0001\ntype: float\ndimension: 1\nsizes: 3\nencoding: ascii\n\n{numbers}\n")
    };
    let folder = crate::page::folder("data");
    let data = folder.join("data.nrrd");
    fs::write(&data, nrrd("1 2 3")).expect("a file");
    let whole = text("real").replace("data.nrrd", &data.display().to_string());
    let (_viewer, page, _) = open("data", &whole);
    assert_eq!(page.frame(|frame| frame.is_final()).numbers(), [1.0, 2.0]);
    save(&data, &nrrd("7 8 9"));
    let is_new = |frame: &crate::page::Frame| frame.numbers()[0] == 7.0;
    assert_eq!(page.frame(is_new).numbers(), [7.0, 8.0]);
}

#[test]
fn frames_of_a_file_are_a_slider() {
    let folder = crate::page::folder("frames");
    let data = folder.join("series.nrrd");
    let text =
        "NRRD0004\ntype: float\ndimension: 2\nsizes: 3 4\nkinds: domain time\nencoding: ascii\n\n";
    let numbers: Vec<String> = (0..12).map(|n| n.to_string()).collect();
    fs::write(&data, format!("{text}{}\n", numbers.join(" "))).expect("a file");
    let program = "#version 2.0
input image(1)[] img;
field#0(1)[] F = tent ⊛ img;
strand s (int n) { output real v = F(n); update { stabilize; } }
create_array { s(n) | n in 0..2 }";
    let path = folder.join("p.diderot");
    fs::write(&path, program).expect("a file");
    let file = format!("{}#1", data.display());
    let viewer = std::sync::Arc::new(compiler::view::Viewer::start(crate::page::InFile {
        path,
        options: Default::default(),
        image: Some(("img", file.clone())),
    }));
    let mut page = Page::of(&viewer);
    let about = page.text("interface", |_| true);
    let slider = json!({ "kind": "slider", "low": 0.0, "high": 3.0, "step": 1.0, "log": false });
    assert_eq!(about["inputs"][0]["control"], slider);
    assert_eq!(about["inputs"][0]["value"], 1);
    assert_eq!(page.final_frame(0).numbers(), [3.0, 4.0, 5.0]);
    let set = page.set(json!({ "img": 3 }), false);
    assert_eq!(page.final_frame(set).numbers(), [9.0, 10.0, 11.0]);
    let set = page.set(json!({ "img": null }), false);
    assert_eq!(page.final_frame(set).numbers(), [3.0, 4.0, 5.0]);
    assert_eq!(viewer.inputs()["img"], 1);
    // A page cannot name a file.
    let set = page.set(json!({ "img": "/etc/passwd" }), false);
    assert_eq!(page.final_frame(set).numbers(), [3.0, 4.0, 5.0]);
}

/// A number from a seed.
fn next(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    *seed >> 33
}

/// Memory of this process that is in use, in bytes.
fn memory() -> Option<usize> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Saves damaged and whole texts and opens and closes pages, as often as asked.
fn storm(name: &str, rounds: usize) {
    let whole = program("", "1");
    let (viewer, page, path) = open(name, &whole);
    page.frame(|frame| frame.is_final());
    page.close();
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut seed = clock.expect("a time").as_nanos() as u64;
    println!("seed {seed}");
    let mut settled = None;
    for round in 0..rounds {
        let mut text: Vec<char> = whole.chars().collect();
        for _ in 0..next(&mut seed) % 4 {
            let place = next(&mut seed) as usize % text.len();
            match next(&mut seed) % 3 {
                0 => drop(text.remove(place)),
                1 => text.insert(
                    place,
                    ['∇', '(', '"', '9', '\0'][next(&mut seed) as usize % 5],
                ),
                _ => text.truncate(place + 1),
            }
        }
        fs::write(&path, text.iter().collect::<String>()).expect("a file");
        let mut page = Page::of(&viewer);
        page.set(
            json!({ "a": next(&mut seed) % 100, "x": [] }),
            next(&mut seed).is_multiple_of(2),
        );
        page.say(json!({ "type": "run", "action": "restart" }));
        page.say(json!("garbage"));
        std::thread::sleep(Duration::from_millis(next(&mut seed) % 20));
        page.close();
        if round == rounds / 2 {
            settled = memory();
        }
    }
    if let (Some(before), Some(after)) = (settled, memory()) {
        println!("memory after half the rounds and all: {before} {after}");
        // Other tests of this process take memory at the same time.
        const OTHERS: usize = 16 << 20;
        let most = before + before / 20 + OTHERS;
        assert!(after < most, "memory grew from {before} to {after} bytes");
    }
    // It still answers.
    save(&path, &program("", "42"));
    let mut page = Page::of(&viewer);
    page.set(json!({ "a": 1 }), false);
    let is_new = |frame: &crate::page::Frame| frame.is_final() && frame.numbers()[0] == 42.0;
    assert_eq!(page.frame(is_new).numbers(), [42.0, 43.0, 44.0]);
}

#[test]
fn random_saves_and_pages_that_come_and_go_break_nothing() {
    storm("storm", 60);
}

#[test]
#[ignore = "a minute"]
fn a_thousand_random_saves_break_nothing() {
    storm("long-storm", 1000);
}
