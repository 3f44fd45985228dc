//! Which operators are the inverse of a matrix, however that is written.
//!
//! An operator p/q, with polynomials p and q in the entries of a matrix, is the inverse P/Q of the table if p·Q = P·q. Both
//! sides are polynomials, so their component normal forms decide. The determinant divides no cofactor, so it divides q:
//! the inverse is defined wherever p/q is.

use crate::{
    arena::{Arena, Mode},
    insert::insert_region,
    prove::components_agree,
};
use ein_ir::{
    Ein, Index, Param, Rational, Shape, Term, Type, ops,
    region::{Def, Region, ValueId},
};
use std::sync::LazyLock;

/// Powers of polynomials up to this one are multiplied out.
const LARGEST_POWER: i32 = 3;

/// The bodies of the operators for the inverse, of two by two matrices and three by three.
static BODIES: LazyLock<[Term; 2]> = LazyLock::new(|| {
    [2, 3].map(|n| {
        let row = ops::resolve("inv", &[Type::tensor(&[n, n])]);
        let operator = row.ok().and_then(|instance| instance.ein());
        operator.expect("the table has the inverse").body
    })
});

/// The inverse of a matrix of this extent, as a term.
pub(crate) fn inverse(extent: usize) -> Term {
    BODIES[extent - 2].clone()
}

/// Whether an operator is the inverse of its argument.
pub(crate) fn is_inverse(op: &Ein) -> bool {
    let ([matrix], &[n, m]) = (&op.params[..], &op.axes[..]) else {
        return false;
    };
    if n != m || !(2..=3).contains(&n) || matrix.shape().dims() != op.axes {
        return false;
    }
    let known = &BODIES[n - 2];
    op.body == *known
        || Quotient::of(&op.body)
            .zip(Quotient::of(known))
            .is_some_and(|(own, known)| own.equals(&known, n))
}

/// A quotient of products of polynomials in the components of one parameter.
#[derive(Default)]
struct Quotient {
    above: Vec<Term>,
    /// They are the same for all components of the result.
    below: Vec<Term>,
}

impl Quotient {
    /// None if the term is something else, or has nothing below.
    fn of(term: &Term) -> Option<Quotient> {
        let mut found = Quotient::default();
        found.multiply(term, false);
        let fits = !found.below.is_empty()
            && found.above.iter().chain(&found.below).all(is_polynomial)
            && !found.below.iter().any(has_axis);
        fits.then_some(found)
    }

    fn multiply(&mut self, term: &Term, divides: bool) {
        match term {
            Term::Div(a, b) => {
                self.multiply(a, divides);
                self.multiply(b, !divides);
            }
            Term::Mul(factors) => factors.iter().for_each(|term| self.multiply(term, divides)),
            Term::Neg(body) => {
                self.above.push(Term::Const(Rational::from_integer(-1)));
                self.multiply(body, divides);
            }
            Term::Pow(base, -1) => self.multiply(base, !divides),
            _ if divides => self.below.push(term.clone()),
            _ => self.above.push(term.clone()),
        }
    }

    /// Whether two quotients of the components of an n×n matrix are the same matrix, and neither is divided by zero.
    fn equals(&self, other: &Quotient, n: usize) -> bool {
        let matrix = |body: Term| Ein {
            params: vec![Param::Tensor(Shape::new([n, n]))],
            axes: vec![n, n],
            body,
        };
        let scalar = |factors: &[Term]| Ein {
            axes: Vec::new(),
            ..matrix(Term::Mul(factors.to_vec()))
        };
        let access = |param: usize, order: usize| Term::Access {
            param,
            indices: (0..order).map(Index::Axis).collect(),
        };
        let mut region = Region {
            inputs: vec![Param::Tensor(Shape::new([n, n]))],
            ..Region::default()
        };
        let mut define = |op: Ein, args: &[ValueId]| {
            let args = args.to_vec();
            region.defs.push(Def { op, args });
            ValueId(region.defs.len())
        };
        let input = ValueId(0);
        let mut crossed = |a: &Quotient, b: &Quotient| {
            let above = define(matrix(Term::Mul(a.above.clone())), &[input]);
            let below = define(scalar(&b.below), &[input]);
            let product = Ein {
                params: vec![
                    Param::Tensor(Shape::new([n, n])),
                    Param::Tensor(Shape::SCALAR),
                ],
                axes: vec![n, n],
                body: Term::Mul(vec![access(0, 2), access(1, 0)]),
            };
            define(product, &[above, below])
        };
        let (left, right) = (crossed(self, other), crossed(other, self));
        let nothing = define(matrix(Term::Const(Rational::from_integer(0))), &[input]);
        let mut arena = Arena::new(Mode::Source, usize::MAX);
        let values = insert_region(&mut arena, &region, &[]);
        let [left, right, nothing] = [left, right, nothing].map(|value| values[value.0]);
        components_agree(&mut arena, left, right) && !components_agree(&mut arena, right, nothing)
    }
}

fn is_polynomial(term: &Term) -> bool {
    let is_one = match term {
        Term::Pow(_, exponent) => (0..=LARGEST_POWER).contains(exponent),
        Term::Const(_) | Term::Access { .. } | Term::Delta(..) | Term::Epsilon(_) => true,
        Term::Neg(_) | Term::Add(_) | Term::Sub(..) | Term::Mul(_) | Term::Sum { .. } => true,
        Term::Div(..) | Term::Apply(..) | Term::Cond { .. } | Term::Eigen { .. } => false,
        Term::Position { .. } | Term::Deriv { .. } | Term::Probe { .. } => false,
    };
    is_one && term.children().into_iter().all(is_polynomial)
}

fn has_axis(term: &Term) -> bool {
    let is_axis = |index: &Index| matches!(index, Index::Axis(_));
    let own = match term {
        Term::Access { indices, .. } | Term::Epsilon(indices) => indices.iter().any(is_axis),
        Term::Delta(i, j) => is_axis(i) || is_axis(j),
        _ => false,
    };
    own || term.children().into_iter().any(has_axis)
}

#[cfg(test)]
mod tests {
    fn is_inverse(text: &str) -> bool {
        super::is_inverse(&text.parse().unwrap_or_else(|e| panic!("{text}: {e}")))
    }

    #[test]
    fn the_inverse_is_known_however_it_is_written() {
        for text in [
            "λ(a:[2,2]) i:2 j:2 | (Σ p:2. Σ q:2. ε[j p] ε[i q] a[p q]) / (Σ p:2. Σ q:2. ε[p q] a[0 p] a[1 q])",
            "λ(a:[2,2]) i:2 j:2 | (δ[i j] (a[0 0] + a[1 1]) − a[i j]) / (a[1 1] a[0 0] − a[1 0] a[0 1])",
            "λ(a:[3,3]) i:3 j:3 | (Σ p:3. Σ q:3. Σ r:3. Σ s:3. ε[i r s] ε[j p q] a[q s] a[p r]) \
             / (2 (Σ p:3. Σ q:3. Σ r:3. ε[p q r] a[p 0] a[q 1] a[r 2]))",
            "λ(a:[3,3]) i:3 j:3 | (Σ p:3. Σ q:3. Σ r:3. Σ s:3. ε[j p q] ε[i r s] a[p r] a[q s]) \
             (3 / (Σ p:3. Σ q:3. Σ r:3. Σ u:3. Σ v:3. Σ w:3. ε[p q r] ε[u v w] a[p u] a[q v] a[r w]))",
        ] {
            assert!(is_inverse(text), "{text}");
        }
    }

    #[test]
    fn what_resembles_the_inverse_is_not_taken_for_it() {
        for text in [
            // Transposed, half of it, of another sign, the adjugate alone, and nothing by nothing.
            "λ(a:[2,2]) i:2 j:2 | (Σ p:2. Σ q:2. ε[i p] ε[j q] a[p q]) / (Σ p:2. Σ q:2. ε[p q] a[0 p] a[1 q])",
            "λ(a:[3,3]) i:3 j:3 | (Σ p:3. Σ q:3. Σ r:3. Σ s:3. ε[j p q] ε[i r s] a[p r] a[q s]) \
             / (Σ p:3. Σ q:3. Σ r:3. ε[p q r] a[0 p] a[1 q] a[2 r])",
            "λ(a:[2,2]) i:2 j:2 | −(δ[i j] (Σ k:2. a[k k]) − a[i j]) / (a[0 0] a[1 1] − a[0 1] a[1 0])",
            "λ(a:[2,2]) i:2 j:2 | δ[i j] (Σ k:2. a[k k]) − a[i j]",
            "λ(a:[2,2]) i:2 j:2 | (δ[i j] 0) / (a[0 0] a[1 1] − a[0 0] a[1 1])",
            "λ(a:[2,2]) i:2 j:2 | δ[i j] / a[i j]",
        ] {
            assert!(!is_inverse(text), "{text}");
        }
    }
}
