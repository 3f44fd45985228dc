//! The operators under test: one row each, with spelling, typing rule, domain and truth.
//!
//! The rows are a second, independent statement of the language. Nothing here is read from the
//! compiler, and the truth functions act on jets componentwise, so a slip on either side shows.

mod algebra;
mod calculus;
mod eigen;
mod rows;
mod scalar;
mod typing;

pub use rows::OPERATORS;

use crate::jet::{Jet, Space};
use crate::number::Number;
use crate::tensor::Tensor;
use crate::types::Type;
use std::fmt;

/// How strongly a spelling binds; tighter is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `a if c else b`.
    Choice,
    /// `+` and `-`.
    Sum,
    /// `*`, `/`, `•`, `×`, `⊗`, `:`.
    Product,
    /// Unary `-`.
    Negation,
    /// `^`.
    Power,
    /// Indexing and probing.
    Suffix,
    /// `∇` and its relatives.
    Nabla,
    /// Names, literals, brackets.
    Atom,
}

/// How an operator is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Not written at all: the operand itself.
    Invisible,
    /// Between two operands.
    Infix(&'static str, Level),
    /// Unary minus.
    Negation,
    /// A differential operator before its operand.
    Nabla(&'static str),
    /// Bars around the operand.
    Bars,
    /// A function call.
    Call(&'static str),
    /// A function call with a literal before the operands.
    CallWith(&'static str, &'static str),
    /// An index list after the operand.
    Suffix(&'static str),
    /// The position after the operand.
    Probe,
    /// An integer power after the operand.
    Power(&'static str),
    /// Operands in square brackets.
    List,
    /// The first operand if the third is positive, else the second. Fields have no such expression: theirs is the body of a
    /// field function.
    Choice,
    /// A text with `$` in the place of the operand, which stands in parentheses or between commas there. Elements of
    /// sequences are in braces, whatever the version writes.
    Around(&'static str, Level),
}

/// Why an expression has no usable value at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Undefined(pub &'static str);

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The value of a subexpression at a point: a tensor of jets.
pub type JetTensor = Tensor<Jet>;

/// A truth function: from the arguments' jets to the result's.
pub type TruthFn = fn(&Space, &[JetTensor]) -> Result<JetTensor, Undefined>;

/// The meaning of an operator.
#[derive(Clone, Copy)]
pub enum Truth {
    /// The result at a point depends on the arguments at that point.
    Pointwise(TruthFn),
    /// The result is this many orders lower than the argument.
    Derivative(u8, TruthFn),
    /// The first argument is evaluated at the value of the second.
    Compose,
}

/// One operator.
pub struct Operator {
    /// The name in labels and reports; stable, since labels are kept.
    pub name: &'static str,
    /// The spelling in programs.
    pub syntax: Syntax,
    /// The number of arguments.
    pub arity: usize,
    /// The result type, if the language has this operator at these types.
    pub rule: fn(&[Type]) -> Option<Type>,
    /// Whether the published list has it, and at which types it was generated there.
    pub published: Option<fn(&[Type]) -> bool>,
    /// How the enumeration applies it when a bare application would rarely be inside the domain: a label
    /// with `$0`, `$1` for the arguments.
    pub template: Option<&'static str>,
    /// The domain in words; empty if every argument will do.
    pub domain: &'static str,
    /// The meaning.
    pub truth: Truth,
    /// Whether it commutes with rotations, so that DAVm may use it.
    pub isotropic: bool,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Operator {
    fn eq(&self, other: &Operator) -> bool {
        self.name == other.name
    }
}

impl Operator {
    /// How many derivatives it takes of its first argument.
    pub fn lowers(&self) -> usize {
        match self.truth {
            Truth::Derivative(orders, _) => usize::from(orders),
            Truth::Pointwise(_) | Truth::Compose => 0,
        }
    }
}

/// The operator of a name.
pub(crate) fn operator(name: &str) -> Result<&'static Operator, String> {
    OPERATORS
        .iter()
        .find(|operator| operator.name == name)
        .ok_or_else(|| {
            format!(
                "found operator `{name}`, wanted one of the operators that `datm operators` lists"
            )
        })
}

/// How far an argument must stay from the edge of a domain. Truths nearer to the edge are redrawn:
/// a program may legitimately fall on the other side.
pub(crate) const MARGIN: f64 = 1.0 / 64.0;

/// Requires a magnitude above the margin.
fn away_from_zero(number: &Number, reason: &'static str) -> Result<(), Undefined> {
    if number.magnitude().exceeds(MARGIN) {
        Ok(())
    } else {
        Err(Undefined(reason))
    }
}

/// Requires a value above a bound.
fn above(number: &Number, bound: f64, reason: &'static str) -> Result<(), Undefined> {
    if number.exceeds(bound) {
        Ok(())
    } else {
        Err(Undefined(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, row) in OPERATORS.iter().enumerate() {
            assert!(
                OPERATORS[..i].iter().all(|other| other.name != row.name),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn the_published_list_has_thirty_four_operators() {
        assert_eq!(
            OPERATORS
                .iter()
                .filter(|row| row.published.is_some())
                .count(),
            34
        );
    }
}
