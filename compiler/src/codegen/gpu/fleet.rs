//! Several machines: where there are more strands than keep one busy, and strands run to their ends, each machine runs a part of
//! them.

use super::{
    driver::DriverError,
    kernel::{Cell, Kernel},
    launch::{Accelerator, MANY, Machine, Phases},
    meshes::MeshData,
    samples::Samples,
};
use runtime::world::{Batch, Job};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// A program on all machines that run it.
pub struct Fleet {
    /// The kernel, as the program has it.
    kernel: Arc<Kernel>,
    first: Accelerator,
    /// Prepared when there are enough strands for them.
    others: OnceLock<Vec<Accelerator>>,
}

impl Fleet {
    /// A kernel on one machine, for the time being.
    ///
    /// # Errors
    /// The machine cannot run it, or has too little memory.
    pub fn new(
        machine: Arc<dyn Machine>,
        kernel: &Arc<Kernel>,
        images: &[Samples<'_>],
        meshes: &[MeshData<'_>],
    ) -> Result<Fleet, DriverError> {
        Ok(Fleet {
            kernel: Arc::clone(kernel),
            first: Accelerator::new(machine, kernel, images, meshes)?,
            others: OnceLock::new(),
        })
    }

    /// Whether it runs this kernel.
    pub fn runs(&self, kernel: &Arc<Kernel>) -> bool {
        Arc::ptr_eq(&self.kernel, kernel)
    }

    /// Whether it runs the kernel of another fleet.
    pub fn runs_like(&self, other: &Fleet) -> bool {
        self.runs(&other.kernel)
    }

    /// Begins another run with the same images.
    pub fn begin(&self) {
        let others = self.others.get().into_iter().flatten();
        std::iter::once(&self.first)
            .chain(others)
            .for_each(Accelerator::begin);
    }

    /// The machine that has all strands while they keep in step.
    pub fn first(&self) -> &Accelerator {
        &self.first
    }

    /// How long everything took so far; of machines that work at the same time, the longest.
    pub fn phases(&self) -> Phases {
        let others = self.others.get().into_iter().flatten();
        others.fold(self.first.phases(), |longest, other| {
            let other = other.phases();
            Phases {
                load: longest.load.max(other.load),
                transfer: longest.transfer.max(other.transfer),
                kernel: longest.kernel.max(other.kernel),
            }
        })
    }

    /// What [`Accelerator::contacts`] gives, for all machines together; that of a machine that fails is left out.
    pub fn contacts(&self) -> Vec<[bool; 2]> {
        let others = self.others.get().into_iter().flatten();
        let machines = std::iter::once(&self.first).chain(others);
        let known = machines.filter_map(|machine| machine.contacts().ok());
        let both = |a: Vec<[bool; 2]>, b: Vec<[bool; 2]>| {
            let pairs = a.into_iter().zip(b);
            pairs.map(|(a, b)| [a[0] | b[0], a[1] | b[1]]).collect()
        };
        known.reduce(both).unwrap_or_default()
    }

    /// Forgets all probes.
    ///
    /// # Errors
    /// A machine failed.
    pub fn forget_contacts(&self) -> Result<(), DriverError> {
        let others = self.others.get().into_iter().flatten();
        let mut machines = std::iter::once(&self.first).chain(others);
        machines.try_for_each(Accelerator::forget_contacts)
    }

    /// Makes and runs strands as [`Accelerator::make_and_run`] does, on the first machine. False as well if there are enough strands for
    /// several machines; `more` prepares the others.
    ///
    /// # Errors
    /// The machine failed.
    pub fn make_and_run(
        &self,
        job: &mut Job<'_>,
        slots: &dyn Fn(usize) -> Option<Range<usize>>,
        value: &dyn Fn(Cell) -> u64,
        more: impl FnOnce() -> Vec<Accelerator>,
    ) -> Result<bool, DriverError> {
        let most = self.first.machine.strands_at_a_time().min(MANY);
        if job.places > most && !self.others.get_or_init(more).is_empty() {
            return Ok(false);
        }
        self.first.make_and_run(job, slots, value)
    }

    /// Runs strands as [`Accelerator::run`] does; `more` prepares the other machines.
    ///
    /// # Errors
    /// A machine failed. If strands run to their ends, the fate of every strand is known even then.
    pub fn run(
        &self,
        batch: &mut Batch<'_>,
        (value, strings): (&(dyn Fn(Cell) -> u64 + Sync), &[Arc<str>]),
        more: impl FnOnce() -> Vec<Accelerator>,
    ) -> Result<(), DriverError> {
        let most = self.first.machine.strands_at_a_time().min(MANY);
        let is_one_enough = self.first.keeps() || batch.blocks() * batch.width <= most;
        if !batch.independent || is_one_enough {
            return self.first.run(batch, value, strings);
        }
        let others = self.others.get_or_init(more);
        let parts = batch.split(1 + others.len());
        let machines = std::iter::once(&self.first).chain(others);
        let ran: Vec<(Vec<u32>, Result<(), DriverError>)> = std::thread::scope(|scope| {
            let run = |(machine, mut part): (&_, Batch<'_>)| {
                let ran = Accelerator::run(machine, &mut part, value, strings);
                (part.fates, ran)
            };
            let threads: Vec<_> = machines
                .zip(parts)
                .map(|pair| scope.spawn(move || run(pair)))
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let (fates, ran): (Vec<_>, Vec<_>) = ran.into_iter().unzip();
        batch.fates = fates.concat();
        ran.into_iter().collect()
    }
}
