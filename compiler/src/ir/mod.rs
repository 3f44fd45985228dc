//! Types that all intermediate representations share: scalars, constants, leaf fields, and their notation.

pub mod fem;
pub mod interface;
pub mod leaf;
pub mod load;
pub mod print_piece;
mod scalar;
pub mod status;
pub mod tensor;
pub(crate) mod weights;
pub(crate) mod words;

pub use scalar::{Bits, Orders, Scalar, Simple};
