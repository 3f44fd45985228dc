//! Represents the status of a method by truth values instead of a number.
//!
//! A status is a number that the blocks of a method yield, and conditions compare it with constants. Where truth values
//! are masks, comparing early is cheaper: an `if` that yields one of several constants yields instead a truth value for each
//! constant that is compared. The number itself is then mostly unused.

use crate::{
    ir::{Simple, status},
    low::{Low, Op, Ty},
    ssa::{Block, Function, Inst, Kind, Value, Values, remove_dead},
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// The same method with two truth values instead of the status it yields first: whether it stabilizes and whether it dies.
/// Comparisons of integers with constants are made where the integers come from.
pub(super) fn as_truths(method: &Function<Low>) -> Function<Low> {
    let mut questions = Questions::default();
    questions.find(&method.body);
    let ends = [status::STABILIZE, status::DIE];
    let number = method.body.yields[0];
    for end in ends {
        questions.ask(number, end);
    }
    let mut answers = Answers {
        questions: &questions.asked,
        comparisons: &questions.comparisons,
        types: method.types.clone(),
        known: FxHashMap::default(),
        truths: FxHashMap::default(),
        same: FxHashMap::default(),
    };
    let mut body = answers.block(&method.body);
    let ended = ends.map(|end| answers.answer(number, end));
    body.yields.splice(0..1, ended);
    remove_dead(Function {
        name: method.name.clone(),
        types: answers.types,
        body,
    })
}

/// Which integers are compared with which constants.
#[derive(Default)]
struct Questions<'a> {
    constants: FxHashMap<Value, i64>,
    sources: FxHashMap<Value, Source<'a>>,
    asked: FxHashMap<Value, Vec<i64>>,
    /// What the results of comparisons say.
    comparisons: FxHashMap<Value, (Value, i64)>,
    seen: FxHashSet<(Value, i64)>,
}

/// Where an integer comes from, if from one of several.
#[derive(Clone, Copy)]
enum Source<'a> {
    Select(&'a [Value]),
    If(&'a Block<Low>, &'a Block<Low>, usize),
}

impl<'a> Questions<'a> {
    fn find(&mut self, block: &'a Block<Low>) {
        for inst in &block.insts {
            match &inst.kind {
                Kind::Op(Op::Int(n), _) => {
                    self.constants.insert(inst.results[0], *n);
                }
                Kind::Op(Op::Select(Ty::Int), args) => {
                    self.sources.insert(inst.results[0], Source::Select(args));
                }
                Kind::Op(Op::Simple(Simple::IntEqual), args) => {
                    if let Some((v, n)) = self.comparison(args) {
                        self.comparisons.insert(inst.results[0], (v, n));
                        self.ask(v, n);
                    }
                }
                Kind::Op(..) => {}
                Kind::If {
                    then, otherwise, ..
                } => {
                    self.find(then);
                    self.find(otherwise);
                    for (n, &v) in inst.results.iter().enumerate() {
                        self.sources.insert(v, Source::If(then, otherwise, n));
                    }
                }
                Kind::For { body, .. } => self.find(body),
            }
        }
    }

    /// A comparison with a constant: the compared value, and the constant.
    fn comparison(&self, args: &[Value]) -> Option<(Value, i64)> {
        let constant = |v: &Value| self.constants.get(v).copied();
        constant(&args[1])
            .map(|n| (args[0], n))
            .or_else(|| constant(&args[0]).map(|n| (args[1], n)))
    }

    /// Asks whether a value equals a constant, and asks the same about the values that it may come from.
    fn ask(&mut self, v: Value, n: i64) {
        if !self.seen.insert((v, n)) {
            return;
        }
        self.asked.entry(v).or_default().push(n);
        match self.sources.get(&v).copied() {
            Some(Source::Select(args)) => {
                self.ask(args[1], n);
                self.ask(args[2], n);
            }
            Some(Source::If(then, otherwise, at)) => {
                self.ask(then.yields[at], n);
                self.ask(otherwise.yields[at], n);
            }
            None => {}
        }
    }
}

/// The function with questions answered as soon as they can be.
struct Answers<'a> {
    questions: &'a FxHashMap<Value, Vec<i64>>,
    comparisons: &'a FxHashMap<Value, (Value, i64)>,
    types: Vec<Ty>,
    /// Whether a value is a number.
    known: FxHashMap<(Value, i64), Value>,
    /// Truth values that are constant.
    truths: FxHashMap<Value, bool>,
    /// Comparisons that have been made before.
    same: FxHashMap<Value, Value>,
}

impl Answers<'_> {
    fn block(&mut self, block: &Block<Low>) -> Block<Low> {
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in &block.insts {
            self.inst(inst, &mut insts);
        }
        Block {
            insts,
            yields: self.renamed(&block.yields),
        }
    }

    fn renamed<C: FromIterator<Value>>(&self, values: &[Value]) -> C {
        values.iter().map(|&v| self.now(v)).collect()
    }

    fn now(&self, v: Value) -> Value {
        self.same.get(&v).copied().unwrap_or(v)
    }

    fn asked(&self, v: Value) -> Vec<i64> {
        self.questions.get(&v).cloned().unwrap_or_default()
    }

    fn inst(&mut self, inst: &Inst<Low>, out: &mut Vec<Inst<Low>>) {
        match &inst.kind {
            Kind::Op(op, args) => {
                let args: Values = self.renamed(args);
                if let Op::Simple(Simple::IntEqual) = op
                    && let Some(asked) = self.comparisons.get(&inst.results[0])
                {
                    self.same.insert(inst.results[0], self.known[asked]);
                    return;
                }
                if let (Op::Bool(truth), [v]) = (op, &inst.results[..]) {
                    self.truths.insert(*v, *truth);
                }
                out.push(Inst {
                    results: inst.results.clone(),
                    kind: Kind::Op(op.clone(), args.clone()),
                });
                for &v in &inst.results {
                    for n in self.asked(v) {
                        let answer = match op {
                            Op::Int(m) => self.truth(*m == n, out),
                            Op::Select(_) => {
                                let [a, b] = [args[1], args[2]].map(|v| self.answer(v, n));
                                self.select(args[0], a, b, out)
                            }
                            _ => self.compare(v, n, out),
                        };
                        self.known.insert((v, n), answer);
                    }
                }
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.now(*condition);
                let mut sides = [self.block(then), self.block(otherwise)];
                let mut results = inst.results.clone();
                for (at, &v) in inst.results.iter().enumerate() {
                    for n in self.asked(v) {
                        for (side, block) in sides.iter_mut().zip([then, otherwise]) {
                            side.yields.push(self.answer(block.yields[at], n));
                        }
                        let answer = self.fresh(Ty::Bool);
                        results.push(answer);
                        self.known.insert((v, n), answer);
                    }
                }
                let [then, otherwise] = sides;
                out.push(Inst {
                    results,
                    kind: Kind::If {
                        condition,
                        then,
                        otherwise,
                    },
                });
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
                let init = self.renamed(init);
                let mut insts = Vec::new();
                for &v in carried.iter().chain([index]) {
                    self.compare_all(v, &mut insts);
                }
                let inner = self.block(body);
                insts.extend(inner.insts);
                out.push(Inst {
                    results: inst.results.clone(),
                    kind: Kind::For {
                        index: *index,
                        low: self.now(*low),
                        high: self.now(*high),
                        breaks: *breaks,
                        carried: carried.clone(),
                        init,
                        body: Block {
                            insts,
                            yields: inner.yields,
                        },
                    },
                });
                for &v in &inst.results {
                    self.compare_all(v, out);
                }
            }
        }
    }

    /// Answers the questions about an unknown value by comparisons.
    fn compare_all(&mut self, v: Value, out: &mut Vec<Inst<Low>>) {
        for n in self.asked(v) {
            let answer = self.compare(v, n, out);
            self.known.insert((v, n), answer);
        }
    }

    /// Whether a value is a number.
    fn answer(&self, v: Value, n: i64) -> Value {
        self.known[&(v, n)]
    }

    fn fresh(&mut self, ty: Ty) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    fn push(&mut self, op: Op, args: &[Value], ty: Ty, out: &mut Vec<Inst<Low>>) -> Value {
        let result = self.fresh(ty);
        out.push(Inst {
            results: smallvec![result],
            kind: Kind::Op(op, args.into()),
        });
        result
    }

    fn truth(&mut self, truth: bool, out: &mut Vec<Inst<Low>>) -> Value {
        let v = self.push(Op::Bool(truth), &[], Ty::Bool, out);
        self.truths.insert(v, truth);
        v
    }

    fn compare(&mut self, v: Value, n: i64, out: &mut Vec<Inst<Low>>) -> Value {
        let number = self.push(Op::Int(n), &[], Ty::Int, out);
        self.push(Op::Simple(Simple::IntEqual), &[v, number], Ty::Bool, out)
    }

    fn select(&mut self, c: Value, a: Value, b: Value, out: &mut Vec<Inst<Low>>) -> Value {
        let truth = |v: Value| self.truths.get(&v).copied();
        match (truth(a), truth(b)) {
            (Some(true), Some(false)) => c,
            (Some(false), Some(true)) => self.push(Op::Simple(Simple::Not), &[c], Ty::Bool, out),
            (Some(x), Some(y)) if x == y => a,
            _ if a == b => a,
            _ => self.push(Op::Select(Ty::Bool), &[c, a, b], Ty::Bool, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        interpret::low::{Datum, Machine},
        ssa::{evaluate, parse_function, verify},
    };

    /// The truths say what the number says, for states on all sides of the conditions; gives their text.
    #[track_caller]
    fn checked(text: &str) -> String {
        let method: Function<Low> = parse_function(text).unwrap();
        assert_eq!(verify(&method), Vec::<String>::new());
        let truths = as_truths(&method);
        assert_eq!(verify(&truths), Vec::<String>::new(), "{truths}");
        for x in [-2.0, -0.5, 0.5, 2.0] {
            let run = |f: &Function<Low>| {
                let mut machine = Machine {
                    state: vec![Datum::Real(x)],
                    ..Machine::default()
                };
                evaluate(f, &mut machine).unwrap()
            };
            let (number, truths) = (run(&method), run(&truths));
            let status = number[0].int();
            let wanted = [status == status::STABILIZE, status == status::DIE].map(Datum::Bool);
            assert_eq!(truths[..2], wanted, "at {x}");
            assert_eq!(truths[2..], number[1..], "at {x}");
        }
        truths.to_string()
    }

    #[test]
    fn a_status_of_nested_conditions_is_not_computed() {
        let text = "function update {\n  v0: real = state 0 real()\n  v1: real = real 1.0()\n  v2: real = real 0.0()\n  \
                    v3: int = int 0()\n  v4: int = int 2()\n  v5: int = int 3()\n  v6: bool = less(v1, v0)\n  \
                    v7: bool = less(v0, v2)\n  v8: int = select int(v6, v4, v3)\n  v9: bool = int-equal(v8, v3)\n  \
                    v12: int; v13: real = if v9 {\n    v10: real = add(v0, v1)\n    v11: int = if v7 {\n      yield v5\n    \
                    } else {\n      yield v8\n    }\n    yield v11, v10\n  } else {\n    yield v8, v0\n  }\n  \
                    yield v12, v13\n}\n";
        let found = checked(text);
        assert!(!found.contains("int"), "{found}");
    }

    #[test]
    fn a_number_from_a_loop_is_compared() {
        let text = "function update {\n  v0: real = state 0 real()\n  v1: int = int 0()\n  v2: int = int 3()\n  \
                    v3: real = real 0.0()\n  v4: bool = less(v3, v0)\n  \
                    v5: int = for v6 in v1 .. v2 with v7: int = v1 {\n    v8: bool = int-equal(v6, v2)\n    \
                    v9: int = select int(v4, v6, v7)\n    v10: int = select int(v8, v9, v7)\n    yield v10\n  }\n  \
                    yield v5, v0\n}\n";
        checked(text);
    }
}
