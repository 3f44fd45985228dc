//! The processor that runs the strands: the requested target, or the CPU with the reason.

use super::{
    Failure,
    devices::{self, Devices},
    images::Images,
};
use crate::{
    codegen::{
        Compiled, Target,
        gpu::{Accelerator, Cuda, DriverError, Fleet, KeptResults, Machine},
    },
    front::codes,
};
use runtime::cluster::Team;
use std::{
    fmt,
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// Why strands run on the CPU although a GPU was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What in the program or its images the GPU does not do.
    pub reason: String,
    /// Where the program does it, as a byte offset.
    pub place: Option<u32>,
}

impl Refusal {
    /// The warning, with words for the place.
    pub fn warning(&self, place: &str) -> String {
        format!("this program runs on the CPU: {self}{place}, which the GPU target does not do")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Where strands run.
#[derive(Default)]
pub(super) struct Placement {
    /// Whether they are to run on a GPU.
    pub(super) wants_accelerator: bool,
    /// The scalars of the outputs that are to stay on the GPU.
    pub(super) kept_slots: Option<Vec<Range<usize>>>,
    pub(super) accelerator: Option<Lent>,
    pub(super) refusal: Option<Refusal>,
    /// A remark about GPUs that are not there although they were asked for.
    pub(super) absence: Option<String>,
    /// The GPUs of all ranks, if several ranks run the strands on theirs.
    pub(super) devices: Option<Devices>,
    /// What the GPU failed with in a run that the CPU finished.
    trouble: Mutex<Option<DriverError>>,
}

/// GPUs that a run uses. Other runs with the same images may use them afterwards.
pub(super) struct Lent {
    /// There until the end.
    fleet: Option<Fleet>,
    images: Images,
    /// Whether they have ever failed: then they are not asked again.
    has_failed: AtomicBool,
}

impl Lent {
    pub(super) fn fleet(&self) -> &Fleet {
        self.fleet.as_ref().expect("it is lent until the end")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(fleet) = self.fleet.take().filter(|_| !self.has_failed.load(Relaxed)) {
            self.images.keep_idle(fleet);
        }
    }
}

impl Placement {
    /// Finds out; for a run of several ranks or of one.
    pub(super) fn new(
        program: &Compiled,
        images: &Images,
        team: Option<&Team>,
    ) -> Result<Placement, Failure> {
        let (samples, meshes) = (images.samples(), images.mesh_data());
        let refused = |reason: String, place| Placement {
            refusal: Some(Refusal { reason, place }),
            ..Placement::default()
        };
        let placement = match &program.kernel {
            _ if program.target == Target::Cpu && program.machines.is_empty() => {
                Placement::default()
            }
            None => Placement::default(),
            Some(Ok(_)) if team.is_some() && !program.abilities.independent() => {
                refused("strands of several ranks notice each other".into(), None)
            }
            Some(Err(unsupported)) => refused(unsupported.construct.to_string(), unsupported.place),
            Some(Ok(kernel)) => match Accelerator::refuses(kernel, &samples, &meshes) {
                Some(reason) => refused(reason, None),
                None => Placement {
                    wants_accelerator: true,
                    ..Placement::default()
                },
            },
        };
        match &placement.refusal {
            Some(refusal) if program.target == Target::CudaOnly => {
                let message = format!("{refusal}, which the GPU target does not do");
                Err(Failure {
                    place: refusal.place,
                    ..with_hint(Failure::new(codes::DEVICE, message))
                })
            }
            _ => Ok(placement),
        }
    }

    /// Takes the GPU in use, if strands are to run there. Without one they run on the CPU, unless that was ruled out. Ranks tell each
    /// other, and those without a GPU leave the strands to those that have one.
    pub(super) fn make_ready(
        &mut self,
        program: &Compiled,
        images: &Images,
        team: Option<&Team>,
    ) -> Result<(), Failure> {
        let is_wanted = self.wants_accelerator && self.accelerator.is_none();
        let Some(Ok(kernel)) = program.kernel.as_ref().filter(|_| is_wanted) else {
            return Ok(());
        };
        let machine = || match program.machines.first() {
            Some(machine) => Ok(machine.clone()),
            None => Cuda::shared().map(|cuda| cuda as Arc<dyn Machine>),
        };
        let fleet = match images.take_idle(kernel) {
            Some(fleet) => {
                fleet.begin();
                Ok(fleet)
            }
            None => machine().and_then(|machine| {
                Fleet::new(machine, kernel, &images.samples(), &images.mesh_data())
            }),
        };
        if let Some(team) = team {
            let mine = fleet.as_ref().map(|fleet| fleet.first().number());
            let devices = Devices::of_team(team, mine)?;
            match devices.absence() {
                Some(absence) if program.target == Target::CudaOnly => {
                    return Err(failure(absence));
                }
                absence => self.absence = absence,
            }
            self.devices = Some(devices).filter(Devices::are_any);
        }
        match fleet {
            Ok(fleet) => {
                if let Some(slots) = &self.kept_slots {
                    fleet.first().keep(slots.clone());
                }
                self.accelerator = Some(Lent {
                    fleet: Some(fleet),
                    images: images.clone(),
                    has_failed: AtomicBool::new(false),
                });
            }
            Err(error) if program.target == Target::CudaOnly => return Err(failure(error)),
            Err(error) => {
                self.wants_accelerator = false;
                let remark = || format!("this program runs on the CPU: {error}");
                self.absence.get_or_insert_with(remark);
            }
        }
        Ok(())
    }

    /// The other machines, ready to run strands. One that fails is done without.
    pub(super) fn others(program: &Compiled, images: &Images) -> Vec<Accelerator> {
        let Some(Ok(kernel)) = &program.kernel else {
            return Vec::new();
        };
        let machines: Vec<Arc<dyn Machine>> = match &program.machines[..] {
            [] => {
                let others = Cuda::others().into_iter();
                others.map(|other| other as Arc<dyn Machine>).collect()
            }
            machines => machines[1..].to_vec(),
        };
        let (samples, meshes) = (images.samples(), images.mesh_data());
        let ready = |machine| Accelerator::new(machine, kernel, &samples, &meshes).ok();
        machines.into_iter().filter_map(ready).collect()
    }

    /// What runs strands, if there is something that does and it has not failed.
    pub(super) fn accelerator(&self) -> Option<&Fleet> {
        let lent = self.accelerator.as_ref();
        let lent = lent.filter(|lent| !lent.has_failed.load(Relaxed));
        lent.map(Lent::fleet)
    }

    /// The results that have stayed on the GPU.
    pub(super) fn kept(&self) -> Option<Arc<KeptResults>> {
        self.accelerator()?.first().kept()
    }

    /// Takes note of what the GPU failed with.
    pub(super) fn fail(&self, error: DriverError) {
        if let Some(lent) = &self.accelerator {
            lent.has_failed.store(true, Relaxed);
        }
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // What comes after the first is its consequence.
        trouble.get_or_insert(error);
    }

    /// The failure of the GPU since the last call, if there was one.
    pub(super) fn take_trouble(&self) -> Option<Failure> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.take().map(failure)
    }

    /// The failures of the GPUs of all ranks since the last call.
    ///
    /// # Errors
    /// A rank has left.
    pub(super) fn troubles(&self, team: Option<&Team>) -> Result<Vec<Failure>, Failure> {
        let mine = self.take_trouble();
        match team.filter(|_| self.devices.is_some()) {
            None => Ok(mine.into_iter().collect()),
            Some(team) => {
                let all = devices::troubles_of_team(team, mine.as_ref())?;
                Ok(all.into_iter().map(failure).collect())
            }
        }
    }
}

fn failure(error: impl fmt::Display) -> Failure {
    with_hint(Failure::new(codes::DEVICE, error))
}

fn with_hint(failure: Failure) -> Failure {
    Failure {
        hints: vec!["without `--target` the program runs on the CPU, with the same results".into()],
        ..failure
    }
}
