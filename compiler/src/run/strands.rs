//! The strands of a compiled program, as the scheduler sees them.

use super::{Failure, images::LoadedImages};
use crate::{
    jit::{Frame, GlobalHost},
    pipeline::Compiled,
    program::Role,
};
use runtime::{
    abi::{Failure as StrandFailure, LaneMask, LaneOutcome},
    sequence::Sequence,
    strands::StateLayout,
    world::{Abilities, GlobalContext, StepContext, StrandProgram},
};
use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex},
};

/// A compiled program with the values of its globals.
pub(super) struct Strands {
    program: Compiled,
    globals: Vec<u64>,
    images: LoadedImages,
    strings: Vec<Arc<str>>,
    /// What code outside the strands printed and failed with.
    host: Mutex<GlobalHost>,
}

impl Strands {
    pub(super) fn new(program: Compiled, globals: Vec<u64>, images: LoadedImages) -> Strands {
        let strings = program.code.linker().strings().to_vec();
        Strands {
            program,
            globals,
            images,
            strings,
            host: Mutex::default(),
        }
    }

    pub(super) fn program(&self) -> &Compiled {
        &self.program
    }

    pub(super) fn is_grid(&self) -> bool {
        self.program.interface.grid
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        self.images.take_warnings()
    }

    pub(super) fn take_printed(&self) -> String {
        std::mem::take(&mut self.host.lock().expect("no panic while held").printed)
    }

    /// The run-time error of global code, if there was one.
    pub(super) fn failure(&self) -> Option<Failure> {
        let failure = self.host.lock().expect("no panic while held").failure;
        failure.map(|(kind, place, details)| Failure::Global {
            message: StrandFailure {
                kind,
                position: place,
                details,
            }
            .to_string(),
            place,
        })
    }

    /// The number of values of each creation iterator, from the bounds that the domain function stored.
    pub(super) fn domain_sizes(&self) -> Vec<usize> {
        self.bounds()
            .map(|(low, high)| usize::try_from(high - low + 1).unwrap_or(0))
            .collect()
    }

    fn bounds(&self) -> impl Iterator<Item = (i64, i64)> {
        let cells = self.globals[self.globals.len() - 2 * self.program.interface.axes..].chunks(2);
        let wide = self.program.lanes.double || self.program.lanes.long_int;
        let int = move |cell: u64| {
            if wide {
                cell as i64
            } else {
                i64::from(cell as i32)
            }
        };
        cells.map(move |pair| (int(pair[0]), int(pair[1])))
    }

    fn frame(&self, host: *mut c_void, state: *mut u8, mask: LaneMask) -> Frame {
        Frame {
            // Strand code only reads globals; `run_once`, which writes them, has the only reference then.
            globals: self.globals.as_ptr().cast_mut(),
            state,
            args: ptr::null(),
            images: self.images.cells().as_ptr(),
            fields: self.images.fields().as_ptr().cast(),
            host,
            strings: &raw const self.strings,
            width: self.program.lanes.width as u32,
            lane_bytes: self.program.lanes.bytes() as u32,
            mask,
            stable: 0,
            dead: 0,
        }
    }

    /// Runs a function that is not strand code; gives the status it ended with, if it has one.
    pub(super) fn run_once(&mut self, role: Role) -> Result<LaneOutcome, Failure> {
        let mut host = std::mem::take(&mut *self.host.lock().expect("no panic while held"));
        let mut frame = self.frame((&raw mut host).cast(), ptr::null_mut(), 1);
        frame.globals = self.globals.as_mut_ptr();
        frame.width = 1;
        // SAFETY: the frame is that of this program; global code touches globals and images only.
        unsafe { self.program.code.call(role, &mut frame) };
        let outcome = LaneOutcome {
            stable: frame.stable,
            dead: frame.dead,
        };
        *self.host.lock().expect("no panic while held") = host;
        if role != Role::Domain && self.program.code.has(Role::Invariants) {
            // SAFETY: as above.
            unsafe { self.program.code.call(Role::Invariants, &mut frame) };
        }
        match self.failure() {
            Some(failure) => Err(failure),
            None => Ok(outcome),
        }
    }

    /// Runs a method on the strands of a block.
    unsafe fn method(
        &self,
        role: Role,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        let mut frame = self.frame(ptr::from_mut(cx).cast(), block, lanes);
        // SAFETY: the frame is that of this program and the block is ours by the caller's promise.
        unsafe { self.program.code.call(role, &mut frame) };
        LaneOutcome {
            stable: frame.stable,
            dead: frame.dead,
        }
    }

    fn global_block(&mut self, role: Role, cx: &mut GlobalContext<'_>) {
        // A failure stays with the host, where the run finds it.
        if let Ok(outcome) = self.run_once(role) {
            if outcome.stable != 0 {
                cx.stabilize_all(self);
            }
            if outcome.dead != 0 {
                cx.kill_all();
            }
        } else {
            cx.kill_all();
        }
        cx.print_text(&self.take_printed());
    }
}

// SAFETY: generated code writes the state planes of the lanes in its mask only, and answers with lanes of that mask.
unsafe impl StrandProgram for Strands {
    fn layout(&self) -> &StateLayout {
        &self.program.layout
    }

    fn abilities(&self) -> Abilities {
        let code = &self.program.code;
        Abilities {
            starts: code.has(Role::Start),
            stabilizes: code.has(Role::Stabilize),
            prints: code.linker().strands_print(),
            global_start: code.has(Role::GlobalStart),
            global_update: code.has(Role::GlobalUpdate),
            ..Abilities::default()
        }
    }

    unsafe fn create(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
        coordinates: *const u32,
    ) {
        let width = self.program.lanes.width;
        let wide = self.program.lanes.double || self.program.lanes.long_int;
        let mut planes: Vec<u8> = Vec::new();
        for (axis, (low, _)) in self.bounds().enumerate() {
            for lane in 0..width {
                // SAFETY: there are `width` coordinates per axis.
                let value = low + i64::from(unsafe { *coordinates.add(axis * width + lane) });
                if wide {
                    planes.extend(value.to_ne_bytes());
                } else {
                    planes.extend((value as i32).to_ne_bytes());
                }
            }
        }
        let mut frame = self.frame(ptr::from_mut(cx).cast(), block, lanes);
        frame.args = planes.as_ptr();
        // SAFETY: the frame is that of this program and the block is ours by the caller's promise.
        unsafe { self.program.code.call(Role::Create, &mut frame) };
    }

    unsafe fn start(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        // SAFETY: promised by the caller.
        unsafe { self.method(Role::Start, cx, block, lanes) }
    }

    unsafe fn update(
        &self,
        cx: &mut StepContext<'_>,
        block: *mut u8,
        lanes: LaneMask,
    ) -> LaneOutcome {
        // SAFETY: promised by the caller.
        unsafe { self.method(Role::Update, cx, block, lanes) }
    }

    unsafe fn stabilize(&self, cx: &mut StepContext<'_>, block: *mut u8, lanes: LaneMask) {
        // SAFETY: promised by the caller.
        unsafe { self.method(Role::Stabilize, cx, block, lanes) };
    }

    fn global_start(&mut self, cx: &mut GlobalContext<'_>) {
        self.global_block(Role::GlobalStart, cx);
    }

    fn global_update(&mut self, cx: &mut GlobalContext<'_>) {
        self.global_block(Role::GlobalUpdate, cx);
    }

    fn held_sequences(&self, _hold: &mut dyn FnMut(Sequence)) {}
}
