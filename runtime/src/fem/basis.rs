//! Basis polynomials in exact fractions, and what follows from them: the matrices that take nodal values to coefficients.
//!
//! Coefficients belong to powers of `t = ξ − centre`, ordered by total degree and within a degree like derivatives of a probe:
//! `1 x y z xx xy xz yy yz zz …`. Powers about the centre are small, so little is lost to cancellation.

#![allow(
    clippy::needless_range_loop,
    reason = "axes and terms index several arrays at once"
)]

use super::cell::CellKind;
use super::element::{Element, Family};
use super::polynomial::{MAX_DEGREE, Space};
use num_rational::Ratio;
use std::collections::BTreeMap;

type Fraction = Ratio<i128>;

/// A polynomial in `t`, by exponents.
type Exact = BTreeMap<[u8; 3], Fraction>;

/// The basis of an element in numbers.
#[derive(Debug)]
pub struct Basis {
    /// The monomials.
    pub(super) space: Space,
    /// Coefficient of a monomial per unit of a nodal value, by monomial, then node.
    to_coefficients: Vec<f64>,
    /// Bernstein coefficients per unit of a nodal value, by coefficient, then node. They bound a polynomial on the cell.
    to_bernstein: Vec<f64>,
    nodes: usize,
}

impl Basis {
    pub(super) fn new(element: &Element, nodes: &[[u8; 3]]) -> Basis {
        let (dim, degree) = (element.cell.dim(), element.degree);
        let space = match element.cell {
            CellKind::Triangle | CellKind::Tetrahedron => Space::total(dim, degree),
            CellKind::Quadrilateral | CellKind::Hexahedron => Space::tensor(dim, degree),
            CellKind::Wedge => Space::prism(degree),
        };
        let exact: Vec<Exact> = nodes.iter().map(|node| polynomial(element, node)).collect();
        let mut to_coefficients = Vec::new();
        for exponents in space.exponents() {
            to_coefficients.extend(exact.iter().map(|p| p.get(exponents).map_or(0.0, to_f64)));
        }
        let to_bernstein = bernstein(element, &space, &exact);
        Basis {
            space,
            to_coefficients,
            to_bernstein,
            nodes: nodes.len(),
        }
    }

    /// The coefficients of the polynomial with these nodal values. The mean is taken out first: it would cost digits.
    pub(super) fn coefficients(&self, nodal: &[f64], out: &mut [f64]) {
        let mean = nodal.iter().sum::<f64>() / nodal.len() as f64;
        let rows = self.to_coefficients.chunks_exact(self.nodes);
        for (out, row) in out.iter_mut().zip(rows) {
            *out = row.iter().zip(nodal).map(|(c, u)| c * (u - mean)).sum();
        }
        out[0] += mean;
    }

    /// Numbers that bound the polynomial with these nodal values on the cell from both sides, to rounding.
    pub(super) fn bounds(&self, nodal: &[f64]) -> impl Iterator<Item = f64> {
        self.to_bernstein
            .chunks_exact(self.nodes)
            .map(move |row| row.iter().zip(nodal).map(|(c, u)| c * u).sum())
    }
}

fn fraction(n: i128, d: i128) -> Fraction {
    Ratio::new(n, d)
}

/// Numerators and denominators of the table are below 2⁵³, so the quotient is rounded once.
fn to_f64(q: &Fraction) -> f64 {
    *q.numer() as f64 / *q.denom() as f64
}

/// `constant + slope · ξ` as a polynomial in `t`.
fn linear(cell: CellKind, constant: Fraction, slope: [i128; 3]) -> Exact {
    let centre = match cell {
        CellKind::Triangle | CellKind::Wedge => fraction(1, 3),
        CellKind::Tetrahedron => fraction(1, 4),
        CellKind::Quadrilateral | CellKind::Hexahedron => fraction(1, 2),
    };
    let at_centre = constant + centre * slope.iter().sum::<i128>();
    let mut form = Exact::from([([0; 3], at_centre)]);
    for axis in (0..3).filter(|&axis| slope[axis] != 0) {
        let mut power = [0; 3];
        power[axis] = 1;
        form.insert(power, slope[axis].into());
    }
    form
}

fn times(a: &Exact, b: &Exact) -> Exact {
    let mut product = Exact::new();
    for (p, x) in a {
        for (q, y) in b {
            let powers = std::array::from_fn(|axis| p[axis] + q[axis]);
            *product.entry(powers).or_insert_with(|| 0.into()) += x * y;
        }
    }
    product
}

fn unit(axis: usize, by: i128) -> [i128; 3] {
    let mut slope = [0; 3];
    slope[axis] = by;
    slope
}

/// The basis polynomial of a node.
fn polynomial(element: &Element, node: &[u8; 3]) -> Exact {
    let (cell, k, dim) = (element.cell, element.degree as i128, element.cell.dim());
    let mut product = Exact::from([([0; 3], 1.into())]);
    let mut factor = |constant: Fraction, slope: [i128; 3], scale: Fraction| {
        product = times(&product, &linear(cell, constant, slope));
        product.values_mut().for_each(|c| *c *= scale);
    };
    // The axes of a simplex, and those along which the cell is an interval.
    let (simplex, intervals) = match cell {
        CellKind::Triangle | CellKind::Tetrahedron => (0..dim, dim..dim),
        CellKind::Quadrilateral | CellKind::Hexahedron => (0..0, 0..dim),
        CellKind::Wedge => (0..2, 2..3),
    };
    match (element.family, cell) {
        (Family::Lagrange, _) => {
            // Barycentric coordinates; the first is 1 − Σξ.
            let own = &node[simplex.clone()];
            let rest: i128 = own.iter().map(|&i| i128::from(i)).sum();
            let mut all = [0; 3];
            all[simplex.clone()].fill(-k);
            for m in 0..if simplex.is_empty() { 0 } else { k - rest } {
                factor((k - m).into(), all, fraction(1, m + 1));
            }
            for axis in simplex {
                for m in 0..i128::from(node[axis]) {
                    factor((-m).into(), unit(axis, k), fraction(1, m + 1));
                }
            }
            for axis in intervals {
                let own = i128::from(node[axis]);
                for m in (0..k + 1).filter(|&m| m != own) {
                    factor((-m).into(), unit(axis, k), fraction(1, own - m));
                }
            }
        }
        (Family::Serendipity, CellKind::Wedge) => {
            // Barycentric coordinates by their constants and slopes, and how much of each a node has.
            let forms = [(1, [-1, -1, 0]), (0, [1, 0, 0]), (0, [0, 1, 0])];
            let parts = [2 - node[0] - node[1], node[0], node[1]];
            for (&(constant, slope), _) in forms.iter().zip(parts).filter(|(_, part)| *part > 0) {
                factor(constant.into(), slope, 1.into());
            }
            let (down, up) = ((1, [0, 0, -1]), (0, [0, 0, 1]));
            let vertical = match node[2] {
                0 => vec![down],
                1 => vec![down, up],
                _ => vec![up],
            };
            for (constant, slope) in vertical {
                factor(constant.into(), slope, 1.into());
            }
            match parts.iter().position(|&part| part == 2) {
                // A corner: also where the middles of its edges are.
                Some(own) if node[2] != 1 => {
                    let (constant, [r, s, _]) = forms[own];
                    let (below, along) = if node[2] == 0 { (-1, -2) } else { (-3, 2) };
                    let slope = [2 * r, 2 * s, along];
                    factor((2 * constant + below).into(), slope, 1.into());
                }
                _ => factor(4.into(), [0; 3], 1.into()),
            }
        }
        (Family::Serendipity, _) => {
            // In coordinates from −1 to 1, where the node is a corner or the middle of an edge.
            let side = |axis: usize| i128::from(node[axis]) - 1;
            for axis in 0..dim {
                if side(axis) == 0 {
                    factor(0.into(), unit(axis, 2), 1.into());
                    factor(2.into(), unit(axis, -2), 1.into());
                } else {
                    let constant = 1 - side(axis);
                    factor(constant.into(), unit(axis, 2 * side(axis)), fraction(1, 2));
                }
            }
            if (0..dim).all(|axis| side(axis) != 0) {
                let slope = std::array::from_fn(|axis| if axis < dim { 2 * side(axis) } else { 0 });
                let sides: i128 = (0..dim).map(side).sum();
                let constant = -sides - (dim as i128 - 1);
                factor(constant.into(), slope, 1.into());
            }
        }
    }
    product
}

/// The matrix from nodal values to Bernstein coefficients of the element's space, whose lattice points are its exponents.
fn bernstein(element: &Element, space: &Space, exact: &[Exact]) -> Vec<f64> {
    let (cell, k, dim) = (element.cell, element.degree, element.cell.dim());
    let points: Vec<[f64; 3]> = space
        .exponents()
        .iter()
        .map(|e| e.map(|i| f64::from(i) / k as f64))
        .collect();
    let choose = |n: usize, r: usize| {
        (0..r)
            .map(|i| (n - i) as f64 / (i + 1) as f64)
            .product::<f64>()
    };
    let value = |e: &[u8; 3], at: &[f64; 3]| -> f64 {
        let power = |x: f64, n: usize| x.powi(n as i32);
        let over_simplex = |dim: usize| {
            let mut left = k;
            let mut product = 1.0;
            for axis in 0..dim {
                let n = usize::from(e[axis]);
                product *= choose(left, n) * power(at[axis], n);
                left -= n;
            }
            product * power(1.0 - at[..dim].iter().sum::<f64>(), left)
        };
        let along = |axis: usize| {
            let n = usize::from(e[axis]);
            choose(k, n) * power(at[axis], n) * power(1.0 - at[axis], k - n)
        };
        match cell {
            CellKind::Triangle | CellKind::Tetrahedron => over_simplex(dim),
            CellKind::Quadrilateral | CellKind::Hexahedron => (0..dim).map(along).product(),
            CellKind::Wedge => over_simplex(2) * along(2),
        }
    };
    let size = points.len();
    let mut matrix: Vec<Vec<f64>> = points
        .iter()
        .map(|at| {
            let at_node = |p: &Exact| {
                let t = at.map(|x| x - cell.centre());
                let term = |(e, c): (&[u8; 3], &Fraction)| {
                    to_f64(c) * (0..dim).map(|a| t[a].powi(e[a].into())).product::<f64>()
                };
                p.iter().map(term).sum::<f64>()
            };
            let left = space.exponents().iter().map(|e| value(e, at));
            left.chain(exact.iter().map(at_node)).collect()
        })
        .collect();
    eliminate(&mut matrix);
    matrix.iter().flat_map(|row| row[size..].to_vec()).collect()
}

/// Gauss–Jordan elimination of the square part of a matrix.
fn eliminate(rows: &mut [Vec<f64>]) {
    for column in 0..rows.len() {
        let largest =
            |a: &usize, b: &usize| rows[*a][column].abs().total_cmp(&rows[*b][column].abs());
        let pivot = (column..rows.len()).max_by(largest).expect("a row is left");
        rows.swap(column, pivot);
        let scale = rows[column][column];
        rows[column].iter_mut().for_each(|x| *x /= scale);
        let own = rows[column].clone();
        for (n, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if n != column && factor != 0.0 {
                row.iter_mut().zip(&own).for_each(|(x, o)| *x -= factor * o);
            }
        }
    }
}

const _: () = assert!(MAX_DEGREE >= 4, "the table has elements of degree 4");
