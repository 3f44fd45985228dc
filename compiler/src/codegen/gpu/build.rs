//! Makes the kernel of a program, and prints it.

use super::{
    c, events,
    kernel::{Kernel, Near, WORD},
    meshes::{self, MeshData},
    pack::Pack,
    ptx,
    samples::Samples,
    sequences::Lists,
};
use crate::{
    codegen::{
        abi::{Lanes, StateMap, StatePlane},
        ends::Ends,
    },
    device::{self, Device},
    low::{self, Low},
    ssa::{Function, Program, Role},
};
use std::{collections::BTreeMap, ops::Range, sync::Arc};

impl Kernel {
    /// The kernel of a program: in Low-IR, its methods in Device-IR, the layout of its state and the slots that are outputs, the
    /// numbers of its strings, and its globals that are ends of images.
    pub(in crate::codegen) fn new(
        program: &Program<Low>,
        device: Program<Device>,
        (state, outputs): (&StateMap, &[usize]),
        lanes: Lanes,
        string: &dyn Fn(&str) -> i64,
        ends: Ends,
    ) -> Kernel {
        let needs_states = device::reduces(program) && !device::reduces(&device);
        let Parts {
            creation,
            methods,
            reductions,
        } = parts(device);
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
        let lists = Lists::of(&methods, state, &program.interface, lanes);
        // Others are not made and run in one go.
        let creation = creation.filter(|_| near.is_none() && lists.is_none());
        let bodies = reductions.iter().map(|(_, body)| body);
        let functions = methods.iter().flatten().chain(&creation).chain(bodies);
        let strings = strings(functions, string);
        let with_sequences = state.planes.iter().any(|plane| plane.is_handle);
        let mut kernel = Kernel {
            text: String::new(),
            sites: events::sites(&methods, with_sequences),
            cells: Vec::new(),
            demands: device::demands(program, lanes.double),
            lanes,
            stride: state.layout.stride(),
            needs_states,
            near,
            packs: Pack::all(&methods, lanes.double),
            has_wide_probes: device::has_wide_probes(program),
            results: match near.is_some() || !state.layout.sequence_planes().is_empty() {
                true => Vec::new(),
                false => results(state, outputs),
            },
            lists,
            planes: state.planes.clone(),
            ends,
            strings,
            interface: program.interface.clone(),
            // Those that are loaded are not known yet.
            meshes: meshes::plain(&program.interface),
            mesh_demands: device::mesh_demands(program),
            hints: state.hints.clone(),
            creation,
            reductions,
            methods: [const { None }; 3],
            general: methods,
            seen,
            sizes: None,
        };
        kernel.specialize();
        kernel
    }

    /// The kernel in CUDA C, which is C as well.
    pub fn in_c(&self) -> String {
        match (&self.near, &self.lists) {
            (Some(_), _) => "// only as PTX: strands look at others\n".into(),
            (None, Some(_)) => "// only as PTX: strands have sequences of varying length\n".into(),
            (None, None) if self.probes_meshes() => {
                "// only as PTX: strands probe fields on meshes\n".into()
            }
            (None, None) => c::print(self),
        }
    }

    /// The same kernel for images of these sizes and for meshes with cells like those of these: it has the numbers of samples as constants,
    /// so that the driver's compiler knows them, and code for the kinds of cells.
    pub(super) fn for_data(&self, images: &[Samples<'_>], meshes: &[MeshData<'_>]) -> Kernel {
        let sizes = images.iter().map(|image| image.sizes.to_vec());
        let mut kernel = Kernel {
            sizes: Some(sizes.collect()),
            meshes: meshes.iter().map(MeshData::traits).collect(),
            ..self.clone()
        };
        kernel.specialize();
        kernel
    }

    /// Makes the methods for its meshes, and the text.
    fn specialize(&mut self) {
        self.methods.clone_from(&self.general);
        if !self.meshes.is_empty() {
            let known = device::METHODS.into_iter().zip(&self.general);
            let functions = known.filter_map(|(role, function)| {
                let double = self.lanes.double;
                let special = device::specialize(function.as_ref()?, double, &self.meshes);
                Some((role, special))
            });
            let program = Program {
                interface: self.interface.clone(),
                functions: functions.collect(),
            };
            program.assert_valid("device");
            self.methods = parts(program).methods;
        }
        (self.text, self.cells) = ptx::print(self, None);
    }

    /// Whether strands probe fields on meshes.
    pub(super) fn probes_meshes(&self) -> bool {
        let mut probes = false;
        for function in self.methods.iter().flatten() {
            function.each_op(&mut |op, _, _| probes |= matches!(op, device::Op::Mesh(_)));
        }
        probes
    }

    /// The text with a limit of the registers of a thread that runs strands.
    pub fn with_registers(&self, most: u32) -> String {
        ptx::print(self, Some(most)).0
    }
}

/// The functions of a program.
struct Parts {
    creation: Option<Function<Device>>,
    /// `start`, `update` and `stabilize`.
    methods: [Option<Function<Device>>; 3],
    /// The bodies of reductions over strands, with their numbers.
    reductions: Vec<(u32, Function<Device>)>,
}

fn parts(program: Program<Device>) -> Parts {
    let mut functions = program.functions;
    let mut take = |role| {
        let place = functions.iter().position(|(known, _)| *known == role)?;
        Some(functions.swap_remove(place).1)
    };
    let (creation, methods) = (take(Role::Create), device::METHODS.map(take));
    let numbered = |(role, body)| match role {
        Role::Reduce(number) => Some((number, body)),
        _ => None,
    };
    Parts {
        creation,
        methods,
        reductions: functions.into_iter().filter_map(numbered).collect(),
    }
}

/// The parts of a block that outputs take, in whole words; none if these are more than half of it.
fn results(state: &StateMap, outputs: &[usize]) -> Vec<Range<usize>> {
    let width = state.layout.width();
    let part = |&slot: &usize| {
        let plane = &state.planes[slot];
        let end = plane.offset + width * plane.stride;
        plane.offset / WORD * WORD..end.next_multiple_of(WORD)
    };
    let mut parts: Vec<Range<usize>> = outputs.iter().map(part).collect();
    parts.sort_unstable_by_key(|part| part.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if last.end >= part.start => last.end = last.end.max(part.end),
            _ => joined.push(part),
        }
    }
    let bytes: usize = joined.iter().map(Range::len).sum();
    joined.retain(|_| 2 * bytes <= state.layout.stride());
    joined
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

/// The strings in functions, each once, with their numbers.
fn strings<'f>(
    functions: impl Iterator<Item = &'f Function<Device>>,
    number: &dyn Fn(&str) -> i64,
) -> Vec<(Arc<str>, i64)> {
    let mut strings: Vec<(Arc<str>, i64)> = Vec::new();
    for function in functions {
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
