//! What generated code calls, for W strands at a time: positions to cells, and cells to values and derivatives.
//!
//! Planes are `[component][width]` numbers of the program's precision. No call allocates but one for third and higher
//! derivatives in curved cells, and none locks. Results of a lane depend neither on the other lanes nor on the width.

use super::locate::{Progress, Search, prefetch};
use super::world::{Place, distinct};
use super::{FemValues, Mesh};
use crate::probe::MAX_ORDER;
use crate::simd::{Float, MAX_WIDTH, Real};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The number of a cell where there is none.
pub const OUTSIDE: i32 = -1;

/// What a field is beyond its mesh; derivatives of a constant are zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Outside {
    /// Not a number, so that a forgotten `inside` is seen.
    Nan,
    /// One number per component.
    Constant(Vec<f64>),
}

/// What is wanted of one field.
#[derive(Clone, Debug)]
pub struct FemWanted {
    /// The field.
    pub values: Arc<FemValues>,
    /// Bit `m` asks for all derivatives of total order `m`.
    pub orders: u32,
    /// What it is beyond the mesh.
    pub outside: Outside,
}

/// The places of the bits that are set, least first.
#[inline(always)]
fn set_bits(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            place
        })
    })
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
            #[cfg(target_arch = "x86_64")]
            if self.wide {
                return self.locate_wide(lanes, positions, hints, reference);
            }
            self.locate_any(lanes, positions, hints, reference)
        }
    }

    /// # Safety
    /// As [`Mesh::locate_lanes`], and the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn locate_wide<T: Float>(
        &self,
        lanes: (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        // SAFETY: promised by the caller.
        unsafe { self.locate_any(lanes, positions, hints, reference) }
    }

    /// # Safety
    /// As [`Mesh::locate_lanes`].
    #[inline(always)]
    unsafe fn locate_any<T: Float>(
        &self,
        (mask, width): (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        let mut cells = [OUTSIDE; MAX_WIDTH];
        let mut searches = [Search::NOWHERE; MAX_WIDTH];
        let mut pending = 0_u32;
        for lane in set_bits(mask) {
            let mut x = [0.0; 3];
            for (axis, x) in x.iter_mut().enumerate().take(self.dim) {
                // SAFETY: promised by the caller.
                *x = unsafe { positions.add(axis * width + lane).read_unaligned() }.to_f64();
            }
            let hint = if hints.is_null() {
                0
            } else {
                // SAFETY: as above.
                unsafe { hints.add(lane).read_unaligned() }
            };
            if self.begin(&mut searches[lane], &x, hint.wrapping_sub(1)) {
                pending |= 1 << lane;
            } else {
                // SAFETY: as above.
                unsafe { store(reference, lane, width, &[f64::NAN; 3][..self.dim]) };
            }
        }
        // All searches advance together, so that what one waits for comes while the others are looked at.
        while pending != 0 {
            for lane in set_bits(pending) {
                let search = &mut searches[lane];
                let end = match self.advance(search) {
                    Progress::Going => continue,
                    Progress::Outside => [f64::NAN; 3],
                    Progress::Found => {
                        cells[lane] = search.cell as i32;
                        if !hints.is_null() {
                            // SAFETY: promised by the caller.
                            unsafe { hints.add(lane).write_unaligned(search.cell + 1) };
                        }
                        search.x
                    }
                };
                pending &= !(1 << lane);
                // SAFETY: promised by the caller.
                unsafe { store(reference, lane, width, &end[..self.dim]) };
            }
        }
        self.notice(mask, &cells);
        cells
    }

    /// Evaluates fields at reference positions of cells: results by field, then order, component and distinct derivative.
    ///
    /// # Safety
    /// Reference positions are `[dim][width]`; `out` has room for `[outputs][width]` numbers; cells are of the mesh or
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
            #[cfg(target_arch = "x86_64")]
            if self.wide {
                return self.probe_wide(wanted, lanes, cells, reference, out);
            }
            self.probe_any(wanted, lanes, cells, reference, out);
        }
    }

    /// # Safety
    /// As [`Mesh::probe_lanes`], and the processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn probe_wide<T: Float>(
        &self,
        wanted: &[FemWanted],
        lanes: (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        // SAFETY: promised by the caller.
        unsafe { self.probe_any(wanted, lanes, cells, reference, out) }
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
        if let [field] = wanted
            && field.orders < 4
            && let Some((monomials, coefficients)) = field.values.simple(self)
        {
            let lanes = (mask, width);
            // SAFETY: promised by the caller.
            unsafe {
                match monomials {
                    3 => self.probe_simple::<T, 2, 3>(
                        field,
                        coefficients,
                        lanes,
                        cells,
                        reference,
                        out,
                    ),
                    4 => self.probe_simple::<T, 3, 4>(
                        field,
                        coefficients,
                        lanes,
                        cells,
                        reference,
                        out,
                    ),
                    6 => self.probe_simple::<T, 2, 6>(
                        field,
                        coefficients,
                        lanes,
                        cells,
                        reference,
                        out,
                    ),
                    _ => self.probe_simple::<T, 3, 10>(
                        field,
                        coefficients,
                        lanes,
                        cells,
                        reference,
                        out,
                    ),
                }
            }
            return;
        }
        // What one lane waits for comes while the others are looked at.
        for field in wanted {
            for lane in set_bits(mask).filter(|&lane| cells[lane] != OUTSIDE) {
                field.values.prefetch(self, cells[lane] as u32);
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
            let place = Place::new(self, cell, &xi, highest > 0);
            let higher = (highest > 1).then(|| place.prepare(highest));
            for field in wanted {
                place.evaluate(
                    &field.values,
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

    /// The most frequent case, in which everything is known but the cell: values and gradients of one field of degree 1 or 2 on
    /// simplices. It does what the general case does, operation by operation.
    ///
    /// # Safety
    /// As [`Mesh::probe_lanes`].
    #[inline(always)]
    unsafe fn probe_simple<T: Float, const DIM: usize, const N: usize>(
        &self,
        field: &FemWanted,
        coefficients: &[f64],
        (mask, width): (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        let components = field.values.components;
        let stride = components * N;
        for lane in set_bits(mask).filter(|&lane| cells[lane] != OUTSIDE) {
            let first = coefficients
                .as_ptr()
                .wrapping_add(cells[lane] as usize * stride);
            prefetch::<1>(first);
            if N > 4 {
                prefetch::<1>(first.wrapping_add(8));
            }
        }
        let (values, gradients) = (field.orders & 1 == 1, field.orders & 2 == 2);
        let after_values = if values { components } else { 0 };
        for lane in set_bits(mask) {
            let give = |slot: usize, value: f64| {
                // SAFETY: promised by the caller.
                unsafe {
                    out.add(slot * width + lane)
                        .write_unaligned(T::from_f64(value))
                }
            };
            let Ok(cell) = u32::try_from(cells[lane]) else {
                beyond(field, DIM, give);
                continue;
            };
            let mut xi = [0.0; 3];
            for (axis, x) in xi.iter_mut().enumerate().take(DIM) {
                // SAFETY: promised by the caller.
                *x = unsafe { reference.add(axis * width + lane).read_unaligned() }.to_f64();
            }
            let place = Place::new(self, cell, &xi, gradients);
            let own = &coefficients[cell as usize * stride..][..stride];
            for (n, c) in own.as_chunks::<N>().0.iter().enumerate() {
                let (value, gradient) = place.simple::<N>(c);
                if values {
                    give(n, value);
                }
                if gradients {
                    for (i, d) in gradient.iter().enumerate().take(DIM) {
                        give(after_values + n * DIM + i, *d);
                    }
                }
            }
        }
    }

    /// Values and derivatives of a field at a position: by order, then component, then distinct derivative.
    pub fn probe(&self, wanted: &FemWanted, x: &[f64; 3], hint: Option<u32>) -> Vec<f64> {
        let mut results = vec![0.0; wanted.outputs(self.dim)];
        let give = |slot: usize, value: f64| results[slot] = value;
        match self.locate(x, hint) {
            None => beyond(wanted, self.dim, give),
            Some(found) => {
                let highest = wanted.orders.checked_ilog2().unwrap_or(0) as usize;
                let place = Place::new(self, found.cell, &found.reference, highest > 0);
                let higher = (highest > 1).then(|| place.prepare(highest));
                place.evaluate(&wanted.values, wanted.orders, higher.as_ref(), give);
            }
        }
        results
    }

    /// Takes notice of whether any position was inside, until one was.
    fn notice(&self, mask: u32, cells: &[i32; MAX_WIDTH]) {
        if mask == 0 || self.contact.inside.load(Relaxed) != 0 {
            return;
        }
        self.contact.probed.store(1, Relaxed);
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
fn beyond(wanted: &FemWanted, dim: usize, mut give: impl FnMut(usize, f64)) {
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

/// # Safety
/// There is room for as many planes as numbers.
unsafe fn store<T: Float>(planes: *mut T, lane: usize, width: usize, numbers: &[f64]) {
    for (n, x) in numbers.iter().enumerate() {
        // SAFETY: promised by the caller.
        unsafe {
            planes
                .add(n * width + lane)
                .write_unaligned(T::from_f64(*x))
        };
    }
}
