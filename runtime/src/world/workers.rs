//! The threads that worlds run on.

use super::errors::WorldError;
use crate::cluster::Team;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// How many threads worlds run on, and these threads once they are needed. Worlds that are made one after the other may share
/// them.
#[derive(Clone, Debug)]
pub struct Workers {
    count: usize,
    threads: Arc<OnceLock<Threads>>,
    /// The ranks that share the strands of worlds, if there are several.
    team: Option<Arc<Team>>,
}

pub(crate) type Threads = Result<Arc<rayon::ThreadPool>, WorldError>;

/// More threads than this would only wait for each other; what strands compute does not depend on their number.
fn useful_threads() -> usize {
    const FOR_EACH_CORE: usize = 32;
    FOR_EACH_CORE * cores()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// That many threads, at least one.
impl From<usize> for Workers {
    fn from(count: usize) -> Workers {
        Workers {
            count: count.clamp(1, useful_threads()),
            threads: Arc::default(),
            team: None,
        }
    }
}

/// That many threads, or one for every core.
impl From<Option<usize>> for Workers {
    fn from(count: Option<usize>) -> Workers {
        count.unwrap_or_else(cores).into()
    }
}

impl From<&Workers> for Workers {
    fn from(workers: &Workers) -> Workers {
        workers.clone()
    }
}

/// Threads that are being started. Dropping it waits for the start: a thread that may already have exited must not be detached,
/// because glibc's `pthread_detach` can crash then (seen in 2.36).
#[must_use]
pub struct Starting(Option<JoinHandle<()>>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(starter) = self.0.take() {
            // It cannot panic, and if it did, worlds would start the threads themselves.
            let _ = starter.join();
        }
    }
}

impl Workers {
    /// Lets the ranks of a cluster share the strands of all worlds. Every rank makes the same worlds and runs them in the same way.
    #[must_use]
    pub fn with_team(self, team: Arc<Team>) -> Workers {
        Workers {
            team: Some(team).filter(|team| team.size() > 1),
            ..self
        }
    }

    /// The same threads for strands that no other rank shares.
    #[must_use]
    pub fn alone(&self) -> Workers {
        Workers {
            team: None,
            ..self.clone()
        }
    }

    /// The ranks that share the strands, if there are several.
    pub fn team(&self) -> Option<&Arc<Team>> {
        self.team.as_ref()
    }

    /// Starts the threads while the caller goes on with something else. If they cannot be started, the first world reports it.
    pub fn start(&self) -> Starting {
        let workers = self.clone();
        let starter = std::thread::Builder::new().spawn(move || drop(workers.threads()));
        Starting(starter.ok())
    }

    /// Does work that divides itself among the threads, and waits for it. If they cannot be started, the caller does it.
    pub fn work<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.threads() {
            Ok(threads) => on(&threads, work),
            Err(_) => work(),
        }
    }

    fn threads(&self) -> Threads {
        self.threads.get_or_init(|| threads(self.count)).clone()
    }

    /// The shared threads; or, if they have not started and fewer suffice, a pool of the world's own.
    pub(crate) fn for_work(&self, useful: usize) -> Threads {
        match self.threads.get() {
            Some(Ok(threads)) => Ok(Arc::clone(threads)),
            _ if useful < self.count => threads(useful.max(1)),
            _ => self.threads(),
        }
    }
}

fn threads(count: usize) -> Threads {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    threads
        .map(Arc::new)
        .map_err(|error| WorldError::Workers(error.to_string()))
}

/// Does work on the threads of a world and waits for it.
pub(crate) fn on<R: Send>(threads: &rayon::ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    if threads.current_thread_index().is_none() && rayon::current_thread_index().is_some() {
        // While a thread of another pool waits it takes up other work of that pool. If that work is to run worlds, it may
        // begin all of them, one inside the other, until its stack is full. So another thread does the waiting.
        return std::thread::scope(|scope| {
            let waiting = scope.spawn(|| threads.install(work));
            waiting
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
    }
    threads.install(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_share_threads_that_are_there_and_start_no_more_than_they_need() {
        let workers = Workers::from(3);
        for (useful, count) in [(2, 2), (1, 1), (0, 1)] {
            let few = workers.for_work(useful).unwrap();
            assert_eq!(few.current_num_threads(), count);
        }
        drop(workers.start());
        let [first, second] = [usize::MAX, 1].map(|useful| workers.for_work(useful).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(first.current_num_threads(), 3);
    }

    #[test]
    fn there_is_a_thread_and_there_are_not_too_many() {
        for (asked, count) in [(0, 1), (1, 1), (usize::MAX, useful_threads())] {
            assert_eq!(Workers::from(asked).count, count);
            assert_eq!(Workers::from(Some(asked)).count, count);
        }
        assert_eq!(Workers::from(None).count, cores());
    }
}
