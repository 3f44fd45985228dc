//! Constructors shared by the plain arena, the rules and the big steps.
//!
//! They are generic over a [`Context`], so that one piece of code is directed normalizer and rule engine at once.

use crate::{
    canon::canonical,
    class::{Facts, Leaf},
    laws::{Construction, Taken, note},
    mutants,
    node::{Extents, Function, Node, Op, Slot, Spec},
    numbers::{Power, plus, times},
    product::{Operand, Product, axes},
    shared::Shared,
    simplify::simplify,
};
use egg::Id;
use ein_ir::{Comparison, Elementary, Rational, Term};
use num_traits::{One, Zero};
use smallvec::SmallVec;

/// Where nodes live: a hash-consed arena or an e-graph.
pub(crate) trait Context {
    /// The class of a node.
    fn add(&mut self, node: Node) -> Id;

    /// The class of a contraction that is simplified.
    fn add_simplified(&mut self, node: Node) -> Id {
        self.add(node)
    }

    /// The facts about a class.
    fn facts(&self, id: Id) -> &Facts;

    /// The representative of a class.
    fn find(&self, id: Id) -> Id;

    /// `(c, x)` if the class is c·x and `x` is to be used in its place.
    fn as_scale(&self, id: Id) -> Option<(Rational, Id)>;

    /// The terms of the class if sums are to be flattened into one.
    fn as_sum(&self, id: Id) -> Option<Vec<(Rational, Id)>>;

    /// The contraction that is to be put in place of the operand at this position.
    fn inline(&self, product: &Product, position: usize) -> Option<Product>;

    /// The sum over which the product is to be distributed at this position.
    fn distribute(&self, product: &Product, position: usize) -> Option<Vec<(Rational, Id)>>;

    /// The derivative of a class, pushed down or not.
    fn derivative(&mut self, dim: u8, id: Id) -> Id;

    /// The probe of a class, pushed down or not.
    fn probe(&mut self, id: Id, position: Id) -> Id;

    /// The inverse of a matrix, written out or not.
    fn inverse(&mut self, id: Id) -> Id;

    /// How often each step of the simplifier was taken here, and each law of construction applied.
    fn taken(&mut self) -> &mut Taken;

    /// Whether dummies are expanded into sums over their values.
    fn unrolls(&self) -> bool {
        false
    }

    /// Accounts for one more product in a simplification; `false` if there is no budget for expanding any further.
    fn charge(&mut self) -> bool {
        true
    }
}

pub(crate) fn one(context: &mut dyn Context) -> Id {
    context.add(Node::leaf(Op::One))
}

pub(crate) fn zero(context: &mut dyn Context, shape: Extents) -> Id {
    context.add(Node::leaf(Op::Zero(shape)))
}

/// The class of a rational number.
pub(crate) fn constant(context: &mut dyn Context, value: Rational) -> Id {
    let one = one(context);
    linear(context, vec![(value, one)], Extents::new(), false)
}

/// The rational number that a class is known to be.
pub(crate) fn as_constant(context: &dyn Context, id: Id) -> Option<Rational> {
    let facts = context.facts(id);
    if !facts.shape.is_empty() {
        return None;
    }
    if facts.zero {
        return Some(Rational::zero());
    }
    if facts.leaf == Leaf::One {
        return Some(Rational::one());
    }
    let (value, base) = facts.scale?;
    (context.facts(base).leaf == Leaf::One).then_some(value)
}

/// The node of a product, canonical but not simplified: a coefficient and a class.
pub(crate) fn contract_raw(context: &mut dyn Context, product: &Product) -> (Rational, Id) {
    add_canonical(context, product, false)
}

/// The canonical node of a product, which may be simplified.
fn add_canonical(
    context: &mut dyn Context,
    product: &Product,
    is_simplified: bool,
) -> (Rational, Id) {
    let vanishes =
        |operand: &Operand| operand.power.is_positive() && context.facts(operand.id).zero;
    if product.coefficient.is_zero() || product.operands.iter().any(vanishes) {
        note(context, Construction::Zero);
        return (Rational::one(), zero(context, product.shape()));
    }
    if product.operands.is_empty() && product.extents.is_empty() {
        return (product.coefficient, one(context));
    }
    let form = canonical(product, |id| context.facts(id));
    if form.zero {
        note(context, Construction::Antisymmetry);
        return (Rational::one(), zero(context, product.shape()));
    }
    let coefficient = if form.negative {
        -product.coefficient
    } else {
        product.coefficient
    };
    let mut extents = product.extents.clone();
    let mut unused = Extents::new();
    let mut numbered = product.results;
    for (label, renamed) in form.renamed.iter().enumerate() {
        match renamed {
            Some(number) => {
                extents[usize::from(*number)] = product.extents[label];
                numbered = numbered.max(usize::from(*number) + 1);
            }
            None => unused.push(product.extents[label]),
        }
    }
    // Labels that no operand mentions come last; only their extents matter.
    unused.sort_unstable();
    extents.truncate(numbered);
    extents.extend(unused);
    let children: SmallVec<[Id; 4]> = form.order.iter().map(|&k| product.operands[k].id).collect();
    let powers = form.order.iter().map(|&k| product.operands[k].power);
    let spec = Spec {
        results: product.results,
        extents,
        operands: form.slots.into_iter().zip(powers).collect(),
    };
    if let ([child], [(slots, power)]) = (&children[..], &spec.operands[..])
        && power.is_one()
        && spec.extents.len() == spec.results
        && (*slots == axes(spec.results) || mutants::is_whole(slots, spec.results))
    {
        return (coefficient, *child);
    }
    let op = Op::Contract(Shared::new(spec));
    let node = Node { op, children };
    let class = match is_simplified {
        true => context.add_simplified(node),
        false => context.add(node),
    };
    (coefficient, class)
}

/// The simplified contraction.
pub(crate) fn contract(context: &mut dyn Context, product: Product) -> Id {
    let shape = product.shape();
    let products = simplify(context, product);
    let mut terms = Vec::with_capacity(products.len());
    for product in &products {
        terms.push(add_canonical(context, product, true));
    }
    linear(context, terms, shape, false)
}

/// c·x as a class.
pub(crate) fn scaled(context: &mut dyn Context, (coefficient, id): (Rational, Id)) -> Id {
    let shape = context.facts(id).shape.clone();
    linear(context, vec![(coefficient, id)], shape, false)
}

/// Nested multiples and sums are followed no deeper than this; the rest is merely not flattened.
const FLATTENING_DEPTH: usize = 8;

/// A linear combination with like terms collected; `flatten` opens sums among the terms where the context allows it.
pub(crate) fn linear(
    context: &mut dyn Context,
    terms: Vec<(Rational, Id)>,
    shape: Extents,
    flatten: bool,
) -> Id {
    let mut flat: SmallVec<[(Id, Rational); 4]> = SmallVec::new();
    let mut work: SmallVec<[(Rational, Id, usize); 4]> =
        terms.into_iter().rev().map(|(c, id)| (c, id, 0)).collect();
    'terms: while let Some((coefficient, id, depth)) = work.pop() {
        let id = context.find(id);
        if coefficient.is_zero() || context.facts(id).zero {
            note(context, Construction::Zero);
            continue;
        }
        if depth < FLATTENING_DEPTH {
            if let Some((factor, base)) = context.as_scale(id)
                && let Some(product) = times(coefficient, factor)
            {
                work.push((product, base, depth + 1));
                continue;
            }
            if flatten && let Some(inner) = context.as_sum(id) {
                let mut products = Vec::with_capacity(inner.len());
                for (factor, term) in inner {
                    let Some(product) = times(coefficient, factor) else {
                        flat.push((id, coefficient));
                        continue 'terms;
                    };
                    products.push((product, term, depth + 1));
                }
                work.extend(products.into_iter().rev());
                continue;
            }
        }
        flat.push((id, coefficient));
    }
    flat.sort();
    let count = flat.len();
    let mut collected: SmallVec<[(Id, Rational); 4]> = SmallVec::with_capacity(count);
    for (id, coefficient) in flat {
        if let Some(last) = collected.last_mut()
            && last.0 == id
            && let Some(sum) = plus(last.1, coefficient)
        {
            last.1 = sum;
            continue;
        }
        collected.push((id, coefficient));
    }
    if collected.len() < count {
        note(context, Construction::LikeTerms);
    }
    collected.retain(|(_, coefficient)| !coefficient.is_zero());
    match collected[..] {
        [] => zero(context, shape),
        [(id, coefficient)] if coefficient.is_one() => id,
        _ => {
            let op = Op::sum(collected.iter().map(|term| term.1));
            let children = collected.iter().map(|term| term.0).collect();
            context.add(Node { op, children })
        }
    }
}

/// A power, component by component.
pub(crate) fn power(context: &mut dyn Context, base: Id, exponent: Power) -> Id {
    let shape = context.facts(base).shape.clone();
    if exponent.is_one() {
        base
    } else if shape.is_empty() {
        contract(
            context,
            Product::pointwise(&shape, vec![Operand::scalar(base, exponent)]),
        )
    } else {
        context.add(Node::new(Op::Apply(Function::Power(exponent)), &[base]))
    }
}

/// `then` where the test holds, else `otherwise`.
pub(crate) fn conditional(context: &mut dyn Context, test: Comparison, sides: [Id; 4]) -> Id {
    let [a, b, then, otherwise] = sides.map(|id| context.find(id));
    if then == otherwise {
        note(context, Construction::Decided);
        return then;
    }
    if let (Some(a), Some(b)) = (as_constant(context, a), as_constant(context, b)) {
        let holds = match test {
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Equal => a == b,
        };
        note(context, Construction::Decided);
        return if holds { then } else { otherwise };
    }
    context.add(Node::new(Op::Cond(test), &[a, b, then, otherwise]))
}

/// A term over scalar parameters, applied component by component to `arguments` of the given shape.
///
/// This is how the derivative of an elementary function, a term of its table, becomes a class.
pub(crate) fn elementwise(
    context: &mut dyn Context,
    term: &Term,
    arguments: &[Id],
    shape: &Extents,
) -> Id {
    let slots = axes(shape.len());
    match term {
        Term::Const(value) => {
            let value = constant(context, *value);
            let product = Product::pointwise(shape, vec![Operand::new(value, [])]);
            contract(context, product)
        }
        Term::Access { param, .. } => arguments[*param],
        Term::Neg(body) => {
            let body = elementwise(context, body, arguments, shape);
            linear(
                context,
                vec![(-Rational::one(), body)],
                shape.clone(),
                false,
            )
        }
        Term::Add(terms) => {
            let terms = terms
                .iter()
                .map(|term| {
                    (
                        Rational::one(),
                        elementwise(context, term, arguments, shape),
                    )
                })
                .collect();
            linear(context, terms, shape.clone(), false)
        }
        Term::Sub(a, b) => {
            let a = elementwise(context, a, arguments, shape);
            let b = elementwise(context, b, arguments, shape);
            linear(
                context,
                vec![(Rational::one(), a), (-Rational::one(), b)],
                shape.clone(),
                false,
            )
        }
        Term::Mul(factors) => {
            let operands = factors
                .iter()
                .map(|factor| {
                    Operand::new(
                        elementwise(context, factor, arguments, shape),
                        slots.clone(),
                    )
                })
                .collect();
            contract(context, Product::pointwise(shape, operands))
        }
        Term::Div(a, b) => {
            let a = elementwise(context, a, arguments, shape);
            let b = elementwise(context, b, arguments, shape);
            let inverse = power(context, b, Power::MINUS_ONE);
            let operands = vec![Operand::new(a, slots.clone()), Operand::new(inverse, slots)];
            contract(context, Product::pointwise(shape, operands))
        }
        Term::Pow(body, exponent) => {
            let body = elementwise(context, body, arguments, shape);
            power(context, body, Power::integer(*exponent))
        }
        Term::Apply(Elementary::Sqrt, inner) => {
            let body = elementwise(context, &inner[0], arguments, shape);
            power(context, body, Power::HALF)
        }
        Term::Apply(function, inner) => {
            let inner: Vec<Id> = inner
                .iter()
                .map(|term| elementwise(context, term, arguments, shape))
                .collect();
            context.add(Node::new(
                Op::Apply(Function::Elementary(*function)),
                &inner,
            ))
        }
        Term::Cond {
            test,
            sides,
            then,
            otherwise,
        } => {
            let parts = [&sides[0], &sides[1], then, otherwise]
                .map(|term| elementwise(context, term, arguments, shape));
            conditional(context, *test, parts)
        }
        Term::Position { .. }
        | Term::Eigen { .. }
        | Term::Delta(..)
        | Term::Epsilon(_)
        | Term::Sum { .. }
        | Term::Deriv { .. }
        | Term::Probe { .. } => {
            unreachable!("the derivative of an elementary function has no index")
        }
    }
}

/// The slots of an operand whose axes are the first labels of a product, all of them.
pub(crate) fn all_axes(shape: &Extents) -> impl Iterator<Item = Slot> + use<> {
    axes(shape.len()).into_iter()
}
