//! Expands an EIN operator into the arithmetic of its components.
//!
//! Nothing is multiplied by a component of a tensor that is known to be zero, and a sign goes into the sum or product that
//! uses it: both `a − b` for `a + (−b)` and `a·b` for `(−a)·(−b)` round alike, and equal products are found to be equal.

use super::Pass;
use crate::{
    ir::{
        Bits, Simple,
        tensor::{Operator, Ty},
    },
    low::{self, Op},
    ssa::{Value, Values},
};
use ein_ir::{Comparison, Eigen, Index, Term, mutants, rational};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A scalar while an operator is expanded: constants and signs are folded on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scalar {
    Known(f64),
    Computed(Value),
    /// The negative of a value.
    Negated(Value),
}

impl Scalar {
    fn negated(self) -> Scalar {
        match self {
            Scalar::Known(x) => Scalar::Known(-x),
            Scalar::Computed(value) => Scalar::Negated(value),
            Scalar::Negated(value) => Scalar::Computed(value),
        }
    }
}

impl Pass<'_> {
    pub(super) fn ein(&mut self, operator: &Operator, args: &[Value]) -> Vec<Value> {
        let shape = ein_ir::Shape::from(&operator.ein.axes[..]);
        let mut done: BTreeMap<Vec<usize>, Value> = BTreeMap::new();
        let component = |index: Vec<usize>| {
            if operator.symmetry.is_empty() {
                return self.ein_component(operator, args, &index);
            }
            let Some((index, negative)) = operator.symmetry.representative(&index) else {
                return self.materialize(Scalar::Known(0.0));
            };
            let value = match done.get(&index) {
                Some(&value) => value,
                None => {
                    let value = self.ein_component(operator, args, &index);
                    done.insert(index, value);
                    value
                }
            };
            match mutants::is_opposite(negative) {
                true => self.materialize(self.component(value, &shape).negated()),
                false => value,
            }
        };
        shape.indices().map(component).collect()
    }

    fn ein_component(&mut self, operator: &Operator, args: &[Value], index: &[usize]) -> Value {
        let mut expand = Expansion {
            pass: self,
            args,
            index,
            bound: Vec::new(),
        };
        let scalar = expand.term(&operator.ein.body);
        self.materialize(scalar)
    }

    fn materialize(&mut self, scalar: Scalar) -> Value {
        match scalar {
            Scalar::Known(x) => self.b.op1(Op::Real(Bits::from(x)), &[]),
            Scalar::Computed(value) => value,
            Scalar::Negated(value) => self.negative(value),
        }
    }

    /// The negative of a value: one that is there, or a product with the negative of a factor that is, or a new one.
    fn negative(&mut self, value: Value) -> Value {
        if let Some(negative) = self.known_negative(value) {
            return negative;
        }
        if let Some((op @ Op::Simple(Simple::Mul | Simple::Div), mut args)) =
            self.b.definition(value)
        {
            for k in 0..args.len() {
                if let Some(negative) = self.known_negative(args[k]) {
                    args[k] = negative;
                    return self.b.op1(op, &args);
                }
            }
        }
        let negative = self.b.op1(Op::Simple(Simple::Neg), &[value]);
        self.negatives.insert(value, negative);
        negative
    }

    /// The negative of a value if it was computed in one of the open blocks.
    fn known_negative(&self, value: Value) -> Option<Value> {
        let negative = *self.negatives.get(&value)?;
        self.b.defining(negative).map(|_| negative)
    }

    /// A component of a value, as far as it is known. A constant that is itself a scalar counts as computed: programs may
    /// multiply it by NaN.
    fn component(&self, value: Value, shape: &ein_ir::Shape) -> Scalar {
        match self.b.defining(value) {
            Some((Op::Simple(Simple::Neg), args)) => Scalar::Negated(args[0]),
            Some((Op::Real(bits), _)) if !shape.is_scalar() && *bits != Bits::from(-0.0) => {
                Scalar::Known(bits.get())
            }
            _ => Scalar::Computed(value),
        }
    }
}

/// The expansion of one component.
struct Expansion<'p, 'a, 'f> {
    pass: &'p mut Pass<'f>,
    args: &'a [Value],
    index: &'a [usize],
    /// The bound indices of the sums around, the innermost last, and their values.
    bound: Vec<(u32, usize)>,
}

impl Expansion<'_, '_, '_> {
    fn at(&self, index: Index) -> usize {
        match index {
            Index::Const(c) => c,
            Index::Axis(k) => self.index[k],
            Index::Bound(b) => {
                let bound = self.bound.iter().rfind(|(binder, _)| *binder == b);
                bound.expect("a sum around binds it").1
            }
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
                let axes = indices.iter().zip(shape.dims());
                let offset = axes.fold(0, |flat, (&i, &n)| flat * n + self.at(i));
                let value = self.pass.components(arg)[offset];
                self.pass.component(value, shape)
            }
            Term::Eigen {
                part,
                param,
                indices,
            } => {
                let index: Vec<usize> = indices.iter().map(|&i| self.at(i)).collect();
                self.eigen(*part, self.args[*param], &index)
            }
            Term::Delta(i, j) => Scalar::Known(f64::from(u8::from(self.at(*i) == self.at(*j)))),
            Term::Epsilon(indices) => {
                let index: SmallVec<[usize; 4]> = indices.iter().map(|&i| self.at(i)).collect();
                Scalar::Known(permutation_sign(&index))
            }
            Term::Neg(a) => self.term(a).negated(),
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
                let args: SmallVec<[Scalar; 2]> = args.iter().map(|a| self.term(a)).collect();
                let args: Values = args.into_iter().map(|a| self.pass.materialize(a)).collect();
                if mutants::leaves_out(*function) {
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
                        .op1(Op::Select(low::Ty::Real), &[holds, then, otherwise]),
                )
            }
            Term::Sum {
                binder,
                range,
                body,
            } => {
                let mut sum = Scalar::Known(0.0);
                for n in 0..mutants::terms(*range) {
                    self.bound.push((*binder, n));
                    let value = self.term(body);
                    sum = self.add(sum, value);
                    self.bound.pop();
                }
                sum
            }
            Term::Position { .. } | Term::Deriv { .. } | Term::Probe { .. } => {
                panic!("a field in Mid-IR: {term:?}")
            }
        }
    }

    /// A component of an eigensystem. Each asks for the whole, and value numbering makes that one operation.
    fn eigen(&mut self, part: Eigen, matrix: Value, index: &[usize]) -> Scalar {
        let matrix = self.pass.components(matrix);
        let n = matrix.len().isqrt();
        // The upper triangle is mirrored, so that the lower one is not needed.
        let symmetric: Vec<Value> = (0..n * n)
            .map(|k| matrix[(k / n).min(k % n) * n + (k / n).max(k % n)])
            .collect();
        let system = self.pass.b.op(Op::Eigen(n as u8), &symmetric);
        let vector = |k: usize, i: usize| Scalar::Computed(system[n + n * k + i]);
        match part {
            Eigen::Values => Scalar::Computed(system[index[0]]),
            Eigen::Vectors => vector(index[0], index[1]),
            Eigen::Resolvents => {
                let (row, column) = (index[1].min(index[2]), index[1].max(index[2]));
                self.resolvent(index[0], &system[..n], |j| {
                    [row, column].map(|i| vector(j, i))
                })
            }
        }
    }

    /// A component of a resolvent: the sum over the other eigenvalues. A function gives two components of their vectors.
    fn resolvent(
        &mut self,
        k: usize,
        values: &[Value],
        components: impl Fn(usize) -> [Scalar; 2],
    ) -> Scalar {
        let mut sum = Scalar::Known(0.0);
        for j in (0..values.len()).filter(|&j| j != k) {
            // The difference that is not negative, so that two resolvents share its reciprocal.
            let [above, below] = [j.min(k), j.max(k)].map(|j| Scalar::Computed(values[j]));
            let gap = self.subtract(above, below);
            let rate = self.divide(Scalar::Known(1.0), gap);
            let rate = if k < j { rate } else { rate.negated() };
            let [row, column] = components(j);
            let scaled = self.multiply(rate, row);
            let product = self.multiply(scaled, column);
            sum = self.add(sum, product);
        }
        sum
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
            (_, Scalar::Negated(b)) => self.simple(Simple::Sub, a, Scalar::Computed(b)),
            (Scalar::Negated(a), _) => self.simple(Simple::Sub, b, Scalar::Computed(a)),
            _ => self.simple(Simple::Add, a, b),
        }
    }

    fn subtract(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::Computed(_) | Scalar::Negated(_), Scalar::Known(x)) if x != 0.0 => {
                self.simple(Simple::Sub, a, b)
            }
            _ => self.add(a, b.negated()),
        }
    }

    fn multiply(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::Known(x), Scalar::Known(y)) => Scalar::Known(x * y),
            (Scalar::Known(0.0), _) | (_, Scalar::Known(0.0)) => Scalar::Known(0.0),
            (Scalar::Known(1.0), other) | (other, Scalar::Known(1.0)) => other,
            (Scalar::Known(-1.0), other) | (other, Scalar::Known(-1.0)) => other.negated(),
            (Scalar::Negated(_), _) => self.multiply(a.negated(), b).negated(),
            (_, Scalar::Negated(_)) => self.multiply(a, b.negated()).negated(),
            _ => self.simple(Simple::Mul, a, b),
        }
    }

    fn divide(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (other, Scalar::Known(1.0)) => other,
            (Scalar::Negated(_), _) => self.divide(a.negated(), b).negated(),
            (_, Scalar::Negated(_)) => self.divide(a, b.negated()).negated(),
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
