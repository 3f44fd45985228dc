//! Which vectors serve a block of W strands on each instruction set.

/// Whether the baseline of the target fuses multiply and add.
pub(crate) const BASELINE_FUSES: bool = cfg!(target_arch = "aarch64");

/// The version of a primitive for an instruction set, a real type and a width, as a `Result`: one of three
/// functions generic over the vector, a size N and the width W. `portable` enables no features, `vex` those of
/// AVX2 and `evex` those of AVX-512. A vector narrower than the width is used several times per call.
macro_rules! version {
    ($isa:expr, $real:expr, $width:expr, $n:literal, [$portable:ident, $vex:ident, $evex:ident]) => {{
        use $crate::simd::{BASELINE_FUSES, Isa, Lanes, Real};
        #[cfg(target_arch = "x86_64")]
        use $crate::simd::{F32x4, F32x8, F32x16, F64x4, F64x8};
        match ($isa, $real, $width) {
            (Isa::Baseline, Real::F32, 1) => {
                Ok($portable::<Lanes<f32, 1, BASELINE_FUSES>, $n, 1> as _)
            }
            (Isa::Baseline, Real::F32, 4) => {
                Ok($portable::<Lanes<f32, 4, BASELINE_FUSES>, $n, 4> as _)
            }
            (Isa::Baseline, Real::F32, 8) => {
                Ok($portable::<Lanes<f32, 4, BASELINE_FUSES>, $n, 8> as _)
            }
            (Isa::Baseline, Real::F32, 16) => {
                Ok($portable::<Lanes<f32, 4, BASELINE_FUSES>, $n, 16> as _)
            }
            (Isa::Baseline, Real::F64, 1) => {
                Ok($portable::<Lanes<f64, 1, BASELINE_FUSES>, $n, 1> as _)
            }
            (Isa::Baseline, Real::F64, 4) => {
                Ok($portable::<Lanes<f64, 4, BASELINE_FUSES>, $n, 4> as _)
            }
            (Isa::Baseline, Real::F64, 8) => {
                Ok($portable::<Lanes<f64, 4, BASELINE_FUSES>, $n, 8> as _)
            }
            (Isa::Baseline, Real::F64, 16) => {
                Ok($portable::<Lanes<f64, 4, BASELINE_FUSES>, $n, 16> as _)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, Real::F32, 16) => Ok($evex::<F32x16, $n, 16> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, Real::F64, 8) => Ok($evex::<F64x8, $n, 8> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, Real::F64, 16) => Ok($evex::<F64x8, $n, 16> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2 | Isa::Avx512, Real::F32, 1) => Ok($vex::<Lanes<f32, 1, true>, $n, 1> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2 | Isa::Avx512, Real::F32, 4) => Ok($vex::<F32x4, $n, 4> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2 | Isa::Avx512, Real::F32, 8) => Ok($vex::<F32x8, $n, 8> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, Real::F32, 16) => Ok($vex::<F32x8, $n, 16> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2 | Isa::Avx512, Real::F64, 1) => Ok($vex::<Lanes<f64, 1, true>, $n, 1> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2 | Isa::Avx512, Real::F64, 4) => Ok($vex::<F64x4, $n, 4> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, Real::F64, 8) => Ok($vex::<F64x4, $n, 8> as _),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, Real::F64, 16) => Ok($vex::<F64x4, $n, 16> as _),
            #[cfg(not(target_arch = "x86_64"))]
            (Isa::Avx2 | Isa::Avx512, _, 1 | 4 | 8 | 16) => {
                Err(format!("{:?} does not exist on this processor", $isa))
            }
            _ => Err(format!(
                "the width is {}, wanted one of 1, 4, 8, 16",
                $width
            )),
        }
    }};
}

pub(crate) use version;

/// Defines the three versions of a primitive, `portable`, `vex` and `evex`, from a function that is inlined into each and has the contract of
/// the primitive.
macro_rules! entry_points {
    ($body:ident($($arg:ident: $ty:ty),* $(,)?)) => {
        $crate::simd::entry_points!(portable, $body($($arg: $ty),*));
        #[cfg(target_arch = "x86_64")]
        $crate::simd::entry_points!(
            #[target_feature(enable = "avx2,fma")]
            vex, $body($($arg: $ty),*)
        );
        #[cfg(target_arch = "x86_64")]
        $crate::simd::entry_points!(
            #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
            evex, $body($($arg: $ty),*)
        );
    };
    ($(#[$features:meta])? $name:ident, $body:ident($($arg:ident: $ty:ty),*)) => {
        $(#[$features])?
        unsafe extern "C" fn $name<V: $crate::simd::Vector, const N: usize, const W: usize>(
            $($arg: $ty),*
        ) {
            // SAFETY: passed on.
            unsafe { $body::<V, N, W>($($arg),*) }
        }
    };
}

pub(crate) use entry_points;
