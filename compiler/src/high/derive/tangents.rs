//! The forward pass for one request: tangents beside the values on the way.

use super::{
    Fact, Wanted,
    graph::{self, Definition, Graph},
    request_of,
};
use crate::{
    high::{High, Op, dialect::tangent_type},
    ir::{
        Bits, Simple,
        tensor::{Base, Dynamic, Ty},
    },
    ssa::{Block, Inst, Kind, Value, Values},
};
use ein_ir::{Ein, Index, Rational, Shape, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::sync::Arc;

/// The tangents of values by one variable; inside, none for zero.
pub(super) type Known = FxHashMap<Value, Option<Value>>;

/// The forward pass for one request, with the facts about its function.
pub(super) struct Pass<'f> {
    pub(super) graph: &'f Graph,
    pub(super) types: &'f mut Vec<Ty>,
    wanted: Wanted,
    pub(super) known: &'f mut Known,
    pub(super) by: Shape,
    /// The values that get tangents.
    needed: FxHashSet<Value>,
    /// The blocks that are being written, the innermost last.
    open: Vec<Vec<Inst<High>>>,
    /// The values that are defined where the pass is.
    passed: FxHashSet<Value>,
    /// Operations whose results get tangents as soon as their arguments have them.
    pending: Vec<(Op, Values, Value)>,
}

/// The next step for a request.
pub(super) enum Plan<'f> {
    /// Another request must be replaced first.
    Needs(Value),
    /// There is no way from the value to the variable.
    Zero,
    /// The pass can run.
    Ready(Pass<'f>),
}

impl<'f> Pass<'f> {
    pub(super) fn new(
        graph: &'f Graph,
        types: &'f mut Vec<Ty>,
        wanted: Wanted,
        known: &'f mut Known,
    ) -> Pass<'f> {
        let (Ty::Tensor(by) | Ty::Field { shape: by, .. }) = types[wanted.by.0 as usize].clone()
        else {
            panic!("a derivative by something that is not a tensor")
        };
        Pass {
            graph,
            types,
            wanted,
            known,
            by,
            needed: FxHashSet::default(),
            open: Vec::new(),
            passed: FxHashSet::default(),
            pending: Vec::new(),
        }
    }

    /// Finds the values on the way from the variable to the value.
    pub(super) fn plan(mut self) -> Plan<'f> {
        let x = self.wanted.by;
        // Against the direction of the computation: all that the value is computed from, up to the variable.
        let mut uses: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![self.wanted.of]);
        let mut depends: Vec<Value> = Vec::new();
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.known.get(&value) {
                None if value == x => depends.push(value),
                Some(Some(_)) => depends.push(value),
                Some(None) => {}
                None => {
                    for source in self.graph.sources_within(value, x) {
                        uses.entry(source).or_default().push(value);
                        waiting.push(source);
                    }
                }
            }
        }
        // And along it: those of them that depend on the variable.
        let mut active = FxHashSet::default();
        while let Some(value) = depends.pop() {
            if active.insert(value) {
                depends.extend(uses.get(&value).into_iter().flatten());
            }
        }
        if !active.contains(&self.wanted.of) {
            return Plan::Zero;
        }
        let is_request = |value: &&Value| {
            let definition = self.graph.definition(**value);
            matches!(definition, Some(Definition::Op(Op::Derivative(_), _)))
        };
        if let Some(inner) = active.iter().filter(is_request).min() {
            return Plan::Needs(*inner);
        }
        active.retain(|value| !self.known.contains_key(value));
        self.needed = active;
        Plan::Ready(self)
    }

    /// Writes tangents into a function.
    pub(super) fn run(mut self, body: Block<High>) -> Result<Block<High>, Fact> {
        self.block(body, |_, yields| Ok(yields))
    }

    /// A block with tangents. `yields` may write more at its end.
    fn block(
        &mut self,
        block: Block<High>,
        yields: impl FnOnce(&mut Self, Vec<Value>) -> Result<Vec<Value>, Fact>,
    ) -> Result<Block<High>, Fact> {
        self.open.push(Vec::new());
        for inst in block.insts {
            self.inst(inst)?;
        }
        let yields = yields(self, block.yields)?;
        let insts = self.open.pop().expect("a block is open");
        Ok(Block { insts, yields })
    }

    fn inst(&mut self, inst: Inst<High>) -> Result<(), Fact> {
        self.written(inst)?;
        self.work_off()
    }

    fn written(&mut self, inst: Inst<High>) -> Result<(), Fact> {
        let Inst { results, kind } = inst;
        match kind {
            Kind::Op(op, args) => {
                let needed = results.iter().copied().find(|v| self.needed.contains(v));
                let rule = needed.map(|result| (op.clone(), args.clone(), result));
                let kind = Kind::Op(op, args);
                self.push(Inst { results, kind });
                if let Some((op, args, result)) = rule {
                    self.pending.push((op, args, result));
                }
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen: Vec<usize> = self.positions(&results);
                let sides = |this: &mut Self, block: Block<High>| {
                    this.block(block, |this, mut yields| {
                        for &n in &chosen {
                            yields.push(this.tangent_or_zero(yields[n])?);
                        }
                        Ok(yields)
                    })
                };
                let (then, otherwise) = (sides(self, then)?, sides(self, otherwise)?);
                let mut results = results;
                for n in chosen {
                    let tangent = self.fresh_tangent(results[n]);
                    self.known.insert(results[n], Some(tangent));
                    results.push(tangent);
                }
                let kind = Kind::If {
                    condition,
                    then,
                    otherwise,
                };
                self.push(Inst { results, kind });
            }
            Kind::For {
                index,
                low,
                high,
                breaks,
                mut carried,
                mut init,
                body,
            } => {
                let mut handed = self.positions(&results);
                handed.extend(self.positions(&carried));
                handed.sort_unstable();
                handed.dedup();
                let mut results = results;
                for &n in &handed {
                    init.push(self.tangent_or_zero(init[n])?);
                    let [inside, after] =
                        [carried[n], results[n]].map(|value| (value, self.fresh_tangent(value)));
                    for (value, tangent) in [inside, after] {
                        self.known.insert(value, Some(tangent));
                    }
                    carried.push(inside.1);
                    results.push(after.1);
                }
                self.passed.extend(&carried);
                let body = self.block(body, |this, mut yields| {
                    for &n in &handed {
                        yields.push(this.tangent_or_zero(yields[n])?);
                    }
                    Ok(yields)
                })?;
                let kind = Kind::For {
                    index,
                    low,
                    high,
                    breaks,
                    carried,
                    init,
                    body,
                };
                self.push(Inst { results, kind });
            }
        }
        Ok(())
    }

    /// Writes the pending tangents that can be computed now. The tangent of an intermediate
    /// value, such as the numerator of a quotient's tangent, waits for that tangent, which is defined after it.
    fn work_off(&mut self) -> Result<(), Fact> {
        while let Some(at) = self.pending.iter().position(|(op, args, result)| {
            let is_known = |arg: &Value| match self.known.get(arg) {
                Some(tangent) => tangent.is_none_or(|tangent| self.passed.contains(&tangent)),
                None => !self.needed.contains(arg),
            };
            *result == self.wanted.by || graph::followed(op, args).iter().all(is_known)
        }) {
            let (op, args, result) = self.pending.remove(at);
            let tangent = match result == self.wanted.by {
                true => Some(self.identity(result)),
                false => self.rule(&op, &args, result)?,
            };
            self.known.insert(result, tangent);
        }
        Ok(())
    }

    /// The places of the values that get tangents.
    fn positions(&self, values: &[Value]) -> Vec<usize> {
        let needed = |n: &usize| self.needed.contains(&values[*n]);
        (0..values.len()).filter(needed).collect()
    }

    fn push(&mut self, inst: Inst<High>) {
        self.passed.extend(&inst.results);
        self.open.last_mut().expect("a block is open").push(inst);
    }

    pub(super) fn type_of(&self, value: Value) -> &Ty {
        &self.types[value.0 as usize]
    }

    fn fresh(&mut self, ty: Ty) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    fn fresh_tangent(&mut self, of: Value) -> Value {
        let ty = tangent_type(self.type_of(of), &self.by);
        self.fresh(ty.expect("a value with a derivative"))
    }

    /// Appends an operation with one result.
    pub(super) fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let types: Vec<&Ty> = args.iter().map(|&arg| self.type_of(arg)).collect();
        let ty = <High as crate::ssa::Dialect>::type_of(&op, &types)
            .unwrap_or_else(|why| panic!("tangent `{op}` on {types:?}: {why}"));
        let result = self.fresh(ty.into_iter().next().expect("one result"));
        self.push(Inst {
            results: smallvec![result],
            kind: Kind::Op(op, args.into()),
        });
        result
    }

    /// The tangent of a value, if that is not zero.
    pub(super) fn tangent(&self, value: Value) -> Option<Value> {
        self.known.get(&value).copied().flatten()
    }

    pub(super) fn tangent_or_zero(&mut self, value: Value) -> Result<Value, Fact> {
        match self.tangent(value) {
            Some(tangent) => Ok(tangent),
            None => self.zero_of(value),
        }
    }

    /// The zero that is the tangent of a value.
    fn zero_of(&mut self, value: Value) -> Result<Value, Fact> {
        let ty = self.type_of(value).clone();
        let Ty::List(element) = &ty else {
            let tangent = tangent_type(&ty, &self.by).expect("a value with a derivative");
            return self.zero(&tangent);
        };
        // As many zeros as there are elements.
        let tangent = tangent_type(element, &self.by).expect("elements with a derivative");
        let base = |this: &mut Self, op, args: &[Value]| this.op(Op::Base(op), args);
        let length = base(self, Base::Dynamic(Dynamic::Length(ty)), &[value]);
        let [low, one] = [0, 1].map(|n| base(self, Base::Int(n), &[]));
        let high = base(self, Base::Simple(Simple::IntSub), &[length, one]);
        let none = Base::Dynamic(Dynamic::List(tangent.clone()));
        let init = base(self, none, &[]);
        let list = self.type_of(init).clone();
        let [index, carried, result] = [Ty::Int, list.clone(), list].map(|ty| self.fresh(ty));
        self.open.push(Vec::new());
        let zero = self.zero(&tangent)?;
        let next = base(
            self,
            Base::Dynamic(Dynamic::Append(tangent)),
            &[carried, zero],
        );
        let insts = self.open.pop().expect("a block is open");
        self.push(Inst {
            results: smallvec![result],
            kind: Kind::For {
                index,
                low,
                high,
                breaks: false,
                carried: vec![carried],
                init: vec![init],
                body: Block {
                    insts,
                    yields: vec![next],
                },
            },
        });
        Ok(result)
    }

    /// Zero, of a type.
    fn zero(&mut self, ty: &Ty) -> Result<Value, Fact> {
        Ok(match ty {
            Ty::Tensor(shape) => {
                let zeros = vec![Bits::from(0.0); shape.size()];
                self.op(Op::Base(Base::Tensor(shape.clone(), zeros)), &[])
            }
            Ty::Field { dim, shape } => {
                let operator = Ein {
                    params: Vec::new(),
                    axes: shape.dims().to_vec(),
                    body: nothing(*dim),
                };
                self.op(Op::Ein(Arc::new(operator.into())), &[])
            }
            Ty::Seq(element, n) => {
                let zero = self.zero(element)?;
                let sequence = Base::Sequence(self.type_of(zero).clone());
                self.op(Op::Base(sequence), &vec![zero; *n])
            }
            _ => {
                let what = "a sequence of sequences of varying length";
                return Err(Fact::Obstacle(what.to_owned()));
            }
        })
    }

    /// The tangent of the variable itself: δ for every axis.
    fn identity(&mut self, x: Value) -> Value {
        let order = self.by.order();
        let mut factors: Vec<Term> = (0..order)
            .map(|k| Term::Delta(Index::Axis(k), Index::Axis(order + k)))
            .collect();
        if factors.is_empty() {
            factors.push(Term::Const(Rational::from_integer(1)));
        }
        let mut body = Term::Mul(factors);
        if let Ty::Field { dim, .. } = self.type_of(x) {
            body = Term::Add(vec![body, nothing(*dim)]);
        }
        let operator = Ein {
            params: Vec::new(),
            axes: self.by.append(self.by.dims()).dims().to_vec(),
            body,
        };
        self.op(Op::Ein(Arc::new(operator.into())), &[])
    }

    /// The function with a tangent, or zero, in the place of the request.
    pub(super) fn put(mut self, body: Block<High>, tangent: Option<Value>) -> Block<High> {
        let result = self.wanted.result;
        let ty = self.type_of(result).clone();
        let mut replacement = tangent;
        let body = replace_request(body, result, &mut |insts| {
            if replacement.is_none() {
                self.open.push(Vec::new());
                replacement = self.zero(&ty).ok();
                insts.extend(self.open.pop().expect("a block is open"));
            }
        });
        let replacement = replacement.expect("a request is for a type that has zero");
        renamed(body, &FxHashMap::from_iter([(result, replacement)]))
    }
}

/// Zero, as a field.
pub(super) fn nothing(dim: usize) -> Term {
    Term::Mul(vec![
        Term::Const(Rational::from_integer(0)),
        Term::Position {
            dim,
            index: Index::Const(0),
        },
    ])
}

/// Writes something else in the place of a request.
fn replace_request(
    block: Block<High>,
    result: Value,
    write: &mut dyn FnMut(&mut Vec<Inst<High>>),
) -> Block<High> {
    let mut insts = Vec::with_capacity(block.insts.len());
    for Inst { results, kind } in block.insts {
        let kind = kind.map_blocks(|inner| replace_request(inner, result, write));
        let inst = Inst { results, kind };
        match request_of(&inst) {
            Some(found) if found.result == result => write(&mut insts),
            _ => insts.push(inst),
        }
    }
    Block {
        insts,
        yields: block.yields,
    }
}

/// The block with other values in the place of some; those are no longer defined.
pub(super) fn renamed(block: Block<High>, by: &FxHashMap<Value, Value>) -> Block<High> {
    fn without(block: Block<High>, by: &FxHashMap<Value, Value>) -> Block<High> {
        let is_kept = |inst: &Inst<High>| !inst.results.iter().any(|v| by.contains_key(v));
        let kept = block.insts.into_iter().filter(is_kept);
        let insts = kept.map(|Inst { results, kind }| Inst {
            results,
            kind: kind.map_blocks(|inner| without(inner, by)),
        });
        Block {
            insts: insts.collect(),
            yields: block.yields,
        }
    }
    without(block, by).rename(&mut |value| by.get(&value).copied().unwrap_or(value))
}
