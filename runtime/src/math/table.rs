//! The table of elementary functions and the versions of each.

use super::{arcs, circle, error, exponential, rounding};
use crate::simd::trace::{Tape, Traced, tape};
use crate::simd::{BASELINE_FUSES, Doubles, Isa, Lanes, Real, WIDTHS};
#[cfg(target_arch = "x86_64")]
use crate::simd::{F64x4, F64x8};
use std::ffi::c_void;

/// An elementary function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MathRow {
    /// Its name in the language and in C.
    pub name: &'static str,
    /// Number of arguments.
    pub arity: usize,
    /// How far a double result is from the true value at most, in units in its last place; [`MathRow::single_units`] says it
    /// for singles.
    pub units: f64,
}

impl MathRow {
    /// How far a single result is from the true value at most, in units in its last place: it is that of the doubles,
    /// rounded once more.
    pub fn single_units(&self) -> f64 {
        if self.units == 0.0 { 0.0 } else { 0.501 }
    }
}

/// A primitive for W strands: arguments as `[arity][W]` reals, results as `[W]`, which may not overlap.
///
/// # Safety
///
/// The buffers have these sizes and the processor has the instruction set of the lookup.
pub type MathFn = unsafe extern "C" fn(args: *const c_void, out: *mut c_void);

/// A row as a type, for which the versions are instantiated.
trait Function {
    const ARITY: usize;
    fn apply<V: Doubles>(x: V, y: V) -> V;
}

/// Writes the table, and the search in it, from one list of rows.
macro_rules! rows {
    ($($name:ident $arity:literal $units:literal ($x:ident, $y:ident) $body:expr;)*) => {
        /// Every elementary function.
        pub const MATH: &[MathRow] = &[$(MathRow { name: stringify!($name), arity: $arity, units: $units },)*];

        $(
            #[allow(non_camel_case_types, reason = "named as the row")]
            struct $name;

            impl Function for $name {
                const ARITY: usize = $arity;
                #[inline(always)]
                fn apply<V: Doubles>($x: V, $y: V) -> V {
                    $body
                }
            }
        )*

        /// The primitive called `name` in the version of `isa`, or why there is none.
        ///
        /// It may be called only if `isa` [is available](Isa::is_available).
        pub fn lookup_for(isa: Isa, name: &str, real: Real, width: usize) -> Result<MathFn, String> {
            if !WIDTHS.contains(&width) {
                return Err(format!("width of `{name}` is {width}, wanted one of 1, 4, 8, 16"));
            }
            match name {
                $(stringify!($name) => version::<$name>(isa, real, width),)*
                _ => Err(format!("`{name}` is not an elementary function")),
            }
        }

        /// What the function called `name` does to its arguments in double precision, operation by operation.
        pub fn trace(name: &str) -> Option<Tape> {
            match name {
                $(stringify!($name) => Some(traced::<$name>()),)*
                _ => None,
            }
        }
    };
}

// Name, number of arguments, greatest error of doubles, and implementation.
rows! {
    sin 1 0.85 (x, _y) circle::sin(x);
    cos 1 0.85 (x, _y) circle::cos(x);
    tan 1 0.9 (x, _y) circle::tan(x);
    asin 1 0.75 (x, _y) arcs::asin(x);
    acos 1 0.75 (x, _y) arcs::acos(x);
    atan 1 0.75 (x, _y) arcs::atan(x);
    atan2 2 0.75 (y, x) arcs::atan2(y, x);
    exp 1 0.75 (x, _y) exponential::exp(x);
    log 1 0.6 (x, _y) exponential::log(x);
    log2 1 0.6 (x, _y) exponential::log2(x);
    log10 1 0.6 (x, _y) exponential::log10(x);
    pow 2 0.85 (x, y) exponential::pow(x, y);
    sqrt 1 0.5 (x, _y) rounding::sqrt(x);
    erf 1 1.1 (x, _y) error::erf(x);
    erfc 1 1.1 (x, _y) error::erfc(x);
    fmod 2 0.0 (x, y) rounding::fmod(x, y);
    floor 1 0.0 (x, _y) rounding::floor(x);
    ceil 1 0.0 (x, _y) rounding::ceil(x);
    round 1 0.0 (x, _y) rounding::round(x);
    trunc 1 0.0 (x, _y) rounding::trunc(x);
}

fn traced<F: Function>() -> Tape {
    let apply = |x: &[Traced<f64>]| vec![F::apply(x[0], x[F::ARITY - 1])];
    tape(F::ARITY, apply)
}

/// The primitive called `name` on this processor.
pub fn lookup(name: &str, real: Real, width: usize) -> Result<MathFn, String> {
    lookup_for(Isa::detect(), name, real, width)
}

fn version<F: Function>(isa: Isa, real: Real, width: usize) -> Result<MathFn, String> {
    match real {
        Real::F32 => of_width::<F, true>(isa, width),
        Real::F64 => of_width::<F, false>(isa, width),
    }
}

fn of_width<F: Function, const SINGLE: bool>(isa: Isa, width: usize) -> Result<MathFn, String> {
    type Four = Lanes<f64, 4, BASELINE_FUSES>;
    Ok(match (isa, width) {
        (Isa::Baseline, 1) => portable::<F, Lanes<f64, 1, BASELINE_FUSES>, SINGLE, 1>,
        (Isa::Baseline, 4) => portable::<F, Four, SINGLE, 4>,
        (Isa::Baseline, 8) => portable::<F, Four, SINGLE, 8>,
        (Isa::Baseline, _) => portable::<F, Four, SINGLE, 16>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2 | Isa::Avx512, 1) => vex::<F, Lanes<f64, 1, true>, SINGLE, 1>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2 | Isa::Avx512, 4) => vex::<F, F64x4, SINGLE, 4>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => vex::<F, F64x4, SINGLE, 8>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, _) => vex::<F, F64x4, SINGLE, 16>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 8) => evex::<F, F64x8, SINGLE, 8>,
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, _) => evex::<F, F64x8, SINGLE, 16>,
        #[cfg(not(target_arch = "x86_64"))]
        (Isa::Avx2 | Isa::Avx512, _) => {
            return Err(format!("{isa:?} does not exist on this processor"));
        }
    })
}

/// Defines, for one instruction set, a function that enables its features and the entry points that call it
/// for each width.
macro_rules! entry_point {
    ($(#[$features:meta])* $name:ident, $map:ident) => {
        unsafe extern "C" fn $name<F: Function, V: Doubles, const SINGLE: bool, const W: usize>(
            args: *const c_void,
            out: *mut c_void,
        ) {
            // SAFETY: this is the contract of `MathFn`.
            unsafe { $map::<F, V, SINGLE>(args, out, W) }
        }

        $(#[$features])*
        #[inline(never)]
        unsafe fn $map<F: Function, V: Doubles, const SINGLE: bool>(args: *const c_void, out: *mut c_void, width: usize) {
            // SAFETY: passed on.
            unsafe { map::<F, V, SINGLE>(args, out, width) }
        }
    };
}

entry_point!(portable, map_portable);
#[cfg(target_arch = "x86_64")]
entry_point!(
    #[target_feature(enable = "avx2,fma")]
    vex,
    map_vex
);
#[cfg(target_arch = "x86_64")]
entry_point!(
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
    evex,
    map_evex
);

/// Applies a function to all lanes, a vector at a time.
///
/// # Safety
///
/// As [`MathFn`], for `width` strands.
#[inline(always)]
unsafe fn map<F: Function, V: Doubles, const SINGLE: bool>(
    args: *const c_void,
    out: *mut c_void,
    width: usize,
) {
    for lane in (0..width).step_by(V::LANES) {
        // SAFETY: promised by the caller; lanes `lane` to `lane + LANES` of every argument exist.
        unsafe {
            if SINGLE {
                let args: *const f32 = args.cast();
                let x = V::load_singles(args.add(lane));
                let y = if F::ARITY > 1 {
                    V::load_singles(args.add(width + lane))
                } else {
                    x
                };
                F::apply(x, y).store_singles(out.cast::<f32>().add(lane));
            } else {
                let args: *const f64 = args.cast();
                let x = V::load(args.add(lane));
                let y = if F::ARITY > 1 {
                    V::load(args.add(width + lane))
                } else {
                    x
                };
                F::apply(x, y).store(out.cast::<f64>().add(lane));
            }
        }
    }
}
