//! Vectors as plain arrays, for processors without a version of their own and for single lanes.
//!
//! The loops over lanes have constant bounds and no branches, so that the compiler can use whatever vectors
//! the target has.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes, axes and taps index several arrays at once"
)]

use super::{Doubles, Float, MAX_WIDTH, Mask, Vector};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// `N` numbers; `FUSED` when the code runs where a fused multiply-add is one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<E, const N: usize, const FUSED: bool>([E; N]);

/// A truth value per lane.
#[derive(Clone, Copy)]
pub(crate) struct Flags<const N: usize>([bool; N]);

impl<const N: usize> BitAnd for Flags<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(mut self, b: Self) -> Self {
        for l in 0..N {
            self.0[l] &= b.0[l];
        }
        self
    }
}

impl<const N: usize> BitOr for Flags<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(mut self, b: Self) -> Self {
        for l in 0..N {
            self.0[l] |= b.0[l];
        }
        self
    }
}

impl<const N: usize> Not for Flags<N> {
    type Output = Self;
    #[inline(always)]
    fn not(mut self) -> Self {
        for l in 0..N {
            self.0[l] = !self.0[l];
        }
        self
    }
}

impl<const N: usize> Mask for Flags<N> {
    #[inline(always)]
    fn bits(self) -> u32 {
        let mut bits = 0;
        for l in 0..N {
            bits |= u32::from(self.0[l]) << l;
        }
        bits
    }
}

/// Whether rounding to an integer is one instruction of the target; else it would be a call.
const fn rounds_natively(fused: bool) -> bool {
    fused || !cfg!(target_arch = "x86_64")
}

macro_rules! portable {
    ($ty:ident, $integers_from:expr) => {
        portable!(operator $ty, Add, add, +=);
        portable!(operator $ty, Sub, sub, -=);
        portable!(operator $ty, Mul, mul, *=);
        portable!(operator $ty, Div, div, /=);

        impl<const N: usize, const FUSED: bool> Neg for Lanes<$ty, N, FUSED> {
            type Output = Self;
            #[inline(always)]
            fn neg(mut self) -> Self {
                for l in 0..N {
                    self.0[l] = -self.0[l];
                }
                self
            }
        }

        // SAFETY: the pointer methods touch the named elements only; no special instructions are used.
        unsafe impl<const N: usize, const FUSED: bool> Vector for Lanes<$ty, N, FUSED> {
            type Elem = $ty;
            type Mask = Flags<N>;
            const LANES: usize = N;
            const FUSED: bool = FUSED;

            #[inline(always)]
            fn splat(x: $ty) -> Self {
                Lanes([x; N])
            }

            #[inline(always)]
            unsafe fn load(p: *const $ty) -> Self {
                // SAFETY: the caller vouches for `N` elements.
                Lanes(unsafe { p.cast::<[$ty; N]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, p: *mut $ty) {
                // SAFETY: the caller vouches for `N` elements.
                unsafe { p.cast::<[$ty; N]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            fn mul_add(mut self, b: Self, c: Self) -> Self {
                for l in 0..N {
                    self.0[l] = if FUSED {
                        self.0[l].mul_add(b.0[l], c.0[l])
                    } else {
                        self.0[l] * b.0[l] + c.0[l]
                    };
                }
                self
            }

            #[inline(always)]
            fn min(mut self, b: Self) -> Self {
                for l in 0..N {
                    self.0[l] = if self.0[l] < b.0[l] { self.0[l] } else { b.0[l] };
                }
                self
            }

            #[inline(always)]
            fn max(mut self, b: Self) -> Self {
                for l in 0..N {
                    self.0[l] = if self.0[l] > b.0[l] { self.0[l] } else { b.0[l] };
                }
                self
            }

            #[inline(always)]
            fn sqrt(mut self) -> Self {
                for l in 0..N {
                    self.0[l] = self.0[l].sqrt();
                }
                self
            }

            #[inline(always)]
            fn floor(mut self) -> Self {
                for l in 0..N {
                    let x = self.0[l];
                    self.0[l] = if rounds_natively(FUSED) {
                        Float::floor(x)
                    } else {
                        // Adding the first number that has no fraction bits rounds to the nearest integer.
                        let nearest = (x.abs() + $integers_from) - $integers_from;
                        let nearest = nearest.copysign(x);
                        let below = if nearest > x { nearest - 1.0 } else { nearest };
                        if x.abs() < $integers_from { below } else { x }
                    };
                }
                self
            }

            #[inline(always)]
            fn abs(mut self) -> Self {
                for l in 0..N {
                    self.0[l] = self.0[l].abs();
                }
                self
            }

            #[inline(always)]
            fn copysign(mut self, sign: Self) -> Self {
                for l in 0..N {
                    self.0[l] = self.0[l].copysign(sign.0[l]);
                }
                self
            }

            #[inline(always)]
            fn lt(self, b: Self) -> Flags<N> {
                let mut flags = [false; N];
                for l in 0..N {
                    flags[l] = self.0[l] < b.0[l];
                }
                Flags(flags)
            }

            #[inline(always)]
            fn le(self, b: Self) -> Flags<N> {
                let mut flags = [false; N];
                for l in 0..N {
                    flags[l] = self.0[l] <= b.0[l];
                }
                Flags(flags)
            }

            #[inline(always)]
            fn same(self, b: Self) -> Flags<N> {
                let mut flags = [false; N];
                for l in 0..N {
                    flags[l] = self.0[l] == b.0[l];
                }
                Flags(flags)
            }

            #[inline(always)]
            fn select(mask: Flags<N>, mut a: Self, b: Self) -> Self {
                for l in 0..N {
                    a.0[l] = if mask.0[l] { a.0[l] } else { b.0[l] };
                }
                a
            }

            #[inline(always)]
            fn mask(bits: u32) -> Flags<N> {
                let mut flags = [false; N];
                for l in 0..N {
                    flags[l] = bits >> l & 1 == 1;
                }
                Flags(flags)
            }

            #[inline(always)]
            fn offsets(cells: &[Self; 3], strides: &[i64; 3], dim: usize) -> [i64; MAX_WIDTH] {
                let mut offsets = [0; MAX_WIDTH];
                for axis in 0..dim {
                    for l in 0..N {
                        offsets[l] += i64::from(cells[axis].0[l] as i32) * strides[axis];
                    }
                }
                offsets
            }

            #[inline(always)]
            unsafe fn rows2(p: *const $ty, offsets: &[i64; MAX_WIDTH]) -> [Self; 2] {
                // SAFETY: the caller vouches for these elements.
                unsafe { rows(p, offsets) }
            }

            #[inline(always)]
            unsafe fn rows4(p: *const $ty, offsets: &[i64; MAX_WIDTH]) -> [Self; 4] {
                // SAFETY: the caller vouches for these elements.
                unsafe { rows(p, offsets) }
            }
        }
    };
    (operator $ty:ident, $trait:ident, $method:ident, $op:tt) => {
        impl<const N: usize, const FUSED: bool> $trait for Lanes<$ty, N, FUSED> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, b: Self) -> Self {
                for l in 0..N {
                    self.0[l] $op b.0[l];
                }
                self
            }
        }
    };
}

portable!(f32, 8_388_608.0_f32);
portable!(f64, 4_503_599_627_370_496.0_f64);

/// Lane `l` of vector `i` is the element at `p + offsets[l] + i`.
///
/// # Safety
///
/// These elements exist.
#[inline(always)]
unsafe fn rows<E: Float, const N: usize, const FUSED: bool, const TAPS: usize>(
    p: *const E,
    offsets: &[i64; MAX_WIDTH],
) -> [Lanes<E, N, FUSED>; TAPS] {
    let mut taps = [Lanes([E::from_f64(0.0); N]); TAPS];
    for l in 0..N {
        // SAFETY: promised by the caller.
        let row = unsafe {
            p.offset(offsets[l] as isize)
                .cast::<[E; TAPS]>()
                .read_unaligned()
        };
        for i in 0..TAPS {
            taps[i].0[l] = row[i];
        }
    }
    taps
}

// SAFETY: as for `Vector`.
unsafe impl<const N: usize, const FUSED: bool> Doubles for Lanes<f64, N, FUSED> {
    #[inline(always)]
    fn and(mut self, b: Self) -> Self {
        for l in 0..N {
            self.0[l] = f64::from_bits(self.0[l].to_bits() & b.0[l].to_bits());
        }
        self
    }

    #[inline(always)]
    fn or(mut self, b: Self) -> Self {
        for l in 0..N {
            self.0[l] = f64::from_bits(self.0[l].to_bits() | b.0[l].to_bits());
        }
        self
    }

    #[inline(always)]
    fn shift_left<const B: u32>(mut self) -> Self {
        for l in 0..N {
            self.0[l] = f64::from_bits(self.0[l].to_bits() << B);
        }
        self
    }

    #[inline(always)]
    fn shift_right<const B: u32>(mut self) -> Self {
        for l in 0..N {
            self.0[l] = f64::from_bits(self.0[l].to_bits() >> B);
        }
        self
    }

    #[inline(always)]
    unsafe fn load_singles(p: *const f32) -> Self {
        let mut lanes = [0.0; N];
        for (l, lane) in lanes.iter_mut().enumerate() {
            // SAFETY: the caller vouches for `N` elements.
            *lane = f64::from(unsafe { *p.add(l) });
        }
        Lanes(lanes)
    }

    #[inline(always)]
    unsafe fn store_singles(self, p: *mut f32) {
        for l in 0..N {
            // SAFETY: the caller vouches for `N` elements.
            unsafe { p.add(l).write(self.0[l] as f32) }
        }
    }
}
