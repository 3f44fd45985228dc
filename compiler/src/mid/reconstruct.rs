//! Reconstruction: probes of leaf fields become probes of images in index space, with the world transforms written out.
//!
//! All derivative orders that a block wants of one field at one position come from one probe. A derivative in the world is
//! that in index space with every derivative axis multiplied by P = M⁻ᵀ, one axis at a time. Fields on one mesh at one position
//! come from one probe as well, in the world already, of the cell that the position is in.

use super::{Mid, Op};
use crate::{
    high::{self, High},
    ir::{
        Orders, Simple,
        fem::{FemField, FemProbe},
        leaf::{ImageInfo, Leaf},
        tensor::{Base, Operator},
    },
    ssa::{Block, Builder, Function, Inst, Kind, Value},
};
use ein_ir::{Ein, Index, Param, Shape, Symmetry, Term, mutants, ops::special};
use std::{collections::BTreeMap, sync::Arc};

/// Translates a normalized function to Mid-IR.
pub fn reconstruct(function: Function<High>) -> Function<Mid> {
    let mut pass = Pass {
        b: Builder::default(),
        values: BTreeMap::new(),
        leaves: BTreeMap::new(),
        probed: BTreeMap::new(),
        wanted: Vec::new(),
    };
    pass.insts(&function.body);
    let yields = pass.all(&function.body.yields);
    pass.b.finish(function.name.clone(), yields)
}

struct Pass {
    b: Builder<Mid>,
    /// The value of Mid-IR for each value of High-IR.
    values: BTreeMap<Value, Value>,
    /// The leaf fields, and the times at which those over time are.
    leaves: BTreeMap<Value, (Leaf, Option<Value>)>,
    /// The tensors that probes brought so far, in the open blocks.
    probed: BTreeMap<Probe, Value>,
    /// For each open block, the orders that are probed, by leaf field and position.
    wanted: Vec<BTreeMap<(Value, Value), Orders>>,
}

/// A probe of a leaf field in normal form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Probe {
    leaf: Value,
    at: Value,
    order: usize,
}

impl Pass {
    fn one(&self, v: Value) -> Value {
        self.values[&v]
    }

    fn all(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|&v| self.one(v)).collect()
    }

    fn insts(&mut self, block: &Block<High>) {
        let mut wanted: BTreeMap<(Value, Value), Orders> = BTreeMap::new();
        for probe in block.insts.iter().filter_map(as_probe) {
            wanted.entry((probe.leaf, probe.at)).or_default().0 |= 1 << probe.order;
        }
        self.wanted.push(wanted);
        for inst in &block.insts {
            self.inst(inst);
        }
        self.wanted.pop();
    }

    fn inst(&mut self, inst: &Inst<High>) {
        if let Some(probe) = as_probe(inst) {
            // The first probe of a field at a position brings all orders that the block wants.
            if !self.probed.contains_key(&probe) {
                self.probe(&probe);
            }
            self.values.insert(inst.results[0], self.probed[&probe]);
            return;
        }
        match &inst.kind {
            Kind::Op(op, args) => self.op(op, args, inst),
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.one(*condition);
                let [then, otherwise] = [then, otherwise].map(|block| self.block(block));
                let results = self.b.if_(condition, then, otherwise);
                self.values
                    .extend(inst.results.iter().copied().zip(results));
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
                let (low, high, init) = (self.one(*low), self.one(*high), self.all(init));
                let open = self.b.begin_for(low, high, *breaks, init);
                self.values.insert(*index, open.index);
                self.values
                    .extend(carried.iter().copied().zip(open.carried.iter().copied()));
                let next = self.body(body);
                let results = self.b.for_(open, next);
                self.values
                    .extend(inst.results.iter().copied().zip(results));
            }
        }
    }

    fn block(&mut self, block: &Block<High>) -> Block<Mid> {
        self.b.open();
        let yields = self.body(block);
        self.b.close(yields)
    }

    /// Translates a block into the one that is open; gives its yields.
    fn body(&mut self, block: &Block<High>) -> Vec<Value> {
        // Tensors that the block probes are not available after it.
        let before = self.probed.clone();
        self.insts(block);
        self.probed = before;
        self.all(&block.yields)
    }

    fn op(&mut self, op: &high::Op, args: &[Value], inst: &Inst<High>) {
        let results = match op {
            high::Op::Base(base) => {
                let args = self.all(args);
                self.b.op(Op::Base(base.clone()), &args)
            }
            high::Op::Ein(operator) => {
                let args = self.all(args);
                self.b.op(Op::Ein(operator.clone()), &args)
            }
            high::Op::Field(field) => {
                let time = args.first().map(|&time| self.one(time));
                self.leaves.insert(inst.results[0], (field.clone(), time));
                return;
            }
            high::Op::Inside { image, supports } => {
                let at = self.one(args[0]);
                vec![self.inside(*image, supports, at)]
            }
            high::Op::Variable(_) | high::Op::Defined | high::Op::Derivative(_) => {
                unreachable!("`{op}` after the stage `derive`")
            }
        };
        self.values
            .extend(inst.results.iter().copied().zip(results));
    }

    /// Emits the probe that serves all orders wanted here of this field at this position.
    fn probe(&mut self, probe: &Probe) {
        let (field, time) = match self.leaves[&probe.leaf].clone() {
            (Leaf::Convolution(field), time) => (field, time),
            (Leaf::Fem(field), _) => return self.fem_probe(&field, probe.at),
        };
        let wanted = self.wanted.last().expect("a block is open");
        let orders = wanted[&(probe.leaf, probe.at)];
        let dim = field.dim();
        let at = self.one(probe.at);
        let at = self.b.op1(Op::ToIndex(field.image, dim as u8), &[at]);
        let place: Vec<Value> = [at].into_iter().chain(time).collect();
        let found = self.b.op(Op::Probe(field.clone(), orders), &place);
        for (order, mut tensor) in orders.iter().zip(found) {
            if order > 0 {
                let to_world = self.b.op1(Op::Gradient(field.image, dim as u8), &[]);
                for done in 0..order {
                    let step = world_axis(&field.shape, dim, order, done);
                    tensor = self.b.op1(Op::Ein(Arc::new(step)), &[tensor, to_world]);
                }
            }
            self.probed.insert(Probe { order, ..*probe }, tensor);
        }
    }

    /// Emits the probe that serves all fields on a mesh and all orders wanted here at this position.
    fn fem_probe(&mut self, first: &FemField, at: Value) {
        let (mesh, dim) = (first.mesh, first.dim);
        let wanted = self.wanted.last().expect("a block is open");
        let on_mesh =
            |(&(leaf, position), &orders): (&(Value, Value), &Orders)| match self.leaves.get(&leaf)
            {
                Some((Leaf::Fem(field), time)) if field.mesh == mesh && position == at => {
                    Some((leaf, field.clone(), orders, *time))
                }
                _ => None,
            };
        let fields: Vec<_> = wanted.iter().filter_map(on_mesh).collect();
        let position = self.one(at);
        let mut place = self
            .b
            .op(Op::Base(Base::Locate(mesh, dim as u8)), &[position]);
        place.extend(fields.iter().filter_map(|(.., time)| *time));
        let all = FemProbe {
            mesh,
            dim,
            wanted: fields
                .iter()
                .map(|(_, field, orders, _)| (field.clone(), *orders))
                .collect(),
        };
        let mut found = self.b.op(Op::FemProbe(Arc::new(all)), &place).into_iter();
        for (leaf, _, orders, _) in fields {
            for order in orders.iter() {
                let tensor = found.next().expect("a result for every field and order");
                self.probed.insert(Probe { leaf, at, order }, tensor);
            }
        }
    }

    fn inside(&mut self, image: u32, supports: &[u8], at: Value) -> Value {
        let dim = supports.len() as u8;
        let at = self.b.op1(Op::ToIndex(image, dim), &[at]);
        let simple = |pass: &mut Self, op: Simple, args: &[Value]| {
            pass.b.op1(Op::Base(Base::Simple(op)), args)
        };
        let mut all = self.b.op1(Op::Base(Base::Bool(true)), &[]);
        for (axis, &support) in (0..dim).zip(supports) {
            let x = if dim == 1 {
                at
            } else {
                let param = Param::Tensor(Shape::new([usize::from(dim)]));
                let part = special::slice(param, &[Some(usize::from(axis))]);
                self.b.op1(Op::Ein(Arc::new(part.into())), &[at])
            };
            let low = Base::Tensor(Shape::SCALAR, vec![(f64::from(support) - 1.0).into()]);
            let low = self.b.op1(Op::Base(low), &[]);
            let size = self
                .b
                .op1(Op::Base(Base::Image(image, ImageInfo::Size(axis))), &[]);
            let margin = self.b.op1(Op::Base(Base::Int(i64::from(support))), &[]);
            let high = simple(self, Simple::IntSub, &[size, margin]);
            let high = simple(self, Simple::ToReal, &[high]);
            for bounds in [[low, x], [x, high]] {
                let holds = simple(self, Simple::Less, &bounds);
                all = simple(self, Simple::And, &[all, holds]);
            }
        }
        all
    }
}

/// A probe in normal form: `∂…∂ F[axes] @ x` with all axes free.
fn as_probe(inst: &Inst<High>) -> Option<Probe> {
    let Kind::Op(high::Op::Ein(operator), args) = &inst.kind else {
        return None;
    };
    let Term::Probe { field, at } = &operator.ein.body else {
        return None;
    };
    let mut order = 0;
    let mut inner = &**field;
    while let Term::Deriv { body, .. } = inner {
        order += 1;
        inner = body;
    }
    let (Term::Access { param: leaf, .. }, Some(Term::Access { param: at, .. })) =
        (inner, at.first())
    else {
        panic!("a probe that is not in normal form: {}", operator.ein)
    };
    Some(Probe {
        leaf: args[*leaf],
        at: args[*at],
        order,
    })
}

/// Multiplies the last derivative axis by P and puts the new axis in front of the derivative axes. After `done` such steps
/// the first `done` derivative axes belong to the world; they are symmetric among themselves, and so are the others.
fn world_axis(shape: &Shape, dim: usize, order: usize, done: usize) -> Operator {
    let voxel = shape.order();
    let axes = shape.append(&vec![dim; order]);
    let params = vec![
        Param::Tensor(axes.clone()),
        Param::Tensor(Shape::new([dim, dim])),
    ];
    if dim == 1 {
        let tensor = Term::Access {
            param: 0,
            indices: (0..voxel).map(Index::Axis).collect(),
        };
        let scale = Term::Access {
            param: 1,
            indices: vec![],
        };
        let ein = Ein {
            params,
            axes: axes.dims().to_vec(),
            body: Term::Mul(vec![tensor, scale]),
        };
        return ein.into();
    }
    let kept = (0..voxel).chain(voxel + 1..voxel + order).map(Index::Axis);
    let tensor = Term::Access {
        param: 0,
        indices: kept.chain([Index::Bound(0)]).collect(),
    };
    let matrix = Term::Access {
        param: 1,
        indices: vec![Index::Axis(voxel), Index::Bound(0)],
    };
    let factors = mutants::carried_to_the_world([tensor, matrix], axes.dims() == [dim, dim]);
    let body = Term::Sum {
        binder: 0,
        range: dim,
        body: Box::new(Term::Mul(factors)),
    };
    let groups = [voxel..voxel + done + 1, voxel + done + 1..voxel + order];
    let symmetric = groups
        .into_iter()
        .map(Iterator::collect)
        .filter(|g: &Vec<usize>| g.len() > 1)
        .collect();
    Operator {
        ein: Ein {
            params,
            axes: axes.dims().to_vec(),
            body,
        },
        symmetry: Symmetry {
            symmetric,
            ..Symmetry::default()
        },
    }
}
