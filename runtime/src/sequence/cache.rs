//! The view one worker has of the pool: makes, extends and frees sequences through its own lists of free buffers.

use super::Sequence;
use super::pool::{BATCH, CLASSES, CannotGrow, Growth, Owner, SMALLEST, SequencePool};
use std::sync::atomic::Ordering::Relaxed;

/// What [`SequenceCache::settle`] has to know of one strand.
#[derive(Clone, Copy, Debug)]
pub struct Settling<'a> {
    /// The strand.
    pub owner: Owner,
    /// What its state referred to before the method.
    pub before: &'a [Sequence],
    /// Whether freed sequences may still be read by other strands until the end of the super-step.
    pub read_by_others: bool,
}

/// A sequence that the state of a strand refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSequence {
    /// The sequence.
    pub sequence: Sequence,
    /// Bytes of one element.
    pub element: usize,
}

/// The free buffers of one worker, and the sequences made in the method that runs.
pub struct SequenceCache {
    free: [Vec<u32>; CLASSES],
    /// Buffers made since the last `settle`, with their owners.
    made: Vec<(u64, u32)>,
    /// Buffers to be freed when the super-step ends.
    retired: Vec<u32>,
    live_bytes: i64,
}

impl Default for SequenceCache {
    fn default() -> SequenceCache {
        SequenceCache {
            free: [const { Vec::new() }; CLASSES],
            made: Vec::new(),
            retired: Vec::new(),
            live_bytes: 0,
        }
    }
}

impl SequenceCache {
    /// Capacity of the buffers made minus that of the buffers freed through this cache. Only the
    /// sum over all caches of a pool is meaningful.
    pub fn live_bytes(&self) -> i64 {
        self.live_bytes
    }

    /// A sequence of the given elements, `element` bytes each.
    pub fn create(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        elements: &[u8],
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        let length = elements.len() / element.max(1);
        let (sequence, data) = self.reserve(pool, owner, length, element, Growth::AtEnd)?;
        // SAFETY: the buffer is new and has room for all elements.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), data, elements.len()) };
        Ok(sequence)
    }

    /// `sequence` with one element more at its end.
    ///
    /// # Safety
    /// `sequence` must be alive in `pool`, of elements as long as `value`.
    pub unsafe fn append(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        sequence: Sequence,
        value: &[u8],
    ) -> Result<Sequence, CannotGrow> {
        // SAFETY: the caller's promise.
        unsafe { self.extend(pool, owner, sequence, value, value.len()) }
    }

    /// `sequence` with one element more at its beginning.
    ///
    /// # Safety
    /// As for [`SequenceCache::append`].
    pub unsafe fn prepend(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        value: &[u8],
        sequence: Sequence,
    ) -> Result<Sequence, CannotGrow> {
        let element = value.len();
        let length = u32::try_from(sequence.len() + 1).map_err(|_| CannotGrow::TooLong)?;
        if sequence.buffer() != 0 {
            let buffer = pool.buffer(sequence.buffer());
            let fits = length as usize * element <= buffer.capacity();
            let newest = buffer.used.load(Relaxed) as usize == sequence.len();
            let ours = buffer.owner.load(Relaxed) == owner.0;
            if fits && newest && ours && buffer.growth() == Growth::AtStart {
                // SAFETY: the space before the newest value is in the buffer and no value refers to it.
                unsafe {
                    let first = buffer.first(length as usize);
                    std::ptr::copy_nonoverlapping(value.as_ptr(), first, element);
                }
                buffer.used.store(length, Relaxed);
                return Ok(Sequence::new(sequence.buffer(), length));
            }
        }
        // SAFETY: the caller's promise.
        let rest = unsafe { pool.bytes(sequence, element) };
        self.create_from(pool, owner, [value, rest], element, Growth::AtStart)
    }

    /// The elements of `left`, then those of `right`.
    ///
    /// # Safety
    /// Both must be alive in `pool`, of elements of `element` bytes.
    pub unsafe fn concatenate(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        // SAFETY: the caller's promise. The elements that are read end where the elements that are written begin, also if both
        // share a buffer.
        unsafe { self.extend(pool, owner, left, pool.bytes(right, element), element) }
    }

    /// After a method, keeps the sequences that the state of a strand refers to, and frees the others
    /// that it owned. A foreign sequence in the state is replaced by a copy.
    ///
    /// # Safety
    /// All sequences must be alive in `pool`; no code may use a sequence of this strand that `after`
    /// does not name, except as `read_by_others` says.
    pub unsafe fn settle(
        &mut self,
        pool: &SequencePool,
        strand: Settling<'_>,
        after: &mut [HeldSequence],
    ) -> Result<(), CannotGrow> {
        for held in after.iter_mut() {
            if held.sequence.is_empty() {
                held.sequence = Sequence::EMPTY;
            } else if pool.buffer(held.sequence.buffer()).owner.load(Relaxed) != strand.owner.0 {
                // SAFETY: the caller's promise.
                let elements = unsafe { pool.bytes(held.sequence, held.element) };
                held.sequence = self.create(pool, strand.owner, elements, held.element)?;
            }
        }
        let is_kept = |buffer: u32| after.iter().any(|held| held.sequence.buffer() == buffer);
        let mut made = std::mem::take(&mut self.made);
        made.retain(|&(owner, buffer)| {
            let ours = owner == strand.owner.0;
            if ours && !is_kept(buffer) {
                self.release(pool, buffer);
            }
            !ours
        });
        self.made = made;
        for (place, sequence) in strand.before.iter().enumerate() {
            let buffer = sequence.buffer();
            let first = !strand.before[..place]
                .iter()
                .any(|other| other.buffer() == buffer);
            if buffer != 0 && first && !is_kept(buffer) {
                if strand.read_by_others {
                    self.retired.push(buffer);
                } else {
                    self.release(pool, buffer);
                }
            }
        }
        if !strand.read_by_others {
            // Values that were made and dropped may have used space behind the newest value that is
            // left.
            for kept in after
                .iter()
                .map(|held| held.sequence)
                .filter(|kept| kept.buffer() != 0)
            {
                let others = after
                    .iter()
                    .filter(|held| held.sequence.buffer() == kept.buffer());
                let longest = others.map(|held| held.sequence.len() as u32).max();
                pool.buffer(kept.buffer())
                    .used
                    .store(longest.unwrap_or(0), Relaxed);
            }
        }
        Ok(())
    }

    /// True when no sequence has been made since strands were settled.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.made.is_empty()
    }

    /// A sequence that the state of a strand refers to already; it does not take part in `settle`.
    pub(crate) fn create_settled(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        elements: &[u8],
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        let made = self.create(pool, owner, elements, element)?;
        if !made.is_empty() {
            self.made.pop();
        }
        Ok(made)
    }

    /// A copy that a `new` strand will own; it does not take part in `settle`.
    ///
    /// # Safety
    /// `sequence` must be alive in `pool`, of elements of `element` bytes.
    pub(crate) unsafe fn copy_for_unborn(
        &mut self,
        pool: &SequencePool,
        sequence: Sequence,
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        if sequence.is_empty() {
            return Ok(Sequence::EMPTY);
        }
        // SAFETY: the caller's promise.
        self.create_for_unborn(pool, unsafe { pool.bytes(sequence, element) }, element)
    }

    /// A sequence that a `new` strand will own; it does not take part in `settle`.
    pub(crate) fn create_for_unborn(
        &mut self,
        pool: &SequencePool,
        elements: &[u8],
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        if elements.is_empty() {
            return Ok(Sequence::EMPTY);
        }
        let made = self.create(pool, Owner::UNBORN, elements, element);
        self.made.retain(|&(owner, _)| owner != Owner::UNBORN.0);
        made
    }

    /// Frees what strands gave up during the super-step.
    pub fn free_retired(&mut self, pool: &SequencePool) {
        for buffer in std::mem::take(&mut self.retired) {
            self.release(pool, buffer);
        }
    }

    /// Frees the buffer of one sequence that is no longer used.
    pub fn free(&mut self, pool: &SequencePool, sequence: Sequence) {
        if sequence.buffer() != 0 {
            self.made.retain(|&(_, buffer)| buffer != sequence.buffer());
            self.release(pool, sequence.buffer());
        }
    }

    /// `sequence` followed by the elements in `values`.
    ///
    /// # Safety
    /// As for `append`; `values` may be in the sequence's own buffer, before its end.
    unsafe fn extend(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        sequence: Sequence,
        values: &[u8],
        element: usize,
    ) -> Result<Sequence, CannotGrow> {
        if values.is_empty() {
            return Ok(sequence);
        }
        let length = u32::try_from(sequence.len() + values.len() / element)
            .map_err(|_| CannotGrow::TooLong)?;
        if sequence.buffer() != 0 {
            let buffer = pool.buffer(sequence.buffer());
            let fits = length as usize * element <= buffer.capacity();
            let newest = buffer.used.load(Relaxed) as usize == sequence.len();
            let ours = buffer.owner.load(Relaxed) == owner.0;
            if fits && newest && ours && buffer.growth() == Growth::AtEnd {
                // SAFETY: the space from the newest value's end to `length` is in the buffer and no
                // value refers to it.
                unsafe {
                    let end = buffer.data.load(Relaxed).add(sequence.len() * element);
                    std::ptr::copy_nonoverlapping(values.as_ptr(), end, values.len());
                }
                buffer.used.store(length, Relaxed);
                return Ok(Sequence::new(sequence.buffer(), length));
            }
        }
        // SAFETY: the caller's promise.
        let elements = unsafe { pool.bytes(sequence, element) };
        self.create_from(pool, owner, [elements, values], element, Growth::AtEnd)
    }

    fn create_from(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        parts: [&[u8]; 2],
        element: usize,
        growth: Growth,
    ) -> Result<Sequence, CannotGrow> {
        let [first, second] = parts;
        let (sequence, data) = self.reserve(
            pool,
            owner,
            (first.len() + second.len()) / element.max(1),
            element,
            growth,
        )?;
        // SAFETY: the buffer is new and has room for both parts.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), data, first.len());
            std::ptr::copy_nonoverlapping(second.as_ptr(), data.add(first.len()), second.len());
        }
        Ok(sequence)
    }

    /// A buffer for `length` elements, all counted as used, and the address of the first.
    fn reserve(
        &mut self,
        pool: &SequencePool,
        owner: Owner,
        length: usize,
        element: usize,
        growth: Growth,
    ) -> Result<(Sequence, *mut u8), CannotGrow> {
        let length = u32::try_from(length).map_err(|_| CannotGrow::TooLong)?;
        if length == 0 {
            return Ok((Sequence::EMPTY, std::ptr::dangling_mut()));
        }
        let bytes = (length as usize)
            .checked_mul(element)
            .and_then(usize::checked_next_power_of_two)
            .ok_or(CannotGrow::TooLong)?;
        let class = (bytes.max(SMALLEST) / SMALLEST).ilog2() as usize;
        if class >= CLASSES {
            return Err(CannotGrow::TooLong);
        }
        if self.free[class].is_empty() {
            let free = &mut self.free[class];
            pool.refill(class, free).map_err(CannotGrow::Memory)?;
        }
        let index = self.free[class]
            .pop()
            .expect("a refilled list is not empty");
        let buffer = pool.buffer(index);
        buffer.owner.store(owner.0, Relaxed);
        buffer.used.store(length, Relaxed);
        let from_end = match growth {
            Growth::AtEnd => 0,
            Growth::AtStart => element as u32,
        };
        buffer.from_end.store(from_end, Relaxed);
        self.made.push((owner.0, index));
        self.live_bytes += (SMALLEST << class) as i64;
        Ok((Sequence::new(index, length), buffer.first(length as usize)))
    }

    fn release(&mut self, pool: &SequencePool, index: u32) {
        let class = pool.buffer(index).class.load(Relaxed) as usize;
        self.live_bytes -= (SMALLEST << class) as i64;
        let free = &mut self.free[class];
        free.push(index);
        if free.len() > 2 * BATCH {
            pool.give_back(class, free.drain(BATCH..));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_no_handle_can_say_are_refused() {
        let pool = SequencePool::new();
        let mut cache = SequenceCache::default();
        let owner = Owner::strand(1);
        assert_eq!(
            cache
                .reserve(&pool, owner, 1 << 32, 1, Growth::AtEnd)
                .unwrap_err(),
            CannotGrow::TooLong
        );
        assert_eq!(
            cache
                .reserve(&pool, owner, u32::MAX as usize, usize::MAX, Growth::AtEnd)
                .unwrap_err(),
            CannotGrow::TooLong
        );
        assert_eq!(
            cache
                .reserve(&pool, owner, u32::MAX as usize, 1 << 20, Growth::AtEnd)
                .unwrap_err(),
            CannotGrow::TooLong
        );
    }

    #[test]
    fn buffers_are_found_again_when_the_table_has_grown() {
        let pool = SequencePool::new();
        let mut cache = SequenceCache::default();
        let made: Vec<Sequence> = (0..20_000u64)
            .map(|value| {
                cache
                    .create(&pool, Owner::GLOBAL, &value.to_ne_bytes(), 8)
                    .unwrap()
            })
            .collect();
        for (value, sequence) in (0u64..).zip(made) {
            // SAFETY: nothing has been freed.
            assert_eq!(unsafe { pool.bytes(sequence, 8) }, value.to_ne_bytes());
        }
    }

    #[test]
    fn prepending_takes_no_more_memory_than_appending() {
        const COUNT: u32 = 50_000;
        let grown = |at_end: bool| {
            let (pool, mut cache) = (SequencePool::new(), SequenceCache::default());
            let owner = Owner::strand(1);
            let mut values = Vec::new();
            let mut sequence = Sequence::EMPTY;
            for n in 0..COUNT {
                let value = n.to_ne_bytes();
                // SAFETY: nothing is freed.
                sequence = unsafe {
                    match at_end {
                        true => cache.append(&pool, owner, sequence, &value),
                        false => cache.prepend(&pool, owner, &value, sequence),
                    }
                }
                .unwrap();
                values.push(sequence);
            }
            // Older values are unchanged.
            for (n, sequence) in (0..COUNT).zip(values).step_by(777) {
                // SAFETY: nothing is freed.
                let bytes = unsafe { pool.bytes(sequence, 4) };
                let mut wanted: Vec<u32> = (0..=n).collect();
                if !at_end {
                    wanted.reverse();
                }
                let wanted: Vec<u8> = wanted.iter().flat_map(|n| n.to_ne_bytes()).collect();
                assert_eq!(bytes, wanted);
            }
            pool.reserved_bytes()
        };
        assert_eq!(grown(false), grown(true));
    }

    #[test]
    fn values_that_share_a_buffer_grow_apart() {
        let (pool, mut cache) = (SequencePool::new(), SequenceCache::default());
        let owner = Owner::strand(1);
        let number = |n: u8| [n; 4];
        // SAFETY: nothing is freed.
        unsafe {
            let one = cache
                .prepend(&pool, owner, &number(1), Sequence::EMPTY)
                .unwrap();
            let two = cache.prepend(&pool, owner, &number(2), one).unwrap();
            let other = cache.prepend(&pool, owner, &number(3), one).unwrap();
            let longer = cache.append(&pool, owner, two, &number(4)).unwrap();
            let both = cache.concatenate(&pool, owner, other, longer, 4).unwrap();
            let own = cache.concatenate(&pool, owner, both, both, 4).unwrap();
            let words = |s: Sequence| {
                pool.bytes(s, 4)
                    .iter()
                    .step_by(4)
                    .copied()
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(one), [1]);
            assert_eq!(words(two), [2, 1]);
            assert_eq!(words(other), [3, 1]);
            assert_eq!(words(longer), [2, 1, 4]);
            assert_eq!(words(both), [3, 1, 2, 1, 4]);
            assert_eq!(words(own), [3, 1, 2, 1, 4, 3, 1, 2, 1, 4]);
        }
    }
}
