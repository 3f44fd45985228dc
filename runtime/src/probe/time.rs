//! From times to frames: the number of the frame at or below a time, the fraction after it, and the derivative of this position
//! by time.
//!
//! The numbers of the time axis are rounded to the program's real type once ([`TimeSteps`]). All operations are of that type,
//! none is fused, and their order is fixed, so that every instruction set and every GPU gives the same bits:
//!
//! ```text
//! regular:  τ = (t − start) · rate                       dτ/dt = rate
//! table:    τ = i + (t − times[i]) · rates[i]            dτ/dt = rates[i]
//!           i: the last with times[i] ≤ t, from 0 to count − 2; 0 if t is NaN
//! then:     τ is moved between −4 and frames + 3;  n = floor(τ);  fraction = τ − n
//! ```
//!
//! NaN gives the frame 0 and a fraction that is NaN. Beyond these bounds all taps of all kernels are the same frame.

use super::frames::number;
use super::{ProbeImage, Real};
use crate::grid::{TimeAxis, interval};
use crate::simd::{Float, Isa, MAX_WIDTH, Vector, entry_points, version};
use std::ffi::c_void;

/// A time axis in the real type of a program: every number is one of that type.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeSteps {
    /// Frames at regular times.
    Regular {
        /// The time of the first frame.
        start: f64,
        /// Frames per second.
        rate: f64,
    },
    /// Frames at any times.
    Table {
        /// The time of each frame.
        times: Vec<f64>,
        /// Frames per second between each frame and the next.
        rates: Vec<f64>,
    },
}

impl TimeSteps {
    /// The axis for a program of this real type. Rates are computed in double precision from the times of the axis.
    pub fn new(axis: &TimeAxis, real: Real) -> TimeSteps {
        let round = |x: f64| match real {
            Real::F32 => f64::from(x as f32),
            Real::F64 => x,
        };
        match axis {
            TimeAxis::Regular { start, step } => TimeSteps::Regular {
                start: round(*start),
                rate: round(1.0 / step),
            },
            TimeAxis::Table(times) => TimeSteps::Table {
                times: times.iter().map(|&time| round(time)).collect(),
                rates: times
                    .windows(2)
                    .map(|pair| round(1.0 / (pair[1] - pair[0])))
                    .collect(),
            },
        }
    }
}

/// A primitive that locates times.
///
/// # Safety
///
/// The image is of the real type of the lookup; times are `[width]` and the output `[3][width]` numbers of it: frame, fraction
/// and the derivative of the position by time. The processor has the instruction set of the lookup.
pub type TimeFn = unsafe extern "C" fn(
    image: *const ProbeImage<'_>,
    mask: u32,
    times: *const c_void,
    out: *mut c_void,
);

/// The primitive that locates times on this processor.
///
/// # Errors
/// No primitive has this width.
pub fn lookup_time(real: Real, width: usize) -> Result<TimeFn, String> {
    lookup_time_for(Isa::detect(), real, width)
}

/// The primitive that locates times in the version of `isa`, which may be called only if it
/// [is available](Isa::is_available).
///
/// # Errors
/// No primitive has this width, or the instruction set does not exist.
pub fn lookup_time_for(isa: Isa, real: Real, width: usize) -> Result<TimeFn, String> {
    version!(isa, real, width, 1, [portable, vex, evex])
}

entry_points!(locate_all(
    image: *const ProbeImage<'_>,
    mask: u32,
    times: *const c_void,
    out: *mut c_void,
));

/// Locates the times of all lanes.
///
/// # Safety
///
/// As [`TimeFn`].
#[inline(always)]
unsafe fn locate_all<V: Vector, const N: usize, const W: usize>(
    image: *const ProbeImage<'_>,
    mask: u32,
    times: *const c_void,
    out: *mut c_void,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let image = &*image;
        let (times, out) = (times.cast::<V::Elem>(), out.cast::<V::Elem>());
        image.notice_times::<V::Elem>(mask, times, W);
        for lane in (0..W).step_by(V::LANES) {
            locate::<V>(image, times.add(lane), out.add(lane), W);
        }
    }
}

/// Locates the times of `V::LANES` lanes.
///
/// # Safety
///
/// As [`TimeFn`], advanced to the first of the lanes.
#[inline(always)]
unsafe fn locate<V: Vector>(
    image: &ProbeImage<'_>,
    times: *const V::Elem,
    out: *mut V::Elem,
    width: usize,
) {
    // SAFETY: promised by the caller.
    let time = unsafe { V::load(times) };
    let zero = number::<V>(0);
    let (position, rate) = match &image.time {
        // An image without time has one frame, to which all times belong.
        None => (V::select(time.same(time), zero, time), zero),
        Some(TimeSteps::Regular { start, rate }) => {
            let start = V::splat(V::Elem::from_f64(*start));
            let rate = V::splat(V::Elem::from_f64(*rate));
            ((time - start) * rate, rate)
        }
        Some(TimeSteps::Table { times, rates }) => {
            let mut found = [[V::Elem::from_f64(0.0); MAX_WIDTH]; 3];
            for lane in 0..V::LANES {
                let i = interval(times, time.lane(lane).to_f64());
                let known = [i as f64, times[i], rates[i]];
                for (lanes, number) in found.iter_mut().zip(known) {
                    lanes[lane] = V::Elem::from_f64(number);
                }
            }
            // SAFETY: there is room for `MAX_WIDTH` lanes.
            let (before, begin, rate) = unsafe {
                (
                    V::load(found[0].as_ptr()),
                    V::load(found[1].as_ptr()),
                    V::load(found[2].as_ptr()),
                )
            };
            (before + (time - begin) * rate, rate)
        }
    };
    let (low, high) = (number::<V>(-4), number::<V>(image.frames + 3));
    // NaN stays.
    let position = high.min(low.max(position));
    let frame = position.floor();
    let fraction = position - frame;
    let frame = V::select(frame.same(frame), frame, zero);
    // SAFETY: promised by the caller.
    unsafe {
        frame.store(out);
        fraction.store(out.add(width));
        rate.store(out.add(2 * width));
    }
}
