//! Operations on sequences of varying length and on other strands.
//!
//! Planes follow each other; those of one element of a sequence are as wide as its scalars.

use super::{Reducer, entry::each_lane};
use crate::{
    codegen::abi::{CallPlanes, HostCall},
    low::{Dynamic, Element, Ty},
};
use runtime::{abi::LaneLists, sequence::Sequence, world::StepContext};

/// What makes and holds sequences.
pub(super) trait Sequences {
    /// A sequence of `count` elements in a lane; `shape` is bytes and number of an element's scalars.
    ///
    /// # Safety
    /// `values` has a plane for every scalar.
    unsafe fn create(
        &mut self,
        lane: usize,
        shape: [usize; 2],
        count: usize,
        values: *const u8,
    ) -> Sequence;

    /// A sequence with one more element.
    ///
    /// # Safety
    /// `values` has a plane for every scalar of an element; the sequence is alive.
    unsafe fn extend(
        &mut self,
        lane: usize,
        shape: [usize; 2],
        sequence: Sequence,
        values: *const u8,
        at_end: bool,
    ) -> Sequence;

    /// Two sequences of elements of this many bytes, one after the other.
    ///
    /// # Safety
    /// Both are alive.
    unsafe fn join(
        &mut self,
        lane: usize,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Sequence;

    /// Where its elements are.
    fn data(&self, sequence: Sequence) -> *const u8;
}

impl HostCall {
    fn shape(&self, element: Element) -> [usize; 2] {
        [self.lanes.lane_bytes(element.ty), element.scalars as usize]
    }

    /// Runs an operation on sequences.
    ///
    /// # Safety
    /// The planes are those of this call.
    pub(super) unsafe fn on_sequences(
        &self,
        heap: &mut impl Sequences,
        lanes: u32,
        planes: CallPlanes,
    ) {
        for lane in each_lane(lanes) {
            // SAFETY: promised by the caller.
            unsafe {
                let made = match &self.op {
                    Dynamic::List(element, count) => {
                        heap.create(lane, self.shape(*element), *count as usize, planes.args)
                    }
                    Dynamic::Append(element) | Dynamic::Prepend(element) => {
                        let at_end = matches!(self.op, Dynamic::Append(_));
                        let sequence = planes.sequence(0, lane);
                        heap.extend(
                            lane,
                            self.shape(*element),
                            sequence,
                            planes.after(2),
                            at_end,
                        )
                    }
                    Dynamic::Concatenate(element) => {
                        let [left, right] = [0, 2].map(|n| planes.sequence(n, lane));
                        let bytes = self.shape(*element).iter().product();
                        heap.join(lane, left, right, bytes)
                    }
                    Dynamic::Item(element) => {
                        self.item(heap, *element, lane, planes);
                        continue;
                    }
                    other => panic!("`{other}` is not about sequences"),
                };
                planes.give(lane, made);
            }
        }
    }

    /// An element of a sequence, or zeros.
    ///
    /// # Safety
    /// The planes are those of this call.
    unsafe fn item(
        &self,
        heap: &impl Sequences,
        element: Element,
        lane: usize,
        planes: CallPlanes,
    ) {
        // SAFETY: promised by the caller; an element is read only if there is one.
        unsafe {
            let (sequence, index) = (planes.sequence(0, lane), planes.int(2, lane));
            let [bytes, count] = self.shape(element);
            let inside = usize::try_from(index).is_ok_and(|n| n < sequence.len());
            let to = planes.results.add(lane * bytes);
            let apart = planes.width * bytes;
            if !inside {
                (0..count).for_each(|n| to.add(n * apart).write_bytes(0, bytes));
                return;
            }
            let from = heap.data(sequence).add(index as usize * count * bytes);
            for n in 0..count {
                let (from, to) = (from.add(n * bytes), to.add(n * apart));
                // Scalars have 4 bytes or 8, and copies of known sizes need no call.
                match bytes {
                    4 => std::ptr::copy_nonoverlapping(from, to, 4),
                    8 => std::ptr::copy_nonoverlapping(from, to, 8),
                    _ => std::ptr::copy_nonoverlapping(from, to, bytes),
                }
            }
        }
    }

    /// Finds the strands around each lane's centre.
    ///
    /// # Safety
    /// The planes are those of this call.
    pub(super) unsafe fn sphere(
        &self,
        cx: &mut StepContext<'_>,
        dim: u8,
        lanes: u32,
        planes: CallPlanes,
    ) {
        let mut lists = LaneLists::EMPTY;
        // SAFETY: promised by the caller.
        unsafe {
            let radii = planes
                .args
                .add(usize::from(dim) * self.lanes.plane_bytes(Ty::Real));
            cx.sphere(lanes, planes.args, radii, &mut lists);
            for lane in each_lane(lanes) {
                let address = lists.slots[lane] as usize as u64;
                planes.set(0, lane, address as u32);
                planes.set(1, lane, (address >> 32) as u32);
                planes.set(2, lane, lists.lengths[lane]);
            }
        }
    }

    /// Makes a strand for each lane.
    ///
    /// # Safety
    /// The planes are those of this call.
    pub(super) unsafe fn spawn(&self, cx: &mut StepContext<'_>, lanes: u32, planes: CallPlanes) {
        let staging = cx.staging();
        let mut from = planes.args;
        // SAFETY: promised by the caller; the staging block has the layout of the state.
        unsafe {
            for plane in self.state.iter() {
                let bytes = self.lanes.lane_bytes(plane.ty);
                let kept = if plane.is_handle { 4 } else { bytes };
                for lane in each_lane(lanes) {
                    let to = staging.add(plane.offset + lane * plane.stride);
                    std::ptr::copy_nonoverlapping(from.add(lane * bytes), to, kept);
                }
                from = from.add(self.lanes.plane_bytes(plane.ty));
            }
            cx.spawn(lanes, staging);
        }
    }

    /// Reduces over strands.
    ///
    /// # Safety
    /// The planes are those of this call, of one lane.
    pub(super) unsafe fn reduce(&self, reducer: &Reducer<'_>, planes: CallPlanes) {
        let Dynamic::Reduce(reduction) = &self.op else {
            panic!("`{}` is not a reduction", self.op)
        };
        let mut from = planes.args;
        let mut captured = Vec::new();
        for ty in &reduction.captured {
            let bytes = self.lanes.lane_bytes(*ty);
            let mut word = [0; 8];
            // SAFETY: promised by the caller.
            unsafe {
                std::ptr::copy_nonoverlapping(from, word.as_mut_ptr(), bytes);
                from = from.add(bytes);
            }
            captured.push(u64::from_ne_bytes(word));
        }
        let bytes = self.lanes.lane_bytes(reduction.element.ty);
        for (n, word) in reducer(reduction, &captured).into_iter().enumerate() {
            // SAFETY: promised by the caller.
            unsafe {
                let to = planes.results.add(n * bytes);
                std::ptr::copy_nonoverlapping(word.to_ne_bytes().as_ptr(), to, bytes);
            }
        }
    }
}
