//! Searches of several lanes at once. They overlap their waits for memory, and test cells by vector instructions.
//!
//! The vectors repeat the operations of `locate.rs` for one position in the same order, so both give the same answer. Rare cases
//! are left to `locate.rs`: positions near faces, strongly curved cells, and single searches.

use super::cell::CellKind;
use super::invert::{CURVED, Matrix, apply, quick};
use super::locate::{Progress, Search};
use super::polynomial::Planes;
use super::{Mesh, NONE, Record};
use crate::simd::{Float, MAX_WIDTH, Mask, Vector};

/// One number per lane.
pub(super) type Lanes = [f64; MAX_WIDTH];

/// The numbers of some lanes; those of the others are arbitrary.
///
/// # Safety
/// There is a number for each lane of the width.
#[inline(always)]
pub(super) unsafe fn read<T: Float>(plane: *const T, (mask, width): (u32, usize)) -> Lanes {
    let mut all = [0.0; MAX_WIDTH];
    // A loop of a known length becomes vector copies, which also read faster what vectors have just written.
    if (mask, width) == (0xffff, 16) {
        for (lane, x) in all.iter_mut().enumerate() {
            // SAFETY: promised by the caller.
            *x = unsafe { plane.add(lane).read_unaligned() }.to_f64();
        }
    } else {
        for lane in set_bits(mask) {
            // SAFETY: promised by the caller.
            all[lane] = unsafe { plane.add(lane).read_unaligned() }.to_f64();
        }
    }
    all
}

/// Writes the numbers of some lanes.
///
/// # Safety
/// There is room for each lane of the width.
#[inline(always)]
pub(super) unsafe fn write<T: Float>(plane: *mut T, (mask, width): (u32, usize), all: &Lanes) {
    if (mask, width) == (0xffff, 16) {
        for (lane, x) in all.iter().enumerate() {
            // SAFETY: promised by the caller.
            unsafe { plane.add(lane).write_unaligned(T::from_f64(*x)) };
        }
    } else {
        for lane in set_bits(mask) {
            // SAFETY: promised by the caller.
            unsafe { plane.add(lane).write_unaligned(T::from_f64(all[lane])) };
        }
    }
}

/// Searches side by side.
pub(super) struct Searches {
    each: [Search; MAX_WIDTH],
    /// The positions, by axis.
    x: [Lanes; 3],
    /// Where they are in their cells, by axis.
    pub(super) reference: [Lanes; 3],
    /// The lanes that search.
    pending: u32,
    /// The lanes that have found their cell.
    pub(super) inside: u32,
}

/// The places of the bits that are set, least first.
#[inline(always)]
pub(super) fn set_bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            place
        })
    })
}

impl Searches {
    /// Searches for positions that are given by axis.
    #[inline(always)]
    pub(super) fn new(x: [Lanes; 3]) -> Searches {
        Searches {
            each: [Search::NOWHERE; MAX_WIDTH],
            x,
            reference: [[f64::NAN; MAX_WIDTH]; 3],
            pending: 0,
            inside: 0,
        }
    }

    /// The cell that a lane has found.
    #[inline(always)]
    pub(super) fn cell(&self, lane: usize) -> u32 {
        self.each[lane].cell
    }

    /// The search of a lane, with its position.
    #[inline(always)]
    fn one(&mut self, lane: usize) -> &mut Search {
        let search = &mut self.each[lane];
        search.x = [self.x[0][lane], self.x[1][lane], self.x[2][lane]];
        search
    }

    #[inline(always)]
    fn note(&mut self, lane: usize, progress: Progress) {
        match progress {
            Progress::Going => return,
            Progress::Outside => {}
            Progress::Found => {
                self.inside |= 1 << lane;
                (0..3).for_each(|axis| self.reference[axis][lane] = self.each[lane].x[axis]);
            }
        }
        self.pending &= !(1 << lane);
    }
}

/// What vectors know of the cells of some lanes: positions from the centre, and the inverse of the Jacobian there.
struct Cells<V> {
    off: [V; 3],
    inverse: Matrix<V>,
}

impl Mesh {
    /// Begins the searches of some lanes, each in a cell or wherever its position is.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    #[inline(always)]
    pub(super) unsafe fn begin_all<V: Vector<Elem = f64>>(
        &self,
        searches: &mut Searches,
        mask: u32,
        hints: &[u32; MAX_WIDTH],
    ) {
        let mut near = 0;
        for first in (0..MAX_WIDTH).step_by(V::LANES) {
            let mut all = V::mask(V::ALL_LANES);
            for axis in 0..self.dim {
                // SAFETY: lanes are read from arrays of all lanes.
                let x = unsafe { V::load(searches.x[axis].as_ptr().add(first)) };
                let [low, high] = self.ends(axis);
                // NaN is near nothing.
                all = all & V::splat(low).le(x) & x.le(V::splat(high));
            }
            near |= all.bits() << first;
        }
        searches.pending = mask & near;
        for lane in set_bits(searches.pending) {
            searches.each[lane].cell = hints[lane];
            if hints[lane] as usize >= self.records.len() {
                self.look_in_index(searches.one(lane));
            }
        }
    }

    /// Searches until all lanes have ended.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    #[inline(always)]
    pub(super) unsafe fn search<V: Vector<Elem = f64>>(&self, searches: &mut Searches) {
        while searches.pending != 0 {
            for first in (0..MAX_WIDTH).step_by(V::LANES) {
                let lanes = searches.pending & V::ALL_LANES << first;
                match self.kind {
                    // SAFETY: promised by the caller.
                    Some(kind) if lanes.count_ones() > 1 => unsafe {
                        self.advance_group::<V>(kind, searches, first, lanes);
                    },
                    _ => set_bits(lanes).for_each(|lane| self.advance_lane(searches, lane)),
                }
            }
        }
    }

    #[inline(always)]
    fn advance_lane(&self, searches: &mut Searches, lane: usize) {
        let progress = self.advance(searches.one(lane));
        searches.note(lane, progress);
    }

    /// Looks at one more cell for each of some lanes.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn advance_group<V: Vector<Elem = f64>>(
        &self,
        kind: CellKind,
        searches: &mut Searches,
        first: usize,
        lanes: u32,
    ) {
        let mut records = [0_i64; MAX_WIDTH];
        let mut margins = [-0.0; MAX_WIDTH];
        let any_curved = !self.geometry.is_empty();
        let (mut straight, mut curved, mut asked) = (0_u32, 0_u32, 0_u32);
        for lane in set_bits(lanes) {
            let search = &searches.each[lane];
            if search.cell == NONE {
                searches.note(lane, Progress::Outside);
                continue;
            }
            let record = &self.records[search.cell as usize];
            records[lane - first] = i64::from(search.cell) * Record::NUMBERS as i64;
            if !any_curved || record.curved == NONE {
                straight |= 1 << lane;
            } else if search.asked {
                asked |= 1 << lane;
            } else {
                curved |= 1 << lane;
                margins[lane - first] = record.margin();
            }
        }
        // SAFETY: offsets are those of records, and vectors of lanes are within arrays of all lanes.
        unsafe {
            let cells = self.cells_of::<V>(searches, first, &records);
            if straight | curved != 0 {
                let [r, s, t] = apply(&cells.inverse, &cells.off);
                let c = V::splat(kind.centre());
                let xi = [r + c, s + c, t + c];
                let margin = match curved {
                    0 => V::splat(-0.0),
                    _ => V::load(margins.as_ptr()),
                };
                let (face, least) = kind.least_with(&xi, margin);
                let clear = V::splat(self.clear);
                let holds = straight & clear.lt(least).bits() << first;
                let mut beyond = straight & least.lt(-clear).bits() << first;
                if curved != 0 {
                    let near = V::splat(self.near_estimate());
                    beyond |= curved & least.lt(-near).bits() << first;
                    for lane in set_bits(curved & !beyond) {
                        let search = &mut searches.each[lane];
                        self.ask(search, &self.records[search.cell as usize]);
                    }
                }
                let near = straight & !holds & !beyond;
                self.settle(searches, first, (holds, beyond, near), (xi, face, least));
            }
            match kind {
                _ if asked == 0 => {}
                CellKind::Triangle => self.invert::<V, 6>(kind, searches, first, asked, &cells),
                CellKind::Tetrahedron => self.invert::<V, 10>(kind, searches, first, asked, &cells),
                _ => set_bits(asked).for_each(|lane| self.advance_lane(searches, lane)),
            }
        }
    }

    /// # Safety
    /// The processor has the instructions of the vector; offsets are those of records in numbers.
    #[inline(always)]
    unsafe fn cells_of<V: Vector<Elem = f64>>(
        &self,
        searches: &Searches,
        first: usize,
        records: &[i64; MAX_WIDTH],
    ) -> Cells<V> {
        let start = self.records.as_ptr().cast::<f64>();
        // SAFETY: promised by the caller; a record begins with twelve numbers, and lanes are read from arrays of all lanes.
        unsafe {
            let a = V::rows4(start, records);
            let b = V::rows4(start.add(4), records);
            let c = V::rows4(start.add(8), records);
            Cells {
                off: [
                    V::load(searches.x[0].as_ptr().add(first)) - a[0],
                    V::load(searches.x[1].as_ptr().add(first)) - a[1],
                    V::load(searches.x[2].as_ptr().add(first)) - a[2],
                ],
                inverse: [[a[3], b[0], b[1]], [b[2], b[3], c[0]], [c[1], c[2], c[3]]],
            }
        }
    }

    /// Completes a step of the search: lanes that their cells hold are finished, lanes beyond a face move on, and lanes near a face are
    /// advanced one by one.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn settle<V: Vector<Elem = f64>>(
        &self,
        searches: &mut Searches,
        first: usize,
        (holds, beyond, near): (u32, u32, u32),
        (xi, face, least): ([V; 3], V, V),
    ) {
        for (plane, xi) in searches.reference.iter_mut().zip(xi) {
            // SAFETY: lanes are read from and written to arrays of all lanes.
            unsafe {
                let place = plane.as_mut_ptr().add(first);
                V::select(V::mask(holds >> first), xi, V::load(place)).store(place);
            }
        }
        searches.inside |= holds;
        searches.pending &= !holds;
        if beyond != 0 {
            let (mut faces, mut constraints) = ([0.0; MAX_WIDTH], [0.0; MAX_WIDTH]);
            // SAFETY: as above.
            unsafe {
                face.store(faces.as_mut_ptr());
                least.store(constraints.as_mut_ptr());
            }
            for lane in set_bits(beyond) {
                let search = searches.one(lane);
                search.asked = false;
                let record = &self.records[search.cell as usize];
                let at = (faces[lane - first] as usize, constraints[lane - first]);
                let progress = self.go_on(search, record, at);
                searches.note(lane, progress);
            }
        }
        set_bits(near).for_each(|lane| self.advance_lane(searches, lane));
    }

    /// Inverts the maps of simplices of degree 2.
    ///
    /// # Safety
    /// The processor has the instructions of the vector; all lanes are in curved cells of the kind, which has this many monomials.
    #[inline(always)]
    unsafe fn invert<V: Vector<Elem = f64>, const N: usize>(
        &self,
        kind: CellKind,
        searches: &mut Searches,
        first: usize,
        asked: u32,
        cells: &Cells<V>,
    ) {
        let mut maps = [0_i64; MAX_WIDTH];
        let mut own = 0_u32;
        for lane in set_bits(asked) {
            let record = &self.records[searches.each[lane].cell as usize];
            if record.degree == 2 {
                own |= 1 << lane;
                maps[lane - first] = record.map();
            }
        }
        let start = self.geometry.as_ptr().cast::<f64>();
        // SAFETY: offsets are those of maps, or of the first, which have this many coefficients of four numbers.
        let (maps, curvature) = unsafe { Planes::<V>::gather::<N>(start, &maps) };
        let mild = V::mask(own >> first) & curvature.le(V::splat(CURVED));
        let given = (&cells.off, &cells.inverse, curvature);
        let (xi, _, found) = quick(kind, given, &maps, mild);
        let (face, least) = kind.least_with(&xi, V::splat(-0.0));
        let found = found.bits() << first;
        let clear = V::splat(self.clear_if_mild());
        let holds = found & clear.lt(least).bits() << first;
        let beyond = found & least.lt(-clear).bits() << first;
        let rest = asked & !holds & !beyond;
        // SAFETY: promised by the caller.
        unsafe { self.settle(searches, first, (holds, beyond, rest), (xi, face, least)) };
    }
}
