//! A program's kernel: its text, and what the host has to give it.

use super::{
    c,
    launch::Samples,
    pack::Pack,
    ptx::{self, Printer},
};
use crate::{
    codegen::{
        abi::{Lanes, StateMap, StatePlane},
        ends::Ends,
    },
    device::{self, Construct, Demand, Device},
    ir::leaf::ImageInfo,
    low::{self, Low},
    ssa::{Function, Program, Role},
};
use ein_ir::ops::StrandSet;
use std::{
    collections::{BTreeMap, HashMap},
    mem::offset_of,
    sync::Arc,
};

/// What every launch is given, in front of the cells.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// The blocks of states; for the entry point [`Kernel::PACK`], the samples of a component.
    pub state: u64,
    /// What becomes of each strand: a word of 32 bits, see [`runtime::world::fate`].
    pub fates: u64,
    /// Words that the kernel sets if strands go on after this launch, have ended, or are left to the CPU.
    pub flags: u64,
    /// The cells beyond those that are parameters.
    pub more: u64,
    /// What others may read of the blocks, as of the start of the super-step.
    pub published: u64,
    /// The rank of the strand in each slot.
    pub ranks: u64,
    /// For each box of space how many strands are in it, and where they begin in the order of boxes: two words.
    pub boxes: u64,
    /// For each slot the box of its strand and its number there: two words.
    pub seats: u64,
    /// In the order of boxes, the slots of strands.
    pub order: u64,
    /// In the same order, four reals for each strand: its position, and the bits of its rank as the last. For the entry point
    /// [`Kernel::PACK`], where the first sample goes.
    pub places: u64,
    /// In the same order, what strands read of others beside that, as of the start of the super-step: [`Near::record`]
    /// bytes for each.
    pub seen: u64,
    /// Boxes in a unit of length.
    pub per_unit: f64,
    /// How many strands, or samples, there are.
    pub count: u32,
    /// Super-steps of this launch at most; or bytes from a sample to the next.
    pub steps: u32,
    /// How many bits the number of a box has along an axis.
    pub bits: u32,
    /// How many times [`Near::BOXES`] boxes there are. The last ones are for strands at no finite position.
    pub chunks: u32,
}

impl Header {
    pub(super) const STATE: usize = offset_of!(Header, state);
    pub(super) const FATES: usize = offset_of!(Header, fates);
    pub(super) const FLAGS: usize = offset_of!(Header, flags);
    pub(super) const MORE: usize = offset_of!(Header, more);
    pub(super) const PUBLISHED: usize = offset_of!(Header, published);
    pub(super) const RANKS: usize = offset_of!(Header, ranks);
    pub(super) const BOXES: usize = offset_of!(Header, boxes);
    pub(super) const SEATS: usize = offset_of!(Header, seats);
    pub(super) const ORDER: usize = offset_of!(Header, order);
    pub(super) const PLACES: usize = offset_of!(Header, places);
    pub(super) const SEEN: usize = offset_of!(Header, seen);
    pub(super) const PER_UNIT: usize = offset_of!(Header, per_unit);
    pub(super) const COUNT: usize = offset_of!(Header, count);
    pub(super) const STEPS: usize = offset_of!(Header, steps);
    pub(super) const BITS: usize = offset_of!(Header, bits);
    pub(super) const CHUNKS: usize = offset_of!(Header, chunks);
    /// The flags, in bytes from the first.
    pub(super) const GOES_ON: usize = 0;
    pub(super) const ENDED: usize = 4;
    pub(super) const LEFT: usize = 8;
    /// Behind them the largest radius that some strands asked for, as the first bits of a real, and how many strands have a
    /// place in the order of boxes.
    pub(super) const RADIUS: usize = 12;
    pub(super) const PLACED: usize = 16;
    pub(super) const FLAG_COUNT: usize = 5;

    /// Its bytes in memory.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let addresses = [
            self.state,
            self.fates,
            self.flags,
            self.more,
            self.published,
            self.ranks,
            self.boxes,
            self.seats,
            self.order,
            self.places,
            self.seen,
            self.per_unit.to_bits(),
        ];
        let words = [self.count, self.steps, self.bits, self.chunks];
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
    /// The properties of an image.
    Image(u32, ImageInfo),
    /// How many samples there are along an axis of an image, less a number, as a real.
    SizeLess(u32, u8, i64),
    /// The address of the samples of an image's component.
    Samples(u32, u32),
    /// How many strands there were at the start of the super-step.
    Count(StrandSet),
}

impl Cell {
    /// The cell of a global variable: that of the end of an image, if it is known to be one.
    pub(super) fn of_global(slot: u32, ends: &Ends) -> Cell {
        let end = ends.get(slot);
        end.map_or(Cell::Global(slot), |end| {
            Cell::SizeLess(end.image, end.axis, end.margin)
        })
    }
}

/// Where strands are that look for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// The first state slot of their positions.
    pub position: u32,
    /// The dimension of these.
    pub dim: u8,
    /// Bytes from one published block to the next.
    pub stride: usize,
    /// Bytes of what a strand reads of another beside its position.
    pub record: usize,
}

impl Near {
    /// Boxes that one thread gives their places in the order of boxes.
    pub const BOXES: u32 = 32;
    /// Strands that a query looks at in a turn of its loop, beyond the first.
    pub const AHEAD: usize = 3;
    /// Numbers of strands that a strand can keep from its queries; one that finds more is left to the CPU.
    pub const HITS: usize = 192;

    /// The coordinate of a position that a state slot is.
    pub(super) fn axis_of(&self, slot: u32) -> Option<usize> {
        let axis = slot.checked_sub(self.position)?;
        (axis < u32::from(self.dim)).then_some(axis as usize)
    }
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
    /// Where strands are, if they look for each other.
    pub near: Option<Near>,
    /// Images with interleaved components.
    pub packs: Vec<Pack>,
    /// Whether probes of volumes give several numbers at a time, and so keep many at hand, in one super-step after the other.
    pub(super) has_wide_probes: bool,
    /// The place of each scalar of the state in a block.
    pub(super) planes: Vec<StatePlane>,
    /// The globals that are ends of images.
    pub(super) ends: Ends,
    /// The methods `start`, `update` and `stabilize`.
    pub(super) methods: [Option<Function<Device>>; 3],
    /// The numbers of the strings in them.
    pub(super) strings: Vec<(Arc<str>, i64)>,
}

impl Kernel {
    /// The entry point that runs strands.
    pub const STRANDS: &str = "strands";
    /// Those that prepare the data for neighbour queries, in this order.
    pub const NEAR: [&str; 4] = ["clear", "seat", "allot", "place"];
    /// The one that puts the samples of a component among those of others.
    pub const PACK: &str = "pack";
    /// Threads of a block.
    pub const THREADS: u32 = 128;

    /// The kernel of a program whose state has the given layout, whose strings have these numbers and whose globals are known to be
    /// such ends of images.
    ///
    /// # Errors
    /// What in the program needs the CPU.
    pub(in crate::codegen) fn new(
        program: &Program<Low>,
        state: &StateMap,
        lanes: Lanes,
        string: &dyn Fn(&str) -> i64,
        ends: &Ends,
    ) -> Result<Kernel, Construct> {
        if let Some(reason) = device::unsupported(program) {
            return Err(reason);
        }
        let method = |role: Role| -> Option<Function<Device>> {
            let function = program.function(role)?;
            Some(device::expand(function, lanes.double))
        };
        let methods = device::METHODS.map(method);
        let mut near = device::sphere(program).map(|(position, dim)| Near {
            position,
            dim,
            stride: state.layout.published_stride(),
            record: 0,
        });
        let mut seen = BTreeMap::new();
        if let Some(near) = &mut near {
            (seen, near.record) = seen_beside(near, &methods, &state.planes);
        }
        let packs = Pack::all(&methods, lanes.double);
        let mut printer = Printer::new(lanes, state, near, seen, &packs, string, ends);
        let text = printer.kernel(&methods);
        Ok(Kernel {
            text,
            cells: printer.cells,
            demands: device::demands(program, lanes.double),
            lanes,
            stride: state.layout.stride(),
            reduces: device::reduces(program),
            near,
            packs,
            has_wide_probes: device::has_wide_probes(program),
            planes: state.planes.clone(),
            ends: ends.clone(),
            strings: strings(&methods, string),
            methods,
        })
    }

    /// The names of the entry points that it has: those of a launch in their order, then others.
    pub fn entries(&self) -> Vec<&'static str> {
        let near = self.near.iter().flat_map(|_| Kernel::NEAR);
        let packs = (!self.packs.is_empty()).then_some(Kernel::PACK);
        near.chain([Kernel::STRANDS]).chain(packs).collect()
    }

    /// The kernel in CUDA C, which is C as well.
    pub fn in_c(&self) -> String {
        match self.near {
            Some(_) => "// only as PTX: strands look at others\n".into(),
            None => c::print(self),
        }
    }

    /// The parameters of a launch, with the values of the cells.
    pub(super) fn parameters(&self, header: &Header, cells: &[u64]) -> Vec<u8> {
        let given = cells[..cells.len().min(PARAMETER_CELLS)].iter();
        let cells = given.flat_map(|cell| cell.to_le_bytes());
        header.bytes().into_iter().chain(cells).collect()
    }

    /// The same kernel for images of these sizes: where it reads how many samples there are, the text has the number, so that
    /// the driver's compiler knows it.
    pub(super) fn with_sizes(&self, images: &[Samples<'_>]) -> Kernel {
        let size = |image: u32, axis: u8| images[image as usize].sizes[usize::from(axis)] as i64;
        let mut numbers = HashMap::new();
        for (n, cell) in self.cells.iter().enumerate().take(PARAMETER_CELLS) {
            let number = match *cell {
                Cell::Image(image, ImageInfo::Size(axis)) => size(image, axis).to_string(),
                Cell::SizeLess(image, axis, less) => {
                    ptx::number((size(image, axis) - less) as f64, self.lanes.double)
                }
                _ => continue,
            };
            let at = size_of::<Header>() + 8 * n;
            numbers.insert(format!("[P+{at}];"), number);
        }
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            let load = line.trim_start().strip_prefix("ld.param.");
            let known = load
                .and_then(|load| load.split_once(", "))
                .and_then(|(target, from)| Some((target, numbers.get(from)?)));
            match known {
                Some((target, number)) => text += &format!("  mov.{target}, {number};"),
                None => text += line,
            }
            text.push('\n');
        }
        Kernel {
            text,
            ..self.clone()
        }
    }

    /// The text with a limit of the registers of a thread that runs strands.
    pub fn with_registers(&self, most: u32) -> String {
        let threads = format!(".maxntid {}, 1, 1\n", Kernel::THREADS);
        let limited = format!("{threads}.maxnreg {most}\n");
        self.text.replacen(&threads, &limited, 1)
    }
}

/// The offsets, in a neighbour record, of the state slots other than the position, and how many bytes it
/// has: wide ones first, so that all are aligned.
fn seen_beside(
    near: &Near,
    methods: &[Option<Function<Device>>; 3],
    planes: &[StatePlane],
) -> (BTreeMap<u32, usize>, usize) {
    let mut slots = Vec::new();
    for function in methods.iter().flatten() {
        function.each_op(&mut |op, _, _| {
            if let device::Op::Low(low::Op::Dynamic(low::Dynamic::Other(slot, _))) = op
                && near.axis_of(*slot).is_none()
            {
                slots.push(*slot);
            }
        });
    }
    let bytes = |slot: &u32| planes[*slot as usize].stride;
    slots.sort_unstable_by_key(|slot| (std::cmp::Reverse(bytes(slot)), *slot));
    slots.dedup();
    let mut end = 0;
    let mut place = |slot: u32| {
        let offset = end;
        end += bytes(&slot);
        (slot, offset)
    };
    let seen = slots.into_iter().map(&mut place).collect();
    (seen, end.next_multiple_of(8))
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
