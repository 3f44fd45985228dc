//! The oracle: runs programs in any IR as their operations are defined.
//!
//! It is slow and plain on purpose, and shares no code with passes and code generators: both are tested against it.

mod blur;
mod device;
mod dialects;
mod exact_sum;
mod facts;
pub mod fem;
pub mod low;
mod low_dynamic;
pub mod mesh_tables;
pub mod primitives;
mod program;
pub mod surroundings;
pub mod tensor;
mod tensor_dynamic;

pub use device::LEFT;
pub use program::{Numbers, Outcome, Runnable, interpret, interpret_with};
