//! Answers about a small program in two files that are not saved.

use crate::editor::{Editor, place, position, uri};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const PROGRAM: &str = "#version 2.0
import \"rings.diderot\";
// How far rings are apart.
input real gap = 1;
field#2(2)[] F(x) = ring(|x|/gap);
field#1(2)[2] G = ∇F;
strand S (int i) {
    output real y = 0;
    update { y = ring(gap*i) + |G([i, 1])|; stabilize; }
}
create_array { S(i) | i in 0..9 }
";
const RINGS: &str = "#version 2.0\n// A ring.\nfunction real ring (real r) = r*r;\n";

/// The two files of a program, open in an editor.
fn opened() -> (Editor, PathBuf, PathBuf) {
    let folder = std::env::temp_dir().join("not-saved");
    let (main, rings) = (folder.join("main.diderot"), folder.join("rings.diderot"));
    let mut editor = Editor::start();
    editor.open(&rings, RINGS);
    editor.open(&main, PROGRAM);
    (editor, main, rings)
}

#[test]
fn definitions_and_references_cross_files() {
    let (mut editor, main, rings) = opened();
    let use_of_ring = PROGRAM.find("ring(gap").expect("a use");
    let found = editor.at("textDocument/definition", &main, PROGRAM, use_of_ring);
    assert_eq!(found["uri"], uri(&rings));
    assert_eq!(
        found["range"]["start"],
        json!({ "line": 2, "character": 14 })
    );
    let mut asked = place(&rings, RINGS, RINGS.find("ring (").expect("it"));
    asked["context"] = json!({ "includeDeclaration": true });
    let found = editor.ask("textDocument/references", asked);
    assert_eq!(found.as_array().map(Vec::len), Some(3), "{found}");
    let hover = editor.at("textDocument/hover", &main, PROGRAM, use_of_ring);
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(
        hover.contains("function real ring (real r)") && hover.contains("A ring."),
        "{hover}"
    );
    let hover = editor.at(
        "textDocument/hover",
        &main,
        PROGRAM,
        PROGRAM.find('∇').expect("it"),
    );
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("gradient"), "{hover}");
}

#[test]
fn new_names_reach_all_files_and_clashes_are_refused() {
    let (mut editor, main, rings) = opened();
    let at = PROGRAM.find("ring(gap").expect("a use");
    let mut asked = place(&main, PROGRAM, at);
    for (name, reason) in [
        ("gap", "already defined"),
        ("real", "not a name"),
        ("2x", "not a name"),
    ] {
        asked["newName"] = json!(name);
        let refused = editor.try_ask("textDocument/rename", asked.clone());
        assert!(
            refused.as_ref().is_err_and(|e| e.contains(reason)),
            "{name}: {refused:?}"
        );
    }
    asked["newName"] = json!("circle");
    let edits = editor.ask("textDocument/rename", asked);
    let count = |path: &Path| edits["changes"][uri(path)].as_array().map(Vec::len);
    assert_eq!((count(&main), count(&rings)), (Some(2), Some(1)), "{edits}");
}

#[test]
fn completion_knows_names_symbols_and_modules() {
    let (mut editor, main, _) = opened();
    let labels = |found: &Value| -> Vec<String> {
        let items = found.as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| item["label"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let inside = PROGRAM.find("y = ring").expect("it");
    let found = labels(&editor.at("textDocument/completion", &main, PROGRAM, inside));
    for name in [
        "gap",
        "ring",
        "F",
        "y",
        "i",
        "stabilize",
        "normalize",
        "bspln3",
    ] {
        assert!(found.iter().any(|label| label == name), "{name}");
    }
    let line = PROGRAM[..inside].matches('\n').count() as u32;
    editor.change(&main, (line, 0), (line, 0), "\\nab");
    let found = editor.ask(
        "textDocument/completion",
        json!({ "textDocument": { "uri": uri(&main) }, "position": { "line": line, "character": 4 } }),
    );
    assert_eq!(found[0]["textEdit"]["newText"], "∇", "{found}");
    assert_eq!(found[0]["textEdit"]["range"]["start"]["character"], 0);
}

#[test]
fn messages_have_fixes_and_go_away() {
    let (mut editor, main, _) = opened();
    let wrong = PROGRAM.find("ring(gap").expect("it");
    let (line, column) = position(PROGRAM, wrong);
    editor.change(&main, (line, column), (line, column + 4), "rimg");
    let found = loop {
        let found = editor.diagnostics(&main);
        if !found.is_empty() {
            break found;
        }
    };
    let page = found[0]["codeDescription"]["href"].as_str();
    assert!(page.is_some_and(|page| page.ends_with(".md")), "{found:?}");
    let range = found[0]["range"].clone();
    assert_eq!(range["start"], json!({ "line": line, "character": column }));
    let actions = editor.ask(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": uri(&main) }, "range": range, "context": { "diagnostics": [] } }),
    );
    let edit = &actions[0]["edit"]["changes"][uri(&main)][0];
    assert_eq!(edit["newText"], "ring", "{actions}");
    editor.change(&main, (line, column), (line, column + 4), "ring");
    while !editor.diagnostics(&main).is_empty() {}
}

#[test]
fn outlines_foldings_tokens_hints_and_signatures_are_there() {
    let (mut editor, main, _) = opened();
    let document = json!({ "textDocument": { "uri": uri(&main) } });
    let outline = editor.ask("textDocument/documentSymbol", document.clone());
    let names: Vec<&str> = outline
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(names, ["gap", "F", "G", "S"]);
    assert_eq!(outline[3]["children"][0]["name"], "y");
    let folds = editor.ask("textDocument/foldingRange", document.clone());
    assert_eq!(
        (&folds[0]["startLine"], &folds[0]["endLine"]),
        (&json!(6), &json!(9))
    );
    let tokens = editor.ask("textDocument/semanticTokens/full", document.clone());
    let count = tokens["data"].as_array().map_or(0, Vec::len) / 5;
    assert!(count > 20, "{count}");
    let mut asked = document;
    asked["range"] =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 20, "character": 0 } });
    let hints = editor.ask("textDocument/inlayHint", asked);
    assert_eq!(hints[0]["label"], ": field#1(2)[2]", "{hints}");
    let inside = PROGRAM.find("gap*i").expect("it");
    let help = editor.at("textDocument/signatureHelp", &main, PROGRAM, inside);
    assert_eq!(
        help["signatures"][0]["label"], "function real ring (real r)",
        "{help}"
    );
}

#[test]
fn places_beyond_a_text_are_its_end() {
    let (mut editor, main, _) = opened();
    let far = json!({ "textDocument": { "uri": uri(&main) }, "position": { "line": 900, "character": 900 } });
    for method in [
        "textDocument/hover",
        "textDocument/completion",
        "textDocument/definition",
        "textDocument/signatureHelp",
    ] {
        editor.ask(method, far.clone());
    }
}

#[test]
fn completions_that_suit_the_type_come_first() {
    let (mut editor, main, _) = opened();
    let inside = PROGRAM.find("ring(gap").expect("it");
    let group = |found: &Value, name: &str| {
        let mut items = found.as_array().expect("a list").iter();
        let found = items.find(|item| item["label"] == name);
        let sort = found.unwrap_or_else(|| panic!("{name}"))["sortText"].clone();
        sort.as_str().expect("an order")[..1].to_owned()
    };
    // A real is expected, which `gap` is and the function gives; `F` is a field.
    let found = editor.at("textDocument/completion", &main, PROGRAM, inside);
    assert_eq!(group(&found, "gap"), "0");
    assert_eq!(group(&found, "ring"), "0");
    assert_eq!(group(&found, "F"), "1");
    assert_eq!(group(&found, "bspln3"), "3");
    // A derivative is taken of a field, and a field is made of a kernel.
    let after = PROGRAM.find("∇F").expect("it") + "∇".len();
    let found = editor.at("textDocument/completion", &main, PROGRAM, after);
    assert_eq!(group(&found, "F"), "0");
    assert_eq!(group(&found, "gap"), "1");
    let start = PROGRAM.find("∇F").expect("it");
    let found = editor.at("textDocument/completion", &main, PROGRAM, start);
    assert_eq!(group(&found, "bspln3"), "0");
}

#[test]
fn a_hover_on_a_field_shows_how_it_is_computed() {
    let (mut editor, main, _) = opened();
    let text = |editor: &mut Editor, at: usize| {
        let hover = editor.at("textDocument/hover", &main, PROGRAM, at);
        hover["contents"]["value"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let shown = text(&mut editor, PROGRAM.find("G = ").expect("it"));
    assert!(shown.contains("field#1(2)[2] G"), "{shown}");
    assert!(
        shown.contains("G(x) = ") && shown.contains("operation"),
        "{shown}"
    );
    assert!(!shown.contains("$$"), "{shown}");
    // Where the editor can show formulas.
    let options = json!({ "initializationOptions": { "latex": true } });
    let mut editor = Editor::with(options);
    editor.open(&main, PROGRAM);
    let shown = text(&mut editor, PROGRAM.find("G = ").expect("it"));
    assert!(!shown.contains("$$"), "it has errors: {shown}");
    editor.open(&main.with_file_name("rings.diderot"), RINGS);
    let shown = text(&mut editor, PROGRAM.find("G = ").expect("it"));
    assert!(shown.contains("$$\n\\begin{aligned}"), "{shown}");
}

#[test]
fn names_become_inputs_and_symbols_change_their_spelling() {
    let (mut editor, main, _) = opened();
    let at = PROGRAM.find("gap*i").expect("it");
    let (line, column) = position(PROGRAM, at);
    editor.change(&main, (line, column), (line, column + 3), "width");
    let range = json!({ "start": { "line": line, "character": column }, "end": { "line": line, "character": column } });
    let asked = json!({ "textDocument": { "uri": uri(&main) }, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", asked);
    let find = |title: &str| {
        let actions = actions.as_array().expect("a list").iter();
        let found = actions.clone().find(|action| action["title"] == title);
        found.unwrap_or_else(|| panic!("{title}: {actions:?}"))["edit"]["changes"][uri(&main)][0]
            .clone()
    };
    let declared = find("Declare `width` as an input");
    assert_eq!(declared["newText"], "input real width = 0;\n");
    assert_eq!(
        declared["range"]["start"],
        json!({ "line": 4, "character": 0 })
    );
    let ascii = find("Write in ASCII, like \\grad and \\pi");
    let written = ascii["newText"].as_str().expect("a text");
    assert!(
        written.contains("G = \\grad F;") && written.is_ascii(),
        "{written}"
    );
}

#[test]
fn a_declared_input_stands_after_inputs_of_several_lines() {
    let mut editor = Editor::start();
    let path = std::env::temp_dir().join("declared.diderot");
    let text = "#version 2.0
input vec3 light (\"a direction; of length 1\")
    = [1, 0,
       0];
strand S (int i) { output real y = light[0] + far + i; update { stabilize; } }
create_array { S(i) | i in 0..1 }
";
    editor.open(&path, text);
    let (line, column) = position(text, text.find("far").expect("it"));
    let here = json!({ "line": line, "character": column });
    let asked = json!({ "textDocument": { "uri": uri(&path) }, "range": { "start": here, "end": here }, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", asked);
    let actions = actions.as_array().expect("a list").iter();
    let declare = actions
        .clone()
        .find(|action| action["title"] == "Declare `far` as an input");
    let edit = &declare.unwrap_or_else(|| panic!("{actions:?}"))["edit"]["changes"][uri(&path)][0];
    assert_eq!(edit["range"]["start"], json!({ "line": 4, "character": 0 }));
}

#[test]
fn definitions_by_components_show_their_shapes() {
    let mut editor = Editor::start();
    let path = std::env::temp_dir().join("shapes.diderot");
    let text = "#version 2.0
axis space = 2;
field#2(space)[space] V(p) = [p[1], p[0]];
field#1(space)[space,space] J[i,j] = ∂[j] V[i];
tensor[2,2] one[i,j] = i == j ? 1 : 0;
strand S (int i) { output tensor[2,2] y = J([0, i]) + one; update { stabilize; } }
create_array { S(i) | i in 0..1 }
";
    editor.open(&path, text);
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 20, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": uri(&path) }, "range": range });
    let hints = editor.ask("textDocument/inlayHint", asked);
    let labels: Vec<&str> = hints
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|hint| hint["label"].as_str())
        .collect();
    assert_eq!(labels, [": [2,2]"], "{hints}");
    assert_eq!(hints[0]["position"], json!({ "line": 3, "character": 34 }));
}
