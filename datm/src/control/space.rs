//! All nestings of conditions and loops to a depth, and what stands innermost.

use super::number::Dyadic;
use super::tree::{Expr, Range, Stmt};
use std::fmt;

/// What decides about a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decider {
    /// A value of the strand.
    Strand,
    /// An input.
    Input,
    /// A number that is computed once for all strands.
    Global,
    /// The variable of the loop around it.
    Loop,
}

/// Where the next level of a nest stands in a condition, and what stands in the other arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    /// `if (c) { … }`
    Then,
    /// `if (c) { } else { … }`
    Else,
    /// `if (c) { … } else { assignment }`
    ThenOrAssignment,
    /// `if (c) { assignment } else { … }`
    AssignmentOrElse,
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// As often as the program says.
    Fixed,
    /// As often as an input says.
    Common,
    /// As often as a value of the strand says.
    Varying,
    /// Once for every element of a sequence of the strand.
    Elements,
}

/// One level of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    If(Decider, Arm),
    Loop(Length),
}

/// A loop over a sequence.
pub(super) const ELEMENTS: Level = Level::Loop(Length::Elements);

/// The levels of a nest, the outermost first.
pub(super) type Nest = Vec<Level>;

const ARMS: [Arm; 4] = [
    Arm::Then,
    Arm::Else,
    Arm::ThenOrAssignment,
    Arm::AssignmentOrElse,
];
const LENGTHS: [Length; 4] = [
    Length::Fixed,
    Length::Common,
    Length::Varying,
    Length::Elements,
];

/// The levels that there are, inside a loop or not.
fn levels(in_loop: bool) -> Vec<Level> {
    let outside = [Decider::Strand, Decider::Input, Decider::Global];
    let deciders = outside.into_iter().chain(in_loop.then_some(Decider::Loop));
    let ifs = deciders.flat_map(|decider| ARMS.map(|arm| Level::If(decider, arm)));
    ifs.chain(LENGTHS.map(Level::Loop)).collect()
}

/// All nests of exactly this depth.
pub(super) fn nests(depth: usize) -> Vec<Nest> {
    let mut all = vec![Nest::new()];
    for _ in 0..depth {
        let deeper = |nest: Nest| {
            let in_loop = nest.iter().any(|level| matches!(level, Level::Loop(_)));
            levels(in_loop)
                .into_iter()
                .map(move |level| [nest.clone(), vec![level]].concat())
        };
        all = all.into_iter().flat_map(deeper).collect();
    }
    all
}

/// A variable of the strand, other for every level so that no condition repeats another.
fn of_strand(level: usize) -> Expr {
    let half = |n: i64| Expr::Real(Dyadic::ratio(n, 3));
    match level {
        0 => half(17).less(Expr::name("a")),
        1 => Expr::name("r2").equal(Expr::Int(0)),
        _ => Expr::name("b").less(half(6)),
    }
}

/// The statements of a nest. `leaf` gives those that stand innermost (place 0) and in the other arm of a level (the places from 1 on).
pub(super) fn statements(nest: &[Level], leaf: &dyn Fn(i64) -> Vec<Stmt>) -> Vec<Stmt> {
    inner(nest, 0, None, leaf)
}

/// The variable of a loop, and whether it is a real.
type Variable = (String, bool);

fn inner(
    nest: &[Level],
    depth: usize,
    around: Option<&Variable>,
    leaf: &dyn Fn(i64) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let Some((level, rest)) = nest.split_first() else {
        return leaf(0);
    };
    match *level {
        Level::If(decider, arm) => {
            let next = inner(rest, depth + 1, around, leaf);
            let other = || leaf(depth as i64 + 1);
            let condition = condition(decider, depth, around);
            let (then, otherwise) = match arm {
                Arm::Then => (next, None),
                Arm::Else => (Vec::new(), Some(next)),
                Arm::ThenOrAssignment => (next, Some(other())),
                Arm::AssignmentOrElse => (other(), Some(next)),
            };
            vec![Stmt::If(condition, then, otherwise)]
        }
        Level::Loop(length) => {
            let (letter, range) = match length {
                Length::Fixed => ("k", Range::Count(Expr::Int(0), Expr::Int(2))),
                Length::Common => ("k", Range::Count(Expr::Int(1), Expr::name("m"))),
                Length::Varying => {
                    let last = Expr::Name(format!("q{depth}"));
                    ("k", Range::Count(Expr::Int(1), last))
                }
                Length::Elements => ("e", Range::Elements(Expr::name("w"))),
            };
            let variable = (format!("{letter}{depth}"), letter == "e");
            let body = inner(rest, depth + 1, Some(&variable), leaf);
            vec![Stmt::Each(variable.0, range, body)]
        }
    }
}

fn condition(decider: Decider, depth: usize, around: Option<&Variable>) -> Expr {
    match (decider, around) {
        (Decider::Strand, _) => of_strand(depth),
        (Decider::Input, _) => Expr::Name(format!("on{depth}")),
        (Decider::Global, _) => {
            Expr::Real(Dyadic::ratio(1, 1)).less(Expr::Name(format!("g{depth}")))
        }
        (Decider::Loop, Some((name, true))) => {
            Expr::name(name).less(Expr::Real(Dyadic::ratio(3, 3)))
        }
        (Decider::Loop, Some((name, false))) => Expr::name(name).equal(Expr::Int(1)),
        (Decider::Loop, None) => panic!("a condition on a loop's variable stands in a loop"),
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |text: &str| text.to_lowercase();
        match self {
            Level::If(decider, arm) => {
                write!(
                    f,
                    "if-{}-{}",
                    word(&format!("{decider:?}")),
                    word(&format!("{arm:?}"))
                )
            }
            Level::Loop(length) => write!(f, "loop-{}", word(&format!("{length:?}"))),
        }
    }
}
