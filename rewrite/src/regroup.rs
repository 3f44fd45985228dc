//! Contractions taken apart: scalars from tensors, and parts that are worth a class of their own.

use crate::{
    arena::{Arena, Mode},
    build::{Context, contract_raw, scaled},
    canon::canonical_interface,
    facts::Leaf,
    log::Left,
    node::{Extents, Node, Op, Slot},
    numbers::{Power, times},
    product::{Operand, Product, axes},
    rules::{ISOLATE_SCALARS, REGROUP_PAIR},
    simplify::{Condition, Conditions},
};
use egg::Id;
use rustc_hash::FxHashMap;

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
pub(crate) fn share_dummy(product: &Product, a: usize, b: usize) -> bool {
    product.operands[a]
        .labels()
        .any(|label| product.is_dummy(label) && product.operands[b].mentions(label))
}

/// The positions of the operands that are tensors.
pub(crate) fn tensor_positions(product: &Product) -> Vec<usize> {
    (0..product.operands.len())
        .filter(|&k| !product.operands[k].is_scalar())
        .collect()
}

/// scalars·tensors = (scalars)·(tensors), both as classes of their own; nothing if that is how it stands.
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
    if scalars == 0 || scalars == product.operands.len() || done {
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

/// Chooses a contraction order for every contraction of `root`, greedily by the cost of each pair.
pub(crate) fn plan(source: &Arena, root: Id, log: bool) -> (Arena, Id) {
    let mut arena = Arena::new(Mode::Source, usize::MAX).logging(log);
    let mut image: FxHashMap<Id, Id> = FxHashMap::default();
    for id in source.reachable(root) {
        let node = source.node(id);
        let children: Vec<Id> = node.children.iter().map(|child| image[child]).collect();
        let planned = match &node.op {
            Op::Contract(spec) => {
                let product = Product::of(spec, &children);
                let law = match tensor_positions(&product).len() {
                    ..=2 => ISOLATE_SCALARS,
                    _ => REGROUP_PAIR,
                };
                let left = || Left::Node(Node::new(node.op.clone(), &children));
                arena.logged(left, Some(law.name), |arena| plan_product(arena, product))
            }
            op => arena.add(Node::new(op.clone(), &children)),
        };
        image.insert(id, planned);
    }
    let root = image[&root];
    (arena, root)
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

/// Joins the cheapest pair of operands until two are left.
fn plan_tensors(arena: &mut Arena, mut product: Product) -> Product {
    while product.operands.len() > 2 {
        let count = product.operands.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let cheapest = pairs
            .filter(|&(a, b)| share_dummy(&product, a, b))
            .min_by_key(|&(a, b)| (pair_cost(arena, &product, a, b), a, b));
        let Some((a, b)) = cheapest else { break };
        match regroup(arena, &product, &[a, b], Conditions(REGROUP)) {
            Some(joined) => product = joined,
            None => break,
        }
    }
    product
}

/// The number of products of components that joining two operands takes.
fn pair_cost(arena: &Arena, product: &Product, a: usize, b: usize) -> u64 {
    let mut labels: Vec<u8> = [a, b]
        .iter()
        .flat_map(|&k| product.operands[k].labels())
        .collect();
    labels.sort_unstable();
    labels.dedup();
    let assignments: u64 = labels
        .iter()
        .map(|&label| u64::from(product.extents[usize::from(label)]))
        .product();
    let has_epsilon = [a, b]
        .iter()
        .any(|&k| arena.facts(product.operands[k].id).leaf == Leaf::Epsilon);
    // Six of the 27 components of ε₃ are not zero.
    if has_epsilon {
        assignments * 6 / 27 + 1
    } else {
        assignments
    }
}
