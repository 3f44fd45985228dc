//! Pictures of inputs: every one has the values of a plain run, the coarse ones too.

use crate::page::{Page, open};
use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session},
    run::{Inputs, Run},
};
use serde_json::json;

/// A picture whose pixels take some work each.
const WAVES: &str = "#version 2.0
input real a (\"frequency [0, 9]\") = 2;
input int n (\"pixels\") = 97;
input vec2 center = [0, 0];
input real height = 2;
strand pixel (int row, int col) {
    output vec3 rgb = [0, 0, 0];
    int k = 0;
    vec2 pos = center + height/n*[col, row];
    update {
        rgb += [sin(a*row/n), cos(a*col/n), row*1.0 + 1000*col];
        k += 1;
        if (k > 20) { stabilize; }
    }
}
create_array { pixel(row, col) | row in 0..(n - 1), col in 0..(n + 11) }";

/// The values of the picture in a plain run.
fn plain(text: &str, a: f64) -> Vec<f32> {
    let source = Source::new("p.diderot", text.to_string());
    let program = pipeline::compile(&mut Session::default(), &source, &Options::default());
    let program = program.unwrap_or_else(|_| panic!("a right program"));
    let mut inputs = Inputs::of(&program);
    inputs.set("a", a).expect("a real");
    let mut run = Run::new(&program, &inputs, 1).expect("a run");
    run.run(None, &mut std::io::sink(), &mut [])
        .expect("an end");
    let numbers = run.output(0).expect("values").numbers();
    numbers.into_iter().map(|x| x as f32).collect()
}

#[test]
fn a_final_picture_has_the_bits_of_a_plain_run() {
    let (_viewer, mut page, _) = open("bits", WAVES);
    for a in [2.5, 7.0, 0.1] {
        let set = page.set(json!({ "a": a }), false);
        let frame = page.final_frame(set);
        assert_eq!(frame.header["size"], json!([109, 97]));
        assert_eq!(frame.numbers(), plain(WAVES, a));
    }
}

#[test]
fn coarse_pictures_have_the_values_of_the_final_one() {
    let (_viewer, mut page, _) = open("coarse", WAVES);
    page.final_frame(0);
    let whole = plain(WAVES, 3.0);
    let set = page.set(json!({ "a": 3 }), true);
    let mut strides = Vec::new();
    loop {
        let frame = page.frame(|frame| frame.header["set"] == set);
        let stride = frame.header["stride"].as_u64().expect("a stride") as usize;
        let size: Vec<usize> = serde_json::from_value(frame.header["size"].clone()).expect("sizes");
        assert_eq!(size, [109usize.div_ceil(stride), 97usize.div_ceil(stride)]);
        assert_eq!(frame.header["full"], json!([109, 97]));
        strides.push(stride);
        if frame.header["encoding"] == "f32" {
            for (n, pixel) in frame.numbers().chunks(3).enumerate() {
                let (row, col) = (n / size[0] * stride, n % size[0] * stride);
                let place = 3 * (row * 109 + col);
                assert_eq!(pixel, &whole[place..place + 3]);
            }
        } else {
            let scale: [f32; 2] =
                serde_json::from_value(frame.header["scale"].clone()).expect("two");
            let step = (scale[1] - scale[0]) / 254.0;
            for (n, code) in frame.data.iter().enumerate() {
                let (pixel, channel) = (n / 3, n % 3);
                let (row, col) = (pixel / size[0] * stride, pixel % size[0] * stride);
                let wanted = whole[3 * (row * 109 + col) + channel];
                let found = scale[0] + step * f32::from(*code);
                assert!((found - wanted).abs() <= 0.51 * step, "{found} {wanted}");
            }
        }
        // The place is that of the full grid.
        let step = 2.0 / 97.0;
        let direction = frame.header["place"]["directions"][0][0]
            .as_f64()
            .expect("a place");
        assert!((direction - step).abs() < 1e-5, "{direction}");
        if frame.is_final() && frame.header["encoding"] == "f32" {
            break;
        }
        page.say(json!({ "type": "rest" }));
        if frame.is_final() {
            page.say(json!({ "type": "exact" }));
        }
    }
}

#[test]
fn every_movement_of_a_hand_is_answered_and_the_last_one_finally() {
    let (_viewer, mut page, _) = open("hand", WAVES);
    page.final_frame(0);
    for n in 1..=20 {
        let set = page.set(json!({ "a": f64::from(n) / 4.0 }), true);
        let frame = page.frame(|frame| frame.header["set"] == set);
        assert_eq!(frame.header["encoding"], "u8");
    }
    // Without a word about rest, it comes after a moment.
    let frame = page.frame(|frame| frame.is_final() && frame.header["encoding"] == "f32");
    assert_eq!(frame.numbers(), plain(WAVES, 5.0));
}

#[test]
fn inputs_that_do_not_suit_are_refused_and_the_next_ones_shown() {
    let (viewer, mut page, _) = open("refused", WAVES);
    page.final_frame(0);
    page.set(json!({ "a": "red" }), false);
    let failure = page.text("failure", |_| true);
    let message = failure["message"].as_str().expect("a message");
    assert!(message.contains("`a`"), "{message}");
    let set = page.set(json!({ "a": 4, "unknown": 3 }), false);
    assert_eq!(page.final_frame(set).numbers(), plain(WAVES, 4.0));
    assert_eq!(viewer.inputs()["a"], 4.0);
    // The default again.
    let set = page.set(json!({ "a": null }), false);
    assert_eq!(page.final_frame(set).numbers(), plain(WAVES, 2.0));
}

#[test]
fn pages_know_the_inputs_and_the_command_that_sets_them() {
    let (_viewer, mut page, _) = open("command", WAVES);
    let about = page.text("interface", |_| true);
    let input = &about["inputs"][0];
    assert_eq!(input["description"], "frequency");
    let slider = json!({ "kind": "slider", "low": 0.0, "high": 9.0, "step": null, "log": false });
    assert_eq!(input["control"], slider);
    assert_eq!(about["plane"]["center"], "center");
    assert_eq!(about["outputs"][0]["shown"], "picture");
    let formats = about["formats"]["rgb"].as_array().expect("formats");
    assert!(formats.contains(&json!("png")) && formats.contains(&json!("nrrd")));
    page.set(json!({ "a": 0.1, "center": [-1, 1e-7] }), false);
    let is_new = |command: &serde_json::Value| command["line"] != "diderotc p.diderot";
    let command = page.text("command", is_new);
    assert_eq!(
        command["line"],
        "diderotc p.diderot -a 0.1 -center -1 0.0000001"
    );
}

#[test]
fn a_page_that_comes_later_sees_the_same() {
    let (viewer, mut first, _) = open("later", WAVES);
    let set = first.set(json!({ "a": 5 }), false);
    let frame = first.final_frame(set);
    let second = Page::of(&viewer);
    let about = second.text("interface", |_| true);
    assert_eq!(about["program"], "p.diderot");
    assert_eq!(second.frame(|_| true).data, frame.data);
    second.close();
    let set = first.set(json!({ "a": 6 }), false);
    first.final_frame(set);
}

#[test]
fn exported_files_are_those_of_the_command() {
    let (viewer, mut page, path) = open("export", WAVES);
    let set = page.set(json!({ "a": 1.5 }), false);
    page.final_frame(set);
    for format in ["png", "nrrd", "npy"] {
        let bytes = viewer.export("rgb", format).expect("a file");
        let file = path.with_file_name(format!("x.{format}"));
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_diderotc"))
            .args([
                path.as_os_str(),
                "-a".as_ref(),
                "1.5".as_ref(),
                "-q".as_ref(),
                "-o".as_ref(),
            ])
            .arg(&file)
            .status();
        assert!(status.expect("a process").success());
        assert_eq!(bytes, std::fs::read(file).expect("a file"), "{format}");
    }
    assert!(viewer.export("rgb", "stl").is_err());
    assert!(viewer.export("none", "png").is_err());
}
