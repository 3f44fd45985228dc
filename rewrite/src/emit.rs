//! Nodes become a region again, one operation per definition.
//!
//! Views (transposes, slices, diagonals, broadcasts), constants, δ and ε get no definition: they are written where they
//! are used. Equal definitions are one. The shapes of definitions are those that `normal_form` demands.

use crate::{
    arena::Arena,
    build::Context,
    class::Facts,
    node::{Function, Node, Op, Slot, Slots},
    numbers::{Power, times},
    product::{Operand, Product, axes},
    symmetry::Symmetries,
};
use egg::Id;
use ein_ir::{
    Ein, Elementary, Index, Param, Rational, Shape, Term,
    region::{Def, Region, ValueId},
};
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A region that was made of an arena.
pub(crate) struct Emitted {
    pub(crate) region: Region,
    /// How each definition is symmetric, as far as that is known.
    pub(crate) symmetries: Vec<Symmetries>,
    /// How the classes that it is made of are written in it.
    pub(crate) written: FxHashMap<Id, Written>,
}

/// The region that computes the children of the tuple `root`.
pub(crate) fn emit(arena: &Arena, root: Id, inputs: &[Param]) -> Emitted {
    let mut emitter = Emitter {
        arena,
        region: Region {
            inputs: inputs.to_vec(),
            ..Region::default()
        },
        defs: Vec::new(),
        symmetries: Vec::new(),
        known: FxHashMap::default(),
        written: FxHashMap::default(),
    };
    for id in arena.reachable(root) {
        if id != root {
            emitter.write(id);
        }
    }
    for &child in &arena.node(root).children {
        let value = emitter.root(child);
        emitter.region.roots.push(value);
    }
    let Emitter {
        mut region,
        defs,
        symmetries,
        known,
        written,
        ..
    } = emitter;
    drop(known);
    region.defs = defs.into_iter().map(Rc::unwrap_or_clone).collect();
    Emitted {
        region,
        symmetries,
        written,
    }
}

/// What a class is written as, before some of its axes are fixed or exchanged.
#[derive(Clone)]
pub(crate) enum Base {
    Value(ValueId),
    Constant(Rational),
    Delta,
    Epsilon,
    /// A leaf field, which is written inside probes only.
    Field,
}

/// How a class is written: `base` with these slots, labels being the axes of the class.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) base: Base,
    pub(crate) slots: Slots,
}

/// The parameters of an operator under construction.
#[derive(Default)]
struct Operator {
    params: Vec<Param>,
    args: Vec<ValueId>,
}

struct Emitter<'a> {
    arena: &'a Arena,
    region: Region,
    defs: Vec<Rc<Def>>,
    symmetries: Vec<Symmetries>,
    known: FxHashMap<Rc<Def>, ValueId>,
    written: FxHashMap<Id, Written>,
}

/// The index of a label in a body with that many result axes.
fn index_of(slot: Slot, results: usize) -> Index {
    match slot {
        Slot::Fixed(component) => Index::Const(component as usize),
        Slot::Label(label) if usize::from(label) < results => Index::Axis(label.into()),
        Slot::Label(label) => Index::Bound(u32::from(label) - results as u32),
    }
}

impl Emitter<'_> {
    fn write(&mut self, id: Id) {
        let node = self.arena.node(id);
        let order = self.arena.facts(id).shape.len();
        let written = match &node.op {
            Op::One => constant(Rational::one()),
            Op::Zero(_) => constant(Rational::zero()),
            Op::Tensor { input, .. } => value(ValueId(*input), order),
            Op::Delta(_) => Written {
                base: Base::Delta,
                slots: axes(2),
            },
            Op::Epsilon(n) => Written {
                base: Base::Epsilon,
                slots: axes(*n as usize),
            },
            Op::Field { .. } | Op::Position { .. } => Written {
                base: Base::Field,
                slots: Slots::new(),
            },
            Op::Contract(spec) => {
                let product = Product::of(spec, &node.children);
                match product.as_view().and_then(|operand| self.view(operand)) {
                    Some(view) => view,
                    None => value(self.contraction(id, product), order),
                }
            }
            Op::Sum(coefficients) => match self.constant_multiple(coefficients, &node.children) {
                Some(written) => written,
                None => value(self.combination(id, node), order),
            },
            Op::Apply(function) => value(self.application(id, *function, &node.children), order),
            Op::Eigen(part) => {
                let mut operator = Operator::default();
                let matrix = self.root(node.children[0]);
                let body = Term::Eigen {
                    part: *part,
                    param: self.param(&mut operator, matrix),
                    indices: (0..order).map(Index::Axis).collect(),
                };
                value(self.define(operator, body, Some(id)), order)
            }
            Op::Cond(test) => {
                let mut operator = Operator::default();
                let mut part =
                    |k: usize| self.access(&mut operator, node.children[k], &axes(order), order);
                let sides = Box::new([part(0), part(1)]);
                let (then, otherwise) = (Box::new(part(2)), Box::new(part(3)));
                let body = Term::Cond {
                    test: *test,
                    sides,
                    then,
                    otherwise,
                };
                value(self.define(operator, body, Some(id)), order)
            }
            Op::Probe => value(self.probe(id, node), order),
            Op::Deriv { .. } | Op::Inverse | Op::Tuple => {
                unreachable!("a normal form has no inverse, and derivatives of leaf fields only")
            }
        };
        self.written.insert(id, written);
    }

    /// The value of a root or of a position: a definition if it is anything but a value as it stands.
    fn root(&mut self, id: Id) -> ValueId {
        let facts = self.arena.facts(id);
        let order = facts.shape.len();
        if let Written {
            base: Base::Value(known),
            slots,
        } = &self.written[&id]
            && *slots == axes(order)
        {
            return *known;
        }
        let mut operator = Operator::default();
        let body = self.access(&mut operator, id, &axes(order), order);
        self.define(operator, body, Some(id))
    }

    /// A view of something that needs no definition itself.
    fn view(&self, operand: &Operand) -> Option<Written> {
        let inner = &self.written[&operand.id];
        // A part of δ or ε stays a tensor of its own: written out where it is used, its indices could be summed over
        // there, and such a δ or ε is not normal.
        let is_symbol = matches!(inner.base, Base::Delta | Base::Epsilon);
        if is_symbol
            && operand
                .slots
                .iter()
                .any(|slot| matches!(slot, Slot::Fixed(_)))
        {
            return None;
        }
        let slots = inner
            .slots
            .iter()
            .map(|&slot| compose(slot, &operand.slots))
            .collect();
        Some(Written {
            base: inner.base.clone(),
            slots,
        })
    }

    fn constant_multiple(&self, coefficients: &[Rational], children: &[Id]) -> Option<Written> {
        let ([coefficient], [child]) = (coefficients, children) else {
            return None;
        };
        match self.written[child].base {
            Base::Constant(value) => times(*coefficient, value).map(constant),
            Base::Value(_) | Base::Delta | Base::Epsilon | Base::Field => None,
        }
    }

    /// A class at these slots, in a body with `results` axes.
    fn access(&self, operator: &mut Operator, id: Id, slots: &Slots, results: usize) -> Term {
        let written = &self.written[&id];
        let indices = || {
            written
                .slots
                .iter()
                .map(|&slot| index_of(compose(slot, slots), results))
        };
        match &written.base {
            Base::Value(known) => Term::Access {
                param: self.param(operator, *known),
                indices: indices().collect(),
            },
            Base::Constant(value) => Term::Const(*value),
            Base::Delta => {
                let both: Vec<Index> = indices().collect();
                Term::Delta(both[0], both[1])
            }
            Base::Epsilon => Term::Epsilon(indices().collect()),
            Base::Field => unreachable!("a leaf field stands under a probe only"),
        }
    }

    fn param(&self, operator: &mut Operator, known: ValueId) -> usize {
        if let Some(position) = operator.args.iter().position(|&arg| arg == known) {
            return position;
        }
        let inputs = self.region.inputs.len();
        operator.params.push(match self.region.inputs.get(known.0) {
            Some(input) => input.clone(),
            None => Param::Tensor(Shape::from(&self.defs[known.0 - inputs].op.axes[..])),
        });
        operator.args.push(known);
        operator.args.len() - 1
    }

    /// Adds a definition unless there is an equal one; `class` says what its shape is (a scalar if none).
    fn define(&mut self, operator: Operator, body: Term, class: Option<Id>) -> ValueId {
        let scalar = Facts::tensor(Default::default());
        let facts = class.map_or(&scalar, |id| self.arena.facts(id));
        let def = Def {
            op: Ein {
                params: operator.params,
                axes: facts.shape.iter().map(|&n| n as usize).collect(),
                body,
            },
            args: operator.args,
        };
        if let Some(&known) = self.known.get(&def) {
            return known;
        }
        let known = ValueId(self.region.inputs.len() + self.defs.len());
        let def = Rc::new(def);
        self.defs.push(def.clone());
        self.symmetries.push(facts.symmetries());
        self.known.insert(def, known);
        known
    }

    fn contraction(&mut self, id: Id, product: Product) -> ValueId {
        let (scalars, tensors): (Vec<Operand>, Vec<Operand>) = product
            .operands
            .iter()
            .cloned()
            .partition(Operand::is_scalar);
        let mut operator = Operator::default();
        if tensors.is_empty() && product.results == 0 {
            let body = self.monomial(&mut operator, &scalars);
            return self.define(operator, sums(body, &product), Some(id));
        }
        let mut factors: Vec<Term> = Vec::new();
        match scalars.as_slice() {
            [] => {}
            [only] if only.power.is_one() => {
                factors.push(self.access(&mut operator, only.id, &only.slots, 0))
            }
            _ => {
                let mut inner = Operator::default();
                let body = self.monomial(&mut inner, &scalars);
                let scalar = self.define(inner, body, None);
                factors.push(Term::Access {
                    param: self.param(&mut operator, scalar),
                    indices: Vec::new(),
                });
            }
        }
        for operand in &tensors {
            factors.push(self.access(&mut operator, operand.id, &operand.slots, product.results));
        }
        let body = sums(one_or_many(factors, Term::Mul, Rational::one()), &product);
        self.define(operator, body, Some(id))
    }

    /// Powers of scalars. Roots are definitions of their own; negative powers are divided by.
    fn monomial(&mut self, operator: &mut Operator, scalars: &[Operand]) -> Term {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for operand in scalars {
            let halves = operand.power.halves();
            let (base, count) = if operand.power.is_integer() {
                (
                    self.access(operator, operand.id, &operand.slots, 0),
                    halves.abs() / 2,
                )
            } else {
                let mut inner = Operator::default();
                let argument = self.access(&mut inner, operand.id, &operand.slots, 0);
                let root = self.define(inner, Term::Apply(Elementary::Sqrt, vec![argument]), None);
                let param = self.param(operator, root);
                let root = Term::Access {
                    param,
                    indices: Vec::new(),
                };
                (root, halves.abs())
            };
            let side = if halves > 0 { &mut above } else { &mut below };
            side.push(match i32::try_from(count) {
                Ok(1) => base,
                Ok(count) => Term::Pow(Box::new(base), count),
                // Odd numbers of halves reach twice as far as an integer exponent.
                Err(_) => Term::Mul(vec![
                    Term::Pow(Box::new(base.clone()), i32::MAX),
                    Term::Pow(Box::new(base), (count - i64::from(i32::MAX)) as i32),
                ]),
            });
        }
        let above = one_or_many(above, Term::Mul, Rational::one());
        match below.is_empty() {
            true => above,
            false => Term::Div(
                Box::new(above),
                Box::new(one_or_many(below, Term::Mul, Rational::one())),
            ),
        }
    }

    fn combination(&mut self, id: Id, node: &Node) -> ValueId {
        let order = self.arena.facts(id).shape.len();
        let mut operator = Operator::default();
        let (mut added, mut subtracted) = (Vec::new(), Vec::new());
        for (coefficient, child) in node.terms().unwrap_or_default() {
            let access = self.access(&mut operator, child, &axes(order), order);
            let side = if coefficient.is_negative() {
                &mut subtracted
            } else {
                &mut added
            };
            side.push(multiple(coefficient.abs(), access, order));
        }
        let body = match (added.is_empty(), subtracted.is_empty()) {
            (_, true) => one_or_many(added, Term::Add, Rational::zero()),
            (true, false) => Term::Neg(Box::new(one_or_many(
                subtracted,
                Term::Add,
                Rational::zero(),
            ))),
            (false, false) => {
                let added = one_or_many(added, Term::Add, Rational::zero());
                let subtracted = one_or_many(subtracted, Term::Add, Rational::zero());
                Term::Sub(Box::new(added), Box::new(subtracted))
            }
        };
        self.define(operator, body, Some(id))
    }

    fn application(&mut self, id: Id, function: Function, children: &[Id]) -> ValueId {
        let order = self.arena.facts(id).shape.len();
        let mut operator = Operator::default();
        let mut arguments: Vec<Term> = children
            .iter()
            .map(|&child| self.access(&mut operator, child, &axes(order), order))
            .collect();
        let body = match function {
            Function::Elementary(function) => Term::Apply(function, arguments),
            Function::Power(power) if power == Power::HALF => {
                Term::Apply(Elementary::Sqrt, arguments)
            }
            Function::Power(power) if power.is_integer() => {
                let count = i32::try_from(power.halves() / 2)
                    .expect("exponents stay in the range of terms");
                Term::Pow(Box::new(arguments.remove(0)), count)
            }
            Function::Power(power) => {
                let root =
                    self.define(operator, Term::Apply(Elementary::Sqrt, arguments), Some(id));
                operator = Operator::default();
                let root = Term::Access {
                    param: self.param(&mut operator, root),
                    indices: (0..order).map(Index::Axis).collect(),
                };
                let count =
                    i32::try_from(power.halves()).expect("exponents stay in the range of terms");
                Term::Pow(Box::new(root), count)
            }
        };
        self.define(operator, body, Some(id))
    }

    fn probe(&mut self, id: Id, node: &Node) -> ValueId {
        let Op::Field {
            input,
            dim,
            shape,
            order,
        } = &self.arena.node(node.children[0]).op
        else {
            unreachable!("a normal form probes leaf fields only");
        };
        let mut operator = Operator::default();
        let mut field = Term::Access {
            param: self.param(&mut operator, ValueId(*input)),
            indices: (0..shape.len()).map(Index::Axis).collect(),
        };
        for k in 0..usize::from(*order) {
            let index = if *dim > 1 {
                Index::Axis(shape.len() + k)
            } else {
                Index::Const(0)
            };
            field = Term::Deriv {
                index,
                body: Box::new(field),
            };
        }
        let position = self.root(node.children[1]);
        let param = self.param(&mut operator, position);
        let coordinate = |component: usize| Term::Access {
            param,
            indices: if *dim > 1 {
                vec![Index::Const(component)]
            } else {
                Vec::new()
            },
        };
        let body = Term::Probe {
            field: Box::new(field),
            at: (0..usize::from(*dim)).map(coordinate).collect(),
        };
        self.define(operator, body, Some(id))
    }
}

/// The slot of an inner access after its labels have been replaced by `outer`.
fn compose(slot: Slot, outer: &Slots) -> Slot {
    match slot {
        Slot::Fixed(component) => Slot::Fixed(component),
        Slot::Label(label) => outer[usize::from(label)],
    }
}

fn constant(value: Rational) -> Written {
    Written {
        base: Base::Constant(value),
        slots: Slots::new(),
    }
}

fn value(id: ValueId, order: usize) -> Written {
    Written {
        base: Base::Value(id),
        slots: axes(order),
    }
}

fn one_or_many(mut terms: Vec<Term>, many: fn(Vec<Term>) -> Term, none: Rational) -> Term {
    match terms.len() {
        0 => Term::Const(none),
        1 => terms.remove(0),
        _ => many(terms),
    }
}

/// c·access. A scalar is divided by the denominator of a fraction that has no finite decimal, which rounds once; everything
/// else is multiplied, which is faster.
fn multiple(coefficient: Rational, access: Term, order: usize) -> Term {
    if let Term::Const(value) = &access
        && let Some(product) = times(coefficient, *value)
    {
        return Term::Const(product);
    }
    let whole = Rational::from_integer(*coefficient.denom());
    if coefficient.is_one() {
        access
    } else if order == 0 && coefficient.numer().is_one() && !is_decimal(coefficient) {
        Term::Div(Box::new(access), Box::new(Term::Const(whole)))
    } else {
        Term::Mul(vec![Term::Const(coefficient), access])
    }
}

/// Whether a number has a finite decimal fraction.
fn is_decimal(number: Rational) -> bool {
    let without = |mut n: i128, factor: i128| {
        while n % factor == 0 {
            n /= factor;
        }
        n
    };
    without(without(*number.denom(), 2), 5).is_one()
}

/// Σ over the dummies of a product.
fn sums(body: Term, product: &Product) -> Term {
    (product.results..product.extents.len())
        .rev()
        .fold(body, |body, label| Term::Sum {
            binder: (label - product.results) as u32,
            range: product.extents[label] as usize,
            body: Box::new(body),
        })
}
