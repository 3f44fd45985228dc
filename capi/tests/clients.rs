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

/// Compiles a client and gives the executable.
fn client(compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    let executable = scratch("clients").join(name);
    let library = libraries();
    run(Command::new(compiler)
        .args(options)
        .arg("-I")
        .arg(here("include"))
        .arg(here("tests/client.c"))
        .arg("-L")
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .args(["-ldiderot", "-lpthread", "-lm", "-o"])
        .arg(&executable));
    executable
}

const STRICT: [&str; 4] = ["-std=c11", "-Wall", "-Wextra", "-Werror"];

#[test]
fn a_client_finds_all_as_it_should_be() {
    run(&mut Command::new(client("cc", "plain", &STRICT)));
}

#[test]
fn address_sanitizer_finds_nothing() {
    let options = [&STRICT[..], &["-g", "-fsanitize=address,undefined"]].concat();
    run(&mut Command::new(client("cc", "sanitized", &options)));
}

#[test]
fn a_client_can_be_linked_with_the_archive() {
    let executable = scratch("clients").join("static");
    run(Command::new("cc")
        .args(STRICT)
        .arg("-I")
        .arg(here("include"))
        .arg(here("tests/client.c"))
        .arg(libraries().join("libdiderot.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&executable));
    run(&mut Command::new(executable));
}

#[test]
fn memory_stays_as_it_is_over_a_thousand_cycles() {
    run(Command::new(client("cc", "cycles", &STRICT)).arg("1000"));
}

#[test]
fn the_header_is_one_of_cpp_too() {
    let source = scratch("clients").join("header.cpp");
    let text = "#include \"diderot.h\"\nint main() { return diderot_abi_version() != 1; }\n";
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

/// Names that begin with `diderot_` and are followed by a parenthesis.
fn functions(text: &str, before: &str) -> BTreeSet<String> {
    let begin = |line: &str| line.contains(before) && !line.trim_start().starts_with('*');
    let name = |line: &str| {
        let start = line.find("diderot_").filter(|_| begin(line));
        let mut rest = &line[start?..];
        // The name of a function is the last before the first parenthesis.
        let head = rest.split('(').next()?;
        rest = &head[head.rfind("diderot_")?..];
        Some(rest.to_string())
    };
    let declarations = text.lines().filter(|line| line.contains('('));
    declarations.filter_map(name).collect()
}

#[test]
fn the_header_declares_what_the_library_exports_and_nothing_else_is_exported() {
    let header = fs::read_to_string(here("include/diderot.h")).expect("the header");
    let code = header.split("extern \"C\" {").nth(1).expect("declarations");
    let code: String = code
        .lines()
        .filter(|line| {
            !line.starts_with("typedef") && !line.starts_with(" ") && !line.starts_with("/*")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let declared = functions(&code, "diderot_");
    let mut defined = BTreeSet::new();
    for file in ["inputs.rs", "object.rs", "program.rs", "run.rs"] {
        let text = fs::read_to_string(here("src").join(file)).expect("a source");
        defined.extend(functions(&text, "extern \"C\" fn diderot_"));
    }
    assert_eq!(declared, defined);
    let symbols = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(libraries().join("libdiderot.so")));
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    let exported: BTreeSet<String> = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_string)
        .collect();
    assert_eq!(exported, declared);
}
