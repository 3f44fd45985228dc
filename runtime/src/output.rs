//! The outputs of a program: from the values of its strands to files.
//!
//! Takes the type of an output, the strands that have it and their values in order; gives an array with the axes and
//! kinds that the original writes, and writes it in the format that the file's suffix asks for. A file appears under
//! its name only when it is complete; if anything fails, no part of it is left behind.

mod contents;
pub mod early;
mod error;
mod ffmpeg;
mod figures;
pub mod film;
mod font;
pub mod format;
mod frames;
mod identity;
mod meshes;
mod names;
mod nifti;
mod nrrd_files;
mod numpy;
pub mod options;
pub mod picture;
pub mod plan;
mod points;
mod properties;
pub mod run_files;
mod shapes;
pub mod sheet;
mod staged;
mod surfaces;
mod tables;
mod tiff_files;
pub mod together;
pub mod triangles;
mod values;
mod vtk;
mod world_axes;
pub mod write;

pub use error::OutputError;
pub use identity::FileUse;
pub use nrrd_files::{to_nrrd, to_nrrd_pair};
pub use staged::{TextFile, remove_unfinished, replace_file};
pub use values::{Column, Domain, Length, Output, Scalar, Values};
