//! Which version of the primitive serves a specification, by instruction set.
//!
//! Specialized versions exist for the rows of `SPECIALIZED`, one kernel support on all axes; everything else
//! goes to the general version. A vector narrower than the width is used several times per call.

use super::kernel::{specialized_powers, table_powers};
use super::{ProbeFn, ProbeImage, ProbeKernel, ProbeSpec, contract, general};
use crate::simd::{BASELINE_FUSES, Isa, Lanes, Real, Vector};
#[cfg(target_arch = "x86_64")]
use crate::simd::{F32x4, F32x8, F32x16, F64x4, F64x8};
use std::ffi::c_void;

/// The primitive for `spec` on this processor.
pub fn lookup(spec: &ProbeSpec) -> Result<ProbeFn, String> {
    lookup_for(Isa::detect(), spec)
}

/// The primitive for `spec` in the version of `isa`, or why there is none.
///
/// It may be called only if `isa` [is available](Isa::is_available).
pub fn lookup_for(isa: Isa, spec: &ProbeSpec) -> Result<ProbeFn, String> {
    spec.check()?;
    Ok(match isa {
        Isa::Baseline => baseline(spec),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2(spec),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512(spec),
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx2 | Isa::Avx512 => return Err(format!("{isa:?} does not exist on this processor")),
    })
}

fn baseline(spec: &ProbeSpec) -> ProbeFn {
    match (spec.real, spec.width) {
        (Real::F32, 1) => portable::find::<Lanes<f32, 1, BASELINE_FUSES>>(spec),
        (Real::F64, 1) => portable::find::<Lanes<f64, 1, BASELINE_FUSES>>(spec),
        (Real::F32, _) => portable::find::<Lanes<f32, 4, BASELINE_FUSES>>(spec),
        (Real::F64, _) => portable::find::<Lanes<f64, 4, BASELINE_FUSES>>(spec),
    }
}

#[cfg(target_arch = "x86_64")]
fn avx2(spec: &ProbeSpec) -> ProbeFn {
    match (spec.real, spec.width) {
        (Real::F32, 1) => vex::find::<Lanes<f32, 1, true>>(spec),
        (Real::F64, 1) => vex::find::<Lanes<f64, 1, true>>(spec),
        (Real::F32, 4) => vex::find::<F32x4>(spec),
        (Real::F32, _) => vex::find::<F32x8>(spec),
        (Real::F64, _) => vex::find::<F64x4>(spec),
    }
}

#[cfg(target_arch = "x86_64")]
fn avx512(spec: &ProbeSpec) -> ProbeFn {
    match (spec.real, spec.width) {
        (Real::F32, 16) => evex::find::<F32x16>(spec),
        (Real::F64, 8 | 16) => evex::find::<F64x8>(spec),
        (Real::F32 | Real::F64, _) => avx2(spec),
    }
}

/// Writes the match over the specialized versions.
macro_rules! specialized {
    ($spec:expr, $vector:ident, $timed:literal, $(($dim:literal, $taps:literal, $orders:literal))*) => {{
        let spec: &ProbeSpec = $spec;
        let taps = 2 * spec.support[0];
        let same = spec.support[..spec.dim].iter().all(|&s| s == spec.support[0]);
        if !same || table_powers(spec) != specialized_powers(taps) {
            return general::<$vector>;
        }
        match (spec.dim, taps, spec.highest_order() + 1) {
            $(($dim, $taps, $orders) => special::<$vector, $dim, $taps, $orders, $timed>,)*
            _ => general::<$vector>,
        }
    }};
}

/// The versions that every instruction set has, and more.
macro_rules! common {
    ($spec:expr, $vector:ident, $timed:literal $(, $more:tt)*) => {
        specialized!($spec, $vector, $timed,
            (1, 2, 1) (1, 2, 2)
            (1, 4, 1) (1, 4, 2) (1, 4, 3)
            (1, 6, 1) (1, 6, 2) (1, 6, 3)
            (2, 2, 1) (2, 2, 2)
            (2, 4, 1) (2, 4, 2) (2, 4, 3)
            (2, 6, 1) (2, 6, 2) (2, 6, 3)
            (3, 2, 1) (3, 2, 2)
            (3, 4, 1) (3, 4, 2) (3, 4, 3)
            (3, 6, 1) (3, 6, 2) (3, 6, 3)
            $($more)*
        )
    };
}

/// Defines the entry points of one instruction set: functions that enable its features. Kernels with six taps are the ones
/// that have third and fourth derivatives; specialized versions for these pay where there are vectors to hold so much, and are not
/// made for images over time.
macro_rules! entry_points {
    (#[$features:meta] $module:ident) => {
        entry_points!(
            #[$features] $module, (1, 6, 4), (1, 6, 5), (2, 6, 4), (2, 6, 5), (3, 6, 4), (3, 6, 5)
        );
    };
    ($(#[$features:meta])? $module:ident $(, $high:tt)*) => {
        mod $module {
            use super::*;

            /// Any specification.
            $(#[$features])?
            pub(super) unsafe extern "C" fn general<V: Vector>(
                image: *const ProbeImage<'_>,
                kernel: *const ProbeKernel,
                mask: u32,
                positions: *const c_void,
                out: *mut c_void,
            ) {
                // SAFETY: this is the contract of `ProbeFn`.
                unsafe {
                    let (image, kernel) = (&*image, &*kernel);
                    image.notice::<V::Elem>(mask, positions.cast(), kernel.spec().width);
                    for lane in (0..kernel.spec().width).step_by(V::LANES) {
                        let positions = positions.cast::<V::Elem>().add(lane);
                        part::<V>(image, kernel, mask >> lane & V::ALL_LANES, positions, out.cast::<V::Elem>().add(lane));
                    }
                }
            }

            /// As many lanes as a vector has, by the general version.
            $(#[$features])?
            #[inline(never)]
            unsafe fn part<V: Vector>(
                image: &ProbeImage<'_>,
                kernel: &ProbeKernel,
                mask: u32,
                positions: *const V::Elem,
                out: *mut V::Elem,
            ) {
                // SAFETY: passed on.
                unsafe { general::probe::<V>(image, kernel, mask, positions, out) }
            }

            /// The specifications with these constants.
            $(#[$features])?
            unsafe extern "C" fn special<
                V: Vector,
                const DIM: usize,
                const TAPS: usize,
                const ORDERS: usize,
                const TIMED: bool,
            >(
                image: *const ProbeImage<'_>,
                kernel: *const ProbeKernel,
                mask: u32,
                positions: *const c_void,
                out: *mut c_void,
            ) {
                // SAFETY: this is the contract of `ProbeFn`.
                unsafe {
                    let (image, kernel) = (&*image, &*kernel);
                    image.notice::<V::Elem>(mask, positions.cast(), kernel.spec().width);
                    for lane in (0..kernel.spec().width).step_by(V::LANES) {
                        let mask = mask >> lane & V::ALL_LANES;
                        let positions = positions.cast::<V::Elem>().add(lane);
                        let out = out.cast::<V::Elem>().add(lane);
                        if !contract::probe::<V, DIM, TAPS, ORDERS, TIMED>(image, kernel, mask, positions, out) {
                            part::<V>(image, kernel, mask, positions, out);
                        }
                    }
                }
            }

            /// The version for `spec`.
            pub(super) fn find<V: Vector>(spec: &ProbeSpec) -> ProbeFn {
                match spec.frames {
                    0 => common!(spec, V, false $(, $high)*),
                    _ => common!(spec, V, true),
                }
            }
        }
    };
}

entry_points!(portable);
#[cfg(target_arch = "x86_64")]
entry_points!(
    #[target_feature(enable = "avx2,fma")]
    vex
);
#[cfg(target_arch = "x86_64")]
entry_points!(
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
    evex
);
