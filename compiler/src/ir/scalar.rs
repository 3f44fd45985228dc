//! Scalars: their types, constants, and the operations on them that need no attributes.

use std::{fmt, str::FromStr};

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A real number, in the program's precision.
    Real,
    /// An integer, in the program's width.
    Int,
    /// A truth value.
    Bool,
    /// A string.
    Str,
}

/// A real constant; compared by its bits, so that constants can be hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits(u64);

impl From<f64> for Bits {
    fn from(x: f64) -> Bits {
        Bits(x.to_bits())
    }
}

impl Bits {
    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Defines the operations that have no attributes: variant, name in text, argument types, result type, and whether the
/// arguments may be exchanged.
macro_rules! simple_operations {
    ($($variant:ident $name:literal ($($arg:ident)*) -> $result:ident $($commutes:ident)?: $doc:literal;)*) => {
        /// An operation without attributes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Simple { $(#[doc = $doc] $variant,)* }

        impl Simple {
            /// Every such operation.
            pub const ALL: &[Simple] = &[$(Simple::$variant,)*];

            /// The name in text.
            pub fn name(self) -> &'static str {
                match self { $(Simple::$variant => $name,)* }
            }

            /// Argument types and result type.
            pub fn signature(self) -> (&'static [Scalar], Scalar) {
                match self { $(Simple::$variant => (&[$(Scalar::$arg,)*], Scalar::$result),)* }
            }

            /// Whether the result is the same with the arguments exchanged.
            pub fn commutes(self) -> bool {
                let marks: &[&str] = match self { $(Simple::$variant => &[$(stringify!($commutes))?],)* };
                !marks.is_empty()
            }
        }
    };
}

simple_operations! {
    Add "add" (Real Real) -> Real commutes: "a + b";
    Sub "sub" (Real Real) -> Real: "a − b";
    Mul "mul" (Real Real) -> Real commutes: "a · b";
    Div "div" (Real Real) -> Real: "a / b";
    Neg "neg" (Real) -> Real: "−a";
    Less "less" (Real Real) -> Bool: "a < b; false with NaN";
    LessEqual "less-equal" (Real Real) -> Bool: "a ≤ b; false with NaN";
    Equal "equal" (Real Real) -> Bool commutes: "a = b; false with NaN";
    IntAdd "int-add" (Int Int) -> Int commutes: "a + b, wrapping";
    IntSub "int-sub" (Int Int) -> Int: "a − b, wrapping";
    IntMul "int-mul" (Int Int) -> Int commutes: "a · b, wrapping";
    IntNeg "int-neg" (Int) -> Int: "−a, wrapping";
    IntLess "int-less" (Int Int) -> Bool: "a < b";
    IntLessEqual "int-less-equal" (Int Int) -> Bool: "a ≤ b";
    IntEqual "int-equal" (Int Int) -> Bool commutes: "a = b";
    ToReal "to-real" (Int) -> Real: "the real number a";
    And "and" (Bool Bool) -> Bool commutes: "a and b";
    Or "or" (Bool Bool) -> Bool commutes: "a or b";
    Not "not" (Bool) -> Bool: "not a";
    StrEqual "str-equal" (Str Str) -> Bool commutes: "the same string";
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scalar::Real => "real",
            Scalar::Int => "int",
            Scalar::Bool => "bool",
            Scalar::Str => "string",
        })
    }
}

impl FromStr for Scalar {
    type Err = String;

    fn from_str(text: &str) -> Result<Scalar, String> {
        [Scalar::Real, Scalar::Int, Scalar::Bool, Scalar::Str]
            .into_iter()
            .find(|ty| ty.to_string() == text)
            .ok_or_else(|| format!("unknown type `{text}`"))
    }
}

/// The derivative orders wanted from a probe: bit m for order m.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orders(pub u32);

impl Orders {
    /// The orders, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..32).filter(move |m| self.0 >> m & 1 == 1)
    }
}
