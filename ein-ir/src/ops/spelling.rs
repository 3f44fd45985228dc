//! Internal spellings of the operators that are neither infix, prefix nor called by a name, for lookups in the table.

/// `|a|`
pub const NORM: &str = "|";
/// `F(x)`
pub const PROBE: &str = "(";
/// `∂[time] F`
pub const TIME_DERIVATIVE: &str = "[time]";
/// `[a, b, …]`
pub const CONCAT: &str = "[";
/// `a[0,:]`
pub const SLICE: &str = "[:]";
/// `s[i]`
pub const ELEMENT: &str = "[i]";
/// `{a, b, …}`
pub const SEQUENCE: &str = "{";
/// `a if c else b`
pub const SELECT: &str = "if";
/// `identity[n]`
pub const IDENTITY: &str = "identity";
/// `zeros[2,3]`
pub const ZEROS: &str = "zeros";
/// `nan[2,3]`
pub const NAN: &str = "nan";
