//! Expressions of the surface language, and of index notation.

use crate::{
    Comparison, Index, OpDef, Rational, Shape,
    ops::{Level, Syntax},
    rational,
    region::ValueId,
};

/// An expression. Variants marked as index notation cannot be used in a program.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A name of the program, a literal, or anything else that needs no parentheses.
    Name(String),
    /// The name of an integer where a real is meant.
    Int(String),
    /// A number.
    Number(Rational),
    /// A value of the region that is being written.
    Value(ValueId),
    /// A row of the operator table applied to its arguments.
    Apply(&'static OpDef, Vec<Expr>),
    /// `a[0,:]`: `Some` selects along an axis, `None` keeps it.
    Slice(Box<Expr>, Vec<Option<usize>>),
    /// An integer power.
    Power(Box<Expr>, i32),
    /// `identity[n]`
    Identity(usize),
    /// `zeros[…]`
    Zeros(Shape),
    /// `then if a < b else otherwise`
    If {
        /// The comparison.
        test: Comparison,
        /// A comparison, the value if it holds, and the value if it does not.
        parts: Box<[Expr; 4]>,
    },
    /// A function that programs cannot write: one that only derivatives need.
    Call(&'static str, Vec<Expr>),
    /// Index notation: a component, `A[i,p]`.
    Component(Box<Expr>, Vec<Index>),
    /// Index notation: Kronecker's δ.
    Delta(Index, Index),
    /// Index notation: the Levi-Civita symbol.
    Epsilon(Vec<Index>),
    /// Index notation: a product of components.
    Product(Vec<Expr>),
    /// Index notation: a sum over these indices.
    Sum(Vec<u32>, Box<Expr>),
    /// Index notation: a derivative along a coordinate.
    Partial(Index, Box<Expr>),
    /// Index notation: a coordinate of the position.
    Position(Index),
}

/// Whether the value is a sequence in programs, such as the eigenvalues of a matrix.
pub(super) fn gives_sequence(expr: &Expr) -> bool {
    matches!(expr, Expr::Apply(row, _) if row.sig.ends_with('}'))
}

/// The row with this name, which the table is known to have.
pub(super) fn row(name: &str) -> &'static OpDef {
    OpDef::named(name).unwrap_or_else(|| panic!("no row `{name}`"))
}

impl Expr {
    /// The sum of two expressions, a difference if the second is negative.
    pub(super) fn plus(self, other: Expr) -> Expr {
        if let Some(both) = self.united(&other) {
            return both;
        }
        match other.negated() {
            Ok(positive) => Expr::Apply(row("sub"), vec![self, positive]),
            Err(other) => Expr::Apply(row("add"), vec![self, other]),
        }
    }

    /// The sum of two tensors given by their parts; one of them is zero wherever the other is not.
    fn united(&self, other: &Expr) -> Option<Expr> {
        match (self, other) {
            (Expr::Number(n), part) | (part, Expr::Number(n)) if *n == 0.into() => {
                Some(part.clone())
            }
            (Expr::Zeros(_), part) | (part, Expr::Zeros(_)) => Some(part.clone()),
            (Expr::Apply(op, these), Expr::Apply(row, those))
                if op.name == "concat" && row.name == "concat" && these.len() == those.len() =>
            {
                let pairs = these.iter().zip(those);
                let parts: Option<Vec<Expr>> = pairs.map(|(a, b)| a.united(b)).collect();
                Some(Expr::Apply(op, parts?))
            }
            _ => None,
        }
    }

    /// Its negation, if it is written as a negative or as a product that begins with one.
    fn negated(self) -> Result<Expr, Expr> {
        match self {
            Expr::Apply(op, mut args) if op.name == "neg" => Ok(args.remove(0)),
            Expr::Number(number) if number < 0.into() => Ok(Expr::Number(-number)),
            Expr::Apply(op, mut args)
                if matches!(op.syntax, [Syntax::Infix(_, Level::Product), ..]) =>
            {
                let first = std::mem::replace(&mut args[0], Expr::Number(0.into()));
                let (first, is_negated) = match first.negated() {
                    Ok(positive) => (positive, true),
                    Err(first) => (first, false),
                };
                args[0] = first;
                let product = Expr::Apply(op, args);
                if is_negated {
                    Ok(product)
                } else {
                    Err(product)
                }
            }
            other => Err(other),
        }
    }

    /// The same with inlined sums and products written as if they had been there from the beginning.
    pub(super) fn tidy(self) -> Expr {
        match self {
            Expr::Apply(op, mut args) if matches!(op.name, "add" | "sub" | "scale_left") => {
                let (second, first) = (args.pop(), args.pop());
                match (op.name, first, second) {
                    ("add", Some(a), Some(b)) => a.plus(b),
                    ("sub", Some(a), Some(b)) => a.plus(b.minus()),
                    (_, Some(a), Some(b)) => a.scaling(b),
                    (_, first, second) => {
                        Expr::Apply(op, first.into_iter().chain(second).collect())
                    }
                }
            }
            Expr::Apply(op, mut args) if op.name == "neg" => args.remove(0).minus(),
            Expr::Sum(mut binders, inner) => match *inner {
                Expr::Sum(further, body) => {
                    binders.extend(further);
                    Expr::Sum(binders, body)
                }
                inner => Expr::Sum(binders, Box::new(inner)),
            },
            // a•(−b) is read like −a•b.
            Expr::Apply(op, mut args) if matches!(op.syntax, [Syntax::Infix(symbol, Level::Product), ..] if *symbol != "%") =>
            {
                let second = args.pop().map(Expr::negated);
                let is_negated = matches!(second, Some(Ok(_)));
                args.extend(second.map(|second| second.unwrap_or_else(|other| other)));
                match is_negated {
                    true => Expr::Apply(op, args).minus(),
                    false => Expr::Apply(op, args),
                }
            }
            other => other,
        }
    }

    pub(super) fn minus(self) -> Expr {
        match self.negated() {
            Ok(positive) => positive,
            Err(other) => Expr::Apply(row("neg"), vec![other]),
        }
    }

    /// The expression times a number: written as a decimal number where that is short, else with a quotient.
    pub(super) fn times(self, factor: Rational) -> Expr {
        let one = Rational::from_integer(1);
        if factor == one {
            return self;
        }
        if factor < 0.into() {
            return self.times(-factor).minus();
        }
        // An integer with too many digits for a double does not have a quotient either.
        if decimal(factor).is_some() || factor.is_integer() {
            return Expr::Number(factor).scaling(self);
        }
        let above = self.times(Rational::from_integer(*factor.numer()));
        let below = Expr::Number(Rational::from_integer(*factor.denom()));
        Expr::Apply(row("divide"), vec![above, below])
    }

    /// This scalar times a tensor.
    pub(super) fn scaling(self, tensor: Expr) -> Expr {
        match tensor {
            Expr::Number(number) if number == 1.into() => self,
            Expr::Apply(op, mut args) if op.name == "neg" => self.scaling(args.remove(0)).minus(),
            // (a)*(b*c) is read like a*b*c, which needs no parentheses.
            Expr::Apply(op, mut args) if matches!(op.name, "scale_left" | "divide") => {
                let first = std::mem::replace(&mut args[0], Expr::Number(0.into()));
                args[0] = self.scaling(first);
                Expr::Apply(op, args)
            }
            tensor => Expr::Apply(row("scale_left"), vec![self, tensor]),
        }
    }

    /// The expressions directly inside.
    pub(super) fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Name(_) | Expr::Int(_) | Expr::Number(_) | Expr::Value(_) => Vec::new(),
            Expr::Identity(_) | Expr::Zeros(_) | Expr::Position(_) => Vec::new(),
            Expr::Delta(..) | Expr::Epsilon(_) => Vec::new(),
            Expr::Apply(_, args) | Expr::Call(_, args) | Expr::Product(args) => {
                args.iter().collect()
            }
            Expr::Slice(inner, _) | Expr::Power(inner, _) | Expr::Component(inner, _) => {
                vec![inner]
            }
            Expr::Sum(_, inner) | Expr::Partial(_, inner) => vec![inner],
            Expr::If { parts, .. } => parts.iter().collect(),
        }
    }

    /// The same with every expression directly inside changed.
    pub(super) fn map(self, change: &mut dyn FnMut(Expr) -> Expr) -> Expr {
        let mut one = |inner: Box<Expr>| Box::new(change(*inner));
        match self {
            Expr::Slice(inner, mask) => Expr::Slice(one(inner), mask),
            Expr::Power(inner, exponent) => Expr::Power(one(inner), exponent),
            Expr::Component(inner, indices) => Expr::Component(one(inner), indices),
            Expr::Sum(binders, inner) => Expr::Sum(binders, one(inner)),
            Expr::Partial(index, inner) => Expr::Partial(index, one(inner)),
            Expr::Apply(row, args) => Expr::Apply(row, args.into_iter().map(change).collect()),
            Expr::Call(name, args) => Expr::Call(name, args.into_iter().map(change).collect()),
            Expr::Product(args) => Expr::Product(args.into_iter().map(change).collect()),
            Expr::If { test, parts } => Expr::If {
                test,
                parts: Box::new(parts.map(change)),
            },
            leaf => leaf,
        }
    }

    /// The same with every index changed.
    pub(super) fn reindexed(self, index: &dyn Fn(Index) -> Index) -> Expr {
        let all = |indices: Vec<Index>| indices.into_iter().map(index).collect();
        let binder = |binder: u32| match index(Index::Bound(binder)) {
            Index::Bound(renamed) => renamed,
            Index::Axis(_) | Index::Const(_) => binder,
        };
        match self.map(&mut |inner| inner.reindexed(index)) {
            Expr::Component(inner, indices) => Expr::Component(inner, all(indices)),
            Expr::Delta(i, j) => Expr::Delta(index(i), index(j)),
            Expr::Epsilon(indices) => Expr::Epsilon(all(indices)),
            Expr::Partial(i, inner) => Expr::Partial(index(i), inner),
            Expr::Position(i) => Expr::Position(index(i)),
            Expr::Sum(binders, inner) => {
                Expr::Sum(binders.into_iter().map(binder).collect(), inner)
            }
            other => other,
        }
    }

    /// Whether this can stand in a program, where a tensor is wanted.
    pub fn is_surface(&self) -> bool {
        match self {
            // A sequence is not a tensor, but its elements are.
            Expr::Slice(base, mask) if gives_sequence(base) => {
                mask[0].is_some()
                    && mask[1..].iter().all(Option::is_none)
                    && base.children().into_iter().all(Expr::is_surface)
            }
            _ if gives_sequence(self) => false,
            Expr::Sum(..) => !self.has_axes() && self.is_component(),
            _ => !self.is_index_notation() && self.children().into_iter().all(Expr::is_surface),
        }
    }

    /// Whether this can be written in a program as the component of a definition by index.
    pub fn is_component(&self) -> bool {
        match self {
            Expr::Call(..) | Expr::Position(_) => false,
            _ if self.is_index_notation() => self
                .children()
                .into_iter()
                .all(|inner| !gives_sequence(inner) && inner.is_component()),
            Expr::Apply(_, args) if !gives_sequence(self) => args.iter().all(Expr::is_component),
            Expr::Power(..) | Expr::If { .. } => {
                self.children().into_iter().all(Expr::is_component)
            }
            _ => self.is_surface(),
        }
    }

    /// Whether an axis of the defined tensor is an index here.
    fn has_axes(&self) -> bool {
        let is_axis = |index: &Index| matches!(index, Index::Axis(_));
        let own = match self {
            Expr::Component(_, indices) | Expr::Epsilon(indices) => indices.iter().any(is_axis),
            Expr::Delta(i, j) => is_axis(i) || is_axis(j),
            Expr::Partial(index, _) | Expr::Position(index) => is_axis(index),
            _ => false,
        };
        own || self.children().into_iter().any(Expr::has_axes)
    }

    fn is_index_notation(&self) -> bool {
        matches!(
            self,
            Expr::Call(..)
                | Expr::Component(..)
                | Expr::Delta(..)
                | Expr::Epsilon(_)
                | Expr::Product(_)
                | Expr::Sum(..)
                | Expr::Partial(..)
                | Expr::Position(_)
        )
    }

    /// Whether this is an integer as the language has it, so that `/` between two of them would drop the remainder.
    pub(super) fn is_integer(&self) -> bool {
        match self {
            Expr::Int(_) => true,
            Expr::Number(number) => number.is_integer(),
            Expr::Power(base, _) => base.is_integer(),
            Expr::Apply(row, args) => {
                matches!(
                    row.name,
                    "add" | "sub" | "neg" | "scale_left" | "scale_right"
                ) && args.iter().all(Expr::is_integer)
            }
            _ => false,
        }
    }
}

/// A rational number as a decimal fraction, if it is a short one or as a quotient would be no shorter.
pub(super) fn decimal(number: Rational) -> Option<String> {
    const PLACES: u32 = 6;
    const LONG: i128 = 10_000;
    let is_short = 10i128.pow(PLACES) % number.denom() == 0;
    let nearest = rational::to_f64(number);
    let is_exact = rational::from_f64(nearest) == Some(number);
    if !is_exact || !is_short && *number.denom() < LONG {
        return None;
    }
    let is_plain = nearest == 0.0 || (1e-6..1e15).contains(&nearest.abs());
    Some(match is_plain {
        true => nearest.to_string(),
        false => format!("{nearest:e}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_of_many_digits_is_written() {
        let digits = 12_345_678_901_234_567_890_123;
        let factor = |denominator| {
            let factor = Rational::new(digits, denominator);
            Expr::Name("a".to_string()).times(factor).to_string()
        };
        assert_eq!(factor(1), "12345678901234567890123.0*a");
        assert_eq!(factor(7), "12345678901234567890123.0*a/7");
    }

    #[test]
    fn short_decimal_fractions_are_written_as_such() {
        let text = |n, d| decimal(Rational::new(n, d));
        assert_eq!(text(1, 2).as_deref(), Some("0.5"));
        assert_eq!(text(-5, 4).as_deref(), Some("-1.25"));
        assert_eq!(text(1, 200).as_deref(), Some("0.005"));
        assert_eq!(text(6, 2).as_deref(), Some("3"));
        assert_eq!(text(1, 3), None);
        assert_eq!(text(1, 1 << 10), None);
        assert_eq!(text(314159265, 100000000).as_deref(), Some("3.14159265"));
        assert_eq!(text(1, 1 << 20).as_deref(), Some("9.5367431640625e-7"));
    }
}
