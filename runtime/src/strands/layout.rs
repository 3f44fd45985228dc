//! The layout of a strand's state: takes the compiler's list of variables, gives byte offsets
//! inside a block of W strands.
//!
//! A block is `[plane][W]`: one plane per scalar component, W lanes side by side. Every plane is
//! aligned to its own size (at most 64 bytes) and every block to 64 bytes. Planes that other
//! strands read and that change come first, so that publishing a block is one copy of its head and
//! a plane has the same offset in the published copy as in the state.

use std::fmt;

/// The machine types a state variable or a sequence element is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// 32-bit two's complement.
    I32,
    /// 64-bit two's complement.
    I64,
    /// One byte, 0 or 1, which is also how a truth value is written to a file.
    Bool,
}

impl Scalar {
    /// Size of one value in memory.
    pub const fn bytes(self) -> usize {
        match self {
            Scalar::F32 | Scalar::I32 => 4,
            Scalar::F64 | Scalar::I64 => 8,
            Scalar::Bool => 1,
        }
    }
}

/// What a state variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A fixed number of scalars (a number, a tensor, a fixed sequence), one plane each.
    Tensor {
        /// Type of each component.
        scalar: Scalar,
        /// Number of components, row-major.
        components: usize,
    },
    /// A dynamic sequence: one plane of handles (`crate::sequence::Sequence`).
    Sequence {
        /// Type of each component of an element.
        scalar: Scalar,
        /// Components of one element.
        components: usize,
    },
}

impl Kind {
    /// Number of planes and bytes per lane of each.
    const fn planes(self) -> (usize, usize) {
        match self {
            Kind::Tensor { scalar, components } => (components, scalar.bytes()),
            Kind::Sequence { .. } => (1, size_of::<u64>()),
        }
    }
}

/// Who reads a state variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Only the strand itself (and global code).
    Private,
    /// Other strands too, but it never changes after creation: one copy, read in place.
    Constant,
    /// Other strands too, and it changes: others read the copy published at the end of the previous
    /// super-step.
    Communicated,
}

/// One state variable as the compiler describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name in the program.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// Who reads it.
    pub sharing: Sharing,
}

/// One plane of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Bytes from the start of the block to lane 0.
    pub offset: usize,
    /// Bytes from one lane to the next.
    pub bytes: usize,
    /// Where other strands find it.
    pub sharing: Sharing,
}

/// A plane of sequence handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequencePlane {
    /// Where the handles are.
    pub plane: Plane,
    /// Bytes of one element of the sequences.
    pub element: usize,
}

/// Positions of strands, for spatial queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Index of the variable.
    pub variable: usize,
    /// `F32` or `F64`.
    pub scalar: Scalar,
    /// 1, 2 or 3.
    pub dimension: usize,
}

/// Offsets of all planes for one block width.
#[derive(Clone, Debug)]
pub struct StateLayout {
    width: usize,
    variables: Vec<Variable>,
    planes: Vec<Plane>,
    /// Index in `planes` of the first plane of each variable.
    first: Vec<usize>,
    sequences: Vec<SequencePlane>,
    stride: usize,
    published_stride: usize,
    position: Option<Position>,
}

/// Alignment of blocks: a cache line, and the widest vector register.
pub const BLOCK_ALIGN: usize = 64;

impl StateLayout {
    /// Lays out `variables` for blocks of `width` lanes (1, 4, 8 or 16). `position` names the
    /// variable that spatial queries search.
    pub fn new(
        width: usize,
        variables: Vec<Variable>,
        position: Option<usize>,
    ) -> Result<StateLayout, LayoutError> {
        if ![1, 4, 8, 16].contains(&width) {
            return Err(LayoutError::Width(width));
        }
        let position = position
            .map(|index| position_of(&variables, index))
            .transpose()?;
        let mut places = vec![Vec::new(); variables.len()];
        let mut end = 0;
        let mut published_stride = 0;
        for communicated in [true, false] {
            for (variable, places) in variables.iter().zip(&mut places) {
                if (variable.sharing == Sharing::Communicated) != communicated {
                    continue;
                }
                let (count, bytes) = variable.kind.planes();
                for _ in 0..count {
                    let size = bytes * width;
                    let offset = end_aligned(end, size.min(BLOCK_ALIGN));
                    places.push(Plane {
                        offset,
                        bytes,
                        sharing: variable.sharing,
                    });
                    end = offset + size;
                }
            }
            if communicated {
                published_stride = end_aligned(end, BLOCK_ALIGN);
            }
        }
        let first = places
            .iter()
            .scan(0, |next, places| {
                let first = *next;
                *next += places.len();
                Some(first)
            })
            .collect();
        let sequences =
            variables
                .iter()
                .zip(&places)
                .filter_map(|(variable, places)| match variable.kind {
                    Kind::Sequence { scalar, components } => Some(SequencePlane {
                        plane: places[0],
                        element: scalar.bytes() * components,
                    }),
                    Kind::Tensor { .. } => None,
                });
        let sequences = sequences.collect();
        let planes = places.concat();
        let stride = end_aligned(end, BLOCK_ALIGN).max(BLOCK_ALIGN);
        Ok(StateLayout {
            width,
            variables,
            planes,
            first,
            sequences,
            stride,
            published_stride,
            position,
        })
    }

    /// Lanes per block.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The variables as given.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// All planes, variable after variable, component after component.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The plane of one component (of the handle, for a sequence).
    pub fn plane(&self, variable: usize, component: usize) -> Plane {
        let (count, _) = self.variables[variable].kind.planes();
        assert!(
            component < count,
            "`{}` has {count} planes, not {component}",
            self.variables[variable].name
        );
        self.planes[self.first[variable] + component]
    }

    /// The planes that hold sequence handles.
    #[inline]
    pub fn sequence_planes(&self) -> &[SequencePlane] {
        &self.sequences
    }

    /// True when others may read a sequence in the super-step in which its owner replaces it or
    /// dies.
    pub fn sequences_are_read_by_others(&self) -> bool {
        self.sequences
            .iter()
            .any(|sequence| sequence.plane.sharing != Sharing::Private)
    }

    /// Bytes from one block to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes from one published block to the next: 0 when nothing is communicated.
    pub fn published_stride(&self) -> usize {
        self.published_stride
    }

    /// The variable that spatial queries search.
    pub fn position(&self) -> Option<Position> {
        self.position
    }
}

fn end_aligned(end: usize, align: usize) -> usize {
    end.next_multiple_of(align)
}

fn position_of(variables: &[Variable], index: usize) -> Result<Position, LayoutError> {
    let Some(variable) = variables.get(index) else {
        return Err(LayoutError::NoSuchPosition(index));
    };
    match variable.kind {
        Kind::Tensor {
            scalar: scalar @ (Scalar::F32 | Scalar::F64),
            components: dimension @ 1..=3,
        } if variable.sharing != Sharing::Private => Ok(Position {
            variable: index,
            scalar,
            dimension,
        }),
        Kind::Tensor { .. } | Kind::Sequence { .. } => {
            Err(LayoutError::Position(variable.name.clone()))
        }
    }
}

/// Why a layout cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The block width is not one of 1, 4, 8, 16.
    Width(usize),
    /// The position variable does not exist.
    NoSuchPosition(usize),
    /// The position variable has the wrong type, or is private to its strand.
    Position(String),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Width(width) => write!(
                f,
                "blocks of {width} strands; the width must be 1, 4, 8 or 16"
            ),
            LayoutError::NoSuchPosition(index) => {
                write!(f, "no state variable number {index} to take positions from")
            }
            LayoutError::Position(name) => write!(
                f,
                "`{name}` cannot be a position: it must be one to three reals that other strands may read"
            ),
        }
    }
}

impl std::error::Error for LayoutError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, kind: Kind, sharing: Sharing) -> Variable {
        Variable {
            name: name.into(),
            kind,
            sharing,
        }
    }

    fn tensor(scalar: Scalar, components: usize) -> Kind {
        Kind::Tensor { scalar, components }
    }

    fn mixed(width: usize) -> StateLayout {
        let variables = vec![
            variable("done", tensor(Scalar::Bool, 1), Sharing::Private),
            variable("pos", tensor(Scalar::F32, 3), Sharing::Communicated),
            variable("mass", tensor(Scalar::F64, 1), Sharing::Constant),
            variable(
                "path",
                Kind::Sequence {
                    scalar: Scalar::F32,
                    components: 3,
                },
                Sharing::Communicated,
            ),
        ];
        StateLayout::new(width, variables, Some(1)).unwrap()
    }

    #[test]
    fn planes_are_disjoint_aligned_and_inside_the_block() {
        for width in [1, 4, 8, 16] {
            let layout = mixed(width);
            let mut taken = vec![false; layout.stride()];
            for plane in layout.planes() {
                let size = plane.bytes * width;
                assert_eq!(plane.offset % size.min(BLOCK_ALIGN), 0);
                for byte in &mut taken[plane.offset..plane.offset + size] {
                    assert!(!std::mem::replace(byte, true));
                }
            }
            assert_eq!(layout.stride() % BLOCK_ALIGN, 0);
        }
    }

    #[test]
    fn communicated_planes_are_the_head_of_the_block() {
        let layout = mixed(8);
        for plane in layout.planes() {
            let in_head = plane.offset + plane.bytes * 8 <= layout.published_stride();
            assert_eq!(
                in_head && plane.offset < layout.published_stride(),
                plane.sharing == Sharing::Communicated
            );
        }
        assert!(layout.sequences_are_read_by_others());
        assert_eq!(layout.plane(1, 2).offset, 64);
    }

    #[test]
    fn bad_widths_and_positions_are_refused() {
        assert_eq!(
            StateLayout::new(3, vec![], None).unwrap_err(),
            LayoutError::Width(3)
        );
        let private = vec![variable("pos", tensor(Scalar::F32, 2), Sharing::Private)];
        assert_eq!(
            StateLayout::new(4, private, Some(0)).unwrap_err(),
            LayoutError::Position("pos".into())
        );
        let long = vec![variable("pos", tensor(Scalar::F32, 4), Sharing::Constant)];
        assert_eq!(
            StateLayout::new(4, long, Some(0)).unwrap_err(),
            LayoutError::Position("pos".into())
        );
        assert_eq!(
            StateLayout::new(4, vec![], Some(0)).unwrap_err(),
            LayoutError::NoSuchPosition(0)
        );
    }
}
