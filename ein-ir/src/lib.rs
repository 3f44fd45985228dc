//! EIN: tensor operators in index notation.
//!
//! An EIN operator is a closed function on tensors and fields whose body computes one component of the result. The
//! cross product is
//!
//! ```text
//! λ(a:[3], b:[3]) i:3 | Σ s0:3. Σ s1:3. ε[i s0 s1] a[s0] b[s1]
//! ```
//!
//! with two parameters, one result axis `i` of extent 3, and a body in which every index is a result axis, a summation
//! index, or a constant. The same body over field parameters is the cross product of fields: a tensor is a constant
//! field, and a field applies point by point.
//!
//! Here are the operators themselves ([`Ein`], [`Term`], [`Region`]), their notation ([`mod@parse`], `Display`), their
//! well-formedness ([`Ein::verify`]) and reference meaning ([`eval`]); how they look in the surface language
//! ([`surface`]); and the tables that everything else reads:
//! [`ops::OPERATORS`], [`KERNELS`], [`ELEMENTARY`].
//!
//! Words: an *axis* is a place for an index in a tensor, its *extent* the number of values that index takes, the
//! *shape* all extents, the *order* their number. A *field* is a function from positions in its *domain*, of some
//! *dimension*, to tensors. To *probe* a field is to take its value at a position; to *lift* an operator is to apply it
//! to fields. A *leaf field* is one that is not built from others. A *jet* is a value with derivatives.

mod eigen;
mod elementary;
mod erf;
pub mod eval;
pub mod jet;
pub mod kernel;
mod leaf;
pub mod mutants;
pub mod ops;
pub mod parse;
mod print;
pub mod rational;
pub mod region;
mod shape;
mod substitute;
pub mod surface;
mod symmetry;
mod tensor;
pub mod term;
mod types;
mod verify;

pub use eigen::{Eigen, eigensystem};
pub use elementary::{ELEMENTARY, Elementary, ElementaryDef};
pub use eval::Input;
pub use jet::Jet;
pub use kernel::{KERNELS, Kernel};
pub use leaf::{LeafField, PolynomialField, random_numbers};
pub use ops::OpDef;
pub use parse::ParseError;
pub use rational::Rational;
pub use region::Region;
pub use shape::Shape;
pub use substitute::FreshBinders;
pub use symmetry::{Groups, Symmetry};
pub use tensor::Tensor;
pub use term::{Comparison, Ein, Index, Param, Term};
pub use types::{Continuity, Type};
pub use verify::Violation;
