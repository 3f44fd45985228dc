//! Programs whose strands are a collection or evolve: points, lines, triangles and super-steps.

use crate::page::{Frame, open};
use serde_json::{Value, json};

const POINTS: &str = "#version 2.0
strand p (int n) {
    output vec2 pos = [1.0*n, 2.0*n];
    output real heat = 10.0*n;
    int k = 0;
    update { if (numActive() > 0) { pos += [0, 1]; k += 1; } if (k == 50) { stabilize; } }
}
create_collection { p(n) | n in 0..9 }";

fn section(frame: &Frame, name: &str) -> Vec<f32> {
    let sections = frame.header["sections"].as_array().expect("sections");
    let found = sections.iter().find(|section| section["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no section {name}"));
    let number = |key: &str| found[key].as_u64().expect("a number") as usize;
    let bytes = &frame.data[number("offset")..number("offset") + number("length")];
    let numbers = bytes.chunks_exact(4);
    numbers
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect()
}

#[test]
fn a_program_that_evolves_is_shown_on_its_way() {
    let (_viewer, page, _) = open("evolves", POINTS);
    page.say(json!({ "type": "run", "action": "pause" }));
    page.say(json!({ "type": "run", "action": "restart" }));
    page.frame(|frame| frame.header["step"] == 0);
    for step in 1..4 {
        page.say(json!({ "type": "run", "action": "step" }));
        let frame = page.frame(|frame| frame.header["step"] == step);
        assert_eq!(frame.header["kind"], "points");
        assert_eq!(frame.header["dimension"], 2);
        let wanted = (0..10).flat_map(|n| [n as f32, (2 * n + step) as f32, 0.0]);
        assert_eq!(section(&frame, "positions"), wanted.collect::<Vec<_>>());
        let heat: Vec<f32> = (0..10).map(|n| 10.0 * n as f32).collect();
        assert_eq!(section(&frame, "heat"), heat);
    }
    page.say(json!({ "type": "run", "action": "play" }));
    let last = page.frame(Frame::is_final);
    assert_eq!(last.header["step"], 50);
    let status = page.text("status", |status| status["state"] == "idle");
    assert_eq!(
        (&status["stable"], &status["active"]),
        (&json!(10), &json!(0))
    );
}

#[test]
fn lines_and_triangles_have_their_corners() {
    let text = "#version 2.0
strand s (int n) {
    output vec3[] path = {};
    output tensor[3,3][] faces = {};
    update {
        path @= [n, 1, 2];
        if (length(path) > n) { faces @= [[n, 0, 0], [0, 1, 0], [0, 0, 1]]; stabilize; }
    }
}
create_collection { s(n) | n in 0..2 }";
    let (_viewer, page, _) = open("lines", text);
    let lines = page.frame(|frame| frame.header["kind"] == "lines");
    let sections: Vec<&Value> = lines.header["sections"]
        .as_array()
        .expect("some")
        .iter()
        .collect();
    assert_eq!(sections[1]["name"], "lengths");
    let lengths = &lines.data[sections[1]["offset"].as_u64().expect("one") as usize..];
    let lengths = lengths.chunks_exact(4).take(3);
    let lengths: Vec<u8> = lengths.map(|bytes| bytes[0]).collect();
    assert_eq!(lengths, [1, 2, 3]);
    let expected = [0, 1, 1, 2, 2, 2].map(|n| [n as f32, 1.0, 2.0]);
    assert_eq!(section(&lines, "positions"), expected.concat());
    page.say(json!({ "type": "show", "output": "faces" }));
    let faces = page.frame(|frame| frame.header["kind"] == "triangles");
    let expected = [0.0, 1.0, 2.0].map(|n: f32| [n, 0., 0., 0., 1., 0., 0., 0., 1.]);
    assert_eq!(section(&faces, "positions"), expected.concat());
    assert_eq!(faces.header["count"], 3);
}

#[test]
fn numbers_of_a_collection_are_a_table() {
    let text = "#version 2.0
strand s (int n) { output int square = n*n; update { print(n, \"\\n\"); stabilize; } }
create_collection { s(n) | n in 1..4 }";
    let (_viewer, page, _) = open("table", text);
    let printed = page.text("printed", |_| true);
    assert_eq!(printed["text"], "1\n2\n3\n4\n");
    let table = page.frame(|frame| frame.header["type"] == "table");
    assert_eq!(table.header["rows"], json!([[1.0], [4.0], [9.0], [16.0]]));
}

#[test]
fn a_run_that_fails_says_where() {
    let text = "#version 2.0
input int d = 0;
strand s (int n) { output int q = 0; update { q = n/d; stabilize; } }
create_array { s(n) | n in 0..3 }";
    let (_viewer, mut page, _) = open("fails", text);
    let failure = page.text("failure", |_| true);
    assert!(
        failure["text"].as_str().expect("a text").contains("n/d"),
        "{failure}"
    );
    let set = page.set(json!({ "d": 1 }), false);
    assert_eq!(page.final_frame(set).numbers(), [0.0, 1.0, 2.0, 3.0]);
}
