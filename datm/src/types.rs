//! Shapes and types of the generated expressions, and their spelling in labels and in source text.
//!
//! A [`Type`] here is DATm's own statement of what the language has: tensors and fields of order at
//! most three whose axes have two to four entries. It shares nothing with the compiler's types.

use std::fmt;
use std::str::FromStr;

/// The highest tensor order that is generated, as an argument, an intermediate or a result.
pub const MAX_ORDER: usize = 3;

/// The shape of a tensor: at most [`MAX_ORDER`] axes, each of extent 2, 3 or 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    order: u8,
    extents: [u8; MAX_ORDER],
}

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape {
        order: 0,
        extents: [0; MAX_ORDER],
    };

    /// The shape with these extents, if it is one that is generated.
    pub fn new(extents: &[u8]) -> Option<Shape> {
        if extents.len() > MAX_ORDER || extents.iter().any(|n| !(2..=4).contains(n)) {
            return None;
        }
        let mut shape = Shape {
            order: extents.len() as u8,
            ..Shape::SCALAR
        };
        shape.extents[..extents.len()].copy_from_slice(extents);
        Some(shape)
    }

    /// The extents, slowest axis first.
    pub fn extents(&self) -> &[u8] {
        &self.extents[..usize::from(self.order)]
    }

    /// The number of axes.
    pub fn order(&self) -> usize {
        usize::from(self.order)
    }

    /// The number of components.
    pub fn components(&self) -> usize {
        self.extents().iter().map(|&n| usize::from(n)).product()
    }

    /// Whether this is the shape of a scalar.
    pub fn is_scalar(&self) -> bool {
        self.order == 0
    }

    /// The extent of a square matrix.
    pub fn square(&self) -> Option<u8> {
        match *self.extents() {
            [n, m] if n == m => Some(n),
            _ => None,
        }
    }

    /// The extent of a vector.
    pub fn vector(&self) -> Option<u8> {
        match *self.extents() {
            [n] => Some(n),
            _ => None,
        }
    }

    /// This shape followed by the axes of another, if that is still generated.
    pub fn then(&self, other: &[u8]) -> Option<Shape> {
        Shape::new(&[self.extents(), other].concat())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.extents().iter().map(u8::to_string).collect();
        write!(f, "[{}]", extents.join(","))
    }
}

/// The type of an expression: a tensor, a field over 1 to 3 dimensions, or a tensor that depends on the position at which
/// such fields were probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// Dimension of the domain, or of the position; 0 for a tensor.
    pub dim: u8,
    /// Whether this is the value of a field at a position.
    pub probed: bool,
    /// Number of continuous derivatives of a field; 0 for a tensor, where it means nothing.
    pub continuity: u8,
    /// Shape of the value.
    pub shape: Shape,
}

impl Type {
    /// A tensor type.
    pub fn tensor(shape: Shape) -> Type {
        Type {
            dim: 0,
            probed: false,
            continuity: 0,
            shape,
        }
    }

    /// A field type.
    pub fn field(dim: u8, continuity: u8, shape: Shape) -> Type {
        Type {
            dim,
            probed: false,
            continuity,
            shape,
        }
    }

    /// A tensor that depends on a position.
    pub fn probed(dim: u8, shape: Shape) -> Type {
        Type {
            dim,
            probed: true,
            ..Type::tensor(shape)
        }
    }

    /// Whether this is a field.
    pub fn is_field(&self) -> bool {
        self.dim > 0 && !self.probed
    }

    /// Whether there is a value for each position: a field, or what depends on its values.
    pub fn varies(&self) -> bool {
        self.dim > 0
    }

    /// The same kind of thing with another shape.
    pub fn with_shape(&self, shape: Shape) -> Type {
        Type { shape, ..*self }
    }

    /// The type as a program writes it, e.g. `field#2(3)[3,3]` or `real`.
    pub fn source(&self) -> String {
        match (self.is_field(), self.shape.is_scalar()) {
            (true, _) => format!("field#{}({}){}", self.continuity, self.dim, self.shape),
            (false, true) => "real".to_string(),
            (false, false) => format!("tensor{}", self.shape),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_field(), self.varies()) {
            (true, _) => write!(f, "F{}#{}{}", self.dim, self.continuity, self.shape),
            (false, true) => write!(f, "T{}@{}", self.shape, self.dim),
            (false, false) => write!(f, "T{}", self.shape),
        }
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let inner = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .ok_or_else(|| format!("found `{text}`, wanted a shape such as `[3,3]`"))?;
        let extents: Result<Vec<u8>, _> = inner
            .split(',')
            .filter(|part| !part.is_empty())
            .map(str::parse)
            .collect();
        extents
            .ok()
            .and_then(|extents| Shape::new(&extents))
            .ok_or_else(|| {
                format!("found shape `{text}`, wanted at most {MAX_ORDER} axes of extent 2 to 4")
            })
    }
}

impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Type, String> {
        let wanted = || format!("found `{text}`, wanted a type such as `T[3]` or `F3#4[3]`");
        let open = text.find('[').ok_or_else(wanted)?;
        let (head, shape) = text.split_at(open);
        let shape: Shape = shape.parse()?;
        if head == "T" {
            return Ok(Type::tensor(shape));
        }
        let (dim, continuity) = head
            .strip_prefix('F')
            .and_then(|rest| rest.split_once('#'))
            .ok_or_else(wanted)?;
        match (dim.parse(), continuity.parse()) {
            (Ok(dim @ 1..=3), Ok(continuity @ 0..=9)) => Ok(Type::field(dim, continuity, shape)),
            _ => Err(wanted()),
        }
    }
}

/// The shapes for which a data file can be made and which arguments have.
pub(crate) fn argument_shapes() -> Vec<Shape> {
    [&[][..], &[2], &[3], &[4], &[2, 2], &[3, 3]]
        .iter()
        .filter_map(|axes| Shape::new(axes))
        .collect()
}

/// Whether a result of this shape could be stored in a data file: the filter behind the published counts.
pub(crate) fn is_storable(shape: Shape) -> bool {
    argument_shapes().contains(&shape) || matches!(shape.extents(), [2, 2, 2] | [3, 3, 3])
}

/// The argument types: every argument shape as a tensor and as a field in each dimension.
pub(crate) fn argument_types(continuity: u8, kinds: ArgumentKinds) -> Vec<Type> {
    let tensors = argument_shapes().into_iter().map(Type::tensor);
    let fields = (1..=3).flat_map(|dim| {
        argument_shapes()
            .into_iter()
            .map(move |shape| Type::field(dim, continuity, shape))
    });
    match kinds {
        ArgumentKinds::All => tensors.chain(fields).collect(),
        ArgumentKinds::Fields => fields.collect(),
        ArgumentKinds::Tensors => tensors.collect(),
        ArgumentKinds::Ball => fields
            .filter(|ty| ty.dim == 3 && matches!(ty.shape.extents(), [] | [3]))
            .collect(),
    }
}

/// Which arguments a testing frame uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgumentKinds {
    /// Tensors and fields.
    All,
    /// Fields only.
    Fields,
    /// Tensors only.
    Tensors,
    /// Scalar and vector fields in three dimensions: the arguments of DAVm.
    Ball,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_back_as_they_are_written() {
        for ty in argument_types(4, ArgumentKinds::All) {
            assert_eq!(ty.to_string().parse::<Type>(), Ok(ty));
        }
    }

    #[test]
    fn argument_types_are_six_shapes_as_tensors_and_as_fields_of_three_dimensions() {
        let (shapes, dimensions) = (6, 3);
        let types = argument_types(4, ArgumentKinds::All);
        assert_eq!(types.len(), shapes * (1 + dimensions));
    }

    #[test]
    fn malformed_types_are_refused() {
        for text in [
            "",
            "T",
            "F4#1[2]",
            "F2[2]",
            "T[5]",
            "T[2,2,2,2]",
            "F2#x[2]",
            "T[2",
        ] {
            assert!(text.parse::<Type>().is_err(), "{text}");
        }
    }
}
