//! The events of a super-step, on their way to other ranks: errors, printed text, new strands, and the radii of queries.

use super::sequences::{Unborn, no_room};
use crate::abi::{Failure, FailureKind};
use crate::cluster::wire::{Reader, put, put_bytes};
use crate::neighbours::RadiusStatistics;
use crate::strands::blocks::record_bytes;
use crate::world::core::{Core, owned};
use crate::world::step::events::StrandFailure;

impl Core {
    /// Errors, printed text, new strands and the radii of queries, of all workers. The logs stay as they are, except that radii
    /// are then with the first worker.
    pub(super) fn put_events(&mut self, letter: &mut Vec<u8>) {
        let mut radii = RadiusStatistics::default();
        let record = record_bytes(&self.layout);
        let mut unborn = Unborn::new(&self.layout);
        put(letter, self.workers.len() as u64);
        for worker in &mut self.workers {
            let worker = owned(worker);
            radii.take(&mut worker.radii);
            put_failure(letter, worker.failure);
            put_bytes(letter, worker.printed.text.as_bytes());
            put(letter, worker.printed.pieces.len() as u64);
            for &(rank, end) in &worker.printed.pieces {
                put(letter, rank.into());
                put(letter, end as u64);
            }
            put(letter, worker.nursery.parents.len() as u64);
            let records = worker.nursery.records.chunks_exact(record.max(1));
            for (parent, record) in worker.nursery.parents.iter().zip(records) {
                put(letter, (*parent).into());
                letter.extend_from_slice(record);
                unborn.put_sequences(letter, record, &self.sequences);
            }
        }
        radii.put(letter);
        owned(&mut self.workers[0]).radii = radii;
    }

    /// Takes over those of another rank.
    pub(super) fn take_events(&mut self, reader: &mut Reader<'_>, from: usize) -> Option<()> {
        let record = record_bytes(&self.layout);
        let mut unborn = Unborn::new(&self.layout);
        let worker = owned(&mut self.workers[0]);
        for _ in 0..reader.count()? {
            if let Some(failure) = take_failure(reader)? {
                StrandFailure::keep_first(&mut worker.failure, failure);
            }
            let before = worker.printed.text.len();
            let text = std::str::from_utf8(reader.bytes()?).ok()?;
            worker.printed.text.push_str(text);
            for _ in 0..reader.count()? {
                let rank = u32::try_from(reader.number()?).ok()?;
                worker.printed.pieces.push((rank, before + reader.count()?));
            }
            for _ in 0..reader.count()? {
                let parent = u32::try_from(reader.number()?).ok()?;
                worker.nursery.parents.push(parent);
                worker.nursery.makers.push(from as u32);
                let record = reader.take(record)?;
                let taken = unborn.take_record(reader, record, worker, &self.sequences)?;
                if let Err(error) = taken {
                    self.is_short = true;
                    let noted = StrandFailure {
                        step: self.step,
                        rank: parent,
                        id: self.roster.id(parent),
                        failure: no_room(error),
                    };
                    StrandFailure::keep_first(&mut worker.failure, noted);
                }
            }
        }
        worker.radii.take(&mut RadiusStatistics::read(reader)?);
        Some(())
    }
}

fn put_failure(letter: &mut Vec<u8>, failure: Option<StrandFailure>) {
    put(letter, u64::from(failure.is_some()));
    let Some(StrandFailure {
        step,
        rank,
        id,
        failure,
    }) = failure
    else {
        return;
    };
    let [first, second] = failure.details.map(|detail| detail as u64);
    let (kind, position) = (failure.kind as u32, failure.position);
    let words = [
        step,
        rank.into(),
        id,
        kind.into(),
        position.into(),
        first,
        second,
    ];
    words.into_iter().for_each(|word| put(letter, word));
}

fn take_failure(reader: &mut Reader<'_>) -> Option<Option<StrandFailure>> {
    if reader.number()? == 0 {
        return Some(None);
    }
    let mut next = || reader.number();
    let [step, rank, id, kind, position] = [next()?, next()?, next()?, next()?, next()?];
    Some(Some(StrandFailure {
        step,
        rank: u32::try_from(rank).ok()?,
        id,
        failure: Failure {
            kind: FailureKind::from_code(u32::try_from(kind).ok()?)?,
            position: u32::try_from(position).ok()?,
            details: [next()? as i64, next()? as i64],
        },
    }))
}
