//! A program's kernel: its text, and what the host has to give it.

use super::{events::Site, header::Header, meshes::MeshCell, pack::Pack, sequences::Lists};
use crate::{
    codegen::{
        abi::{Lanes, StatePlane},
        ends::Ends,
    },
    device::{Demand, Device, MeshDemand, MeshTraits, Op},
    ir::{interface::Interface, leaf::ImageInfo},
    ssa::Function,
};
use ein_ir::ops::StrandSet;
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// The cells that are parameters of the kernel; a launch takes 4 KiB of them at most. Others are read from memory.
pub const PARAMETER_CELLS: usize = 480;

/// Bytes that a thread copies when results are collected.
pub(super) const WORD: usize = size_of::<u32>();

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
    /// The number of intervals of an image's times.
    Intervals(u32),
    /// The address of these: for each, when it begins and its frames in a unit of time.
    Times(u32),
    /// A mesh, by its number.
    Mesh(u32, MeshCell),
    /// The address of two words about an image: whether it was probed, and whether one was inside.
    Contact(u32),
    /// How many strands there were at the start of the super-step.
    Count(StrandSet),
    /// An iterator of the creation clause.
    Iterator(u8, Iteration),
    /// A value that the body of a reduction is given, by its number.
    Captured(u32),
}

/// What strands are made from, of an iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iteration {
    /// Its first value.
    First,
    /// From a value to the next.
    Stride,
    /// How many values there are.
    Count,
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
    /// Whether global code looks at states of strands that have to be on the CPU then.
    pub needs_states: bool,
    /// Where strands are, if they look for each other.
    pub near: Option<Near>,
    /// Images with interleaved components.
    pub packs: Vec<Pack>,
    /// The sequences of varying length that strands have.
    pub(super) lists: Option<Lists>,
    /// Whether probes of volumes give several numbers at a time, and so keep many at hand, in one super-step after the other.
    pub(super) has_wide_probes: bool,
    /// The parts of a block, in bytes, that are needed of strands that have ended; none if these are most of it.
    pub(super) results: Vec<Range<usize>>,
    /// The place of each scalar of the state in a block.
    pub(super) planes: Vec<StatePlane>,
    /// The globals that are ends of images.
    pub(super) ends: Ends,
    /// The interface of the program.
    pub(super) interface: Arc<Interface>,
    /// The methods `start`, `update` and `stabilize` for any meshes.
    pub(super) general: [Option<Function<Device>>; 3],
    /// The meshes that the kernel is for.
    pub(super) meshes: Vec<MeshTraits>,
    /// What strands want of them.
    pub(super) mesh_demands: Vec<MeshDemand>,
    /// Where a block has the cells of each mesh that strands were in last.
    pub(super) hints: Vec<usize>,
    /// What makes strands, if that can be done without the CPU.
    pub(super) creation: Option<Function<Device>>,
    /// What gives the values of strands to reductions over them, with the numbers of these, if that can be done without the CPU.
    pub(super) reductions: Vec<(u32, Function<Device>)>,
    /// The methods for these meshes.
    pub(super) methods: [Option<Function<Device>>; 3],
    /// The numbers of the strings in all functions.
    pub(super) strings: Vec<(Arc<str>, i64)>,
    /// The operations in the methods that are events.
    pub(super) sites: Vec<Site>,
    /// The offsets, in a neighbour record, of the state slots other than the position.
    pub(super) seen: BTreeMap<u32, usize>,
    /// The numbers of samples along the axes of each image, if the kernel is for images of these sizes only.
    pub(super) sizes: Option<Vec<Vec<usize>>>,
}

impl Kernel {
    /// The entry point that runs strands.
    pub const STRANDS: &str = "strands";
    /// Those that prepare the data for neighbour queries, in this order.
    pub const NEAR: [&str; 4] = ["clear", "seat", "allot", "place"];
    /// The one that puts the samples of a component among those of others.
    pub const PACK: &str = "pack";
    /// The one that puts the results of strands side by side.
    pub const COLLECT: &str = "collect";
    /// The one that makes strands.
    pub const CREATE: &str = "create";
    /// The one that finds the most super-steps of a strand, and whether there is one that is not stable.
    pub const TALLY: &str = "tally";
    /// The one that computes the values of strands for a reduction over them.
    pub const REDUCE: &str = "reduce";
    /// The one that puts a scalar of each strand in its place among those of all strands.
    pub const SPREAD: &str = "spread";
    /// The one that counts the units of the sequences in states, or copies these into another heap.
    pub const COMPACT: &str = "compact";
    /// The one that puts the elements of sequences side by side.
    pub const GATHER: &str = "gather";
    /// Threads of a block.
    pub const THREADS: u32 = 128;

    /// The names of the entry points that it has: those of a launch in their order, then others.
    pub fn entries(&self) -> Vec<&'static str> {
        let near = self.near.iter().flat_map(|_| Kernel::NEAR);
        let packs = (!self.packs.is_empty()).then_some(Kernel::PACK);
        let collect = (!self.results.is_empty()).then_some(Kernel::COLLECT);
        let made = self
            .creation
            .iter()
            .flat_map(|_| [Kernel::CREATE, Kernel::TALLY]);
        let reduce = (!self.reductions.is_empty()).then_some(Kernel::REDUCE);
        let spread = self.near.is_none().then_some(Kernel::SPREAD);
        let lists = self
            .lists
            .iter()
            .flat_map(|_| [Kernel::COMPACT, Kernel::GATHER]);
        let others = packs.into_iter().chain(collect).chain(made);
        let others = others.chain(reduce).chain(spread).chain(lists);
        near.chain([Kernel::STRANDS]).chain(others).collect()
    }

    /// Bytes of a scalar of the state.
    pub(super) fn number(&self) -> usize {
        match self.lanes.double || self.lanes.long_int {
            true => 8,
            false => 4,
        }
    }

    /// The numbers that some operations of the methods have, each once.
    pub(super) fn numbers(&self, number: impl Fn(&Op) -> Option<u32>) -> Vec<u32> {
        let mut numbers = Vec::new();
        for function in self.methods.iter().flatten() {
            function.each_op(&mut |op, _, _| {
                if let Some(n) = number(op)
                    && !numbers.contains(&n)
                {
                    numbers.push(n);
                }
            });
        }
        numbers
    }

    /// Whether the state of a strand has sequences of varying length.
    pub(super) fn keeps_lists(&self) -> bool {
        let lists = self.lists.as_ref();
        lists.is_some_and(|lists| !lists.planes.is_empty())
    }

    /// Whether it makes strands.
    pub fn makes_strands(&self) -> bool {
        self.creation.is_some()
    }

    /// Bytes of the results of a block.
    pub(super) fn result_bytes(&self) -> usize {
        self.results.iter().map(Range::len).sum()
    }

    /// The parameters of a launch, with the values of the cells.
    pub(super) fn parameters(&self, header: &Header, cells: &[u64]) -> Vec<u8> {
        let given = cells[..cells.len().min(PARAMETER_CELLS)].iter();
        let cells = given.flat_map(|cell| cell.to_le_bytes());
        header.bytes().into_iter().chain(cells).collect()
    }
}
