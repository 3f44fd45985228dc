//! Scalarization: every tensor becomes its components, every EIN operator the arithmetic of its components.
//!
//! Axes and sums are unrolled, δ and ε become the numbers they are, and what they annihilate is not computed. Components that
//! are equal by symmetry are computed once.

use super::{Bits, Dynamic, Element, Low, Op, Simple, StrandReduction};
use crate::{
    image_ref::{FieldRef, ImageInfo, distinct_derivatives},
    mid::{self, Mid},
    ssa::{Block, Builder, Function, Inst, Kind, Value},
    tensor::{self, Base, Operator, Ty},
};
use ein_ir::{
    Comparison, Elementary, Index, Term,
    mutants::{Mutant, is_on},
    rational,
};
use std::{collections::BTreeMap, sync::Arc};

/// Where the scalars of global and state variables lie: the first slot of each variable.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Of each global variable.
    pub globals: Vec<u32>,
    /// Of each state variable.
    pub state: Vec<u32>,
    /// Of all global variables.
    global_count: u32,
}

impl Slots {
    /// Slots in the order of the variables.
    pub fn new<'a>(
        globals: impl Iterator<Item = &'a Ty>,
        state: impl Iterator<Item = &'a Ty>,
    ) -> Slots {
        let (globals, global_count) = first_slots(globals);
        let (state, _) = first_slots(state);
        Slots {
            globals,
            state,
            global_count,
        }
    }

    /// The number of slots of global variables.
    pub fn global_count(&self) -> u32 {
        self.global_count
    }
}

/// The first slot of each variable, and how many there are.
fn first_slots<'a>(types: impl Iterator<Item = &'a Ty>) -> (Vec<u32>, u32) {
    let mut next = 0;
    let first = types
        .map(|ty| {
            let first = next;
            next += ty.scalars().len() as u32;
            first
        })
        .collect();
    (first, next)
}

/// Translates a function to Low-IR.
pub fn scalarize(function: &Function<Mid>, slots: &Slots) -> Function<Low> {
    let mut pass = Pass {
        from: function,
        slots,
        b: Builder::default(),
        values: BTreeMap::new(),
    };
    pass.insts(&function.body);
    let yields = pass.all(&function.body.yields);
    pass.b.finish(function.name.clone(), yields)
}

struct Pass<'a> {
    from: &'a Function<Mid>,
    slots: &'a Slots,
    b: Builder<Low>,
    /// The components of each value.
    values: BTreeMap<Value, Vec<Value>>,
}

/// A scalar while an operator is expanded: constants are folded on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scalar {
    Known(f64),
    Computed(Value),
}

impl Pass<'_> {
    fn all(&self, values: &[Value]) -> Vec<Value> {
        values
            .iter()
            .flat_map(|v| self.values[v].iter().copied())
            .collect()
    }

    fn scalar(&self, v: Value) -> Value {
        self.values[&v][0]
    }

    fn insts(&mut self, block: &Block<Mid>) {
        for inst in &block.insts {
            match &inst.kind {
                Kind::Op(op, args) => {
                    let results = self.op(op, args, inst);
                    self.values
                        .extend(inst.results.iter().copied().zip(results));
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.scalar(*condition);
                    let [then, otherwise] = [then, otherwise].map(|block| self.block(block));
                    let results = self.b.if_(condition, then, otherwise);
                    self.hold(&inst.results, results);
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
                    let (low, high, init) = (self.scalar(*low), self.scalar(*high), self.all(init));
                    let index = self.fresh(&[*index])[0];
                    let carried = self.fresh(carried);
                    let body = self.block(body);
                    let results = self.fresh(&inst.results);
                    let kind = Kind::For {
                        index,
                        low,
                        high,
                        breaks: *breaks,
                        carried,
                        init,
                        body,
                    };
                    self.b.push(Inst { results, kind });
                }
            }
        }
    }

    fn block(&mut self, block: &Block<Mid>) -> Block<Low> {
        self.b.open();
        self.insts(block);
        let yields = self.all(&block.yields);
        self.b.close(yields)
    }

    /// New scalars for values, all in one list.
    fn fresh(&mut self, values: &[Value]) -> Vec<Value> {
        let mut list = Vec::new();
        for &v in values {
            let types = self.from.type_of(v).scalars();
            let scalars: Vec<Value> = types.into_iter().map(|ty| self.b.fresh(ty)).collect();
            list.extend(&scalars);
            self.values.insert(v, scalars);
        }
        list
    }

    /// Hands out a list of scalars to the values they belong to.
    fn hold(&mut self, values: &[Value], scalars: Vec<Value>) {
        let mut scalars = scalars.into_iter();
        for &v in values {
            let count = self.from.type_of(v).scalars().len();
            self.values
                .insert(v, scalars.by_ref().take(count).collect());
        }
    }

    fn op(&mut self, op: &mid::Op, args: &[Value], inst: &Inst<Mid>) -> Vec<Vec<Value>> {
        match op {
            mid::Op::Base(base) => vec![self.base(base, args, inst)],
            mid::Op::Ein(operator) => vec![self.ein(operator, args)],
            mid::Op::ToIndex(image, dim) => vec![self.index_position(*image, *dim, args[0])],
            mid::Op::Gradient(image, dim) => {
                // P[i, j] is the derivative of index coordinate j along world axis i.
                let entries =
                    (0..*dim).flat_map(|i| (0..*dim).map(move |j| ImageInfo::ToIndex(j, i)));
                vec![
                    entries
                        .map(|info| self.b.op1(Op::Image(*image, info), &[]))
                        .collect(),
                ]
            }
            mid::Op::Probe(field, orders) => {
                let at = self.values[&args[0]].clone();
                let found = self.b.op(Op::Probe(field.clone(), *orders), &at);
                let mut found = &found[..];
                orders
                    .iter()
                    .map(|order| {
                        let (own, rest) = found.split_at(field.outputs(order));
                        found = rest;
                        spread(field, order, own)
                    })
                    .collect()
            }
        }
    }

    fn base(&mut self, base: &Base, args: &[Value], inst: &Inst<Mid>) -> Vec<Value> {
        let scalars = self.all(args);
        let own = || self.from.type_of(inst.results[0]).scalars();
        match base {
            Base::Tensor(_, values) => values
                .iter()
                .map(|&x| self.b.op1(Op::Real(x), &[]))
                .collect(),
            Base::Int(n) => self.b.op(Op::Int(*n), &[]),
            Base::Bool(b) => self.b.op(Op::Bool(*b), &[]),
            Base::Str(s) => self.b.op(Op::Str(s.clone()), &[]),
            Base::Global(n, _) => {
                let first = self.slots.globals[*n as usize];
                own()
                    .into_iter()
                    .zip(first..)
                    .map(|(ty, slot)| self.b.op1(Op::Global(slot, ty), &[]))
                    .collect()
            }
            Base::State(n, _) => {
                let first = self.slots.state[*n as usize];
                own()
                    .into_iter()
                    .zip(first..)
                    .map(|(ty, slot)| self.b.op1(Op::State(slot, ty), &[]))
                    .collect()
            }
            Base::Arg(first, _) => own()
                .into_iter()
                .zip(*first..)
                .map(|(ty, slot)| self.b.op1(Op::Arg(slot, ty), &[]))
                .collect(),
            Base::Image(image, info) => self.b.op(Op::Image(*image, *info), &[]),
            Base::Simple(simple) => self.b.op(Op::Simple(*simple), &scalars),
            Base::Select(ty) => {
                let types = ty.scalars();
                let (then, otherwise) = scalars[1..].split_at(types.len());
                types
                    .into_iter()
                    .zip(then.iter().zip(otherwise))
                    .map(|(ty, (&a, &b))| self.b.op1(Op::Select(ty), &[scalars[0], a, b]))
                    .collect()
            }
            Base::IntDiv(place) => self.b.op(Op::IntDiv(*place), &scalars),
            Base::IntRem(place) => self.b.op(Op::IntRem(*place), &scalars),
            Base::EigenValues(n) => {
                self.b.op(Op::Eigen(*n), &symmetrized(&scalars, *n))[..usize::from(*n)].to_vec()
            }
            Base::EigenVectors(n) => {
                self.b.op(Op::Eigen(*n), &symmetrized(&scalars, *n))[usize::from(*n)..].to_vec()
            }
            Base::Sequence(_) => scalars,
            Base::Element(place) => self.element(*place, args),
            Base::CheckIndex(place) => self.b.op(Op::CheckIndex(*place), &scalars),
            Base::Print(pieces) => self.b.op(Op::Print(pieces.clone()), &scalars),
            Base::Dynamic(dynamic) => self.dynamic(dynamic, args),
        }
    }

    /// An element of a fixed sequence: chosen now if the index is a constant, else by comparing.
    fn element(&mut self, place: u32, args: &[Value]) -> Vec<Value> {
        let sequence = self.values[&args[0]].clone();
        let index = self.scalar(args[1]);
        let Ty::Seq(element, length) = self.from.type_of(args[0]) else {
            panic!("an element of no sequence")
        };
        let types = element.scalars();
        let known = match self.b.definition(index) {
            Some((Op::Int(n), _)) => usize::try_from(n).ok().filter(|n| n < length),
            _ => None,
        };
        if let Some(n) = known {
            return sequence[n * types.len()..(n + 1) * types.len()].to_vec();
        }
        let size = self.b.op1(Op::Int(*length as i64), &[]);
        self.b.op(Op::CheckIndex(place), &[index, size]);
        (0..types.len())
            .map(|c| {
                let last = sequence
                    .get((length.max(&1) - 1) * types.len() + c)
                    .copied();
                let last = last.unwrap_or_else(|| self.b.op1(types[c].zero(), &[]));
                (0..length.max(&1) - 1).rev().fold(last, |otherwise, n| {
                    let n_value = self.b.op1(Op::Int(n as i64), &[]);
                    let here = self.b.op1(Op::Simple(Simple::IntEqual), &[index, n_value]);
                    self.b.op1(
                        Op::Select(types[c]),
                        &[here, sequence[n * types.len() + c], otherwise],
                    )
                })
            })
            .collect()
    }

    fn dynamic(&mut self, op: &tensor::Dynamic, args: &[Value]) -> Vec<Value> {
        let scalars = self.all(args);
        let op = match op {
            tensor::Dynamic::List(ty) => Dynamic::List(element_of(ty), args.len() as u32),
            tensor::Dynamic::Append(ty) => Dynamic::Append(element_of(ty)),
            tensor::Dynamic::Prepend(ty) => Dynamic::Prepend(element_of(ty)),
            tensor::Dynamic::Concatenate(ty) => Dynamic::Concatenate(element_of(ty)),
            // The length comes last, in a list as among strands.
            tensor::Dynamic::Length(_) => return vec![scalars[scalars.len() - 1]],
            tensor::Dynamic::Item(Ty::List(ty)) => Dynamic::Item(element_of(ty)),
            tensor::Dynamic::Item(Ty::Strands) => Dynamic::StrandAt,
            tensor::Dynamic::Item(other) => panic!("an item of {other}"),
            tensor::Dynamic::NoStrands => {
                let zero = self.b.op1(Op::Int(0), &[]);
                return vec![zero; 3];
            }
            tensor::Dynamic::Sphere { position, dim } => Dynamic::Sphere {
                position: self.slots.state[*position as usize],
                dim: *dim,
            },
            tensor::Dynamic::Other(n, ty) => {
                let first = self.slots.state[*n as usize];
                let other = |(ty, slot)| Op::Dynamic(Dynamic::Other(slot, ty));
                let slots = ty.scalars().into_iter().zip(first..).map(other);
                return slots.map(|op| self.b.op1(op, &scalars)).collect();
            }
            tensor::Dynamic::New(state) => {
                Dynamic::New(state.iter().flat_map(Ty::scalars).collect())
            }
            tensor::Dynamic::Count(set) => Dynamic::Count(*set),
            tensor::Dynamic::Reduce(r) => Dynamic::Reduce(Arc::new(StrandReduction {
                reduction: r.reduction,
                set: r.set,
                body: r.body,
                element: element_of(&r.element),
                captured: r.captured.iter().flat_map(Ty::scalars).collect(),
            })),
        };
        self.b.op(Op::Dynamic(op), &scalars)
    }

    fn index_position(&mut self, image: u32, dim: u8, at: Value) -> Vec<Value> {
        let world = self.values[&at].clone();
        (0..dim)
            .map(|row| {
                let offset = self.b.op1(Op::Image(image, ImageInfo::Offset(row)), &[]);
                (0..dim).fold(offset, |sum, column| {
                    let entry = self
                        .b
                        .op1(Op::Image(image, ImageInfo::ToIndex(row, column)), &[]);
                    let product = self.b.op1(
                        Op::Simple(Simple::Mul),
                        &[entry, world[usize::from(column)]],
                    );
                    self.b.op1(Op::Simple(Simple::Add), &[sum, product])
                })
            })
            .collect()
    }

    fn ein(&mut self, operator: &Operator, args: &[Value]) -> Vec<Value> {
        let shape = ein_ir::Shape::from(&operator.ein.axes[..]);
        let mut done: BTreeMap<Vec<usize>, Value> = BTreeMap::new();
        shape
            .indices()
            .map(|index| {
                let index = operator.representative(&index);
                if let Some(&value) = done.get(&index) {
                    return value;
                }
                let mut expand = Expansion {
                    pass: self,
                    args,
                    index: &index,
                    bound: BTreeMap::new(),
                };
                let scalar = expand.term(&operator.ein.body);
                let value = self.materialize(scalar);
                done.insert(index, value);
                value
            })
            .collect()
    }

    fn materialize(&mut self, scalar: Scalar) -> Value {
        match scalar {
            Scalar::Known(x) => self.b.op1(Op::Real(Bits::from(x)), &[]),
            Scalar::Computed(value) => value,
        }
    }
}

/// The scalars of a sequence's element; they have one type.
fn element_of(ty: &Ty) -> Element {
    let types = ty.scalars();
    Element {
        ty: types.first().copied().unwrap_or(super::Ty::Real),
        scalars: types.len() as u32,
    }
}

/// The components of a symmetric tensor of derivatives from the distinct ones.
fn spread(field: &FieldRef, order: usize, distinct: &[Value]) -> Vec<Value> {
    let derivatives = distinct_derivatives(field.dim(), order);
    let place: BTreeMap<&[usize], usize> = derivatives
        .iter()
        .enumerate()
        .map(|(n, axes)| (&axes[..], n))
        .collect();
    let mut all = Vec::new();
    let mut components: Vec<&[Value]> = distinct.chunks(derivatives.len()).collect();
    if is_on(Mutant::ReversedMatrix) && field.shape.order() == 2 {
        components.reverse();
    }
    for component in components {
        for mut flat in 0..field.dim().pow(order as u32) {
            let mut axes: Vec<usize> = (0..order)
                .map(|_| {
                    let axis = flat % field.dim();
                    flat /= field.dim();
                    axis
                })
                .collect();
            axes.sort_unstable();
            if is_on(Mutant::MergedDerivatives) {
                let first = axes.first().copied().unwrap_or(0);
                axes.fill(first);
            }
            all.push(component[place[&axes[..]]]);
        }
    }
    all
}

/// The matrix with its upper triangle mirrored, so that nobody needs the lower one.
fn symmetrized(matrix: &[Value], n: u8) -> Vec<Value> {
    let n = usize::from(n);
    (0..n * n)
        .map(|k| matrix[(k / n).min(k % n) * n + (k / n).max(k % n)])
        .collect()
}

/// The expansion of one component.
struct Expansion<'p, 'a, 'f> {
    pass: &'p mut Pass<'f>,
    args: &'a [Value],
    index: &'a [usize],
    bound: BTreeMap<u32, usize>,
}

impl Expansion<'_, '_, '_> {
    fn at(&self, index: Index) -> usize {
        match index {
            Index::Const(c) => c,
            Index::Axis(k) => self.index[k],
            Index::Bound(b) => self.bound[&b],
        }
    }

    fn term(&mut self, term: &Term) -> Scalar {
        match term {
            Term::Const(q) => Scalar::Known(rational::to_f64(*q)),
            Term::Access { param, indices } => {
                let arg = self.args[*param];
                let Ty::Tensor(shape) = self.pass.from.type_of(arg) else {
                    panic!("an operator on no tensor")
                };
                let index: Vec<usize> = indices.iter().map(|&i| self.at(i)).collect();
                Scalar::Computed(self.pass.values[&arg][shape.offset(&index)])
            }
            Term::Delta(i, j) => Scalar::Known(f64::from(u8::from(self.at(*i) == self.at(*j)))),
            Term::Epsilon(indices) => {
                let index: Vec<usize> = indices.iter().map(|&i| self.at(i)).collect();
                Scalar::Known(permutation_sign(&index))
            }
            Term::Neg(a) => {
                let a = self.term(a);
                self.negate(a)
            }
            Term::Add(terms) => {
                let mut sum = Scalar::Known(0.0);
                for term in terms {
                    let value = self.term(term);
                    sum = self.add(sum, value);
                }
                sum
            }
            Term::Sub(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                self.subtract(a, b)
            }
            Term::Mul(factors) => self.product(factors),
            Term::Div(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                self.divide(a, b)
            }
            Term::Pow(a, n) => {
                let a = self.term(a);
                self.power(a, *n)
            }
            Term::Apply(function, args) => {
                let args: Vec<Scalar> = args.iter().map(|a| self.term(a)).collect();
                let args: Vec<Value> = args.into_iter().map(|a| self.pass.materialize(a)).collect();
                if is_on(Mutant::ScalarNorm) && *function == Elementary::Abs {
                    return Scalar::Computed(args[0]);
                }
                Scalar::Computed(self.pass.b.op1(Op::Math(*function), &args))
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => {
                let [a, b] = [&sides[0], &sides[1]]
                    .map(|side| self.term(side))
                    .map(|s| self.pass.materialize(s));
                let test = match test {
                    Comparison::Less => Simple::Less,
                    Comparison::LessEqual => Simple::LessEqual,
                    Comparison::Equal => Simple::Equal,
                };
                let holds = self.pass.b.op1(Op::Simple(test), &[a, b]);
                let (then, otherwise) = (self.term(then), self.term(otherwise));
                let (then, otherwise) = (
                    self.pass.materialize(then),
                    self.pass.materialize(otherwise),
                );
                Scalar::Computed(
                    self.pass
                        .b
                        .op1(Op::Select(super::Ty::Real), &[holds, then, otherwise]),
                )
            }
            Term::Sum {
                binder,
                range,
                body,
            } => {
                let mut sum = Scalar::Known(0.0);
                let range = if is_on(Mutant::DimensionUnchecked) {
                    (*range).min(3)
                } else {
                    *range
                };
                for n in 0..range {
                    self.bound.insert(*binder, n);
                    let value = self.term(body);
                    sum = self.add(sum, value);
                }
                self.bound.remove(binder);
                sum
            }
            Term::Position { .. } | Term::Deriv { .. } | Term::Probe { .. } => {
                panic!("a field in Mid-IR: {term:?}")
            }
        }
    }

    /// A product; δ and ε are looked at first, because a zero among them leaves nothing to compute.
    fn product(&mut self, factors: &[Term]) -> Scalar {
        let symbolic = |t: &&Term| matches!(t, Term::Delta(..) | Term::Epsilon(_) | Term::Const(_));
        let mut product = Scalar::Known(1.0);
        for factor in factors.iter().filter(symbolic) {
            let value = self.term(factor);
            product = self.multiply(product, value);
        }
        if product == Scalar::Known(0.0) {
            return product;
        }
        let sign = product;
        let mut rest: Option<Scalar> = None;
        for factor in factors.iter().filter(|f| !symbolic(f)) {
            let value = self.term(factor);
            rest = Some(match rest {
                None => value,
                Some(so_far) => self.multiply(so_far, value),
            });
        }
        match rest {
            None => sign,
            Some(rest) => self.multiply(sign, rest),
        }
    }

    fn simple(&mut self, op: Simple, a: Scalar, b: Scalar) -> Scalar {
        let args = [self.pass.materialize(a), self.pass.materialize(b)];
        Scalar::Computed(self.pass.b.op1(Op::Simple(op), &args))
    }

    fn add(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::Known(x), Scalar::Known(y)) => Scalar::Known(x + y),
            (Scalar::Known(0.0), other) | (other, Scalar::Known(0.0)) => other,
            _ => self.simple(Simple::Add, a, b),
        }
    }

    fn subtract(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::Known(x), Scalar::Known(y)) => Scalar::Known(x - y),
            (other, Scalar::Known(0.0)) => other,
            (Scalar::Known(0.0), other) => self.negate(other),
            _ => self.simple(Simple::Sub, a, b),
        }
    }

    fn negate(&mut self, a: Scalar) -> Scalar {
        match a {
            Scalar::Known(x) => Scalar::Known(-x),
            Scalar::Computed(value) => {
                Scalar::Computed(self.pass.b.op1(Op::Simple(Simple::Neg), &[value]))
            }
        }
    }

    fn multiply(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::Known(x), Scalar::Known(y)) => Scalar::Known(x * y),
            // Only δ, ε and constants of the operator are known, so a zero is the operator's own.
            (Scalar::Known(0.0), _) | (_, Scalar::Known(0.0)) => Scalar::Known(0.0),
            (Scalar::Known(1.0), other) | (other, Scalar::Known(1.0)) => other,
            (Scalar::Known(-1.0), other) | (other, Scalar::Known(-1.0)) => self.negate(other),
            _ => self.simple(Simple::Mul, a, b),
        }
    }

    fn divide(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (other, Scalar::Known(1.0)) => other,
            _ => self.simple(Simple::Div, a, b),
        }
    }

    /// An integer power by repeated squaring; negative powers by the reciprocal.
    fn power(&mut self, a: Scalar, n: i32) -> Scalar {
        let mut result = Scalar::Known(1.0);
        let mut square = a;
        let mut rest = n.unsigned_abs();
        while rest > 0 {
            if rest & 1 == 1 {
                result = self.multiply(result, square);
            }
            rest >>= 1;
            if rest > 0 {
                square = self.multiply(square, square);
            }
        }
        if n < 0 {
            self.divide(Scalar::Known(1.0), result)
        } else {
            result
        }
    }
}

/// The Levi-Civita symbol.
fn permutation_sign(index: &[usize]) -> f64 {
    let mut sign = 1.0;
    for (n, &a) in index.iter().enumerate() {
        for &b in &index[n + 1..] {
            if a == b {
                return 0.0;
            }
            if a > b {
                sign = -sign;
            }
        }
    }
    sign
}
