//! The memory of an image's samples: its own, that of a file, or one that is filled on demand.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::findings::Findings;
use crate::memory::{Claim, Demand, Mapping};

/// Samples, and those that pad them at the end.
pub(crate) enum Store<T> {
    /// In memory of their own, which is claimed.
    Owned { samples: Vec<T>, _claim: Claim },
    /// In a file, perhaps not aligned.
    Mapped {
        mapping: Mapping,
        /// The number of samples, with those that pad them.
        count: usize,
        /// An aligned copy, if one was asked for.
        copy: OnceLock<Vec<T>>,
    },
    /// Loaded when they are first touched.
    OnDemand {
        demand: Demand,
        /// The number of samples, with those that pad them.
        count: usize,
        findings: Arc<Findings>,
    },
}

impl<T> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, count) = match self {
            Store::Owned { samples, .. } => ("Owned", samples.len()),
            Store::Mapped { count, .. } => ("Mapped", *count),
            Store::OnDemand { count, .. } => ("OnDemand", *count),
        };
        write!(f, "{name}({count} samples)")
    }
}

impl<T: Copy + Default> Store<T> {
    pub(crate) fn owned(samples: Vec<T>, claim: Claim) -> Store<T> {
        Store::Owned {
            samples,
            _claim: claim,
        }
    }

    /// Samples of a file.
    ///
    /// # Safety
    /// The mapping has this number of samples of the type `T`.
    pub(crate) unsafe fn mapped(mapping: Mapping, count: usize) -> Store<T> {
        Store::Mapped {
            mapping,
            count,
            copy: OnceLock::new(),
        }
    }

    /// Samples that are loaded on demand.
    ///
    /// # Safety
    /// The memory has this number of samples of the type `T`.
    pub(crate) unsafe fn on_demand(
        demand: Demand,
        count: usize,
        findings: Arc<Findings>,
    ) -> Store<T> {
        Store::OnDemand {
            demand,
            count,
            findings,
        }
    }

    /// Whether they are those of a file.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self, Store::Mapped { .. })
    }

    /// Whether they are loaded when they are first touched.
    pub(crate) fn is_on_demand(&self) -> bool {
        matches!(self, Store::OnDemand { .. })
    }

    /// Why some could not be loaded, if some could not.
    pub(crate) fn failure(&self) -> Option<&str> {
        match self {
            Store::OnDemand { demand, .. } => demand.failure(),
            Store::Owned { .. } | Store::Mapped { .. } => None,
        }
    }

    /// The facts about those that were loaded so far, if they are loaded on demand.
    pub(crate) fn findings(&self) -> Option<&Findings> {
        match self {
            Store::OnDemand { findings, .. } => Some(findings),
            Store::Owned { .. } | Store::Mapped { .. } => None,
        }
    }

    /// The number of samples, with those that pad them.
    pub(crate) fn len(&self) -> usize {
        match self {
            Store::Owned { samples, .. } => samples.len(),
            Store::Mapped { count, .. } | Store::OnDemand { count, .. } => *count,
        }
    }

    /// The first sample, perhaps not aligned.
    pub(crate) fn first(&self) -> *const T {
        match self {
            Store::Owned { samples, .. } => samples.as_ptr(),
            Store::Mapped { mapping, .. } => mapping.first().cast(),
            Store::OnDemand { demand, .. } => demand.first().cast(),
        }
    }

    /// All of them, if they are aligned.
    pub(crate) fn aligned(&self) -> Option<&[T]> {
        let first = self.first();
        // SAFETY: the samples are there, and aligned; any bits are a number.
        first
            .is_aligned()
            .then(|| unsafe { std::slice::from_raw_parts(first, self.len()) })
    }

    /// All of them. Those that are not aligned are copied, once.
    pub(crate) fn all(&self) -> &[T] {
        match (self.aligned(), self) {
            (Some(samples), _) => samples,
            (None, Store::Mapped { copy, .. }) => copy.get_or_init(|| {
                let mut copy = vec![T::default(); self.len()];
                self.copy(0, &mut copy);
                copy
            }),
            (None, Store::Owned { .. } | Store::OnDemand { .. }) => {
                unreachable!("only mapped samples can be unaligned")
            }
        }
    }

    /// One of them.
    ///
    /// # Panics
    /// It does not exist.
    pub(crate) fn at(&self, index: usize) -> T {
        assert!(index < self.len(), "there is no sample {index}");
        // SAFETY: the sample exists; any bits are a number.
        unsafe { self.first().add(index).read_unaligned() }
    }

    /// Some of them that follow one another, in `room` if they are not aligned.
    ///
    /// # Panics
    /// They do not exist.
    pub(crate) fn piece<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> &'a [T] {
        if let Some(samples) = self.aligned() {
            return &samples[range];
        }
        room.resize(range.len(), T::default());
        self.copy(range.start, room);
        room
    }

    /// Copies some of them that follow one another.
    ///
    /// # Panics
    /// They do not exist.
    pub(crate) fn copy(&self, start: usize, to: &mut [T]) {
        let end = start.checked_add(to.len());
        assert!(
            end.is_some_and(|end| end <= self.len()),
            "a piece beyond the samples"
        );
        let bytes = size_of_val(to);
        // SAFETY: the samples exist, and nothing else has the memory of the slice; bytes have no alignment.
        unsafe {
            let from = self.first().add(start).cast::<u8>();
            from.copy_to_nonoverlapping(to.as_mut_ptr().cast(), bytes);
        }
    }
}
