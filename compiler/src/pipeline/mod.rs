//! The stages from source text to machine code, one line each.
//!
//! Every stage is timed, dumped if asked for, and its result verified: a violation is a compiler bug and ends the compilation
//! with the stage, the broken rule and the IR.

mod place;
mod stages;

pub use crate::codegen::Compiled;
use crate::{
    codegen::{
        Lanes, Target, generate,
        gpu::{Cuda, Kernel},
    },
    front::{
        self, CheckOptions, Checked, codes::Code, deep, diag::Diagnostic, source::Source, syntax,
        tree,
    },
    high::{self, High, Translation},
    low::{self, Bounds, Low, Slots, Zeros},
    mid::{self, Mid},
    ssa::{Dialect, Function, Program, number_values, remove_dead},
};
pub use rewrite::{Engine, counted_rules};
use runtime::simd::Isa;
pub use stages::{STAGES, Stage};
use std::time::{Duration, Instant};

/// Strands per call that code can be made for.
pub const WIDTHS: [usize; 4] = [1, 4, 8, 16];

/// What the user may choose about a compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether reals have 64 bits rather than 32.
    pub double: bool,
    /// Whether integers have 64 bits rather than 32.
    pub long_int: bool,
    /// Strands per call, one of [`WIDTHS`]; chosen for the machine if not given.
    pub width: Option<usize>,
    /// The instruction set that generated code may use for vectors; that of the machine if not given.
    pub isa: Option<Isa>,
    /// Where strands run.
    pub target: Target,
    /// Values for constants, `--Cname=value`.
    pub constants: Vec<(String, String)>,
    /// The warnings of [`front::codes::ON_DEMAND`] that are wanted.
    pub warn: Vec<Code>,
    /// How operators are normalized.
    pub normalization: rewrite::Options,
    /// Which probes bounds of the images may save.
    pub bounds: Bounds,
}

impl Options {
    /// What the front end needs of them.
    pub fn check(&self) -> CheckOptions {
        CheckOptions {
            constants: self.constants.clone(),
            long_int: self.long_int,
            warn: self.warn.clone(),
        }
    }

    /// The instruction set that generated code may use for vectors, which the machine has.
    pub fn isa(&self) -> Isa {
        let best = Isa::detect();
        self.isa.map_or(best, |wanted| wanted.min(best))
    }

    /// The lanes that these options ask for.
    pub fn lanes(&self) -> Lanes {
        let best = match (self.isa(), self.double) {
            (Isa::Avx512, false) => 16,
            (Isa::Avx512, true) | (_, false) => 8,
            (_, true) => 4,
        };
        // Lanes of integers are as wide as those of reals, so 64-bit integers with 32-bit reals run one by one.
        let width = if self.long_int && !self.double {
            1
        } else {
            self.width.unwrap_or(best)
        };
        Lanes {
            double: self.double,
            long_int: self.long_int,
            width,
        }
    }
}

/// Watches a compilation: collects times and dumps.
#[derive(Debug, Default)]
pub struct Session {
    /// The stages after which the program is dumped.
    pub dump_after: Vec<String>,
    /// The stage after which to stop.
    pub stop_after: Option<String>,
    /// The dumps: stage and text.
    pub dumps: Vec<(&'static str, String)>,
    /// How long each stage took.
    pub times: Vec<(&'static str, Duration)>,
    /// How often each rewrite rule fired.
    pub rules: high::RuleCounts,
}

/// Why there is no machine code.
#[derive(Debug)]
pub enum Stopped {
    /// The program has errors; warnings may be among them.
    Errors(Vec<Diagnostic>),
    /// The stage after which to stop was reached.
    Asked,
}

impl Session {
    fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.times.push((name, start.elapsed()));
        result
    }

    /// Dumps the result of a stage if asked for, and says whether to go on.
    fn done(&mut self, name: &'static str, text: impl FnOnce() -> String) -> Result<(), Stopped> {
        let stop = self.stop_after.as_deref() == Some(name);
        if stop || self.dump_after.iter().any(|wanted| wanted == name) {
            self.dumps.push((name, text()));
        }
        if stop { Err(Stopped::Asked) } else { Ok(()) }
    }

    /// Whether the result of a stage is to be printed.
    fn wants(&self, name: &str) -> bool {
        let mut wanted = self.stop_after.iter().chain(&self.dump_after);
        wanted.any(|wanted| wanted == name)
    }

    fn checked<D: Dialect>(
        &mut self,
        name: &'static str,
        program: &Program<D>,
    ) -> Result<(), Stopped> {
        program.assert_valid(name);
        self.done(name, || program.to_string())
    }
}

/// A program after every stage but the last.
#[derive(Debug)]
pub struct Lowered {
    /// As translated.
    pub translated: Program<High>,
    /// With derivatives by variables as operators.
    pub derived: Program<High>,
    /// With normalized operators.
    pub normalized: Program<High>,
    /// With fields reconstructed.
    pub reconstructed: Program<Mid>,
    /// In scalars.
    pub scalarized: Program<Low>,
    /// With everything that is the same for all strands computed once.
    pub hoisted: Program<Low>,
    /// With probes that bounds of the images may save.
    pub bounded: Program<Low>,
    /// Warnings about it.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a program up to Low-IR.
///
/// # Errors
/// The program's errors, or that the session asked to stop earlier.
pub fn lower(
    session: &mut Session,
    source: &Source,
    options: &Options,
) -> Result<Lowered, Stopped> {
    deep(|| {
        let mut stages = Stages::default();
        let (bounded, warnings, _) = lower_here(session, source, options, Some(&mut stages))?;
        let kept = "the stage was passed";
        Ok(Lowered {
            translated: stages.translated.expect(kept),
            derived: stages.derived.expect(kept),
            normalized: stages.normalized.expect(kept),
            reconstructed: stages.reconstructed.expect(kept),
            scalarized: stages.scalarized.expect(kept),
            hoisted: stages.hoisted.expect(kept),
            bounded,
            warnings,
        })
    })
}

/// The results of the stages before the last, for dumps.
#[derive(Default)]
struct Stages {
    translated: Option<Program<High>>,
    derived: Option<Program<High>>,
    normalized: Option<Program<High>>,
    reconstructed: Option<Program<Mid>>,
    scalarized: Option<Program<Low>>,
    hoisted: Option<Program<Low>>,
}

/// Compiles a program up to Low-IR; gives it with warnings and with its typed tree.
fn lower_here(
    session: &mut Session,
    source: &Source,
    options: &Options,
    mut stages: Option<&mut Stages>,
) -> Result<(Program<Low>, Vec<Diagnostic>, tree::Program), Stopped> {
    let (ast, errors) = session.stage("ast", || syntax::parse(source));
    session.done("ast", || {
        syntax::print::print_with_comments(&ast, &source.text)
    })?;
    let checked = session.stage("typed", || {
        front::check_parsed(source, ast, errors, &options.check())
    });
    if let Some(typed) = &checked.program {
        session.done("typed", || tree::print(typed))?;
    }
    let checked = session.stage("elaborate", || checked.elaborated());
    let mut warnings = checked.diagnostics;
    let Some(typed) = checked.program else {
        return Err(Stopped::Errors(warnings));
    };
    session.done("elaborate", || tree::print(&typed))?;
    let Translation {
        program: translated,
        requests,
        ..
    } = session.stage("translate", || high::translate(&typed, options.long_int));
    session.checked("translate", &translated)?;
    if let Some(stages) = &mut stages {
        stages.translated = Some(translated.clone());
    }
    let (derived, findings) = session.stage("derive", || {
        let (derived, findings) = high::derive::derive(translated);
        match requests.is_empty() {
            true => (derived, findings),
            false => (derived.map(|_, f| remove_dead(f)), findings),
        }
    });
    warnings.extend(high::derive::diagnostics(source, &requests, findings));
    // From here on nothing is the user's fault.
    if warnings.iter().any(Diagnostic::is_error) {
        return Err(Stopped::Errors(warnings));
    }
    session.checked("derive", &derived)?;
    if let Some(stages) = &mut stages {
        stages.derived = Some(derived.clone());
    }
    let (normalized, rules) = session.stage("normalize", || {
        high::normalize_program(derived, &options.normalization)
    });
    session.rules = rules;
    session.checked("normalize", &normalized)?;
    if let Some(stages) = &mut stages {
        stages.normalized = Some(normalized.clone());
    }
    let reconstructed: Program<Mid> =
        session.stage("reconstruct", || normalized.map(|_, f| reconstruct(f)));
    session.checked("reconstruct", &reconstructed)?;
    if let Some(stages) = &mut stages {
        stages.reconstructed = Some(reconstructed.clone());
    }
    let slots = Slots::of(&reconstructed.interface);
    let scalarized = session.stage("scalarize", || {
        let scalarize = |_, f| scalarize(&f, &slots);
        reconstructed.map(scalarize)
    });
    session.checked("scalarize", &scalarized)?;
    if let Some(stages) = &mut stages {
        stages.scalarized = Some(scalarized.clone());
    }
    let hoisted = session.stage("hoist", || {
        let flat = |_, f| clean(low::flatten_short_ifs(f));
        low::hoist(scalarized.map(flat))
    });
    session.checked("hoist", &hoisted)?;
    if let Some(stages) = &mut stages {
        stages.hoisted = Some(hoisted.clone());
    }
    let bounded = session.stage("bounds", || low::decide_by_bounds(hoisted, options.bounds));
    session.checked("bounds", &bounded)?;
    Ok((bounded, warnings, typed))
}

/// Reads and checks a program: an accepted program can be compiled. This is the entry point for all analysis of programs.
pub fn check(source: &Source, options: &Options) -> Checked {
    let mut checked = front::check(source, &options.check());
    let Some(program) = &checked.program else {
        return checked;
    };
    let found = deep(|| {
        let translation = high::translate(program, options.long_int);
        if translation.requests.is_empty() {
            return Vec::new();
        }
        let (_, findings) = high::derive::derive(translation.program);
        high::derive::diagnostics(source, &translation.requests, findings)
    });
    if found.iter().any(Diagnostic::is_error) {
        checked.program = None;
    }
    checked.diagnostics.extend(found);
    checked
}

/// Compiles a program to machine code.
///
/// # Errors
/// The program's errors, or that the session asked to stop earlier.
pub fn compile(
    session: &mut Session,
    source: &Source,
    options: &Options,
) -> Result<Compiled, Stopped> {
    if options.target != Target::Cpu {
        Cuda::wake();
    }
    deep(|| {
        let (bounded, warnings, typed) = lower_here(session, source, options, None)?;
        // A printed program is for all images; code is regenerated for images that are not aligned with the world.
        let zeros = match session.stop_after {
            Some(_) => Zeros::default(),
            None => Zeros::aligned(&bounded.interface),
        };
        let fitted = session.stage("fit", || low::fit(&bounded, zeros));
        session.checked("fit", &fitted.program)?;
        let (lanes, isa) = (options.lanes(), options.isa());
        let mut compiled = session.stage("generate", || {
            generate(bounded, fitted, lanes, isa, warnings)
        });
        let wants_kernel = ["device", "ptx", "cuda"]
            .iter()
            .any(|name| session.wants(name));
        if options.target != Target::Cpu || wants_kernel {
            let device = session.stage("device", || compiled.device_program());
            let on_cpu = |construct| format!("// on the CPU: {construct}\n");
            match &device {
                Ok(program) => session.checked("device", program)?,
                Err(construct) => session.done("device", || on_cpu(*construct))?,
            }
            let place = |construct| Some(place::place_of(construct, &typed)?.start);
            session.stage("ptx", || compiled.place(options.target, device, place));
            let printed = |print: fn(&Kernel) -> String| match &compiled.kernel {
                Some(Ok(kernel)) => print(kernel),
                Some(Err(reason)) => on_cpu(reason.construct),
                None => String::new(),
            };
            session.done("ptx", || printed(|kernel| kernel.text.clone()))?;
            session.done("cuda", || printed(Kernel::in_c))?;
        }
        Ok(compiled)
    })
}

/// The stage `reconstruct` for one function.
pub(crate) fn reconstruct(function: Function<High>) -> Function<Mid> {
    clean(mid::reconstruct(function))
}

/// The stage `scalarize` for one function.
pub(crate) fn scalarize(function: &Function<Mid>, slots: &Slots) -> Function<Low> {
    clean(low::fold_constants(low::scalarize(function, slots)))
}

fn clean<D: Dialect>(function: Function<D>) -> Function<D> {
    remove_dead(number_values(function))
}
