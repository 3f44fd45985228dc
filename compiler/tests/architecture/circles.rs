//! Circles of imports between files, each with its reason.

use super::imports::{Module, root, uses};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

/// Files that import each other, by crate, with the reason why they do. Everything else has an order.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    (
        "runtime",
        &[
            "memory",
            "memory::claims",
            "memory::contents",
            "memory::demand",
            "memory::demand::pool",
            "memory::demand::requests",
        ],
        "claims report sizes as the parent writes them; a load of memory on demand asks the pool, which protects that memory",
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
            "simd::small",
            "simd::versions",
            "simd::x86",
            "simd::x86::avx2",
            "simd::x86::avx512",
            "simd::x86::reads512",
            "simd::x86::small",
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
            "fem::corners",
            "fem::evaluate",
            "fem::field",
            "fem::file",
            "fem::file::cells",
            "fem::file::pieces",
            "fem::file::xdmf",
            "fem::index",
            "fem::index::lists",
            "fem::lanes",
            "fem::locate",
            "fem::primitive",
            "fem::times",
            "fem::world",
        ],
        "methods of the parent's meshes and fields, and the lists that these share with files",
    ),
    (
        "runtime",
        &[
            "formats",
            "formats::boxes",
            "formats::hdf5::samples",
            "formats::picture",
            "formats::raw",
            "formats::sniff",
        ],
        "the table of formats names readers, which give a `Source`, and a `Source` gives boxes of samples",
    ),
    (
        "runtime",
        &[
            "image",
            "image::array",
            "image::demand",
            "image::load",
            "image::mapped",
            "image::planes",
            "image::shared",
            "image::stored",
        ],
        "ways to make the parent's `Image`, and the memory of its samples",
    ),
    (
        "runtime",
        &[
            "probe",
            "probe::bounds",
            "probe::contact",
            "probe::contract",
            "probe::decide",
            "probe::extremes",
            "probe::frames",
            "probe::general",
            "probe::kept",
            "probe::kernel",
            "probe::linear",
            "probe::locate",
            "probe::rows",
            "probe::rows_over_time",
            "probe::table",
            "probe::time",
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
