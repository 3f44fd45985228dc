//! Code generation: Low-IR to machine code in memory, for W strands at a time.
//!
//! No type of the code generator leaves this module.

mod dynamic;
mod dynamic_host;
mod emit;
mod frame;
mod host;
pub mod images;
mod lanes;
mod link;
mod ops;
mod outside;
mod runs;

pub use emit::Sink;
pub use frame::{Frame, StatePlane, status};
pub use lanes::Lanes;
pub use link::Linker;
pub use outside::{GlobalHost, Outside, Reducer, Reports};

use crate::{low::Low, program::Role, ssa::Function, state::StateMap};
use cranelift_codegen::{
    ir::{AbiParam, types},
    settings::{self, Configurable},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use std::sync::Arc;

/// The machine code of a program.
pub struct Code {
    module: Option<JITModule>,
    functions: Vec<(Role, Entry)>,
    linker: Linker,
}

/// A function of the generated code.
type Entry = unsafe extern "C" fn(*mut Frame);

// SAFETY: the code is immutable once made, and what it refers to (tables of weights, statements) is only read.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code")
            .field("functions", &self.functions)
            .finish_non_exhaustive()
    }
}

/// A function to be compiled.
pub struct Task<'a> {
    /// What it is for.
    pub role: Role,
    /// What it does.
    pub function: &'a Function<Low>,
    /// Where its results go.
    pub sink: Sink,
}

/// Compiles functions. Strand code runs `lanes.width` strands per call, other code one.
///
/// # Panics
/// If the code generator refuses the code or this machine; both are faults of ours.
pub fn compile(tasks: &[Task<'_>], state: &StateMap, lanes: Lanes) -> Code {
    let state_planes: Arc<[StatePlane]> = state.planes.as_slice().into();
    let mut module = JITModule::new(JITBuilder::with_isa(
        isa(),
        cranelift_module::default_libcall_names(),
    ));
    let mut linker = Linker::new(&state.layout);
    let mut context = module.make_context();
    let mut scratch = FunctionBuilderContext::new();
    let mut ids: Vec<(Role, FuncId)> = Vec::new();
    for Task {
        role,
        function,
        sink,
    } in tasks
    {
        linker.for_strands = role.is_method();
        let lanes = if role.is_strand_code() {
            lanes
        } else {
            Lanes { width: 1, ..lanes }
        };
        context
            .func
            .signature
            .params
            .push(AbiParam::new(types::I64));
        let builder = FunctionBuilder::new(&mut context.func, &mut scratch);
        emit::emit(
            builder,
            function,
            lanes,
            &mut linker,
            &state_planes,
            sink,
            module.target_config(),
        );
        let id = module
            .declare_function(&role.name(), Linkage::Export, &context.func.signature)
            .expect("every role occurs once");
        module
            .define_function(id, &mut context)
            .unwrap_or_else(|why| {
                panic!(
                    "code generation of `{}`: {why:?}\n{}",
                    role.name(),
                    context.func
                )
            });
        module.clear_context(&mut context);
        ids.push((*role, id));
    }
    module
        .finalize_definitions()
        .expect("memory for machine code");
    let functions = ids
        .into_iter()
        .map(|(role, id)| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was compiled with just this signature.
            (role, unsafe {
                std::mem::transmute::<*const u8, Entry>(address)
            })
        })
        .collect();
    Code {
        module: Some(module),
        functions,
        linker,
    }
}

/// The machine this runs on. Our own passes have optimized already; the code generator's would only lengthen live ranges.
fn isa() -> cranelift_codegen::isa::OwnedTargetIsa {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "none"),
        ("regalloc_algorithm", "backtracking"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
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

impl Code {
    /// What the code refers to.
    pub fn linker(&self) -> &Linker {
        &self.linker
    }

    /// The number of a string, which may be one the program does not mention.
    pub fn intern(&mut self, text: &str) -> i64 {
        self.linker.intern(text)
    }

    /// Whether there is a function for this role.
    pub fn has(&self, role: Role) -> bool {
        self.functions.iter().any(|(r, _)| *r == role)
    }

    /// Runs the function for a role.
    ///
    /// # Safety
    /// The frame is that of the program this code was made from, with everything the function reads and writes.
    pub unsafe fn call(&self, role: Role, frame: &mut Frame) {
        let (_, entry) = self
            .functions
            .iter()
            .find(|(r, _)| *r == role)
            .expect("a function of the program");
        // SAFETY: promised by the caller.
        unsafe { entry(frame) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: nobody can call the functions any more: they are only reachable through `self`.
            unsafe { module.free_memory() }
        }
    }
}
