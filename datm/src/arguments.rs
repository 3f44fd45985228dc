//! The arguments of the command, and the frames and options they stand for.

use clap::{Args, Parser, Subcommand, ValueEnum};
use datm::{
    ArgumentKinds, Arithmetic, Border, CampaignOptions, Coefficients, CompiledRunner, DataKind,
    Difference, Form, FormChoice, Orientation, Precision, RunOptions, Runner, Settings,
    SpaceOptions, UserRunner,
};
use std::path::PathBuf;

/// Tests the compiler against exact mathematics.
#[derive(Parser)]
#[command(name = "datm", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    /// What to do.
    pub(crate) mode: Mode,
}

#[derive(Subcommand)]
pub(crate) enum Mode {
    /// All cases with a number of operators, or all nestings of control flow to a depth
    Exhaustive {
        /// Levels of conditions and loops, around every kind of assignment and exit, instead of operators
        #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u8).range(1..=3), conflicts_with = "ops")]
        control: Option<u8>,
        #[command(flatten)]
        space: SpaceArguments,
        #[command(flatten)]
        frame: FrameArguments,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// Cases drawn at random
    Random {
        #[command(flatten)]
        draw: DrawArguments,
        #[command(flatten)]
        space: SpaceArguments,
        #[command(flatten)]
        frame: FrameArguments,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// The given labels, and all cases that use given operators
    Target {
        /// Labels, or names of operators
        #[arg(required = true)]
        labels: Vec<String>,
        #[command(flatten)]
        space: SpaceArguments,
        #[command(flatten)]
        frame: FrameArguments,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// The cases of known bugs
    Corpus {
        #[command(flatten)]
        frame: FrameArguments,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// Judge one case, print its program and expected values, write its files
    Replay {
        /// The label
        label: String,
        /// Folder for the programs and images
        #[arg(long)]
        to: Option<PathBuf>,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// Find the smallest case that fails like this one
    Shrink {
        /// The label
        label: String,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// Random cases run in two ways that must agree
    Differential {
        /// The two ways; all pairs in turn if left out
        mode: Option<DifferenceName>,
        /// How many cases
        #[arg(long, default_value_t = 1000)]
        cases: usize,
        #[command(flatten)]
        space: SpaceArguments,
        #[command(flatten)]
        frame: FrameArguments,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// Switch every deliberate fault of the compiler on in turn and see that a case fails
    #[cfg(feature = "mutants")]
    Mutants {
        /// Only the faults of these names, such as `RepeatedIndex`; all if left out
        #[arg(long)]
        only: Vec<String>,
        /// Write the table to a file
        #[arg(long)]
        report: Option<PathBuf>,
    },
    /// Volume renderings of symmetric fields
    Render {
        #[command(flatten)]
        scenes: SceneArguments,
        #[command(flatten)]
        execution: ExecutionArguments,
    },
    /// Summarize files of records
    Report {
        /// Files written by campaigns
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print JSON instead of Markdown
        #[arg(long)]
        json: bool,
    },
    /// List the operators under test and the forms of programs
    Operators,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum DifferenceName {
    /// Machine code against the reference evaluator
    Reference,
    /// One strand per call against sixteen
    Width,
    /// Single against double precision
    Precision,
    /// Equality saturation against one directed walk
    Normalization,
    /// Version 2.0 against version 1.0 of the language
    Language,
    /// The CPU against an NVIDIA GPU; only if asked for
    Device,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FormName {
    Left,
    Right,
    Balanced,
    Any,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum KindName {
    All,
    Fields,
    Tensors,
}

#[derive(Args)]
pub(crate) struct DrawArguments {
    /// How many
    #[arg(long, default_value_t = 1000)]
    pub(crate) cases: usize,
    /// Equal chance for every tree instead of every operator
    #[arg(long)]
    pub(crate) uniform: bool,
    /// Use one variable in several places
    #[arg(long)]
    pub(crate) shared: bool,
}

#[derive(Args)]
pub(crate) struct SceneArguments {
    /// How many operators
    #[arg(long, default_value_t = 1)]
    pub(crate) ops: usize,
    /// At most this many scenes, drawn at random; all if left out
    #[arg(long)]
    pub(crate) cases: Option<usize>,
    /// Pixels on each side
    #[arg(long, default_value_t = 17)]
    pub(crate) width: usize,
    /// Seed of views and grids
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Args)]
pub(crate) struct SpaceArguments {
    /// Operators in each case
    #[arg(long, default_value_t = 1)]
    pub(crate) ops: usize,
    /// Every operator at every type of the language, not only the published frame
    #[arg(long)]
    pub(crate) full: bool,
    /// Shape of trees
    #[arg(long, value_enum, default_value = "left")]
    pub(crate) form: FormName,
    /// Kinds of arguments
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) arguments: KindName,
}

#[derive(Args)]
pub(crate) struct FrameArguments {
    /// Kernel, or several: joined by `,` for the axes of a field, by `+` for variables, taken in turn
    #[arg(long, default_value = "c4hexic")]
    pub(crate) kernel: String,
    /// Degree of polynomials
    #[arg(long, default_value_t = 2)]
    pub(crate) degree: u8,
    /// Grids: axis, rot, shear or any
    #[arg(long, default_value = "any")]
    pub(crate) orientation: Orientation,
    /// Data: poly, image or formula
    #[arg(long, default_value = "poly")]
    pub(crate) data: DataKind,
    /// Borders of images: plain, unsaid, clamp, wrap, mirror, constant or any; all but the first with `--data image`
    #[arg(long, default_value = "plain")]
    pub(crate) border: Border,
    /// Samples on each axis
    #[arg(long, default_value_t = 10)]
    pub(crate) samples: usize,
    /// Positions of each field
    #[arg(long, default_value_t = 7)]
    pub(crate) positions: usize,
    /// Form of programs, or any; plain if left out where all cases are visited, else any
    #[arg(long)]
    pub(crate) program: Option<FormChoice>,
    /// Seed of all data
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Args)]
pub(crate) struct ExecutionArguments {
    /// Run programs in single precision
    #[arg(long)]
    pub(crate) single: bool,
    /// Strands per call of generated code: 1, 4, 8 or 16; 0 for the compiler's choice
    #[arg(long = "width-of-strands", short = 'W', default_value_t = 1)]
    pub(crate) strands: usize,
    /// Run programs with this `diderotc`, from files as a user would, instead of in memory
    #[arg(long, value_name = "DIDEROTC")]
    pub(crate) through: Option<PathBuf>,
    /// Threads; 0 for all
    #[arg(long, default_value_t = 0)]
    pub(crate) jobs: usize,
    /// Exact rationals for the truth, as far as they go
    #[arg(long)]
    pub(crate) exact: bool,
    /// File of records, continued if it exists
    #[arg(long)]
    pub(crate) records: Option<PathBuf>,
    /// Write the report to FILE.md and FILE.json
    #[arg(long)]
    pub(crate) report: Option<PathBuf>,
}

impl DifferenceName {
    /// What differs.
    pub(crate) fn difference(self) -> Difference {
        match self {
            DifferenceName::Reference => Difference::Reference,
            DifferenceName::Width => Difference::Width,
            DifferenceName::Precision => Difference::Precision,
            DifferenceName::Normalization => Difference::Normalization,
            DifferenceName::Language => Difference::Language,
            DifferenceName::Device => Difference::Device,
        }
    }
}

impl SpaceArguments {
    /// The space of trees in a frame.
    pub(crate) fn options(&self, settings: &Settings) -> SpaceOptions {
        let form = match self.form {
            FormName::Left => Form::Left,
            FormName::Right => Form::Right,
            FormName::Balanced => Form::Balanced,
            FormName::Any => Form::Any,
        };
        let arguments = match self.arguments {
            KindName::All => ArgumentKinds::All,
            KindName::Fields => ArgumentKinds::Fields,
            KindName::Tensors => ArgumentKinds::Tensors,
        };
        let base = if self.full {
            SpaceOptions::full(self.ops, form)
        } else {
            SpaceOptions::published(self.ops)
        };
        SpaceOptions {
            form,
            arguments,
            continuity: settings.continuity(),
            ..base
        }
    }
}

impl FrameArguments {
    /// The settings of every case, where this is the form of programs unless another is asked for.
    pub(crate) fn settings(&self, usual: FormChoice) -> Result<Settings, String> {
        let settings = Settings {
            kernels: Settings::parse_kernels(&self.kernel)?,
            degree: self.degree,
            grid: self.orientation,
            data: self.data,
            border: self.border,
            samples: self.samples,
            positions: self.positions,
            coefficients: Coefficients::Full,
            program: self.program.unwrap_or(usual),
            seed: self.seed,
        };
        settings.validated()
    }
}

impl ExecutionArguments {
    /// How programs are executed and judged.
    pub(crate) fn options(&self) -> CampaignOptions {
        let precision = if self.single {
            Precision::Single
        } else {
            Precision::Double
        };
        let arithmetic = if self.exact {
            Arithmetic::Exact
        } else {
            Arithmetic::Near
        };
        CampaignOptions {
            run: RunOptions {
                precision,
                width: self.strands,
            },
            arithmetic,
        }
    }

    /// The runner that executes the cases.
    pub(crate) fn runner(&self) -> Box<dyn Runner> {
        match &self.through {
            Some(command) => Box::new(UserRunner {
                command: command.clone(),
            }),
            None => Box::new(CompiledRunner::default()),
        }
    }

    /// Works with the wanted number of threads.
    pub(crate) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build();
        Ok(pool
            .map_err(|error| format!("cannot start threads: {error}"))?
            .install(work))
    }
}
