//! Imports: the imported definitions, errors in imports, and the places of their messages.

use compiler::{
    front::{
        CheckOptions, check,
        files::{Buffers, Files},
        report,
        source::Source,
        standard::LIBRARY,
        syntax,
    },
    run::colour_map_names,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

const REST: &str = "strand S (int i) { output real r = f(i); update { stabilize; } }
create_array { S(i) | i in 0..2 }
";

/// A folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("imports")
        .join(name);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the test");
        fs::write(path, text).expect("a file for the test");
    }
    folder
}

/// The program `main.diderot` among these files; `REST` in it stands for a strand that uses a function `f`.
fn program(name: &str, files: &[(&str, &str)]) -> Source {
    let files: Vec<(&str, String)> = files
        .iter()
        .map(|(file, text)| (*file, text.replace("REST", REST)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(f, t)| (*f, t.as_str())).collect();
    let path = folder(name, &files).join("main.diderot");
    let text = fs::read_to_string(&path).expect("the program");
    Source::new(path, text)
}

/// The diagnostics, as `file:line: severity: message`, with the file without its folder.
fn reported(source: &Source) -> Vec<String> {
    let checked = check(source, &CheckOptions::default());
    let lines = report::to_json_lines(source, checked.diagnostics);
    let objects = lines.lines().map(|line| {
        let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| object[key].as_str().expect(key).to_owned();
        let file = text("file");
        let file = Path::new(&file)
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        format!(
            "{file}:{}: {}: {}",
            object["line"],
            text("severity"),
            text("message")
        )
    });
    objects.collect()
}

#[track_caller]
fn reports(name: &str, files: &[(&str, &str)], expected: &[&str]) {
    let source = program(name, files);
    let folder = source
        .path
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    let found: Vec<String> = reported(&source)
        .iter()
        .map(|line| line.replace(&folder, "DIR"))
        .collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn definitions_of_imported_files_come_before_those_of_the_program() {
    let source = program(
        "order",
        &[
            (
                "main.diderot",
                "#version 2.0\n// head\nimport \"lib/b.diderot\";\nreal twice = 2*one;\nfunction real f (int i) = i*twice + g(i);\nREST",
            ),
            (
                "lib/b.diderot",
                "#version 2.0\nimport \"a.diderot\";\nfunction real g (int i) = i*one; // no newline at the end",
            ),
            ("lib/a.diderot", "#version 2.0\nreal one = 1;\n"),
        ],
    );
    assert_eq!(reported(&source), [""; 0]);
    assert_eq!(source.text.matches("#version").count(), 1);
    assert!(source.text.starts_with("#version 2.0\n// head\n// import "));
    let place = |text: &str| source.text.find(text).expect(text);
    assert!(
        place("real one") < place("function real g")
            && place("function real g") < place("real twice")
    );
}

#[test]
fn a_file_that_is_imported_twice_is_there_once() {
    let source = program(
        "twice",
        &[
            (
                "main.diderot",
                "#version 2.0\nimport \"a.diderot\";\nimport \"b.diderot\"; import \"./a.diderot\";\nfunction real f (int i) = one + two + i;\nREST",
            ),
            ("a.diderot", "#version 2.0\nreal one = 1;\n"),
            (
                "b.diderot",
                "#version 2.0\nimport \"a.diderot\";\nreal two = 2*one;\n",
            ),
        ],
    );
    assert_eq!(reported(&source), [""; 0]);
    assert_eq!(source.text.matches("real one").count(), 1);
}

#[test]
fn the_text_with_its_imports_is_a_plain_program_with_the_same_meaning() {
    let source = program(
        "plain",
        &[(
            "main.diderot",
            "#version 2.0\nimport \"std/random\";\ninput real x = 1;\nimport_free = 0;\nREST",
        )],
    );
    assert!(
        !reported(&source).is_empty(),
        "`import_free = 0` is not a definition"
    );
    for (name, _) in LIBRARY {
        let text =
            format!("#version 2.0\nimport \"std/{name}\";\nfunction real f (int i) = i;\nREST")
                .replace("REST", REST);
        let linked = Source::new("p.diderot", text);
        let plain = Source::new("p.diderot", linked.text.clone());
        let (a, b) = (syntax::parse(&linked).0, syntax::parse(&plain).0);
        assert_eq!(a, b, "std/{name}");
        assert!(check(&plain, &CheckOptions::default()).program.is_some());
    }
}

#[test]
fn an_own_declaration_replaces_an_imported_input() {
    let files = [
        (
            "main.diderot",
            "#version 2.0\nimport \"a.diderot\";\ninput real size (\"mine\") = 20;\nfunction real f (int i) = area + i;\nREST",
        ),
        (
            "a.diderot",
            "#version 2.0\ninput real size (\"theirs\") = 3;\nreal area = size*size;\n",
        ),
    ];
    let source = program("override", &files);
    assert_eq!(reported(&source), [""; 0]);
    assert!(source.text.contains("mine") && !source.text.contains("theirs"));
    assert!(source.text.find("input real size") < source.text.find("real area"));
    // Of another type it is another definition of the same name.
    let other = files[0].1.replace("input real size", "input int size");
    reports(
        "override-type",
        &[("main.diderot", other.as_str()), files[1]],
        &["main.diderot:3: error: `size` is already defined in this scope"],
    );
}

#[test]
fn import_is_a_word_only_before_a_string() {
    let text = "#version 2.0\nreal import = 1;\nfunction real f (int i) = i*import;\nREST"
        .replace("REST", REST);
    let source = Source::new("p.diderot", text);
    assert_eq!(reported(&source), [""; 0]);
}

#[test]
fn what_is_wrong_with_imports_is_said_where_it_is() {
    let library = "#version 2.0\nfunction real f (int i) = i;\n";
    let main = "#version 2.0\nimport \"a.diderot\";\nREST";
    reports(
        "missing",
        &[("main.diderot", "#version 2.0\nimport \"no.diderot\";\nREST")],
        &[
            "main.diderot:2: error: `DIR/no.diderot` cannot be read: No such file or directory (os error 2)",
        ],
    );
    reports(
        "semicolon",
        &[
            ("main.diderot", "#version 2.0\nimport \"a.diderot\"\nREST"),
            ("a.diderot", library),
        ],
        &["main.diderot:2: error: expected `;` before `strand`"],
    );
    reports(
        "suffix",
        &[
            ("main.diderot", "#version 2.0\nimport \"a\";\nREST"),
            ("a.diderot", library),
        ],
        &["main.diderot:2: error: `DIR/a` cannot be read: No such file or directory (os error 2)"],
    );
    reports(
        "semicolon",
        &[
            ("main.diderot", "#version 2.0\nimport \"a.diderot\"\nREST"),
            ("a.diderot", library),
        ],
        &["main.diderot:2: error: expected `;` before `strand`"],
    );
    reports(
        "standard",
        &[("main.diderot", "#version 2.0\nimport \"std/camra\";\nREST")],
        &["main.diderot:2: error: the standard library has no `std/camra`"],
    );
    reports(
        "self",
        &[(
            "main.diderot",
            "#version 2.0\nimport \"main.diderot\";\nREST",
        )],
        &[
            "main.diderot:2: error: files import each other in a circle: DIR/main.diderot → DIR/main.diderot",
        ],
    );
    reports(
        "circle",
        &[
            ("main.diderot", main),
            ("a.diderot", "#version 2.0\nimport \"b.diderot\";\n"),
            ("b.diderot", "#version 2.0\n\nimport \"a.diderot\";\n"),
        ],
        &[
            "b.diderot:3: error: files import each other in a circle: DIR/a.diderot → DIR/b.diderot → DIR/a.diderot",
        ],
    );
    reports(
        "strand",
        &[
            ("main.diderot", main),
            (
                "a.diderot",
                "#version 2.0\nfunction real f (int i) = i;\nREST",
            ),
        ],
        &[
            "a.diderot:3: error: an imported file does not have the strand definition",
            "a.diderot:4: error: an imported file does not have the creation of the initial strands",
        ],
    );
    reports(
        "version",
        &[
            ("main.diderot", main),
            ("a.diderot", "#version 1.0\nfunction real f (int i) = i;\n"),
        ],
        &["a.diderot:1: error: an imported file is version 2.0"],
    );
    reports(
        "old",
        &[
            (
                "main.diderot",
                "#version 1.0\nimport \"a.diderot\";\nreal x = 1.0;\n",
            ),
            ("a.diderot", library),
        ],
        &["main.diderot:2: error: an import is version 2.0 syntax, but this file is version 1.0"],
    );
    reports(
        "late",
        &[
            (
                "main.diderot",
                "#version 2.0\nreal x = 1;\nimport \"a.diderot\";\nREST",
            ),
            ("a.diderot", library),
        ],
        &[
            "main.diderot:3: error: imports stand before constants, inputs, global variables and functions",
        ],
    );
    reports(
        "syntax",
        &[
            ("main.diderot", main),
            ("a.diderot", "#version 2.0\n\nfunction real f (int i) = ;\n"),
        ],
        &["a.diderot:3: error: expected an expression, found `;`"],
    );
    reports(
        "types",
        &[
            ("main.diderot", main),
            (
                "a.diderot",
                "#version 2.0\n\n\nfunction real f (int i) = undone + i;\n",
            ),
        ],
        &["a.diderot:4: error: undeclared variable `undone`"],
    );
    reports(
        "clash",
        &[
            (
                "main.diderot",
                "#version 2.0\nimport \"a.diderot\";\nfunction real f (int i) = 2*i;\nREST",
            ),
            ("a.diderot", library),
        ],
        &["main.diderot:3: error: `f` is already defined in this scope"],
    );
    reports(
        "unused",
        &[
            (
                "main.diderot",
                "#version 2.0\nimport \"std/tensor\";\nimport \"a.diderot\";\nREST",
            ),
            ("a.diderot", library),
        ],
        &["main.diderot:2: warning: nothing of this import is used"],
    );
    // Errors of the program itself are found as well, at their lines.
    reports(
        "own",
        &[
            (
                "main.diderot",
                "#version 2.0\nimport \"a.diderot\";\nreal x = y;\nREST",
            ),
            ("a.diderot", library),
        ],
        &["main.diderot:3: error: undeclared variable `y`"],
    );
}

#[test]
fn messages_show_the_imported_file_and_where_it_is_imported() {
    let source = program(
        "shown",
        &[
            ("main.diderot", "#version 2.0\nimport \"a.diderot\";\nREST"),
            (
                "a.diderot",
                "#version 2.0\nfunction real f (int i) = undone + i;\n",
            ),
        ],
    );
    let diagnostics = check(&source, &CheckOptions::default()).diagnostics;
    let text = report::render(&source, diagnostics, false);
    for part in [
        "a.diderot:2:27",
        "undone + i;",
        "main.diderot",
        "import \"a.diderot\";",
        "imported here",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// The names of the functions and other definitions of a library file.
fn names(text: &str) -> Vec<String> {
    let text = format!("{text}\n{}", REST.replace("f(i)", "i"));
    let (program, errors) = syntax::parse(&Source::new("std.diderot", text));
    assert!(errors.is_empty(), "{errors:?}");
    program
        .items
        .iter()
        .map(|item| item.name().text.clone())
        .collect()
}

#[test]
fn every_function_of_the_standard_library_is_checked_by_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/checks");
    for (name, text) in LIBRARY {
        let check = fs::read_to_string(root.join(format!("std-{name}.diderot"))).expect(name);
        for definition in names(text) {
            // What other definitions use is checked with them.
            let is_part = text.matches(&definition).count() > 1;
            let is_checked = check.contains(&definition) || is_part;
            assert!(is_checked, "std/{name}: `{definition}` is not in its check");
        }
    }
}

#[test]
fn every_name_of_the_standard_library_is_defined_once() {
    let mut all: Vec<String> = LIBRARY.iter().flat_map(|(_, text)| names(text)).collect();
    all.sort();
    let clash = all.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(clash, None);
    assert_eq!(colour_map_names().count(), 8);
}

/// An editor checks a program while its files are not saved, or not even on disk.
#[test]
fn imports_are_read_from_memory_first() {
    let saved = folder(
        "buffers",
        &[("lib.diderot", "#version 2.0\nreal a = 1.0;\n")],
    );
    let mut buffers = Buffers::default();
    let library =
        "#version 2.0\nimport \"../buffers/deeper.diderot\";\nfunction real f (int i) = b*i;\n";
    buffers.set(&saved.join("lib.diderot"), library);
    buffers.set(&saved.join("deeper.diderot"), "#version 2.0\nreal b = c;\n");
    let main = format!("#version 2.0\nimport \"lib.diderot\";\n{REST}");
    let source = |files: &Buffers| Source::with_files(saved.join("main.diderot"), &*main, files);
    let wanted = ["deeper.diderot:2: error: undeclared variable `c`"];
    assert_eq!(reported(&source(&buffers)), wanted);
    buffers.set(
        &saved.join("deeper.diderot"),
        "#version 2.0\nreal b = 2.0;\n",
    );
    assert_eq!(reported(&source(&buffers)), [""; 0]);
    buffers.remove(&saved.join("lib.diderot"));
    assert!(buffers.has(&saved.join("lib.diderot")), "it is on disk");
    let found = reported(&source(&buffers));
    assert!(found.iter().any(|line| line.contains("`f`")), "{found:?}");
}
