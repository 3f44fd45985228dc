//! The facts about a program's sequences that its kernel and the host need.

use crate::{
    codegen::abi::{Lanes, StateMap, StatePlane},
    device::{Device, Op},
    ir::{interface::Interface, tensor::Ty},
    low::{self, Dynamic},
    ssa::{Block, Function, Inst, Kind, Value},
};
use std::collections::HashSet;

/// The sequences of a program.
#[derive(Clone, Debug)]
pub(in crate::codegen::gpu) struct Lists {
    /// Those in the state of a strand.
    pub(in crate::codegen::gpu) planes: Vec<ListPlane>,
    /// Those that are global variables.
    pub(in crate::codegen::gpu) globals: Vec<GlobalList>,
    /// The global slots with buffers of sequences that strand code reads.
    pub(in crate::codegen::gpu) common: Vec<u32>,
    /// Whether strands make sequences.
    pub(in crate::codegen::gpu) makes: bool,
    /// Whether strands put elements before others.
    pub(in crate::codegen::gpu) prepends: bool,
}

/// A sequence in the state: its length is in the low half of its lane, its place in the high one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::gpu) struct ListPlane {
    /// Bytes from the start of a block.
    pub(in crate::codegen::gpu) offset: usize,
    /// Bytes of an element.
    pub(in crate::codegen::gpu) element: usize,
}

/// A global variable that is a sequence, or an element of one of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::gpu) struct GlobalList {
    /// The slot of its buffer. That of its length is the next one.
    pub(in crate::codegen::gpu) slot: u32,
    /// Bytes of an element.
    pub(in crate::codegen::gpu) element: usize,
}

impl Lists {
    /// Those of some methods, if they have any.
    pub(in crate::codegen::gpu) fn of(
        methods: &[Option<Function<Device>>; 3],
        state: &StateMap,
        interface: &Interface,
        lanes: Lanes,
    ) -> Option<Lists> {
        let planes = state.layout.sequence_planes().iter();
        let planes: Vec<ListPlane> = planes
            .map(|known| ListPlane {
                offset: known.plane.offset,
                element: known.element,
            })
            .collect();
        let (mut has, mut makes, mut prepends) = (!planes.is_empty(), false, false);
        for function in methods.iter().flatten() {
            function.each_op(&mut |op, _, _| {
                let Op::Low(op) = op else { return };
                makes |= makes_sequence(op);
                has |= makes || matches!(op, low::Op::Dynamic(Dynamic::Item(_)));
                prepends |= matches!(op, low::Op::Dynamic(Dynamic::Prepend(_)));
            });
        }
        let mut globals = Vec::new();
        let mut slot = 0;
        for variable in &interface.globals {
            global_lists(&variable.ty, &mut slot, lanes, &mut globals);
        }
        let common = methods.iter().flatten();
        let common = common.flat_map(|function| read_globals(function, &state.planes));
        let mut common: Vec<u32> = common.collect();
        common.sort_unstable();
        common.dedup();
        has.then_some(Lists {
            planes,
            globals,
            common,
            makes,
            prepends,
        })
    }
}

/// Whether an operation makes a sequence.
pub(in crate::codegen::gpu) fn makes_sequence(op: &low::Op) -> bool {
    matches!(
        op,
        low::Op::Dynamic(
            Dynamic::List(..) | Dynamic::Append(_) | Dynamic::Prepend(_) | Dynamic::Concatenate(_)
        )
    )
}

/// Adds the sequences in a variable that begins at a slot, which moves behind it.
fn global_lists(ty: &Ty, slot: &mut u32, lanes: Lanes, lists: &mut Vec<GlobalList>) {
    let width = ty.scalars().len() as u32;
    match ty {
        Ty::List(element) => {
            let scalars = element.scalars();
            let bytes = scalars.first().map_or(0, |first| lanes.lane_bytes(*first));
            lists.push(GlobalList {
                slot: *slot,
                element: bytes * scalars.len(),
            });
            *slot += width;
        }
        Ty::Seq(element, count) => {
            (0..*count).for_each(|_| global_lists(element, slot, lanes, lists));
        }
        _ => *slot += width,
    }
}

/// The global slots whose values a method takes for buffers.
fn read_globals(function: &Function<Device>, planes: &[StatePlane]) -> Vec<u32> {
    let mut buffers = HashSet::new();
    // The two halves of a handle follow each other, the buffer first.
    let halves = planes.iter().zip(&function.body.yields[1..]);
    let halves = halves.filter(|(plane, _)| plane.is_handle);
    buffers.extend(halves.step_by(2).map(|(_, value)| *value));
    loop {
        let before = buffers.len();
        spread(&function.body, &mut buffers);
        if buffers.len() == before {
            break;
        }
    }
    let mut globals = Vec::new();
    function.each_op(&mut |op, _, results| {
        if let Op::Low(low::Op::Global(slot, _)) = op
            && buffers.contains(&results[0])
        {
            globals.push(*slot);
        }
    });
    globals
}

/// Adds the values of a block that are buffers because others are.
fn spread(block: &Block<Device>, buffers: &mut HashSet<Value>) {
    for inst in block.insts.iter().rev() {
        let is_buffer = |place: usize| buffers.contains(&inst.results[place]);
        let mut found = Vec::new();
        match &inst.kind {
            Kind::Op(Op::Low(low::Op::Dynamic(dynamic)), args) => match dynamic {
                Dynamic::Append(_) | Dynamic::Prepend(_) | Dynamic::Item(_) => found.push(args[0]),
                Dynamic::Concatenate(_) => found.extend([args[0], args[2]]),
                _ => {}
            },
            Kind::Op(Op::Low(low::Op::Select(_)), args) if is_buffer(0) => {
                found.extend(&args[1..]);
            }
            Kind::Op(..) => {}
            Kind::If {
                then, otherwise, ..
            } => {
                for place in (0..inst.results.len()).filter(|&place| is_buffer(place)) {
                    found.extend([then.yields[place], otherwise.yields[place]]);
                }
            }
            Kind::For {
                carried,
                init,
                body,
                ..
            } => {
                for (place, own) in carried.iter().enumerate() {
                    if is_buffer(place) || buffers.contains(own) {
                        found.extend([*own, init[place], body.yields[place]]);
                    }
                }
            }
        }
        buffers.extend(found);
        inner(inst, buffers);
    }
}

fn inner(inst: &Inst<Device>, buffers: &mut HashSet<Value>) {
    for block in inst.kind.blocks() {
        spread(block, buffers);
    }
}
