//! The command: last line, exit status, files.

use std::path::PathBuf;
use std::process::{Command, Output};

fn datm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_datm"))
        .args(arguments)
        .output()
        .expect("the command runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_campaign_ends_with_its_counts_and_writes_reports_and_records() {
    let folder = scratch("campaign");
    let (records, report) = (folder.join("records.jsonl"), folder.join("report"));
    let arguments = [
        "random",
        "--ops",
        "2",
        "--cases",
        "20",
        "--positions",
        "2",
        "--records",
    ];
    let arguments = [
        &arguments[..],
        &[
            records.to_str().expect("text"),
            "--report",
            report.to_str().expect("text"),
        ],
    ]
    .concat();
    let first = datm(&arguments);
    assert_eq!(first.status.code(), Some(0));
    assert!(
        text(&first)
            .trim_end()
            .lines()
            .last()
            .expect("a line")
            .starts_with("20 cases, 0 failures, ")
    );
    let written = std::fs::read_to_string(&records).expect("records");
    // Only the time at the end of the last line differs.
    let counts = |output: &Output| {
        text(output)
            .rsplit_once(", ")
            .map(|(counts, _)| counts.to_string())
    };
    assert_eq!(counts(&datm(&arguments)), counts(&first));
    assert_eq!(std::fs::read_to_string(&records).expect("records"), written);
    assert!(
        std::fs::read_to_string(report.with_extension("md"))
            .expect("a report")
            .contains("20 cases, 0 failures")
    );
    let summary = datm(&["report", "--json", records.to_str().expect("text")]);
    assert!(text(&summary).contains("\"cases\": 20"));
}

#[test]
fn replay_writes_programs_and_images() {
    let folder = scratch("replay");
    let output = datm(&[
        "replay",
        "inner(F2#4[2],T[2])|pos=2",
        "--to",
        folder.to_str().expect("text"),
    ]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("G = F0 • T1;"));
    for file in ["case.diderot", "case-1.0.diderot", "F0.nrrd"] {
        assert!(folder.join(file).exists(), "{file}");
    }
}

#[test]
fn wrong_usage_is_explained_with_status_two() {
    for arguments in [
        &["replay", "frobnicate(T[])"][..],
        &["exhaustive", "--kernel", "foo"],
        &["target", "add(T[])"],
    ] {
        let output = datm(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("found"),
            "{arguments:?}"
        );
    }
}
