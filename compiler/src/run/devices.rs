//! The GPUs of all ranks: every rank tells the others which one it has, or why it has none, and what its GPU failed with.

use super::Failure;
use crate::{codegen::gpu::DriverError, front::codes};
use runtime::cluster::{
    Team, Topic, host_name,
    wire::{Reader, put, put_bytes},
};

/// The GPU of each rank.
pub(super) struct Devices(Vec<Device>);

struct Device {
    /// The rank and its machine, in words.
    owner: String,
    /// Its number on the machine, or the reason why there is none.
    number: Result<u64, String>,
}

impl Devices {
    /// Tells the other ranks about the GPU of this one, and learns about theirs.
    ///
    /// # Errors
    /// A rank has left.
    pub(super) fn of_team(
        team: &Team,
        mine: Result<usize, &DriverError>,
    ) -> Result<Devices, Failure> {
        let mut letter = Vec::new();
        put_bytes(&mut letter, owner(team).as_bytes());
        match mine {
            Ok(number) => {
                put(&mut letter, 1);
                put(&mut letter, number as u64);
            }
            Err(error) => {
                put(&mut letter, 0);
                put_bytes(&mut letter, error.to_string().as_bytes());
            }
        }
        let device = |reader: &mut Reader<'_>| {
            let owner = text(reader)?;
            let number = match reader.number()? {
                0 => Err(text(reader)?),
                _ => Ok(reader.number()?),
            };
            Some(Device { owner, number })
        };
        told(team, letter, device).map(Devices)
    }

    /// Whether any rank has one.
    pub(super) fn are_any(&self) -> bool {
        !self.runners().is_empty()
    }

    /// The ranks that have one.
    pub(super) fn runners(&self) -> Vec<usize> {
        let ranks = self.0.iter().enumerate();
        let with = ranks.filter(|(_, device)| device.number.is_ok());
        with.map(|(rank, _)| rank).collect()
    }

    /// A remark about the ranks that have none although others have one.
    pub(super) fn absence(&self) -> Option<String> {
        let absent = |device: &Device| {
            let reason = device.number.as_ref().err()?;
            Some(format!("{}: {reason}", device.owner))
        };
        let absent: Vec<String> = self.0.iter().filter_map(absent).collect();
        let first = absent.first().filter(|_| self.are_any())?;
        Some(match absent.len() {
            1 => format!("a rank has no GPU and runs no strands ({first})"),
            many => format!("{many} ranks have no GPU and run no strands; the first is {first}"),
        })
    }

    /// The GPUs in use, in words.
    pub(super) fn list(&self) -> Vec<String> {
        let used = |device: &Device| {
            let number = device.number.as_ref().ok()?;
            Some(format!("GPU {number} of {}", device.owner))
        };
        self.0.iter().filter_map(used).collect()
    }
}

/// The failures of the GPUs of all ranks; each names the rank and its machine.
///
/// # Errors
/// A rank has left.
pub(super) fn troubles_of_team(
    team: &Team,
    mine: Option<&Failure>,
) -> Result<Vec<String>, Failure> {
    let mut letter = Vec::new();
    let trouble = mine.map(|trouble| format!("{}: {trouble}", owner(team)));
    put_bytes(&mut letter, trouble.unwrap_or_default().as_bytes());
    let told = told(team, letter, text)?.into_iter();
    Ok(told.filter(|trouble| !trouble.is_empty()).collect())
}

/// This rank and its machine, in words.
fn owner(team: &Team) -> String {
    format!("rank {} on {}", team.rank(), host_name())
}

/// Sends a letter to all ranks, and reads those of all, this one included.
fn told<R>(
    team: &Team,
    letter: Vec<u8>,
    read: impl Fn(&mut Reader<'_>) -> Option<R>,
) -> Result<Vec<R>, Failure> {
    let lost = |lost: String| Failure::new(codes::CLUSTER, lost);
    let parts = team.gather(Topic::Devices, letter);
    let parts = parts.map_err(|left| lost(left.to_string()))?;
    let parts = parts.iter().enumerate().map(|(rank, part)| {
        let damaged = || lost(format!("rank {rank}: a letter about GPUs is damaged"));
        read(&mut Reader(part.bytes())).ok_or_else(damaged)
    });
    parts.collect()
}

fn text(reader: &mut Reader<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(reader.bytes()?).into_owned())
}
