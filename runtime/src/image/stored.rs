//! The samples of an image: of its real type, or small integers as its file has them, which become numbers when they are used.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::findings::Findings;
use super::normalize::Plan;
use super::request::Declared;
use super::store::Store;
use super::{ROW_LOAD, Real};
use crate::memory::{Claim, Demand, Mapping};
use crate::nrrd::SampleType;
use crate::simd::small::{Bits, MOST_ADDED, Small, SmallType};

/// Samples, and those that pad them at the end.
pub(crate) enum Stored<T> {
    /// Of the real type.
    Real(Store<T>),
    /// Smaller ones.
    Small {
        store: SmallStore,
        small: Small,
        /// A copy of the real type, if one was asked for.
        copy: OnceLock<Vec<T>>,
    },
}

/// The memory of small samples; only the number of their bits matters there.
pub(crate) enum SmallStore {
    Bytes(Store<u8>),
    Pairs(Store<u16>),
}

/// The same expression for every type of small samples.
macro_rules! with_store {
    ($store:expr, $name:ident => $result:expr) => {
        match $store {
            SmallStore::Bytes($name) => $result,
            SmallStore::Pairs($name) => $result,
        }
    };
}

/// The type in which the samples of a file are kept, if it is smaller than the real type of the program and the values are these
/// samples, perhaps with an integer added. Primitives load such samples of volumes in single precision.
pub(super) fn small_type<T: Real>(
    stored: SampleType,
    scale: Option<(f64, f64)>,
    plan: &Plan,
    declared: Declared<'_>,
) -> Option<Small> {
    let kind = match stored {
        SampleType::U8 => SmallType::U8,
        SampleType::U16 => SmallType::U16,
        SampleType::I16 => SmallType::I16,
        _ => return None,
    };
    let (slope, added) = scale.unwrap_or((1.0, 0.0));
    let is_integer = added.fract() == 0.0 && added.abs() <= f64::from(MOST_ADDED);
    // A mask is 0 where the value is.
    let is_exact =
        slope == 1.0 && is_integer && (added == 0.0 || plan.roles.expansion.mask.is_none());
    let is_loaded = T::SAMPLE == SampleType::F32 && declared.dim == 3;
    let are_kept = is_exact && is_loaded && plan.turn.is_none();
    are_kept.then(|| Small::new(kind, added as i32))
}

/// A type of small samples in memory.
pub(super) trait SmallSample: Bits {
    /// Their memory.
    fn store(store: Store<Self>) -> SmallStore;
}

impl SmallSample for u8 {
    fn store(store: Store<u8>) -> SmallStore {
        SmallStore::Bytes(store)
    }
}

impl SmallSample for u16 {
    fn store(store: Store<u16>) -> SmallStore {
        SmallStore::Pairs(store)
    }
}

impl<T> fmt::Debug for Stored<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stored::Real(store) => write!(f, "{store:?}"),
            Stored::Small { store, small, .. } => {
                with_store!(store, store => write!(f, "{store:?} as {small:?}"))
            }
        }
    }
}

impl<T: Real> Stored<T> {
    /// Samples of the real type in memory that is claimed.
    pub(crate) fn owned(samples: Vec<T>, claim: Claim) -> Stored<T> {
        Stored::Real(Store::owned(samples, claim))
    }

    /// Small samples in memory that is claimed.
    pub(super) fn small<S: SmallSample>(samples: Vec<S>, small: Small, claim: Claim) -> Stored<T> {
        debug_assert_eq!(size_of::<S>(), small.bytes());
        Stored::of_small(S::store(Store::owned(samples, claim)), small)
    }

    /// This number of samples of a file, without those that pad them.
    ///
    /// # Safety
    /// The mapping has them, small ones or of the real type, and room for those that pad them.
    pub(super) unsafe fn mapped(mapping: Mapping, small: Option<Small>, count: usize) -> Stored<T> {
        let count = count + ROW_LOAD - 1;
        // SAFETY: promised by the caller.
        unsafe {
            match small {
                None => Stored::Real(Store::mapped(mapping, count)),
                Some(small) => {
                    let store = match small.bytes() {
                        1 => SmallStore::Bytes(Store::mapped(mapping, count)),
                        _ => SmallStore::Pairs(Store::mapped(mapping, count)),
                    };
                    Stored::of_small(store, small)
                }
            }
        }
    }

    /// This number of samples that are loaded on demand, without those that pad them.
    ///
    /// # Safety
    /// The memory has them, small ones or of the real type, and those that pad them.
    pub(super) unsafe fn on_demand(
        demand: Demand,
        small: Option<Small>,
        count: usize,
        findings: Arc<Findings>,
    ) -> Stored<T> {
        let count = count + ROW_LOAD - 1;
        // SAFETY: promised by the caller.
        unsafe {
            match small {
                None => Stored::Real(Store::on_demand(demand, count, findings)),
                Some(small) => {
                    let store = match small.bytes() {
                        1 => SmallStore::Bytes(Store::on_demand(demand, count, findings)),
                        _ => SmallStore::Pairs(Store::on_demand(demand, count, findings)),
                    };
                    Stored::of_small(store, small)
                }
            }
        }
    }

    fn of_small(store: SmallStore, small: Small) -> Stored<T> {
        Stored::Small {
            store,
            small,
            copy: OnceLock::new(),
        }
    }

    /// Whether they are those of a file.
    pub(crate) fn is_mapped(&self) -> bool {
        match self {
            Stored::Real(store) => store.is_mapped(),
            Stored::Small { store, .. } => with_store!(store, store => store.is_mapped()),
        }
    }

    /// Whether they are loaded when they are first touched.
    pub(crate) fn is_on_demand(&self) -> bool {
        match self {
            Stored::Real(store) => store.is_on_demand(),
            Stored::Small { store, .. } => with_store!(store, store => store.is_on_demand()),
        }
    }

    /// Why some could not be loaded, if some could not.
    pub(crate) fn failure(&self) -> Option<&str> {
        match self {
            Stored::Real(store) => store.failure(),
            Stored::Small { store, .. } => with_store!(store, store => store.failure()),
        }
    }

    /// The facts about those that were loaded so far, if they are loaded on demand.
    pub(crate) fn findings(&self) -> Option<&Findings> {
        match self {
            Stored::Real(store) => store.findings(),
            Stored::Small { store, .. } => with_store!(store, store => store.findings()),
        }
    }

    /// The numbers that they stand for, if they are small.
    pub(crate) fn as_small(&self) -> Option<Small> {
        match self {
            Stored::Real(_) => None,
            Stored::Small { small, .. } => Some(*small),
        }
    }

    /// The number of samples, with those that pad them.
    pub(crate) fn len(&self) -> usize {
        match self {
            Stored::Real(store) => store.len(),
            Stored::Small { store, .. } => with_store!(store, store => store.len()),
        }
    }

    /// The first sample, perhaps not aligned.
    pub(crate) fn first(&self) -> *const u8 {
        match self {
            Stored::Real(store) => store.first().cast(),
            Stored::Small { store, .. } => with_store!(store, store => store.first().cast()),
        }
    }

    /// All of them, if they are aligned and of the real type.
    pub(crate) fn aligned(&self) -> Option<&[T]> {
        match self {
            Stored::Real(store) => store.aligned(),
            Stored::Small { .. } => None,
        }
    }

    /// All of them. Those that are small or not aligned are copied, once.
    pub(crate) fn all(&self) -> &[T] {
        match self {
            Stored::Real(store) => store.all(),
            Stored::Small { copy, .. } => copy.get_or_init(|| {
                let mut copy = vec![T::default(); self.len()];
                self.copy(0, &mut copy);
                copy
            }),
        }
    }

    /// One of them.
    ///
    /// # Panics
    /// It does not exist.
    pub(crate) fn at(&self, index: usize) -> T {
        match self {
            Stored::Real(store) => store.at(index),
            Stored::Small { store, small, .. } => {
                with_store!(store, store => real(*small, store.at(index)))
            }
        }
    }

    /// Some of them that follow one another, in `room` if they must be copied.
    ///
    /// # Panics
    /// They do not exist.
    pub(crate) fn piece<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> &'a [T] {
        match self {
            Stored::Real(store) => store.piece(range, room),
            Stored::Small { .. } => {
                room.resize(range.len(), T::default());
                self.copy(range.start, room);
                room
            }
        }
    }

    /// Copies some of them that follow one another.
    ///
    /// # Panics
    /// They do not exist.
    pub(crate) fn copy(&self, start: usize, to: &mut [T]) {
        match self {
            Stored::Real(store) => store.copy(start, to),
            Stored::Small { store, small, .. } => {
                with_store!(store, store => convert(store, *small, start, to));
            }
        }
    }
}

/// The number of a sample.
#[inline]
fn real<T: Real>(small: Small, sample: impl Bits) -> T {
    T::nearest(f64::from(small.number(sample)))
}

/// Small samples that are converted at a time.
const CONVERTED: usize = 1 << 12;

/// Converts samples that follow one another.
fn convert<T: Real, S: Bits>(store: &Store<S>, small: Small, start: usize, to: &mut [T]) {
    let mut room = Vec::new();
    for (n, to) in to.chunks_mut(CONVERTED).enumerate() {
        let start = start + n * CONVERTED;
        let samples = store.piece(start..start + to.len(), &mut room);
        for (to, &sample) in to.iter_mut().zip(samples) {
            *to = real(small, sample);
        }
    }
}
