//! Memory of strand state: a growing array of equally long blocks, each aligned to 64 bytes, and
//! the copying of single lanes.
//!
//! Workers write different blocks at the same time while others read published planes, so blocks
//! are handed out as raw pointers and never as references: which worker may touch which block is
//! decided by the scheduler (`crate::world`).

use super::layout::{BLOCK_ALIGN, Plane, StateLayout};
use crate::memory::large_pages;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

/// An array of blocks of `stride` bytes.
pub struct Blocks {
    /// The allocation.
    start: NonNull<u8>,
    /// The first block in it.
    base: NonNull<u8>,
    stride: usize,
    len: usize,
    capacity: usize,
}

// SAFETY: the memory is owned by the array and reached only through raw pointers, whose users take
// on the duty of not racing.
unsafe impl Send for Blocks {}
// SAFETY: as above; `&Blocks` gives out addresses and lengths only.
unsafe impl Sync for Blocks {}

impl Blocks {
    /// An empty array of blocks of `stride` bytes (a multiple of 64, or 0 for blocks that hold
    /// nothing).
    pub fn new(stride: usize) -> Blocks {
        assert!(
            stride.is_multiple_of(BLOCK_ALIGN),
            "blocks must keep their alignment"
        );
        Blocks {
            start: NonNull::dangling(),
            base: NonNull::<Aligned>::dangling().cast(),
            stride,
            len: 0,
            capacity: 0,
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is no block.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first block. It changes only when the array grows.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Address of block `index`.
    #[inline]
    pub fn block(&self, index: usize) -> *mut u8 {
        assert!(index < self.len, "block {index} of {}", self.len);
        // SAFETY: the index is in range, so the address is in the allocation.
        unsafe { self.base.as_ptr().add(index * self.stride) }
    }

    /// The bytes that have to be allocated for the array to be `len` blocks long.
    pub fn growth(&self, len: usize) -> u64 {
        match len > self.capacity {
            true => (self.grown(len) as u64).saturating_mul(self.stride as u64),
            false => 0,
        }
    }

    /// The bytes that are allocated.
    pub fn bytes(&self) -> u64 {
        (self.capacity * self.stride) as u64
    }

    /// The capacity after growing to `len` blocks.
    fn grown(&self, len: usize) -> usize {
        len.max(self.capacity * 2)
    }

    /// Makes the array `len` blocks long; blocks that come into being are zero.
    pub fn resize(&mut self, len: usize) {
        if len > self.capacity {
            self.reallocate(self.grown(len));
        } else if len > self.len {
            // SAFETY: blocks up to `capacity` are allocated; those past `len` may hold values of
            // blocks given up before.
            unsafe {
                ptr::write_bytes(
                    self.base.as_ptr().add(self.len * self.stride),
                    0,
                    (len - self.len) * self.stride,
                )
            };
        }
        self.len = len;
    }

    fn reallocate(&mut self, capacity: usize) {
        let layout = self.allocation(capacity);
        if capacity * self.stride > 0 {
            // SAFETY: the size is not zero; old and new regions are different allocations, both at
            // least `len` blocks long.
            unsafe {
                let start = NonNull::new(alloc_zeroed(layout))
                    .unwrap_or_else(|| handle_alloc_error(layout));
                large_pages(start.as_ptr(), layout.size());
                let base = start.add(start.align_offset(BLOCK_ALIGN));
                ptr::copy_nonoverlapping(self.base.as_ptr(), base.as_ptr(), self.len * self.stride);
                self.release();
                (self.start, self.base) = (start, base);
            }
        }
        self.capacity = capacity;
    }

    /// Room for this many aligned blocks. The allocation itself has a lower alignment: the system then
    /// reserves zeroed memory whose pages are committed on first use. An allocation of higher
    /// alignment would be filled with zeros at once.
    fn allocation(&self, blocks: usize) -> Layout {
        let bytes = blocks
            .checked_mul(self.stride)
            .and_then(|bytes| bytes.checked_add(BLOCK_ALIGN))
            .expect("strand state fits the address space");
        Layout::from_size_align(bytes, align_of::<u64>())
            .expect("strand state fits the address space")
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// No address given out may be used afterwards.
    unsafe fn release(&mut self) {
        if self.capacity * self.stride > 0 {
            // SAFETY: `start` was allocated with exactly this layout.
            unsafe { dealloc(self.start.as_ptr(), self.allocation(self.capacity)) };
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // SAFETY: no references to the array are left.
        unsafe { self.release() }
    }
}

/// A type with the alignment of a block.
#[repr(align(64))]
struct Aligned;

/// The lanes of one plane as a slice.
///
/// # Safety
/// `block` must be a block that has `plane`, of values of type `T`, in `width` lanes; no other thread
/// may touch those bytes during `'a`.
pub unsafe fn lanes_mut<'a, T: Copy>(block: *mut u8, plane: Plane, width: usize) -> &'a mut [T] {
    debug_assert_eq!(plane.bytes, size_of::<T>());
    // SAFETY: promised by the caller; planes are aligned to their element size at least.
    unsafe { std::slice::from_raw_parts_mut(block.add(plane.offset).cast::<T>(), width) }
}

/// Copies a block.
///
/// # Safety
/// Both must be blocks of `layout`, and no other thread may access them.
pub unsafe fn copy_block(layout: &StateLayout, from: *const u8, to: *mut u8) {
    // SAFETY: promised by the caller.
    unsafe { ptr::copy_nonoverlapping(from, to, layout.stride()) }
}

/// Copies one lane of every plane from one block to another lane of another (or the same) block.
///
/// # Safety
/// Both must be blocks of `layout` that no other thread writes; lanes below its width.
pub unsafe fn copy_lane(
    layout: &StateLayout,
    from: *const u8,
    from_lane: usize,
    to: *mut u8,
    to_lane: usize,
) {
    debug_assert!(from_lane < layout.width() && to_lane < layout.width());
    for plane in layout.planes() {
        // SAFETY: both addresses are inside the plane.
        unsafe {
            copy_scalar(
                from.add(plane.offset + from_lane * plane.bytes),
                to.add(plane.offset + to_lane * plane.bytes),
                plane.bytes,
            )
        }
    }
}

/// Appends one lane of every plane to `record`, plane after plane without gaps.
///
/// # Safety
/// `block` must be a block of `layout` that is not written meanwhile, `lane` below its width.
pub unsafe fn save_lane(layout: &StateLayout, block: *const u8, lane: usize, record: &mut Vec<u8>) {
    for plane in layout.planes() {
        // SAFETY: the address is inside the plane.
        let bytes = unsafe {
            std::slice::from_raw_parts(block.add(plane.offset + lane * plane.bytes), plane.bytes)
        };
        record.extend_from_slice(bytes);
    }
}

/// Writes what [`save_lane`] saved into a lane.
///
/// # Safety
/// `block` must be a block of `layout` that no other thread accesses, `lane` below its width.
pub unsafe fn load_lane(layout: &StateLayout, record: &[u8], block: *mut u8, lane: usize) {
    let mut rest = record;
    for plane in layout.planes() {
        let (value, after) = rest.split_at(plane.bytes);
        // SAFETY: the address is inside the plane and `value` has the plane's size.
        unsafe {
            ptr::copy_nonoverlapping(
                value.as_ptr(),
                block.add(plane.offset + lane * plane.bytes),
                plane.bytes,
            )
        };
        rest = after;
    }
}

/// Bytes of one record of [`save_lane`].
pub fn record_bytes(layout: &StateLayout) -> usize {
    layout.planes().iter().map(|plane| plane.bytes).sum()
}

/// Copies one scalar of 1, 4 or 8 bytes.
///
/// # Safety
/// Both addresses must be valid for `bytes` bytes and aligned to them.
unsafe fn copy_scalar(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: promised by the caller. The sizes are spelled out because a move of known size needs
    // no call.
    unsafe {
        match bytes {
            1 => *to = *from,
            4 => *to.cast::<u32>() = *from.cast::<u32>(),
            _ => *to.cast::<u64>() = *from.cast::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Kind, Scalar, Sharing, Variable};
    use super::*;

    #[test]
    fn growth_keeps_contents_and_zeroes_what_is_new() {
        let mut blocks = Blocks::new(64);
        blocks.resize(1);
        // SAFETY: one block of 64 bytes exists.
        unsafe { blocks.block(0).write_bytes(7, 64) };
        blocks.resize(5);
        for index in 0..5 {
            assert_eq!(blocks.block(index).addr() % 64, 0);
            // SAFETY: the block exists and is not written meanwhile.
            let bytes = unsafe { std::slice::from_raw_parts(blocks.block(index), 64) };
            assert!(
                bytes
                    .iter()
                    .all(|&byte| byte == if index == 0 { 7 } else { 0 })
            );
        }
        blocks.resize(0);
        blocks.resize(1);
        // SAFETY: as above.
        assert_eq!(unsafe { *blocks.block(0) }, 0);
    }

    #[test]
    fn a_saved_lane_is_loaded_into_another_lane() {
        let kinds = [
            Kind::Tensor {
                scalar: Scalar::Bool,
                components: 2,
            },
            Kind::Tensor {
                scalar: Scalar::F64,
                components: 3,
            },
        ];
        let variables = kinds
            .map(|kind| Variable {
                name: "v".into(),
                kind,
                sharing: Sharing::Private,
            })
            .to_vec();
        let layout = StateLayout::new(4, variables, None).unwrap();
        let mut blocks = Blocks::new(layout.stride());
        blocks.resize(2);
        let mut record = Vec::new();
        // SAFETY: both blocks exist, one at a time is touched.
        unsafe {
            lanes_mut::<u8>(blocks.block(0), layout.plane(0, 1), 4)[2] = 1;
            lanes_mut::<f64>(blocks.block(0), layout.plane(1, 2), 4)[2] = 2.5;
            save_lane(&layout, blocks.block(0), 2, &mut record);
            load_lane(&layout, &record, blocks.block(1), 3);
            copy_lane(&layout, blocks.block(1), 3, blocks.block(1), 0);
            assert_eq!(
                lanes_mut::<u8>(blocks.block(1), layout.plane(0, 1), 4),
                [1, 0, 0, 1]
            );
            assert_eq!(
                lanes_mut::<f64>(blocks.block(1), layout.plane(1, 2), 4),
                [2.5, 0.0, 0.0, 2.5]
            );
        }
        assert_eq!(record.len(), record_bytes(&layout));
    }
}
