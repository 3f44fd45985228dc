//! The ranks of an MPI program. One thread, the courier, is the only one that calls MPI: it sends letters and puts those that come into
//! the mailbox, so that letters travel while other threads compute.

use super::library::Mpi;
use runtime::cluster::{Cluster, Mailbox};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Bytes of a letter that MPI gets at a time, at most: some MPIs count in 32 bits.
const PIECE: usize = 1 << 30;
/// The tags of pieces: the last of a letter, and those before.
const LAST: i64 = 0;
const GOES_ON: i64 = 1;
/// Rounds in which nothing came, and after which the courier pauses even if a letter is awaited. Where none is, other threads compute,
/// and it pauses at once.
const EAGER: u32 = 2000;
/// The pauses of the courier: the first, and the longest, if no letter is awaited and if one is.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LONG_PAUSE: Duration = Duration::from_millis(1);
const SHORT_PAUSE: Duration = Duration::from_micros(100);

/// A process of an MPI program.
pub(super) struct Process {
    rank: usize,
    size: usize,
    mailbox: Arc<Mailbox>,
    outbox: Sender<Errand>,
}

/// A task of the courier.
enum Errand {
    /// To send a letter to a rank.
    Send(usize, Arc<Vec<u8>>),
    /// To leave MPI when everything has been sent.
    Leave,
}

/// The thread that calls MPI.
pub(super) struct Courier {
    thread: JoinHandle<Result<(), String>>,
    outbox: Sender<Errand>,
}

/// A process that has joined the others.
pub(super) struct Joined {
    pub(super) process: Process,
    pub(super) courier: Courier,
    /// The name and version of the MPI library.
    pub(super) library: String,
}

/// Loads MPI and joins the other processes.
///
/// # Errors
/// A sentence.
pub(super) fn join() -> Result<Joined, String> {
    let (outbox, letters) = channel();
    let (report, started) = channel();
    let courier = std::thread::Builder::new()
        .name("courier".into())
        .spawn(move || {
            let begun = Mpi::load().and_then(|mpi| {
                let (rank, size) = mpi.start()?;
                let mailbox = Arc::new(Mailbox::new(size));
                let (library, place) = (mpi.name(), (rank, size, Arc::clone(&mailbox)));
                Ok((mpi, mailbox, (library, place)))
            });
            match begun {
                Ok((mpi, mailbox, facts)) => {
                    let _ = report.send(Ok(facts));
                    carry(mpi, &mailbox, &letters)
                }
                Err(message) => {
                    let _ = report.send(Err(message));
                    Ok(())
                }
            }
        });
    let courier = courier.map_err(|error| format!("cannot start a thread for MPI: {error}"))?;
    let ended = |_| "the thread for MPI has ended".to_string();
    let (library, (rank, size, mailbox)) = started.recv().map_err(ended)??;
    let process = Process {
        rank,
        size,
        mailbox,
        outbox: outbox.clone(),
    };
    let courier = Courier {
        thread: courier,
        outbox,
    };
    Ok(Joined {
        process,
        courier,
        library,
    })
}

impl Courier {
    /// Waits until everything has been sent and all processes have left MPI.
    pub(super) fn finish(self) -> Result<(), String> {
        // If the courier has ended by itself there is nothing left to do.
        let _ = self.outbox.send(Errand::Leave);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err("the thread for MPI has failed".into()))
    }
}

impl Cluster for Process {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, to: usize, letter: Arc<Vec<u8>>) {
        // If the courier has failed it has ended the process.
        let _ = self.outbox.send(Errand::Send(to, letter));
    }

    fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }
}

/// The pieces in which a letter is sent, each with its tag; at least one.
fn pieces(letter: &[u8], longest: usize) -> impl Iterator<Item = (i64, &[u8])> {
    let count = letter.len().div_ceil(longest).max(1);
    (0..count).map(move |n| {
        let end = letter.len().min((n + 1) * longest);
        let tag = if n + 1 == count { LAST } else { GOES_ON };
        (tag, &letter[n * longest..end])
    })
}

/// Carries letters until it has to leave. An error of MPI ends all processes: letters are lost, and the others would wait.
fn carry(mpi: Mpi, mailbox: &Mailbox, outbox: &Receiver<Errand>) -> Result<(), String> {
    match carry_all(&mpi, mailbox, outbox) {
        Ok(()) => mpi.finish(),
        Err(message) => {
            runtime::output::remove_unfinished();
            eprintln!("error: {message}");
            mpi.abort(super::super::FAILURE);
            Err(message)
        }
    }
}

fn carry_all(mpi: &Mpi, mailbox: &Mailbox, outbox: &Receiver<Errand>) -> Result<(), String> {
    // Letters on their way, each with the ticket of one of its pieces.
    let mut sending: VecDeque<(i64, Arc<Vec<u8>>)> = VecDeque::new();
    // The beginnings of letters that have not come to their ends, by sender.
    let mut begun: Vec<Vec<u8>> = Vec::new();
    let (mut is_open, mut idle) = (true, 0u32);
    while is_open || !sending.is_empty() {
        let mut is_busy = false;
        while let Some(waiting) = mpi.look()? {
            is_busy = true;
            let from = waiting.from as usize;
            if begun.len() <= from {
                begun.resize(from + 1, Vec::new());
            }
            mpi.receive(&waiting, &mut begun[from])?;
            if waiting.tag == LAST {
                mailbox.put(from, Arc::new(std::mem::take(&mut begun[from])));
            }
        }
        for _ in 0..sending.len() {
            let Some((ticket, letter)) = sending.pop_front() else {
                break;
            };
            match mpi.is_sent(ticket)? {
                true => is_busy = true,
                false => sending.push_back((ticket, letter)),
            }
        }
        idle = if is_busy { 0 } else { idle.saturating_add(1) };
        let is_eager = is_busy || mailbox.is_awaited() && idle < EAGER;
        let pause = match (is_eager, mailbox.is_awaited()) {
            (true, _) => Duration::ZERO,
            (false, true) => SHORT_PAUSE,
            (false, false) => LONG_PAUSE.min(FIRST_PAUSE * idle),
        };
        if pause.is_zero() {
            std::thread::yield_now();
        }
        match outbox.recv_timeout(pause) {
            Ok(Errand::Send(to, letter)) => {
                idle = 0;
                for (tag, piece) in pieces(&letter, PIECE) {
                    // SAFETY: the letter is kept until all its pieces have been sent.
                    let ticket = unsafe { mpi.send(to, tag, piece)? };
                    sending.push_back((ticket, Arc::clone(&letter)));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Errand::Leave) | Err(RecvTimeoutError::Disconnected) => is_open = false,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_letter_are_the_letter() {
        for length in [0, 1, 9, 10, 11, 20, 25] {
            let letter: Vec<u8> = (0..length).collect();
            let sent: Vec<_> = pieces(&letter, 10).collect();
            let together: Vec<u8> = sent.iter().flat_map(|(_, piece)| piece.to_vec()).collect();
            assert_eq!(together, letter);
            let tags: Vec<i64> = sent.iter().map(|(tag, _)| *tag).collect();
            let (last, before) = tags.split_last().unwrap();
            assert_eq!(*last, LAST);
            assert!(before.iter().all(|tag| *tag == GOES_ON));
            assert_eq!(tags.len(), usize::from(length).div_ceil(10).max(1));
        }
    }
}
