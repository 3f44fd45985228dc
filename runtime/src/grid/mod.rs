//! The grids of samples and strands: their places in the world, and the spaces that hold them.
//!
//! Readers of images, images and outputs use these types. Nothing here reads or writes a file.

mod asked;
mod calendar;
mod fit;
mod orientation;
mod place;
mod space;
mod time;
mod vectors;

pub use asked::{AskedBox, BoxBits};
pub use calendar::Since;
pub use fit::fit;
pub use orientation::{Orientation, OrientationError};
pub(crate) use orientation::{identity, invert};
pub use place::{Place, Placement};
pub use space::Surroundings;
pub(crate) use space::patient_signs;
pub use time::TimeAxis;
pub(crate) use time::{interval, seconds};
pub(crate) use vectors::{diagonal, in_space};
