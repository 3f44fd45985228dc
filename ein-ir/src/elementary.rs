//! Elementary functions.

/// An elementary function; what is known about each is its row in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is named after what it computes")]
pub enum Elementary {
    Sqrt,
    Exp,
    Log,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Erf,
    Erfc,
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    Trunc,
    Pow,
    Atan2,
    Fmod,
}
