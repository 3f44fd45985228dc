//! Values and derivatives of fields at a position of a cell (`runtime/src/fem/world.rs`).

use super::{
    super::{
        dialect::{Arithmetic, Op},
        expand::Expander,
    },
    Form, MeshOp, OfMesh,
    times::Between,
};
use crate::{
    ir::{
        Simple,
        fem::{FemField, FemProbe},
        leaf::distinct_derivatives,
    },
    ssa::Value,
};
use runtime::fem::{
    recorded,
    tables::{BLOCK, BlockTraits, Table},
};

/// A position in a cell of a block.
struct Place<'a> {
    mesh: OfMesh<'a>,
    block: &'a BlockTraits,
    number: u8,
    cell: Value,
    /// The position relative to the centre of the reference cell.
    t: Vec<Value>,
    /// For each field over time, where its time is among the frames.
    between: &'a [Option<Between>],
}

/// What derivatives need at a position: the inverse of the Jacobian, and the second derivatives of the map of a curved cell.
struct Slope {
    inverse: Vec<Value>,
    bend: Option<Vec<Value>>,
}

impl Expander {
    /// The derivatives of the wanted orders at a position of a cell.
    pub(super) fn fem_probe(
        &mut self,
        mesh: OfMesh<'_>,
        probe: &FemProbe,
        args: &[Value],
    ) -> Vec<Value> {
        let (cell, reference) = (args[0], &args[1..1 + probe.dim]);
        let times = &args[1 + probe.dim..];
        let is_outside = self.is_negative(cell);
        self.choose(
            is_outside,
            |e| {
                let results = probe.results();
                results
                    .flat_map(|(field, order)| e.outside(field, order))
                    .collect()
            },
            |e| e.inside(mesh, probe, (cell, reference, times)),
        )
    }

    /// What a field is beyond its mesh.
    fn outside(&mut self, field: &FemField, order: usize) -> Vec<Value> {
        match (&field.outside, order) {
            (Some(values), 0) => values.iter().map(|x| self.number(x.get())).collect(),
            (Some(_), _) => vec![self.number(0.0); field.outputs(order)],
            (None, _) => vec![self.number(f64::NAN); field.outputs(order)],
        }
    }

    fn inside(
        &mut self,
        mesh: OfMesh<'_>,
        probe: &FemProbe,
        (cell, reference, times): (Value, &[Value], &[Value]),
    ) -> Vec<Value> {
        let mut times = times.iter();
        let between: Vec<Option<Between>> = (probe.wanted.iter())
            .map(|(field, _)| {
                let time = if field.timed { times.next() } else { None };
                time.map(|&time| self.between(mesh, field.fem, time))
            })
            .collect();
        let blocks = &mesh.traits.mesh.blocks;
        let number = match blocks.len() {
            1 => self.int(0),
            _ => self.load(Form::Byte, (mesh.number, Table::Records), cell, BLOCK),
        };
        let cases: Vec<i64> = (0..blocks.len() as i64).collect();
        self.by_case(number, &cases, &mut |e, case| {
            let block = &blocks[case];
            let centre = e.wide_number(block.element.cell.centre());
            let along = reference.iter().map(|&xi| {
                let xi = e.b.op1(Op::Widen, &[xi]);
                e.wide(Arithmetic::Sub, &[xi, centre])
            });
            let t: Vec<Value> = along.collect();
            let place = Place {
                mesh,
                block,
                number: case as u8,
                cell,
                t: e.padded(t),
                between: &between,
            };
            e.in_block(&place, probe)
        })
    }

    fn in_block(&mut self, place: &Place<'_>, probe: &FemProbe) -> Vec<Value> {
        let highest = probe.results().map(|(_, order)| order).max().unwrap_or(0);
        let block = place.block;
        let straight = |e: &mut Expander| {
            let inverse = match highest {
                // Values need no slope.
                0 => vec![e.wide_number(0.0); 9],
                _ => e.at_centre(place.mesh, place.cell),
            };
            let slope = Slope {
                inverse,
                bend: None,
            };
            e.fields(place, probe, &slope)
        };
        if highest == 0 || block.maps.is_empty() {
            return straight(self);
        }
        let entry = self.curved_entry(place.mesh, place.cell);
        let curved = |e: &mut Expander| {
            let (of, at) = ((place.mesh, block), (place.cell, entry));
            e.by_map(of, at, |e, map, degree| {
                let dim = place.mesh.dim();
                let image = e.image(map, &place.t);
                let jacobian = &image[3..];
                if !block.element.cell.is_simplex() {
                    let at_centre = e.at_centre(place.mesh, place.cell);
                    let tape = recorded::has_collapsed(dim);
                    let has_collapsed = e.repeat(&tape, &[jacobian, &at_centre]);
                    e.b.op(Op::Leave, &has_collapsed);
                }
                let slope = Slope {
                    inverse: e.repeat(&recorded::inverted(dim), &[jacobian]),
                    bend: (highest > 1).then(|| e.bend(map, degree, &place.t)),
                };
                e.fields(place, probe, &slope)
            })
        };
        if !block.has_straight {
            return curved(self);
        }
        let is_straight = self.is_negative(entry);
        self.choose(is_straight, straight, curved)
    }

    /// All that is wanted of all fields.
    fn fields(&mut self, place: &Place<'_>, probe: &FemProbe, slope: &Slope) -> Vec<Value> {
        let mut results = Vec::new();
        for ((field, orders), between) in probe.wanted.iter().zip(place.between) {
            let own: Vec<usize> = orders.iter().collect();
            let of_components = self.field(place, (field, &own), between.as_ref(), slope);
            let mut first = 0;
            for order in orders.iter() {
                let count = distinct_derivatives(field.dim, order).len();
                for own in &of_components {
                    results.extend(&own[first..first + count]);
                }
                first += count;
            }
        }
        results
            .into_iter()
            .map(|x| self.b.op1(Op::Narrow, &[x]))
            .collect()
    }

    /// The derivatives of each component of a field, by order.
    fn field(
        &mut self,
        place: &Place<'_>,
        (field, orders): (&FemField, &[usize]),
        between: Option<&Between>,
        slope: &Slope,
    ) -> Vec<Vec<Value>> {
        let element = place.block.element;
        let is_constant = place.mesh.traits.constants.contains(&field.fem);
        let length = recorded::space_length(element, is_constant);
        let components = field.shape.size();
        let mesh = place.mesh.number;
        let base = self.mesh_op(MeshOp::Base(mesh, field.fem, place.number), &[]);
        let stride = self.int((components * length) as i64);
        let own = self.simple(Simple::IntMul, &[place.cell, stride]);
        let first = self.simple(Simple::IntAdd, &[base, own]);
        let bend = slope
            .bend
            .as_deref()
            .filter(|_| orders.iter().any(|&order| order > 1));
        let tape = recorded::derivatives(
            (element, is_constant),
            orders.iter().copied(),
            bend.is_some(),
        );
        let frames = between.map_or([first; 2], |between| {
            between
                .offsets
                .map(|offset| self.simple(Simple::IntAdd, &[first, offset]))
        });
        let of_component = |n: usize| {
            let values = (mesh, Table::Values(field.fem));
            let mut coefficients = self.loads(values, frames[0], (n * length) as u32, length);
            if let Some(between) = between {
                let later = self.loads(values, frames[1], (n * length) as u32, length);
                for (own, later) in coefficients.iter_mut().zip(later) {
                    *own = self.mixed([*own, later], between);
                }
            }
            let bend = bend.unwrap_or_default();
            self.repeat(&tape, &[&place.t, &slope.inverse, bend, &coefficients])
        };
        (0..components).map(of_component).collect()
    }

    /// A coefficient at a time between two frames, from those in the frames.
    fn mixed(&mut self, coefficients: [Value; 2], between: &Between) -> Value {
        let [before, after] = [0, 1].map(|n| {
            let operands = [coefficients[n], between.weights[n]];
            self.wide(Arithmetic::Mul, &operands)
        });
        self.wide(Arithmetic::Add, &[before, after])
    }
}
