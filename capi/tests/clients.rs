//! Clients in C and C++, compiled by the system's compilers against the header and the libraries.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Where the libraries were built for this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("a test has a file");
    test.parent().expect("a file has a folder").to_path_buf()
}

/// A folder for what this test makes.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{told}");
    output
}

/// Compiles C sources with the header and links them with the library that the last words name.
fn compile(sources: &[PathBuf], name: &str, options: &[&str], library: &[String]) -> Command {
    // Clients run at the same time, and each writes files.
    let folder = scratch(&format!("client-{name}"));
    let executable = folder.join(name);
    run(Command::new("cc")
        .args(STRICT)
        .args(options)
        .arg("-I")
        .arg(here("include"))
        .args(sources)
        .args(library)
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&executable));
    let mut command = Command::new(executable);
    command.current_dir(folder);
    command
}

/// The words that link a client with the shared library.
fn shared() -> [String; 3] {
    let folder = libraries().display().to_string();
    let search = format!("-Wl,-rpath,{folder}");
    [format!("-L{folder}"), search, "-ldiderot_c".to_string()]
}

/// The client of these tests.
fn client(name: &str, options: &[&str]) -> Command {
    compile(&SOURCES.map(here), name, options, &shared())
}

const SOURCES: [&str; 2] = ["tests/client.c", "tests/files.c"];
const STRICT: [&str; 4] = ["-std=c11", "-Wall", "-Wextra", "-Werror"];

#[test]
fn a_client_finds_all_as_it_should_be() {
    run(&mut client("plain", &[]));
}

#[test]
fn address_sanitizer_finds_nothing() {
    run(&mut client(
        "sanitized",
        &["-g", "-fsanitize=address,undefined"],
    ));
}

#[test]
fn a_client_can_be_linked_with_the_archive() {
    let archive = libraries().join("libdiderot_c.a").display().to_string();
    run(&mut compile(&SOURCES.map(here), "static", &[], &[archive]));
}

#[test]
fn memory_stays_as_it_is_over_a_thousand_cycles() {
    run(client("cycles", &[]).arg("1000"));
}

#[test]
fn the_program_of_the_page_runs() {
    let page = fs::read_to_string(here("../docs/book/src/from-c.md")).expect("the page");
    let block = page.split("```c\n").nth(1).expect("a program in C");
    let text = block.split("```").next().expect("its end");
    let source = scratch("client-page").join("page.c");
    fs::write(&source, text).expect("a file for tests");
    let output = run(&mut compile(&[source], "page", &[], &shared()));
    let printed = String::from_utf8_lossy(&output.stdout);
    let roots = printed.lines().map(|line| line.parse().expect("a number"));
    for (root, expected) in roots.collect::<Vec<f64>>().iter().zip([2.0, 3.0, 10.0]) {
        assert!((root - expected).abs() < 0.001, "{printed}");
    }
    assert_eq!(printed.lines().count(), 3);
}

#[test]
fn the_header_is_one_of_cpp_too() {
    let source = scratch("clients").join("header.cpp");
    let text = "#include \"diderot.h\"\nint main() { return diderot_abi_version() != 2; }\n";
    fs::write(&source, text).expect("a file for tests");
    run(Command::new("c++")
        .args([
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ])
        .arg(here("include"))
        .arg(&source));
}

#[test]
fn the_header_is_made_of_the_declarations_of_the_library() {
    let config = cbindgen::Config::from_file(here("cbindgen.toml")).expect("how headers are made");
    let sources = [
        "config.rs",
        "program.rs",
        "inputs.rs",
        "run.rs",
        "outputs.rs",
        "error.rs",
        "types.rs",
    ];
    let builder = cbindgen::Builder::new().with_config(config);
    let add = |builder: cbindgen::Builder, file: &&str| builder.with_src(here("src").join(file));
    let bindings = sources.iter().fold(builder, add).generate();
    let mut made = Vec::new();
    bindings.expect("declarations").write(&mut made);
    let file = here("include/diderot.h");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &made).expect("the header");
    }
    let header = fs::read_to_string(file).expect("the header");
    let made = String::from_utf8(made).expect("text");
    assert!(
        header == made,
        "the header is old; UPDATE_DOCS=1 writes it again"
    );
}

#[test]
fn what_the_header_declares_is_exported_and_nothing_else() {
    let header = fs::read_to_string(here("include/diderot.h")).expect("the header");
    let code = header.split("extern \"C\" {").nth(1).expect("declarations");
    let called = code.split('(').map(|before| {
        let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
        name.into_iter().next().unwrap_or_default().to_string()
    });
    let declared: BTreeSet<String> = called.filter(|name| name.starts_with("diderot_")).collect();
    let symbols = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(libraries().join("libdiderot_c.so")));
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    let exported: BTreeSet<String> = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_string)
        .collect();
    assert_eq!(exported, declared);
}
