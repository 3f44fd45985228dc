//! What generated code calls for sequences of varying length and for other strands.
//!
//! A call has its operation, a plane of lanes for every scalar argument, and room for a plane for every scalar result.
//! Planes lie one after the other; those of one element of a sequence are as wide as its scalars.

use super::{
    GlobalHost, Reducer,
    global::GlobalHeap,
    print::{each_lane, read_int},
};
use crate::{
    codegen::abi::{Frame, Lanes, StatePlane},
    low::{Dynamic, Element, Ty},
};
use runtime::{abi::LaneLists, sequence::Sequence, world::StepContext};
use std::sync::Arc;

/// An operation as generated code refers to it.
#[derive(Debug)]
pub(in crate::codegen) struct HostCall {
    pub(in crate::codegen) op: Dynamic,
    pub(in crate::codegen) lanes: Lanes,
    pub(in crate::codegen) state: Arc<[StatePlane]>,
}

/// Who makes sequences.
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

    /// Two sequences of elements of so many bytes, one after the other.
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

impl Sequences for StepContext<'_> {
    unsafe fn create(
        &mut self,
        lane: usize,
        shape: [usize; 2],
        count: usize,
        values: *const u8,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        unsafe { self.create_sequence(lane, shape, count, values) }
    }

    unsafe fn extend(
        &mut self,
        lane: usize,
        shape: [usize; 2],
        sequence: Sequence,
        values: *const u8,
        at_end: bool,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        unsafe { self.extend_sequence(lane, shape, sequence, values, at_end) }
    }

    unsafe fn join(
        &mut self,
        lane: usize,
        left: Sequence,
        right: Sequence,
        element: usize,
    ) -> Sequence {
        // SAFETY: promised by the caller.
        unsafe { self.concatenate(lane, left, right, element) }
    }

    fn data(&self, sequence: Sequence) -> *const u8 {
        self.sequence_data(sequence)
    }
}

/// The planes of a call.
#[derive(Clone, Copy)]
struct Planes {
    args: *const u8,
    results: *mut u8,
    width: usize,
    int_bytes: usize,
}

impl Planes {
    /// An integer argument.
    ///
    /// # Safety
    /// The first `n + 1` arguments are integers.
    unsafe fn int(self, n: usize, lane: usize) -> i64 {
        // SAFETY: promised by the caller.
        unsafe {
            read_int(
                self.args.add((n * self.width + lane) * self.int_bytes),
                self.int_bytes,
            )
        }
    }

    /// Sets an integer result to a number of 32 bits.
    ///
    /// # Safety
    /// The first `n + 1` results are integers.
    unsafe fn set(self, n: usize, lane: usize, value: u32) {
        // SAFETY: promised by the caller.
        unsafe {
            let at = self.results.add((n * self.width + lane) * self.int_bytes);
            if self.int_bytes == 8 {
                at.cast::<u64>().write_unaligned(value.into());
            } else {
                at.cast::<u32>().write_unaligned(value);
            }
        }
    }

    /// The sequence in two integer arguments, buffer and length.
    ///
    /// # Safety
    /// There are such arguments.
    unsafe fn sequence(self, n: usize, lane: usize) -> Sequence {
        // SAFETY: promised by the caller.
        let [buffer, length] = [n, n + 1].map(|n| u64::from(unsafe { self.int(n, lane) } as u32));
        Sequence::from_bits(buffer << 32 | length)
    }

    /// Gives a sequence as the two results.
    ///
    /// # Safety
    /// The results are two integers.
    unsafe fn give(self, lane: usize, sequence: Sequence) {
        let bits = sequence.to_bits();
        // SAFETY: promised by the caller.
        unsafe {
            self.set(0, lane, (bits >> 32) as u32);
            self.set(1, lane, bits as u32);
        }
    }

    /// The planes after some integer arguments.
    ///
    /// # Safety
    /// There are that many.
    unsafe fn after(self, ints: usize) -> *const u8 {
        // SAFETY: promised by the caller.
        unsafe { self.args.add(ints * self.width * self.int_bytes) }
    }
}

impl HostCall {
    fn shape(&self, element: Element) -> [usize; 2] {
        [self.lanes.lane_bytes(element.ty), element.scalars as usize]
    }

    fn planes(&self, args: *const u8, results: *mut u8) -> Planes {
        Planes {
            args,
            results,
            width: self.lanes.width,
            int_bytes: self.lanes.lane_bytes(Ty::Int),
        }
    }

    /// Runs an operation on sequences.
    ///
    /// # Safety
    /// The planes are those of this call.
    unsafe fn on_sequences(&self, heap: &mut impl Sequences, lanes: u32, planes: Planes) {
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
    unsafe fn item(&self, heap: &impl Sequences, element: Element, lane: usize, planes: Planes) {
        // SAFETY: promised by the caller; an element is read only if there is one.
        unsafe {
            let (sequence, index) = (planes.sequence(0, lane), planes.int(2, lane));
            let [bytes, count] = self.shape(element);
            let inside = usize::try_from(index).is_ok_and(|n| n < sequence.len());
            for n in 0..count {
                let to = planes.results.add((n * planes.width + lane) * bytes);
                if inside {
                    let from = heap
                        .data(sequence)
                        .add((index as usize * count + n) * bytes);
                    std::ptr::copy_nonoverlapping(from, to, bytes);
                } else {
                    to.write_bytes(0, bytes);
                }
            }
        }
    }

    /// Finds the strands around each lane's centre.
    ///
    /// # Safety
    /// The planes are those of this call.
    unsafe fn sphere(&self, cx: &mut StepContext<'_>, dim: u8, lanes: u32, planes: Planes) {
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
    unsafe fn spawn(&self, cx: &mut StepContext<'_>, lanes: u32, planes: Planes) {
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
    unsafe fn reduce(&self, reducer: &Reducer<'_>, planes: Planes) {
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

/// Runs an operation for strands.
pub(in crate::codegen) unsafe extern "C" fn call_strands(
    frame: *mut Frame,
    lanes: u32,
    call: *const HostCall,
    args: *const u8,
    results: *mut u8,
) {
    // SAFETY: generated code passes its own frame, whose host is the step context of strand code, and a call of its
    // linker with the planes it wants.
    unsafe {
        let (cx, call) = (&mut *(*frame).host.cast::<StepContext<'_>>(), &*call);
        let planes = call.planes(args, results);
        match &call.op {
            Dynamic::Sphere { dim, .. } => call.sphere(cx, *dim, lanes, planes),
            Dynamic::New(_) => call.spawn(cx, lanes, planes),
            _ => call.on_sequences(cx, lanes, planes),
        }
    }
}

/// Runs an operation for code outside the super-steps.
pub(in crate::codegen) unsafe extern "C" fn call_global(
    frame: *mut Frame,
    lanes: u32,
    call: *const HostCall,
    args: *const u8,
    results: *mut u8,
) {
    // SAFETY: as for strands, with the host of global code.
    unsafe {
        let (host, call) = (&*(*frame).host.cast::<GlobalHost<'_, '_>>(), &*call);
        let planes = call.planes(args, results);
        match &call.op {
            Dynamic::Reduce(_) => {
                let reducer = host
                    .reducer
                    .expect("strands are reduced where there are any");
                call.reduce(reducer, planes);
            }
            _ => {
                let mut heap = GlobalHeap {
                    outside: host.outside,
                    width: call.lanes.width,
                };
                call.on_sequences(&mut heap, lanes, planes);
            }
        }
    }
}
