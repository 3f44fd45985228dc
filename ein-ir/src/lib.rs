//! EIN: tensor operators in index notation.

mod elementary;
pub mod kernel;
pub mod rational;
pub mod region;
mod shape;
pub mod term;
mod types;

pub use elementary::Elementary;
pub use kernel::Kernel;
pub use rational::Rational;
pub use shape::Shape;
pub use term::{Comparison, Ein, Index, Param, Term};
pub use types::{Continuity, Type};
