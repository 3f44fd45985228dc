//! The cell of a position: a walk from a hint or from the index; near faces the rule over all cells of the bin.

use super::cell::CellKind;
use super::invert::{Image, Inverse, Map, Matrix, apply, inverse, sum_of_products};
use super::number::Number;
use super::{AFTER_MAP, Mesh, NONE, Record, mutants};
use crate::simd::Real;
use std::sync::atomic::Ordering::Relaxed;

/// The longest walk.
pub(super) const STEPS: u8 = 64;

/// Below this value of a constraint, the cell is so far away that a lookup in the index is faster than the walk.
pub(super) const FAR: f64 = -4.0;

/// The highest estimate of a curved cell that is too far away, in units of the constraint that holds in straight cells.
pub(super) const NEAR_ESTIMATE: f64 = 4.0;

/// The least constraint of a mild cell that holds, in the same units.
pub(super) const CLEAR_IF_MILD: f64 = 8.0;

/// Cells of a list whose records are prefetched.
const PREFETCHED: usize = 128;

/// Cache lines that are prefetched before the map of a curved cell is inverted: quadratic maps in space have this many.
const MAP_LINES: usize = 5;

/// The cell of a position and the position in its reference cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The cell, by its number in the mesh.
    pub cell: u32,
    /// The reference position.
    pub reference: [f64; 3],
}

/// What one cell says of a position.
enum Verdict {
    /// Inside by more than twice the tolerance.
    Holds([f64; 3]),
    /// Within the tolerance of all faces.
    Near([f64; 3]),
    /// Beyond a face, and the value of its constraint.
    Beyond(usize, f64),
}

/// How steep a constraint is in the world.
pub(super) fn slope<S: Number>(kind: CellKind, constraint: usize, inverse: &Matrix<S>) -> S {
    let g = kind.gradient(constraint).map(S::constant);
    let along = |i: usize| g[0] * inverse[0][i] + g[1] * inverse[1][i] + g[2] * inverse[2][i];
    let [x, y, z] = [along(0), along(1), along(2)];
    (x * x + y * y + z * z).root()
}

/// What no constraint is steeper than.
pub(super) fn steepest<S: Number>(inverse: &Matrix<S>) -> S {
    // Adding to −0 is doing nothing.
    let all = inverse.as_flattened().iter();
    all.fold(S::constant(-0.0), |sum, k| sum + k.magnitude())
}

/// Whether a straight simplex holds a position, and whether it is within the tolerance, by the distances from its faces.
pub(super) fn by_distances<S: Number>(
    kind: CellKind,
    corners: &[[S; 3]],
    x: &[S; 3],
    theta: S,
) -> (S::Truth, S::Truth) {
    let of_face = |j: usize| {
        let face: [[S; 3]; 3] =
            std::array::from_fn(|n| corners[kind.face(j)[n.min(kind.dim() - 1)]]);
        let opposite = corners[if j < kind.dim() { j + 1 } else { 0 }];
        let distance = distance(&face[..kind.dim()], &opposite, x);
        let holds = (S::constant(2.0) * theta).less(distance);
        (holds, (-theta).at_most(distance))
    };
    (1..kind.faces()).fold(of_face(0), |(holds, near), j| {
        let (h, n) = of_face(j);
        (S::both(holds, h), S::both(near, n))
    })
}

/// Whether a cell holds a position, and whether it is within the tolerance, by the values of its constraints and their slopes.
pub(super) fn by_slopes<S: Number>(
    kind: CellKind,
    xi: &[S; 3],
    inverse: &Matrix<S>,
    theta: S,
) -> (S::Truth, S::Truth) {
    let of_face = |j: usize| {
        let c = kind.constraint_at(j, xi);
        let tolerance = theta * slope(kind, j, inverse);
        let holds = (S::constant(2.0) * tolerance).less(c);
        (holds, (-tolerance).at_most(c))
    };
    (1..kind.faces()).fold(of_face(0), |(holds, near), j| {
        let (h, n) = of_face(j);
        (S::both(holds, h), S::both(near, n))
    })
}

impl Mesh {
    /// The cell of a position; `hint` is where the search begins, and changes nothing.
    pub fn locate(&self, x: &[f64; 3], hint: Option<u32>) -> Option<Found> {
        let mut search = Search::NOWHERE;
        if !self.begin(&mut search, x, hint.unwrap_or(NONE)) {
            return None;
        }
        loop {
            match self.advance(&mut search) {
                Progress::Going => {}
                Progress::Outside => return None,
                Progress::Found => {
                    return Some(Found {
                        cell: search.cell,
                        reference: search.x,
                    });
                }
            }
        }
    }

    /// The rule itself, over all cells.
    pub fn locate_by_rule(&self, x: &[f64; 3]) -> Option<Found> {
        self.decide(x, 0..self.records.len() as u32)
    }

    /// Begins a search for a position; not if it is not even near the box of the mesh.
    fn begin(&self, search: &mut Search, x: &[f64; 3], hint: u32) -> bool {
        // NaN is near nothing.
        let near = |a: usize| x[a] >= self.ends(a)[0] && x[a] <= self.ends(a)[1];
        if !(0..self.dim).all(near) {
            return false;
        }
        search.x = *x;
        search.x[self.dim..].fill(0.0);
        search.cell = hint;
        if hint as usize >= self.records.len() {
            self.look_in_index(search);
        }
        true
    }

    /// The least and the largest coordinate of what may be inside.
    #[inline(always)]
    pub(super) fn ends(&self, axis: usize) -> [f64; 2] {
        let [low, high] = &self.bounds;
        [low[axis] - self.theta, high[axis] + self.theta]
    }

    #[inline(always)]
    pub(super) fn look_in_index(&self, search: &mut Search) {
        search.cell = self.index.start(&search.x);
        search.steps = 0;
        search.indexed = true;
        if search.cell != NONE {
            self.prefetch(search.cell);
        }
    }

    /// Looks at one more cell.
    #[inline(always)]
    pub(super) fn advance(&self, search: &mut Search) -> Progress {
        if search.cell == NONE {
            return Progress::Outside;
        }
        let record = &self.records[search.cell as usize];
        if record.curved != NONE && !search.asked {
            let (face, highest) = record.highest(&record.estimate(&search.x));
            if highest >= -self.near_estimate() {
                self.ask(search, record);
                return Progress::Going;
            }
            return self.go_on(search, record, (face, highest));
        }
        search.asked = false;
        let verdict = match record.curved {
            NONE => self.judge_affine(search.cell, record, &search.x),
            _ => self.judge_curved(search.cell, record, &search.x),
        };
        let beyond = match verdict {
            Verdict::Holds(reference) => {
                search.x = reference;
                return Progress::Found;
            }
            Verdict::Near(_) => return self.end(search),
            Verdict::Beyond(face, constraint) => (face, constraint),
        };
        self.go_on(search, record, beyond)
    }

    /// Asks for the map of a curved cell: what Newton's iteration needs comes while other searches go on.
    #[inline(always)]
    pub(super) fn ask(&self, search: &mut Search, record: &Record) {
        let map = self.geometry.as_ptr().wrapping_add(record.curved as usize);
        prefetch::<MAP_LINES>(map);
        search.asked = true;
    }

    /// Takes a search to the next cell, beyond a face, or into the index, or to its end.
    #[inline(always)]
    pub(super) fn go_on(
        &self,
        search: &mut Search,
        record: &Record,
        (face, constraint): (usize, f64),
    ) -> Progress {
        let next = record.neighbours[face];
        search.steps += 1;
        let lost = next == NONE || search.steps == STEPS;
        if search.indexed && lost {
            return self.end(search);
        }
        if lost || !search.indexed && constraint < FAR {
            self.look_in_index(search);
        } else {
            search.cell = next;
            self.prefetch(next);
        }
        Progress::Going
    }

    /// Ends a search by the rule.
    #[cold]
    fn end(&self, search: &mut Search) -> Progress {
        let cells = self.index.find(&search.x);
        // All records that are needed come at the same time.
        for cell in cells.clone().take(PREFETCHED) {
            self.prefetch(cell);
        }
        match self.decide(&search.x, cells) {
            None => Progress::Outside,
            Some(found) => {
                (search.cell, search.x) = (found.cell, found.reference);
                Progress::Found
            }
        }
    }

    /// A cell near a position, from one that is near already: as far as affine estimates lead.
    pub(super) fn approach(&self, x: &[f64; 3], from: u32) -> u32 {
        let mut cell = from;
        for _ in 0..STEPS {
            let record = &self.records[cell as usize];
            let (face, least) = record.kind.least(&record.estimate(x));
            match record.neighbours[face] {
                next if least < 0.0 && next != NONE => cell = next,
                _ => break,
            }
        }
        cell
    }

    /// The cell that holds a position, or else the lowest-numbered one that accepts it.
    #[cold]
    fn decide(&self, x: &[f64; 3], cells: impl Iterator<Item = u32>) -> Option<Found> {
        let mut best: Option<Found> = None;
        for cell in cells {
            // The box of a curved cell is known, and is sooner asked than its map.
            if self.records[cell as usize].curved != NONE && !self.is_near_box(cell, x) {
                continue;
            }
            match self.judge(cell, x) {
                Verdict::Holds(reference) => return Some(Found { cell, reference }),
                Verdict::Near(reference) => {
                    let first = best.is_none_or(|b| self.number(cell) < self.number(b.cell));
                    if first && self.is_near_box(cell, x) {
                        best = Some(Found { cell, reference });
                    }
                }
                Verdict::Beyond(..) => {}
            }
        }
        best
    }

    fn judge(&self, cell: u32, x: &[f64; 3]) -> Verdict {
        let record = &self.records[cell as usize];
        if record.curved == NONE {
            return self.judge_affine(cell, record, x);
        }
        let (face, highest) = record.highest(&record.estimate(x));
        if highest < -self.near_estimate() {
            return Verdict::Beyond(face, highest);
        }
        self.judge_curved(cell, record, x)
    }

    #[inline(always)]
    fn judge_affine(&self, cell: u32, record: &Record, x: &[f64; 3]) -> Verdict {
        let (kind, xi) = (record.kind, record.estimate(x));
        let (face, least) = kind.least(&xi);
        // Far from all faces the comparison with slopes is decided without them.
        if least > self.clear {
            Verdict::Holds(xi)
        } else if least < -self.clear {
            Verdict::Beyond(face, least)
        } else {
            self.judge_straight(cell, kind, &xi, x, &record.inverse)
        }
    }

    /// The verdict of a straight cell near one of its faces. The coordinates of a flat simplex say too little about how far its
    /// faces are, because the last of them is what the others leave; so its corners are asked.
    #[cold]
    fn judge_straight(
        &self,
        cell: u32,
        kind: CellKind,
        xi: &[f64; 3],
        x: &[f64; 3],
        inverse: &Matrix,
    ) -> Verdict {
        if !kind.is_simplex() {
            return self.judge_closely(kind, xi, inverse);
        }
        let numbers = self.corners_of(cell);
        let corners: [[f64; 3]; 4] =
            std::array::from_fn(|n| self.corners.point(numbers[n.min(numbers.len() - 1)]));
        let (holds, near) = by_distances(kind, &corners, x, self.theta);
        self.verdict(kind, xi, holds, near)
    }

    /// The verdict when the least constraint may be near zero.
    fn judge_closely(&self, kind: CellKind, xi: &[f64; 3], inverse: &Matrix) -> Verdict {
        let (holds, near) = by_slopes(kind, xi, inverse, self.theta);
        self.verdict(kind, xi, holds, near)
    }

    fn verdict(&self, kind: CellKind, xi: &[f64; 3], holds: bool, near: bool) -> Verdict {
        match (holds, mutants::accepts(near)) {
            (true, _) => Verdict::Holds(*xi),
            (_, true) => Verdict::Near(*xi),
            _ => {
                let (face, least) = kind.least(xi);
                Verdict::Beyond(face, least)
            }
        }
    }

    /// The verdict of a curved cell that may contain the position, as far as its affine estimate says.
    #[inline(always)]
    fn judge_curved(&self, cell: u32, record: &Record, x: &[f64; 3]) -> Verdict {
        let map = self.map_of(cell);
        let kind = map.kind;
        let off = record.off_centre(x);
        match map.invert(&off) {
            Inverse::Found(xi, jacobian) => {
                let (face, least) = kind.least(&xi);
                let clear = if map.is_mild() {
                    self.clear_if_mild()
                } else if map.has_collapsed(&jacobian) {
                    return self.judge_collapsed(&map, &xi, (&off, &jacobian));
                } else {
                    2.0 * self.theta * steepest(&inverse(&jacobian, self.dim))
                };
                if least > clear {
                    Verdict::Holds(xi)
                } else if least < -clear {
                    Verdict::Beyond(face, least)
                } else {
                    self.judge_closely(kind, &xi, &inverse(&jacobian, self.dim))
                }
            }
            Inverse::Outside => {
                let (face, least) = kind.least(&record.estimate(x));
                Verdict::Beyond(face, least)
            }
            Inverse::Unknown => {
                self.contact.unresolved.fetch_add(1, Relaxed);
                let (face, least) = kind.least(&record.estimate(x));
                Verdict::Beyond(face, least)
            }
        }
    }

    /// The verdict where a cell has collapsed: constraints are infinitely steep there, and several reference positions may have the same
    /// image. So the image of a position of the cell is compared with the position in the world.
    #[cold]
    fn judge_collapsed(
        &self,
        map: &Map<'_>,
        xi: &[f64; 3],
        (off, jacobian): (&[f64; 3], &Matrix),
    ) -> Verdict {
        let (kind, c) = (map.kind, map.kind.centre());
        let distance = |xi: &[f64; 3]| {
            let t = std::array::from_fn(|a| if a < self.dim { xi[a] - c } else { 0.0 });
            let at = map.image(&t).0;
            let square: f64 = (0..self.dim).map(|i| (at[i] - off[i]).powi(2)).sum();
            square.sqrt()
        };
        let inverse = inverse(jacobian, self.dim);
        let judged = self.judge_closely(kind, xi, &inverse);
        let mut inside = kind.nearest(xi);
        if matches!(judged, Verdict::Holds(_)) || distance(&inside) > 4.0 * self.theta {
            return judged;
        }
        // Along collapsed axes, the middle, unless the position is another then.
        let rounding = match self.real {
            Real::F32 => self.theta * f64::EPSILON / f64::from(f32::EPSILON),
            Real::F64 => self.theta,
        };
        for axis in 0..self.dim {
            let mut middle = inside;
            middle[axis] = c;
            if distance(&middle) <= distance(&inside).max(rounding) {
                inside = middle;
            }
        }
        self.verdict(kind, &inside, false, true)
    }

    /// No position of a curved cell, nor one within the tolerance of it, has an estimate with a constraint below minus this.
    #[inline(always)]
    pub(super) fn near_estimate(&self) -> f64 {
        NEAR_ESTIMATE * self.clear
    }

    /// A constraint of a mild cell above this holds: none is steeper than 3 / (1 − CURVED · REACH) times the steepest in the centre.
    #[inline(always)]
    pub(super) fn clear_if_mild(&self) -> f64 {
        CLEAR_IF_MILD * self.clear
    }

    /// The map of a curved cell.
    pub(super) fn map_of(&self, cell: u32) -> Map<'_> {
        let record = &self.records[cell as usize];
        let space = self.blocks[usize::from(record.block)].maps[usize::from(record.degree)];
        Map {
            kind: record.kind,
            space,
            coefficients: &self.geometry[record.curved as usize..][..space.len()],
            at_centre: &record.inverse,
            tolerance: self.theta,
        }
    }

    /// Whether a cell may accept a position in a box. It does not if all of the box is beyond one of its faces: by more than
    /// the tolerance, what rounding may do, and the margin of a curved cell.
    pub(super) fn may_meet(&self, cell: u32, [low, high]: &[[f64; 3]; 2]) -> bool {
        let record = &self.records[cell as usize];
        let (mut middle, mut half) = ([0.0; 3], [0.0; 3]);
        for a in 0..self.dim {
            middle[a] = 0.5 * low[a] + 0.5 * high[a];
            half[a] = 0.5 * high[a] - 0.5 * low[a];
        }
        let (kind, xi, off) = (
            record.kind,
            record.estimate(&middle),
            record.off_centre(&middle),
        );
        let rows = record.inverse.as_flattened().chunks_exact(3);
        let magnitude: f64 = rows
            .flat_map(|row| (0..3).map(|i| row[i].abs() * (off[i].abs() + half[i])))
            .sum();
        let rounding = 1e-12 + 16.0 * f64::EPSILON * magnitude;
        (0..kind.faces()).all(|j| {
            let g = kind.gradient(j);
            let along = |i: usize| (0..3).map(|a| g[a] * record.inverse[a][i]).sum::<f64>();
            let reach: f64 = (0..self.dim).map(|i| along(i).abs() * half[i]).sum();
            let tolerance = if record.curved == NONE {
                4.0 * self.theta * slope(kind, j, &record.inverse)
            } else {
                let margins: f64 = g.iter().map(|g| g.abs()).sum();
                self.near_estimate() + margins * record.margin()
            };
            let highest = kind.constraint(j, &xi) + reach + tolerance + rounding;
            // What cannot be computed is not excluded.
            highest.is_nan() || highest >= 0.0
        })
    }

    /// Whether a position is within the tolerance of the box of a cell.
    fn is_near_box(&self, cell: u32, x: &[f64; 3]) -> bool {
        let [low, high] = self.box_of(cell);
        (0..self.dim).all(|a| x[a] >= low[a] - self.theta && x[a] <= high[a] + self.theta)
    }

    /// The smallest and largest coordinates of a cell.
    pub(super) fn box_of(&self, cell: u32) -> [[f64; 3]; 2] {
        let record = &self.records[cell as usize];
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        if record.curved == NONE {
            for &corner in self.corners_of(cell) {
                let p = self.corners.point(corner);
                low = std::array::from_fn(|a| low[a].min(p[a]));
                high = std::array::from_fn(|a| high[a].max(p[a]));
            }
        } else {
            let after = record.curved as usize + self.map_of(cell).space.len();
            let bounds = &self.geometry[after..][..AFTER_MAP];
            low.copy_from_slice(&bounds[0].0[..3]);
            high.copy_from_slice(&bounds[1].0[..3]);
        }
        [low, high]
    }

    #[inline(always)]
    fn prefetch(&self, cell: u32) {
        prefetch::<2>(self.records.as_ptr().wrapping_add(cell as usize));
    }
}

/// Prefetches the first cache lines at an address, which may be arbitrary.
#[inline(always)]
pub(super) fn prefetch<const LINES: usize>(address: *const impl Sized) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..LINES {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the processor has the instruction, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast::<i8>().wrapping_add(64 * line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

impl Record {
    /// The reference position in a straight cell, and an estimate of it in a curved one.
    #[inline(always)]
    fn estimate(&self, x: &[f64; 3]) -> [f64; 3] {
        apply(&self.inverse, &self.off_centre(x)).map(|t| t + self.kind.centre())
    }

    #[inline(always)]
    fn off_centre(&self, x: &[f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| x[i] - self.centre[i])
    }

    /// The least constraint of a curved cell at an estimate, with an upper bound of its value by the bound of all margins.
    #[inline(always)]
    fn highest(&self, eta: &[f64; 3]) -> (usize, f64) {
        let (face, highest) = self.kind.least_with(eta, self.margin());
        (face as usize, highest)
    }

    /// A bound of the margins of the affine estimate.
    #[inline(always)]
    pub(super) fn margin(&self) -> f64 {
        f64::from_bits(((1023 + i64::from(self.margin)) as u64) << 52)
    }
}

/// How far `x` is from the line or plane of a face, on the side of the opposite corner.
fn distance<S: Number>(face: &[[S; 3]], opposite: &[S; 3], x: &[S; 3]) -> S {
    let zero = S::constant(0.0);
    let from = |p: &[S; 3]| -> [S; 3] { std::array::from_fn(|i| p[i] - face[0][i]) };
    let a = from(&face[1]);
    let normal = match face.get(2) {
        None => [-a[1], a[0], zero],
        Some(third) => {
            let b = from(third);
            [(1, 2), (2, 0), (0, 1)]
                .map(|(i, j)| sum_of_products(zero, &[(a[i], b[j]), (-a[j], b[i])]))
        }
    };
    let along = |v: [S; 3]| sum_of_products(zero, &[0, 1, 2].map(|i| (normal[i], v[i])));
    // Adding to −0 is doing nothing.
    let square = normal.iter().fold(S::constant(-0.0), |sum, &n| sum + n * n);
    (along(from(x)) * along(from(opposite)).sign()).over(square.root())
}

/// How far a search has come.
pub(super) enum Progress {
    /// It goes on.
    Going,
    /// There is no cell.
    Outside,
    /// The search has the cell, and the reference position in place of the one in the world.
    Found,
}

/// A search that goes on cell by cell, so that several can go on together.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub(super) x: [f64; 3],
    pub(super) cell: u32,
    steps: u8,
    /// Whether it began in the index.
    indexed: bool,
    /// Whether the map of the cell, which is curved, has been asked for.
    pub(super) asked: bool,
}

impl Search {
    /// A search that has not begun.
    pub(super) const NOWHERE: Search = Search {
        x: [0.0; 3],
        cell: NONE,
        steps: 0,
        indexed: false,
        asked: false,
    };
}
