//! What all intermediate representations share: types, constants, leaf fields, and how they are written.

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
