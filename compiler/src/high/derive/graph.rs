//! The definition of each value of a function.

use crate::{
    high::{High, Op},
    ir::{
        leaf::Leaf,
        tensor::{Base, Ty},
    },
    ssa::{Block, Function, Inst, Kind, Value, Values},
};
use ein_ir::Term;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// The definition of a value.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    /// A result of an operation.
    Op(Op, Values),
    /// One of two values, as an `if` decides.
    Either(Value, Value),
    /// A value that a loop carries: the initial value, the next one, and the number of the loop.
    Loop(Value, Value, usize),
    /// A counter.
    Counter,
}

/// The definitions of all values, and the loops around them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    definitions: Vec<Option<Definition>>,
    /// For every value the loops around its definition, the outermost first. A value that a loop carries is inside that loop.
    around: Vec<Vec<usize>>,
    loops: usize,
    differentiable: Vec<bool>,
}

impl Graph {
    pub(super) fn of(function: &Function<High>) -> Graph {
        let count = function.types.len();
        let differentiable = function.types.iter().map(is_differentiable).collect();
        let mut graph = Graph {
            definitions: vec![None; count],
            around: vec![Vec::new(); count],
            loops: 0,
            differentiable,
        };
        graph.block(&function.body, &mut Vec::new());
        graph
    }

    fn block(&mut self, block: &Block<High>, around: &mut Vec<usize>) {
        for Inst { results, kind } in &block.insts {
            match kind {
                Kind::Op(op, args) => {
                    for &result in results {
                        self.define(result, Definition::Op(op.clone(), args.clone()), around);
                    }
                }
                Kind::If {
                    then, otherwise, ..
                } => {
                    for (n, &result) in results.iter().enumerate() {
                        let (a, b) = (then.yields[n], otherwise.yields[n]);
                        self.define(result, Definition::Either(a, b), around);
                    }
                    self.block(then, around);
                    self.block(otherwise, around);
                }
                Kind::For {
                    index,
                    carried,
                    init,
                    body,
                    ..
                } => {
                    let number = self.loops;
                    self.loops += 1;
                    for n in 0..carried.len() {
                        let handed = Definition::Loop(init[n], body.yields[n], number);
                        self.define(results[n], handed.clone(), around);
                        around.push(number);
                        self.define(carried[n], handed, around);
                        around.pop();
                    }
                    around.push(number);
                    self.define(*index, Definition::Counter, around);
                    self.block(body, around);
                    around.pop();
                }
            }
        }
    }

    fn define(&mut self, value: Value, definition: Definition, around: &[usize]) {
        self.definitions[value.0 as usize] = Some(definition);
        self.around[value.0 as usize] = around.to_vec();
    }

    /// The definition of a value.
    pub(super) fn definition(&self, value: Value) -> Option<&Definition> {
        self.definitions.get(value.0 as usize)?.as_ref()
    }

    /// The values that a derivative follows from this one.
    pub(super) fn sources(&self, value: Value) -> Values {
        let mut sources = match self.definition(value) {
            Some(Definition::Op(op, args)) => followed(op, args),
            Some(Definition::Either(a, b) | Definition::Loop(a, b, _)) => smallvec![*a, *b],
            Some(Definition::Counter) | None => Values::new(),
        };
        sources.retain(|source| self.differentiable[source.0 as usize]);
        sources
    }

    /// The same, where `x` is the variable that derivatives are taken by: values from outside of a loop around it are constants.
    pub(super) fn sources_within(&self, value: Value, x: Value) -> Values {
        match self.definition(value) {
            Some(Definition::Loop(_, _, of)) if self.around[x.0 as usize].contains(of) => {
                Values::new()
            }
            _ => self.sources(value),
        }
    }

    /// Whether an operation of a kind is among those that a value is computed by.
    pub(super) fn reaches(&self, from: Value, is_such: impl Fn(&Op) -> bool) -> bool {
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![from]);
        while let Some(value) = waiting.pop() {
            if let Some(Definition::Op(op, _)) = self.definition(value)
                && is_such(op)
            {
                return true;
            }
            if seen.insert(value) {
                waiting.extend(self.sources(value));
            }
        }
        false
    }

    /// Whether a value is an argument of the function, unchanged.
    pub(super) fn is_given(&self, value: Value) -> bool {
        match self.definition(value) {
            Some(Definition::Op(Op::Base(Base::Arg(..)), _)) => true,
            Some(Definition::Op(Op::Variable(_), args)) => self.is_given(args[0]),
            _ => false,
        }
    }

    /// The number of the variable that has this value.
    fn variable(&self, value: Value) -> Option<u32> {
        match self.definition(value) {
            Some(Definition::Op(Op::Variable(number), _)) => Some(*number),
            _ => None,
        }
    }

    /// Whether `y` was computed from an earlier value of the variable than `x`.
    ///
    /// In a loop around `x` an earlier value may be that of an earlier round, if the variable is declared outside of the loop.
    pub(super) fn is_stale(&self, y: Value, x: Value) -> bool {
        let Some(number) = self.variable(x) else {
            return false;
        };
        let around = &self.around[x.0 as usize];
        let is_declared_outside = |of: usize| {
            let values = (0..self.definitions.len() as u32).map(Value);
            let mut same = values.filter(|value| self.variable(*value) == Some(number));
            same.any(|value| !self.around[value.0 as usize].contains(&of))
        };
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![(y, false)]);
        while let Some((value, is_earlier)) = waiting.pop() {
            if value == x && !is_earlier || !seen.insert((value, is_earlier)) {
                continue;
            }
            if self.variable(value) == Some(number) {
                return true;
            }
            match self.definition(value) {
                Some(Definition::Loop(first, next, of)) if around.contains(of) => {
                    waiting.push((*first, is_earlier));
                    if is_declared_outside(*of) {
                        waiting.push((*next, true));
                    }
                }
                _ => {
                    let sources = self.sources(value).into_iter();
                    waiting.extend(sources.map(|source| (source, is_earlier)));
                }
            }
        }
        false
    }

    /// How many derivatives a field has; none if there is no limit.
    pub(super) fn continuity(&self, field: Value) -> Option<u32> {
        self.continuity_of(field, &mut FxHashMap::default())
    }

    fn continuity_of(
        &self,
        field: Value,
        known: &mut FxHashMap<Value, Option<u32>>,
    ) -> Option<u32> {
        if let Some(known) = known.get(&field) {
            return *known;
        }
        let Some(Definition::Op(op, args)) = self.definition(field) else {
            return None;
        };
        let found = match op {
            Op::Field(Leaf::Convolution(leaf)) => leaf.kernels.iter().map(|k| k.0.continuity).min(),
            Op::Field(Leaf::Fem(_)) => Some(runtime::probe::MAX_ORDER as u32),
            Op::Ein(operator) => {
                let each = args.iter().enumerate().filter_map(|(param, arg)| {
                    let taken = derivatives_of(&operator.ein.body, param)?;
                    Some(self.continuity_of(*arg, known)?.saturating_sub(taken))
                });
                each.min()
            }
            Op::Variable(_) | Op::Defined | Op::Derivative(_) => self.continuity_of(args[0], known),
            Op::Base(_) | Op::Inside { .. } => None,
        };
        known.insert(field, found);
        found
    }
}

/// Whether values of a type have derivatives.
fn is_differentiable(ty: &Ty) -> bool {
    crate::high::dialect::tangent_type(ty, &ein_ir::Shape::SCALAR).is_some()
}

/// The arguments of an operation that a derivative follows.
pub(super) fn followed(op: &Op, args: &Values) -> Values {
    match op {
        Op::Defined => smallvec![args[1]],
        _ => args.clone(),
    }
}

/// How many derivatives of a parameter a term takes; none if it does not read it.
pub(super) fn derivatives_of(term: &Term, param: usize) -> Option<u32> {
    match term {
        Term::Access { param: found, .. } | Term::Eigen { param: found, .. } => {
            (*found == param).then_some(0)
        }
        Term::Deriv { body, .. } => derivatives_of(body, param).map(|n| n + 1),
        _ => {
            let inside = term.children().into_iter();
            inside
                .filter_map(|inner| derivatives_of(inner, param))
                .max()
        }
    }
}
