//! The ranks of this run. Rank 0 speaks to the user and writes files. The others compute, and their messages are kept as their last words.

use super::{
    courier::{Courier, Joined, join as join_mpi},
    launcher::{Launched, launched},
};
use crate::{codegen::gpu::Cuda, front::source::Source, pipeline::Options};
use runtime::{
    cluster::{Farewell, Part, Team, Topic, host_name, wire},
    world::Workers,
};
use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The option that lets processes run a program together.
const OPTION: &str = "--mpi";

/// The processes that run together, if there are several.
static TEAM: Mutex<Option<(Arc<Team>, Courier)>> = Mutex::new(None);
static LIBRARY: OnceLock<String> = OnceLock::new();
/// Whether another process speaks to the user.
static IS_SILENT: AtomicBool = AtomicBool::new(false);
/// What a silent process has said last.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// Whether the words of a command line let processes run together.
pub(in crate::command) fn are_wanted(words: &[OsString]) -> bool {
    words.iter().any(|word| word == OPTION)
}

/// Joins the other processes, so that only one of them speaks to the user.
///
/// # Errors
/// There is no MPI, or it does not know of all processes.
pub(in crate::command) fn join() -> Result<(), String> {
    let launched = launched();
    // Until MPI is there the launcher says which process speaks.
    IS_SILENT.store(launched.is_some_and(|one| one.rank > 0), Ordering::Relaxed);
    let Joined {
        process,
        courier,
        library,
    } = join_mpi()?;
    let _ = LIBRARY.set(library);
    let team = Team::new(process);
    if let Some(Launched { by, size, .. }) = launched
        && size > team.size()
    {
        let (known, library) = (team.size(), self::library());
        // The error that is reported is the reason.
        let _ = courier.finish();
        return Err(format!(
            "the launcher ({by}) has started {size} processes, but MPI ({library}) knows of {known}: the launcher is that of another MPI; \
             start the program with the launcher of this MPI, or make the library with the other one (`diderotc mpi build --mpicc …`); \
             with Slurm, `srun --mpi=pmix` or `--mpi=pmi2` may be missing"
        ));
    }
    IS_SILENT.store(!team.is_root(), Ordering::Relaxed);
    *lock(&TEAM) = Some((Arc::new(team), courier));
    Ok(())
}

/// The name and version of the MPI library.
pub(super) fn library() -> &'static str {
    LIBRARY.get().map_or("", String::as_str)
}

/// The processes that run together, if there are several.
pub(in crate::command) fn team() -> Option<Arc<Team>> {
    let team = lock(&TEAM);
    let team = team.as_ref().map(|(team, _)| Arc::clone(team));
    team.filter(|team| team.size() > 1)
}

/// Whether another process speaks to the user and writes files.
pub(in crate::command) fn is_silent() -> bool {
    IS_SILENT.load(Ordering::Relaxed)
}

/// Keeps what a silent process says.
pub(in crate::command) fn remember(text: &str) {
    lock(&LAST_WORDS).push_str(text);
}

/// Leaves the other processes; gives the exit status that all of them have.
pub(in crate::command) fn leave(status: u8) -> u8 {
    let Some((team, courier)) = lock(&TEAM).take() else {
        return status;
    };
    let words = std::mem::take(&mut *lock(&LAST_WORDS));
    let decide = |farewells: &[Farewell]| {
        if status != 0 {
            return status;
        }
        // This rank has not noticed that another failed.
        let failed = farewells.iter().find(|farewell| farewell.status != 0);
        failed.map_or(0, |farewell| {
            super::super::complain(&format!("error: {}\n", farewell.cause));
            farewell.status
        })
    };
    let status = match team.size() {
        1 => status,
        _ => team.leave(status, message_in(&words), decide),
    };
    match courier.finish() {
        Ok(()) => status,
        Err(_) => status.max(super::super::FAILURE),
    }
}

/// The first error in some messages, without its head.
fn message_in(words: &str) -> &str {
    let error = words.split("error: ").nth(1).unwrap_or(words);
    error.trim_end()
}

/// Compares what processes are about to do together: they must have the same version, processor, program and words.
///
/// # Errors
/// The first that differs from rank 0, as all ranks see it.
pub(in crate::command) fn agree(
    source: &Source,
    options: &Options,
    words: &[OsString],
) -> Result<(), String> {
    let Some(team) = team() else {
        return Ok(());
    };
    let facts = [
        ("version of diderotc", env!("CARGO_PKG_VERSION").to_string()),
        (
            "instruction set (`--isa` chooses one)",
            format!("{:?}", options.isa()),
        ),
        ("program", digest(&source.text)),
        (
            "constant or option of the compiler",
            digest(&format!("{:?}, {:?}", options.lanes(), options.target))
                + &digest(&options.constants),
        ),
        ("option of the program", digest(words)),
    ];
    let mut mine = Vec::new();
    for (_, fact) in &facts {
        wire::put_bytes(&mut mine, fact.as_bytes());
    }
    let parts = team
        .gather(Topic::Facts, mine)
        .map_err(|lost| lost.to_string())?;
    let told = |part: &[u8]| {
        let mut reader = wire::Reader(part);
        let told: Vec<Vec<u8>> =
            std::iter::from_fn(|| reader.bytes().map(<[u8]>::to_vec)).collect();
        told
    };
    let of_root = told(parts[0].bytes());
    for (rank, part) in parts.iter().enumerate() {
        let of_rank = told(part.bytes());
        let mut pairs = facts.iter().zip(of_root.iter().zip(&of_rank));
        if let Some(((what, _), (here, there))) = pairs.find(|(_, (here, there))| here != there) {
            let [here, there] = [here, there].map(|bytes| String::from_utf8_lossy(bytes));
            return Err(format!(
                "rank {rank} has another {what} than rank 0 ({there} and {here}); all must run the same"
            ));
        }
    }
    Ok(())
}

fn digest(value: &(impl Hash + ?Sized)) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Gives this rank a GPU, before anything uses one: that of its number among the ranks on its machine.
///
/// # Errors
/// A rank has left.
pub(in crate::command) fn choose_gpu() -> Result<(), String> {
    let Some(team) = team() else {
        return Ok(());
    };
    let mut mine = Vec::new();
    let told = launched().and_then(|launched| launched.on_machine);
    wire::put(&mut mine, told.map_or(u64::MAX, |number| number as u64));
    wire::put_bytes(&mut mine, host_name().as_bytes());
    let parts = team
        .gather(Topic::Facts, mine)
        .map_err(|lost| lost.to_string())?;
    let seats: Vec<Seat> = parts.iter().map(|part| Seat::read(part.bytes())).collect();
    Cuda::choose(number_on_machine(&seats, team.rank()));
    Ok(())
}

/// The machine of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seat {
    /// The number of the rank among those of its machine, if the launcher tells it.
    told: Option<usize>,
    host: Vec<u8>,
}

impl Seat {
    fn read(bytes: &[u8]) -> Seat {
        let mut reader = wire::Reader(bytes);
        Seat {
            told: reader
                .number()
                .filter(|number| *number != u64::MAX)
                .and_then(|number| usize::try_from(number).ok()),
            host: reader.bytes().unwrap_or_default().to_vec(),
        }
    }
}

/// The number of a rank among those on its machine: as the launcher says, which knows containers; else by the names of machines.
fn number_on_machine(seats: &[Seat], rank: usize) -> usize {
    let here = &seats[rank];
    let before = seats[..rank].iter().filter(|seat| seat.host == here.host);
    here.told.unwrap_or(before.count())
}

/// The workers of this rank: as many as were asked for, or its share of the processors. Ranks that may use the same processors divide
/// them.
///
/// # Errors
/// A rank has left.
pub(in crate::command) fn workers(asked: Option<usize>) -> Result<Workers, String> {
    let Some(team) = team() else {
        return Ok(Workers::from(asked));
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let allowed = lines.find(|line| line.starts_with("Cpus_allowed_list"));
    let mut mine = Vec::new();
    wire::put_bytes(&mut mine, host_name().as_bytes());
    wire::put_bytes(&mut mine, allowed.unwrap_or_default().as_bytes());
    let parts = team
        .gather(Topic::Facts, mine.clone())
        .map_err(|lost| lost.to_string())?;
    let alike = parts.iter().filter(|part| part.bytes() == mine).count();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let count = asked.unwrap_or((processors / alike.max(1)).max(1));
    Ok(Workers::from(count).with_team(team))
}

/// Ends one of several runs on all ranks, whether or not it has failed on this one.
///
/// # Errors
/// It has failed on another rank alone, or the ranks have taken different ways: no further run is possible.
pub(in crate::command) fn end_run(has_failed: bool) -> Result<(), String> {
    let Some(team) = team() else {
        return Ok(());
    };
    if team.is_broken() {
        return Err("the ranks have lost each other".into());
    }
    let parts = team.gather(Topic::Runs, vec![u8::from(has_failed)]);
    let parts = parts.map_err(|lost| lost.to_string())?;
    let failed = |part: &Part| part.bytes() == [1];
    // Rank 0 may fail where it writes files, which the others do not.
    let is_common = failed(&parts[0]) || !parts.iter().any(failed);
    is_common
        .then_some(())
        .ok_or_else(|| "a run failed on a rank other than 0".to_string())
}

/// A warning for processes that were started together and do not run together.
pub(in crate::command) fn warning() -> Option<String> {
    let Launched { size, rank, .. } = launched()?;
    (rank == 0).then(|| {
        format!(
            "{size} processes run the same program, each by itself; `{OPTION}` makes them one run"
        )
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(told: &[(Option<usize>, &str)]) -> Vec<Seat> {
        let seat = |&(told, host): &(Option<usize>, &str)| Seat {
            told,
            host: host.as_bytes().to_vec(),
        };
        told.iter().map(seat).collect()
    }

    fn numbers(told: &[(Option<usize>, &str)]) -> Vec<usize> {
        let seats = seats(told);
        (0..seats.len())
            .map(|rank| number_on_machine(&seats, rank))
            .collect()
    }

    #[test]
    fn ranks_are_counted_on_their_machines() {
        let two_machines = [
            (None, "a"),
            (None, "b"),
            (None, "a"),
            (None, "a"),
            (None, "b"),
        ];
        assert_eq!(numbers(&two_machines), [0, 0, 1, 2, 1]);
        assert_eq!(numbers(&[(None, "a")]), [0]);
    }

    #[test]
    fn the_launcher_knows_better_than_names() {
        // Containers on two machines may have the same name.
        let containers = [
            (Some(0), "c"),
            (Some(1), "c"),
            (Some(0), "c"),
            (Some(1), "c"),
        ];
        assert_eq!(numbers(&containers), [0, 1, 0, 1]);
    }

    #[test]
    fn a_seat_is_read_as_it_was_told() {
        for seat in seats(&[(Some(3), "node"), (None, "")]) {
            let mut bytes = Vec::new();
            wire::put(
                &mut bytes,
                seat.told.map_or(u64::MAX, |number| number as u64),
            );
            wire::put_bytes(&mut bytes, &seat.host);
            assert_eq!(Seat::read(&bytes), seat);
        }
    }
}
