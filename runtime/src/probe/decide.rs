//! Decisions: what a comparison of a field gives at a position, if bounds of the field around the position tell.
//!
//! The cells of an image are divided into bricks of [`EDGE`] cells along each axis. A brick has one verdict for all of its positions: it follows
//! from the range of the samples under the kernels there, by a function of the compiled program. Verdicts are found
//! when they are wanted, by whatever thread is the first, so bricks that no strand visits cost nothing. All threads find the same, and a decision
//! never changes a result: where there is none, the field is probed.
//!
//! A brick is looked at only after some calls have met it, and a table whose bricks decide too little is given up. Then a call costs
//! next to nothing.

use super::bounds::{Range, Spread};
use super::frames::number;
use super::{ProbeImage, Real};
use crate::simd::{Float, Isa, MAX_WIDTH, Mask, Vector, entry_points, version};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Cells of a brick along each axis.
pub const EDGE: i64 = 4;

/// What a comparison gives at all positions of a brick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is false at all of them.
    False,
    /// It may be true at some and false at others.
    Open,
    /// It is true at all of them.
    True,
}

/// Finds the verdict of a brick, from the range of each component of the field.
pub type Judge = Box<dyn Fn(&[Range]) -> Verdict + Send + Sync>;

/// The code of a brick that the next call looks at. Greater codes count down to it; -1, 0 and 1 are verdicts.
const NEXT: f32 = 2.0;
/// The code of a brick that was not met yet, if there are many.
const UNMET: f32 = NEXT + 2.0;
/// Bricks that are few enough for a look at all of them.
const FEW: usize = 1024;

/// The bricks after which a table is given up if too few of them decide.
const TRIAL: u32 = 512;
/// At least one of this number of bricks of a trial has to decide.
const SHARE: u32 = 16;

/// A code for each brick, as a number of the real type: calls load them as such. The bits of a code are replaced at once, so a call finds the one
/// or the other, and either is right.
enum Codes {
    Single(Box<[AtomicU32]>),
    Double(Box<[AtomicU64]>),
}

impl Codes {
    /// Bricks that no call has met, and one more that is not used: codes are loaded in pairs.
    fn new(bricks: usize, real: Real) -> Codes {
        let code = unmet(bricks);
        match real {
            Real::F32 => {
                let code = || AtomicU32::new(code.to_bits());
                Codes::Single((0..bricks + 1).map(|_| code()).collect())
            }
            Real::F64 => {
                let code = || AtomicU64::new(f64::from(code).to_bits());
                Codes::Double((0..bricks + 1).map(|_| code()).collect())
            }
        }
    }

    fn bricks(&self) -> usize {
        match self {
            Codes::Single(codes) => codes.len() - 1,
            Codes::Double(codes) => codes.len() - 1,
        }
    }

    fn get(&self, place: usize) -> f32 {
        match self {
            Codes::Single(codes) => f32::from_bits(codes[place].load(Relaxed)),
            Codes::Double(codes) => f64::from_bits(codes[place].load(Relaxed)) as f32,
        }
    }

    fn set(&self, place: usize, code: f32) {
        match self {
            Codes::Single(codes) => codes[place].store(code.to_bits(), Relaxed),
            Codes::Double(codes) => codes[place].store(f64::from(code).to_bits(), Relaxed),
        }
    }

    fn first<T>(&self) -> *const T {
        match self {
            Codes::Single(codes) => codes.as_ptr().cast(),
            Codes::Double(codes) => codes.as_ptr().cast(),
        }
    }
}

/// The decisions of one comparison, about one field.
pub struct Decisions<'a> {
    image: &'a ProbeImage<'a>,
    support: [i64; 3],
    spread: Option<Spread>,
    judge: Judge,
    /// Bricks along each axis, and from one brick to the next along it.
    counts: [i64; 3],
    strides: [i64; 3],
    codes: Codes,
    /// The bricks that were looked at, and those of them that decide.
    seen: AtomicU32,
    decided: AtomicU32,
    given_up: AtomicBool,
}

impl std::fmt::Debug for Decisions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decisions({} bricks)", self.codes.bricks())
    }
}

impl<'a> Decisions<'a> {
    /// Bricks of an image, without verdicts. Without a spread, nothing is decided.
    pub fn new(
        image: &'a ProbeImage<'a>,
        support: [usize; 3],
        spread: Option<Spread>,
        judge: Judge,
    ) -> Decisions<'a> {
        let mut counts = [1; 3];
        let mut strides = [0; 3];
        let mut bricks = 1;
        for axis in 0..image.dim {
            counts[axis] = (image.sizes[axis] + EDGE - 1) / EDGE;
            strides[axis] = bricks;
            bricks *= counts[axis];
        }
        let spread = spread.filter(|_| !image.is_timed());
        let bricks = if spread.is_some() { bricks as usize } else { 0 };
        Decisions {
            image,
            support: support.map(|s| s as i64),
            given_up: AtomicBool::new(spread.is_none()),
            spread,
            judge,
            counts,
            strides,
            codes: Codes::new(bricks, image.real),
            seen: AtomicU32::new(0),
            decided: AtomicU32::new(0),
        }
    }

    /// Forgets all verdicts, as the function that finds them now knows other values.
    pub fn forget(&self) {
        let bricks = self.codes.bricks();
        (0..bricks).for_each(|place| self.codes.set(place, unmet(bricks)));
        self.seen.store(0, Relaxed);
        self.decided.store(0, Relaxed);
        self.given_up.store(self.spread.is_none(), Relaxed);
    }

    /// The bricks that were looked at, and those of them that decide.
    pub fn statistics(&self) -> (u32, u32) {
        (self.seen.load(Relaxed), self.decided.load(Relaxed))
    }

    /// The bricks along each axis of the image.
    pub fn brick_counts(&self) -> &[i64] {
        &self.counts[..self.image.dim]
    }

    /// The verdict of a brick by its coordinates.
    pub fn verdict(&self, brick: [i64; 3]) -> Verdict {
        let [mut first, mut last] = [[0; 3]; 2];
        for axis in 0..self.image.dim {
            let (start, end) = (brick[axis] * EDGE, self.image.sizes[axis] - 1);
            first[axis] = (start + 1 - self.support[axis]).clamp(0, end);
            last[axis] = (start + EDGE - 1 + self.support[axis]).min(end);
        }
        let ranges = |component| self.spread?.of(self.image.extremes(component, first, last));
        let ranges: Option<Vec<Range>> = (0..self.image.components).map(ranges).collect();
        ranges.map_or(Verdict::Open, |ranges| (self.judge)(&ranges))
    }

    /// The verdicts of lanes whose bricks have none yet, after a call has met them.
    #[cold]
    #[inline(never)]
    fn meet_all<T: Float>(&self, unmet: u32, places: &[i64; MAX_WIDTH], lanes: &mut [T]) {
        let mut last = usize::MAX;
        for lane in (0..MAX_WIDTH).filter(|lane| unmet >> lane & 1 == 1) {
            let place = places[lane] as usize;
            // Lanes that are together in a brick meet it once.
            let is_met = place == last;
            let code = if is_met { 0.0 } else { self.meet(place) };
            lanes[lane] = T::from_f64(code.into());
            last = place;
        }
    }

    /// The code of a brick that has no verdict yet, after a call has met it.
    fn meet(&self, place: usize) -> f32 {
        let now = self.codes.get(place);
        if now > NEXT {
            self.codes.set(place, now - 1.0);
            return 0.0;
        }
        if now < NEXT {
            // Another thread was first.
            return now;
        }
        let mut rest = place as i64;
        let brick = self.counts.map(|count| {
            let coordinate = rest % count;
            rest /= count;
            coordinate
        });
        let verdict = match self.verdict(brick) {
            Verdict::False => -1.0,
            Verdict::Open => 0.0,
            Verdict::True => 1.0,
        };
        self.codes.set(place, verdict);
        let decided = match verdict == 0.0 {
            true => self.decided.load(Relaxed),
            false => self.decided.fetch_add(1, Relaxed) + 1,
        };
        let seen = self.seen.fetch_add(1, Relaxed) + 1;
        if seen >= TRIAL && decided < seen / SHARE {
            self.given_up.store(true, Relaxed);
        }
        verdict
    }
}

/// The code of bricks that no call has met.
fn unmet(bricks: usize) -> f32 {
    if bricks <= FEW { NEXT } else { UNMET }
}

/// A primitive that decides.
///
/// # Safety
///
/// The table is of the real type of the lookup; positions are `[dim][width]` and the output `[width]` numbers of it: -1 where the comparison is
/// false, 1 where it is true, 0 where nothing is known. The processor has the instruction set of the lookup.
pub type DecideFn = unsafe extern "C" fn(
    table: *const Decisions<'_>,
    mask: u32,
    positions: *const c_void,
    out: *mut c_void,
);

/// The primitive that decides on this processor.
///
/// # Errors
/// No primitive has this width.
pub fn lookup_decide(real: Real, width: usize) -> Result<DecideFn, String> {
    lookup_decide_for(Isa::detect(), real, width)
}

/// The primitive that decides in the version of `isa`, which may be called only if it [is available](Isa::is_available).
///
/// # Errors
/// No primitive has this width, or the instruction set does not exist.
pub fn lookup_decide_for(isa: Isa, real: Real, width: usize) -> Result<DecideFn, String> {
    version!(isa, real, width, 1, [portable, vex, evex])
}

entry_points!(decide_all(
    table: *const Decisions<'_>,
    mask: u32,
    positions: *const c_void,
    out: *mut c_void,
));

/// Decides for all lanes.
///
/// # Safety
///
/// As [`DecideFn`].
#[inline(always)]
unsafe fn decide_all<V: Vector, const N: usize, const W: usize>(
    table: *const Decisions<'_>,
    mask: u32,
    positions: *const c_void,
    out: *mut c_void,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let table = &*table;
        let out = out.cast::<V::Elem>();
        if table.given_up.load(Relaxed) {
            for lane in (0..W).step_by(V::LANES) {
                V::splat(V::Elem::from_f64(0.0)).store(out.add(lane));
            }
            return;
        }
        let positions = positions.cast::<V::Elem>();
        for lane in (0..W).step_by(V::LANES) {
            decide::<V>(table, mask >> lane, positions.add(lane), out.add(lane), W);
        }
        table
            .image
            .notice_decided::<V::Elem>(mask, positions, out, W);
    }
}

/// Decides for `V::LANES` lanes.
///
/// # Safety
///
/// As [`DecideFn`], advanced to the first of the lanes; the table was not given up before it had bricks.
#[inline(always)]
unsafe fn decide<V: Vector>(
    table: &Decisions<'_>,
    mask: u32,
    positions: *const V::Elem,
    out: *mut V::Elem,
    width: usize,
) {
    // No closures: functions that they call would not be inlined into the versions for instruction sets.
    let (zero, one) = (number::<V>(0), number::<V>(1));
    let dim = table.image.dim;
    let mut inside = V::mask(mask & V::ALL_LANES);
    let mut at = [zero; 3];
    for (axis, at) in at.iter_mut().enumerate().take(dim) {
        let support = table.support[axis];
        // SAFETY: promised by the caller.
        *at = unsafe { V::load(positions.add(axis * width)) };
        let first = number::<V>(support - 1);
        let end = number::<V>(table.image.sizes[axis] - support);
        inside = inside & first.le(*at) & at.lt(end);
    }
    // Cells are divided exactly, as the edge of a brick is a power of two.
    let part = V::splat(V::Elem::from_f64(1.0 / EDGE as f64));
    let mut bricks = [zero; 3];
    for axis in 0..dim {
        let cell = V::select(inside, at[axis], zero).floor();
        bricks[axis] = (cell * part).floor();
    }
    let places = V::offsets(&bricks, &table.strides, dim);
    // SAFETY: cells inside the image are in bricks, others were moved to the first one, and there is a code after the last.
    let [codes, _] = unsafe { V::rows2(table.codes.first(), &places) };
    let verdicts = V::select(inside, codes, zero);
    let unmet = one.lt(verdicts).bits();
    if unmet == 0 {
        // SAFETY: promised by the caller.
        unsafe { verdicts.store(out) };
        return;
    }
    let mut lanes = [V::Elem::from_f64(0.0); MAX_WIDTH];
    // SAFETY: there is room for `MAX_WIDTH` lanes.
    unsafe { verdicts.store(lanes.as_mut_ptr()) };
    table.meet_all(unmet, &places, &mut lanes);
    // SAFETY: as above, and promised by the caller.
    unsafe { V::load(lanes.as_ptr()).store(out) };
}
