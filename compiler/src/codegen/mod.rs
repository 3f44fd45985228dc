//! Code generation: Low-IR to machine code in memory, for W strands at a time.
//!
//! [`abi`] is the contract that generated code keeps, on one page; [`host`] has the functions it calls back; [`Linker`] collects
//! the addresses it refers to. A [`Backend`] turns functions into code, and no type of a code generator leaves its module.

pub mod abi;
mod asking;
mod compiled;
mod cranelift;
mod ends;
mod first_step;
pub mod gpu;
pub mod host;
mod link;
mod sought;
mod target;
mod vector;

pub use abi::{Frame, Lanes, Sink, StateMap};
pub use compiled::{Compiled, generate};
pub use cranelift::Cranelift;
pub use link::Linker;
pub use target::Target;
pub use vector::Vector;
#[cfg(all(feature = "mutants", not(test)))]
pub use vector::fault as mutants;

use crate::{
    low::Low,
    ssa::{Function, Role},
};
use rewrite::both;
use std::any::Any;

/// A function to be compiled.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// Its role in the program.
    pub role: Role,
    /// Its code.
    pub function: &'a Function<Low>,
    /// Where its results go.
    pub sink: Sink,
    /// The lanes of one call: those of the program for strand code, one for other code.
    pub lanes: Lanes,
}

/// A function of the generated code.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// Does its work once.
    Once(Once),
    /// A method that runs up to this many super-steps, for each lane until it ends; gives how many are left when no lane is.
    Steps(Steps),
}

/// A function that does its work once.
pub type Once = unsafe extern "C" fn(*mut Frame<'_>);
/// A function that runs several super-steps.
pub type Steps = unsafe extern "C" fn(*mut Frame<'_>, u64) -> u64;

/// Something that makes machine code.
pub trait Backend: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether it can compile a function, as far as can be told without trying.
    fn may_compile(&self, task: &Task<'_>) -> bool;

    /// Compiles the functions that it can, and leaves out the others.
    fn compile(&self, tasks: &[Task<'_>], state: &StateMap, linker: &Linker) -> Generated;
}

/// What a back end made.
pub struct Generated {
    /// The functions.
    pub entries: Vec<(Role, Entry)>,
    /// Keeps the memory of the code until it is dropped.
    pub memory: Box<dyn Any + Send + Sync>,
}

/// The machine code of a program: immutable, and as many threads as like may run it.
pub struct Code {
    functions: Vec<(Role, Entry)>,
    /// The back end that made each.
    makers: Vec<(Role, &'static str)>,
    linker: Linker,
    /// Dropped with the code: the functions cannot be called any more, because they are only reachable through `self`.
    _memory: Vec<Box<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code")
            .field("functions", &self.functions)
            .finish_non_exhaustive()
    }
}

/// Compiles functions: each by the first back end that can.
///
/// # Panics
/// If no back end compiles some function; the last one has to compile whatever there is.
pub fn compile(
    tasks: Vec<Task<'_>>,
    state: &StateMap,
    linker: Linker,
    backends: &[&dyn Backend],
) -> Code {
    let mut code = Code {
        functions: Vec::new(),
        makers: Vec::new(),
        linker,
        _memory: Vec::new(),
    };
    for (maker, generated) in compile_by(&tasks, state, &code.linker, backends) {
        let roles = generated.entries.iter().map(|(role, _)| *role);
        code.makers.extend(roles.map(|role| (role, maker)));
        code.functions.extend(generated.entries);
        code._memory.push(generated.memory);
    }
    code
}

/// What back ends made of functions, by their names. What the first surely cannot compile, the others do at the same time.
fn compile_by(
    tasks: &[Task<'_>],
    state: &StateMap,
    linker: &Linker,
    backends: &[&dyn Backend],
) -> Vec<(&'static str, Generated)> {
    if tasks.is_empty() {
        return Vec::new();
    }
    let (first, others) = backends
        .split_first()
        .expect("a back end that compiles whatever there is");
    let only = |chosen: &dyn Fn(&Task<'_>) -> bool| -> Vec<Task<'_>> {
        tasks.iter().filter(|task| chosen(task)).cloned().collect()
    };
    let refused = only(&|task| !first.may_compile(task));
    let compile = || first.compile(tasks, state, linker);
    let (made, by_others) = match refused.is_empty() {
        true => (compile(), Vec::new()),
        false => both(compile, || compile_by(&refused, state, linker, others)),
    };
    let is_made = |task: &Task<'_>| made.entries.iter().any(|(role, _)| *role == task.role);
    let left = only(&|task| first.may_compile(task) && !is_made(task));
    let by_others = by_others
        .into_iter()
        .chain(compile_by(&left, state, linker, others));
    by_others.chain([(first.name(), made)]).collect()
}

impl Code {
    /// What the code refers to.
    pub fn linker(&self) -> &Linker {
        &self.linker
    }

    /// Whether there is a function for this role.
    pub fn has(&self, role: Role) -> bool {
        self.functions.iter().any(|(r, _)| *r == role)
    }

    /// The name of the back end that compiled the function for a role.
    pub fn maker(&self, role: Role) -> Option<&'static str> {
        let maker = self.makers.iter().find(|(r, _)| *r == role);
        maker.map(|(_, name)| *name)
    }

    /// Runs the function for a role.
    ///
    /// # Safety
    /// The frame is that of the program this code was made from, with everything the function reads and writes.
    pub unsafe fn call(&self, role: Role, frame: &mut Frame<'_>) {
        // SAFETY: promised by the caller.
        unsafe { self.call_steps(role, frame, 1) };
    }

    /// Runs a method up to this many times, at least once, for each lane until it ends: the caller must not need the state in
    /// between. Gives how often it ran, which is once if its code cannot do more in one call.
    ///
    /// # Safety
    /// As for [`Code::call`].
    pub unsafe fn call_steps(&self, role: Role, frame: &mut Frame<'_>, steps: u64) -> u64 {
        let (_, entry) = self
            .functions
            .iter()
            .find(|(r, _)| *r == role)
            .expect("a function of the program");
        match entry {
            Entry::Once(entry) => {
                // SAFETY: promised by the caller.
                unsafe { entry(frame) };
                1
            }
            // SAFETY: promised by the caller.
            Entry::Steps(entry) => steps - unsafe { entry(frame, steps) },
        }
    }
}
