//! The imports of source files, read from their text.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The module of a file, as a path below its crate.
pub(crate) type Module = Vec<String>;

/// The files of a crate by their modules, and the modules that the product code of each uses. A name that a module only exports
/// again stands for the module that has it. The root of the crate is left out: it lists the others.
pub(crate) fn uses(name: &str) -> BTreeMap<Module, BTreeSet<Module>> {
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
pub(crate) fn exported(
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

pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
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
pub(crate) fn module_of(place: &[String]) -> Vec<String> {
    let is_parent = place.last().is_some_and(|name| name == "mod");
    place[..place.len() - usize::from(is_parent)].to_vec()
}

/// The paths below the crate that the product code of a module names with `crate::`, `super::` or `self::`, comments and tests left
/// aside. Paths of inline modules are taken for paths of their file.
pub(crate) fn imports(text: &str, module: &[String]) -> Vec<Vec<String>> {
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
pub(crate) fn expand<'t>(
    text: &'t str,
    before: &[String],
    found: &mut Vec<Vec<String>>,
) -> &'t str {
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
