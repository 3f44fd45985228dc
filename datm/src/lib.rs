//! DATm: automated testing of the compiler against exact mathematics.
//!
//! One *case* is an expression of tensor and field operators. DATm draws data for its variables, writes each field as
//! a sampled image and each tensor as a literal, writes the program that evaluates the expression at a few positions, and
//! computes the values that the program must print. Everything in between is tested: parser, overload resolution,
//! normalization, reconstruction, code generation.
//!
//! ```text
//! step, space      which expressions there are: counts, ranks, draws
//! label, frame     a case as text; all data are a function of that text
//! grid, kernel, border, polynomial, data, reconstruct      sampled fields whose true jets are known
//! number, jet, operator, truth             the exact value, with a bound of what a program may lose
//! program, nrrd    source text, in the forms of a table, and files
//! runner           ways to execute it: compiled (in memory), user (as a command), interpreted, direct
//! experiment, compare, differential, campaign, shrink, report, corpus, davm      the loop around it
//! control          control flow: all nestings to a depth, with an evaluator of their own
//! ```
//!
//! **Forms.** An expression is written in one definition and probed once, or in one of the other forms of [`PROGRAM_FORMS`]: in
//! several definitions, as field functions, with control flow around the probe, with inputs instead of literals. All forms must
//! print the same values.
//!
//! **Exactness.** Polynomials have dyadic coefficients and degrees that the kernel reproduces; grids are integer matrices over
//! a power of two; positions are dyadic. So samples are exact, the reconstructed field *is* the polynomial, and the jets
//! of the variables are rationals. Rational expressions stay rational; roots and elementary functions continue in
//! double-doubles with an error bound. Images of random integers have exact jets too, by reconstruction in rationals.
//!
//! **Tolerance.** Every number of the truth carries the size of its terms and the rounding noise of a program that computes it;
//! see [`Number`] and [`SAFETY`]. No constant hides an error, and a value that is not finite fails.
//!
//! **Independence.** The operators' typing rules and truths are stated here once more, from the mathematics; nothing is shared
//! with the compiler. The direct runner is a third statement, by symbolic differentiation and direct convolution, against which
//! the truth is tested.
//!
//! **Rerunning one case.** `datm replay LABEL` judges a case and writes its program and images; `datm shrink LABEL` finds the
//! smallest case that fails in the same way.

mod border;
mod campaign;
mod compare;
mod compiled;
mod control;
mod corpus;
mod data;
mod davm;
mod differential;
mod direct;
mod experiment;
mod frame;
mod grid;
mod interpreted;
mod jet;
mod kernel;
mod label;
mod mesh;
#[cfg(feature = "mutants")]
mod mutation;
mod nrrd;
mod number;
mod operator;
mod polynomial;
mod program;
mod random;
mod reconstruct;
mod report;
mod runner;
mod shrink;
mod space;
mod step;
mod tensor;
mod tree;
mod truth;
mod types;
mod user;

pub use border::Border;
pub use campaign::{CampaignOptions, Judge, Record, read_records, run, setup};
pub use compare::{FailedAt, SAFETY, Verdict, check, compare, judge, tolerance};
pub use compiled::{CompiledRunner, Language, Normalization};
pub use control::{ControlReport, Extent, Kind, Wrong, control, control_nests};
pub use corpus::CORPUS;
pub use data::{Datum, FieldData, Point, SampledField, Source, draw};
pub use davm::{Picture, Scene, Spread, Template};
pub use differential::{Difference, check_difference};
pub use direct::DirectRunner;
pub use experiment::{Experiment, prepare};
pub use frame::{Coefficients, DataKind, Orientation, Settings};
pub use grid::{Grid, Position};
pub use interpreted::InterpretedRunner;
pub use jet::{Exponents, Jet, Space};
pub use kernel::{AxisKernels, KERNELS, Kernel, Weights};
pub use label::Case;
pub use mesh::{CellShape, MeshKind, vtu};
#[cfg(feature = "mutants")]
pub use mutation::{Catch, catch_all, table};
pub use nrrd::nrrd;
pub use number::{Arithmetic, DoubleDouble, Function, Number};
pub use operator::{JetTensor, Level, OPERATORS, Operator, Syntax, Truth, TruthFn, Undefined};
pub use polynomial::Polynomial;
pub use program::{
    FormChoice, PROGRAM_FORMS, ProgramForm, ProgramText, WITHOUT_COMPONENTS, expression, program,
};
pub use random::{Stream, hash};
pub use report::{Cluster, Summary, Tally, summarize};
pub use runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
pub use shrink::{ClusterKey, cluster_key, shrink};
pub use space::{Form, SpaceOptions, Storable, TreeSpace, share_leaves};
pub use step::{Step, StepList, steps};
pub use tensor::Tensor;
pub use tree::{Constant, Kinds, Rules, Tree, Use};
pub use truth::Evaluator;
pub use types::{ArgumentKinds, MAX_ORDER, Shape, Type};
pub use user::UserRunner;
