//! Replaces operations on constants by their values, and operations that change nothing by their operand.
//!
//! Sums with zero and products with one appear where tensors are put together from parts. A product with zero stays: the other
//! factor may be infinite or NaN. A product with *nothing*, a zero that the caller declares to be exact, is removed.

use super::{Low, Op};
use crate::ir::Simple;
use crate::ssa::{Block, Function, Inst, Kind, Value, Values};
use smallvec::SmallVec;

/// Folds constants; leaves unused ones to `remove_dead`.
pub fn fold_constants(function: Function<Low>) -> Function<Low> {
    fold(function, &|_| false).0
}

/// Folds constants where some operations give nothing; says also which results are nothing.
pub(super) fn fold(
    function: Function<Low>,
    is_nothing: &dyn Fn(&Op) -> bool,
) -> (Function<Low>, Vec<bool>) {
    let count = function.types.len();
    let mut folding = Folding {
        known: vec![None; count],
        replaced: (0..count as u32).map(Value).collect(),
        is_nothing,
    };
    let body = folding.block(function.body);
    let results = body.yields.iter();
    let empty = results.map(|v| folding.get(*v) == Some(Known::Nothing));
    let empty = empty.collect();
    (Function { body, ..function }, empty)
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    Real(f64),
    /// A real zero that makes products zero.
    Nothing,
    Int(i64),
    Bool(bool),
}

impl Known {
    fn op(self) -> Op {
        match self {
            Known::Real(x) => Op::Real(x.into()),
            Known::Nothing => Op::Real(0.0.into()),
            Known::Int(n) => Op::Int(n),
            Known::Bool(b) => Op::Bool(b),
        }
    }
}

/// What becomes of an operation.
enum Outcome {
    Keep,
    Constant(Known),
    Operand(Value),
}

struct Folding<'a> {
    known: Vec<Option<Known>>,
    replaced: Vec<Value>,
    is_nothing: &'a dyn Fn(&Op) -> bool,
}

impl Folding<'_> {
    fn block(&mut self, block: Block<Low>) -> Block<Low> {
        let mut insts = Vec::with_capacity(block.insts.len());
        self.insts(block.insts, &mut insts);
        Block {
            insts,
            yields: self.all(block.yields),
        }
    }

    fn insts(&mut self, from: Vec<Inst<Low>>, to: &mut Vec<Inst<Low>>) {
        for Inst { results, kind } in from {
            let kind = match kind {
                Kind::Op(op, mut args) => {
                    args.iter_mut().for_each(|v| *v = self.one(*v));
                    match self.outcome(&op, &args) {
                        Outcome::Operand(v) => {
                            self.replaced[results[0].0 as usize] = v;
                            continue;
                        }
                        Outcome::Constant(known) => {
                            self.known[results[0].0 as usize] = Some(known);
                            Kind::Op(known.op(), Values::new())
                        }
                        Outcome::Keep => Kind::Op(op, args),
                    }
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.one(condition);
                    if let Some(Known::Bool(holds)) = self.get(condition) {
                        let chosen = if holds { then } else { otherwise };
                        self.insts(chosen.insts, to);
                        for (result, value) in results.into_iter().zip(chosen.yields) {
                            self.replaced[result.0 as usize] = self.one(value);
                        }
                        continue;
                    }
                    Kind::If {
                        condition,
                        then: self.block(then),
                        otherwise: self.block(otherwise),
                    }
                }
                Kind::For {
                    index,
                    low,
                    high,
                    breaks,
                    carried,
                    init,
                    body,
                } => {
                    let (low, high, init) = (self.one(low), self.one(high), self.all(init));
                    Kind::For {
                        index,
                        low,
                        high,
                        breaks,
                        carried,
                        init,
                        body: self.block(body),
                    }
                }
            };
            to.push(Inst { results, kind });
        }
    }

    fn outcome(&self, op: &Op, args: &[Value]) -> Outcome {
        let known = |n: usize| self.get(args[n]);
        match op {
            _ if (self.is_nothing)(op) => Outcome::Constant(Known::Nothing),
            Op::Real(bits) => Outcome::Constant(Known::Real(bits.get())),
            Op::Int(n) => Outcome::Constant(Known::Int(*n)),
            Op::Bool(b) => Outcome::Constant(Known::Bool(*b)),
            Op::Select(_) => match known(0) {
                Some(Known::Bool(true)) => Outcome::Operand(args[1]),
                Some(Known::Bool(false)) => Outcome::Operand(args[2]),
                _ if args[1] == args[2] => Outcome::Operand(args[1]),
                _ => Outcome::Keep,
            },
            Op::Simple(simple) => {
                let operands: Option<SmallVec<[Known; 3]>> = (0..args.len()).map(known).collect();
                match operands.and_then(|operands| evaluate(*simple, &operands)) {
                    Some(value) => Outcome::Constant(value),
                    None => neutral(*simple, args, &known),
                }
            }
            _ => Outcome::Keep,
        }
    }

    fn get(&self, v: Value) -> Option<Known> {
        self.known[v.0 as usize]
    }

    fn one(&self, v: Value) -> Value {
        self.replaced[v.0 as usize]
    }

    fn all(&self, values: Vec<Value>) -> Vec<Value> {
        values.into_iter().map(|v| self.one(v)).collect()
    }
}

/// Operations that give one of their operands whatever the other is.
fn neutral(op: Simple, args: &[Value], known: &dyn Fn(usize) -> Option<Known>) -> Outcome {
    let is = |n: usize, wanted: Known| known(n) == Some(wanted);
    let is_zero = |n: usize| is(n, Known::Real(0.0)) || is(n, Known::Nothing);
    match op {
        Simple::Mul if is(0, Known::Nothing) || is(1, Known::Nothing) => {
            Outcome::Constant(Known::Nothing)
        }
        Simple::Neg if is(0, Known::Nothing) => Outcome::Operand(args[0]),
        Simple::Add if is_zero(0) => Outcome::Operand(args[1]),
        Simple::Add | Simple::Sub if is_zero(1) => Outcome::Operand(args[0]),
        Simple::Mul if is(0, Known::Real(1.0)) => Outcome::Operand(args[1]),
        Simple::Mul | Simple::Div if is(1, Known::Real(1.0)) => Outcome::Operand(args[0]),
        Simple::IntAdd if is(0, Known::Int(0)) => Outcome::Operand(args[1]),
        Simple::IntAdd | Simple::IntSub if is(1, Known::Int(0)) => Outcome::Operand(args[0]),
        Simple::IntMul if is(0, Known::Int(1)) => Outcome::Operand(args[1]),
        Simple::IntMul if is(1, Known::Int(1)) => Outcome::Operand(args[0]),
        Simple::And if is(0, Known::Bool(true)) => Outcome::Operand(args[1]),
        Simple::And if is(1, Known::Bool(true)) => Outcome::Operand(args[0]),
        Simple::And if is(0, Known::Bool(false)) || is(1, Known::Bool(false)) => {
            Outcome::Constant(Known::Bool(false))
        }
        Simple::Or if is(0, Known::Bool(false)) => Outcome::Operand(args[1]),
        Simple::Or if is(1, Known::Bool(false)) => Outcome::Operand(args[0]),
        Simple::Or if is(0, Known::Bool(true)) || is(1, Known::Bool(true)) => {
            Outcome::Constant(Known::Bool(true))
        }
        _ => Outcome::Keep,
    }
}

/// The value of an operation on constants that is the same in every precision; none where rounding or wrapping could differ.
fn evaluate(op: Simple, args: &[Known]) -> Option<Known> {
    let int = |n: Option<i64>| n.filter(|&n| i32::try_from(n).is_ok()).map(Known::Int);
    Some(match (op, args) {
        (Simple::IntAdd, [Known::Int(a), Known::Int(b)]) => int(a.checked_add(*b))?,
        (Simple::IntSub, [Known::Int(a), Known::Int(b)]) => int(a.checked_sub(*b))?,
        (Simple::IntMul, [Known::Int(a), Known::Int(b)]) => int(a.checked_mul(*b))?,
        (Simple::IntNeg, [Known::Int(a)]) => int(a.checked_neg())?,
        (Simple::IntLess, [Known::Int(a), Known::Int(b)]) => Known::Bool(a < b),
        (Simple::IntLessEqual, [Known::Int(a), Known::Int(b)]) => Known::Bool(a <= b),
        (Simple::IntEqual, [Known::Int(a), Known::Int(b)]) => Known::Bool(a == b),
        (Simple::ToReal, [Known::Int(a)]) if a.unsigned_abs() < 1 << 24 => Known::Real(*a as f64),
        (Simple::Neg, [Known::Real(x)]) => Known::Real(-x),
        (Simple::Not, [Known::Bool(a)]) => Known::Bool(!a),
        (Simple::And, [Known::Bool(a), Known::Bool(b)]) => Known::Bool(*a && *b),
        (Simple::Or, [Known::Bool(a), Known::Bool(b)]) => Known::Bool(*a || *b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        interpret::low::{Datum, Machine},
        ssa::{evaluate, parse_function, remove_dead, verify},
    };

    /// Folds a function, checks that it means the same, and gives its text.
    #[track_caller]
    fn folded(text: &str) -> String {
        let before: Function<Low> = parse_function(text).unwrap();
        let run = |f: &Function<Low>| {
            let mut machine = Machine {
                state: vec![Datum::Real(2.5)],
                ..Machine::default()
            };
            evaluate(f, &mut machine).unwrap()
        };
        let value = run(&before);
        let after = remove_dead(fold_constants(before));
        assert_eq!(verify(&after), Vec::<String>::new());
        assert_eq!(run(&after), value);
        after.to_string()
    }

    #[test]
    fn sums_with_zero_and_products_with_one_vanish() {
        let text = "function f {\n  v0: real = state 0 real()\n  v1: real = real 0.0()\n  v2: real = real 1.0()\n  \
                    v3: real = add(v0, v1)\n  v4: real = mul(v2, v3)\n  yield v4\n}\n";
        assert_eq!(
            folded(text),
            "function f {\n  v0: real = state 0 real()\n  yield v0\n}\n"
        );
    }

    #[test]
    fn products_with_zero_stay() {
        let text = "function f {\n  v0: real = state 0 real()\n  v1: real = real 0.0()\n  v2: real = mul(v0, v1)\n  yield v2\n}\n";
        assert_eq!(folded(text), text);
    }

    #[test]
    fn an_if_with_a_known_condition_is_one_of_its_blocks() {
        let text = "function f {\n  v0: int = int 2()\n  v1: int = int 3()\n  v2: bool = int-less(v0, v1)\n  \
                    v5: int = if v2 {\n    v3: int = int-add(v0, v1)\n    yield v3\n  } else {\n    yield v0\n  }\n  yield v5\n}\n";
        assert_eq!(
            folded(text),
            "function f {\n  v3: int = int 5()\n  yield v3\n}\n"
        );
    }
}
