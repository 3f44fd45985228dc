//! Values and derivatives in the world at a position of a cell.
//!
//! With `K = J⁻¹`: `u,i = û,a K_ai` and `u,ij = (û,ab − u,l T_l,ab) K_ai K_bj`. In affine cells the map has no second derivatives, and an
//! order is `û,a…c K_ai … K_ck`. Beyond order 2, curved cells go through series.

use super::invert::{Matrix, inverse};
use super::polynomial::{Powers, Space};
use super::series::{InverseJacobian, Series};
use super::{FemValues, Mesh, NONE};
use crate::probe::{MAX_ORDER, multi_indices};

/// Components of a full tensor of derivatives of the highest order in three dimensions.
const FULL: usize = 3_usize.pow(MAX_ORDER as u32);

/// How many distinct derivatives an order has.
pub(super) const fn distinct(dim: usize, order: usize) -> usize {
    match dim {
        2 => order + 1,
        _ => (order + 1) * (order + 2) / 2,
    }
}

/// A position in a cell, and what all fields need there.
pub(super) struct Place<'m> {
    mesh: &'m Mesh,
    cell: u32,
    t: [f64; 3],
    k: Matrix,
    powers: Option<Powers>,
    /// Second derivatives of the map of a curved cell, by world axis, and the inverse of its Jacobian as series.
    bend: Option<[[f64; 6]; 3]>,
    series: Option<Box<InverseJacobian>>,
    highest: usize,
}

impl<'m> Place<'m> {
    /// A position, for derivatives up to an order.
    #[inline(always)]
    pub(super) fn new(mesh: &'m Mesh, cell: u32, xi: &[f64; 3], highest: usize) -> Place<'m> {
        let record = &mesh.records[cell as usize];
        let kind = mesh.blocks[record.block as usize].element.cell;
        let mut t = xi.map(|x| x - kind.centre());
        t[mesh.dim..].fill(0.0);
        let mut place = Place {
            mesh,
            cell,
            t,
            k: record.inverse,
            powers: None,
            bend: None,
            series: None,
            highest,
        };
        if record.curved != NONE && highest > 0 {
            place.k = inverse(&mesh.map_of(cell).image(&t).1, mesh.dim);
        }
        if highest > 1 {
            place.prepare(record.curved != NONE);
        }
        place
    }

    #[inline(never)]
    fn prepare(&mut self, curved: bool) {
        let powers = Powers::new(&self.t, self.highest);
        let dim = self.mesh.dim;
        if curved {
            let map = self.mesh.map_of(self.cell);
            let mut bend = [[0.0; 6]; 3];
            let axes = map.coefficients.chunks_exact(map.space.len());
            for (row, c) in bend.iter_mut().zip(axes.clone()) {
                for (b, counts) in row.iter_mut().zip(multi_indices(dim, 2)) {
                    *b = map.space.derivative(c, &powers, counts);
                }
            }
            self.bend = Some(bend);
            if self.highest > 2 {
                let map: Vec<Series> = axes
                    .map(|c| Series::expand(map.space, c, &powers, self.highest))
                    .collect();
                self.series = Some(Box::new(InverseJacobian::new(&map)));
            }
        }
        self.powers = Some(powers);
    }

    /// Gives the derivatives of the wanted orders, by order, then component, then distinct derivative: place and number.
    #[inline(always)]
    pub(super) fn evaluate(
        &self,
        values: &FemValues,
        orders: u32,
        mut give: impl FnMut(usize, f64),
    ) {
        let (dim, components) = (self.mesh.dim, values.components);
        let (space, coefficients) = values.of_cell(self.mesh, self.cell);
        let second = (orders & 1) as usize * components;
        for (n, c) in coefficients.chunks_exact(space.len()).enumerate() {
            let (value, g) = space.value_and_gradient(c, &self.t);
            if orders & 1 == 1 {
                give(n, value);
            }
            if orders < 2 {
                continue;
            }
            let k = &self.k;
            let gradient: [f64; 3] =
                std::array::from_fn(|i| g[0] * k[0][i] + g[1] * k[1][i] + g[2] * k[2][i]);
            let mut first = second;
            if orders & 2 == 2 {
                for (i, d) in gradient.iter().enumerate().take(dim) {
                    give(first + n * dim + i, *d);
                }
                first += components * dim;
            }
            if orders >= 4 {
                self.higher(space, c, &gradient, orders, n, components, first, &mut give);
            }
        }
    }

    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "the innermost parts of one loop")]
    fn higher(
        &self,
        space: &Space,
        c: &[f64],
        gradient: &[f64; 3],
        orders: u32,
        component: usize,
        components: usize,
        mut first: usize,
        give: &mut impl FnMut(usize, f64),
    ) {
        let dim = self.mesh.dim;
        let powers = self
            .powers
            .as_ref()
            .expect("powers were prepared for higher orders");
        let expansion = self
            .series
            .as_ref()
            .map(|_| Series::expand(space, c, powers, self.highest));
        for order in (2..self.highest + 1).filter(|order| orders >> order & 1 == 1) {
            let count = distinct(dim, order);
            let mut at = first + component * count;
            first += components * count;
            match (&self.series, &expansion) {
                (Some(series), Some(u)) if order > 2 => series.derivatives(u, order, |d| {
                    give(at, d);
                    at += 1;
                }),
                _ => {
                    let mut reference = [0.0; (MAX_ORDER + 1) * (MAX_ORDER + 2) / 2];
                    for (n, counts) in multi_indices(dim, order).enumerate() {
                        reference[n] = space.derivative(c, powers, counts);
                    }
                    if let Some(bend) = &self.bend {
                        for (n, r) in reference.iter_mut().enumerate().take(count) {
                            *r -= (0..dim).map(|l| gradient[l] * bend[l][n]).sum::<f64>();
                        }
                    }
                    carry(&reference, &self.k, dim, order, |d| {
                        give(at, d);
                        at += 1;
                    });
                }
            }
        }
    }
}

/// Carries reference derivatives to the world: every axis is multiplied by K, one at a time.
fn carry(reference: &[f64], k: &Matrix, dim: usize, order: usize, mut give: impl FnMut(f64)) {
    let full = dim.pow(order as u32);
    let place = |mut index: usize| {
        let mut counts = [0; 3];
        for _ in 0..order {
            counts[index % dim] += 1;
            index /= dim;
        }
        let rest = counts[1] + counts[2];
        if dim == 2 {
            rest
        } else {
            rest * (rest + 1) / 2 + counts[2]
        }
    };
    let mut small = [0.0; 81];
    let mut large;
    let from: &mut [f64] = if full <= small.len() {
        &mut small[..full]
    } else {
        large = [0.0; FULL];
        &mut large[..full]
    };
    for (index, x) in from.iter_mut().enumerate() {
        *x = reference[place(index)];
    }
    let mut stride = 1;
    for _ in 0..order {
        for base in (0..full).filter(|n| n / stride % dim == 0) {
            let old: [f64; 3] = std::array::from_fn(|a| {
                if a < dim {
                    from[base + a * stride]
                } else {
                    0.0
                }
            });
            for i in 0..dim {
                from[base + i * stride] = (0..dim).map(|a| old[a] * k[a][i]).sum();
            }
        }
        stride *= dim;
    }
    for counts in multi_indices(dim, order) {
        // Digits in ascending order from the most significant: any order gives the same number, to rounding.
        let mut index = 0;
        for (axis, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                index = index * dim + axis;
            }
        }
        give(from[index]);
    }
}
