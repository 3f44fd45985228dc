//! The operators that EIN cannot express, as an enum for exhaustive matches in the stages that compile and run them.

use super::{Meaning, OPERATORS, candidates};

/// How two values of one type are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `==`
    Equal,
    /// `!=`; the only one that holds for NaN.
    NotEqual,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
}

/// The border of an image; `C` is the representation of a given value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Border<C = ()> {
    /// The nearest sample.
    Clamp,
    /// The samples repeated.
    Wrap,
    /// The samples reflected, the one at the border repeated.
    Mirror,
    /// A given value.
    Constant(C),
}

impl<C> Border<C> {
    /// The same with something else known of a value that is given.
    pub fn map<D>(self, known: impl FnOnce(C) -> D) -> Border<D> {
        match self {
            Border::Clamp => Border::Clamp,
            Border::Wrap => Border::Wrap,
            Border::Mirror => Border::Mirror,
            Border::Constant(value) => Border::Constant(known(value)),
        }
    }
}

/// How the elements of a sequence or the strands of a set become one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// Whether all hold; true of none.
    All,
    /// Whether one holds; false of none.
    Exists,
    /// The sum of the elements; 0 if there is none.
    Sum,
    /// The product of the elements; 1 if there is none.
    Product,
    /// The least; the largest integer or +∞ of none.
    Min,
    /// The greatest; the smallest integer or −∞ of none.
    Max,
    /// The sum divided by the count; NaN of none.
    Mean,
    /// The mean square of the difference from the mean, by components; NaN of none.
    Variance,
    /// Where the least is, the first of equals; −1 of none. A NaN is never the least.
    ArgMin,
    /// Where the greatest is, the first of equals; −1 of none. A NaN is never the greatest.
    ArgMax,
}

/// A set of strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StrandSet {
    /// Active and stable strands.
    All,
    /// Strands that still update.
    Active,
    /// Strands that are stable.
    Stable,
}

impl Reduction {
    /// The name of the function that reduces so.
    pub fn name(self) -> &'static str {
        let meaning = Meaning::Builtin(Builtin::Reduce(self));
        let row = OPERATORS.iter().find(|row| row.meaning == meaning);
        row.expect("every reduction has a row").syntax[0].spelling()
    }

    /// The reduction to the value itself, of one that says where it is.
    pub fn extreme(self) -> Option<Reduction> {
        match self {
            Reduction::ArgMin => Some(Reduction::Min),
            Reduction::ArgMax => Some(Reduction::Max),
            _ => None,
        }
    }

    /// The reduction that a function of this name is.
    pub fn named(name: &str) -> Option<Reduction> {
        candidates(name).find_map(|row| match row.meaning {
            Meaning::Builtin(Builtin::Reduce(reduction)) => Some(reduction),
            _ => None,
        })
    }
}

impl StrandSet {
    /// Every set.
    pub const SETS: [StrandSet; 3] = [StrandSet::All, StrandSet::Active, StrandSet::Stable];

    /// Its name after the strand's.
    pub fn name(self) -> &'static str {
        match self {
            StrandSet::All => "all",
            StrandSet::Active => "active",
            StrandSet::Stable => "stable",
        }
    }

    /// The set of this name.
    pub fn named(name: &str) -> Option<StrandSet> {
        StrandSet::SETS.into_iter().find(|set| set.name() == name)
    }
}

/// A property of images and meshes that is known when they have been loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataFact {
    /// The two opposite corners of the box that holds all samples of an image, or all nodes of a mesh.
    Bounds,
    /// The least distance of neighbouring samples, or the size of a cell of mean volume.
    Spacing,
    /// The least and the greatest value.
    Range,
    /// The box of all images and meshes of this dimension.
    AllBounds(u8),
    /// The least spacing of all images and meshes of this dimension.
    AllSpacing(u8),
}

/// A property of the frames of an image over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FramesFact {
    /// Their number.
    Count,
    /// The time of the first one.
    Start,
    /// The time of the last one.
    End,
}

/// An operator that is not an EIN operator. What types it works on is in the instance of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// Sum of integers; wraps.
    IntAdd,
    /// Difference of integers; wraps.
    IntSub,
    /// Product of integers; wraps.
    IntMul,
    /// Quotient of integers, truncated; division by zero is a run-time error.
    IntDiv,
    /// Remainder of integers, with the sign of the dividend; division by zero is a run-time error.
    IntRem,
    /// Negated integer; wraps.
    IntNeg,
    /// Magnitude of an integer; wraps.
    IntAbs,
    /// The smaller integer.
    IntMin,
    /// The larger integer.
    IntMax,
    /// An integer as a real.
    IntToReal,
    /// Comparison of two integers, reals, strings or truth values.
    Compare(Relation),
    /// Conjunction; the second operand is evaluated only if the first holds.
    And,
    /// Disjunction; the second operand is evaluated only if the first does not hold.
    Or,
    /// Negation.
    Not,
    /// The first or the last operand, as the one in between holds or not; only that one is evaluated.
    Select,
    /// The ratio of a circle's circumference to its diameter.
    Pi,
    /// +∞.
    Infinity,
    /// A tensor of quiet NaNs.
    Nan,
    /// The field reconstructed from an image by a kernel; arguments in either order.
    Convolve,
    /// Whether every image behind a field has samples around a position, and every mesh a cell there.
    Inside,
    /// A field over time at a position and a time.
    ProbeTime,
    /// The derivative of a field over time by the time.
    TimeDerivative,
    /// Whether every image behind a field over time has samples around a position and a time.
    InsideTime,
    /// A property of the frames of an image.
    Frames(FramesFact),
    /// A kernel per axis.
    AxisKernels,
    /// An image from a file.
    LoadImage,
    /// Values on a mesh from a file, or from the file of a mesh.
    LoadFem,
    /// A mesh from a file.
    LoadMesh,
    /// The field of values on a mesh; the mesh may be given as well.
    ToField,
    /// The number in its file of the cell that a position is in, or −1.
    GetCell,
    /// An interval that contains the values of a field in a box, as far as bounds tell.
    RangeInBox,
    /// A sequence from a file.
    LoadSequence,
    /// An image, or values on a mesh, with a border control.
    Border(Border),
    /// Number of samples per axis, fastest axis first.
    ImageSize,
    /// A property of loaded data.
    Data(DataFact),
    /// An image smoothed by a Gaussian, at a scale in world units: one number, or one per axis of the image.
    Blur,
    /// The integers from one to another, inclusive.
    Range,
    /// A fixed sequence of given elements.
    Sequence,
    /// A sequence with an element put before it.
    Prepend,
    /// A sequence with an element put after it.
    Append,
    /// Two sequences, one after the other.
    Concatenate,
    /// Number of elements.
    Length,
    /// An element by its number; out of range is a run-time error.
    Element,
    /// One value from all elements.
    Reduce(Reduction),
    /// One value from those of a field at all points of a sequence.
    ReduceAtPoints(Reduction),
    /// The other strands closer than a radius, around the strand itself or around a given centre.
    Sphere,
    /// The number of strands in a set.
    Count(StrandSet),
    /// The integer 0, whatever the arguments.
    Nothing,
}
