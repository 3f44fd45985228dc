//! Prints EIN operators and regions in the notation that [`crate::parse`](mod@crate::parse) reads.
//!
//! Parsing the text gives the same operator, and printing that gives the same text. The notation has no sum or product
//! of fewer than two terms; these print as the equal term.

use crate::parse::param_name;
use crate::region::{Region, ValueId};
use crate::{Comparison, Ein, Index, Param, Term};
use std::fmt::{self, Display, Formatter};

/// What a term must be to stand somewhere without parentheses, loosest first: the levels of the grammar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Expr,
    Sum,
    Signed,
    Quotient,
    Product,
    Factor,
    Postfix,
    Atom,
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Param::Tensor(shape) => write!(f, "{shape}"),
            Param::Field { dim, shape } => write!(f, "field({dim}){shape}"),
        }
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const LETTERS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
        match *self {
            Index::Const(component) => write!(f, "{component}"),
            Index::Axis(axis) => match LETTERS.get(axis) {
                Some(letter) => f.write_str(letter),
                None => write!(f, "i{axis}"),
            },
            Index::Bound(binder) => write!(f, "s{binder}"),
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Less => "<",
            Comparison::LessEqual => "≤",
            Comparison::Equal => "=",
        })
    }
}

impl Display for Ein {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Ein { params, axes, body } = self;
        f.write_str("λ(")?;
        for (k, param) in params.iter().enumerate() {
            write!(
                f,
                "{}{}:{param}",
                if k > 0 { ", " } else { "" },
                param_name(k)
            )?;
        }
        f.write_str(")")?;
        for (k, extent) in axes.iter().enumerate() {
            write!(f, " {}:{extent}", Index::Axis(k))?;
        }
        write!(f, " | {body}")
    }
}

impl Display for Region {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Region {
            inputs,
            defs,
            roots,
        } = self;
        for (k, input) in inputs.iter().enumerate() {
            writeln!(f, "input v{k}: {input}")?;
        }
        for (k, def) in defs.iter().enumerate() {
            writeln!(
                f,
                "v{} = ({})({})",
                inputs.len() + k,
                def.op,
                values(&def.args)
            )?;
        }
        writeln!(f, "return {}", values(roots))
    }
}

fn values(ids: &[ValueId]) -> String {
    let names: Vec<String> = ids.iter().map(|id| format!("v{}", id.0)).collect();
    names.join(", ")
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(self, f, Level::Expr)
    }
}

fn level(term: &Term) -> Level {
    match term {
        Term::Cond { .. } => Level::Expr,
        Term::Add(_) | Term::Sub(..) => Level::Sum,
        Term::Neg(_) => Level::Signed,
        Term::Div(..) => Level::Quotient,
        Term::Mul(_) | Term::Sum { .. } => Level::Product,
        Term::Deriv { .. } => Level::Factor,
        Term::Pow(..) | Term::Probe { .. } => Level::Postfix,
        Term::Const(_) | Term::Access { .. } | Term::Position { .. } => Level::Atom,
        Term::Eigen { .. } | Term::Delta(..) | Term::Epsilon(_) | Term::Apply(..) => Level::Atom,
    }
}

/// Writes a term where at least this level is needed.
fn write(term: &Term, f: &mut Formatter<'_>, needed: Level) -> fmt::Result {
    match term {
        Term::Add(terms) | Term::Mul(terms) if terms.len() == 1 => {
            return write(&terms[0], f, needed);
        }
        Term::Add(terms) if terms.is_empty() => return f.write_str("0"),
        Term::Mul(terms) if terms.is_empty() => return f.write_str("1"),
        _ => {}
    }
    if level(term) < needed {
        f.write_str("(")?;
        write_bare(term, f)?;
        return f.write_str(")");
    }
    write_bare(term, f)
}

/// What a term needs to be where an operator follows: a summation is put in parentheses, for the eye, to show its end.
fn closed(term: &Term, needed: Level) -> Level {
    if matches!(term, Term::Sum { .. }) {
        Level::Factor
    } else {
        needed
    }
}

fn write_bare(term: &Term, f: &mut Formatter<'_>) -> fmt::Result {
    match term {
        Term::Const(number) => write!(f, "{number}"),
        Term::Access { param, indices } => {
            f.write_str(&param_name(*param))?;
            if indices.is_empty() {
                Ok(())
            } else {
                write_indices(indices, f)
            }
        }
        Term::Eigen {
            part,
            param,
            indices,
        } => {
            write!(f, "{}({})", part.name(), param_name(*param))?;
            write_indices(indices, f)
        }
        Term::Position { dim, index } => write!(f, "pos{dim}[{index}]"),
        Term::Delta(i, j) => write!(f, "δ[{i} {j}]"),
        Term::Epsilon(indices) => {
            f.write_str("ε")?;
            write_indices(indices, f)
        }
        Term::Neg(body) => {
            f.write_str("−")?;
            write(body, f, Level::Signed)
        }
        Term::Add(terms) => {
            for (k, term) in terms.iter().enumerate() {
                // A difference may come first: sums and differences are read from the left.
                let first = k == 0 && matches!(term, Term::Sub(..));
                let needed = if first { Level::Sum } else { Level::Signed };
                f.write_str(if k > 0 { " + " } else { "" })?;
                write(
                    term,
                    f,
                    if k + 1 < terms.len() {
                        closed(term, needed)
                    } else {
                        needed
                    },
                )?;
            }
            Ok(())
        }
        Term::Sub(left, right) => {
            write(left, f, closed(left, Level::Sum))?;
            f.write_str(" − ")?;
            write(right, f, Level::Signed)
        }
        Term::Mul(factors) => write_list(factors, " ", Level::Factor, f),
        Term::Div(left, right) => {
            write(left, f, closed(left, Level::Quotient))?;
            f.write_str(" / ")?;
            write(right, f, Level::Product)
        }
        Term::Pow(base, exponent) => {
            write(base, f, Level::Postfix)?;
            write!(f, "^{exponent}")
        }
        Term::Apply(function, args) => {
            write!(f, "{}(", function.def().name)?;
            write_list(args, ", ", Level::Expr, f)?;
            f.write_str(")")
        }
        Term::Cond {
            test,
            sides,
            then,
            otherwise,
        } => {
            write!(
                f,
                "if {} {test} {} then {then} else {otherwise}",
                sides[0], sides[1]
            )
        }
        Term::Sum {
            binder,
            range,
            body,
        } => {
            write!(f, "Σ {}:{range}. ", Index::Bound(*binder))?;
            write(body, f, Level::Product)
        }
        Term::Deriv { index, body } => {
            write!(f, "∂{index} ")?;
            write(body, f, Level::Factor)
        }
        Term::Probe { field, at } => {
            write(field, f, Level::Postfix)?;
            f.write_str("@(")?;
            write_list(at, ", ", Level::Expr, f)?;
            f.write_str(")")
        }
    }
}

fn write_list(
    terms: &[Term],
    separator: &str,
    needed: Level,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    for (k, term) in terms.iter().enumerate() {
        f.write_str(if k > 0 { separator } else { "" })?;
        write(term, f, needed)?;
    }
    Ok(())
}

fn write_indices(indices: &[Index], f: &mut Formatter<'_>) -> fmt::Result {
    let names: Vec<String> = indices.iter().map(Index::to_string).collect();
    write!(f, "[{}]", names.join(" "))
}
