//! Images, strands and files: what a running Diderot program needs.
//!
//! # Checking memory
//!
//! Generated code and the primitives work on raw memory. After a change of a module with `unsafe` in it, run the
//! tests under AddressSanitizer, which also reports leaks; it needs a nightly compiler and a target directory of
//! its own:
//!
//! ```text
//! RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p diderot-runtime --tests \
//!     --target x86_64-unknown-linux-gnu --target-dir target/asan
//! ```
//!
//! Tests named `memory` count what the allocator gives out and say nothing new there.

pub mod abi;
pub mod blur;
pub mod cluster;
pub mod colour_maps;
mod derivatives;
pub mod eigen;
pub mod fem;
pub mod figure;
pub mod file_name;
pub mod file_reference;
pub mod formats;
pub mod grid;
mod hdf5;
pub mod image;
pub mod input;
pub mod math;
pub mod memory;
mod mutants;
pub mod neighbours;
pub mod output;
pub mod png;
pub mod print;
pub mod probe;
pub mod reduce;
pub mod sequence;
pub mod simd;
pub mod strands;
pub mod text;
mod vtk;
pub mod world;
mod xml;

pub use nrrd_rs as nrrd;
