//! The third-party notices have every package that is in the command, with its licence.

use crate::{current, root};
use std::{collections::BTreeMap, fs, process::Command};

/// What comes before and after the table of the file.
const TABLE: (&str, &str) = ("| licence | packages |\n|---|---|\n", "\n## Data");

#[test]
fn the_notices_have_every_package_of_the_command() {
    // Procedural macros and their dependencies are not in the command.
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "diderot-compiler"])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--format", "{l}|{p}"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8(tree.stdout).expect("text");
    let mut licences: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in tree.lines() {
        let (licence, package) = line.split_once('|').expect("a licence and a package");
        let name = package.split(' ').next().unwrap_or(package);
        // Ours have places on this machine instead of a registry.
        if !package.contains("(/") {
            assert!(!licence.is_empty(), "{name} has no licence");
            licences.entry(licence).or_default().push(name);
        }
    }
    let mut table = String::from(TABLE.0);
    for (licence, packages) in &mut licences {
        packages.sort_unstable();
        packages.dedup();
        table += &format!("| {licence} | {} |\n", packages.join(", "));
    }
    let file = root().join("THIRD_PARTY.md");
    let text = fs::read_to_string(&file).expect("the notices");
    let (before, rest) = text.split_once(TABLE.0).expect("a table");
    let (_, after) = rest.split_once(TABLE.1).expect("an end of it");
    current(&file, &format!("{before}{table}{}{after}", TABLE.1));
}
