//! Probe primitives: reconstruct an image and its derivatives at W positions per call.
//!
//! # What a primitive computes
//!
//! For a position `x` in *index space*, `n = floor(x)` and `f = x − n` per axis, a primitive gives for every
//! component `c` of the image and every wanted multi-index of derivatives `k`
//!
//! ```text
//! Σ_j  V_c[n + j] · Π_a h_a^(k_a)(f_a − j_a)        j_a from 1 − s_a to s_a
//! ```
//!
//! where `h_a` is the kernel of axis `a` and `s_a` its support. Weights are computed once per position, rows of
//! samples are shared by all derivatives. The transform to world space is the caller's.
//!
//! # Contract with generated code
//!
//! At link time: a [`ProbeSpec`] specifies the probe; [`ProbeKernel::new`] builds the table of weights for it,
//! [`ProbeImage::new`] describes the samples, [`lookup`] finds the primitive, [`outputs`] lists its results.
//! At run time the primitive is called as [`ProbeFn`] with
//!
//! - the image and the kernel, by address; generated code looks at nothing inside but [`ProbeImage::LINEAR`];
//! - the lanes that matter, bit `l` for lane `l`;
//! - positions as `[dim][width]` reals, axis 0 (the fastest) first; for images over time frames and weights after them;
//! - room for `[outputs][width]` reals.
//!
//! No buffer needs alignment beyond that of its element. Inactive lanes of the output hold unspecified numbers.
//! Results of a lane depend neither on the other lanes nor on the width; the order of operations is fixed, so
//! only the fusing of multiply-add ([`Isa::Baseline`] against the others) can change their last bits.
//!
//! # Positions outside
//!
//! Every position is defined and no sample outside the image is ever read:
//!
//! | border | taps beyond the samples | ±∞ | NaN |
//! |---|---|---|---|
//! | [`Border::Clamp`] | index clamped, per tap | as far outside | NaN |
//! | [`Border::Mirror`], [`Border::Wrap`] | index mapped, per tap, at any distance | NaN | NaN |
//! | [`Border::Constant`] | the constant of the component, per tap | as far outside | NaN |
//!
//! # Images over time
//!
//! An image over time has frames, one after the other. A probe of it with [`ProbeSpec::frames`] taps in time gets, in a row after those
//! of the positions, the number n of the frame at or below the time, as a [`TimeFn`] gives it, and then a row for the weight of each
//! tap. Tap m is the frame `n + m + 1 − frames / 2`; frames beyond the first and the last are these, as is any frame for NaN.
//! In place of samples there are their sums over the taps, `w₀ V₀ + w₁ V₁ + …` in this order. No weight is −0.
//!
//! Specialized primitives are for calls in which all taps of all active lanes exist; the general one does the others.

mod bounds;
mod contact;
mod contract;
mod decide;
mod extremes;
mod frames;
mod general;
mod kept;
mod kernel;
mod linear;
mod locate;
#[cfg(not(feature = "mutants"))]
mod mutants;
#[cfg(feature = "mutants")]
pub mod mutants;
mod rows;
mod rows_over_time;
mod table;
mod time;

pub use bounds::{LineBounds, Range, Spread};
pub use contact::{AskFn, ContactFacts, Missed, lookup_ask};
pub use decide::{DecideFn, Decisions, EDGE, Judge, Verdict, lookup_decide, lookup_decide_for};
pub use extremes::{ExtremesFn, lookup_extremes, lookup_extremes_for};
pub use kept::KeptImage;
pub use kernel::{KernelPieces, ProbeKernel};
pub use linear::{FROM_BOX, LANE_BY_LANE, Linear, SharedBox, SmallSamples};
pub(crate) use locate::sample_index;
pub use table::{lookup, lookup_for};
pub use time::{TimeFn, TimeSteps, lookup_time, lookup_time_for};

pub use crate::derivatives::MAX_ORDER;
use crate::derivatives::multi_indices;
use crate::grid::TimeAxis;
use crate::simd::small::Small;
use crate::simd::{Float, WIDTHS};
pub use crate::simd::{Isa, Real};
use contact::Contact;
use std::ffi::c_void;
use std::marker::PhantomData;

/// The largest support of a kernel: half the number of taps per axis.
pub const MAX_SUPPORT: usize = 3;

/// The largest degree of a kernel's polynomials.
pub const MAX_DEGREE: usize = 15;

/// The longest axis of an image of `real` samples: positions of that type tell all its cells apart.
pub const fn max_size(real: Real) -> usize {
    match real {
        Real::F32 => 1 << f32::MANTISSA_DIGITS,
        Real::F64 => 1 << 30,
    }
}

/// What a primitive is asked to do; fixed when a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeSpec {
    /// The type of samples, positions and results.
    pub real: Real,
    /// Strands per call: one of [`WIDTHS`].
    pub width: usize,
    /// Spatial dimension of the image, 1 to 3.
    pub dim: usize,
    /// Support of the kernel of each axis, 1 to [`MAX_SUPPORT`]; axes beyond `dim` are ignored.
    pub support: [usize; 3],
    /// Largest degree of the kernels' polynomials, at most [`MAX_DEGREE`].
    pub degree: usize,
    /// Bit `m` asks for all derivatives of total order `m`, up to [`MAX_ORDER`].
    pub orders: u32,
    /// Number of components of a sample.
    pub components: usize,
    /// Number of taps in time, 2, 4 or 6; 0 for images without time.
    pub frames: usize,
}

impl ProbeSpec {
    /// The highest wanted order.
    pub fn highest_order(&self) -> usize {
        self.orders.checked_ilog2().unwrap_or(0) as usize
    }

    /// The error in a specification that no primitive serves.
    pub fn check(&self) -> Result<(), String> {
        if !WIDTHS.contains(&self.width) {
            return Err(format!(
                "probe width is {}, wanted one of 1, 4, 8, 16",
                self.width
            ));
        }
        if !(1..=3).contains(&self.dim) {
            return Err(format!("probe dimension is {}, wanted 1 to 3", self.dim));
        }
        for &s in &self.support[..self.dim] {
            if !(1..=MAX_SUPPORT).contains(&s) {
                return Err(format!("kernel support is {s}, wanted 1 to {MAX_SUPPORT}"));
            }
        }
        if self.degree > MAX_DEGREE {
            return Err(format!(
                "kernel degree is {}, wanted at most {MAX_DEGREE}",
                self.degree
            ));
        }
        if self.orders == 0 || self.highest_order() > MAX_ORDER {
            return Err(format!(
                "probe orders are {:#b}, wanted some of 0 to {MAX_ORDER}",
                self.orders
            ));
        }
        if self.components == 0 {
            return Err("probe of an image without components".to_string());
        }
        if !self.frames.is_multiple_of(2) || self.frames > 2 * MAX_SUPPORT {
            return Err(format!(
                "probe has {} taps in time, wanted 2, 4 or 6, or none",
                self.frames
            ));
        }
        Ok(())
    }
}

/// One result of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutputSlot {
    /// Total order of the derivative.
    pub order: usize,
    /// Component of the image.
    pub component: usize,
    /// How many derivatives are taken along each axis.
    pub counts: [usize; 3],
}

/// The results of a primitive in the order of its output buffer: by order, then component, then derivative.
///
/// Derivatives commute, so each multi-index is stored once, sorted: `00 01 02 11 12 22` for order 2 in 3-D.
pub fn outputs(spec: &ProbeSpec) -> Vec<OutputSlot> {
    let mut slots = Vec::new();
    for order in (0..MAX_ORDER + 1).filter(|m| spec.orders >> m & 1 == 1) {
        for component in 0..spec.components {
            slots.extend(multi_indices(spec.dim, order).map(|counts| OutputSlot {
                order,
                component,
                counts,
            }));
        }
    }
    slots
}

/// How samples beyond the edge of an image are defined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Border<'a> {
    /// The nearest sample.
    Clamp,
    /// Reflected about the edge, the edge sample repeated.
    Mirror,
    /// Periodic.
    Wrap,
    /// One constant per component.
    Constant(&'a [f64]),
}

/// Samples in memory.
struct Stored {
    /// The first, perhaps not aligned.
    first: *const u8,
    /// The numbers that they stand for, if their type is smaller than the real type: that of a volume in single precision may be.
    small: Option<Small>,
    count: usize,
}

impl Stored {
    fn of<T>(samples: &[T]) -> Stored {
        Stored {
            first: samples.as_ptr().cast(),
            small: None,
            count: samples.len(),
        }
    }

    /// Where a sample is, so far from the first; samples that are not small have the type `T`.
    fn at<T>(&self, distance: i64) -> *const u8 {
        let bytes = self.small.map_or(size_of::<T>(), |small| small.bytes());
        self.first
            .wrapping_offset(distance as isize * bytes as isize)
    }
}

/// Planar samples of one image, as primitives see them.
#[derive(Debug)]
pub struct ProbeImage<'a> {
    linear: Linear,
    contact: Contact,
    samples: *const c_void,
    /// The numbers that the samples stand for, if their type is smaller than the real type.
    small: Option<Small>,
    real: Real,
    sizes: [i64; 3],
    strides: [i64; 3],
    plane: i64,
    components: usize,
    dim: usize,
    /// Samples from one frame to the next, and the number of frames.
    frame: i64,
    frames: i64,
    time: Option<TimeSteps>,
    /// The times of the first and the last frame, in the real type.
    span: [f64; 2],
    border: Border<'a>,
    samples_are_borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: the samples are only read, and borrowed for as long as the description lives.
unsafe impl Send for ProbeImage<'_> {}
// SAFETY: as above.
unsafe impl Sync for ProbeImage<'_> {}

impl<'a> ProbeImage<'a> {
    /// Where a description says how to interpolate linearly without a call, as a [`Linear`].
    pub const LINEAR: usize = std::mem::offset_of!(Self, linear);

    /// Describes `samples`: one plane per component, each with axis 0 fastest.
    ///
    /// # Errors
    /// The sizes do not fit the samples, or no primitive serves them.
    pub fn new<T: Float>(
        samples: &'a [T],
        sizes: &[usize],
        components: usize,
        border: Border<'a>,
    ) -> Result<ProbeImage<'a>, String> {
        let samples = Stored::of(samples);
        ProbeImage::described::<T>(samples, sizes, components, None, border)
    }

    /// Describes the `samples` of an image over time: frame by frame, each as [`ProbeImage::new`] wants it.
    ///
    /// # Errors
    /// As there.
    pub fn over_time<T: Float>(
        samples: &'a [T],
        sizes: &[usize],
        components: usize,
        (frames, axis): (usize, &TimeAxis),
        border: Border<'a>,
    ) -> Result<ProbeImage<'a>, String> {
        let samples = Stored::of(samples);
        ProbeImage::described::<T>(samples, sizes, components, Some((frames, axis)), border)
    }

    /// Describes samples that can be read as long as the description lives.
    fn described<T: Float>(
        samples: Stored,
        sizes: &[usize],
        components: usize,
        time: Option<(usize, &TimeAxis)>,
        border: Border<'a>,
    ) -> Result<ProbeImage<'a>, String> {
        let longest = max_size(T::REAL);
        if let Some((frames, axis)) = time {
            if !(1..=longest).contains(&frames) {
                return Err(format!(
                    "an image has {frames} frames, wanted 1 to {longest}"
                ));
            }
            if let TimeAxis::Table(times) = axis
                && times.len() != frames
            {
                return Err(format!(
                    "{} times were given for {frames} frames",
                    times.len()
                ));
            }
        }
        let dim = sizes.len();
        if !(1..=3).contains(&dim) {
            return Err(format!(
                "an image of dimension {dim} cannot be probed, wanted 1 to 3"
            ));
        }
        debug_assert!(samples.small.is_none() || (dim == 3 && T::REAL == Real::F32));
        let mut lengths = [1; 3];
        let mut strides = [0; 3];
        let mut plane: i64 = 1;
        for (axis, &size) in sizes.iter().enumerate() {
            if !(1..=longest).contains(&size) {
                return Err(format!(
                    "axis {axis} has {size} samples, wanted 1 to {longest}"
                ));
            }
            lengths[axis] = size as i64;
            strides[axis] = plane;
            plane = plane
                .checked_mul(size as i64)
                .ok_or("an image has too many samples")?;
        }
        let frames = time.map_or(1, |(frames, _)| frames);
        let frame = usize::try_from(plane)
            .ok()
            .and_then(|p| p.checked_mul(components));
        let wanted = frame.and_then(|frame| frame.checked_mul(frames));
        if components == 0 || wanted != Some(samples.count) {
            return Err(format!(
                "{} samples were given for {frames} frames of sizes {sizes:?} with {components} components",
                samples.count
            ));
        }
        if let Border::Constant(values) = border
            && values.len() != components
        {
            return Err(format!(
                "{} border values were given for an image with {components} components",
                values.len()
            ));
        }
        let linear = Linear::new(
            &samples,
            T::REAL,
            lengths,
            strides,
            (dim, components),
            border,
            time.is_some(),
        );
        let span = |(frames, axis): (usize, &TimeAxis)| {
            [axis.start(), axis.end(frames)].map(|time| T::from_f64(time).to_f64())
        };
        Ok(ProbeImage {
            linear,
            contact: Contact::default(),
            samples: samples.first.cast(),
            small: samples.small,
            real: T::REAL,
            sizes: lengths,
            strides,
            plane,
            components,
            dim,
            frame: plane * components as i64,
            frames: frames as i64,
            time: time.map(|(_, axis)| TimeSteps::new(axis, T::REAL)),
            span: time.map_or([0.0; 2], span),
            border,
            samples_are_borrowed: PhantomData,
        })
    }

    /// The number of frames: 1 without time.
    pub fn frames(&self) -> usize {
        self.frames as usize
    }

    /// The times of the frames as primitives compute with them, of an image over time.
    pub fn time(&self) -> Option<&TimeSteps> {
        self.time.as_ref()
    }

    /// Whether it is an image over time.
    #[inline(always)]
    fn is_timed(&self) -> bool {
        self.time.is_some()
    }
}

/// A probe primitive; see the head of this module for its contract.
///
/// # Safety
///
/// Image and kernel fit the specification the primitive was looked up for; positions are `[dim][width]`, or for an image over
/// time `[dim + 1 + frames][width]`, and the output `[outputs][width]` numbers of its real type. The processor has the instruction set of the lookup.
pub type ProbeFn = unsafe extern "C" fn(
    image: *const ProbeImage<'_>,
    kernel: *const ProbeKernel,
    mask: u32,
    positions: *const c_void,
    out: *mut c_void,
);
