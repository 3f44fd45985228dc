//! The Diderot compiler: from source text to pixels.
//!
//! # The pipeline
//!
//! | stage | from → to | what holds after it | where |
//! |---|---|---|---|
//! | parse | text → syntax tree | never fails; every node has a place | [`syntax`] |
//! | check | syntax tree → typed program | all user errors are reported; operators are rows at concrete types | [`typed`] |
//! | translate | typed → High-IR | functions inlined, assignments are values, exits are a status | [`high`] |
//! | normalize | High → High | fields are leaf fields, only probed, one probe per position and order; planned | [`mod@high`], crate `rewrite` |
//! | reconstruct | High → Mid | no fields: probes of images in index space, world transforms explicit | [`mid`] |
//! | scalarize | Mid → Low | scalars only | [`low`] |
//! | generate | Low → machine code | W strands per call | [`jit`] |
//!
//! [`pipeline`] lists the stages, one line each; [`run`] loads inputs and images and hands the code to the scheduler of the
//! crate `runtime`; [`command`] is the command `diderotc`.
//!
//! All IRs are dialects over one container ([`ssa`]): values defined once, structured control flow, no jumps. Each has a printer, a
//! parser, a verifier (run after every stage, always) and a reference evaluator; [`interpret`] runs whole programs in any IR
//! and is what stages and machine code are tested against.
//!
//! # Architecture invariants
//!
//! ```text
//! ein-ir ──► rewrite ──► compiler ──► datm        runtime: a leaf, used by compiler and datm
//! ```
//!
//! - `ein-ir` has shapes, tensors, EIN operators, the operator table, kernels, elementary functions and reference evaluation over
//!   jets. It knows no e-graph, no source text, no files.
//! - `rewrite` normalizes; it is the only crate that names egg.
//! - `runtime` has NRRD and PNG, images, probe and math primitives, strand storage and scheduling, inputs and outputs. It knows no IR.
//! - `compiler` is the only crate that names the code generator or prints diagnostics. No type of the code generator leaves [`jit`].
//! - `datm` generates test programs and knows their answers; it uses only what the others make public.
//!
//! A test reads these rules from the workspace's metadata.
//!
//! # One place per fact
//!
//! An operator is a row of `ein_ir::ops`, a kernel a row of `ein_ir::kernel`, an elementary function a row of
//! `ein_ir::elementary`, a rewrite rule a row of `rewrite::rules`, a program option a row of `runtime::input::options`, a stage
//! a row of [`pipeline::STAGES`].

pub mod command;
pub mod diag;
pub mod high;
pub mod image_ref;
pub mod interpret;
pub mod jit;
pub mod library;
pub mod low;
pub mod mid;
pub mod pipeline;
pub mod print_piece;
pub mod program;
pub mod reference;
pub mod run;
pub mod source;
pub mod ssa;
pub mod state;
pub mod surroundings;
pub mod syntax;
pub mod tensor;
pub mod typed;
mod vocabulary;
