//! The rules of who may use whom, read from the manifests and the imports of the workspace.

mod circles;
mod imports;

use imports::{imports, module_of, root, rust_files, uses};
use std::{collections::BTreeSet, fs};

/// The crates of the workspace, and what each may use of the others.
const CRATES: [(&str, &[&str]); 9] = [
    ("ein-ir", &[]),
    ("rewrite", &["ein-ir"]),
    ("nrrd-rs", &[]),
    ("runtime", &["nrrd-rs"]),
    ("compiler", &["ein-ir", "rewrite", "runtime"]),
    ("datm", &["ein-ir", "runtime", "compiler"]),
    ("diderot", &["runtime", "compiler"]),
    ("python", &["diderot"]),
    ("capi", &["diderot"]),
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
        ("hdf5-reader", "runtime"),
        ("netcdf-reader", "runtime"),
        ("ruzstd", "runtime"),
        ("tungstenite", "compiler"),
        ("lz4_flex", "runtime"),
        ("quick-xml", "runtime"),
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
const ROOMS: [&str; 16] = [
    "front",
    "format",
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
    "lsp",
    "view",
    "command",
];

/// The same within rooms that have parts.
const PARTS: [(&str, &[&str]); 2] = [
    (
        "front",
        &[
            "span",
            "codes",
            "diag",
            "facts",
            "source",
            "report",
            "files",
            "syntax",
            "standard",
            "import",
            "tree",
            "elaborate",
            "typed",
            "limits",
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

/// The rooms of the runtime, in the same way.
const RUNTIME_ROOMS: [&str; 31] = [
    "mutants",
    "colour_maps",
    "text",
    "file_name",
    "file_reference",
    "print",
    "memory",
    "cluster",
    "derivatives",
    "grid",
    "xml",
    "hdf5",
    "vtk",
    "png",
    "figure",
    "simd",
    "math",
    "eigen",
    "abi",
    "sequence",
    "neighbours",
    "strands",
    "reduce",
    "world",
    "fem",
    "formats",
    "image",
    "probe",
    "blur",
    "output",
    "input",
];

#[test]
fn no_room_of_the_runtime_uses_one_above_it() {
    let mut arrows = 0;
    for (from, to) in uses("runtime")
        .iter()
        .flat_map(|(from, uses)| uses.iter().map(move |to| (from, to)))
    {
        arrows += 1;
        let label = format!("{} uses {}", from.join("::"), to.join("::"));
        let [from, to] = [from, to].map(|path| rank(&RUNTIME_ROOMS, &path[0], &label));
        assert!(to <= from, "{label}");
    }
    assert!(
        arrows > 300,
        "only {arrows} imports found: are they still read?"
    );
}

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
