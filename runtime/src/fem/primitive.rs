//! The primitives that generated code calls, for W strands at a time: from positions to cells, and from cells to values and derivatives.
//!
//! Planes are `[component][width]` numbers of the program's precision. Only the call for third and higher
//! derivatives in curved cells allocates, and no call locks. Results of a lane depend neither on the other lanes nor on the width.

use super::evaluate::{Call, LanesBetween};
use super::lanes::{Searches, read, set_bits, write};
use super::world::{CellPosition, distinct};
use super::{FemValues, Mesh, NONE};
use crate::derivatives::MAX_ORDER;
use crate::simd::{BASELINE_FUSES, Doubles, Float, Isa, Lanes, MAX_WIDTH, Real};
#[cfg(target_arch = "x86_64")]
use crate::simd::{F64x4, F64x8};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The number of a cell where there is none.
pub const OUTSIDE: i32 = -1;

/// Vectors of any processor.
type Plain = Lanes<f64, 4, BASELINE_FUSES>;

/// What a field is beyond its mesh; derivatives of a constant are zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Outside {
    /// Not a number, so that a forgotten `inside` is seen.
    Nan,
    /// One number per component.
    Constant(Vec<f64>),
}

/// The requested derivatives of one field.
#[derive(Clone, Debug)]
pub struct FemWanted {
    /// The field.
    pub values: Arc<FemValues>,
    /// Bit `m` asks for all derivatives of total order `m`.
    pub orders: u32,
    /// The value beyond the mesh.
    pub outside: Outside,
}

impl FemWanted {
    #[inline(always)]
    fn outputs(&self, dim: usize) -> usize {
        let wants = |m: usize| (self.orders >> m & 1) as usize;
        let mut each = wants(0) + wants(1) * dim;
        if self.orders >= 4 {
            each += (2..MAX_ORDER + 1)
                .map(|m| wants(m) * distinct(dim, m))
                .sum::<usize>();
        }
        self.values.components * each
    }
}

impl Mesh {
    /// Finds the cells of the positions of some lanes. A hint is a cell plus one, or 0; those of the lanes become the cells found.
    ///
    /// # Safety
    /// Positions and room for reference positions are `[dim][width]`; hints, where there are any, `[width]`. The precision is
    /// that of the mesh.
    pub unsafe fn locate_lanes<T: Float>(
        &self,
        lanes: (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        debug_assert!(self.real == T::REAL);
        // SAFETY: promised by the caller, and the processor has been asked.
        unsafe {
            match self.isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => self.locate_evex(lanes, positions, hints, reference),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => self.locate_vex(lanes, positions, hints, reference),
                _ => self.locate_by::<T, Plain>(lanes, positions, hints, reference),
            }
        }
    }

    /// # Safety
    /// As [`Mesh::locate_lanes`], and the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn locate_vex<T: Float>(
        &self,
        lanes: (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        // SAFETY: promised by the caller.
        unsafe { self.locate_by::<T, F64x4>(lanes, positions, hints, reference) }
    }

    /// # Safety
    /// As [`Mesh::locate_lanes`], and the processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512dq,avx512vl")]
    unsafe fn locate_evex<T: Float>(
        &self,
        lanes: (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        // SAFETY: promised by the caller.
        unsafe { self.locate_by::<T, F64x8>(lanes, positions, hints, reference) }
    }

    /// # Safety
    /// As [`Mesh::locate_lanes`], and the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn locate_by<T: Float, V: Doubles>(
        &self,
        (mask, width): (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        let lanes = (mask, width);
        let mut x = [[0.0; MAX_WIDTH]; 3];
        for (axis, plane) in x.iter_mut().enumerate().take(self.dim) {
            // SAFETY: promised by the caller.
            *plane = unsafe { read(positions.add(axis * width), lanes) };
        }
        let mut starts = [NONE; MAX_WIDTH];
        if !hints.is_null() {
            for lane in set_bits(mask) {
                // SAFETY: promised by the caller.
                starts[lane] = unsafe { hints.add(lane).read_unaligned() }.wrapping_sub(1);
            }
        }
        let mut searches = Searches::new(x);
        // SAFETY: promised by the caller.
        unsafe {
            self.begin_all::<V>(&mut searches, mask, &starts);
            self.search::<V>(&mut searches);
        }
        let mut cells = [OUTSIDE; MAX_WIDTH];
        for lane in set_bits(searches.inside) {
            let cell = searches.cell(lane);
            cells[lane] = cell as i32;
            if !hints.is_null() {
                // SAFETY: promised by the caller.
                unsafe { hints.add(lane).write_unaligned(cell + 1) };
            }
        }
        for (axis, plane) in searches.reference.iter().enumerate().take(self.dim) {
            // SAFETY: promised by the caller.
            unsafe { write(reference.add(axis * width), lanes, plane) };
        }
        self.notice(mask, &x, &cells);
        cells
    }

    /// Evaluates fields at reference positions of cells: results by field, then order, component and distinct derivative. Each field over
    /// time has a time in each lane.
    ///
    /// # Safety
    /// Reference positions are `[dim][width]`, and after them are the times, `[fields over time][width]`; `out` has room for `[outputs][width]` numbers; cells are of the mesh or
    /// [`OUTSIDE`].
    pub unsafe fn probe_lanes<T: Float>(
        &self,
        wanted: &[FemWanted],
        lanes: (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        // SAFETY: promised by the caller, and the processor has been asked.
        unsafe {
            match self.isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => self.probe_evex(wanted, lanes, cells, reference, out),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => self.probe_vex(wanted, lanes, cells, reference, out),
                _ => self.probe_by::<T, Plain>(wanted, lanes, cells, reference, out),
            }
        }
    }

    /// # Safety
    /// As [`Mesh::probe_lanes`], and the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn probe_vex<T: Float>(
        &self,
        wanted: &[FemWanted],
        lanes: (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        // SAFETY: promised by the caller.
        unsafe { self.probe_by::<T, F64x4>(wanted, lanes, cells, reference, out) }
    }

    /// # Safety
    /// As [`Mesh::probe_lanes`], and the processor has AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512dq,avx512vl")]
    unsafe fn probe_evex<T: Float>(
        &self,
        wanted: &[FemWanted],
        lanes: (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        // SAFETY: promised by the caller.
        unsafe { self.probe_by::<T, F64x8>(wanted, lanes, cells, reference, out) }
    }

    /// # Safety
    /// As [`Mesh::probe_lanes`], and the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn probe_by<T: Float, V: Doubles>(
        &self,
        wanted: &[FemWanted],
        (mask, width): (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        if let [field] = wanted
            && field.orders < 4
            && let Some((monomials, coefficients)) = field.values.simple(self)
        {
            let between = field.values.is_timed().then(|| {
                // SAFETY: promised by the caller.
                let times = unsafe { read(reference.add(self.dim * width), (mask, width)) };
                LanesBetween::new(&field.values, mask, &times)
            });
            let call = Call {
                field,
                coefficients,
                between: between.as_ref(),
                lanes: (mask, width),
                cells,
                reference,
                out,
            };
            // SAFETY: promised by the caller.
            return unsafe {
                match monomials {
                    3 => self.probe_simple::<T, V, 2, 3>(&call),
                    4 => self.probe_simple::<T, V, 3, 4>(&call),
                    6 => self.probe_simple::<T, V, 2, 6>(&call),
                    _ => self.probe_simple::<T, V, 3, 10>(&call),
                }
            };
        }
        // SAFETY: promised by the caller.
        unsafe { self.probe_any(wanted, (mask, width), cells, reference, out) }
    }

    /// # Safety
    /// As [`Mesh::probe_lanes`].
    #[inline(always)]
    unsafe fn probe_any<T: Float>(
        &self,
        wanted: &[FemWanted],
        (mask, width): (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        // What one lane waits for comes while the others are looked at.
        for field in wanted.iter().filter(|field| !field.values.is_timed()) {
            for lane in set_bits(mask).filter(|&lane| cells[lane] != OUTSIDE) {
                field.values.prefetch(self, cells[lane] as u32, 0);
            }
        }
        let all = wanted.iter().fold(0, |all, field| all | field.orders);
        let highest = all.checked_ilog2().unwrap_or(0) as usize;
        for lane in set_bits(mask) {
            let mut first = 0;
            let give = |slot: usize, value: f64| {
                // SAFETY: promised by the caller.
                unsafe {
                    out.add(slot * width + lane)
                        .write_unaligned(T::from_f64(value))
                }
            };
            let Ok(cell) = u32::try_from(cells[lane]) else {
                for field in wanted {
                    beyond(field, self.dim, |slot, value| give(first + slot, value));
                    first += field.outputs(self.dim);
                }
                continue;
            };
            let mut xi = [0.0; 3];
            for (axis, x) in xi.iter_mut().enumerate().take(self.dim) {
                // SAFETY: promised by the caller.
                *x = unsafe { reference.add(axis * width + lane).read_unaligned() }.to_f64();
            }
            let place = CellPosition::new(self, cell, &xi, highest > 0);
            let higher = (highest > 1).then(|| place.prepare(highest));
            let mut times = self.dim;
            for field in wanted {
                let between = field.values.is_timed().then(|| {
                    // SAFETY: promised by the caller.
                    let time = unsafe { reference.add(times * width + lane).read_unaligned() };
                    times += 1;
                    field.values.between(time.to_f64())
                });
                place.evaluate(
                    &field.values,
                    between.as_ref(),
                    field.orders,
                    higher.as_ref(),
                    |slot, value| {
                        give(first + slot, value);
                    },
                );
                first += field.outputs(self.dim);
            }
        }
    }

    /// Values and derivatives of a field at a position: by order, then component, then distinct derivative. Of values over time it is the
    /// first frame.
    pub fn probe(&self, wanted: &FemWanted, x: &[f64; 3], hint: Option<u32>) -> Vec<f64> {
        let mut results = vec![0.0; wanted.outputs(self.dim)];
        let give = |slot: usize, value: f64| results[slot] = value;
        match self.locate(x, hint) {
            None => beyond(wanted, self.dim, give),
            Some(found) => {
                let highest = wanted.orders.checked_ilog2().unwrap_or(0) as usize;
                let place = CellPosition::new(self, found.cell, &found.reference, highest > 0);
                let higher = (highest > 1).then(|| place.prepare(highest));
                place.evaluate(&wanted.values, None, wanted.orders, higher.as_ref(), give);
            }
        }
        results
    }

    /// Takes notice of whether any position was inside, until one was.
    fn notice(&self, mask: u32, x: &[[f64; MAX_WIDTH]; 3], cells: &[i32; MAX_WIDTH]) {
        if mask == 0 || self.contact.inside.load(Relaxed) != 0 {
            return;
        }
        self.contact.probed.store(1, Relaxed);
        for (axis, plane) in x.iter().enumerate().take(self.dim) {
            let coordinates = set_bits(mask).map(|lane| plane[lane]);
            self.contact.asked.include_all(axis, coordinates);
        }
        if cells.iter().any(|&cell| cell != OUTSIDE) {
            self.contact.inside.store(1, Relaxed);
        }
    }

    /// The precision of positions.
    pub fn real(&self) -> Real {
        self.real
    }
}

/// What a field is beyond its mesh.
pub(super) fn beyond(wanted: &FemWanted, dim: usize, mut give: impl FnMut(usize, f64)) {
    let values = wanted.orders as usize & 1;
    for slot in 0..wanted.outputs(dim) {
        let value = match &wanted.outside {
            Outside::Nan => f64::NAN,
            Outside::Constant(constant) if slot < values * constant.len() => constant[slot],
            Outside::Constant(_) => 0.0,
        };
        give(slot, value);
    }
}
