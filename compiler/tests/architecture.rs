//! The rules of who may use whom, read from the workspace itself.

use serde_json::Value;
use std::{collections::BTreeSet, process::Command};

/// The direct dependencies of each package of the workspace, those for tests left aside.
fn dependencies() -> Vec<(String, BTreeSet<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let names = |list: &Value| -> BTreeSet<String> {
        let all = list.as_array().into_iter().flatten();
        all.filter(|d| d["kind"].is_null())
            .filter_map(|d| d["name"].as_str())
            .map(str::to_string)
            .collect()
    };
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages
        .iter()
        .map(|p| {
            (
                p["name"].as_str().unwrap_or_default().to_string(),
                names(&p["dependencies"]),
            )
        })
        .collect()
}

const OURS: [&str; 5] = ["ein-ir", "rewrite", "runtime", "compiler", "datm"];

#[test]
fn crates_use_only_those_below_them() {
    let allowed: [(&str, &[&str]); 5] = [
        ("ein-ir", &[]),
        ("rewrite", &["ein-ir"]),
        ("runtime", &[]),
        ("compiler", &["ein-ir", "rewrite", "runtime"]),
        ("datm", &["ein-ir", "runtime", "compiler"]),
    ];
    let found = dependencies();
    assert_eq!(found.len(), OURS.len());
    for (name, allowed) in allowed {
        let (_, used) = found
            .iter()
            .find(|(n, _)| n == name)
            .expect("a package of the workspace");
        let ours: Vec<&String> = used.iter().filter(|d| OURS.contains(&d.as_str())).collect();
        assert!(
            ours.iter().all(|d| allowed.contains(&d.as_str())),
            "`{name}` uses {ours:?}"
        );
    }
}

#[test]
fn what_is_made_for_one_crate_stays_in_it() {
    let owners = [
        ("egg", "rewrite"),
        ("cranelift-codegen", "compiler"),
        ("ariadne", "compiler"),
        ("lalrpop-util", "compiler"),
        ("logos", "compiler"),
        ("image", "runtime"),
        ("flate2", "runtime"),
        ("bzip2", "runtime"),
    ];
    for (name, used) in dependencies() {
        for (dependency, owner) in owners {
            assert!(
                !used.contains(dependency) || name == owner,
                "`{name}` names {dependency}, which belongs to `{owner}`"
            );
        }
    }
}
