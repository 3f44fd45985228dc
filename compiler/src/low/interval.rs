//! Follows a function of Low-IR with intervals in place of numbers.
//!
//! Intervals contain every number that the function computes in the precision of the program. Rounding to nearest is monotonic, so the ends of a
//! sum are the rounded sums of ends; elementary functions have a margin for the errors of primitives. A real that may be NaN is marked. Nothing is assumed
//! about operations that cannot be followed.

use super::{Low, Op, Ty};
use crate::{
    ir::{
        Orders, Simple,
        leaf::{Convolution, ImageInfo},
    },
    ssa::{Block, Function, Kind, Value},
};
use ein_ir::Elementary;
use runtime::probe::Range;

/// The knowledge of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// A real number.
    Real(Reals),
    /// A truth value: whether it may be true, and whether it may be false.
    Truth(bool, bool),
    /// Anything else.
    Any,
}

/// The numbers that a real may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reals {
    /// The least one.
    pub low: f64,
    /// The greatest one.
    pub high: f64,
    /// Whether it may be NaN.
    pub nan: bool,
}

impl Reals {
    /// Whatever a real may be.
    pub const ALL: Reals = Reals {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        nan: true,
    };

    /// One number.
    pub fn one(x: f64) -> Reals {
        match x.is_nan() {
            true => Reals::ALL,
            false => Reals::between(x, x),
        }
    }

    /// The numbers of an interval.
    pub fn between(low: f64, high: f64) -> Reals {
        Reals {
            low,
            high,
            nan: false,
        }
    }

    /// What one of two reals may be.
    fn or(self, other: Reals) -> Reals {
        Reals {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            nan: self.nan || other.nan,
        }
    }

    fn has_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    fn has_infinity(self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }
}

/// The facts that a function reads besides its arguments.
pub trait Facts {
    /// Whether reals have 64 bits rather than 32.
    fn is_double(&self) -> bool;
    /// The global in a slot.
    fn global(&self, slot: u32, ty: Ty) -> Known;
    /// A real property of an image.
    fn image(&self, image: u32, info: ImageInfo) -> f64;
    /// The values of a component of a field of one dimension at positions in an interval, if they are known.
    fn line(&self, field: &Convolution, component: usize, at: Range) -> Option<Range>;
}

/// Whether something can be told about the results of an operation.
pub(super) fn is_followed(op: &Op) -> bool {
    match op {
        Op::Real(_) | Op::Bool(_) | Op::Arg(..) | Op::Select(_) => true,
        Op::Global(_, ty) => matches!(ty, Ty::Real | Ty::Bool),
        Op::Image(_, info) => !info.is_int(),
        Op::Simple(simple) => matches!(
            simple,
            Simple::Add
                | Simple::Sub
                | Simple::Mul
                | Simple::Div
                | Simple::Neg
                | Simple::Less
                | Simple::LessEqual
                | Simple::Equal
                | Simple::And
                | Simple::Or
                | Simple::Not
        ),
        Op::Math(function) => is_rising(*function) || *function == Elementary::Abs,
        Op::Probe(field, orders) => is_line(field, *orders),
        _ => false,
    }
}

/// Whether an elementary function never falls.
fn is_rising(function: Elementary) -> bool {
    matches!(
        function,
        Elementary::Sqrt | Elementary::Exp | Elementary::Log | Elementary::Atan | Elementary::Floor
    )
}

/// Whether a probe gives values of a field of one dimension.
fn is_line(field: &Convolution, orders: Orders) -> bool {
    field.dim() == 1 && field.time.is_none() && orders == Orders(1)
}

/// A function that can be followed often.
#[derive(Debug)]
pub struct Followed {
    function: Function<Low>,
    /// The sides of the comparison that gives a value, if one does.
    compared: Vec<Option<[Value; 2]>>,
}

impl Followed {
    /// Prepares a function.
    pub fn new(function: Function<Low>) -> Followed {
        let mut compared = vec![None; function.types.len()];
        function.each_op(&mut |op, args, results| {
            if let Op::Simple(Simple::Less | Simple::LessEqual) = op {
                compared[results[0].0 as usize] = Some([args[0], args[1]]);
            }
        });
        Followed { function, compared }
    }

    /// The knowledge of the first result of the function with these arguments; other arguments may be anything.
    pub fn follow<F: Facts>(&self, args: &[Range], facts: &F) -> Known {
        let mut following = Following {
            compared: &self.compared,
            args,
            facts,
            known: vec![Known::Any; self.function.types.len()],
        };
        following.block(&self.function.body);
        let result = self.function.body.yields.first();
        result.map_or(Known::Any, |v| following.known[v.0 as usize])
    }
}

struct Following<'a, F> {
    compared: &'a [Option<[Value; 2]>],
    args: &'a [Range],
    facts: &'a F,
    known: Vec<Known>,
}

impl<F: Facts> Following<'_, F> {
    fn block(&mut self, block: &Block<Low>) {
        for inst in &block.insts {
            // Comparisons are made of operations only.
            if let Kind::Op(op, args) = &inst.kind {
                if let Op::Probe(field, orders) = op
                    && is_line(field, *orders)
                {
                    for (component, &v) in inst.results.iter().enumerate() {
                        self.known[v.0 as usize] =
                            Known::Real(self.line(field, component, args[0]));
                    }
                } else {
                    let known = self.op(op, args);
                    for &v in &inst.results {
                        self.known[v.0 as usize] = known;
                    }
                }
            }
        }
    }

    fn real(&self, v: Value) -> Reals {
        match self.known[v.0 as usize] {
            Known::Real(reals) => reals,
            _ => Reals::ALL,
        }
    }

    fn truth(&self, v: Value) -> (bool, bool) {
        match self.known[v.0 as usize] {
            Known::Truth(may, may_not) => (may, may_not),
            _ => (true, true),
        }
    }

    /// Rounds to the precision of the program.
    fn round(&self, x: f64) -> f64 {
        match self.facts.is_double() {
            true => x,
            false => f64::from(x as f32),
        }
    }

    fn rounded(&self, low: f64, high: f64, nan: bool) -> Reals {
        if low.is_nan() || high.is_nan() {
            return Reals::ALL;
        }
        Reals {
            low: self.round(low),
            high: self.round(high),
            nan,
        }
    }

    fn op(&self, op: &Op, args: &[Value]) -> Known {
        match op {
            Op::Real(bits) => Known::Real(Reals::one(self.round(bits.get()))),
            Op::Bool(truth) => Known::Truth(*truth, !*truth),
            Op::Arg(n, Ty::Real) => {
                let known = self.args.get(*n as usize);
                Known::Real(known.map_or(Reals::ALL, |r| Reals::between(r.low, r.high)))
            }
            Op::Global(slot, ty) => self.facts.global(*slot, *ty),
            Op::Image(image, info) if !info.is_int() => {
                Known::Real(Reals::one(self.round(self.facts.image(*image, *info))))
            }
            Op::Simple(simple) => self.simple(*simple, args),
            Op::Math(function) => Known::Real(self.math(*function, self.real(args[0]))),
            Op::Select(ty) => self.select(*ty, args),
            _ => Known::Any,
        }
    }

    fn simple(&self, op: Simple, args: &[Value]) -> Known {
        let real = |n: usize| self.real(args[n]);
        let truth = |n: usize| self.truth(args[n]);
        match op {
            Simple::Add => Known::Real(self.sum(real(0), real(1))),
            Simple::Sub => {
                let b = real(1);
                let negative = Reals {
                    low: -b.high,
                    high: -b.low,
                    ..b
                };
                Known::Real(self.sum(real(0), negative))
            }
            Simple::Mul if args[0] == args[1] => Known::Real(self.square(real(0))),
            Simple::Mul => Known::Real(self.product(real(0), real(1))),
            Simple::Div => Known::Real(self.quotient(real(0), real(1))),
            Simple::Neg => {
                let a = real(0);
                Known::Real(Reals {
                    low: -a.high,
                    high: -a.low,
                    ..a
                })
            }
            Simple::Less => {
                let (a, b) = (real(0), real(1));
                let certain = a.high < b.low && !a.nan && !b.nan;
                Known::Truth(a.low < b.high, !certain)
            }
            Simple::LessEqual => {
                let (a, b) = (real(0), real(1));
                let certain = a.high <= b.low && !a.nan && !b.nan;
                Known::Truth(a.low <= b.high, !certain)
            }
            Simple::Equal => {
                let (a, b) = (real(0), real(1));
                let is_one = a.low == a.high && a == b && !a.nan;
                Known::Truth(a.low <= b.high && b.low <= a.high, !is_one)
            }
            Simple::And => {
                let (a, b) = (truth(0), truth(1));
                Known::Truth(a.0 && b.0, a.1 || b.1)
            }
            Simple::Or => {
                let (a, b) = (truth(0), truth(1));
                Known::Truth(a.0 || b.0, a.1 && b.1)
            }
            Simple::Not => {
                let (may, may_not) = truth(0);
                Known::Truth(may_not, may)
            }
            _ => Known::Any,
        }
    }

    fn sum(&self, a: Reals, b: Reals) -> Reals {
        // Infinities of both signs have no sum.
        let opposed = (a.low == f64::NEG_INFINITY && b.high == f64::INFINITY)
            || (a.high == f64::INFINITY && b.low == f64::NEG_INFINITY);
        let low = if opposed && (a.low + b.low).is_nan() {
            f64::NEG_INFINITY
        } else {
            a.low + b.low
        };
        let high = if opposed && (a.high + b.high).is_nan() {
            f64::INFINITY
        } else {
            a.high + b.high
        };
        self.rounded(low, high, a.nan || b.nan || opposed)
    }

    fn product(&self, a: Reals, b: Reals) -> Reals {
        // A zero times an infinity is not a number; times any other number of the interval, it is zero.
        let ends = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        let corners = [
            ends(a.low, b.low),
            ends(a.low, b.high),
            ends(a.high, b.low),
            ends(a.high, b.high),
        ];
        let low = corners.into_iter().fold(f64::INFINITY, f64::min);
        let high = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let lost = (a.has_zero() && b.has_infinity()) || (b.has_zero() && a.has_infinity());
        self.rounded(low, high, a.nan || b.nan || lost)
    }

    fn square(&self, a: Reals) -> Reals {
        let [low, high] = [a.low.abs(), a.high.abs()];
        let least = if a.has_zero() { 0.0 } else { low.min(high) };
        let greatest = low.max(high);
        self.rounded(least * least, greatest * greatest, a.nan)
    }

    fn quotient(&self, a: Reals, b: Reals) -> Reals {
        if b.has_zero() || b.has_infinity() || a.has_infinity() {
            return Reals::ALL;
        }
        // Rounded once, as the program does it: a quotient may have any number of digits.
        let over = |x: f64, y: f64| match self.facts.is_double() {
            true => x / y,
            false => f64::from(x as f32 / y as f32),
        };
        let corners = [
            over(a.low, b.low),
            over(a.low, b.high),
            over(a.high, b.low),
            over(a.high, b.high),
        ];
        let low = corners.into_iter().fold(f64::INFINITY, f64::min);
        let high = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
        self.rounded(low, high, a.nan || b.nan)
    }

    fn math(&self, function: Elementary, a: Reals) -> Reals {
        let value = |x: f64| (function.def().value)(&[x]);
        match function {
            Elementary::Abs => {
                let [low, high] = [a.low.abs(), a.high.abs()];
                let least = if a.has_zero() { 0.0 } else { low.min(high) };
                self.rounded(least, low.max(high), a.nan)
            }
            Elementary::Sqrt | Elementary::Log if a.low < 0.0 => Reals::ALL,
            // These are exact, or rounded once.
            Elementary::Sqrt | Elementary::Floor => {
                self.rounded(value(a.low), value(a.high), a.nan)
            }
            Elementary::Exp if a.low == 0.0 && a.high == 0.0 => Reals {
                low: 1.0,
                high: 1.0,
                nan: a.nan,
            },
            function if is_rising(function) => {
                let epsilon = match self.facts.is_double() {
                    true => f64::EPSILON,
                    false => f64::from(f32::EPSILON),
                };
                let margin = |x: f64| match x.is_finite() {
                    true => 16.0 * epsilon * (x.abs() + f64::from(f32::MIN_POSITIVE)),
                    false => 0.0,
                };
                let [low, high] = [a.low, a.high].map(value);
                self.rounded(low - margin(low), high + margin(high), a.nan)
            }
            _ => Reals::ALL,
        }
    }

    fn select(&self, ty: Ty, args: &[Value]) -> Known {
        let (may, may_not) = self.truth(args[0]);
        let [chosen, other] = [args[1], args[2]].map(|v| self.known[v.0 as usize]);
        match (may, may_not) {
            (true, false) => chosen,
            (false, true) => other,
            _ => match (ty, chosen, other) {
                (Ty::Real, _, _) => Known::Real(self.extreme(args).unwrap_or_else(|| {
                    let (a, b) = (self.real(args[1]), self.real(args[2]));
                    a.or(b)
                })),
                (Ty::Bool, Known::Truth(a, not_a), Known::Truth(b, not_b)) => {
                    Known::Truth(a || b, not_a || not_b)
                }
                _ => Known::Any,
            },
        }
    }

    /// The lesser or the greater of two numbers, if a selection takes it.
    fn extreme(&self, args: &[Value]) -> Option<Reals> {
        let compared = self.compared[args[0].0 as usize]?;
        let is_least = compared == [args[1], args[2]];
        let is_greatest = compared == [args[2], args[1]];
        let (a, b) = (self.real(args[1]), self.real(args[2]));
        // A comparison with NaN does not hold, so that the second is taken.
        let (mut low, mut high) = match (is_least, is_greatest) {
            (true, _) => (a.low.min(b.low), a.high.min(b.high)),
            (_, true) => (a.low.max(b.low), a.high.max(b.high)),
            _ => return None,
        };
        if a.nan {
            (low, high) = (low.min(b.low), high.max(b.high));
        }
        Some(Reals {
            low,
            high,
            nan: b.nan,
        })
    }

    fn line(&self, field: &Convolution, component: usize, at: Value) -> Reals {
        let at = self.real(at);
        if at.nan {
            return Reals::ALL;
        }
        let positions = Range {
            low: at.low,
            high: at.high,
        };
        let values = self.facts.line(field, component, positions);
        values.map_or(Reals::ALL, |r| Reals::between(r.low, r.high))
    }
}
