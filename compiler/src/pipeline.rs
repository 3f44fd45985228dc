//! The stages from source text to machine code, one line each.
//!
//! Every stage is timed, dumped if asked for, and its result verified: a violation is a bug of ours and ends the compilation
//! with the stage, what is broken and the IR.

use crate::{
    diag::Diagnostic,
    high::{self, High},
    jit,
    low::{self, Low, Slots},
    mid::{self, Mid},
    program::{Interface, Program, Role},
    source::Source,
    ssa::{Dialect, number_values, remove_dead},
    syntax, typed,
};
pub use rewrite::{Engine, counted_rules};
use runtime::strands::{self, Kind, Scalar, Sharing, StateLayout};
use std::time::{Duration, Instant};

/// What the user may choose about a compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether reals have 64 bits rather than 32.
    pub double: bool,
    /// Whether integers have 64 bits rather than 32.
    pub long_int: bool,
    /// Strands per call: 1, 4, 8 or 16; chosen for the machine if not given.
    pub width: Option<usize>,
    /// Values for constants, `--Cname=value`.
    pub constants: Vec<(String, String)>,
    /// How operators are normalized.
    pub normalization: rewrite::Options,
}

impl Options {
    /// The lanes that these options ask for.
    pub fn lanes(&self) -> jit::Lanes {
        let best = match (runtime::simd::Isa::detect(), self.double) {
            (runtime::simd::Isa::Avx512, false) => 16,
            (runtime::simd::Isa::Avx512, true) | (_, false) => 8,
            (_, true) => 4,
        };
        // Lanes of integers are as wide as those of reals, so 64-bit integers with 32-bit reals run one by one.
        let width = if self.long_int && !self.double {
            1
        } else {
            self.width.unwrap_or(best)
        };
        jit::Lanes {
            double: self.double,
            long_int: self.long_int,
            width,
        }
    }

    /// The lanes for a program: long programs get fewer if the user did not choose, because the time to allocate registers
    /// grows faster than the number of instructions, and there is one for every part of a value.
    fn lanes_for(&self, program: &Program<Low>) -> jit::Lanes {
        const MOST_INSTRUCTIONS: usize = 16_000;
        let longest = program
            .functions
            .iter()
            .map(|(_, f)| f.types.len())
            .max()
            .unwrap_or(0);
        let mut lanes = self.lanes();
        while self.width.is_none() && lanes.width > 4 && longest * lanes.parts() > MOST_INSTRUCTIONS
        {
            lanes.width /= 2;
        }
        lanes
    }
}

/// A stage of the compilation, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// Every stage, in order.
pub const STAGES: &[Stage] = &[
    Stage {
        name: "ast",
        about: "the syntax tree, printed as source",
    },
    Stage {
        name: "typed",
        about: "names resolved, overloads chosen, coercions explicit",
    },
    Stage {
        name: "translate",
        about: "High-IR: functions inlined, operators in index notation",
    },
    Stage {
        name: "normalize",
        about: "High-IR: derivatives and probes at leaf fields only, planned",
    },
    Stage {
        name: "reconstruct",
        about: "Mid-IR: probes of images in index space",
    },
    Stage {
        name: "scalarize",
        about: "Low-IR: scalars only",
    },
    Stage {
        name: "generate",
        about: "machine code",
    },
];

/// Watches a compilation: collects times and dumps.
#[derive(Debug, Default)]
pub struct Session {
    /// The stages after which the program is dumped.
    pub dump_after: Vec<String>,
    /// The stage after which to stop.
    pub stop_after: Option<String>,
    /// What was dumped: stage and text.
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

    fn checked<D: Dialect>(
        &mut self,
        name: &'static str,
        program: &Program<D>,
    ) -> Result<(), Stopped> {
        let violations = program.verify();
        assert!(
            violations.is_empty(),
            "stage `{name}` broke the program:\n{}\n{program}",
            violations.join("\n")
        );
        self.done(name, || program.to_string())
    }
}

/// A program compiled to machine code.
#[derive(Debug)]
pub struct Compiled {
    /// Its interface.
    pub interface: std::sync::Arc<Interface>,
    /// Its code.
    pub code: jit::Code,
    /// Where strands keep their state.
    pub layout: StateLayout,
    /// Where the scalars of variables lie.
    pub slots: Slots,
    /// The lanes of its code.
    pub lanes: jit::Lanes,
    /// Warnings about it.
    pub warnings: Vec<Diagnostic>,
}

/// A program after every stage but the last.
#[derive(Debug)]
pub struct Lowered {
    /// As translated.
    pub translated: Program<High>,
    /// With normalized operators.
    pub normalized: Program<High>,
    /// With fields reconstructed.
    pub reconstructed: Program<Mid>,
    /// In scalars.
    pub scalarized: Program<Low>,
    /// Where the scalars of variables lie.
    pub slots: Slots,
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
    let (ast, errors) = session.stage("ast", || syntax::parse(source));
    session.done("ast", || syntax::print::print(&ast))?;
    let check = typed::CheckOptions {
        constants: options.constants.clone(),
    };
    let (typed, warnings) = session.stage("typed", || typed::check(&ast, &check, errors));
    let Some(typed) = typed else {
        return Err(Stopped::Errors(warnings));
    };
    session.done("typed", || typed::print(&typed))?;
    let unsupported = high::unsupported(&typed);
    if !unsupported.is_empty() {
        return Err(Stopped::Errors(
            warnings.into_iter().chain(unsupported).collect(),
        ));
    }
    // From here on nothing is the user's fault.
    let translated: Program<High> = session.stage("translate", || high::translate(&typed));
    session.checked("translate", &translated)?;
    let mut fired = high::RuleCounts::new();
    let normalized = session.stage("normalize", || {
        translated
            .clone()
            .map(|_, f| high::normalize(f, &options.normalization, &mut fired))
    });
    session.rules = fired;
    session.checked("normalize", &normalized)?;
    let reconstructed: Program<Mid> = session.stage("reconstruct", || {
        normalized.clone().map(|_, f| clean(mid::reconstruct(f)))
    });
    session.checked("reconstruct", &reconstructed)?;
    let interface = &reconstructed.interface;
    let slots = Slots::new(
        interface.globals.iter().map(|v| &v.ty),
        interface.state.iter().map(|s| &s.variable.ty),
    );
    let scalarized = session.stage("scalarize", || {
        reconstructed
            .clone()
            .map(|_, f| clean(low::fold_constants(low::scalarize(&f, &slots))))
    });
    session.checked("scalarize", &scalarized)?;
    Ok(Lowered {
        translated,
        normalized,
        reconstructed,
        scalarized,
        slots,
        warnings,
    })
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
    let Lowered {
        scalarized,
        slots,
        warnings,
        ..
    } = lower(session, source, options)?;
    let lanes = options.lanes_for(&scalarized);
    Ok(session.stage("generate", || generate(&scalarized, slots, lanes, warnings)))
}

fn clean<D: Dialect>(function: crate::ssa::Function<D>) -> crate::ssa::Function<D> {
    remove_dead(number_values(function))
}

/// Generates machine code for a program in Low-IR.
pub fn generate(
    program: &Program<Low>,
    slots: Slots,
    lanes: jit::Lanes,
    warnings: Vec<Diagnostic>,
) -> Compiled {
    let interface = program.interface.clone();
    let layout = layout(&interface, lanes);
    let mut planes = Vec::new();
    for (variable, state) in interface.state.iter().enumerate() {
        for (component, ty) in state.variable.ty.scalars().into_iter().enumerate() {
            planes.push((layout.plane(variable, component).offset, ty));
        }
    }
    let globals: Vec<(u32, low::Ty)> = interface
        .globals
        .iter()
        .flat_map(|v| v.ty.scalars())
        .enumerate()
        .map(|(n, ty)| (n as u32, ty))
        .collect();
    let tasks: Vec<jit::Task<'_>> = program
        .functions
        .iter()
        .map(|(role, function)| {
            let sink = match role {
                Role::Globals => jit::Sink::Globals {
                    status: false,
                    slots: globals.clone(),
                },
                Role::GlobalStart | Role::GlobalUpdate => jit::Sink::Globals {
                    status: true,
                    slots: globals.clone(),
                },
                Role::Domain => {
                    let first = globals.len() as u32;
                    let bounds = (0..2 * interface.axes as u32)
                        .map(|n| (first + n, low::Ty::Int))
                        .collect();
                    jit::Sink::Globals {
                        status: false,
                        slots: bounds,
                    }
                }
                Role::Create => jit::Sink::State {
                    status: false,
                    planes: planes.clone(),
                },
                Role::Start | Role::Update | Role::Stabilize => jit::Sink::State {
                    status: true,
                    planes: planes.clone(),
                },
            };
            jit::Task {
                role: *role,
                function,
                sink,
            }
        })
        .collect();
    let offsets: Vec<usize> = planes.iter().map(|(offset, _)| *offset).collect();
    let code = jit::compile(&tasks, &offsets, lanes);
    Compiled {
        interface,
        code,
        layout,
        slots,
        lanes,
        warnings,
    }
}

/// Where strands keep their state: every scalar is a plane of lanes as wide as the program's reals.
fn layout(interface: &Interface, lanes: jit::Lanes) -> StateLayout {
    let variables = interface.state.iter().map(|state| {
        let scalars = state.variable.ty.scalars();
        let scalar = match (scalars.first(), lanes.double, lanes.long_int) {
            (Some(low::Ty::Real) | None, false, _) => Scalar::F32,
            (Some(low::Ty::Real) | None, true, _) => Scalar::F64,
            (Some(_), false, false) => Scalar::I32,
            (Some(_), ..) => Scalar::I64,
        };
        let kind = Kind::Tensor {
            scalar,
            components: scalars.len(),
        };
        strands::Variable {
            name: state.variable.name.clone(),
            kind,
            sharing: Sharing::Private,
        }
    });
    StateLayout::new(lanes.width, variables.collect(), None).expect("a layout of known scalars")
}
