//! Values of products and of all nodes of a graph, by the reference evaluator.

use super::random::{World, close};
use crate::{
    arena::Arena,
    build::Context,
    class::Facts,
    egraph::{Graph, nodes_of},
    meaning::definition,
    node::{Node, Op, Slot},
    product::Product,
};
use egg::Id;
use ein_ir::{
    Input, Param, Shape, Tensor,
    ops::special,
    region::{Def, Region, ValueId},
};
use rustc_hash::FxHashMap;

/// What a class is as a parameter.
fn kind(facts: &Facts) -> Param {
    let shape = Shape::new(facts.shape.iter().map(|&n| n as usize));
    match facts.dim {
        0 => Param::Tensor(shape),
        dim => Param::Field {
            dim: dim.into(),
            shape,
        },
    }
}

/// The region that computes `roots`, one definition per node.
pub(super) fn region_of(arena: &Arena, roots: &[Id], inputs: &[Param]) -> Region {
    let mut region = Region {
        inputs: inputs.to_vec(),
        ..Region::default()
    };
    let mut values: FxHashMap<Id, ValueId> = FxHashMap::default();
    for &root in roots {
        for id in arena.reachable(root) {
            if values.contains_key(&id) {
                continue;
            }
            let node = arena.node(id);
            let value = match node.op {
                Op::Tensor { input, .. } => ValueId(input),
                _ => {
                    let children: Vec<Param> = node
                        .children
                        .iter()
                        .map(|&child| kind(arena.facts(child)))
                        .collect();
                    let args = node.children.iter().map(|child| values[child]).collect();
                    region.defs.push(definition(
                        node,
                        &kind(arena.facts(id)),
                        children,
                        args,
                        inputs,
                    ));
                    ValueId(inputs.len() + region.defs.len() - 1)
                }
            };
            values.insert(id, value);
        }
    }
    region.roots = roots.iter().map(|root| values[root]).collect();
    region
}

/// The components of a product of constant classes, by brute force over all assignments of its labels.
pub(super) fn product_value(world: &World, product: &Product) -> Vec<f64> {
    let ids: Vec<Id> = product.operands.iter().map(|operand| operand.id).collect();
    let region = region_of(&world.arena, &ids, &world.inputs);
    let tensors = region.eval(&world.given());
    let shape = Shape::new(product.extents.iter().map(|&n| n as usize));
    let results = Shape::new(product.shape().iter().map(|&n| n as usize));
    let mut value = vec![0.0; results.size()];
    for labels in shape.indices() {
        let mut term = ein_ir::rational::to_f64(product.coefficient);
        for (operand, tensor) in product.operands.iter().zip(&tensors) {
            let index: Vec<usize> = operand
                .slots
                .iter()
                .map(|slot| match *slot {
                    Slot::Fixed(component) => component as usize,
                    Slot::Label(label) => labels[usize::from(label)],
                })
                .collect();
            let exponent = operand.power.halves() as f64 / 2.0;
            let component = *tensor.at(&index);
            term *= if operand.power.is_one() {
                component
            } else {
                component.powf(exponent)
            };
        }
        value[results.offset(&labels[..product.results])] += term;
    }
    value
}

/// Evaluates every node of a graph from the values of its children's classes and compares it with its class; gives the
/// number of nodes that were compared, or the first that differs.
pub(super) fn audit(graph: &Graph, world: &World) -> Result<usize, String> {
    let mut all: Vec<(Id, Node)> = Vec::new();
    for class in graph.classes() {
        let id = graph.find(class.id);
        all.extend(nodes_of(graph, id).into_iter().map(|node| (id, node)));
    }
    all.retain(|(_, node)| node.op != Op::Tuple);
    all.sort_unstable();

    // Two positions at which fields are compared.
    let mut inputs = world.inputs.clone();
    let mut given: Vec<Input> = world.given();
    let positions = [[0.31, -0.42], [-0.27, 0.18]];
    for position in positions {
        inputs.push(Param::Tensor(Shape::new([2])));
        given.push(Input::Tensor(Tensor::new(
            Shape::new([2]),
            position.to_vec(),
        )));
    }
    let mut region = Region {
        inputs: inputs.clone(),
        ..Region::default()
    };
    let mut values: FxHashMap<Id, (ValueId, Param)> = FxHashMap::default();
    let mut compared: Vec<(Id, String)> = Vec::new();
    let push = |region: &mut Region, def: Def| {
        region.defs.push(def);
        ValueId(inputs.len() + region.defs.len() - 1)
    };
    while !all.is_empty() {
        let before = all.len();
        let mut rest = Vec::new();
        for (id, node) in all {
            if !node.children.iter().all(|child| values.contains_key(child)) {
                rest.push((id, node));
                continue;
            }
            let (args, children): (Vec<ValueId>, Vec<Param>) = node
                .children
                .iter()
                .map(|child| values[child].clone())
                .unzip();
            let shape = graph[id].data.shape.clone();
            let depends = children.iter().filter_map(Param::dim).max();
            let dim = match &node.op {
                Op::Field { dim, .. } | Op::Position { dim } => Some(usize::from(*dim)),
                Op::Probe if children[0].dim().is_none() => None,
                Op::Probe => children[1].dim(),
                _ => depends,
            };
            let mut facts = graph[id].data.clone();
            facts.shape = shape;
            facts.dim = dim.unwrap_or(0) as u8;
            let result = kind(&facts);
            let def = definition(&node, &result, children, args, &world.inputs);
            let result = def.op.result();
            let value = push(&mut region, def);
            values.entry(id).or_insert((value, result.clone()));
            compared.push((id, format!("{node} in class {id}")));
            for k in 0..positions.len() {
                let root = match result {
                    Param::Tensor(_) => value,
                    Param::Field { .. } => {
                        let position = ValueId(world.inputs.len() + k);
                        let op = special::probe(result.clone(), inputs[position.0].clone());
                        let args = vec![value, position];
                        push(&mut region, Def { op, args })
                    }
                };
                region.roots.push(root);
            }
        }
        all = rest;
        if all.len() == before {
            return Err(format!("{} nodes cannot be reached", all.len()));
        }
    }
    let found = region.eval(&given);
    let mut classes: FxHashMap<Id, &[Tensor<f64>]> = FxHashMap::default();
    for ((id, name), values) in compared.iter().zip(found.chunks(positions.len())) {
        let known = classes.entry(*id).or_insert(values);
        for (x, y) in known.iter().zip(values) {
            let comparable = x
                .components()
                .iter()
                .chain(y.components())
                .all(|v| v.is_finite() && v.abs() < 1e6);
            if comparable && !close(x.components(), y.components()) {
                return Err(format!(
                    "{name}: {:?} is not {:?}",
                    y.components(),
                    x.components()
                ));
            }
        }
    }
    Ok(compared.len())
}
