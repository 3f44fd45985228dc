//! The rules of who may use whom, read from the manifests and the imports of the workspace.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The crates of the workspace, and what each may use of the others.
const CRATES: [(&str, &[&str]); 8] = [
    ("ein-ir", &[]),
    ("rewrite", &["ein-ir"]),
    ("nrrd-rs", &[]),
    ("runtime", &["nrrd-rs"]),
    ("compiler", &["ein-ir", "rewrite", "runtime"]),
    ("datm", &["ein-ir", "runtime", "compiler"]),
    ("python", &["runtime", "compiler"]),
    ("capi", &["runtime", "compiler"]),
];

/// The direct dependencies of a crate, those for tests and builds left aside.
fn dependencies(name: &str) -> BTreeSet<String> {
    let folder = match name {
        "nrrd-rs" => "runtime/nrrd",
        _ => name,
    };
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_string)
        .collect()
}

#[test]
fn crates_use_only_those_below_them() {
    for (name, allowed) in CRATES {
        let used = dependencies(name);
        for (other, _) in CRATES {
            assert!(
                !used.contains(other) || allowed.contains(&other),
                "`{name}` uses `{other}`"
            );
        }
        assert!(allowed.iter().all(|other| used.contains(*other)));
    }
}

#[test]
fn what_is_made_for_one_crate_stays_in_it() {
    let owners = [
        ("egg", "rewrite"),
        ("cranelift-codegen", "compiler"),
        ("memmap2", "compiler"),
        ("libloading", "compiler"),
        ("ariadne", "compiler"),
        ("lalrpop-util", "compiler"),
        ("logos", "compiler"),
        ("image", "runtime"),
        ("bzip2", "nrrd-rs"),
        ("pyo3", "python"),
    ];
    for (name, _) in CRATES {
        let used = dependencies(name);
        for (dependency, owner) in owners {
            assert!(
                !used.contains(dependency) || name == owner,
                "`{name}` names {dependency}, which belongs to `{owner}`"
            );
        }
    }
}

/// The rooms of the compiler: each may use those before it.
const ROOMS: [&str; 14] = [
    "front",
    "ir",
    "ssa",
    "high",
    "mid",
    "low",
    "device",
    "interpret",
    "codegen",
    "pipeline",
    "explain",
    "run",
    "library",
    "command",
];

/// The same within rooms that have parts.
const PARTS: [(&str, &[&str]); 2] = [
    (
        "front",
        &[
            "span", "codes", "diag", "source", "report", "files", "syntax", "standard", "import",
            "typed",
        ],
    ),
    (
        "codegen",
        &[
            "abi",
            "host",
            "link",
            "cranelift",
            "vector",
            "ends",
            "sought",
            "gpu",
            "compiled",
        ],
    ),
];

#[test]
fn no_room_uses_one_above_it() {
    let source = root().join("compiler/src");
    let mut arrows = 0;
    for file in rust_files(&source) {
        let place = file.strip_prefix(&source).expect("a file of the compiler");
        let place: Vec<String> = place
            .with_extension("")
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        // Unit tests may go through the whole compiler.
        if place == ["lib"] || place == ["main"] || place.ends_with(&["tests".into()]) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        for path in imports(&text, &module_of(&place)) {
            arrows += 1;
            let label = format!("{} uses {}", file.display(), path.join("::"));
            assert!(
                rank(&ROOMS, &path[0], &label) <= rank(&ROOMS, &place[0], &label),
                "{label}"
            );
            if let Some((_, parts)) = PARTS
                .iter()
                .find(|(room, _)| path[0] == *room && place[0] == *room)
                && let (Some(to), Some(from)) = (path.get(1), place.get(1))
                && parts.contains(&to.as_str())
                && parts.contains(&from.as_str())
            {
                assert!(
                    rank(parts, to, &label) <= rank(parts, from, &label),
                    "{label}"
                );
            }
        }
    }
    assert!(
        arrows > 300,
        "only {arrows} imports found: are they still read?"
    );
}

fn rank(order: &[&str], name: &str, label: &str) -> usize {
    let found = order.iter().position(|known| *known == name);
    found.unwrap_or_else(|| panic!("{label}: `{name}` has no place in the order"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => rust_files(&path),
            path if path.extension().is_some_and(|e| e == "rs") => vec![path],
            _ => vec![],
        })
        .collect()
}

/// The module of a file, by its place below `src`.
fn module_of(place: &[String]) -> Vec<String> {
    let is_parent = place.last().is_some_and(|name| name == "mod");
    place[..place.len() - usize::from(is_parent)].to_vec()
}

/// The paths below the crate that the product code of a module names with `crate::`, `super::` or `self::`, comments and tests left
/// aside. Paths of inline modules are taken for paths of their file.
fn imports(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = product
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (word, steps) in [("crate::", module.len()), ("super::", 1), ("self::", 0)] {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let mut rest = &code[at + word.len()..];
            let mut up = steps;
            while let Some(after) = rest.strip_prefix("super::") {
                (rest, up) = (after, up + 1);
            }
            let base = &module[..module.len().saturating_sub(up)];
            expand(rest, base, &mut found);
        }
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Adds the paths of a use tree that begins here; gives what follows it.
fn expand<'t>(text: &'t str, before: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let mut rest = text.trim_start();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            rest = rest.trim_start().trim_start_matches(',').trim_start();
            match rest.strip_prefix('}') {
                Some(after) => return after,
                None if rest.is_empty() => return rest,
                None => rest = expand(rest, before, found),
            }
        }
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let path: Vec<String> = before
        .iter()
        .cloned()
        .chain([rest[..end].to_string()])
        .collect();
    rest = &rest[end..];
    match rest.strip_prefix("::") {
        Some(after) => expand(after, &path, found),
        None => {
            found.push(path);
            // An alias, or whatever else comes before the next part of the tree.
            let next = rest.find([',', '}', ';']).unwrap_or(rest.len());
            &rest[next..]
        }
    }
}

#[test]
fn imports_are_read_as_written() {
    let text = "use crate::{a::{self, b as c}, d::e};\nlet x = crate::f::g(1);\n// crate::h
use super::i;\nuse super::super::k;\nlet y = self::l::m();\n#[cfg(test)]\nuse crate::n;";
    let module = ["p", "q"].map(str::to_string);
    let found = imports(text, &module);
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    let wanted = ["a::self", "a::b", "d::e", "f::g", "p::i", "k", "p::q::l::m"];
    assert_eq!(found, wanted);
}
