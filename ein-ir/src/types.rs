//! The types of the surface language, as far as operators are concerned.
//!
//! They live here because the operator table is typed by them; the front end adds only what names mean.

use crate::Shape;
use std::fmt;

/// How many continuous derivatives a field or kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Continuity {
    /// C^k.
    Finite(u32),
    /// C^∞; greater than every finite continuity.
    Infinite,
}

impl Continuity {
    /// The continuity after one derivative, if there is one left to take.
    pub fn derivative(self) -> Option<Continuity> {
        match self {
            Continuity::Finite(0) => None,
            Continuity::Finite(k) => Some(Continuity::Finite(k - 1)),
            Continuity::Infinite => Some(Continuity::Infinite),
        }
    }
}

/// A type of the surface language. `real` is `tensor[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `string`
    String,
    /// `tensor[σ]`; `real`, `vecN` and `matN` are names for some of these.
    Tensor(Shape),
    /// A sequence: fixed length `T[n]`, or dynamic `T[]`.
    Seq(Box<Type>, Option<usize>),
    /// `image(d)[σ]`
    Image {
        /// Number of spatial axes, 1 to 3.
        dim: usize,
        /// Shape of a voxel.
        shape: Shape,
    },
    /// `kernel#k`
    Kernel(Continuity),
    /// `field#k(d)[σ]`
    Field {
        /// Number of continuous derivatives.
        continuity: Continuity,
        /// Dimension of the domain, 1 to 3.
        dim: usize,
        /// Shape of a value.
        shape: Shape,
    },
    /// A strand, by the name of its definition.
    Strand(String),
}

impl Type {
    /// The type of real numbers.
    pub const REAL: Type = Type::Tensor(Shape::SCALAR);

    /// `tensor[dims]`.
    pub fn tensor(dims: &[usize]) -> Type {
        Type::Tensor(Shape::from(dims))
    }

    /// Whether this is a *value type*: what can be stored, printed, selected by a conditional.
    pub fn is_value(&self) -> bool {
        match self {
            Type::Bool | Type::Int | Type::String | Type::Tensor(_) => true,
            Type::Seq(element, _) => element.is_value(),
            Type::Image { .. } | Type::Kernel(_) | Type::Field { .. } | Type::Strand(_) => false,
        }
    }
}

impl fmt::Display for Continuity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Continuity::Finite(k) => write!(f, "#{k}"),
            Continuity::Infinite => Ok(()),
        }
    }
}

/// Prints in the syntax of version 2.0.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::String => f.write_str("string"),
            Type::Tensor(shape) => match shape.dims() {
                [] => f.write_str("real"),
                [n] if *n <= 4 => write!(f, "vec{n}"),
                _ => write!(f, "tensor{shape}"),
            },
            Type::Seq(element, None) => write!(f, "{element}[]"),
            Type::Seq(element, Some(n)) => write!(f, "{element}[{n}]"),
            Type::Image { dim, shape } => write!(f, "image({dim}){shape}"),
            Type::Kernel(k) => write!(f, "kernel{k}"),
            Type::Field {
                continuity,
                dim,
                shape,
            } => write!(f, "field{continuity}({dim}){shape}"),
            Type::Strand(name) => f.write_str(name),
        }
    }
}
