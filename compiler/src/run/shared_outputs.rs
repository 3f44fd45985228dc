//! Files of outputs that all ranks of a cluster write, each the values of its own strands.
//!
//! Rank 0 begins the files and gives them their names, when all ranks have written. Ranks agree on this way before they run strands:
//! a rank that does not see the files, because it has another file system, lets all values go to rank 0.

use super::{Failure, Rows};
use crate::front::codes;
use runtime::{
    cluster::{
        Lost, Part, Team, Topic,
        wire::{Reader, put},
    },
    output::{
        early::Early,
        together::{Address, Pieces, Report},
    },
};

/// Bytes of values below which letters to rank 0 are quicker.
const WORTHWHILE: u64 = 1 << 20;

/// The files of all outputs on one rank, in the order of outputs.
pub(super) struct SharedOutputs<'a> {
    team: &'a Team,
    files: Files<'a>,
}

enum Files<'a> {
    /// Rank 0 has begun them.
    Begun(Vec<&'a Early>),
    /// Another rank has found them.
    Found(Vec<Pieces>),
}

impl<'a> SharedOutputs<'a> {
    /// Agrees with the other ranks whether they write the files of rank 0, where all outputs have one. `passing` are the outputs whose
    /// values nothing else needs.
    ///
    /// # Errors
    /// A rank has left.
    pub(super) fn agree(
        team: &'a Team,
        takers: &[&'a dyn Rows],
        passing: &[bool],
    ) -> Result<Option<SharedOutputs<'a>>, Failure> {
        let begun = match takers {
            [taker] if team.is_root() => begun(*taker, passing),
            _ => None,
        };
        let (begun, letter) = begun.unwrap_or_default();
        let parts = gather(team, letter)?;
        let Some(addresses) = addresses(parts[0].bytes()) else {
            return Ok(None);
        };
        let files = match team.is_root() {
            true => Some(Files::Begun(begun)),
            false => {
                let found = addresses.iter().map(Pieces::open);
                found.collect::<Option<_>>().map(Files::Found)
            }
        };
        let parts = gather(team, vec![u8::from(files.is_some())])?;
        let are_seen = parts.iter().all(|part| part.bytes() == [1]);
        let files = files.filter(|_| are_seen);
        Ok(files.map(|files| SharedOutputs { team, files }))
    }

    /// Writes values of an output, before which there are this many bytes.
    pub(super) fn take(&self, output: usize, before: usize, values: &[u8]) {
        match &self.files {
            Files::Begun(files) => files[output].put(before, values),
            Files::Found(files) => files[output].put(before, values),
        }
    }

    /// Waits until all ranks have written. Then rank 0 knows how the files have become.
    ///
    /// # Errors
    /// A rank has left.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let (begun, found) = match self.files {
            Files::Begun(files) => (files, Vec::new()),
            Files::Found(files) => (Vec::new(), files),
        };
        let mut letter = Vec::new();
        let reports = found.into_iter().map(Pieces::close);
        reports.for_each(|report| report.put(&mut letter));
        let parts = gather(self.team, letter)?;
        for (rank, part) in parts.iter().enumerate().skip(1) {
            let mut reader = Reader(part.bytes());
            for file in &begun {
                let damaged = || {
                    lost(Lost {
                        rank,
                        message: "a letter about files is damaged".into(),
                    })
                };
                file.add(Report::read(&mut reader).ok_or_else(damaged)?);
            }
        }
        Ok(())
    }
}

/// The files of all outputs, and the letter that leads other ranks to them. `None` if they do not write them.
fn begun<'a>(taker: &'a dyn Rows, passing: &[bool]) -> Option<(Vec<&'a Early>, Vec<u8>)> {
    let file = |(output, passes): (usize, &bool)| taker.file(output).filter(|_| *passes);
    let files = passing.iter().enumerate().map(file);
    let files: Vec<&Early> = files.collect::<Option<_>>()?;
    if files.iter().map(|file| file.values()).sum::<u64>() < WORTHWHILE {
        return None;
    }
    let mut letter = Vec::new();
    put(&mut letter, files.len() as u64);
    for file in &files {
        file.address()?.put(&mut letter);
    }
    Some((files, letter))
}

/// The addresses in the letter of rank 0; none if it has none.
fn addresses(letter: &[u8]) -> Option<Vec<Address>> {
    let mut reader = Reader(letter);
    let count = reader.count()?;
    (0..count).map(|_| Address::read(&mut reader)).collect()
}

fn gather(team: &Team, letter: Vec<u8>) -> Result<Vec<Part>, Failure> {
    team.gather(Topic::Files, letter).map_err(lost)
}

fn lost(lost: Lost) -> Failure {
    Failure::new(codes::CLUSTER, lost)
}
