//! A run of a program: to its end in the cheapest way, or step by step, with files and other observers.

use crate::{
    Control, Counts, DefaultValue, DeviceOutput, Domain, End, Error, FileOptions, Inputs, Length,
    Observer, OutputData, Place, Program, Written, files::write_columns,
};
use compiler::{
    front::source::Source,
    run::{self, Recording},
};
use runtime::{
    output::{options::OutputOptions, plan::OtherFiles},
    world::Workers,
};
use std::{io::Write, sync::Arc};

/// A run of a program.
pub struct Run {
    source: Arc<Source>,
    run: run::Run,
    domain: Domain,
    /// The files that it reads, which it must not replace.
    others: OtherFiles,
    recording: Option<Recording>,
    written: Vec<Written>,
}

impl Run {
    pub(crate) fn new(program: &Program, inputs: &Inputs, workers: &Workers) -> Result<Run, Error> {
        let source = Arc::clone(program.source());
        let last = program.last_images();
        let run = run::Run::after(last, program.compiled(), &inputs.values, workers);
        let run = run.map_err(|failure| Error::of_run(&source, failure))?;
        Ok(Run {
            domain: run.domain(),
            others: OtherFiles {
                read: inputs.values.files_read(),
                written: Vec::new(),
            },
            recording: None,
            written: Vec::new(),
            source,
            run,
        })
    }

    /// Writes results, snapshots and films as the command does: snapshots and films on the way, results when no strand is active any
    /// more, or earlier by [`Run::finish_recording`]. To be called before strands are created. Gives warnings about lack of space.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn record(&mut self, options: &FileOptions) -> Result<Vec<String>, Error> {
        if self.recording.is_some() || !self.run.is_new() {
            let message = "a recording begins before the first step, and once";
            return Err(Error::Misuse(message.to_string()));
        }
        let mut recording = Recording::new(options.options.clone());
        let warnings = recording.begin(&self.run, 0, &self.others);
        let warnings = warnings.map_err(Error::Files)?;
        self.recording = Some(recording);
        Ok(warnings)
    }

    /// The handle by which other threads watch or stop it, from its beginning to its end.
    pub fn control(&self) -> &Arc<Control> {
        self.run.control()
    }

    /// The value of an input before the first super-step, given or by default; not that of a file.
    pub fn input(&self, name: &str) -> Option<DefaultValue> {
        self.run.input(name).map(|value| DefaultValue::from(&value))
    }

    /// The strands that are created.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Its length, as far as it is known.
    pub fn length(&self, limit: Option<u64>) -> Length {
        self.run.length(limit)
    }

    /// Creates the strands, unless that was done.
    ///
    /// # Errors
    /// There are too many, or the initialization of one fails.
    pub fn create(&mut self) -> Result<(), Error> {
        let created = self.run.create();
        self.checked(created)
    }

    /// Runs up to `limit` super-steps, or to the end; then strands that cannot be read later are not kept. Printed text goes to
    /// `printer`. When no strand is active any more, the recording is complete.
    ///
    /// # Errors
    /// The run-time error that ended the run, or a file that cannot be written.
    pub fn advance(&mut self, limit: Option<u64>, printer: &mut dyn Write) -> Result<End, Error> {
        self.observed(limit, printer, &mut ())
    }

    /// The same with an observer.
    ///
    /// # Errors
    /// Those of [`Run::advance`], or of the observer.
    pub fn observed(
        &mut self,
        limit: Option<u64>,
        printer: &mut dyn Write,
        observer: &mut dyn Observer,
    ) -> Result<End, Error> {
        let ran = match &mut self.recording {
            Some(recording) => self.run.run(limit, printer, &mut [recording, observer]),
            None => self.run.run(limit, printer, &mut [observer]),
        };
        let end = self.checked(ran)?;
        if end == End::Finished {
            self.finish_recording()?;
        }
        Ok(end)
    }

    /// Writes the results of the recording as they are now and completes its films, if it is not complete yet.
    ///
    /// # Errors
    /// A file cannot be written, or the run has no strands to write.
    pub fn finish_recording(&mut self) -> Result<&[Written], Error> {
        if self.recording.is_some() && !self.run.is_readable() {
            let message = "the run has no values to record";
            return Err(Error::Misuse(message.to_string()));
        }
        if let Some(mut recording) = self.recording.take() {
            let results = recording.write_results(&self.run);
            let all = results.and_then(|mut all| {
                all.extend(recording.finish()?);
                Ok(all)
            });
            self.written = all.map_err(|problem| Error::Files(vec![problem]))?;
        }
        Ok(&self.written)
    }

    /// The files of the recording, after the end.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// Super-steps completed.
    pub fn steps(&self) -> u64 {
        self.run.steps()
    }

    /// Sizes of the strand sets.
    pub fn counts(&self) -> Counts {
        self.run.counts()
    }

    /// Whether there is nothing more to run.
    pub fn is_over(&self) -> bool {
        self.run.is_over()
    }

    /// Memory that the sequences of all strands and global variables take, in bytes.
    pub fn sequence_bytes(&self) -> usize {
        self.run.sequence_bytes()
    }

    /// The outputs as they are now, of all strands that are alive.
    ///
    /// # Errors
    /// The strands could not be created for that, or the run was cancelled or has failed.
    pub fn outputs(&mut self) -> Result<Vec<OutputData>, Error> {
        self.create()?;
        let none = || Error::Misuse("the run has failed".to_string());
        self.run.outputs().ok_or_else(none)
    }

    /// Lets the outputs stay on the GPU, where other libraries can go on with them: if strands run there independently of each other, and all
    /// become stable. [`Run::outputs`] brings them back. To be called before strands are created.
    pub fn keep_on_device(&mut self) {
        self.run.keep_on_device();
    }

    /// The outputs that have stayed on the GPU, after the end. Nothing if they have come back.
    pub fn device_outputs(&self) -> Option<Vec<DeviceOutput>> {
        self.run.device_outputs()
    }

    /// The place of the strands' grid, if the positions at their creation show it.
    pub fn place(&self) -> Option<&Place> {
        self.run.place()
    }

    /// Writes the outputs as they are now to files.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn save(&mut self, options: &FileOptions) -> Result<Vec<Written>, Error> {
        let outputs = self.outputs()?;
        let plain = OutputOptions::default();
        let columns: Vec<_> = outputs.iter().map(|o| o.column(&plain)).collect();
        let domain = outputs.first().map_or(&self.domain, |data| &data.domain);
        write_columns(&columns, domain, self.place(), options, &self.others)
    }

    /// Notes about its images.
    pub fn notes(&self) -> Vec<String> {
        self.run.notes().iter().map(ToString::to_string).collect()
    }

    /// Warnings to report after it.
    pub fn warnings(&self) -> Vec<String> {
        self.run.warnings()
    }

    fn checked<R>(&self, result: Result<R, run::Failure>) -> Result<R, Error> {
        result.map_err(|failure| Error::of_run(&self.source, failure))
    }
}
