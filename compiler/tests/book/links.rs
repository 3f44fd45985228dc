//! Links between pages lead to files and headings that exist.

use crate::root;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// All pages of the repository.
fn pages() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/book/src", "programs"].map(|folder| root().join(folder));
    let mut pages = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder).expect("a folder");
        pages.extend(
            entries
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.extension().is_some_and(|e| e == "md")),
        );
    }
    pages
}

/// The part of an address that leads to a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

fn has_heading(page: &Path, wanted: &str) -> bool {
    let text = fs::read_to_string(page).unwrap_or_default();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .any(|found| found == wanted)
}

/// The addresses of links outside code.
fn addresses(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let parts = prose.flat_map(|part| part.split("](").skip(1));
    parts.filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn commands_name_packages_that_exist() {
    let folders = [
        "ein-ir", "rewrite", "runtime", "compiler", "datm", "python", "capi",
    ];
    let manifests = folders.map(|folder| {
        fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest")
    });
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for rest in text.split("cargo ").skip(1) {
            let line = rest.split(['\n', '`']).next().unwrap_or_default();
            let Some(package) = line
                .split(" -p ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next())
            else {
                continue;
            };
            let name = format!("name = \"{package}\"");
            assert!(
                manifests.iter().any(|m| m.contains(&name)),
                "{}: {package}",
                page.display()
            );
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for address in addresses(&text) {
            if address.contains("://") || address.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, heading) = address.split_once('#').unwrap_or((address, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            if !target.exists() || !heading.is_empty() && !has_heading(&target, heading) {
                broken.push(format!("{}: {address}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 50, "links are found");
}
