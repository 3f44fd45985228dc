//! Files of a run: results, snapshots and films, as an observer of it.

mod early_files;

use super::{Observer, OutputData, Rows, Run, outputs, space};
use crate::codegen::Compiled;
use early_files::EarlyFiles;
use runtime::{
    grid::{Place, Placement},
    output::{
        early::Early,
        film::Film,
        options::FileOptions,
        plan::{OtherFiles, Plan, PlannedFile, plan},
        run_files::check_run_files,
        sheet::{Sheet, output_of_sheet},
        write::{Contents, Number, Style, Written, write},
    },
    world::RunEnd,
};
use std::time::{Duration, Instant};

/// Writes the outputs of a run, or of several one after the other, to files.
pub struct Recording {
    /// Whether files are written here, and not by another process.
    writes: bool,
    options: FileOptions,
    style: Style,
    plan: Plan,
    /// The number of the run, if there are several.
    number: Option<Number>,
    /// The place of each output's grid.
    places: Vec<Option<Place>>,
    early: EarlyFiles,
    /// The super-step of the last snapshot.
    snapshot: Option<u64>,
    /// Films in the making, in the order of the plan.
    films: Vec<Film>,
    /// A picture of all runs in the making, and the output that it shows.
    sheet: Option<(Sheet, usize)>,
    /// The time at which strands that are kept were there.
    pub created: Option<Instant>,
    /// The time that gathering values has taken.
    pub gathering: Duration,
    /// The time that writing files has taken.
    pub writing: Duration,
}

impl Recording {
    /// Files with these options.
    pub fn new(options: FileOptions) -> Recording {
        Recording {
            writes: true,
            style: Style {
                depth: options.depth,
                nan: options.nan,
                points: options.points.clone(),
                ..Style::default()
            },
            options,
            plan: Plan::default(),
            number: None,
            places: Vec::new(),
            early: EarlyFiles::default(),
            snapshot: None,
            films: Vec::new(),
            sheet: None,
            created: None,
            gathering: Duration::ZERO,
            writing: Duration::ZERO,
        }
    }

    /// The files of a run that another process writes. The run takes the same way as there.
    pub fn elsewhere(options: FileOptions) -> Recording {
        Recording {
            writes: false,
            ..Recording::new(options)
        }
    }

    /// Adds a picture of all runs.
    pub(crate) fn add_sheet(&mut self, sheet: Sheet) {
        self.sheet = Some((sheet, 0));
    }

    /// The problems with the files of several runs that have names of their own; to be asked for before the first. `describe` has the values
    /// of a run.
    pub(crate) fn problems(
        &self,
        program: &Compiled,
        others: &OtherFiles,
        describe: &dyn Fn(usize) -> String,
    ) -> Vec<String> {
        if !self.writes {
            return Vec::new();
        }
        let outputs = outputs(&program.interface);
        check_run_files(&outputs, &self.options, others, describe)
    }

    /// Plans the files of a run that has no strands yet, the `number`th of several if there are several. Gives warnings about lack of
    /// space.
    ///
    /// # Errors
    /// Everything that is wrong with the files, each a sentence.
    pub fn begin(
        &mut self,
        run: &Run,
        number: usize,
        others: &OtherFiles,
    ) -> Result<Vec<String>, Vec<String>> {
        if !self.writes {
            return Ok(Vec::new());
        }
        let outputs = outputs(&run.program.interface);
        let options = self.options.of_run(number);
        let planned = plan(&outputs, &run.domain(), &options, others);
        let mut problems = planned.as_ref().err().cloned().unwrap_or_default();
        for (output, options) in outputs.iter().zip(&self.options.outputs) {
            let place = options.place.as_ref();
            if let Some(Err(problem)) = place.map(|place| run.check_place(place)) {
                problems.push(format!("the place of output `{}`: {problem}", output.name));
            }
        }
        if let Some((_, shown)) = &mut self.sheet {
            match output_of_sheet(&outputs, &run.domain(), &options) {
                Ok(output) => *shown = output,
                Err(problem) => problems.push(problem),
            }
        }
        let is_first = self.plan == Plan::default();
        self.plan = match planned {
            Ok(plan) if problems.is_empty() => plan,
            _ => return Err(problems),
        };
        self.number = self.plan.runs.map(|_| Number {
            value: number as u64,
            digits: self.plan.digits,
        });
        (self.created, self.snapshot) = (None, None);
        self.early = EarlyFiles::default();
        if self.films.is_empty() {
            let films = self.plan.films.iter();
            let film =
                |target: &PlannedFile| Film::new(&target.destination, self.options.per_second);
            self.films = films.map(film).collect();
        }
        let warnings = match is_first {
            true => space::warnings(&self.plan, &run.domain(), &run.program),
            false => Vec::new(),
        };
        Ok(warnings)
    }

    /// The plan of the files.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Writes the results of a run that has ended, with a last snapshot if there are snapshots, and adds a picture of each to the films of
    /// several runs. Gives the results.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_results(&mut self, run: &Run) -> Result<Vec<Written>, String> {
        if self.period().is_some() && self.snapshot != Some(run.steps()) {
            self.stepped(run)?;
        }
        let mut early = std::mem::take(&mut self.early).files.into_iter();
        let mut all = Vec::new();
        for target in self.plan.results.clone() {
            let written = match early.next() {
                Some((_, Some(file))) => {
                    let start = Instant::now();
                    let finished = file.finish();
                    self.writing += start.elapsed();
                    finished.map_err(|error| error.to_string())?
                }
                _ => self.write(run, &target, self.number_of(&target))?,
            };
            all.extend(written);
        }
        if self.plan.runs.is_some() {
            self.add_to_films(run)?;
            self.add_to_sheet(run)?;
        }
        Ok(all)
    }

    /// The number in the name of a result, if it has one.
    fn number_of(&self, target: &PlannedFile) -> Option<Number> {
        let is_numbered = self.options.are_numbered(&target.outputs);
        self.number.filter(|_| is_numbered)
    }

    /// The results whose names have the numbers of runs.
    pub(crate) fn numbered_results(&self) -> impl Iterator<Item = &PlannedFile> {
        let results = self.plan.results.iter();
        results.filter(|target| self.options.are_numbered(&target.outputs))
    }

    /// Completes the films and the picture of all runs, after the last run.
    ///
    /// # Errors
    /// One has no pictures, or cannot be written.
    pub fn finish(&mut self) -> Result<Vec<Written>, String> {
        let films = std::mem::take(&mut self.films).into_iter();
        let sheet = self.sheet.take().into_iter();
        let written = films.map(Film::finish);
        let written = written.chain(sheet.map(|(sheet, _)| sheet.finish()));
        written
            .map(|written| written.map_err(|error| error.to_string()))
            .collect()
    }

    /// Begins the file of a result that can be written as its values come.
    fn begin_early(&self, run: &Run, target: &PlannedFile) -> Option<Early> {
        let [output] = target.outputs[..] else {
            return None;
        };
        let options = &self.options.outputs[output];
        let (data, place) = run.early_output(output, options.place.as_ref())?;
        let contents = Contents {
            columns: &[data.column(options)],
            domain: &data.domain,
            place: place.as_ref(),
        };
        Early::begin(&target.destination, self.number_of(target), contents)
    }

    fn write(
        &mut self,
        run: &Run,
        target: &PlannedFile,
        number: Option<Number>,
    ) -> Result<Vec<Written>, String> {
        let start = Instant::now();
        let data = target.outputs.iter().map(|&n| self.output(run, n));
        let data: Vec<OutputData> = data.collect::<Result<_, _>>()?;
        self.gathering += start.elapsed();
        let start = Instant::now();
        let columns = data.iter().zip(&target.outputs);
        let columns: Vec<_> = columns
            .map(|(data, &n)| data.column(&self.options.outputs[n]))
            .collect();
        let contents = Contents {
            columns: &columns,
            domain: &data[0].domain,
            place: self.places[target.outputs[0]].as_ref(),
        };
        let style = &self.style;
        let written = run.on_workers(|| write(&target.destination, number, contents, style));
        self.writing += start.elapsed();
        written.map_err(|error| error.to_string())
    }

    fn add_to_films(&mut self, run: &Run) -> Result<(), String> {
        for (n, target) in self.plan.films.iter().enumerate() {
            let output = target.outputs[0];
            let data = self.output(run, output)?;
            let contents = Contents {
                columns: &[data.column(&self.options.outputs[output])],
                domain: &data.domain,
                place: self.places[output].as_ref(),
            };
            self.films[n]
                .add(contents, &self.style)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn add_to_sheet(&mut self, run: &Run) -> Result<(), String> {
        let Some((_, output)) = self.sheet else {
            return Ok(());
        };
        let data = self.output(run, output)?;
        let contents = Contents {
            columns: &[data.column(&self.options.outputs[output])],
            domain: &data.domain,
            place: self.places[output].as_ref(),
        };
        if let (Some((sheet, _)), Some(number)) = (&mut self.sheet, self.number) {
            let added = sheet.add(number.value as usize, contents, &self.style);
            added.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn output(&self, run: &Run, number: usize) -> Result<OutputData, String> {
        let missing = || "the run has no values to write".to_string();
        run.output(number).ok_or_else(missing)
    }
}

impl Observer for Recording {
    fn needs_strands(&self) -> bool {
        let by_variable = |place: &Placement| matches!(place, Placement::Variable(_));
        let mut places = self.options.outputs.iter().flat_map(|o| &o.place);
        places.any(by_variable)
    }

    fn period(&self) -> Option<u64> {
        self.options.snapshot_period
    }

    fn streams(&mut self, run: &Run) {
        let begin = |target: &PlannedFile| (target.outputs.clone(), self.begin_early(run, target));
        let files: Vec<_> = self.plan.results.iter().map(begin).collect();
        self.early = EarlyFiles {
            files,
            // Several runs may also be made a film of.
            are_last: self.plan.runs.is_none(),
        };
    }

    fn rows(&self) -> Option<&dyn Rows> {
        let is_any = self.early.files.iter().any(|(_, file)| file.is_some());
        is_any.then_some(&self.early)
    }

    fn created(&mut self, run: &Run) -> Result<(), String> {
        self.created = run.keeps().then(Instant::now);
        if !self.writes {
            return Ok(());
        }
        let places = self
            .options
            .outputs
            .iter()
            .map(|output| match &output.place {
                None => Ok(run.place().cloned()),
                Some(place) => run.requested_place(place),
            });
        self.places = places.collect::<Result<_, _>>()?;
        match run.keeps() {
            true => space::check_memory(&self.plan, &run.domain(), &run.program),
            false => Ok(()),
        }
    }

    fn stepped(&mut self, run: &Run) -> Result<(), String> {
        self.snapshot = Some(run.steps());
        let number = Number {
            value: run.steps(),
            digits: self.plan.digits,
        };
        for target in self.plan.snapshots.clone() {
            self.write(run, &target, Some(number))?;
        }
        self.add_to_films(run)
    }

    fn ended(&mut self, run: &Run, _end: RunEnd) -> Result<(), String> {
        if !run.is_streamed() {
            self.early = EarlyFiles::default();
        }
        Ok(())
    }
}
