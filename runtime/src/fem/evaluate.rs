//! The most frequent probes: values and gradients of one field of degree 1 or 2 on simplices, several lanes at once.
//!
//! What vectors do is what `world.rs` does for one position, operation by operation.

use super::field::{Between, mixed};
use super::invert::{Image, Matrix, inverse};
use super::lanes::{read, set_bits};
use super::locate::prefetch;
use super::polynomial::{Planes, simple};
use super::primitive::{FemWanted, OUTSIDE, beyond};
use super::world::{CellPosition, in_world};
use super::{CellKind, FemValues, Mesh, NONE, Record};
use crate::simd::{Doubles, Float, MAX_WIDTH, Real};

/// What a call is about.
pub(super) struct Call<'a, T> {
    pub(super) field: &'a FemWanted,
    pub(super) coefficients: &'a [f64],
    /// Where the times of the lanes are, if the field is over time.
    pub(super) between: Option<&'a LanesBetween>,
    pub(super) lanes: (u32, usize),
    pub(super) cells: &'a [i32; MAX_WIDTH],
    pub(super) reference: *const T,
    pub(super) out: *mut T,
}

/// The places of the times of some lanes between frames; see [`Between`].
pub(super) struct LanesBetween {
    before: [usize; MAX_WIDTH],
    after: [usize; MAX_WIDTH],
    fraction: [f64; MAX_WIDTH],
}

impl LanesBetween {
    #[inline(always)]
    pub(super) fn new(values: &FemValues, mask: u32, times: &[f64; MAX_WIDTH]) -> LanesBetween {
        let mut all = LanesBetween {
            before: [0; MAX_WIDTH],
            after: [0; MAX_WIDTH],
            fraction: [0.0; MAX_WIDTH],
        };
        for lane in set_bits(mask) {
            let Between {
                before,
                after,
                fraction,
            } = values.between(times[lane]);
            all.before[lane] = before;
            all.after[lane] = after;
            all.fraction[lane] = fraction;
        }
        all
    }
}

/// Where the numbers of some lanes go.
struct LaneRoom<T> {
    out: *mut T,
    width: usize,
    first: usize,
    lanes: u32,
}

impl<T: Float> LaneRoom<T> {
    /// # Safety
    /// There is room for the slot, and the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn put<V: Doubles>(&self, slot: usize, value: V) {
        // SAFETY: lanes of the slot are within the width; a store of the whole vector is only done if all its lanes are.
        unsafe {
            let place = self.out.add(slot * self.width + self.first);
            if self.lanes == V::ALL_LANES {
                match T::REAL {
                    Real::F32 => value.store_singles(place.cast()),
                    Real::F64 => value.store(place.cast()),
                }
                return;
            }
            let mut all = [0.0; MAX_WIDTH];
            value.store(all.as_mut_ptr());
            for lane in set_bits(self.lanes) {
                place.add(lane).write_unaligned(T::from_f64(all[lane]));
            }
        }
    }
}

/// The coefficients of a polynomial in some lanes.
///
/// # Safety
/// From every offset on there are this many numbers; the processor has the instructions of the vector.
#[inline(always)]
unsafe fn rows<V: Doubles, const N: usize>(
    start: *const f64,
    offsets: &[i64; MAX_WIDTH],
) -> [V; N] {
    let mut all = [V::splat(0.0); N];
    // SAFETY: promised by the caller; the last rows overlap those before where they do not come out even.
    unsafe {
        for n in (0..N - N % 4).step_by(4) {
            [all[n], all[n + 1], all[n + 2], all[n + 3]] = V::rows4(start.add(n), offsets);
        }
        if !N.is_multiple_of(4) {
            [all[N - 2], all[N - 1]] = V::rows2(start.add(N - 2), offsets);
        }
        if N == 3 {
            [all[0], all[1]] = V::rows2(start, offsets);
        }
    }
    all
}

impl Mesh {
    /// # Safety
    /// As [`Mesh::probe_lanes`]; cells are simplices, polynomials have this many coefficients, and the processor has the
    /// instructions of the vector.
    #[inline(always)]
    pub(super) unsafe fn probe_simple<T: Float, V: Doubles, const DIM: usize, const N: usize>(
        &self,
        call: &Call<'_, T>,
    ) {
        let ((mask, width), stride) = (call.lanes, call.field.values.components * N);
        let mut xi = [[0.0; MAX_WIDTH]; 3];
        for (axis, plane) in xi.iter_mut().enumerate().take(DIM) {
            // SAFETY: promised by the caller.
            *plane = unsafe { read(call.reference.add(axis * width), call.lanes) };
        }
        let mut inside = 0_u32;
        for lane in set_bits(mask) {
            if call.cells[lane] == OUTSIDE {
                beyond(call.field, DIM, |slot, value| {
                    // SAFETY: promised by the caller.
                    unsafe { put_one(call, slot, lane, value) };
                });
                continue;
            }
            inside |= 1 << lane;
            let own = call.coefficients.as_ptr();
            let own = own.wrapping_add(call.cells[lane] as usize * stride);
            let (own, later) = match call.between {
                None => (own, None),
                Some(between) => (
                    own.wrapping_add(between.before[lane]),
                    Some(own.wrapping_add(between.after[lane])),
                ),
            };
            for own in [own].into_iter().chain(later) {
                prefetch::<1>(own);
                if N > 4 {
                    prefetch::<1>(own.wrapping_add(8));
                }
            }
        }
        for first in (0..width).step_by(V::LANES) {
            let lanes = inside >> first & V::ALL_LANES;
            // SAFETY: promised by the caller.
            unsafe {
                if lanes.count_ones() < 2
                    || !self.probe_group::<T, V, DIM, N>(call, &xi, first, lanes)
                {
                    for lane in set_bits(lanes << first) {
                        self.probe_alone::<T, DIM, N>(call, &xi, lane);
                    }
                }
            }
        }
    }

    /// Probes some lanes, unless their cells are of several kinds.
    ///
    /// # Safety
    /// As [`Mesh::probe_simple`].
    #[inline(always)]
    unsafe fn probe_group<T: Float, V: Doubles, const DIM: usize, const N: usize>(
        &self,
        call: &Call<'_, T>,
        xi: &[[f64; MAX_WIDTH]; 3],
        first: usize,
        lanes: u32,
    ) -> bool {
        let (values, gradients) = (call.field.orders & 1 == 1, call.field.orders & 2 == 2);
        let components = call.field.values.components;
        let (mut records, mut offsets, mut maps) = ([0; MAX_WIDTH], [0; MAX_WIDTH], [0; MAX_WIDTH]);
        let mut later = [0; MAX_WIDTH];
        for lane in 0..V::LANES {
            // Lanes beyond the mesh read the first cell.
            let cell = call.cells[first + lane].max(0) as usize;
            records[lane] = (cell * Record::NUMBERS) as i64;
            offsets[lane] = (cell * components * N) as i64;
            if let Some(between) = call.between {
                later[lane] = offsets[lane] + between.after[first + lane] as i64;
                offsets[lane] += between.before[first + lane] as i64;
            }
        }
        let mut curved = 0_u32;
        for lane in set_bits(if gradients && !self.geometry.is_empty() {
            lanes
        } else {
            0
        }) {
            let record = &self.records[call.cells[first + lane] as usize];
            if record.curved != NONE {
                if record.degree != 2 {
                    return false;
                }
                curved |= 1 << lane;
                maps[lane] = record.map();
            }
        }
        if curved != 0 && curved != lanes {
            return false;
        }
        let centre = match DIM {
            2 => CellKind::Triangle.centre(),
            _ => CellKind::Tetrahedron.centre(),
        };
        // SAFETY: offsets are those of cells, or of the first cell; vectors of lanes are within arrays of all lanes.
        unsafe {
            let mut t = [V::splat(0.0); 3];
            for axis in 0..DIM {
                t[axis] = V::load(xi[axis].as_ptr().add(first)) - V::splat(centre);
            }
            let k = match (gradients, DIM) {
                (false, _) => [[V::splat(0.0); 3]; 3],
                _ if curved == 0 => self.inverses::<V>(&records),
                (_, 2) => inverse(&self.jacobians::<V, 6>(&maps, &t), 2),
                _ => inverse(&self.jacobians::<V, 10>(&maps, &t), 3),
            };
            let target = LaneRoom {
                out: call.out,
                width: call.lanes.1,
                first,
                lanes,
            };
            let after_values = if values { components } else { 0 };
            for n in 0..components {
                let start = call.coefficients.as_ptr().add(n * N);
                let mut own = rows::<V, N>(start, &offsets);
                if let Some(between) = call.between {
                    let fraction = V::load(between.fraction.as_ptr().add(first));
                    let later = rows::<V, N>(start, &later);
                    for (own, later) in own.iter_mut().zip(later) {
                        *own = mixed(*own, later, fraction);
                    }
                }
                let (value, gradient) = simple(&own, &t);
                if values {
                    target.put(n, value);
                }
                if gradients {
                    let world = in_world(&k, &gradient);
                    for (i, d) in world.into_iter().enumerate().take(DIM) {
                        target.put(after_values + n * DIM + i, d);
                    }
                }
            }
        }
        true
    }

    /// The inverses of the Jacobians of straight cells.
    ///
    /// # Safety
    /// Offsets are those of records in numbers, and the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn inverses<V: Doubles>(&self, records: &[i64; MAX_WIDTH]) -> Matrix<V> {
        let start = self.records.as_ptr().cast::<f64>();
        // SAFETY: promised by the caller. The last row ends behind the inverse, but in the record.
        let (a, b, c) = unsafe {
            let start = start.add(Record::INVERSE);
            (
                V::rows4(start, records),
                V::rows4(start.add(4), records),
                V::rows4(start.add(8), records),
            )
        };
        [[a[0], a[1], a[2]], [a[3], b[0], b[1]], [b[2], b[3], c[0]]]
    }

    /// The Jacobians of curved cells of degree 2.
    ///
    /// # Safety
    /// Offsets are those of maps with this many coefficients, and the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn jacobians<V: Doubles, const N: usize>(
        &self,
        maps: &[i64; MAX_WIDTH],
        t: &[V; 3],
    ) -> Matrix<V> {
        let start = self.geometry.as_ptr().cast::<f64>();
        // SAFETY: promised by the caller.
        let (maps, _) = unsafe { Planes::<V>::gather::<N>(start, maps) };
        maps.image(t).1
    }

    /// # Safety
    /// As [`Mesh::probe_simple`].
    #[inline(always)]
    unsafe fn probe_alone<T: Float, const DIM: usize, const N: usize>(
        &self,
        call: &Call<'_, T>,
        xi: &[[f64; MAX_WIDTH]; 3],
        lane: usize,
    ) {
        let (values, gradients) = (call.field.orders & 1 == 1, call.field.orders & 2 == 2);
        let components = call.field.values.components;
        let after_values = if values { components } else { 0 };
        let cell = call.cells[lane] as usize;
        let xi = [xi[0][lane], xi[1][lane], xi[2][lane]];
        let place = CellPosition::new(self, cell as u32, &xi, gradients);
        let of_frame = |frame: usize| {
            let own = &call.coefficients[frame + cell * components * N..][..components * N];
            own.as_chunks::<N>().0
        };
        let own = of_frame(call.between.map_or(0, |between| between.before[lane]));
        for (n, c) in own.iter().enumerate() {
            let (value, gradient) = match call.between {
                None => place.simple::<N>(c),
                Some(between) => {
                    let (later, fraction) =
                        (of_frame(between.after[lane])[n], between.fraction[lane]);
                    let own = std::array::from_fn(|k| mixed(c[k], later[k], fraction));
                    place.simple::<N>(&own)
                }
            };
            // SAFETY: promised by the caller.
            unsafe {
                if values {
                    put_one(call, n, lane, value);
                }
                if gradients {
                    for (i, d) in gradient.into_iter().enumerate().take(DIM) {
                        put_one(call, after_values + n * DIM + i, lane, d);
                    }
                }
            }
        }
    }
}

/// # Safety
/// There is room for the slot.
#[inline(always)]
unsafe fn put_one<T: Float>(call: &Call<'_, T>, slot: usize, lane: usize, value: f64) {
    // SAFETY: promised by the caller.
    unsafe {
        let place = call.out.add(slot * call.lanes.1 + lane);
        place.write_unaligned(T::from_f64(value));
    }
}
