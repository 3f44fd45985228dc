//! Code generation for x86-64 with AVX2 or AVX-512, for as many strands as a vector has lanes.
//!
//! Takes functions in Low-IR and gives machine code that keeps the contract of [`super::abi`]. Functions that it does not cover are
//! left to the portable back end. The results are those of that back end, bit for bit: the same operations in the same order, none
//! of them fused, and the same calls.
//!
//! [`lower`] makes a tree of machine operations ([`tree`]), [`live`] finds the uses of values, [`emit`] chooses registers and
//! instructions in one pass, [`target`] knows the machines and [`encode`] their instructions. In builds with assertions [`check`]
//! follows everything that is emitted and compares it with the tree.

mod check;
mod divide;
mod emit;
mod encode;
#[cfg(all(feature = "mutants", not(test)))]
pub mod fault;
#[cfg(not(all(feature = "mutants", not(test))))]
mod fault;
mod live;
mod lower;
mod memory;
mod status;
mod target;
#[cfg(test)]
mod tests;
mod tree;

use super::{
    Backend, Entry, Generated, Lanes, Linker, Once, Sink, Steps, Task,
    abi::{StateMap, StatePlane},
    ends::Ends,
};
use crate::ssa::Role;
use check::Recorded;
use live::Uses;
use memory::Library;
use runtime::simd::Isa;
use std::sync::Arc;
use target::{Avx2, Avx512, Target};
use tree::Tree;

/// Compiles strand code for the vectors of an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// The instruction set, which the machine has.
    pub isa: Isa,
}

impl Backend for Vector {
    fn name(&self) -> &'static str {
        "vector"
    }

    fn may_compile(&self, task: &Task<'_>) -> bool {
        !matches!(task.sink, Sink::Globals { .. }) && Machine::new(self.isa, task.lanes).is_ok()
    }

    /// # Panics
    /// If there is no executable memory.
    fn compile(&self, tasks: &[Task<'_>], state: &StateMap, linker: &Linker) -> Generated {
        let planes = state.planes.as_slice().into();
        let mut library = Library::default();
        let mut places: Vec<(Role, usize, bool)> = Vec::new();
        let invariants = tasks.iter().find(|task| task.role == Role::Invariants);
        let ends = invariants.map_or_else(Ends::default, |task| match &task.sink {
            Sink::Globals { slots, .. } => {
                Ends::of(Some(task.function), slots.first().copied().unwrap_or(0))
            }
            _ => Ends::default(),
        });
        for task in tasks {
            // Whatever is not covered is left to the next back end.
            if let Ok(code) = compile(task, self.isa, &planes, &ends, linker) {
                places.push((task.role, library.add(&code), code.repeats));
            }
        }
        let memory = library.finish();
        let entry = |(role, at, repeats)| {
            let address = memory.address(at);
            // SAFETY: the function was compiled with just this signature.
            let entry = unsafe {
                if repeats {
                    Entry::Steps(std::mem::transmute::<*const u8, Steps>(address))
                } else {
                    Entry::Once(std::mem::transmute::<*const u8, Once>(address))
                }
            };
            (role, entry)
        };
        Generated {
            entries: places.into_iter().map(entry).collect(),
            memory: Box::new(memory),
        }
    }
}

/// How long vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// 256 bits.
    Ymm,
    /// 512 bits.
    Zmm,
}

/// A machine and the lanes of a program on it: one vector has them all.
#[derive(Clone, Copy, Debug)]
struct Machine {
    width: Width,
    lanes: Lanes,
}

impl Machine {
    /// The machine for these lanes, if code may use an instruction set.
    fn new(isa: Isa, lanes: Lanes) -> Result<Machine, String> {
        if !cfg!(all(target_arch = "x86_64", unix)) {
            return Err("another machine or calling convention".into());
        }
        if lanes.long_int && !lanes.double {
            return Err("integers are wider than reals".into());
        }
        let width = match (lanes.width * lanes.bytes(), isa) {
            (64, Isa::Avx512) => Width::Zmm,
            (32, Isa::Avx2 | Isa::Avx512) => Width::Ymm,
            (bytes, _) => return Err(format!("{isa:?} has no vectors of {bytes} bytes")),
        };
        Ok(Machine { width, lanes })
    }

    /// Bytes of a lane, whatever is in it.
    fn lane_bytes(self) -> usize {
        self.lanes.bytes()
    }
}

/// The machine code of a function.
#[derive(Debug)]
struct Compiled {
    /// Its bytes. They may be anywhere in memory at a multiple of 64.
    code: Vec<u8>,
    /// Where it is entered.
    entry: usize,
    /// Whether it can run several super-steps in one call.
    repeats: bool,
}

/// Compiles a function.
///
/// # Errors
/// Why it cannot be compiled for this instruction set.
fn compile(
    task: &Task<'_>,
    isa: Isa,
    state: &Arc<[StatePlane]>,
    ends: &Ends,
    linker: &Linker,
) -> Result<Compiled, String> {
    let (tree, uses) = prepare(task, isa, state, ends, linker)?;
    let lanes = task.lanes;
    let (asm, entry) = match Machine::new(isa, lanes)?.width {
        Width::Zmm => {
            let (target, entry) = assemble(Avx512::new(lanes.double), &tree, &uses)?;
            (target.into_asm(), entry)
        }
        Width::Ymm => {
            let (target, entry) = assemble(Avx2::new(lanes.double), &tree, &uses)?;
            (target.into_asm(), entry)
        }
    };
    Ok(Compiled {
        code: asm.finish(),
        entry,
        repeats: tree.repeats,
    })
}

/// The tree of a function, and where its values are used.
///
/// # Errors
/// Why it cannot be compiled for this instruction set.
fn prepare(
    task: &Task<'_>,
    isa: Isa,
    state: &Arc<[StatePlane]>,
    ends: &Ends,
    linker: &Linker,
) -> Result<(Tree, Uses), String> {
    let machine = Machine::new(isa, task.lanes)?;
    let mut tree = lower::lower(task, machine, state, ends, linker)?;
    live::remove_dead(&mut tree);
    let uses = live::number(&mut tree);
    Ok((tree, uses))
}

/// Emits a tree. Builds with assertions check the emitted code, unless faults are seeded that programs must show.
///
/// # Panics
/// If the emitted code does not compute the tree.
fn assemble<T: Target>(target: T, tree: &Tree, uses: &Uses) -> Result<(T, usize), String> {
    let checks = cfg!(debug_assertions) && !cfg!(feature = "mutants");
    let (recorded, entry) = emit::emit(Recorded::new(target, checks), tree, uses)?;
    let (target, record) = recorded.finish();
    if checks {
        check::check(tree, &record)
            .unwrap_or_else(|why| panic!("wrong code for vectors: {why}\n{tree:#?}"));
    }
    Ok((target, entry))
}
