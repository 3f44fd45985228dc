//! From the numbers that a file stores for one sample to the components of a tensor.
//!
//! The kind of the axis says what the numbers are; the declared shape decides whether halves of symmetric matrices are
//! completed and masks dropped, or the numbers taken one by one.

use super::request::Declared;
use crate::formats::{Note, Triangle};
use crate::nrrd::Kind;

/// What the components are to the space around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Colours, which have no direction.
    Color,
    /// Numbers without a known direction.
    Plain,
    /// A vector that goes along with positions.
    Contravariant,
    /// A vector that goes along with gradients.
    Covariant,
    /// A matrix with two directions of the first sort.
    Matrix,
}

/// How the numbers of one sample become components.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expansion {
    /// For each stored number, its component.
    pub(crate) component: Vec<Option<usize>>,
    /// The stored number that is a mask.
    pub(crate) mask: Option<usize>,
    /// Components that equal others: from, to.
    pub(crate) copies: Vec<(usize, usize)>,
    /// What the components are to space.
    pub(crate) meaning: Meaning,
    /// What should be known about it.
    pub(crate) note: Option<Note>,
}

/// Why stored numbers do not become the components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// There are as many as a half of a symmetric matrix has, but nothing says in which order.
    UnknownOrder,
    /// There are not as many as are wanted.
    Count,
}

/// The kinds that are matrices: dimension, whether a mask comes first, whether only the upper half is stored.
#[rustfmt::skip]
const MATRICES: &[(Kind, usize, bool, bool)] = &[
    (Kind::Matrix2,                2, false, false),
    (Kind::MaskedMatrix2,          2, true,  false),
    (Kind::SymmetricMatrix2,       2, false, true),
    (Kind::MaskedSymmetricMatrix2, 2, true,  true),
    (Kind::Matrix3,                3, false, false),
    (Kind::MaskedMatrix3,          3, true,  false),
    (Kind::SymmetricMatrix3,       3, false, true),
    (Kind::MaskedSymmetricMatrix3, 3, true,  true),
];

/// The kind of symmetric matrices of a dimension.
pub(crate) fn symmetric_kind(dim: usize) -> Kind {
    if dim == 2 {
        Kind::SymmetricMatrix2
    } else {
        Kind::SymmetricMatrix3
    }
}

/// The dimension of the matrices of a kind, if it is one of them.
pub(crate) fn dim_of_matrices(kind: Kind) -> Option<usize> {
    let row = MATRICES.iter().find(|(k, ..)| *k == kind);
    row.map(|(_, dim, ..)| *dim)
}

/// The dimension of the matrices of a shape, if it is that of small square ones.
pub(crate) fn matrix_dim(shape: &[usize]) -> Option<usize> {
    match shape {
        [2, 2] => Some(2),
        [3, 3] => Some(3),
        _ => None,
    }
}

/// How `stored` numbers of a kind become the components of the declared type.
pub(crate) fn expand(
    kind: Option<Kind>,
    stored: usize,
    declared: Declared<'_>,
    triangle: Option<Triangle>,
) -> Result<Expansion, Misfit> {
    if let Some(dim) = matrix_dim(declared.shape) {
        let row = MATRICES
            .iter()
            .find(|(k, d, ..)| Some(*k) == kind && *d == dim);
        if let Some(&(_, _, masked, symmetric)) = row {
            let half = symmetric.then(|| triangle.unwrap_or(Triangle::Upper));
            return Ok(matrix(dim, masked, half));
        }
        let half = dim * (dim + 1) / 2;
        if stored == half {
            let half = triangle.ok_or(Misfit::UnknownOrder)?;
            return Ok(matrix(dim, false, Some(half)));
        }
    }
    if stored != declared.components() {
        return Err(Misfit::Count);
    }
    let color = kind.is_some_and(is_color) && declared.shape.len() > 1;
    let note = || format!("colours are read as values of type {declared}");
    Ok(Expansion {
        component: (0..stored).map(Some).collect(),
        mask: None,
        copies: Vec::new(),
        meaning: kind.map_or(Meaning::Plain, meaning),
        note: color.then(|| Note::new(note())),
    })
}

/// The components of a square matrix that is stored whole or by one `half`, with or without a mask in front.
fn matrix(dim: usize, masked: bool, half: Option<Triangle>) -> Expansion {
    let places = (0..dim * dim).map(|k| (k / dim, k % dim));
    let is_stored = |&(row, column): &(usize, usize)| match half {
        None => true,
        Some(Triangle::Upper) => row <= column,
        Some(Triangle::Lower) => row >= column,
    };
    let at = |(row, column): (usize, usize)| row * dim + column;
    let mut component = vec![None; usize::from(masked)];
    component.extend(
        places
            .clone()
            .filter(is_stored)
            .map(|place| Some(at(place))),
    );
    let mirrored = places.filter(|place| !is_stored(place));
    Expansion {
        component,
        mask: masked.then_some(0),
        copies: mirrored.map(|(r, c)| (at((c, r)), at((r, c)))).collect(),
        meaning: Meaning::Matrix,
        note: None,
    }
}

fn is_color(kind: Kind) -> bool {
    use Kind::{Color3, Color4, HsvColor, RgbColor, RgbaColor, XyzColor};
    matches!(
        kind,
        Color3 | RgbColor | HsvColor | XyzColor | Color4 | RgbaColor
    )
}

fn meaning(kind: Kind) -> Meaning {
    match kind {
        Kind::Vector | Kind::Vector2 | Kind::Vector3 => Meaning::Contravariant,
        Kind::CovariantVector | Kind::Normal | Kind::Gradient3 | Kind::Normal3 => {
            Meaning::Covariant
        }
        Kind::Matrix2 | Kind::Matrix3 => Meaning::Matrix,
        _ if is_color(kind) => Meaning::Color,
        // Numbers taken one by one, mask and halves included, are no longer a matrix.
        _ => Meaning::Plain,
    }
}
