//! Programs as machine code, with all that running them needs.

use super::{
    Code, Cranelift, Lanes, Linker, Sink, StateMap, Task, Vector, abi, asking,
    ends::Ends,
    first_step::first_step,
    gpu::{Kernel, Machine, Unsupported},
    sought,
    target::Target,
};
use crate::{
    device::{self, Construct, Device},
    front::diag::Diagnostic,
    ir::interface::Interface,
    low::{self, Fitted, Low, Slots, Zeros},
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
    /// The program for any images.
    program: Arc<Program<Low>>,
    /// What vectors its code may use.
    isa: Isa,
    /// Its code.
    pub code: Arc<Code>,
    /// The program that its code and kernel are made of, for images whose matrices have some zeros.
    fitted: Arc<Fitted>,
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
    others: Arc<Mutex<Vec<Arc<Other>>>>,
}

/// Code for images whose matrices have other zeros.
#[derive(Debug)]
struct Other {
    fitted: Arc<Fitted>,
    code: Arc<Code>,
    kernel: OnceLock<Arc<Kernel>>,
}

impl Compiled {
    /// The methods of strands in Device-IR, which the kernel is made of.
    ///
    /// # Errors
    /// The first construct that needs the CPU.
    pub fn device_program(&self) -> Result<Program<Device>, Construct> {
        device::lower(&self.fitted.program, self.lanes.double)
    }

    /// Makes the kernel of the [device program](Compiled::device_program); `place` finds a construct in the source.
    pub fn place(
        &mut self,
        target: Target,
        device: Result<Program<Device>, Construct>,
        place: impl FnOnce(Construct) -> Option<u32>,
    ) {
        let kernel = device.map(|device| self.make_kernel(&self.fitted, device));
        self.kernel = Some(kernel.map_err(|construct| Unsupported {
            construct,
            place: place(construct),
        }));
        self.target = target;
    }

    fn make_kernel(&self, fitted: &Fitted, device: Program<Device>) -> Arc<Kernel> {
        let number = |text: &str| self.code.linker().string(text);
        let program = &fitted.program;
        let first = self.slots.global_count();
        let ends = Ends::of(program.function(Role::Invariants), first);
        let mut outputs = Vec::new();
        let mut slots = 0..;
        for state in &self.interface.state {
            let own = slots.by_ref().take(state.variable.ty.scalars().len());
            let own: Vec<usize> = own.collect();
            outputs.extend(own.into_iter().filter(|_| state.output));
        }
        let state = (&*self.state, &outputs[..]);
        Arc::new(Kernel::new(
            program, device, state, self.lanes, &number, ends,
        ))
    }

    /// The program in Low-IR, for any images.
    pub(crate) fn low(&self) -> &Program<Low> {
        &self.program
    }

    /// The images that strands look for: those with a probe where `inside` has told them to, unless an input forbids it. `holds`
    /// tells whether the global in a slot is true.
    pub fn sought(&self, holds: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let first = self.slots.global_count();
        let ends = Ends::of(self.program.function(Role::Invariants), first);
        sought::sought(&self.program, &ends, holds)
    }

    /// The program with strands on the CPU that take notice of the positions at which they ask for images.
    pub(crate) fn asking(&self, zeros: Zeros) -> Compiled {
        let first = self.slots.global_count();
        let ends = Ends::of(self.program.function(Role::Invariants), first);
        let program = asking::asking(&self.program, &ends);
        program.assert_valid("asking");
        let fitted = low::fit(&program, zeros);
        let code = self.code_of(&fitted);
        Compiled {
            program: Arc::new(program),
            fitted: Arc::new(fitted),
            code: Arc::new(code),
            target: Target::Cpu,
            kernel: None,
            machines: Vec::new(),
            others: Arc::default(),
            ..self.clone()
        }
    }

    /// The program with code for images whose matrices have these zeros.
    pub fn for_images(&self, zeros: Zeros) -> Compiled {
        if self.fitted.zeros.are_among(&zeros) {
            return self.clone();
        }
        let other = self.other(zeros);
        let kernel = self.kernel.clone().map(|kernel| {
            kernel.map(|_| {
                let make = || {
                    let device = device::lower(&other.fitted.program, self.lanes.double);
                    let device = device.expect("a program that the device supports as before");
                    device.assert_valid("device");
                    self.make_kernel(&other.fitted, device)
                };
                other.kernel.get_or_init(make).clone()
            })
        });
        Compiled {
            code: other.code.clone(),
            fitted: other.fitted.clone(),
            kernel,
            ..self.clone()
        }
    }

    /// Code for a program that is made of this one, with the same numbers of fields.
    fn code_of(&self, fitted: &Fitted) -> Code {
        machine_code(
            &self.program,
            &fitted.program,
            &self.slots,
            &self.state,
            self.lanes,
            self.isa,
        )
    }

    fn other(&self, zeros: Zeros) -> Arc<Other> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let known = others.iter().find(|other| other.fitted.zeros == zeros);
        if let Some(known) = known {
            return known.clone();
        }
        let fitted = low::fit(&self.program, zeros);
        fitted.program.assert_valid("fit");
        let code = self.code_of(&fitted);
        let other = Arc::new(Other {
            fitted: Arc::new(fitted),
            code: Arc::new(code),
            kernel: OnceLock::new(),
        });
        others.push(other.clone());
        other
    }
}

/// Generates machine code for a program in Low-IR that is fitted to some images; for others it is made when they are loaded.
/// Operations that vectors of the instruction set support are compiled for them directly.
pub fn generate(
    program: Program<Low>,
    fitted: Fitted,
    lanes: Lanes,
    isa: Isa,
    warnings: Vec<Diagnostic>,
) -> Compiled {
    let interface = program.interface.clone();
    let slots = Slots::of(&interface);
    let state = abi::state_map(&program, lanes);
    let code = machine_code(&program, &fitted.program, &slots, &state, lanes, isa);
    Compiled {
        interface,
        invariants: invariants(&program),
        abilities: abi::abilities(&program),
        program: Arc::new(program),
        isa,
        code: Arc::new(code),
        fitted: Arc::new(fitted),
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

/// The code of a program that is fitted to some images. The linker is the same for all images.
fn machine_code(
    program: &Program<Low>,
    fitted: &Program<Low>,
    slots: &Slots,
    state: &StateMap,
    lanes: Lanes,
    isa: Isa,
) -> Code {
    let linker = Linker::new(program, state);
    let interface = &program.interface;
    let invariants = invariants(program);
    let globals: Vec<u32> = (0..slots.global_count()).collect();
    let is_run = |(role, _): &&(Role, _)| !matches!(role, Role::Decide(_));
    let first_step = first_step(fitted).map(|function| (Role::FirstStep, function));
    let functions = fitted.functions.iter().filter(is_run);
    let tasks: Vec<Task<'_>> = functions
        .chain(&first_step)
        .map(|(role, function)| {
            let sink = match role {
                Role::Scales => Sink::Globals {
                    status: false,
                    slots: scale_slots(interface, slots),
                },
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
                Role::FirstStep | Role::Start | Role::Update | Role::Stabilize => {
                    Sink::State { status: true }
                }
                Role::Reduce(_) | Role::Decide(_) => Sink::Results,
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

/// Where the function of scales puts its results.
fn scale_slots(interface: &Interface, slots: &Slots) -> Vec<u32> {
    let scales = interface.scales().flat_map(|(_, blur)| {
        let first = slots.globals[blur.scale as usize];
        let ty = &interface.globals[blur.scale as usize].ty;
        first..first + ty.scalars().len() as u32
    });
    scales.collect()
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
