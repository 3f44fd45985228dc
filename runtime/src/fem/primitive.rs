//! What generated code calls, for W strands at a time: positions to cells, and cells to values and derivatives.
//!
//! Planes are `[component][width]` numbers of the program's precision. No call allocates but one for third and higher
//! derivatives in curved cells, and none locks. Results of a lane depend neither on the other lanes nor on the width.

use super::locate::{Found, Search};
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

impl FemWanted {
    fn outputs(&self, dim: usize) -> usize {
        let orders = (0..MAX_ORDER + 1).filter(|m| self.orders >> m & 1 == 1);
        orders
            .map(|m| self.values.components * distinct(dim, m))
            .sum()
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
        (mask, width): (u32, usize),
        positions: *const T,
        hints: *mut u32,
        reference: *mut T,
    ) -> [i32; MAX_WIDTH] {
        debug_assert!(self.real == T::REAL);
        let mut cells = [OUTSIDE; MAX_WIDTH];
        let mut searches: [Option<Search>; MAX_WIDTH] = [None; MAX_WIDTH];
        let mut pending = 0_u32;
        let lanes = |mask: u32| (0..width).filter(move |lane| mask >> lane & 1 == 1);
        for lane in lanes(mask) {
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
            searches[lane] = self.begin(&x, hint.wrapping_sub(1));
            pending |= u32::from(searches[lane].is_some()) << lane;
            // SAFETY: as above.
            unsafe { store(reference, lane, width, &[f64::NAN; 3][..self.dim]) };
        }
        // All searches advance together, so that what one waits for comes while the others are looked at.
        while pending != 0 {
            for lane in lanes(pending) {
                let search = searches[lane].as_mut().expect("a search that is pending");
                let Some(end) = self.advance(search) else {
                    continue;
                };
                pending &= !(1 << lane);
                let Some(Found {
                    cell,
                    reference: xi,
                }) = end
                else {
                    continue;
                };
                cells[lane] = cell as i32;
                // SAFETY: promised by the caller.
                unsafe {
                    store(reference, lane, width, &xi[..self.dim]);
                    if !hints.is_null() {
                        hints.add(lane).write_unaligned(cell + 1);
                    }
                }
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
        (mask, width): (u32, usize),
        cells: &[i32; MAX_WIDTH],
        reference: *const T,
        out: *mut T,
    ) {
        let all = wanted.iter().fold(0, |all, field| all | field.orders);
        let highest = all.checked_ilog2().unwrap_or(0) as usize;
        for lane in (0..width).filter(|lane| mask >> lane & 1 == 1) {
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
            let place = Place::new(self, cell, &xi, highest);
            for field in wanted {
                place.evaluate(&field.values, field.orders, |slot, value| {
                    give(first + slot, value);
                });
                first += field.outputs(self.dim);
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
                let place = Place::new(self, found.cell, &found.reference, highest);
                place.evaluate(&wanted.values, wanted.orders, give);
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
