//! Samples of one and two bytes, which become singles when they are loaded.
//!
//! The bits of a sample, at most sixteen, are put below the exponent of 2^23. That is a number, from which one subtraction takes away
//! 2^23 and, for signed samples, what their first bit counts for; it also adds an integer that the file asks for. All of these
//! numbers are integers below 2^24, so nothing is rounded.

use super::{Float, MAX_WIDTH, Vector};

/// The integer types of small samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmallType {
    U8,
    U16,
    I16,
}

impl SmallType {
    /// The bytes of a sample.
    #[inline(always)]
    pub(crate) const fn bytes(self) -> usize {
        match self {
            SmallType::U8 => 1,
            SmallType::U16 | SmallType::I16 => 2,
        }
    }
}

/// The greatest magnitude of a number that is added to all samples.
pub(crate) const MOST_ADDED: i32 = 1 << 22;

/// 2^23, below whose exponent there is room for the bits of a sample.
const ABOVE: f32 = 8_388_608.0;

/// The bit of a signed sample that counts as its negative.
const SIGN: u32 = 0x8000;

/// The numbers that small samples stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Small {
    kind: SmallType,
    /// The bits that make a number of those of a sample, by an exclusive or.
    flip: u32,
    /// The number to subtract from it.
    base: f32,
}

impl Small {
    /// Samples of a type, and a number that is added to each, at most of the magnitude [`MOST_ADDED`].
    pub(crate) fn new(kind: SmallType, added: i32) -> Small {
        debug_assert!(added.abs() <= MOST_ADDED);
        let sign = match kind {
            SmallType::U8 | SmallType::U16 => 0,
            SmallType::I16 => SIGN,
        };
        Small {
            kind,
            flip: ABOVE.to_bits() ^ sign,
            base: ABOVE + (sign as i32 - added) as f32,
        }
    }

    /// The bytes of a sample.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.kind.bytes()
    }

    /// The bits that make a number of those of a sample, and the number to be subtracted from it.
    #[inline(always)]
    pub(crate) fn parts(&self) -> (u32, f32) {
        (self.flip, self.base)
    }

    /// The number of a sample.
    #[inline(always)]
    pub(crate) fn number(&self, sample: impl Bits) -> f32 {
        f32::from_bits(sample.bits() ^ self.flip) - self.base
    }
}

/// The bits of a small sample.
pub(crate) trait Bits: Copy + Default + PartialEq + Send + Sync + 'static {
    /// Their number.
    const BITS: u32;

    /// The bits, the others being zero.
    fn bits(self) -> u32;
}

macro_rules! bits {
    ($($ty:ident),*) => {$(
        impl Bits for $ty {
            const BITS: u32 = $ty::BITS;

            #[inline(always)]
            fn bits(self) -> u32 {
                u32::from(self)
            }
        }
    )*};
}

bits!(u8, u16);

/// Lane `l` of vector `i` is the number of the sample at `p + offsets[l] + i`.
///
/// # Safety
///
/// These samples exist; they need not be aligned.
#[inline(always)]
pub(super) unsafe fn taps<V: Vector, S: Bits, const TAPS: usize>(
    p: *const S,
    offsets: &[i64; MAX_WIDTH],
    small: &Small,
) -> [V; TAPS] {
    let mut taps = [[V::Elem::from_f64(0.0); MAX_WIDTH]; TAPS];
    for l in 0..V::LANES {
        let row = p.wrapping_offset(offsets[l] as isize);
        // SAFETY: promised by the caller.
        let row = unsafe { row.cast::<[S; TAPS]>().read_unaligned() };
        for i in 0..TAPS {
            taps[i][l] = V::Elem::from_f64(f64::from(small.number(row[i])));
        }
    }
    // SAFETY: a tap has `MAX_WIDTH` lanes.
    taps.map(|tap| unsafe { V::load(tap.as_ptr()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_samples_are_their_numbers() {
        for added in [0, 1, -1, -1024, 1000, MOST_ADDED, -MOST_ADDED] {
            let small =
                [SmallType::U8, SmallType::U16, SmallType::I16].map(|kind| Small::new(kind, added));
            for sample in 0..=u16::MAX {
                let wanted = |number: i32| ((number + added) as f32).to_bits();
                let [byte, unsigned, signed] = small;
                assert_eq!(unsigned.number(sample).to_bits(), wanted(i32::from(sample)));
                let number = i32::from(sample as i16);
                assert_eq!(signed.number(sample).to_bits(), wanted(number));
                let sample = sample as u8;
                assert_eq!(byte.number(sample).to_bits(), wanted(i32::from(sample)));
            }
        }
    }
}
