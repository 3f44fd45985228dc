//! A program's kernel: its text, and what the host has to give it.

use super::{c, ptx::Printer};
use crate::{
    codegen::abi::{Lanes, StateMap, StatePlane},
    device::{self, Construct, Demand, Device},
    ir::leaf::ImageInfo,
    low::{self, Low},
    ssa::{Function, Program, Role},
};
use ein_ir::ops::StrandSet;
use std::{mem::offset_of, sync::Arc};

/// What every launch is given, in front of the cells.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The blocks of states.
    pub state: u64,
    /// What becomes of each strand: a word of 32 bits, see [`runtime::world::fate`].
    pub fates: u64,
    /// Words that the kernel sets if strands go on after this launch, have ended, or are left to the CPU.
    pub flags: u64,
    /// The cells beyond those that are parameters.
    pub more: u64,
    /// How many strands there are.
    pub count: u32,
    /// Super-steps of this launch at most.
    pub steps: u32,
}

impl Header {
    pub(super) const STATE: usize = offset_of!(Header, state);
    pub(super) const FATES: usize = offset_of!(Header, fates);
    pub(super) const FLAGS: usize = offset_of!(Header, flags);
    pub(super) const MORE: usize = offset_of!(Header, more);
    pub(super) const COUNT: usize = offset_of!(Header, count);
    pub(super) const STEPS: usize = offset_of!(Header, steps);
    /// The flags, in bytes from the first.
    pub(super) const GOES_ON: usize = 0;
    pub(super) const ENDED: usize = 4;
    pub(super) const LEFT: usize = 8;
    pub(super) const FLAG_COUNT: usize = 3;

    /// As it lies in memory.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let addresses = [self.state, self.fates, self.flags, self.more];
        let words = [self.count, self.steps];
        let addresses = addresses.iter().flat_map(|a| a.to_le_bytes());
        addresses
            .chain(words.iter().flat_map(|w| w.to_le_bytes()))
            .collect()
    }
}

/// The cells that are parameters of the kernel; a launch takes 4 KiB of them at most. Others are read from memory.
pub const PARAMETER_CELLS: usize = 480;

/// A value of 8 bytes that the kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A global variable, by slot.
    Global(u32),
    /// What is known of an image.
    Image(u32, ImageInfo),
    /// How many samples there are along an axis of an image, less a number, as a real.
    SizeLess(u32, u8, i64),
    /// The address of the samples of an image's component.
    Samples(u32, u32),
    /// How many strands there were at the start of the super-step.
    Count(StrandSet),
}

/// A program's kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The text, in PTX.
    pub text: String,
    /// The cells, in order.
    pub cells: Vec<Cell>,
    /// What images have to be like.
    pub demands: Vec<Demand>,
    /// The program's numbers.
    pub lanes: Lanes,
    /// Bytes from one block of states to the next.
    pub stride: usize,
    /// Whether global code looks at the states of strands.
    pub reduces: bool,
    /// Where each scalar of the state lies in a block.
    pub(super) planes: Vec<StatePlane>,
    /// The methods `start`, `update` and `stabilize`.
    pub(super) methods: [Option<Function<Device>>; 3],
    /// The numbers of the strings in them.
    pub(super) strings: Vec<(Arc<str>, i64)>,
}

impl Kernel {
    /// The name of the entry point.
    pub const ENTRY: &str = "strands";
    /// Threads of a block.
    pub const THREADS: u32 = 128;

    /// The kernel of a program whose state lies as given and whose strings have these numbers.
    ///
    /// # Errors
    /// What in the program needs the CPU.
    pub fn new(
        program: &Program<Low>,
        state: &StateMap,
        lanes: Lanes,
        string: &dyn Fn(&str) -> i64,
    ) -> Result<Kernel, Construct> {
        if let Some(reason) = device::unsupported(program) {
            return Err(reason);
        }
        let method = |role: Role| -> Option<Function<Device>> {
            let function = program.function(role)?;
            Some(device::expand(function, lanes.double))
        };
        let methods = device::METHODS.map(method);
        let mut printer = Printer::new(lanes, state, string);
        let text = printer.kernel(&methods);
        Ok(Kernel {
            text,
            cells: printer.cells,
            demands: device::demands(program, lanes.double),
            lanes,
            stride: state.layout.stride(),
            reduces: device::reduces(program),
            planes: state.planes.clone(),
            strings: strings(&methods, string),
            methods,
        })
    }

    /// The kernel in CUDA C, which is C as well.
    pub fn in_c(&self) -> String {
        c::print(self)
    }

    /// The text with a request for so many blocks at a time on a multiprocessor.
    pub fn with_blocks(&self, blocks: u32) -> String {
        let limit = format!(".maxntid {}, 1, 1\n", Kernel::THREADS);
        let request = format!("{limit}.minnctapersm {blocks}\n");
        self.text.replacen(&limit, &request, 1)
    }
}

/// The strings of methods, each once, with their numbers.
fn strings(
    methods: &[Option<Function<Device>>; 3],
    number: &dyn Fn(&str) -> i64,
) -> Vec<(Arc<str>, i64)> {
    let mut strings: Vec<(Arc<str>, i64)> = Vec::new();
    for function in methods.iter().flatten() {
        function.each_op(&mut |op, _, _| {
            if let device::Op::Low(low::Op::Str(text)) = op
                && !strings.iter().any(|(known, _)| known == text)
            {
                strings.push((text.clone(), number(text)));
            }
        });
    }
    strings
}
