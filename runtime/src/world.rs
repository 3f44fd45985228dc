//! A running program: takes a compiled program and the size of its creation clause, runs it by
//! super-steps, gives the state of its strands.
//!
//! One super-step: `start` methods of strands that are new, `update` of all active strands reading
//! others as of the start of the step, then the dead leave, new strands join in the order of their
//! parents, changes become visible, and the global `update` block runs. Programs whose strands
//! cannot see each other are run strand by strand instead, with the same result.
//!
//! Everything a user can see (state, order of collections, text, reductions, the error reported) is
//! the same for any number of workers and any block width, as far as the program's own arithmetic
//! is.
//!
//! [`guide`] tells the author of a code generator which function to call when, and how ownership works.

mod abilities;
mod away;
mod complete;
mod control;
mod core;
mod creation;
mod errors;
mod exchange;
mod executor;
pub mod guide;
mod index;
mod moves;
mod program;
mod residence;
mod search;
mod shares;
mod spread;
mod step;
mod stream;
mod tickets;
mod together;
mod values;
mod workers;

pub use abilities::Abilities;
pub use away::{AwayEvents, BatchSequences, SequenceKeeper};
pub use control::Control;
pub use creation::Creation;
pub use errors::{RunError, WorldError};
pub use executor::{Batch, Executor, Job, fate};
pub use program::StrandProgram;
pub use spread::{Exchanges, ShareTimes};
pub use step::context::StepContext;
pub use step::global::{BlockMap, GlobalContext, GlobalSequences, Reductions, ValueMap};
pub use stream::{Completed, Completion, Wanted, can_be_forgotten, complete};
pub use tickets::{batch_of, share_of};
pub use values::gather::Gathered;
pub use values::parts::Taker;
pub use workers::{Starting, Workers};

use self::core::Core;
use self::exchange::Reach;
use crate::strands::{Counts, StrandSet};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use step::execute::execute;
use step::methods::{Axes, create_block, step_block};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// No strand is active any more.
    Finished,
    /// The step limit was reached.
    StepLimit,
    /// It was cancelled.
    Cancelled,
    /// It was asked to stop.
    Stopped,
}

/// A program with its strands.
pub struct World<P> {
    program: P,
    core: Core,
    globals: GlobalSequences,
    started: bool,
    text: String,
}

impl<P: StrandProgram> World<P> {
    /// Creates the strands and initializes them. Text printed by initializers comes out with the first run.
    pub fn new(
        program: P,
        creation: &Creation,
        globals: GlobalSequences,
        workers: impl Into<Workers>,
    ) -> Result<World<P>, WorldError> {
        let mut core = Core::new(
            program.layout().clone(),
            program.abilities(),
            creation,
            Arc::clone(&globals.pool),
            &workers.into(),
        )?;
        let axes = Axes::new(creation.sizes());
        core.sweep(|cx, block, sets| create_block(&program, &axes, cx, block, sets.active));
        let text = core.printed();
        match core.failure() {
            Ok(()) => {}
            Err(RunError::Strand { id, failure, .. }) => {
                return Err(WorldError::Strand { id, failure });
            }
            Err(
                RunError::TooManyStrands
                | RunError::Memory { .. }
                | RunError::Print(_)
                | RunError::Lost { .. }
                | RunError::Cluster(_),
            ) => {
                unreachable!("creation makes no strands and writes nothing")
            }
        }
        core.publish();
        core.recount();
        Ok(World {
            program,
            core,
            globals,
            started: false,
            text,
        })
    }

    /// Runs up to `limit` super-steps (all, for `None`), writing printed text to `printer` as it
    /// comes. May be called again to go on.
    pub fn run(&mut self, limit: Option<u64>, printer: &mut dyn Write) -> Result<RunEnd, RunError> {
        let end = self.run_steps(limit.unwrap_or(u64::MAX), printer);
        // From now on the states in the world are current.
        self.core.bring_back(self.program.executor(), |_, _| true);
        self.core.residence.check(self.core.step)?;
        match end {
            // Of several ranks, rank 0 alone reads them. All ranks have met the same end.
            Ok(_)
            | Err(RunError::Strand { .. } | RunError::Memory { .. } | RunError::TooManyStrands)
                if !self.core.is_short =>
            {
                self.core.complete(Reach::Root)?;
                if end.is_ok() {
                    self.core.failure()?;
                }
            }
            _ => {}
        }
        end
    }

    fn run_steps(&mut self, limit: u64, printer: &mut dyn Write) -> Result<RunEnd, RunError> {
        self.core.residence.check(self.core.step)?;
        let abilities = self.core.abilities;
        if !std::mem::replace(&mut self.started, true) && abilities.global_start {
            self.global_block(P::global_start)?;
        }
        self.flush(printer)?;
        if abilities.independent() {
            let program = &self.program;
            self.core.step += complete::run_to_completion(&mut self.core, program, limit)?;
            self.core.failure()?;
            self.core.finish(program.executor())?;
        } else {
            for _ in 0..limit {
                if self.core.counts.active == 0 || self.core.is_over() {
                    break;
                }
                self.super_step()?;
                self.flush(printer)?;
            }
        }
        Ok(if self.core.control.is_cancelled() {
            RunEnd::Cancelled
        } else if self.core.counts.active == 0 {
            RunEnd::Finished
        } else if self.core.is_over() {
            RunEnd::Stopped
        } else {
            RunEnd::StepLimit
        })
    }

    fn super_step(&mut self) -> Result<(), RunError> {
        let abilities = self.core.abilities;
        let program = &self.program;
        let all = 0..self.core.roster.blocks();
        match execute(&mut self.core, program, 1, std::slice::from_ref(&all)) {
            Some(ran) if ran.quietly && !abilities.global_update => {
                let printed = self.core.printed();
                self.text.push_str(&printed);
                self.core.finish_quietly();
                return Ok(());
            }
            Some(_) => {}
            None => {
                self.core.prepare()?;
                self.core.sweep_together(|cx, block, sets| {
                    step_block(program, abilities, cx, block, sets, 1);
                })?;
            }
        }
        self.core.residence.note_change();
        let printed = self.core.printed();
        self.text.push_str(&printed);
        if self.core.is_cancelled() {
            return Ok(());
        }
        self.core.residence.check(self.core.step)?;
        self.core.failure()?;
        self.core.step += 1;
        self.core.finish(program.executor())?;
        if abilities.global_update {
            let executor = self.program.executor();
            if executor.is_some_and(|executor| executor.needs_states()) {
                self.core.bring_back(self.program.executor(), |_, _| true);
                self.core.residence.check(self.core.step)?;
            }
            if abilities.reductions_fail {
                // An error is that of all strands.
                self.core.complete(Reach::All)?;
            }
            self.global_block(P::global_update)?;
        }
        self.core.pack(self.program.executor())?;
        self.core.residence.check(self.core.step)
    }

    fn global_block(&mut self, block: fn(&mut P, &mut GlobalContext<'_>)) -> Result<(), RunError> {
        let are_lost = AtomicBool::new(false);
        let mut cx = GlobalContext {
            core: &mut self.core,
            sequences: &mut self.globals,
            text: &mut self.text,
            are_lost: &are_lost,
        };
        block(&mut self.program, &mut cx);
        if are_lost.into_inner() {
            self.core.residence.lose();
            self.core.residence.check(self.core.step)?;
        }
        let mut held = Vec::new();
        self.program
            .held_sequences(&mut |sequence| held.push(sequence));
        self.globals.keep_only(&held);
        Ok(self.core.check_lost()?)
    }

    fn flush(&mut self, printer: &mut dyn Write) -> Result<(), RunError> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        printer
            .write_all(text.as_bytes())
            .and_then(|()| printer.flush())
            .map_err(RunError::Print)
    }

    /// The program.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// The program, to change it between runs.
    pub fn program_mut(&mut self) -> &mut P {
        &mut self.program
    }

    /// Super-steps completed.
    pub fn steps(&self) -> u64 {
        self.core.step
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        self.core.counts
    }

    /// Does something with the workers as the current rayon pool.
    pub fn on_workers<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        workers::on(&self.core.threads, work)
    }

    /// The handle by which another thread watches or stops a run.
    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.core.control)
    }

    /// Lets a handle that others have already watch and stop this run.
    pub fn set_control(&mut self, control: Arc<Control>) {
        control.show(self.core.step, self.core.counts);
        self.core.control = control;
    }

    /// Lets these ranks alone run the strands, because they have executors. All ranks name the same, at least one; for strands that
    /// cannot notice each other.
    pub fn set_runners(&mut self, ranks: Vec<usize>) {
        debug_assert!(self.core.abilities.independent() && !ranks.is_empty());
        self.core.runners = Some(ranks);
    }

    /// Numbers about the exchanges between the ranks of a cluster, if they run the strands together super-step by super-step.
    pub fn exchanges(&self) -> Exchanges {
        self.core.exchanges()
    }

    /// The time that this rank has spent on the parts of such super-steps.
    pub fn share_times(&self) -> ShareTimes {
        self.core.share_times()
    }

    /// The values of a state variable over a set: for a grid all strands in row-major order, for a
    /// collection in creation order. On a cluster rank 0 has those of all strands.
    pub fn gather(&self, variable: usize, set: StrandSet) -> Gathered {
        self.core.gather(variable, set)
    }

    /// Capacity of all live sequence buffers in bytes.
    pub fn live_sequence_bytes(&self) -> i64 {
        let workers = self.core.workers.iter().map(|worker| {
            worker
                .lock()
                .map_or(0, |worker| worker.sequences.live_bytes())
        });
        workers.sum::<i64>() + self.globals.live_bytes()
    }
}
