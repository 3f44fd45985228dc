//! Code that runs outside the super-steps: globals, the domain, global blocks and their reductions over strands.

use super::{Failure, strands::Strands};
use crate::{
    codegen::{
        abi::{NEVER, machine_type},
        host::{GlobalHost, Outside},
    },
    low::{self, StrandReduction},
    ssa::Role,
};
use ein_ir::ops::{Reduction, StrandSet};
use runtime::{
    abi::{LaneMask, LaneOutcome},
    reduce::{self, Values},
    strands::{self, Scalar},
    world::{GlobalContext, GlobalSequences, Reductions, ValueMap},
};
use std::{ptr, sync::atomic::AtomicBool};

impl Strands {
    /// Runs a function before there are strands.
    pub(super) fn run_once(
        &mut self,
        role: Role,
        sequences: &mut GlobalSequences,
    ) -> Result<(), Failure> {
        let outside = Outside::new(self.take_reports(), sequences);
        let host = GlobalHost {
            outside: &outside,
            reducer: None,
        };
        self.call_global(role, host, [0; 3], &raw const NEVER);
        if role == Role::Domain {
            self.compute_invariants(host);
        }
        self.put_reports(outside.into_reports());
        self.failure().map_or(Ok(()), Err)
    }

    /// Runs a global block between super-steps.
    pub(super) fn global_block(&mut self, role: Role, cx: &mut GlobalContext<'_>) {
        let counts = cx.counts();
        let counts = [counts.all(), counts.active, counts.stable].map(|n| n as i64);
        let stop = cx.cancelled();
        let (strands, sequences) = cx.split();
        let outside = Outside::new(self.take_reports(), sequences);
        let outcome = {
            let this = &*self;
            let reducer = |reduction: &StrandReduction, captured: &[u64]| {
                this.reduce(strands, &outside, reduction, captured)
            };
            let host = GlobalHost {
                outside: &outside,
                reducer: Some(&reducer),
            };
            let outcome = this.call_global(role, host, counts, stop);
            this.compute_invariants(host);
            outcome
        };
        self.put_reports(outside.into_reports());
        // The strands that the block stabilizes print after it.
        cx.print_text(&self.take_printed());
        // A failure stays in the reports, where the run finds it.
        if outcome.dead != 0 || self.failure().is_some() {
            cx.kill_all();
        } else if outcome.stable != 0 {
            cx.stabilize_all(self);
        }
    }

    /// Computes what strand code reads besides the variables, now that these have changed.
    fn compute_invariants(&self, host: GlobalHost<'_, '_>) {
        if self.program().code.has(Role::Invariants) {
            self.call_global(Role::Invariants, host, [0; 3], &raw const NEVER);
        }
        self.renew_decisions();
    }

    /// Calls a function that is not strand code; gives the status it ended with, if it has one.
    fn call_global(
        &self,
        role: Role,
        mut host: GlobalHost<'_, '_>,
        counts: [i64; 3],
        stop: *const AtomicBool,
    ) -> LaneOutcome {
        let mut frame = self.frame(&mut host, ptr::null_mut(), 1);
        frame.width = 1;
        frame.counts = counts;
        frame.stop = stop;
        // SAFETY: the frame is that of this program; global code touches globals, images and sequences only, and no other
        // code runs.
        unsafe { self.program().code.call(role, &mut frame) };
        LaneOutcome {
            stable: frame.stable,
            dead: frame.dead,
        }
    }

    /// The value of a reduction over strands, as scalars in memory.
    fn reduce(
        &self,
        strands: Reductions<'_>,
        outside: &Outside<'_>,
        reduction: &StrandReduction,
        captured: &[u64],
    ) -> Vec<u64> {
        let lanes = self.program().lanes;
        let width = lanes.width;
        // Every lane is given the same.
        let args: Vec<u8> = captured
            .iter()
            .zip(&reduction.captured)
            .flat_map(|(word, ty)| {
                let lane = &word.to_ne_bytes()[..lanes.lane_bytes(*ty)];
                let mut plane = lane.repeat(width);
                plane.resize(width * 8, 0);
                plane
            })
            .collect();
        let element = reduction.element;
        let words = machine_type(element.ty, lanes);
        let is_truth = element.ty == low::Ty::Bool;
        let map = |block: *const u8, members: LaneMask, values: *mut u8| {
            let mut host = GlobalHost {
                outside,
                reducer: None,
            };
            let mut frame = self.frame(&mut host, block.cast_mut(), members);
            // The block is only read.
            frame.hints = ptr::null_mut();
            let mut truths = vec![0u8; if is_truth { width * words.bytes() } else { 0 }];
            frame.args = args.as_ptr();
            frame.results = if is_truth {
                truths.as_mut_ptr()
            } else {
                values
            };
            // SAFETY: the frame is that of this program; the body of a reduction reads the block and writes the results,
            // for which there is room.
            unsafe {
                self.program()
                    .code
                    .call(Role::Reduce(reduction.body), &mut frame)
            };
            for (lane, word) in truths.chunks_exact(words.bytes()).enumerate() {
                // SAFETY: there is a byte for every lane.
                unsafe { *values.add(lane) = u8::from(word.iter().any(|&byte| byte != 0)) };
            }
        };
        let scalar = if is_truth { Scalar::Bool } else { words };
        let there = |blocks: usize, values: &mut [u8]| {
            self.values_there(reduction.body, captured, (blocks, values))
        };
        let reduced = strands.reduce_map(
            kind(reduction.reduction),
            set(reduction.set),
            (scalar, element.scalars as usize),
            ValueMap {
                here: &map,
                there: &there,
            },
        );
        let values = reduced.expect("the types of a reduction were checked");
        self.words(&values, element.scalars as usize)
    }

    /// Reduced values as scalars in memory.
    fn words(&self, values: &Values, count: usize) -> Vec<u64> {
        let words: Vec<u64> = match values {
            Values::F32(values) => values.iter().map(|x| x.to_bits().into()).collect(),
            Values::F64(values) => values.iter().map(|x| x.to_bits()).collect(),
            Values::I32(values) => values.iter().map(|&n| u64::from(n as u32)).collect(),
            Values::I64(values) if self.program().lanes.long_int => {
                values.iter().map(|&n| n as u64).collect()
            }
            // Integers of 32 bits in wider lanes: sums have to wrap, and the limits of the type are its own.
            Values::I64(values) => values
                .iter()
                .map(|&n| match n {
                    i64::MIN => i64::from(i32::MIN) as u64,
                    i64::MAX => i64::from(i32::MAX) as u64,
                    n => i64::from(n as i32) as u64,
                })
                .collect(),
            // A truth value in memory is all ones or zero.
            Values::Bool(values) => values
                .iter()
                .map(|&b| if b != 0 { u64::MAX } else { 0 })
                .collect(),
        };
        debug_assert_eq!(words.len(), count);
        words
    }
}

fn kind(reduction: Reduction) -> reduce::Reduction {
    match reduction {
        Reduction::All => reduce::Reduction::All,
        Reduction::Exists => reduce::Reduction::Exists,
        Reduction::Sum => reduce::Reduction::Sum,
        Reduction::Product => reduce::Reduction::Product,
        Reduction::Min => reduce::Reduction::Min,
        Reduction::Max => reduce::Reduction::Max,
        Reduction::Mean => reduce::Reduction::Mean,
        Reduction::Variance => reduce::Reduction::Variance,
        Reduction::ArgMin => reduce::Reduction::ArgMin,
        Reduction::ArgMax => reduce::Reduction::ArgMax,
    }
}

fn set(set: StrandSet) -> strands::StrandSet {
    match set {
        StrandSet::All => strands::StrandSet::All,
        StrandSet::Active => strands::StrandSet::Active,
        StrandSet::Stable => strands::StrandSet::Stable,
    }
}
