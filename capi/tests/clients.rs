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

#[test]
fn the_header_is_made_of_the_declarations_of_the_library() {
    let config = cbindgen::Config::from_file(here("cbindgen.toml")).expect("how headers are made");
    let sources = ["program.rs", "inputs.rs", "run.rs", "object.rs", "types.rs"];
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
        .arg(libraries().join("libdiderot.so")));
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    let exported: BTreeSet<String> = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_string)
        .collect();
    assert_eq!(exported, declared);
}
