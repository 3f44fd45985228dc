//! The types of the surface language, as far as operators are concerned.
//!
//! They live here because the operator table is typed by them; the front end adds only what names mean.

use crate::Shape;
use std::{fmt, str::FromStr};

/// How many continuous derivatives a field or kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Continuity {
    /// C^k.
    Finite(u32),
    /// C^∞; greater than every finite continuity.
    Infinite,
}

impl Continuity {
    /// The continuity after this many derivatives, if there are as many to take.
    pub fn after(self, derivatives: u32) -> Option<Continuity> {
        match self {
            Continuity::Finite(k) => k.checked_sub(derivatives).map(Continuity::Finite),
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
    /// `image(d)[σ]`, or `image(d,time)[σ]`
    Image {
        /// Number of spatial axes, 1 to 3.
        dim: usize,
        /// Whether it has frames: samples at several times.
        timed: bool,
        /// Shape of a voxel.
        shape: Shape,
    },
    /// `kernel#k`
    Kernel(Continuity),
    /// A kernel for each axis, as `KRNS` gives them. The last is that of time where an image has times.
    Kernels(Vec<Continuity>),
    /// `field#k(d)[σ]`, or `field#k(d,time#m)[σ]`
    Field {
        /// Number of continuous derivatives by position.
        continuity: Continuity,
        /// Dimension of the space of positions, 1 to 3.
        dim: usize,
        /// Number of continuous derivatives by time, of a field over time.
        time: Option<Continuity>,
        /// Shape of a value.
        shape: Shape,
    },
    /// `fem#k(d)[σ]`, or `fem#k(d,time)[σ]`: values on a mesh of finite elements.
    Fem {
        /// How often the program may differentiate, taken on trust.
        continuity: Continuity,
        /// Dimension of the mesh, 2 or 3.
        dim: usize,
        /// Whether it has frames: values at several times.
        timed: bool,
        /// Shape of a value.
        shape: Shape,
    },
    /// `mesh(d)`
    Mesh(usize),
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

    /// Whether a value of this type may stand where `other` is wanted: the implicit coercions of the language.
    ///
    /// Integers become reals, fixed sequences dynamic ones (and their elements are coerced), the empty sequence one of
    /// any elements, fields forget continuity, and so do values on meshes.
    pub fn coerces_to(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Int, Type::Tensor(shape)) => shape.is_scalar(),
            (Type::Seq(from, Some(n)), Type::Seq(to, m)) => {
                m.is_none_or(|m| m == *n) && (*n == 0 || from.coerces_to(to))
            }
            (
                Type::Field {
                    continuity: found,
                    dim,
                    time,
                    shape,
                },
                Type::Field {
                    continuity: wanted,
                    dim: other_dim,
                    time: other_time,
                    shape: other_shape,
                },
            ) => {
                let is_timed = match (time, other_time) {
                    (Some(found), Some(wanted)) => found >= wanted,
                    // A field that does not change is one over time, with all derivatives.
                    (None, _) => true,
                    (Some(_), None) => false,
                };
                is_timed && dim == other_dim && shape == other_shape && found >= wanted
            }
            (Type::Kernels(all), Type::Kernel(wanted)) => all.iter().min() == Some(wanted),
            (
                Type::Fem {
                    continuity: found,
                    dim,
                    timed,
                    shape,
                },
                Type::Fem {
                    continuity: wanted,
                    dim: other_dim,
                    timed: other_timed,
                    shape: other_shape,
                },
            ) => {
                let same = (dim, timed, shape) == (other_dim, other_timed, other_shape);
                same && found >= wanted
            }
            _ => self == other,
        }
    }

    /// Whether this is or contains a dynamic sequence, which a dynamic sequence may not.
    pub fn is_dynamic(&self) -> bool {
        match self {
            Type::Seq(element, length) => length.is_none() || element.is_dynamic(),
            Type::Bool | Type::Int | Type::String | Type::Tensor(_) | Type::Strand(_) => false,
            Type::Image { .. } | Type::Kernel(_) | Type::Kernels(_) | Type::Field { .. } => false,
            Type::Fem { .. } | Type::Mesh(_) => false,
        }
    }

    /// Whether this is a field over time.
    pub fn is_timed_field(&self) -> bool {
        matches!(self, Type::Field { time: Some(_), .. })
    }

    /// Whether sequences may have elements of this type: value types and strands.
    pub fn is_element(&self) -> bool {
        match self {
            Type::Strand(_) => true,
            Type::Seq(element, _) => element.is_element(),
            other => other.is_value(),
        }
    }

    /// Whether this is a *value type*, which can be stored, printed, and selected by a conditional.
    pub fn is_value(&self) -> bool {
        match self {
            Type::Bool | Type::Int | Type::String | Type::Tensor(_) => true,
            Type::Seq(element, _) => element.is_value(),
            Type::Image { .. } | Type::Kernel(_) | Type::Kernels(_) => false,
            Type::Field { .. } | Type::Fem { .. } | Type::Mesh(_) | Type::Strand(_) => false,
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
            Type::Image { dim, timed, shape } => {
                let time = if *timed { ",time" } else { "" };
                write!(f, "image({dim}{time}){shape}")
            }
            Type::Kernel(k) => write!(f, "kernel{k}"),
            Type::Kernels(all) => {
                write!(
                    f,
                    "kernel{}",
                    all.iter().min().unwrap_or(&Continuity::Infinite)
                )
            }
            Type::Field {
                continuity,
                dim,
                time,
                shape,
            } => {
                write!(f, "field{continuity}({dim}")?;
                if let Some(time) = time {
                    write!(f, ",time{time}")?;
                }
                write!(f, "){shape}")
            }
            Type::Fem {
                continuity,
                dim,
                timed,
                shape,
            } => {
                let time = if *timed { ",time" } else { "" };
                write!(f, "fem{continuity}({dim}{time}){shape}")
            }
            Type::Mesh(dim) => write!(f, "mesh({dim})"),
            Type::Strand(name) => f.write_str(name),
        }
    }
}

/// Reads a type that inputs and images can have, as printed; any other word is the name of a strand.
impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Type, String> {
        let bad = || format!("unknown type `{text}`");
        let number = |text: &str| text.parse().map_err(|_| bad());
        let end = text.find(['[', '(', '#']).unwrap_or(text.len());
        let (word, mut rest) = text.split_at(end);
        // What stands between two brackets, if the first comes next.
        let mut between = |open: char, close: char| -> Option<&str> {
            let (inside, after) = rest.strip_prefix(open)?.split_once(close)?;
            rest = after;
            Some(inside)
        };
        let shape = |inside: Option<&str>| -> Result<Shape, String> {
            format!("[{}]", inside.ok_or_else(bad)?).parse()
        };
        let mut ty = match word {
            "bool" => Type::Bool,
            "int" => Type::Int,
            "string" => Type::String,
            "real" => Type::REAL,
            "vec2" | "vec3" | "vec4" => Type::tensor(&[number(&word[3..])?]),
            "tensor" => Type::Tensor(shape(between('[', ']'))?),
            "image" => {
                let domain = between('(', ')').ok_or_else(bad)?;
                let timeless = domain.strip_suffix(",time");
                Type::Image {
                    dim: number(timeless.unwrap_or(domain))?,
                    timed: timeless.is_some(),
                    shape: shape(between('[', ']'))?,
                }
            }
            "fem" => {
                let (continuity, domain) = match between('#', ')') {
                    Some(both) => {
                        let (k, domain) = both.split_once('(').ok_or_else(bad)?;
                        (Continuity::Finite(number(k)? as u32), domain)
                    }
                    None => (Continuity::Infinite, between('(', ')').ok_or_else(bad)?),
                };
                let timeless = domain.strip_suffix(",time");
                Type::Fem {
                    continuity,
                    dim: number(timeless.unwrap_or(domain))?,
                    timed: timeless.is_some(),
                    shape: shape(between('[', ']'))?,
                }
            }
            "mesh" => Type::Mesh(number(between('(', ')').ok_or_else(bad)?)?),
            "" | "field" | "kernel" => return Err(bad()),
            name if name.ends_with([']', ')']) => return Err(bad()),
            name => Type::Strand(name.to_string()),
        };
        while let Some(length) = between('[', ']') {
            let length = (!length.is_empty()).then(|| number(length)).transpose()?;
            ty = Type::Seq(Box::new(ty), length);
        }
        if rest.is_empty() { Ok(ty) } else { Err(bad()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_values_are_read_as_printed() {
        for text in [
            "bool",
            "int[]",
            "string",
            "real[3][]",
            "vec3[4]",
            "tensor[2,3]",
            "image(3)[3]",
            "image(2,time)[]",
            "fem#2(3)[3]",
            "fem(2)[]",
            "fem#1(3,time)[3]",
            "fem(2,time)[]",
            "mesh(3)",
            "particle[]",
        ] {
            assert_eq!(
                text.parse::<Type>().map(|ty| ty.to_string()),
                Ok(text.into())
            );
        }
        for text in [
            "",
            "real[x]",
            "image(3)",
            "tensor",
            "int]",
            "fem#(3)[]",
            "mesh",
        ] {
            assert!(text.parse::<Type>().is_err(), "{text}");
        }
    }

    #[test]
    fn coercions_are_those_of_the_language() {
        let field = |continuity| Type::Field {
            continuity,
            dim: 2,
            time: None,
            shape: Shape::SCALAR,
        };
        let over_time = |time| Type::Field {
            continuity: Continuity::Finite(1),
            dim: 2,
            time: Some(time),
            shape: Shape::SCALAR,
        };
        let seq = |element: &Type, n| Type::Seq(Box::new(element.clone()), n);
        let (int, real) = (Type::Int, Type::REAL);
        let allowed = [
            (int.clone(), real.clone()),
            (seq(&int, Some(2)), seq(&int, None)),
            (seq(&int, Some(2)), seq(&real, None)),
            (seq(&int, Some(2)), seq(&real, Some(2))),
            (
                seq(&seq(&int, Some(2)), Some(3)),
                seq(&seq(&real, Some(2)), None),
            ),
            (seq(&int, Some(0)), seq(&Type::String, None)),
            (field(Continuity::Infinite), field(Continuity::Finite(7))),
            (field(Continuity::Finite(2)), field(Continuity::Finite(0))),
            (
                field(Continuity::Finite(1)),
                over_time(Continuity::Finite(3)),
            ),
            (
                over_time(Continuity::Finite(1)),
                over_time(Continuity::Finite(0)),
            ),
        ];
        for (from, to) in &allowed {
            assert!(
                from.coerces_to(to) && from.coerces_to(from),
                "{from} to {to}"
            );
            assert!(!to.coerces_to(from), "{to} to {from}");
        }
        let forbidden = [
            (seq(&int, None), seq(&real, None)),
            (seq(&int, Some(2)), seq(&int, Some(3))),
            (int, Type::tensor(&[2])),
            (Type::Bool, Type::Int),
            (
                Type::Kernel(Continuity::Finite(2)),
                Type::Kernel(Continuity::Finite(1)),
            ),
        ];
        for (from, to) in forbidden {
            assert!(!from.coerces_to(&to), "{from} to {to}");
        }
    }
}
