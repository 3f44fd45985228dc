//! Generates the parser from `src/front/syntax/grammar.lalrpop`, and passes the crate the directories of this machine that its
//! executable may name, so that `diderotc build` can leave them out of the executables that it writes.

use std::{env, path::Path, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "cargo:rustc-env=DIDEROT_BUILD_PLACES={}",
        places().join("\u{1f}")
    );
    lalrpop::Configuration::new()
        .use_cargo_dir_conventions()
        .emit_rerun_directives(true)
        .process()
}

/// The directories of the sources, of the build outputs, and of the build tools; outer ones last. A release replaces them by others
/// when it is compiled, so there are none.
fn places() -> Vec<String> {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if flags.contains("--remap-path-prefix") {
        return Vec::new();
    }
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let in_home = |name: &str| variable("HOME").map(|home| home.join(name));
    let up = |path: Option<PathBuf>, steps: usize| {
        path.and_then(|path| path.ancestors().nth(steps).map(Path::to_path_buf))
    };
    let found = [
        up(variable("OUT_DIR"), 3),
        up(variable("CARGO_MANIFEST_DIR"), 1),
        variable("CARGO_HOME").or_else(|| in_home(".cargo")),
        variable("RUSTUP_HOME").or_else(|| in_home(".rustup")),
    ];
    let texts = found.into_iter().flatten();
    let mut texts: Vec<String> = texts
        .filter_map(|path| path.to_str().map(str::to_string))
        .collect();
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}
