//! Programs as machine code, with all that running them needs.

use super::{
    Code, Cranelift, Lanes, Sink, StateMap, Task, Vector, abi,
    ends::Ends,
    gpu::{Kernel, Machine, Target, Unsupported},
};
use crate::{
    device::Construct,
    front::diag::Diagnostic,
    ir::interface::Interface,
    low::{Low, Slots},
    ssa::{Program, Role},
};
use runtime::{simd::Isa, world::Abilities};
use std::sync::Arc;

/// A program compiled to machine code: immutable, cheap to clone, and any number of runs may use it at the same time.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its interface.
    pub interface: Arc<Interface>,
    /// How many globals there are besides the variables: what strand code finds computed.
    pub invariants: usize,
    /// Its code.
    pub code: Arc<Code>,
    /// Where strands keep their state.
    pub state: Arc<StateMap>,
    /// What it makes use of.
    pub abilities: Abilities,
    /// Where the scalars of variables lie.
    pub slots: Arc<Slots>,
    /// The lanes of its code.
    pub lanes: Lanes,
    /// Warnings about it.
    pub warnings: Arc<[Diagnostic]>,
    /// Where its strands are to run.
    pub target: Target,
    /// The kernel for a GPU, if one is asked for, or why there is none.
    pub kernel: Option<Result<Arc<Kernel>, Unsupported>>,
    /// The machines that run the kernel; those of the driver if there are none.
    pub machines: Vec<Arc<dyn Machine>>,
}

impl Compiled {
    /// Makes the kernel of the program that this is the code of; `place` says where it does what only the CPU does.
    ///
    /// # Panics
    /// If it is another program.
    pub fn place(
        &mut self,
        program: &Program<Low>,
        target: Target,
        place: impl FnOnce(Construct) -> Option<u32>,
    ) {
        let strings = self.code.linker().strings();
        let number = |text: &str| {
            let known = strings.iter().position(|s| **s == *text);
            known.expect("a string of the program") as i64
        };
        let first = self.slots.global_count();
        let ends = Ends::of(program.function(Role::Invariants), first);
        let kernel = Kernel::new(program, &self.state, self.lanes, &number, &ends);
        self.kernel = Some(kernel.map(Arc::new).map_err(|construct| Unsupported {
            construct,
            place: place(construct),
        }));
        self.target = target;
    }
}

/// Generates machine code for a program in Low-IR. What vectors of an instruction set can do is compiled for them directly.
pub fn generate(
    program: &Program<Low>,
    lanes: Lanes,
    isa: Isa,
    warnings: Vec<Diagnostic>,
) -> Compiled {
    let interface = program.interface.clone();
    let slots = Slots::of(&interface);
    let state = abi::state_map(program, lanes);
    let invariants = program
        .function(Role::Invariants)
        .map_or(0, |function| function.body.yields.len());
    let globals: Vec<u32> = (0..slots.global_count()).collect();
    let tasks: Vec<Task<'_>> = program
        .functions
        .iter()
        .map(|(role, function)| {
            let sink = match role {
                Role::Globals => Sink::Globals {
                    status: false,
                    slots: globals.clone(),
                },
                Role::GlobalStart | Role::GlobalUpdate => Sink::Globals {
                    status: true,
                    slots: globals.clone(),
                },
                Role::Invariants => Sink::Globals {
                    status: false,
                    slots: (slots.global_count()..).take(invariants).collect(),
                },
                Role::Domain => Sink::Globals {
                    status: false,
                    slots: domain_slots(&interface, &slots, invariants),
                },
                Role::Create => Sink::State { status: false },
                Role::Start | Role::Update | Role::Stabilize => Sink::State { status: true },
                Role::Reduce(_) => Sink::Results,
            };
            let width = if role.is_strand_code() {
                lanes.width
            } else {
                1
            };
            Task {
                role: *role,
                function,
                sink,
                lanes: Lanes { width, ..lanes },
            }
        })
        .collect();
    let code = super::compile(tasks, &state, &[&Vector { isa }, &Cranelift]);
    let abilities = abi::abilities(program);
    Compiled {
        interface,
        invariants,
        code: Arc::new(code),
        state: Arc::new(state),
        abilities,
        slots: Arc::new(slots),
        lanes,
        warnings: warnings.into(),
        target: Target::Cpu,
        kernel: None,
        machines: Vec::new(),
    }
}

/// Where the domain function puts its results: the bounds after variables and invariants, the sequences into theirs.
fn domain_slots(interface: &Interface, slots: &Slots, invariants: usize) -> Vec<u32> {
    let after = slots.global_count() + invariants as u32;
    let bounds = after..after + 2 * interface.axes.len() as u32;
    let sequences = interface.sources.iter().flat_map(|&source| {
        let first = slots.globals[source as usize];
        let ty = &interface.globals[source as usize].ty;
        first..first + ty.scalars().len() as u32
    });
    bounds.chain(sequences).collect()
}
