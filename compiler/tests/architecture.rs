//! The rules of who may use whom, read from the manifests and the imports of the workspace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

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
const ROOMS: [&str; 13] = [
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
            "typed",
            "elaborate",
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
const RUNTIME_ROOMS: [&str; 27] = [
    "mutants",
    "colour_maps",
    "text",
    "file_name",
    "file_reference",
    "print",
    "memory",
    "derivatives",
    "grid",
    "xml",
    "vtk",
    "png",
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
    "output",
    "input",
];

/// Files that import each other, by crate, with the reason why they do. Everything else has an order.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    (
        "runtime",
        &["memory", "memory::claims", "memory::contents"],
        "claims report sizes as the parent writes them",
    ),
    (
        "runtime",
        &["png", "png::encode"],
        "one type, `Png`, in two files",
    ),
    (
        "runtime",
        &[
            "neighbours",
            "neighbours::cells",
            "neighbours::counting",
            "neighbours::select",
        ],
        "parts of one grid, over the points of the parent",
    ),
    (
        "runtime",
        &["sequence", "sequence::cache", "sequence::pool"],
        "a cache and a pool of the parent's handles",
    ),
    (
        "runtime",
        &[
            "simd",
            "simd::portable",
            "simd::versions",
            "simd::x86",
            "simd::x86::avx2",
            "simd::x86::avx512",
            "simd::x86::reads512",
        ],
        "implementations of the parent's traits, which choose among them",
    ),
    (
        "runtime",
        &["fem::invert", "fem::mutants"],
        "a mutant names the place that it changes",
    ),
    (
        "runtime",
        &["fem::basis", "fem::element"],
        "an element has a basis, which is computed from the element",
    ),
    (
        "runtime",
        &[
            "fem",
            "fem::evaluate",
            "fem::field",
            "fem::index",
            "fem::lanes",
            "fem::locate",
            "fem::primitive",
            "fem::world",
        ],
        "methods of the parent's meshes and fields",
    ),
    (
        "runtime",
        &["formats", "formats::picture", "formats::sniff"],
        "the table of formats names readers, which give a `Source`",
    ),
    (
        "runtime",
        &["image", "image::array", "image::planes", "image::shared"],
        "ways to make the parent's `Image`",
    ),
    (
        "runtime",
        &[
            "probe",
            "probe::contact",
            "probe::contract",
            "probe::general",
            "probe::kept",
            "probe::kernel",
            "probe::linear",
            "probe::locate",
            "probe::rows",
            "probe::table",
        ],
        "parts of one primitive, over the parent's types",
    ),
    (
        "runtime",
        &[
            "math",
            "math::arcs",
            "math::circle",
            "math::double_double",
            "math::error",
            "math::exponential",
            "math::rounding",
            "math::table",
        ],
        "functions over the parent's constants, which the table of functions collects",
    ),
    (
        "ein-ir",
        &["elementary", "parse", "region", "term"],
        "a term may name an elementary function, whose derivative is a text of terms",
    ),
    (
        "ein-ir",
        &[
            "ops",
            "ops::accept",
            "ops::builtin",
            "ops::instances",
            "ops::manual",
            "ops::mismatch",
            "ops::wanted",
        ],
        "functions over the table of the parent",
    ),
    (
        "ein-ir",
        &["mutants", "mutants::sites"],
        "a mutant names the place that it changes",
    ),
    (
        "rewrite",
        &[
            "build", "canon", "class", "colours", "inverse", "laws", "mutants", "product",
            "simplify", "sparsity", "steps", "symmetry",
        ],
        "constructors simplify, and the steps of the simplifier construct",
    ),
    (
        "rewrite",
        &["arena", "egraph", "log", "regroup", "rules"],
        "rules act on the graph that applies them",
    ),
    (
        "rewrite",
        &[
            "derivation",
            "insert",
            "journal",
            "meaning",
            "prove",
            "recognize",
        ],
        "inverses are recognized by proofs, which are made of inserted terms",
    ),
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
fn files_import_each_other_only_where_there_is_a_reason() {
    for name in ["runtime", "ein-ir", "rewrite"] {
        let mut found: Vec<Vec<String>> = circles(&uses(name));
        found.sort();
        let allowed = CIRCLES.iter().filter(|(of, ..)| *of == name);
        let mut allowed: Vec<Vec<&str>> = allowed.map(|(_, files, _)| files.to_vec()).collect();
        allowed.sort();
        assert_eq!(found, allowed, "the circles of {name}");
    }
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    for (name, files, reason) in CIRCLES {
        let row = format!("| `{name}` | {} | {reason} |", files.join(", "));
        assert!(
            page.contains(&row),
            "docs/architecture.md misses the row\n{row}"
        );
    }
}

/// The module of a file, as a path below its crate.
type Module = Vec<String>;

/// The files of a crate by their modules, and the modules that the product code of each uses. A name that a module only exports
/// again stands for the module that has it. The root of the crate is left out: it lists the others.
fn uses(name: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let source = root().join(name).join("src");
    let mut texts: BTreeMap<Module, String> = BTreeMap::new();
    for file in rust_files(&source) {
        let place = file
            .strip_prefix(&source)
            .expect("a file of the crate")
            .with_extension("");
        let place: Module = place
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if place == ["main"] || place.ends_with(&["tests".into()]) {
            continue;
        }
        let module = if place == ["lib"] {
            Vec::new()
        } else {
            module_of(&place)
        };
        texts.insert(module, fs::read_to_string(&file).expect("a source file"));
    }
    let exports: BTreeMap<&Module, BTreeMap<String, Module>> = texts
        .iter()
        .map(|(module, text)| (module, exported(text, module, &texts)))
        .collect();
    let home = |path: &[String]| -> Module {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let known = (0..path.len() + 1)
                .rev()
                .find(|&n| texts.contains_key(&path[..n]));
            let (module, rest) = path.split_at(known.unwrap_or(0));
            let next = rest
                .first()
                .and_then(|name| exports.get(&module.to_vec())?.get(name));
            match next {
                Some(next) => path = next.iter().chain(&rest[1..]).cloned().collect(),
                None => return module.to_vec(),
            }
        }
        panic!("{} is exported in a circle", path.join("::"))
    };
    let of_module = |(module, text): (&Module, &String)| {
        let named = imports(text, module);
        let exported = exports[module].values().cloned();
        let used = named.into_iter().chain(exported).map(|path| home(&path));
        let used = used.filter(|other| !other.is_empty() && other != module);
        (module.clone(), used.collect())
    };
    texts
        .iter()
        .filter(|(module, _)| !module.is_empty())
        .map(of_module)
        .collect()
}

/// The names that the `use` items of a module bring in from other modules of the crate, and where they come from.
fn exported(
    text: &str,
    module: &Module,
    texts: &BTreeMap<Module, String>,
) -> BTreeMap<String, Module> {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut names = BTreeMap::new();
    for item in product.split(';') {
        let item = item
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let item = item.collect::<Vec<_>>().join("\n");
        let Some((_, tree)) = item.split_once("use ").filter(|(before, _)| {
            let before = before.trim_end();
            before.is_empty()
                || before.ends_with("pub")
                || before.ends_with(')')
                || before.ends_with(['}', ']'])
        }) else {
            continue;
        };
        let mut found = Vec::new();
        match ["crate::", "super::", "self::"]
            .iter()
            .any(|word| tree.starts_with(word))
        {
            true => found = imports(&format!("use {tree};"), module),
            false => {
                expand(tree, module, &mut found);
                // Other crates are not below this module.
                found.retain(|path| texts.contains_key(&path[..module.len() + 1]));
            }
        }
        for path in found {
            let path = match path.last().is_some_and(|last| last == "self") {
                true => path[..path.len() - 1].to_vec(),
                false => path,
            };
            names.extend(path.last().cloned().map(|name| (name, path.clone())));
        }
    }
    names
}

/// The largest sets of modules that can all be reached from each other.
fn circles(uses: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    fn reach<'m>(
        uses: &'m BTreeMap<Module, BTreeSet<Module>>,
        from: &'m Module,
    ) -> BTreeSet<&'m Module> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            let next = uses.get(module).into_iter().flatten();
            open.extend(next.filter(|to| reached.insert(*to)));
        }
        reached
    }
    let reached = uses.keys().map(|module| (module, reach(uses, module)));
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = reached.collect();
    let circle = |module: &Module| {
        let both = reached[module]
            .iter()
            .filter(|other| reached[**other].contains(module));
        both.map(|other| other.join("::")).collect::<Vec<String>>()
    };
    let all: BTreeSet<Vec<String>> = uses
        .keys()
        .map(circle)
        .filter(|circle| !circle.is_empty())
        .collect();
    all.into_iter().collect()
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
