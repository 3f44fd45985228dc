//! The Diderot compiler: from source text to pixels.
//!
//! [`pipeline`] lists the stages, one line each; [`run`] loads inputs and images and hands the code to the scheduler of the
//! crate `runtime`; [`command`] is the command `diderotc`. All IRs are dialects over one container ([`ssa`]); [`interpret`]
//! runs whole programs in any IR and is what stages and machine code are tested against.
//!
//! What follows is the page `docs/architecture.md`.
#![doc = include_str!("../../docs/architecture.md")]

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
