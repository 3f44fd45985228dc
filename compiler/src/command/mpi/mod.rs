//! MPI: the commands `diderotc mpi build` and `diderotc mpi check`, and the ranks of `--mpi`.

mod courier;
mod launcher;
mod library;
pub(super) mod ranks;

use super::{FAILURE, SUCCESS, complain, say};
use runtime::{
    cluster::{Team, Topic, wire},
    file_name::FileName,
};
use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles the library that connects this command to the MPI of the machine.
pub(super) fn build(mpicc: &str, output: Option<PathBuf>) -> u8 {
    let Some(output) = output.or_else(library::user_file) else {
        complain("error: there is no directory of the user; -o FILE names the library\n");
        return FAILURE;
    };
    match compile(mpicc, &output) {
        Ok(()) => {
            complain(&format!("wrote {}\n", FileName::from(output)));
            SUCCESS
        }
        Err(message) => {
            complain(&format!("error: {message}\n"));
            FAILURE
        }
    }
}

fn compile(mpicc: &str, output: &Path) -> Result<(), String> {
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let cannot = |what: &Path, error: io::Error| format!("{}: {error}", what.display());
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    // Beside the library, so that it appears when it is complete.
    let part = |suffix: &str| folder.join(format!(".diderot_mpi.{}.{suffix}", std::process::id()));
    let (source, made) = (part("c"), part("so"));
    std::fs::write(&source, library::SOURCE).map_err(|error| cannot(&source, error))?;
    let compiled = Command::new(mpicc)
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .args([&made, &source])
        .output();
    let renamed = match compiled {
        Ok(out) if out.status.success() => {
            std::fs::rename(&made, output).map_err(|error| cannot(output, error))
        }
        Ok(out) => Err(format!(
            "{mpicc} did not compile the library:\n{}",
            String::from_utf8_lossy(&out.stderr).trim_end()
        )),
        Err(error) => Err(format!(
            "cannot start {mpicc}: {error}; --mpicc names the C compiler of the MPI on this machine"
        )),
    };
    // They may not be there.
    let _ = std::fs::remove_file(&source);
    let _ = std::fs::remove_file(&made);
    renamed
}

/// Joins the other processes, says what MPI they have, and lets all of them send to all.
pub(super) fn check() -> u8 {
    if let Err(message) = ranks::join() {
        complain(&format!("error: {message}\n"));
        return FAILURE;
    }
    let told = match ranks::team() {
        Some(team) => checked(&team),
        None => Ok("1 process: `mpirun -n 4 diderotc mpi check` starts several".to_string()),
    };
    match told {
        Ok(told) => {
            say(&format!("{}\n{told}\n", ranks::library()));
            SUCCESS
        }
        Err(message) => {
            complain(&format!("error: {message}\n"));
            FAILURE
        }
    }
}

/// Every rank sends its number and some thousand bytes to all others.
fn checked(team: &Team) -> Result<String, String> {
    let mut mine = Vec::new();
    wire::put(&mut mine, team.rank() as u64);
    mine.resize(100_000 + team.rank(), team.rank() as u8);
    let parts = team
        .gather(Topic::Facts, mine)
        .map_err(|lost| lost.to_string())?;
    for (rank, part) in parts.iter().enumerate() {
        let bytes = part.bytes();
        let is_right = wire::Reader(bytes).number() == Some(rank as u64)
            && bytes.len() == 100_000 + rank
            && bytes[8..].iter().all(|byte| *byte == rank as u8);
        if !is_right {
            return Err(format!("what rank {rank} sent has not come as it was"));
        }
    }
    let size = team.size();
    let sum: usize = (0..size).sum();
    Ok(format!(
        "{size} processes, and all hear all: the sum of their numbers is {sum}"
    ))
}
