//! Contractions taken apart: scalars from tensors, and parts that are worth a class of their own.

use crate::{
    arena::{Arena, Mode},
    build::{Context, contract_raw, scaled},
    canon::canonical_interface,
    class::Leaf,
    log::Left,
    node::{Extents, Node, Op, Slot, Slots},
    numbers::{Power, times},
    product::{Operand, Product, axes},
    rules::{ISOLATE_SCALARS, REGROUP_PAIR},
    simplify::{Condition, Conditions},
    sparsity::{Contributions, is_symbol},
};
use egg::{Id, Language};
use ein_ir::Rational;
use num_traits::{One, Signed};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The side condition of [`regroup`].
pub(crate) const REGROUP: &[Condition] = &[Condition::Private];

/// Replaces the selected operands by one class, their contraction over the dummies that occur nowhere else.
///
/// The axes of that class are in canonical order, so that the same part found in two places is the same class. Nothing
/// if the part is zero or a coefficient is not representable.
pub(crate) fn regroup(
    context: &mut dyn Context,
    product: &Product,
    selected: &[usize],
    conditions: Conditions,
) -> Option<Product> {
    let inside = |label: u8| {
        selected
            .iter()
            .any(|&k| product.operands[k].mentions(label))
    };
    let outside = |label: u8| {
        let mut others = (0..product.operands.len()).filter(|k| !selected.contains(k));
        others.any(|k| product.operands[k].mentions(label))
    };
    let labels = 0..product.extents.len() as u8;
    let private = |label: u8| product.is_dummy(label) && !outside(label);
    let hidden = |label: u8| {
        private(label) || product.is_dummy(label) && conditions.allow(Condition::Private, false)
    };
    let kept: Vec<u8> = labels
        .filter(|&label| inside(label) && !hidden(label))
        .collect();

    let mut open = product.part(selected, &kept);
    open.results = 0;
    let form = canonical_interface(&open, (1 << kept.len()) - 1, |id| context.facts(id));
    if form.zero {
        return None;
    }
    let mut order: Vec<usize> = (0..kept.len()).collect();
    order.sort_by_key(|&k| form.renamed[k]);
    let kept: Vec<u8> = order.into_iter().map(|k| kept[k]).collect();

    let (coefficient, part) = contract_raw(context, &product.part(selected, &kept));
    if context.facts(part).zero {
        return None;
    }
    let mut result = product.clone();
    let mut positions = selected.to_vec();
    positions.sort_unstable();
    for &k in positions.iter().rev() {
        result.operands.remove(k);
    }
    let slots = kept.iter().map(|&label| Slot::Label(label));
    result.operands.push(Operand::new(part, slots));
    result.coefficient = times(result.coefficient, coefficient)?;
    result.delete_dummies_of(product, selected);
    Some(result)
}

/// Whether two operands share an index that is summed over.
fn share_dummy(product: &Product, a: usize, b: usize) -> bool {
    product.operands[a]
        .labels()
        .any(|label| product.is_dummy(label) && product.operands[b].mentions(label))
}

/// Positions of operands, in order.
pub(crate) type Part = SmallVec<[usize; 3]>;

/// The parts of a product that may be worth a class of their own: two tensors that share an index that is summed over. An ε
/// that would be left with more than one open index comes with two tensors: ε·b alone is a matrix that is half zeros.
pub(crate) fn parts(context: &dyn Context, product: &Product) -> Vec<Part> {
    let tensors = tensor_positions(product);
    let is_epsilon = |k: &usize| context.facts(product.operands[*k].id).leaf == Leaf::Epsilon;
    let is_spread = |part: &Part| {
        let is_open = |label: u8| {
            let outside = |k: usize| !part.contains(&k) && product.operands[k].mentions(label);
            !product.is_dummy(label) || (0..product.operands.len()).any(outside)
        };
        part.iter().filter(|k| is_epsilon(k)).any(|&epsilon| {
            let open = product.operands[epsilon].labels().filter(|l| is_open(*l));
            open.count() > 1
        })
    };
    let mut parts: Vec<Part> = Vec::new();
    for (n, &a) in tensors.iter().enumerate() {
        for &b in &tensors[n + 1..] {
            if !share_dummy(product, a, b) {
                continue;
            }
            let pair = Part::from_slice(&[a, b]);
            if !is_spread(&pair) {
                parts.push(pair);
                continue;
            }
            for &c in &tensors {
                let mut triple = pair.clone();
                triple.push(c);
                triple.sort_unstable();
                if !pair.contains(&c)
                    && pair.iter().any(|&k| share_dummy(product, k, c))
                    && !is_spread(&triple)
                    && !parts.contains(&triple)
                {
                    parts.push(triple);
                }
            }
        }
    }
    parts
}

/// The positions of the operands that are tensors.
pub(crate) fn tensor_positions(product: &Product) -> Vec<usize> {
    (0..product.operands.len())
        .filter(|&k| !product.operands[k].is_scalar())
        .collect()
}

/// scalars·tensors = (scalars)·(tensors), both as classes of their own; nothing if that is how it stands, or if the tensors
/// are δ and ε, which only say where the scalar goes.
pub(crate) fn isolate_scalars(context: &mut dyn Context, product: &Product) -> Option<Id> {
    let scalars = product
        .operands
        .iter()
        .filter(|operand| operand.is_scalar())
        .count();
    let done = scalars == 1
        && product.operands.len() == 2
        && product.extents.len() == product.results
        && product
            .operands
            .iter()
            .all(|operand| operand.power.is_one());
    let mut tensors = product.operands.iter().filter(|o| !o.is_scalar());
    let placed = tensors.all(|operand| is_symbol(context.facts(operand.id)));
    if scalars == 0 || placed || done {
        return None;
    }
    let mut scalar = Product::pointwise(&Extents::new(), product.operands.clone());
    scalar.operands.retain(Operand::is_scalar);
    let mut tensor = product.clone();
    tensor.operands.retain(|operand| !operand.is_scalar());
    let (scalar_coefficient, scalar) = contract_raw(context, &scalar);
    let (tensor_coefficient, tensor) = contract_raw(context, &tensor);
    let shape = product.shape();
    let operands = vec![
        Operand::scalar(scalar, Power::ONE),
        Operand::new(tensor, axes(product.results)),
    ];
    let mut whole = Product::pointwise(&shape, operands);
    whole.coefficient = times(scalar_coefficient, tensor_coefficient)?;
    let whole = contract_raw(context, &whole);
    Some(scaled(context, whole))
}

/// Whether a product is one of scalars and tensors.
pub(crate) fn has_scalar_part(product: &Product) -> bool {
    let scalars = product.operands.iter().filter(|o| o.is_scalar()).count();
    scalars > 0 && scalars < product.operands.len()
}

/// c·(s·A) as (c·s)·A.
pub(crate) fn scale_scalar_part(
    context: &mut dyn Context,
    coefficient: Rational,
    product: &Product,
) -> Option<Id> {
    let mut scalar = Product::pointwise(&Extents::new(), product.operands.clone());
    scalar.operands.retain(Operand::is_scalar);
    let (own, scalar) = contract_raw(context, &scalar);
    let scalar = scaled(context, (times(coefficient, own)?, scalar));
    let mut whole = product.clone();
    whole.operands.retain(|operand| !operand.is_scalar());
    whole.operands.push(Operand::scalar(scalar, Power::ONE));
    let whole = contract_raw(context, &whole);
    Some(scaled(context, whole))
}

/// Chooses a contraction order for every contraction of `root`, greedily by the cost of each part.
pub(crate) fn plan(source: &Arena, root: Id, log: bool) -> (Arena, Id) {
    let is_tensor = |(slots, _): &&(Slots, Power)| !slots.is_empty();
    let law = |node: &Node| match &node.op {
        Op::Contract(spec) if spec.operands.iter().filter(is_tensor).count() > 2 => {
            REGROUP_PAIR.name
        }
        _ => ISOLATE_SCALARS.name,
    };
    rebuild(source, root, log, law, |arena, node| match &node.op {
        Op::Contract(spec) => plan_product(arena, Product::of(spec, &node.children)),
        _ => arena.add(node.clone()),
    })
}

/// The same with the coefficients of sums at the scalars of their terms, where they are multiplied once:
/// c·(s·A) = (c·s)·A. Nothing if no sum has such a term.
pub(crate) fn scale_scalars(source: &Arena, root: Id, log: bool) -> Option<(Arena, Id)> {
    let has_scaled = |id: Id| {
        let node = source.node(id);
        let Op::Sum(coefficients) = &node.op else {
            return false;
        };
        let is_scaled = |(&coefficient, &child): (&Rational, &Id)| {
            is_factor(coefficient, coefficients.len())
                && source
                    .contraction(child)
                    .is_some_and(|product| has_scalar_part(&product))
        };
        coefficients.iter().zip(&node.children).any(is_scaled)
    };
    if !source.reachable(root).into_iter().any(has_scaled) {
        return None;
    }
    let law = |_: &Node| ISOLATE_SCALARS.name;
    let scaled = rebuild(source, root, log, law, |arena, node| match node.terms() {
        Some(terms) => scale_terms(arena, terms),
        None => arena.add(node.clone()),
    });
    Some(scaled)
}

/// Whether a coefficient in a sum of this many terms is multiplied with.
fn is_factor(coefficient: Rational, terms: usize) -> bool {
    terms == 1 || coefficient.abs() != Rational::one()
}

/// An arena with the images of what `root` is made of, each from a node over images by that law.
fn rebuild(
    source: &Arena,
    root: Id,
    log: bool,
    law: impl Fn(&Node) -> &'static str,
    image_of: impl Fn(&mut Arena, &Node) -> Id,
) -> (Arena, Id) {
    let mut arena = Arena::new(Mode::Source, usize::MAX).logging(log);
    let mut image: FxHashMap<Id, Id> = FxHashMap::default();
    for id in source.reachable(root) {
        let node = source.node(id).clone().map_children(|child| image[&child]);
        let left = || Left::Node(node.clone());
        let built = arena.logged(left, Some(law(&node)), |arena| image_of(arena, &node));
        arena.learn(built, source.facts(id).symmetries());
        image.insert(id, built);
    }
    let root = image[&root];
    (arena, root)
}

fn scale_terms(arena: &mut Arena, terms: Vec<(Rational, Id)>) -> Id {
    let count = terms.len();
    let mut planned = Vec::with_capacity(count);
    for (coefficient, id) in terms {
        let product = arena.contraction(id).filter(has_scalar_part);
        let scaled = match product {
            Some(product) if is_factor(coefficient, count) => {
                scale_scalar_part(arena, coefficient, &product)
            }
            _ => None,
        };
        planned.push(scaled.map_or((id, coefficient), |id| (id, Rational::one())));
    }
    match planned[..] {
        [(id, coefficient)] if coefficient.is_one() => id,
        _ => arena.add(Node::sum(planned)),
    }
}

fn plan_product(arena: &mut Arena, product: Product) -> Id {
    let mut tensors = product.clone();
    tensors.operands.retain(|operand| !operand.is_scalar());
    let mut whole = plan_tensors(arena, tensors);
    whole
        .operands
        .extend(product.operands.into_iter().filter(Operand::is_scalar));
    isolate_scalars(arena, &whole).unwrap_or_else(|| {
        let class = contract_raw(arena, &whole);
        scaled(arena, class)
    })
}

/// Joins the cheapest part until it is the whole.
fn plan_tensors(arena: &mut Arena, mut product: Product) -> Product {
    while product.operands.len() > 2 {
        let cheapest = parts(arena, &product)
            .into_iter()
            .min_by_key(|part| (part_cost(arena, &product, part), part.clone()));
        let Some(part) = cheapest.filter(|part| part.len() < product.operands.len()) else {
            break;
        };
        match regroup(arena, &product, &part, Conditions(REGROUP)) {
            Some(joined) => product = joined,
            None => break,
        }
    }
    product
}

/// The number of products of components that joining a part takes, or of components for ε and one other.
fn part_cost(arena: &Arena, product: &Product, part: &Part) -> u64 {
    let mut labels: Vec<u8> = part
        .iter()
        .flat_map(|&k| product.operands[k].labels())
        .collect();
    labels.sort_unstable();
    labels.dedup();
    let joined = product.part(part, &labels);
    let facts = |operand: &Operand| arena.facts(operand.id);
    let operands = joined.operands.iter();
    let contributions = Contributions::new(
        joined.results,
        &joined.extents,
        operands.map(|operand| (facts(operand), &operand.slots)),
    );
    let factors = joined.operands.iter().filter(|o| !is_symbol(facts(o)));
    let products = u64::max(factors.count() as u64, 2) - 1;
    contributions
        .total(&joined.extents)
        .saturating_mul(products)
}
