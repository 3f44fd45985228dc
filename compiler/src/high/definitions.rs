//! The definitions of a program as regions: what `explain` explains.

use super::{High, Op, literal::literal, translate::translate_with_names};
use crate::{
    front::typed::tree,
    ir::tensor::{Operator, Ty},
    ssa::{Block, Function, Kind, Value},
};
use ein_ir::{
    Param, Shape,
    ops::special,
    region::{Def, Region, ValueId},
};
use std::{collections::BTreeMap, sync::Arc};

/// A tensor or field defined in the source.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// How it is computed, with all it is made of; its only root. A field is probed at a position, the last input.
    pub region: Region,
}

/// The definitions of a program that are computed from something, in order of first appearance.
pub fn definitions(program: &tree::Program) -> Vec<Definition> {
    let (translated, names) = translate_with_names(program, false);
    let mut found: Vec<Definition> = Vec::new();
    for named in names {
        let function = translated
            .function(named.role)
            .expect("the function of a definition");
        let region = region(function, named.value);
        let is_computed = region.defs.iter().any(|def| !def.op.params.is_empty());
        // Fields are defined anew in every function that may use them.
        if is_computed && found.iter().all(|d| d.name != named.name) {
            found.push(Definition {
                name: named.name,
                region,
            });
        }
    }
    found
}

/// Who computes which value of a function.
type Makers = BTreeMap<Value, (Arc<Operator>, Vec<Value>)>;

fn makers(block: &Block<High>, found: &mut Makers) {
    for inst in &block.insts {
        match &inst.kind {
            Kind::Op(Op::Ein(operator), args) => {
                found.insert(inst.results[0], (operator.clone(), args.clone()));
            }
            Kind::Op(Op::Base(base), _) => {
                let number = literal(base).map(|ein| (Arc::new(ein.into()), Vec::new()));
                found.extend(number.map(|made| (inst.results[0], made)));
            }
            _ => {}
        }
        inst.kind
            .blocks()
            .into_iter()
            .for_each(|b| makers(b, found));
    }
}

fn region(function: &Function<High>, value: Value) -> Region {
    let mut made = Makers::new();
    makers(&function.body, &mut made);
    let mut order = Vec::new();
    visit(value, &made, &mut order);
    let (defined, mut inputs): (Vec<Value>, Vec<Value>) =
        order.into_iter().partition(|v| made.contains_key(v));
    inputs.sort();
    let mut params: Vec<Param> = inputs.iter().map(|&v| param(function.type_of(v))).collect();
    let field = match function.type_of(value) {
        Ty::Field { dim, .. } => Some(*dim),
        _ => None,
    };
    // The position of a field comes last among the inputs.
    params.extend(field.map(|dim| Param::Tensor(Shape::new([dim]))));
    let count = params.len();
    let mut number: BTreeMap<Value, ValueId> = inputs
        .iter()
        .enumerate()
        .map(|(n, &v)| (v, ValueId(n)))
        .collect();
    let mut defs = Vec::new();
    for v in defined {
        let (operator, args) = &made[&v];
        defs.push(Def {
            op: operator.ein.clone(),
            args: args.iter().map(|a| number[a]).collect(),
        });
        number.insert(v, ValueId(count + defs.len() - 1));
    }
    let mut root = number[&value];
    if field.is_some() {
        let position = ValueId(count - 1);
        let probe = special::probe(param(function.type_of(value)), params[count - 1].clone());
        defs.push(Def {
            op: probe,
            args: vec![root, position],
        });
        root = ValueId(count + defs.len() - 1);
    }
    Region {
        inputs: params,
        defs,
        roots: vec![root],
    }
}

/// What a value needs, before itself.
fn visit(v: Value, made: &Makers, order: &mut Vec<Value>) {
    if order.contains(&v) {
        return;
    }
    if let Some((_, args)) = made.get(&v) {
        args.iter().for_each(|&arg| visit(arg, made, order));
    }
    order.push(v);
}

fn param(ty: &Ty) -> Param {
    match ty {
        Ty::Tensor(shape) => Param::Tensor(shape.clone()),
        Ty::Field { dim, shape } => Param::Field {
            dim: *dim,
            shape: shape.clone(),
        },
        other => panic!("{other} under an EIN operator"),
    }
}
