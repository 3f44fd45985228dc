//! The arithmetic of locations and probes, recorded for machines that the primitives are not compiled for.
//!
//! The recordings are of the functions that the primitives call, so both do the same operations in the same order. Positions and
//! matrices have three axes everywhere; in the plane the third is zero. Control flow is for the machine to repeat: which recording
//! is next follows from the results of one, as `locate.rs` and `invert.rs` have it.

use super::cell::CellKind;
use super::collapsed::is_nothing;
use super::element::Element;
use super::invert::{
    CLOSE, CURVED, Matrix, NEWTON_STEPS, QUICK_STEPS, ROUNDING, SMALL, TRIES, apply, inverse,
    minus, quick_step, second_step,
};
use super::locate::{CLEAR_IF_MILD, FAR, NEAR_ESTIMATE, STEPS, by_distances, by_slopes, steepest};
use super::number::Number;
use super::polynomial::{AllPowers, Planes, Space};
use super::world::{distinct, in_world, of_order};
use crate::derivatives::multi_indices;
use crate::simd::trace::{self, Recorded, Tape, Truth};

/// The longest walk.
pub const LONGEST_WALK: i64 = STEPS as i64;
/// Below this value of a constraint, a lookup in the index is faster than the walk.
pub const FAR_AWAY: f64 = FAR;
/// A curved cell whose curvature is at most this is mild.
pub const MILD: f64 = CURVED;
/// The most steps of the iteration in mild cells, beyond the first two.
pub const MILD_STEPS: i64 = QUICK_STEPS as i64;
/// The highest estimate of a curved cell that is too far away, in units of the constraint that holds in straight cells.
pub const TOO_FAR: f64 = NEAR_ESTIMATE;
/// The least constraint of a mild cell that holds, in the same units.
pub const CLEAR: f64 = CLEAR_IF_MILD;

type Traced = trace::Traced<f64>;

/// A result.
#[derive(Clone, Copy)]
enum Any {
    Number(Traced),
    Truth(Truth),
}

impl From<Traced> for Any {
    fn from(number: Traced) -> Any {
        Any::Number(number)
    }
}

impl From<Truth> for Any {
    fn from(truth: Truth) -> Any {
        Any::Truth(truth)
    }
}

impl Recorded for Any {
    fn step(self) -> usize {
        match self {
            Any::Number(number) => number.step(),
            Any::Truth(truth) => truth.step(),
        }
    }
}

/// Arguments or results that are taken one after the other.
struct Given<'a>(&'a [Traced]);

impl Given<'_> {
    fn one(&mut self) -> Traced {
        let (first, rest) = self.0.split_first().expect("an argument");
        self.0 = rest;
        *first
    }

    fn vector(&mut self) -> [Traced; 3] {
        std::array::from_fn(|_| self.one())
    }

    fn matrix(&mut self) -> Matrix<Traced> {
        std::array::from_fn(|_| self.vector())
    }

    fn planes(&mut self, count: usize) -> Vec<Planes<Traced>> {
        (0..count).map(|_| Planes(self.vector())).collect()
    }
}

fn numbers(all: impl IntoIterator<Item = Traced>) -> Vec<Any> {
    all.into_iter().map(Any::from).collect()
}

fn flat(m: Matrix<Traced>) -> impl Iterator<Item = Traced> {
    m.into_iter().flatten()
}

fn recorded(arguments: usize, work: impl FnOnce(&mut Given<'_>) -> Vec<Any>) -> Tape {
    trace::tape::<f64, Any>(arguments, |given| work(&mut Given(given)))
}

/// The affine estimate of a reference position: from the position relative to the centre (3), the inverse of the Jacobian there (9) and a margin,
/// the estimate (3), the constraint that is least, and its value with the margin.
pub fn estimate(kind: CellKind) -> Tape {
    recorded(13, |given| {
        let (off, inverse, margin) = (given.vector(), given.matrix(), given.one());
        let centre = Traced::constant(kind.centre());
        let xi = apply(&inverse, &off).map(|t| t + centre);
        let (face, least) = kind.least_with(&xi, margin);
        numbers(xi.into_iter().chain([face, least]))
    })
}

/// From a reference position (3), the constraint that is least, and its value.
pub fn least(kind: CellKind) -> Tape {
    recorded(3, |given| {
        let margin = Traced::constant(-0.0);
        let (face, least) = kind.least_with(&given.vector(), margin);
        numbers([face, least])
    })
}

/// From a reference position (3), the inverse of the Jacobian (9) and the tolerance, whether the cell holds the position, and whether
/// it is within the tolerance.
pub fn slopes(kind: CellKind) -> Tape {
    recorded(13, |given| {
        let (xi, inverse, theta) = (given.vector(), given.matrix(), given.one());
        let (holds, near) = by_slopes(kind, &xi, &inverse, theta);
        vec![holds.into(), near.into()]
    })
}

/// The same of a simplex from its corners (3 each), the position (3) and the tolerance.
pub fn distances(kind: CellKind) -> Tape {
    let count = kind.corners();
    recorded(3 * count + 4, |given| {
        let corners: Vec<[Traced; 3]> = (0..count).map(|_| given.vector()).collect();
        let (x, theta) = (given.vector(), given.one());
        let (holds, near) = by_distances(kind, &corners, &x, theta);
        vec![holds.into(), near.into()]
    })
}

/// From the inverse of a Jacobian (9), what no constraint is steeper than.
pub fn steepness() -> Tape {
    recorded(9, |given| numbers([steepest(&given.matrix())]))
}

/// The product of a matrix (9) and a vector (3).
pub fn product() -> Tape {
    recorded(12, |given| {
        let (matrix, vector) = (given.matrix(), given.vector());
        numbers(apply(&matrix, &vector))
    })
}

/// The inverse of a matrix (9).
pub fn inverted(dim: usize) -> Tape {
    recorded(9, |given| numbers(flat(inverse(&given.matrix(), dim))))
}

/// From a Jacobian (9) and the inverse of that at the centre (9), whether the cell has collapsed there.
pub fn has_collapsed(dim: usize) -> Tape {
    recorded(18, |given| {
        let (jacobian, at_centre) = (given.matrix(), given.matrix());
        vec![is_nothing(dim, &jacobian, &at_centre).into()]
    })
}

/// The number of coefficients of the map of a curved cell, along each axis of the world.
pub fn map_length(element: &Element, degree: usize) -> usize {
    element.maps()[degree].len()
}

/// The map of a curved cell: from a position relative to the centre of the reference cell (3) and the coefficients (3 each), the image (3) and
/// the Jacobian (9).
pub fn image(element: &Element, degree: usize) -> Tape {
    let space = element.maps()[degree];
    recorded(3 + 3 * space.len(), |given| {
        let t = given.vector();
        let coefficients = given.planes(space.len());
        let (at, columns) = space.value_and_gradient(&coefficients, &t);
        let jacobian = Planes::by_world_axis(columns);
        numbers(at.0.into_iter().chain(flat(jacobian)))
    })
}

/// The second derivatives of the map of a curved cell, from the same: those of each axis of the world.
pub fn bend(element: &Element, degree: usize) -> Tape {
    let (space, dim) = (element.maps()[degree], element.cell.dim());
    recorded(3 + 3 * space.len(), |given| {
        let powers = AllPowers::new(&given.vector());
        let coefficients = given.planes(space.len());
        let second = multi_indices(dim, 2);
        let second: Vec<[Traced; 3]> = second
            .map(|counts| space.derivative(&coefficients, &powers, counts).0)
            .collect();
        let along = |axis: usize| second.iter().map(move |s| s[axis]);
        numbers((0..dim).flat_map(along))
    })
}

/// The second step of the iteration in mild cells: from the position in the world relative to the centre (3), the inverse of the Jacobian
/// there (9), the position after the first step (3) and its image (3), the next position (3).
pub fn second() -> Tape {
    recorded(18, |given| {
        let (x, at_centre) = (given.vector(), given.matrix());
        let (t, at) = (given.vector(), given.vector());
        numbers(second_step((&x, &at_centre), &t, &at))
    })
}

/// A further step: from the position in the world (3), the curvature, the last position (3), its image (3) and the Jacobian (9), the next
/// position (3), whether the step was short, and whether it was the last.
pub fn further(dim: usize) -> Tape {
    recorded(19, |given| {
        let (x, curvature, t) = (given.vector(), given.one(), given.vector());
        let (at, jacobian) = (given.vector(), given.matrix());
        let (t, short, ended) = quick_step(dim, (&x, curvature), &t, (&at, &jacobian));
        let mut all = numbers(t);
        all.extend([Any::from(short), ended.into()]);
        all
    })
}

/// The polynomials of an element, or those of values that belong to cells as a whole.
pub fn space_length(element: &Element, is_constant: bool) -> usize {
    if is_constant {
        return 1;
    }
    element.basis().space.len()
}

/// The derivatives of a component in the world: from the position relative to the centre of the reference cell (3), the inverse of the Jacobian
/// (9), the second derivatives of the map if the cell is curved and such are wanted, and the coefficients, those of the wanted orders.
pub fn derivatives(
    (element, is_constant): (&Element, bool),
    orders: impl Iterator<Item = usize>,
    is_bent: bool,
) -> Tape {
    let dim = element.cell.dim();
    let constant = Space::total(dim, 0);
    let space = match is_constant {
        true => &constant,
        false => &element.basis().space,
    };
    let second = if is_bent { distinct(dim, 2) } else { 0 };
    recorded(12 + dim * second + space.len(), |given| {
        let (t, k) = (given.vector(), given.matrix());
        let zero = Traced::constant(0.0);
        let mut bend = [[zero; 6]; 3];
        for along in &mut bend[..dim] {
            (0..second).for_each(|n| along[n] = given.one());
        }
        let c = given.0;
        let (value, gradient) = space.value_and_gradient(c, &t);
        let gradient = in_world(&k, &gradient);
        let powers = AllPowers::new(&t);
        let mut all = Vec::new();
        for order in orders {
            match order {
                0 => all.push(value),
                1 => all.extend(&gradient[..dim]),
                _ => {
                    let bend = is_bent.then_some((&bend, &gradient));
                    let polynomial = (space, c, &powers);
                    of_order(polynomial, bend, &k, (dim, order), |d| all.push(d));
                }
            }
        }
        numbers(all)
    })
}

/// The distance of an image (3) from a position (3), by the inverse of the Jacobian at the centre (9), squared.
pub fn error() -> Tape {
    recorded(15, |given| {
        let (at, x, at_centre) = (given.vector(), given.vector(), given.matrix());
        let off = apply(&at_centre, &minus(&x, &at));
        numbers([off[0] * off[0] + off[1] * off[1] + off[2] * off[2]])
    })
}

/// Newton's iteration in cells that are not mild: how close, squared, an image has to be for the nearest one to count.
pub const CLOSE_SQUARED: f64 = CLOSE * CLOSE;
/// Steps below this are small.
pub const SMALL_STEP: f64 = SMALL;
/// Steps below this are rounding.
pub const ROUNDED_STEP: f64 = ROUNDING;
/// The most steps.
pub const MOST_STEPS: i64 = NEWTON_STEPS as i64;
/// How often each is tried, half as long every time.
pub const MOST_TRIES: i64 = TRIES as i64;
