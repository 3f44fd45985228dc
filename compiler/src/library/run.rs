//! A run from its inputs to its outputs, for callers that do not care how strands are stored: to the end in the cheapest
//! way, or step by step.

use super::{Compiled, Failure, Inputs, OutputData, RunEnd, Running};
use crate::run::{Images, Length, Prepared};
use runtime::{
    grid::Place,
    image::Note,
    output::Domain,
    strands::Counts,
    world::{Control, Workers},
};
use std::{io::Write, sync::Arc};

/// A run of a program.
pub struct Run {
    program: Compiled,
    images: Images,
    stage: Stage,
    workers: Workers,
    control: Arc<Control>,
    domain: Domain,
    place: Option<Place>,
}

/// How far it is.
enum Stage {
    /// There are no strands yet.
    Prepared(Box<Prepared>),
    Running(Box<Running>),
    /// It was cancelled or has failed, and there is nothing to read.
    Over,
}

impl Run {
    /// Loads images, takes inputs and computes the globals. Without a number of workers there is one for each core.
    ///
    /// # Errors
    /// An error in an input, or a run-time error of the initialization.
    pub fn new(
        program: &Compiled,
        inputs: &Inputs,
        workers: Option<usize>,
    ) -> Result<Run, Failure> {
        let images = Images::load(program, inputs)?;
        let prepared = Prepared::new(program, inputs, &images)?;
        Ok(Run {
            program: program.clone(),
            images,
            domain: prepared.domain(),
            stage: Stage::Prepared(Box::new(prepared)),
            workers: workers.into(),
            control: Arc::default(),
            place: None,
        })
    }

    /// The handle by which other threads watch or stop it, from its beginning to its end.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// The strands that are created.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Its length, as far as it is known.
    pub fn length(&self, limit: Option<u64>) -> Length {
        let strands = self.domain.strand_count() as u64;
        Length {
            strands: Some(strands).filter(|_| !self.program.abilities.creates),
            limit,
        }
    }

    /// Creates the strands, unless that was done.
    ///
    /// # Errors
    /// There are too many, or the initialization of one fails.
    pub fn create(&mut self) -> Result<(), Failure> {
        if let Stage::Prepared(_) = self.stage
            && let Stage::Prepared(prepared) = std::mem::replace(&mut self.stage, Stage::Over)
        {
            let mut running = prepared.create(&self.workers)?;
            running.set_control(Arc::clone(&self.control));
            self.begin(running);
        }
        Ok(())
    }

    fn begin(&mut self, running: Running) {
        self.place = running.automatic_place().and_then(Result::ok);
        self.stage = Stage::Running(Box::new(running));
    }

    /// Runs up to `limit` super-steps, or to the end; then strands that cannot be read later are not kept.
    ///
    /// # Errors
    /// The run-time error that ended the run.
    pub fn advance(
        &mut self,
        limit: Option<u64>,
        printer: &mut dyn Write,
    ) -> Result<RunEnd, Failure> {
        if limit.is_none()
            && let Stage::Prepared(_) = self.stage
            && let Stage::Prepared(prepared) = std::mem::replace(&mut self.stage, Stage::Over)
        {
            let (workers, control) = (&self.workers, &self.control);
            let Some(running) = prepared.complete(workers, control, printer, None)? else {
                return Ok(RunEnd::Cancelled);
            };
            self.begin(running);
            return Ok(match self.counts().active {
                0 => RunEnd::Finished,
                _ => RunEnd::Stopped,
            });
        }
        self.create()?;
        let Stage::Running(running) = &mut self.stage else {
            return Ok(RunEnd::Cancelled);
        };
        let end = running.run(limit, printer);
        if matches!(end, Err(_) | Ok(RunEnd::Cancelled)) {
            self.stage = Stage::Over;
        }
        end
    }

    /// Super-steps completed.
    pub fn steps(&self) -> u64 {
        match &self.stage {
            Stage::Running(running) => running.steps(),
            Stage::Prepared(_) | Stage::Over => self.control.progress().0,
        }
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        match &self.stage {
            Stage::Running(running) => running.counts(),
            Stage::Prepared(_) => Counts {
                active: self.domain.strand_count() as u64,
                ..Counts::default()
            },
            Stage::Over => self.control.progress().1,
        }
    }

    /// Whether there is nothing more to run.
    pub fn is_over(&self) -> bool {
        match &self.stage {
            Stage::Prepared(_) => false,
            Stage::Running(running) => running.counts().active == 0,
            Stage::Over => true,
        }
    }

    /// The outputs as they are now; of a run that is not at its end those of all living strands. Nothing if it was cancelled or
    /// has failed.
    ///
    /// # Errors
    /// The strands were to be created for that, and could not.
    pub fn outputs(&mut self) -> Result<Option<Vec<OutputData>>, Failure> {
        self.create()?;
        Ok(match &self.stage {
            Stage::Running(running) => Some(running.outputs(running.counts().active > 0)),
            Stage::Prepared(_) | Stage::Over => None,
        })
    }

    /// The place of the strands' grid, if their positions show it.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Notes for the user about the images.
    pub fn notes(&self) -> &[Note] {
        self.images.notes()
    }

    /// Warnings to report after the run.
    pub fn warnings(&self) -> Vec<String> {
        let meshes = self.images.mesh_notes().iter().cloned();
        let running = match &self.stage {
            Stage::Running(running) => Some(&**running),
            Stage::Prepared(_) | Stage::Over => None,
        };
        let missed = self.images.warnings(&self.program, running);
        let target = running.map_or_else(Vec::new, Running::target_warnings);
        target.into_iter().chain(meshes).chain(missed).collect()
    }
}
