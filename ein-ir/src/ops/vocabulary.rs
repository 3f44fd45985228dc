//! The words in which rows describe operators: ways to write them, precedence, lifting to fields, and domains.

use crate::tensor::leibniz;
use crate::{Jet, Tensor, eigensystem};

/// Precedence of surface operators, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// `a if c else b`
    Conditional,
    /// `..`
    Range,
    /// `||`
    Or,
    /// `&&`
    And,
    /// `< <= == != >= >`
    Comparison,
    /// `+ - @`
    Sum,
    /// `* / % ⊛ • × ⊗ :`
    Product,
    /// `∘`
    Composition,
    /// unary `-` and `!`
    Unary,
    /// `^`
    Power,
    /// calls, probes, indexing, selection
    Suffix,
    /// `∇ ∇⊗ ∇× ∇•`, tighter than suffixes
    Derivative,
    /// names, literals, brackets
    Atom,
}

/// How a chain of operators of one level is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Associativity {
    /// From the left.
    Left,
    /// From the right.
    Right,
    /// Not at all.
    None,
}

impl Level {
    /// How a chain of operators of this level is grouped.
    pub fn associativity(self) -> Associativity {
        match self {
            Level::Conditional | Level::Or | Level::And | Level::Power => Associativity::Right,
            Level::Unary | Level::Derivative => Associativity::Right,
            Level::Comparison | Level::Sum | Level::Product => Associativity::Left,
            Level::Composition | Level::Suffix => Associativity::Left,
            Level::Range | Level::Atom => Associativity::None,
        }
    }

    /// The next level; of the tightest one itself.
    pub fn tighter(self) -> Level {
        match self {
            Level::Conditional => Level::Range,
            Level::Range => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::Comparison,
            Level::Comparison => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Composition,
            Level::Composition => Level::Unary,
            Level::Unary => Level::Power,
            Level::Power => Level::Suffix,
            Level::Suffix => Level::Derivative,
            Level::Derivative | Level::Atom => Level::Atom,
        }
    }

    /// The loosest levels that the operands of an infix operator of this level may have.
    pub fn operands(self) -> (Level, Level) {
        match self.associativity() {
            Associativity::Left => (self, self.tighter()),
            Associativity::Right => (self.tighter(), self),
            Associativity::None => (self.tighter(), self.tighter()),
        }
    }
}

/// One way to write an operator. The first text is its *spelling*, by which [`candidates`](super::candidates) finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Between its two operands.
    Infix(&'static str, Level),
    /// Before its operand.
    Prefix(&'static str, Level),
    /// A function's name before arguments in parentheses.
    Call(&'static str),
    /// A name or symbol that stands for a value.
    Constant(&'static str),
    /// Anything else: a spelling made up for the table, see [`spelling`](super::spelling), and its look in programs.
    Form(&'static str, &'static str, Level),
}

impl Syntax {
    /// The text by which the operator is looked up.
    pub fn spelling(self) -> &'static str {
        match self {
            Syntax::Infix(spelling, _) | Syntax::Prefix(spelling, _) => spelling,
            Syntax::Call(spelling) | Syntax::Constant(spelling) => spelling,
            Syntax::Form(spelling, ..) => spelling,
        }
    }

    /// How tightly it binds.
    pub fn level(self) -> Level {
        match self {
            Syntax::Infix(_, level) | Syntax::Prefix(_, level) | Syntax::Form(_, _, level) => level,
            Syntax::Call(_) => Level::Suffix,
            Syntax::Constant(_) => Level::Atom,
        }
    }
}

/// How an operator on tensors extends to fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lift {
    /// Not at all: arguments are just what the signature says.
    None,
    /// Point by point: every tensor of the signature may be a field instead, all of one dimension; the result is then
    /// a field.
    Pointwise,
    /// The tensors of the signature stand for fields, `d` for the dimension of their domain.
    Derivative,
}

/// Where an argument must stay away from, for the result to be defined and smooth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// Not zero; a tensor of order 1 and up: not all components.
    NonZero,
    /// Greater than 0.
    Positive,
    /// Between −1 and 1, exclusive.
    UnitInterval,
    /// A matrix with an inverse.
    NonZeroDet,
    /// A symmetric matrix without multiple eigenvalues.
    DistinctEigenvalues,
}

impl Domain {
    /// How far inside the domain a value is: positive inside, 0 or less outside.
    pub fn margin(self, value: &Tensor<f64>) -> f64 {
        let norm = || value.components().iter().map(|x| x * x).sum::<f64>().sqrt();
        match self {
            Domain::NonZero => norm(),
            Domain::Positive => value.components()[0],
            Domain::UnitInterval => 1.0 - norm(),
            Domain::NonZeroDet => leibniz(&value.map(|&x| Jet::constant(0, 0, x)))
                .value()
                .abs(),
            Domain::DistinctEigenvalues => eigensystem(value.components())
                .0
                .windows(2)
                .fold(f64::INFINITY, |gap, pair| gap.min(pair[0] - pair[1])),
        }
    }
}
