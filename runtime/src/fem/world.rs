//! Values and derivatives in the world at a position of a cell.
//!
//! With `K = J⁻¹`: `u,i = û,a K_ai` and `u,ij = (û,ab − u,l T_l,ab) K_ai K_bj`. In affine cells the map has no second derivatives, and an
//! order is `û,a…c K_ai … K_ck`. Beyond order 2, curved cells go through series.

use super::element::MAX_NODES;
use super::field::{Between, mixed};
use super::invert::{Image, Map, Matrix, inverse};
use super::number::Number;
use super::polynomial::{AllPowers, Space, simple};
use super::series::{InverseJacobian, Series};
use super::{FemValues, Mesh, NONE, mutants};
use crate::derivatives::{MAX_ORDER, multi_indices};

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
pub(super) struct CellPosition<'m> {
    mesh: &'m Mesh,
    cell: u32,
    t: [f64; 3],
    /// Where derivatives are taken: there as well, unless the cell has collapsed there and has none.
    slope_at: [f64; 3],
    k: Matrix,
}

/// Where a step of unit length along a reference axis is shorter than this part of one at the centre, the cell has collapsed.
const COLLAPSED: f64 = 1.0 / (1 << 26) as f64;

/// The largest part of the way to the centre by which a position is moved for its derivatives.
const FARTHEST: f64 = 1.0 / (1 << 8) as f64;

/// What second and higher derivatives need besides.
pub(super) struct Higher {
    highest: usize,
    powers: AllPowers,
    /// Second derivatives of the map of a curved cell, by world axis, and the inverse of its Jacobian as series.
    bend: Option<[[f64; 6]; 3]>,
    series: Option<Box<InverseJacobian>>,
}

impl<'m> CellPosition<'m> {
    /// A position, for values alone or for derivatives too.
    #[inline(always)]
    pub(super) fn new(
        mesh: &'m Mesh,
        cell: u32,
        xi: &[f64; 3],
        derivatives: bool,
    ) -> CellPosition<'m> {
        let record = &mesh.records[cell as usize];
        let mut t = xi.map(|x| x - record.kind.centre());
        t[mesh.dim..].fill(0.0);
        let (mut k, mut slope_at) = (record.inverse, t);
        if record.curved != NONE && derivatives {
            let map = mesh.map_of(cell);
            let mut jacobian = map.image(&t).1;
            if !record.kind.is_simplex() && map.has_collapsed(&jacobian) {
                (slope_at, jacobian) = beside(&map, &t, &jacobian);
            }
            k = inverse(&jacobian, mesh.dim);
        }
        CellPosition {
            mesh,
            cell,
            t,
            slope_at,
            k,
        }
    }

    /// What derivatives up to an order of at least 2 need here.
    #[inline(never)]
    pub(super) fn prepare(&self, highest: usize) -> Higher {
        let mut higher = Higher {
            highest,
            powers: AllPowers::new(&self.slope_at),
            bend: None,
            series: None,
        };
        let dim = self.mesh.dim;
        if self.mesh.records[self.cell as usize].curved != NONE {
            let map = self.mesh.map_of(self.cell);
            let mut bend = [[0.0; 6]; 3];
            for (n, counts) in multi_indices(dim, 2).enumerate() {
                let second = map
                    .space
                    .derivative(map.coefficients, &higher.powers, counts);
                (0..3).for_each(|i| bend[i][n] = second.0[i]);
            }
            higher.bend = Some(mutants::bend(bend));
            if highest > 2 {
                let map: Vec<Series> = (0..dim)
                    .map(|i| Series::expand(map.space, &map.along(i), &higher.powers, highest))
                    .collect();
                higher.series = Some(Box::new(InverseJacobian::new(&map)));
            }
        }
        higher
    }

    /// Gives the derivatives of the wanted orders, by order, then component, then distinct derivative: place and number.
    #[inline(always)]
    pub(super) fn evaluate(
        &self,
        values: &FemValues,
        between: Option<&Between>,
        orders: u32,
        higher: Option<&Higher>,
        mut give: impl FnMut(usize, f64),
    ) {
        let frame = between.map_or(0, |between| between.before);
        let (space, coefficients) = values.of_cell(self.mesh, self.cell, frame);
        let components = coefficients.chunks_exact(space.len()).enumerate();
        let Some(between) = between else {
            for (n, c) in components {
                let of = (n, values.components);
                self.component((space, c), of, orders, higher, &mut give);
            }
            return;
        };
        let (_, later) = values.of_cell(self.mesh, self.cell, between.after);
        let mut own = [0.0; MAX_NODES];
        for ((n, c), later) in components.zip(later.chunks_exact(space.len())) {
            for ((own, a), b) in own.iter_mut().zip(c).zip(later) {
                *own = mixed(*a, *b, between.fraction);
            }
            let (c, of) = (&own[..space.len()], (n, values.components));
            self.component((space, c), of, orders, higher, &mut give);
        }
    }

    /// The same for one of the components.
    #[inline(always)]
    fn component(
        &self,
        (space, c): (&Space, &[f64]),
        (n, components): (usize, usize),
        orders: u32,
        higher: Option<&Higher>,
        give: &mut impl FnMut(usize, f64),
    ) {
        let dim = self.mesh.dim;
        let (value, gradient) = space.value_and_gradient(c, &self.t);
        if orders & 1 == 1 {
            give(n, value);
        }
        if orders < 2 {
            return;
        }
        let gradient = match self.slope_at == self.t {
            true => gradient,
            false => space.value_and_gradient(c, &self.slope_at).1,
        };
        let gradient = in_world(&self.k, &gradient);
        let mut first = (orders & 1) as usize * components;
        if orders & 2 == 2 {
            for (i, d) in gradient.iter().enumerate().take(dim) {
                give(first + n * dim + i, *d);
            }
            first += components * dim;
        }
        if let Some(higher) = higher
            && orders >= 4
        {
            let at = (first, n, components);
            self.higher(higher, (space, c), &gradient, orders, at, give);
        }
    }

    /// Value and gradient of a polynomial of degree 1 or 2.
    #[inline(always)]
    pub(super) fn simple<const N: usize>(&self, c: &[f64; N]) -> (f64, [f64; 3]) {
        let (value, gradient) = simple(c, &self.t);
        (value, in_world(&self.k, &gradient))
    }

    #[inline(never)]
    fn higher(
        &self,
        higher: &Higher,
        (space, c): (&Space, &[f64]),
        gradient: &[f64; 3],
        orders: u32,
        (mut first, component, components): (usize, usize, usize),
        give: &mut impl FnMut(usize, f64),
    ) {
        let dim = self.mesh.dim;
        let powers = &higher.powers;
        let expansion = higher
            .series
            .as_ref()
            .map(|_| Series::expand(space, c, powers, higher.highest));
        for order in (2..higher.highest + 1).filter(|order| orders >> order & 1 == 1) {
            let count = distinct(dim, order);
            let mut at = first + component * count;
            first += components * count;
            match (&higher.series, &expansion) {
                (Some(series), Some(u)) if order > 2 => series.derivatives(u, order, |d| {
                    give(at, d);
                    at += 1;
                }),
                _ => {
                    let polynomial = (space, c, powers);
                    let bend = higher.bend.as_ref().map(|bend| (bend, gradient));
                    of_order(polynomial, bend, &self.k, (dim, order), |d| {
                        give(at, d);
                        at += 1;
                    });
                }
            }
        }
    }
}

/// The derivatives of an order in the world: those of a polynomial along reference axes, with the second derivatives of the map of a
/// curved cell and the gradient in the world, carried there.
pub(super) fn of_order<S: Number>(
    (space, c, powers): (&Space, &[S], &AllPowers<S>),
    bend: Option<(&[[S; 6]; 3], &[S; 3])>,
    k: &Matrix<S>,
    (dim, order): (usize, usize),
    give: impl FnMut(S),
) {
    let count = distinct(dim, order);
    let mut reference = [S::constant(0.0); (MAX_ORDER + 1) * (MAX_ORDER + 2) / 2];
    for (n, counts) in multi_indices(dim, order).enumerate() {
        reference[n] = space.derivative(c, powers, counts);
    }
    if let Some((bend, gradient)) = bend {
        for (n, r) in reference.iter_mut().enumerate().take(count) {
            // Adding to −0 is doing nothing.
            let along = (0..dim).fold(S::constant(-0.0), |sum, l| sum + gradient[l] * bend[l][n]);
            *r = *r - along;
        }
    }
    carry(&reference, k, dim, order, give);
}

/// Where derivatives of a position are taken in a cell that has collapsed there, and the Jacobian: so near to it that they are their limit
/// along a line from the centre, to half of the digits in most cells.
#[cold]
fn beside(map: &Map<'_>, t: &[f64; 3], jacobian: &Matrix) -> ([f64; 3], Matrix) {
    let (mut at, mut j, mut part) = (*t, *jacobian, COLLAPSED);
    while map.shortest_step(&j) < COLLAPSED && part <= FARTHEST {
        at = t.map(|t| t * (1.0 - part));
        j = map.image(&at).1;
        part *= 2.0;
    }
    (at, j)
}

/// Carries a gradient to the world.
#[inline(always)]
pub(super) fn in_world<S: Number>(k: &Matrix<S>, g: &[S; 3]) -> [S; 3] {
    let k = mutants::to_world(k);
    [
        g[0] * k[0][0] + g[1] * k[1][0] + g[2] * k[2][0],
        g[0] * k[0][1] + g[1] * k[1][1] + g[2] * k[2][1],
        g[0] * k[0][2] + g[1] * k[1][2] + g[2] * k[2][2],
    ]
}

/// Carries reference derivatives to the world: every axis is multiplied by K, one at a time.
fn carry<S: Number>(
    reference: &[S],
    k: &Matrix<S>,
    dim: usize,
    order: usize,
    mut give: impl FnMut(S),
) {
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
    let zero = S::constant(0.0);
    let mut small = [zero; 81];
    let mut large;
    let from: &mut [S] = if full <= small.len() {
        &mut small[..full]
    } else {
        large = [zero; FULL];
        &mut large[..full]
    };
    for (index, x) in from.iter_mut().enumerate() {
        *x = reference[place(index)];
    }
    let mut stride = 1;
    for _ in 0..order {
        for base in (0..full).filter(|n| n / stride % dim == 0) {
            let old: [S; 3] = std::array::from_fn(|a| {
                if a < dim {
                    from[base + a * stride]
                } else {
                    zero
                }
            });
            for i in 0..dim {
                // Adding to −0 is doing nothing.
                let all = (0..dim).map(|a| old[a] * k[a][i]);
                from[base + i * stride] = all.fold(S::constant(-0.0), |sum, x| sum + x);
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
