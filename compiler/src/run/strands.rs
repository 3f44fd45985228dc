//! The strands of a compiled program, as the scheduler sees them.

use super::{Failure, decisions::Deciders, images::Images, placement::Placement, values::Initial};
use crate::{
    codegen::{
        Compiled, Frame,
        abi::{self, Host, NEVER},
        gpu::{Cell, Iteration},
        host::Reports,
    },
    front::tree::Constant,
    ir::tensor::Ty,
    low,
    ssa::Role,
};
use ein_ir::ops::StrandSet;
use runtime::{
    abi::{Failure as StrandFailure, LaneMask, LaneOutcome, MAX_WIDTH},
    cluster::Team,
    sequence::Sequence,
    strands::{Counts, StateLayout},
    world::{Abilities, Batch, Executor, GlobalContext, Job, StepContext, StrandProgram},
};
use std::{
    cell::UnsafeCell,
    mem::MaybeUninit,
    ops::Range,
    ptr, slice,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Creation iterators whose values fit where strands are created.
const FEW_AXES: usize = 4;

/// A compiled program with the values of its globals.
pub(super) struct Strands {
    program: Compiled,
    globals: Globals,
    images: Images,
    deciders: Deciders,
    placement: Placement,
    strings: Vec<Arc<str>>,
    /// The step from one value of a creation iterator to the next.
    stride: u32,
    /// What code outside the strands printed and failed with.
    reports: Mutex<Reports>,
}

/// The cells of global variables.
///
/// Generated code writes them only while no other code runs: in global blocks and before the first super-step. Strand code
/// reads them.
struct Globals(Box<[UnsafeCell<u64>]>);

// SAFETY: cells are written only while one thread runs, see above.
unsafe impl Sync for Globals {}

impl Globals {
    /// A cell, between calls of generated code.
    fn get(&self, slot: usize) -> u64 {
        // SAFETY: nothing writes while this is read.
        unsafe { *self.0[slot].get() }
    }

    fn as_ptr(&self) -> *mut u64 {
        UnsafeCell::raw_get(self.0.as_ptr())
    }
}

impl Strands {
    pub(super) fn new(
        program: Compiled,
        Initial { cells, strings }: Initial,
        images: Images,
        placement: Placement,
    ) -> Strands {
        Strands {
            deciders: Deciders::new(&program, &images),
            program,
            globals: Globals(cells.into_iter().map(UnsafeCell::new).collect()),
            images,
            placement,
            strings,
            stride: 1,
            reports: Mutex::default(),
        }
    }

    pub(super) fn program(&self) -> &Compiled {
        &self.program
    }

    /// Whether the global in a slot is true.
    pub(super) fn holds(&self, slot: u32) -> bool {
        self.globals.get(slot as usize) as u8 != 0
    }

    /// The value of a global variable, if it is not a sequence of varying length.
    pub(super) fn global(&self, global: u32) -> Option<Constant> {
        let ty = &self.program.interface.globals[global as usize].ty;
        let mut slot = self.program.slots.globals[global as usize] as usize;
        self.constant(ty, &mut slot)
    }

    /// The value in the cells from a slot on; the slot moves behind it.
    fn constant(&self, ty: &Ty, slot: &mut usize) -> Option<Constant> {
        let mut cell = || {
            *slot += 1;
            self.globals.get(*slot - 1)
        };
        Some(match ty {
            Ty::Bool => Constant::Bool(cell() as u8 != 0),
            Ty::Int => Constant::Int(self.int(cell())),
            Ty::Str => {
                let number = usize::try_from(self.int(cell())).ok()?;
                Constant::String(self.strings.get(number)?.to_string())
            }
            Ty::Tensor(shape) => {
                let real = |cell: u64| match self.program.lanes.double {
                    true => f64::from_bits(cell),
                    false => f64::from(f32::from_bits(cell as u32)),
                };
                let numbers = (0..shape.size()).map(|_| real(cell()));
                Constant::Tensor(shape.clone(), numbers.collect())
            }
            Ty::Seq(element, count) => {
                let elements = (0..*count).map(|_| self.constant(element, slot));
                Constant::Seq(elements.collect::<Option<_>>()?)
            }
            Ty::List(_) | Ty::Strands | Ty::Strand | Ty::Field { .. } => return None,
        })
    }

    fn int(&self, cell: u64) -> i64 {
        match self.program.lanes.double || self.program.lanes.long_int {
            true => cell as i64,
            false => i64::from(cell as i32),
        }
    }

    pub(super) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Tells the tables of decisions what globals are now.
    pub(super) fn renew_decisions(&self) {
        self.deciders.learn(|slot| self.globals.get(slot));
    }

    /// Lets the outputs stay on the GPU.
    pub(super) fn keep_outputs(&mut self) {
        let slots = super::device_outputs::slots(&self.program.interface);
        self.placement.kept_slots = Some(slots);
    }

    /// Whether the GPU that strands are to run on also makes them: where nothing but outputs is wanted, and these come back.
    pub(super) fn are_made_there(&self) -> bool {
        let kernel = self
            .program
            .kernel
            .as_ref()
            .and_then(|kernel| kernel.as_ref().ok());
        let makes = kernel.is_some_and(|kernel| kernel.makes_strands());
        makes && self.placement.wants_accelerator && self.placement.kept_slots.is_none()
    }

    /// Takes the GPU in use, if strands are to run there and it is not in use.
    pub(super) fn make_ready(&mut self, team: Option<&Team>) -> Result<(), Failure> {
        self.placement.make_ready(&self.program, &self.images, team)
    }

    pub(super) fn take_printed(&self) -> String {
        std::mem::take(&mut self.reports().printed)
    }

    pub(super) fn take_reports(&self) -> Reports {
        std::mem::take(&mut *self.reports())
    }

    pub(super) fn put_reports(&self, reports: Reports) {
        *self.reports() = reports;
    }

    fn reports(&self) -> MutexGuard<'_, Reports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run-time error of global code, if there was one.
    pub(super) fn failure(&self) -> Option<Failure> {
        let failure = self.reports().failure;
        failure.map(|(kind, position, details)| {
            Failure::at_run_time(StrandFailure {
                kind,
                position,
                details,
            })
        })
    }

    /// Leaves out creation iterators: of each, only every `stride`th value is used.
    pub(super) fn set_stride(&mut self, stride: u32) {
        self.stride = stride.max(1);
    }

    /// The number of values of each creation iterator, from the bounds that the domain function stored.
    pub(super) fn domain_sizes(&self) -> Vec<usize> {
        self.bounds()
            .into_iter()
            .map(|(low, high)| {
                let count = i128::from(high) - i128::from(low) + 1;
                let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
                count.div_ceil(self.stride as usize)
            })
            .collect()
    }

    /// The values of the iterators that strands were created with at the beginning, by their numbers.
    pub(super) fn iterators(&self) -> impl Fn(u64) -> Option<Vec<i64>> + use<> {
        let (bounds, sizes) = (self.bounds(), self.domain_sizes());
        let stride = i64::from(self.stride);
        move |id| {
            let mut rest = id;
            let mut values = Vec::new();
            for ((low, _), &size) in bounds.iter().zip(&sizes).rev() {
                let size = size.max(1) as u64;
                values.push(low + (rest % size) as i64 * stride);
                rest /= size;
            }
            values.reverse();
            (rest == 0).then_some(values)
        }
    }

    /// The first and the last value of each creation iterator.
    fn bounds(&self) -> Vec<(i64, i64)> {
        (0..self.program.interface.axes.len())
            .map(|axis| self.bound(axis))
            .collect()
    }

    fn bound(&self, axis: usize) -> (i64, i64) {
        let last = self.globals.get(self.slot_of(axis) + 1);
        (self.first_of(axis), self.int(last))
    }

    /// The first value of a creation iterator.
    fn first_of(&self, axis: usize) -> i64 {
        self.int(self.globals.get(self.slot_of(axis)))
    }

    /// The slot of the first value of a creation iterator, which is followed by that of its last.
    fn slot_of(&self, axis: usize) -> usize {
        self.globals.0.len() - 2 * (self.program.interface.axes.len() - axis)
    }

    /// The scalars of one of the runtime's variables, by their numbers in the state.
    fn scalars_of(&self, variable: usize) -> Option<Range<usize>> {
        let mut known = self.program.state.variables.iter();
        let number = known.position(|&first| first == variable)?;
        super::device_outputs::all_slots(&self.program.interface).nth(number)
    }

    /// The value of a cell, unless only the accelerator knows it.
    fn cell(&self, cell: Cell, counts: Counts) -> u64 {
        match cell {
            Cell::Global(slot) => self.globals.get(slot as usize),
            Cell::Image(image, info) => self.images.cells()[abi::images::cell(image, info)],
            Cell::Iterator(axis, Iteration::First) => self.bound(axis.into()).0 as u64,
            Cell::Iterator(_, Iteration::Stride) => self.stride.into(),
            Cell::Iterator(axis, Iteration::Count) => self.domain_sizes()[usize::from(axis)] as u64,
            // Only a reduction is given values.
            Cell::Captured(_) => 0,
            Cell::Count(StrandSet::All) => counts.all(),
            Cell::Count(StrandSet::Active) => counts.active,
            Cell::Count(StrandSet::Stable) => counts.stable,
            Cell::Samples(..)
            | Cell::SizeLess(..)
            | Cell::Intervals(_)
            | Cell::Times(_)
            | Cell::Mesh(..)
            | Cell::Contact(_) => {
                unreachable!("the accelerator knows them")
            }
        }
    }

    /// Computes the values of strands whose states are on the GPU, those of the first blocks, for a reduction that is given these; false if
    /// they are lost.
    pub(super) fn values_there(
        &self,
        body: u32,
        captured: &[u64],
        (blocks, values): (usize, &mut [u8]),
    ) -> bool {
        let Some(lent) = &self.placement.accelerator else {
            return false;
        };
        let value = |cell| match cell {
            // Others are given more.
            Cell::Captured(n) => captured.get(n as usize).copied().unwrap_or(0),
            other => self.cell(other, Counts::default()),
        };
        let reduced = (lent.fleet().first()).reduce(body, blocks, values, &value);
        reduced.map_err(|error| self.placement.fail(error)).is_ok()
    }

    pub(super) fn frame<'h>(
        &self,
        host: &'h mut (dyn Host + 'h),
        state: *mut u8,
        mask: LaneMask,
    ) -> Frame<'h> {
        Frame {
            globals: self.globals.as_ptr(),
            state,
            args: ptr::null(),
            results: ptr::null_mut(),
            images: self.images.cells().as_ptr(),
            fields: self.deciders.places().as_ptr(),
            blocks: ptr::null(),
            published: ptr::null(),
            stop: &raw const NEVER,
            host,
            fem: self.images.meshes(),
            hints: state,
            strings: &raw const self.strings,
            width: self.program.lanes.width as u32,
            int_bytes: self.program.lanes.lane_bytes(low::Ty::Int) as u32,
            mask,
            stable: 0,
            dead: 0,
            counts: [0; 3],
        }
    }

    /// Runs a method on the strands of a block, with arguments if it has any, and if it can up to this many times; gives what became of
    /// them, and how often it ran.
    unsafe fn method(
        &self,
        role: Role,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        args: *const u8,
        steps: u64,
    ) -> (LaneOutcome, u64) {
        let head = *cx.head();
        let mut frame = self.frame(cx, block, lanes);
        frame.args = args;
        (frame.blocks, frame.published) = (head.state, head.published);
        frame.counts = [head.all, head.active, head.stable];
        frame.stop = match role {
            Role::FirstStep | Role::Update => head.stopped,
            _ => head.cancelled,
        };
        // SAFETY: the frame is that of this program and the block is ours by the caller's promise.
        let taken = unsafe { self.program.code.call_steps(role, &mut frame, steps) };
        let outcome = LaneOutcome {
            stable: frame.stable,
            dead: frame.dead,
        };
        (outcome, taken)
    }

    /// Calls `run` with the values of the iterators at some positions, as arguments of a function.
    ///
    /// # Safety
    /// There is a position for each axis and lane.
    unsafe fn with_iterators<R>(
        &self,
        coordinates: *const u32,
        run: impl FnOnce(*const u8) -> R,
    ) -> R {
        let width = self.program.lanes.width;
        let axes = self.program.interface.axes.len();
        let narrow = self.program.lanes.lane_bytes(low::Ty::Int) == size_of::<i32>();
        // A plane of 8-byte lanes per axis; more axes than most programs have go to the heap.
        let mut few = [MaybeUninit::<u64>::uninit(); FEW_AXES * MAX_WIDTH];
        let mut many = Vec::new();
        let planes = if axes > FEW_AXES {
            many.resize(axes * width, MaybeUninit::uninit());
            &mut many[..]
        } else {
            &mut few[..axes * width]
        };
        for axis in 0..axes {
            let low = self.first_of(axis);
            // SAFETY: the caller's promise.
            let positions = unsafe { slice::from_raw_parts(coordinates.add(axis * width), width) };
            let plane = planes[axis * width..].as_mut_ptr();
            // SAFETY: a plane has room for the lanes, whether they have 8 bytes or 4.
            unsafe {
                match <&[u32; MAX_WIDTH]>::try_from(positions) {
                    // Without a loop or a product for the case that should be quick.
                    Ok(positions) if narrow && self.stride == 1 => plane
                        .cast::<[u32; MAX_WIDTH]>()
                        .write(positions.map(|position| position.wrapping_add(low as u32))),
                    _ if narrow => positions.iter().enumerate().for_each(|(lane, position)| {
                        let value = position.wrapping_mul(self.stride).wrapping_add(low as u32);
                        plane.cast::<u32>().add(lane).write(value);
                    }),
                    _ => positions.iter().enumerate().for_each(|(lane, &position)| {
                        let value = low + i64::from(position) * i64::from(self.stride);
                        plane.cast::<i64>().add(lane).write(value);
                    }),
                }
            }
        }
        run(planes.as_ptr().cast())
    }
}

// SAFETY: generated code writes the state planes of the lanes in its mask only, and answers with lanes of that mask.
unsafe impl StrandProgram for Strands {
    fn layout(&self) -> &StateLayout {
        &self.program.state.layout
    }

    fn abilities(&self) -> Abilities {
        self.program.abilities
    }

    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        let create = |args| {
            let mut frame = self.frame(cx, block, lanes);
            frame.args = args;
            // SAFETY: the frame is that of this program and the block is ours by the caller's promise.
            unsafe { self.program.code.call(Role::Create, &mut frame) };
        };
        // SAFETY: promised by the caller.
        unsafe { self.with_iterators(coordinates, create) };
    }

    fn ends_at_once(&self) -> bool {
        self.program.code.has(Role::FirstStep)
    }

    unsafe fn create_and_update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) -> LaneOutcome {
        // SAFETY: promised by the caller.
        unsafe {
            self.with_iterators(coordinates, |args| {
                self.method(Role::FirstStep, cx, block, lanes, args, 1).0
            })
        }
    }

    unsafe fn start(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        // SAFETY: promised by the caller.
        unsafe { self.method(Role::Start, cx, block, lanes, ptr::null(), 1).0 }
    }

    unsafe fn update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        // SAFETY: promised by the caller.
        unsafe {
            self.method(Role::Update, cx, block, lanes, ptr::null(), 1)
                .0
        }
    }

    unsafe fn update_steps(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        steps: u64,
    ) -> (LaneOutcome, u64) {
        // SAFETY: promised by the caller.
        unsafe { self.method(Role::Update, cx, block, lanes, ptr::null(), steps) }
    }

    fn executor(&self) -> Option<&dyn Executor> {
        self.placement.accelerator.as_ref()?;
        Some(self)
    }

    unsafe fn stabilize(&self, cx: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask) {
        // SAFETY: promised by the caller.
        unsafe { self.method(Role::Stabilize, cx, block, lanes, ptr::null(), 1) };
    }

    fn global_start(&mut self, cx: &mut GlobalContext<'_>) {
        self.global_block(Role::GlobalStart, cx);
    }

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        self.global_block(Role::GlobalUpdate, cx);
    }

    fn held_sequences(&self, hold: &mut dyn FnMut(Sequence)) {
        let variables = self.program.interface.globals.iter();
        for (variable, &first) in variables.zip(&self.program.slots.globals) {
            for slot in list_slots(&variable.ty, first as usize) {
                let [buffer, length] = [slot, slot + 1].map(|n| self.globals.get(n) as u32);
                hold(Sequence::from_bits(
                    u64::from(buffer) << 32 | u64::from(length),
                ));
            }
        }
    }
}

/// The first slots of the sequences of varying length in a variable that begins at a slot.
fn list_slots(ty: &Ty, first: usize) -> Vec<usize> {
    match ty {
        Ty::List(_) => vec![first],
        Ty::Seq(element, n) => {
            let width = element.scalars().len();
            (0..*n)
                .flat_map(|k| list_slots(element, first + k * width))
                .collect()
        }
        _ => vec![],
    }
}

/// The GPUs that run the strands, with the globals and images of this run.
impl Executor for Strands {
    fn is_ready(&self) -> bool {
        self.placement.accelerator().is_some()
    }

    fn run(&self, strands: &mut Batch<'_>) -> bool {
        let Some(accelerator) = self.placement.accelerator() else {
            return false;
        };
        let counts = strands.counts;
        let value = |cell| self.cell(cell, counts);
        let others = || Placement::others(&self.program, &self.images);
        if let Err(error) = accelerator.run(strands, (&value, &self.strings), others) {
            self.placement.fail(error);
            // The fates of strands that run to their ends are known.
            return strands.independent;
        }
        true
    }

    fn make_and_run(&self, job: &mut Job<'_>) -> bool {
        let Some(accelerator) = self.placement.accelerator() else {
            return false;
        };
        let value = |cell| self.cell(cell, Counts::default());
        let slots = |variable| self.scalars_of(variable);
        let others = || Placement::others(&self.program, &self.images);
        match accelerator.make_and_run(job, &slots, &value, others) {
            Ok(has_run) => has_run,
            Err(error) => {
                self.placement.fail(error);
                false
            }
        }
    }

    fn bring_back(&self, strands: &mut Batch<'_>, blocks: &[Range<usize>]) -> bool {
        let Some(lent) = &self.placement.accelerator else {
            return false;
        };
        let copied = lent.fleet().first().bring_back(strands, blocks);
        copied.map_err(|error| self.placement.fail(error)).is_ok()
    }

    fn bring_published(&self, strands: &mut Batch<'_>) -> bool {
        let Some(lent) = &self.placement.accelerator else {
            return false;
        };
        let copied = lent.fleet().first().bring_published(strands);
        copied.map_err(|error| self.placement.fail(error)).is_ok()
    }

    fn needs_states(&self) -> bool {
        let accelerator = &self.placement.accelerator;
        accelerator
            .as_ref()
            .is_none_or(|lent| lent.fleet().first().needs_states())
    }
}
