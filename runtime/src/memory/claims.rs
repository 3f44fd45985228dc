//! Claims on the memory that this process may use.
//!
//! Large amounts are claimed before they are allocated: images, strands, sequences, `new` strands and printed text. A claim for
//! more than is left is refused with its size, so that the caller can report its purpose.

use super::{available_to_process, shown};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The most bytes that may be claimed at the same time.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The bytes that are claimed now.
static CLAIMED: AtomicU64 = AtomicU64::new(0);
/// Bytes that may be claimed without asking the system again, which takes longer than small claims are worth.
static CREDIT: AtomicU64 = AtomicU64::new(0);

/// The credit after the system was asked, at most.
const MOST_CREDIT: u64 = 32 << 20;
/// The reserve for small allocations that are not claimed.
const RESERVE: u64 = 16 << 20;

/// Lets all claims together be this many bytes at most.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Relaxed);
}

/// What the limit leaves.
pub(super) fn left_by_limit() -> u64 {
    LIMIT.load(Relaxed).saturating_sub(CLAIMED.load(Relaxed))
}

/// Claimed bytes; they are given back when this is dropped.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claim(u64);

impl Drop for Claim {
    fn drop(&mut self) {
        self.give_back(self.0);
    }
}

impl Claim {
    /// Claims more.
    ///
    /// # Errors
    /// There is not so much left; the claim stays as it was.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Shortage> {
        self.add(claim(bytes)?);
        Ok(())
    }

    /// Gives some of it back.
    pub(crate) fn give_back(&mut self, bytes: u64) {
        self.0 -= bytes;
        CLAIMED.fetch_sub(bytes, Relaxed);
        // The same amount is available again.
        let restore = |credit: u64| Some(credit.saturating_add(bytes).min(MOST_CREDIT));
        let _ = CREDIT.fetch_update(Relaxed, Relaxed, restore);
    }

    /// Keeps this number of bytes: gives back the rest, or claims the missing ones.
    pub(crate) fn keep(&mut self, bytes: u64) -> Result<(), Shortage> {
        match self.0.checked_sub(bytes) {
            Some(rest) => {
                self.give_back(rest);
                Ok(())
            }
            None => self.grow(bytes - self.0),
        }
    }

    /// Takes over another claim.
    pub(crate) fn add(&mut self, mut other: Claim) {
        self.0 += std::mem::take(&mut other.0);
    }
}

/// Claims memory.
///
/// # Errors
/// There is not so much left.
pub fn claim(bytes: u64) -> Result<Claim, Shortage> {
    let shortage = |left: u64| Shortage {
        wanted: bytes,
        left,
    };
    let spend = |credit: u64| credit.checked_sub(bytes);
    if CREDIT.fetch_update(Relaxed, Relaxed, spend).is_err()
        && let Some(available) = available_to_process()
    {
        let left = available.saturating_sub(RESERVE);
        let after = left.checked_sub(bytes).ok_or_else(|| shortage(left))?;
        CREDIT.store((after / 4).min(MOST_CREDIT), Relaxed);
    }
    // Last, so that no other claim is refused because of one that is refused too.
    let add = |claimed: u64| {
        let sum = claimed.checked_add(bytes)?;
        (sum <= LIMIT.load(Relaxed)).then_some(sum)
    };
    match CLAIMED.fetch_update(Relaxed, Relaxed, add) {
        Ok(_) => Ok(Claim(bytes)),
        Err(_) => Err(shortage(left_by_limit())),
    }
}

/// More memory was wanted than is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The bytes that were wanted.
    pub wanted: u64,
    /// The bytes that are left.
    pub left: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wanted, left) = (shown(self.wanted), shown(self.left));
        write!(f, "{wanted} of memory are needed, but only {left} are left")
    }
}

impl std::error::Error for Shortage {}

/// Claims in large pieces for something that grows in small ones.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    claim: Claim,
    /// Bytes that are claimed but not used yet.
    left: u64,
}

impl Meter {
    const PIECE: u64 = 1 << 20;

    /// Takes note of this many bytes more.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Shortage> {
        if bytes > self.left {
            let piece = bytes.max(Meter::PIECE);
            self.claim.grow(piece)?;
            self.left += piece;
        }
        self.left -= bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_refused_when_they_cannot_be_met_and_given_back_when_dropped() {
        let refused = claim(u64::MAX / 2).unwrap_err();
        assert_eq!(refused.wanted, u64::MAX / 2);
        assert!(refused.left < refused.wanted);
        let before = CLAIMED.load(Relaxed);
        let mut kept = claim(1000).unwrap();
        kept.grow(500).unwrap();
        assert_eq!(kept.0, 1500);
        assert!(kept.grow(u64::MAX / 2).is_err());
        assert_eq!(kept.0, 1500);
        drop(kept);
        // Other tests claim at the same time, but not as much as there would be left over.
        assert!(CLAIMED.load(Relaxed) < before + (1 << 40));
    }

    #[test]
    fn a_meter_claims_what_it_notes() {
        let mut meter = Meter::default();
        meter.take(10).unwrap();
        assert_eq!(meter.claim.0, Meter::PIECE);
        meter.take(Meter::PIECE).unwrap();
        assert_eq!(meter.claim.0, 2 * Meter::PIECE);
        assert!(meter.take(u64::MAX / 2).is_err());
    }
}
