//! Runs with `--mpi` in one process, with a library in place of MPI, and what launchers and users get wrong. `mpi.py` has runs of several
//! processes.

use crate::commands::{command, directory, names, stderr, stdout, write};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PROGRAM: &str = "#version 2.0
strand s (int i) { output int n = i; update { n += 1; print(n, \"\\n\"); stabilize; } }
create_array { s(i) | i in 0..9 }
";

/// A library with the functions that `diderotc` expects, for a process that is alone, in this version of the interface.
fn library(dir: &Path, interface: i64) -> PathBuf {
    let functions = format!(
        "#include <stdint.h>
#include <string.h>
int64_t diderot_mpi_interface(void) {{ return {interface}; }}
int64_t diderot_mpi_start(int64_t *rank, int64_t *size) {{ *rank = 0; *size = 1; return 0; }}
void diderot_mpi_library(char *text, int64_t room) {{ strncpy(text, \"a test\", room); }}
void diderot_mpi_meaning(int64_t code, char *text, int64_t room) {{ text[0] = 0; }}
int64_t diderot_mpi_send(int64_t to, int64_t tag, const void *b, int64_t n, int64_t *ticket) {{ return 1; }}
int64_t diderot_mpi_is_sent(int64_t ticket, int64_t *is_sent) {{ return 1; }}
int64_t diderot_mpi_look(int64_t *from, int64_t *tag, int64_t *count) {{ *count = -1; return 0; }}
int64_t diderot_mpi_receive(int64_t from, int64_t tag, void *b, int64_t n) {{ return 1; }}
int64_t diderot_mpi_finish(void) {{ return 0; }}
void diderot_mpi_abort(int64_t status) {{}}
"
    );
    let name = format!("alone{interface}");
    write(dir, &format!("{name}.c"), &functions);
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o", &format!("{name}.so")])
        .arg(format!("{name}.c"))
        .current_dir(dir)
        .status();
    assert!(made.expect("a C compiler").success());
    dir.join(format!("{name}.so"))
}

/// Runs the command with variables of the environment.
fn run(dir: &Path, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command(dir, words);
    command.envs(variables.iter().copied());
    command.output().expect("a run")
}

#[test]
fn one_process_with_mpi_is_a_plain_run() {
    let dir = directory("ranks-one");
    write(&dir, "p.diderot", PROGRAM);
    let library = library(&dir, 1);
    let library = [("DIDEROT_MPI", library.to_str().expect("text"))];
    let plain = run(&dir, &["p.diderot", "-o", "plain.nrrd"], &[]);
    let shared = run(&dir, &["--mpi", "p.diderot", "-o", "shared.nrrd"], &library);
    assert!(shared.status.success(), "{}", stderr(&shared));
    assert_eq!(stdout(&shared), stdout(&plain));
    assert_eq!(stderr(&shared), stderr(&plain).replace("plain", "shared"));
    let contents = |name: &str| std::fs::read(dir.join(name)).expect(name);
    assert_eq!(contents("shared.nrrd"), contents("plain.nrrd"));
    let checked = run(&dir, &["mpi", "check"], &library);
    assert!(
        stdout(&checked).starts_with("a test\n1 process"),
        "{}",
        stdout(&checked)
    );
}

#[test]
fn a_library_that_is_missing_or_of_another_version_is_reported_by_one_process() {
    let dir = directory("ranks-library");
    write(&dir, "p.diderot", PROGRAM);
    let other = library(&dir, 99);
    for (file, words) in [
        ("/nowhere/lib.so", "there is no file /nowhere/lib.so"),
        ("p.diderot", "cannot use p.diderot"),
        (
            other.to_str().expect("text"),
            "another version of diderotc (99",
        ),
    ] {
        let speaker = run(&dir, &["--mpi", "p.diderot"], &[("DIDEROT_MPI", file)]);
        let message = stderr(&speaker);
        assert_eq!(speaker.status.code(), Some(1), "{message}");
        assert!(
            message.contains(words) && message.contains("diderotc mpi build"),
            "{message}"
        );
        let process = [("DIDEROT_MPI", file), ("PMI_SIZE", "3"), ("PMI_RANK", "2")];
        let silent = run(&dir, &["--mpi", "p.diderot"], &process);
        assert_eq!(
            (silent.status.code(), stderr(&silent)),
            (Some(1), String::new())
        );
    }
    assert!(names(&dir).iter().all(|name| !name.ends_with(".nrrd")));
}

#[test]
fn the_launcher_of_another_mpi_and_a_forgotten_option_are_noticed() {
    let dir = directory("ranks-launcher");
    write(&dir, "p.diderot", PROGRAM);
    let library = library(&dir, 1);
    let library = library.to_str().expect("text");
    let variables = |rank: &'static str| {
        [
            ("DIDEROT_MPI", library),
            ("OMPI_COMM_WORLD_SIZE", "3"),
            ("OMPI_COMM_WORLD_RANK", rank),
        ]
    };
    let wrong = run(&dir, &["--mpi", "p.diderot"], &variables("0"));
    let message = stderr(&wrong);
    assert_eq!(wrong.status.code(), Some(1), "{message}");
    let parts = [
        "(Open MPI) has started 3 processes",
        "MPI (a test) knows of 1",
    ];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    assert!(names(&dir).iter().all(|name| !name.ends_with(".nrrd")));
    for (rank, warnings) in [("0", 1), ("1", 0)] {
        let forgotten = run(&dir, &["p.diderot"], &variables(rank));
        let message = stderr(&forgotten);
        assert!(forgotten.status.success(), "{message}");
        assert_eq!(
            message.matches("`--mpi` makes them one run").count(),
            warnings,
            "{message}"
        );
    }
}

#[test]
fn a_library_that_cannot_be_made_leaves_nothing() {
    let dir = directory("ranks-build");
    for (compiler, words) in [
        ("false", "false did not compile the library"),
        ("/nowhere/mpicc", "cannot start /nowhere/mpicc"),
    ] {
        let built = run(
            &dir,
            &["mpi", "build", "--mpicc", compiler, "-o", "made/lib.so"],
            &[],
        );
        let message = stderr(&built);
        assert_eq!(built.status.code(), Some(1), "{message}");
        assert!(message.contains(words), "{message}");
        assert_eq!(names(&dir.join("made")), Vec::<String>::new());
    }
}
