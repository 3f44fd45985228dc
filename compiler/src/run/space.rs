//! Checks before a run, as far as possible, that the disk and the memory have room for the outputs.

use super::outputs;
use crate::codegen::Compiled;
use runtime::{
    memory::{claim, shown},
    output::{
        Domain, Output, Scalar,
        plan::{Plan, PlannedFile},
    },
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Warnings about directories that have less room than the outputs need.
pub(super) fn warnings(plan: &Plan, domain: &Domain, program: &Compiled) -> Vec<String> {
    let outputs = outputs(&program.interface);
    let mut wanted: BTreeMap<PathBuf, u64> = BTreeMap::new();
    let runs = plan.runs.unwrap_or(1) as u64;
    for target in &plan.results {
        let file = &target.destination.file;
        let directory = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let bytes = runs.saturating_mul(bytes_of(target, &outputs, domain, program));
        *wanted.entry(directory.to_path_buf()).or_default() += bytes;
    }
    let lacking = wanted.into_iter().filter_map(|(directory, bytes)| {
        let free = free_bytes(&directory).filter(|&free| bytes > free)?;
        let (directory, bytes, free) = (directory.display(), shown(bytes), shown(free));
        Some(format!(
            "the outputs in {directory} need {bytes}, but only {free} are free"
        ))
    });
    lacking.collect()
}

/// Refuses a run if there is not enough memory to gather its outputs in addition to the strands.
///
/// # Errors
/// The memory that is missing for an output.
pub(super) fn check_memory(plan: &Plan, domain: &Domain, program: &Compiled) -> Result<(), String> {
    let outputs = outputs(&program.interface);
    for target in plan
        .results
        .iter()
        .chain(&plan.snapshots)
        .chain(&plan.films)
    {
        let bytes = gathered_bytes(target, &outputs, domain, program);
        if let Err(shortage) = claim(bytes) {
            return Err(format!("{}: {shortage}", target.destination.file));
        }
    }
    Ok(())
}

/// The bytes of the values of a file, if they are stored as they are; 0 for compressed files and standard output.
fn bytes_of(target: &PlannedFile, outputs: &[Output], domain: &Domain, program: &Compiled) -> u64 {
    let destination = &target.destination;
    if !destination.format.stores_bytes() || destination.is_standard_output() {
        return 0;
    }
    gathered_bytes(target, outputs, domain, program)
}

/// The bytes of the values of a file in memory. Sequences of varying length count for nothing: their size is not known.
fn gathered_bytes(
    target: &PlannedFile,
    outputs: &[Output],
    domain: &Domain,
    program: &Compiled,
) -> u64 {
    let of_output = |&n: &usize| {
        let bytes = match outputs[n].scalar {
            Scalar::Real if program.lanes.double => 8,
            Scalar::Int if program.lanes.long_int => 8,
            Scalar::Real | Scalar::Int => 4,
            Scalar::Bool => 1,
        };
        (domain.strand_count() as u64)
            .saturating_mul(outputs[n].strand_size() as u64)
            .saturating_mul(bytes)
    };
    target
        .outputs
        .iter()
        .map(of_output)
        .fold(0, u64::saturating_add)
}

/// The free bytes in a directory, if the system reports them.
#[cfg(unix)]
fn free_bytes(directory: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(directory).ok()?;
    #[allow(
        clippy::unnecessary_cast,
        reason = "the types of these numbers differ between systems"
    )]
    (found.blocks_available() as u64).checked_mul(found.fragment_size() as u64)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn there_is_room_somewhere() {
        assert!(free_bytes(&std::env::temp_dir()).is_some());
        assert_eq!(free_bytes(Path::new("/no/such/place")), None);
    }
}
