//! The back end that runs everywhere: Cranelift, with vectors of 128 bits.

mod dynamic;
mod emit;
mod lanes;
mod ops;
mod part_loops;

use super::{Backend, Entry, Generated, Linker, StateMap, Task};
use crate::ssa::{Kind, Role};
use cranelift_codegen::{
    ir::{AbiParam, types},
    settings::{self, Configurable},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};

/// Compiles every function on every machine that Cranelift knows.
#[derive(Clone, Copy, Debug)]
pub struct Cranelift;

/// Keeps a module's code in memory.
struct Memory(Option<JITModule>);

// SAFETY: the code is immutable once made, and the module is only touched when it is dropped.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the owner of the memory drops it after the last call.
            unsafe { module.free_memory() }
        }
    }
}

impl Backend for Cranelift {
    fn name(&self) -> &'static str {
        "cranelift"
    }

    fn may_compile(&self, _: &Task<'_>) -> bool {
        true
    }

    /// # Panics
    /// If Cranelift refuses the code or this machine: both are compiler bugs.
    fn compile(&self, tasks: &[Task<'_>], state: &StateMap, linker: &Linker) -> Generated {
        let (once, often): (Vec<_>, Vec<_>) = tasks.iter().partition(|task| runs_once(task));
        let groups = [(once, "single_pass"), (often, "backtracking")];
        let (entries, memory): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .filter(|(tasks, _)| !tasks.is_empty())
            .map(|(tasks, registers)| module(&tasks, registers, state, linker))
            .unzip();
        Generated {
            entries: entries.into_iter().flatten().collect(),
            memory: Box::new(memory),
        }
    }
}

/// Whether a function runs once, or once in a super-step, and so does everything in it: then it takes longer to choose registers
/// well than that gains.
fn runs_once(task: &Task<'_>) -> bool {
    let mut loops = false;
    let body = &task.function.body;
    body.walk(&mut |inst| loops |= matches!(inst.kind, Kind::For { .. }));
    !task.role.is_strand_code() && !loops
}

/// Compiles functions with registers chosen by one of the code generator's algorithms.
fn module(
    tasks: &[&Task<'_>],
    registers: &str,
    state: &StateMap,
    linker: &Linker,
) -> (Vec<(Role, Entry)>, Memory) {
    let planes = state.planes.as_slice().into();
    let mut module = JITModule::new(JITBuilder::with_isa(
        isa(registers),
        cranelift_module::default_libcall_names(),
    ));
    let mut context = module.make_context();
    let mut scratch = FunctionBuilderContext::new();
    let mut ids: Vec<(Role, FuncId)> = Vec::new();
    for task in tasks {
        context.func.signature.call_conv = module.target_config().default_call_conv;
        let params = &mut context.func.signature.params;
        params.push(AbiParam::new(types::I64));
        let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
        emit::emit(builder, task, linker, &planes, module.target_config());
        let name = task.role.name();
        let id = module
            .declare_function(&name, Linkage::Export, &context.func.signature)
            .expect("every role occurs once");
        module
            .define_function(id, &mut context)
            .unwrap_or_else(|why| panic!("code generation of `{name}`: {why:?}\n{}", context.func));
        module.clear_context(&mut context);
        ids.push((task.role, id));
    }
    module
        .finalize_definitions()
        .expect("memory for machine code");
    let entry = |(role, id)| {
        let address = module.get_finalized_function(id);
        // SAFETY: the function was compiled with just this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, crate::codegen::Once>(address) };
        (role, Entry::Once(entry))
    };
    let entries = ids.into_iter().map(entry).collect();
    (entries, Memory(Some(module)))
}

/// The machine this runs on. Our own passes have optimized already; the code generator's would only lengthen live ranges.
fn isa(registers: &str) -> cranelift_codegen::isa::OwnedTargetIsa {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    for (name, value) in [
        ("opt_level", "none"),
        ("regalloc_algorithm", registers),
        ("enable_verifier", verify),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
    ] {
        flags
            .set(name, value)
            .expect("a flag of the code generator");
    }
    cranelift_native::builder()
        .expect("a supported machine")
        .finish(settings::Flags::new(flags))
        .expect("a supported machine")
}
