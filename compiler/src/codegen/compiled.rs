//! Programs as machine code, with all that running them needs.

use super::{
    Code, Cranelift, Lanes, Linker, Sink, StateMap, Task, Vector, abi,
    ends::Ends,
    gpu::{Kernel, Machine, Target, Unsupported},
    sought,
};
use crate::{
    device::Construct,
    front::diag::Diagnostic,
    ir::interface::Interface,
    low::{self, Low, Slots, Zeros},
    ssa::{Program, Role},
};
use runtime::{simd::Isa, world::Abilities};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A program compiled to machine code: immutable, cheap to clone, and any number of runs may use it at the same time.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its interface.
    pub interface: Arc<Interface>,
    /// How many globals there are besides the variables: what strand code finds computed.
    pub invariants: usize,
    /// Its code for any images.
    program: Arc<Program<Low>>,
    /// What vectors its code may use.
    isa: Isa,
    /// Its code.
    pub code: Arc<Code>,
    /// What its code and kernel take for granted of images.
    zeros: Arc<Zeros>,
    /// Where strands keep their state.
    pub state: Arc<StateMap>,
    /// The features that it uses.
    pub abilities: Abilities,
    /// The places of the scalars of variables.
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
    /// Code for images with other orientations, generated when such images were loaded.
    others: Arc<Mutex<Vec<Arc<Fitted>>>>,
}

/// Code for images whose matrices have some zeros.
#[derive(Debug)]
struct Fitted {
    zeros: Arc<Zeros>,
    code: Arc<Code>,
    kernel: OnceLock<Arc<Kernel>>,
}

impl Compiled {
    /// Makes the kernel; `place` says where the program does what only the CPU does.
    pub fn place(&mut self, target: Target, place: impl FnOnce(Construct) -> Option<u32>) {
        let kernel = self.make_kernel(&self.zeros);
        self.kernel = Some(kernel.map_err(|construct| Unsupported {
            construct,
            place: place(construct),
        }));
        self.target = target;
    }

    fn make_kernel(&self, zeros: &Zeros) -> Result<Arc<Kernel>, Construct> {
        let number = |text: &str| self.code.linker().string(text);
        let program = low::fit(&self.program, zeros);
        let first = self.slots.global_count();
        let ends = Ends::of(program.function(Role::Invariants), first);
        Kernel::new(&program, &self.state, self.lanes, &number, &ends).map(Arc::new)
    }

    /// The images that strands look for: those with a probe where `inside` has told them to, unless an input forbids it. `holds`
    /// tells whether the global in a slot is true.
    pub fn sought(&self, holds: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let first = self.slots.global_count();
        let ends = Ends::of(self.program.function(Role::Invariants), first);
        sought::sought(&self.program, &ends, holds)
    }

    /// The program with code for images whose matrices have these zeros.
    pub fn for_images(&self, zeros: Zeros) -> Compiled {
        if self.zeros.are_among(&zeros) {
            return self.clone();
        }
        let fitted = self.fitted(zeros);
        let kernel = self.kernel.clone().map(|kernel| {
            kernel.map(|_| {
                let make = || self.make_kernel(&fitted.zeros);
                let made = fitted
                    .kernel
                    .get_or_init(|| make().expect("a kernel as before"));
                made.clone()
            })
        });
        Compiled {
            code: fitted.code.clone(),
            zeros: fitted.zeros.clone(),
            kernel,
            ..self.clone()
        }
    }

    fn fitted(&self, zeros: Zeros) -> Arc<Fitted> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = others.iter().find(|other| *other.zeros == zeros) {
            return known.clone();
        }
        let code = machine_code(
            &self.program,
            &self.slots,
            &self.state,
            self.lanes,
            self.isa,
            &zeros,
        );
        let fitted = Arc::new(Fitted {
            zeros: Arc::new(zeros),
            code: Arc::new(code),
            kernel: OnceLock::new(),
        });
        others.push(fitted.clone());
        fitted
    }
}

/// Generates machine code for a program in Low-IR and images whose matrices have these zeros; for others it is made when they
/// come. What vectors of an instruction set can do is compiled for them directly.
pub fn generate(
    program: Program<Low>,
    lanes: Lanes,
    isa: Isa,
    zeros: Zeros,
    warnings: Vec<Diagnostic>,
) -> Compiled {
    let interface = program.interface.clone();
    let slots = Slots::of(&interface);
    let state = abi::state_map(&program, lanes);
    let code = machine_code(&program, &slots, &state, lanes, isa, &zeros);
    Compiled {
        interface,
        invariants: invariants(&program),
        abilities: abi::abilities(&program),
        program: Arc::new(program),
        isa,
        code: Arc::new(code),
        zeros: Arc::new(zeros),
        state: Arc::new(state),
        slots: Arc::new(slots),
        lanes,
        warnings: warnings.into(),
        target: Target::Cpu,
        kernel: None,
        machines: Vec::new(),
        others: Arc::default(),
    }
}

/// How many values are computed once for all strands.
fn invariants(program: &Program<Low>) -> usize {
    let function = program.function(Role::Invariants);
    function.map_or(0, |function| function.body.yields.len())
}

/// The code of a program for images whose matrices have these zeros.
fn machine_code(
    program: &Program<Low>,
    slots: &Slots,
    state: &StateMap,
    lanes: Lanes,
    isa: Isa,
    zeros: &Zeros,
) -> Code {
    let linker = Linker::new(program, state);
    let interface = &program.interface;
    let invariants = invariants(program);
    let program = low::fit(program, zeros);
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
                    slots: domain_slots(interface, slots, invariants),
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
    super::compile(tasks, state, linker, &[&Vector { isa }, &Cranelift])
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
