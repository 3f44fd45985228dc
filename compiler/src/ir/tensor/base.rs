//! Types and operations shared by High-IR and Mid-IR.

use super::Dynamic;
use crate::ir::{
    Bits, Scalar, Simple,
    leaf::{Convolution, ImageInfo},
    print_piece::{self, Piece},
};
use ein_ir::{Shape, Type};
use smallvec::{SmallVec, smallvec};
use std::{fmt, str::FromStr, sync::Arc};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A string.
    Str,
    /// A tensor; a real has the scalar shape.
    Tensor(Shape),
    /// A sequence of known length.
    Seq(Box<Ty>, usize),
    /// A sequence whose length is known at run time only.
    List(Box<Ty>),
    /// Another strand.
    Strand,
    /// The strands that a query found.
    Strands,
    /// A function of position; not a value at run time.
    Field {
        /// Dimension of the domain.
        dim: usize,
        /// Shape of a value.
        shape: Shape,
    },
}

impl Ty {
    /// The type of real numbers.
    pub const REAL: Ty = Ty::Tensor(Shape::SCALAR);

    /// The type of values of a surface type that exists at run time or is a field.
    pub fn of(ty: &Type) -> Ty {
        match ty {
            Type::Bool => Ty::Bool,
            Type::Int => Ty::Int,
            Type::String => Ty::Str,
            Type::Tensor(shape) => Ty::Tensor(shape.clone()),
            Type::Seq(element, Some(n)) => Ty::Seq(Box::new(Ty::of(element)), *n),
            Type::Field { dim, shape, .. } => Ty::Field {
                dim: *dim,
                shape: shape.clone(),
            },
            Type::Seq(element, None) => match **element {
                Type::Strand(_) => Ty::Strands,
                _ => Ty::List(Box::new(Ty::of(element))),
            },
            Type::Strand(_) => Ty::Strand,
            Type::Image { .. }
            | Type::Kernel(_)
            | Type::Kernels(_)
            | Type::Fem { .. }
            | Type::Mesh(_) => {
                panic!("`{ty}` has no values in the tensor IRs")
            }
        }
    }

    /// The scalars that a value consists of, in order. A list is a buffer's number and a length; strands that were found
    /// are the address of their numbers, low half first, and how many they are.
    pub fn scalars(&self) -> Vec<Scalar> {
        match self {
            Ty::Bool => vec![Scalar::Bool],
            Ty::Int => vec![Scalar::Int],
            Ty::Str => vec![Scalar::Str],
            Ty::Tensor(shape) => vec![Scalar::Real; shape.size()],
            Ty::Seq(element, n) => element.scalars().repeat(*n),
            Ty::List(_) => vec![Scalar::Int; 2],
            Ty::Strand => vec![Scalar::Int],
            Ty::Strands => vec![Scalar::Int; 3],
            Ty::Field { .. } => panic!("a field has no scalars"),
        }
    }

    /// The type of the elements of a sequence.
    pub fn element(&self) -> Option<&Ty> {
        match self {
            Ty::Seq(element, _) | Ty::List(element) => Some(element),
            Ty::Strands => Some(&Ty::Strand),
            _ => None,
        }
    }
}

/// An operation that is the same in High-IR and Mid-IR.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A constant tensor.
    Tensor(Shape, Vec<Bits>),
    /// An integer constant.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A string constant.
    Str(Arc<str>),
    /// A global variable, by its number in the interface.
    Global(u32, Ty),
    /// A state variable, by its number in the interface.
    State(u32, Ty),
    /// What the function was given.
    Arg(u32, Ty),
    /// A property of an image that is known once it is loaded.
    Image(u32, ImageInfo),
    /// The least and the greatest sample of an image in a box, as the operation of Low-IR.
    Extremes(Arc<Convolution>),
    /// The cell of a mesh of this dimension that a position in the world is in, or −1, and the position in the reference cell.
    Locate(u32, u8),
    /// The number of a cell of a mesh in its file; −1 stays.
    CellNumber(u32),
    /// An operation on scalars.
    Simple(Simple),
    /// The second argument where the first holds, else the third.
    Select(Ty),
    /// Integer quotient; zero divisors are an error at this place.
    IntDiv(u32),
    /// Integer remainder; zero divisors are an error at this place.
    IntRem(u32),
    /// A sequence of the arguments.
    Sequence(Ty),
    /// An element of a sequence of known length by a run-time index; out of range is an error at this place.
    Element(u32),
    /// Reports an index (first argument) that is not below a length (second argument) as an error at this place.
    CheckIndex(u32),
    /// Prints the pieces, taking a scalar argument for every one that is not text.
    Print(Arc<[Piece]>),
    /// An operation on sequences of varying length, or on other strands.
    Dynamic(Dynamic),
}

/// The type of a scalar of Low-IR.
fn lifted(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Real => Ty::REAL,
        Scalar::Int => Ty::Int,
        Scalar::Bool => Ty::Bool,
        Scalar::Str => Ty::Str,
    }
}

impl Base {
    /// The types of the results, or why the arguments do not fit.
    pub fn type_of(&self, args: &[&Ty]) -> Result<SmallVec<[Ty; 1]>, String> {
        let fixed = |wanted: &[Ty], result: SmallVec<[Ty; 1]>| {
            if args.len() == wanted.len() && args.iter().zip(wanted).all(|(a, w)| *a == w) {
                Ok(result)
            } else {
                Err(format!("arguments {args:?}, wanted {wanted:?}"))
            }
        };
        match self {
            Base::Tensor(shape, values) if shape.size() != values.len() => {
                Err("wrong number of components".into())
            }
            Base::Tensor(shape, _) => fixed(&[], smallvec![Ty::Tensor(shape.clone())]),
            Base::Int(_) => fixed(&[], smallvec![Ty::Int]),
            Base::Bool(_) => fixed(&[], smallvec![Ty::Bool]),
            Base::Str(_) => fixed(&[], smallvec![Ty::Str]),
            Base::Global(_, ty) | Base::State(_, ty) | Base::Arg(_, ty) => {
                fixed(&[], smallvec![ty.clone()])
            }
            Base::Image(_, info) if info.is_int() => fixed(&[], smallvec![Ty::Int]),
            Base::Image(..) => fixed(&[], smallvec![Ty::REAL]),
            Base::Extremes(field) => {
                fixed(&vec![Ty::REAL; 2 * field.dim()], smallvec![Ty::REAL; 2])
            }
            Base::Locate(_, dim) => {
                let position = Ty::Tensor(Shape::new([usize::from(*dim)]));
                let results = smallvec![Ty::Int, position.clone()];
                fixed(&[position], results)
            }
            Base::CellNumber(_) => fixed(&[Ty::Int], smallvec![Ty::Int]),
            Base::Simple(simple) => {
                let (args, result) = simple.signature();
                let wanted: SmallVec<[Ty; 3]> = args.iter().map(|&s| lifted(s)).collect();
                fixed(&wanted, smallvec![lifted(result)])
            }
            Base::Select(ty) => fixed(&[Ty::Bool, ty.clone(), ty.clone()], smallvec![ty.clone()]),
            Base::IntDiv(_) | Base::IntRem(_) => fixed(&[Ty::Int, Ty::Int], smallvec![Ty::Int]),
            Base::Sequence(element) => fixed(
                &vec![element.clone(); args.len()],
                smallvec![Ty::Seq(Box::new(element.clone()), args.len())],
            ),
            Base::Element(_) => match args {
                [Ty::Seq(element, _), Ty::Int] => Ok(smallvec![(**element).clone()]),
                _ => Err(format!("arguments {args:?}, wanted a sequence and an int")),
            },
            Base::CheckIndex(_) => fixed(&[Ty::Int, Ty::Int], smallvec![]),
            Base::Dynamic(dynamic) => {
                let (args, results) = dynamic.signature(args.len());
                fixed(&args, results.into())
            }
            Base::Print(pieces) => {
                let printed = pieces.iter().filter_map(Piece::scalars).map(lifted);
                fixed(&printed.collect::<Vec<Ty>>(), smallvec![])
            }
        }
    }

    /// Whether it must happen exactly as often and in the order written.
    pub fn has_effect(&self) -> bool {
        match self {
            Base::Print(_)
            | Base::IntDiv(_)
            | Base::IntRem(_)
            | Base::Element(_)
            | Base::CheckIndex(_) => true,
            Base::Dynamic(dynamic) => dynamic.has_effect(),
            _ => false,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Bool => f.write_str("bool"),
            Ty::Int => f.write_str("int"),
            Ty::Str => f.write_str("string"),
            Ty::Tensor(shape) => write!(f, "tensor{shape}"),
            Ty::Seq(element, n) => write!(f, "{element}{{{n}}}"),
            Ty::List(element) => write!(f, "{element}{{}}"),
            Ty::Strand => f.write_str("strand"),
            Ty::Strands => f.write_str("strand{}"),
            Ty::Field { dim, shape } => write!(f, "field({dim}){shape}"),
        }
    }
}

impl FromStr for Ty {
    type Err = String;

    fn from_str(text: &str) -> Result<Ty, String> {
        let bad = || format!("unknown type `{text}`");
        if let Some((element, n)) = text.strip_suffix('}').and_then(|t| t.rsplit_once('{')) {
            let element = element.parse()?;
            return Ok(match (element, n) {
                (Ty::Strand, "") => Ty::Strands,
                (element, "") => Ty::List(Box::new(element)),
                (element, n) => Ty::Seq(Box::new(element), n.parse().map_err(|_| bad())?),
            });
        }
        match text {
            "strand" => Ok(Ty::Strand),
            "bool" => Ok(Ty::Bool),
            "int" => Ok(Ty::Int),
            "string" => Ok(Ty::Str),
            _ => {
                if let Some(shape) = text.strip_prefix("tensor") {
                    return Ok(Ty::Tensor(shape.parse()?));
                }
                let (dim, shape) = text
                    .strip_prefix("field(")
                    .and_then(|t| t.split_once(')'))
                    .ok_or_else(bad)?;
                Ok(Ty::Field {
                    dim: dim.parse().map_err(|_| bad())?,
                    shape: shape.parse()?,
                })
            }
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Tensor(shape, values) => {
                let values: Vec<String> = values.iter().map(|b| format!("{:?}", b.get())).collect();
                write!(f, "tensor {shape} {}", values.join(" "))
            }
            Base::Int(n) => write!(f, "int {n}"),
            Base::Bool(b) => write!(f, "bool {b}"),
            Base::Str(s) => write!(f, "str {s:?}"),
            Base::Global(n, ty) => write!(f, "global {n} {ty}"),
            Base::State(n, ty) => write!(f, "state {n} {ty}"),
            Base::Arg(n, ty) => write!(f, "arg {n} {ty}"),
            Base::Image(image, info) => write!(f, "image {image} {info}"),
            Base::Extremes(field) => write!(f, "extremes {field}"),
            Base::Locate(mesh, dim) => write!(f, "locate {mesh} {dim}"),
            Base::CellNumber(mesh) => write!(f, "cell-number {mesh}"),
            Base::Simple(simple) => f.write_str(simple.name()),
            Base::Select(ty) => write!(f, "select {ty}"),
            Base::IntDiv(place) => write!(f, "int-div {place}"),
            Base::IntRem(place) => write!(f, "int-rem {place}"),
            Base::Sequence(ty) => write!(f, "sequence {ty}"),
            Base::Element(place) => write!(f, "element {place}"),
            Base::CheckIndex(place) => write!(f, "check-index {place}"),
            Base::Dynamic(dynamic) => write!(f, "{dynamic}"),
            Base::Print(pieces) => {
                f.write_str("print")?;
                pieces.iter().try_for_each(|piece| write!(f, " {piece}"))
            }
        }
    }
}

impl FromStr for Base {
    type Err = String;

    fn from_str(text: &str) -> Result<Base, String> {
        if let Some(simple) = Simple::ALL.iter().find(|s| s.name() == text) {
            return Ok(Base::Simple(*simple));
        }
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let bad = || format!("cannot read operation `{text}`");
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let numbered = || -> Result<(u32, Ty), String> {
            let (n, ty) = rest.split_once(' ').ok_or_else(bad)?;
            Ok((number(n)?, ty.parse()?))
        };
        Ok(match word {
            "tensor" => {
                let (shape, values) = rest.split_once(' ').ok_or_else(bad)?;
                let values = values
                    .split(' ')
                    .map(|v| v.parse::<f64>().map(Bits::from).map_err(|_| bad()))
                    .collect::<Result<_, _>>()?;
                Base::Tensor(shape.parse()?, values)
            }
            "int" => Base::Int(rest.parse().map_err(|_| bad())?),
            "bool" => Base::Bool(rest.parse().map_err(|_| bad())?),
            "str" => Base::Str(print_piece::unquote(rest).ok_or_else(bad)?.into()),
            "global" => numbered().map(|(n, ty)| Base::Global(n, ty))?,
            "state" => numbered().map(|(n, ty)| Base::State(n, ty))?,
            "arg" => numbered().map(|(n, ty)| Base::Arg(n, ty))?,
            "image" => {
                let (image, info) = rest.split_once(' ').ok_or_else(bad)?;
                Base::Image(number(image)?, info.parse()?)
            }
            "extremes" => Base::Extremes(Arc::new(rest.parse()?)),
            "locate" => {
                let (mesh, dim) = rest.split_once(' ').ok_or_else(bad)?;
                Base::Locate(number(mesh)?, dim.parse().map_err(|_| bad())?)
            }
            "cell-number" => Base::CellNumber(number(rest)?),
            "select" => Base::Select(rest.parse()?),
            "int-div" => Base::IntDiv(number(rest)?),
            "int-rem" => Base::IntRem(number(rest)?),
            "sequence" => Base::Sequence(rest.parse()?),
            "element" => Base::Element(number(rest)?),
            "check-index" => Base::CheckIndex(number(rest)?),
            "print" => Base::Print(print_piece::parse_pieces(rest)?.into()),
            _ => return text.parse().map(Base::Dynamic),
        })
    }
}
