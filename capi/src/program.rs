//! Compiled programs.

use crate::{
    diagnostics::Diagnostics,
    diderot_config, diderot_diagnostic, diderot_variable,
    error::{diderot_error, fenced},
    pointers::{Texts, file_name, free, listed, place, slice},
};
use diderot::{Config, Engine, OutputLength, Program, output_type};
use std::{ffi::c_char, ptr};

/// A compiled program.
pub struct diderot_program {
    pub(crate) program: Program,
    warnings: Diagnostics,
    inputs: Vec<diderot_variable>,
    outputs: Vec<diderot_variable>,
    /// The texts of the variables.
    _texts: Texts,
}

// SAFETY: the pointers lead to texts that the program keeps and never changes.
unsafe impl Send for diderot_program {}
// SAFETY: as above.
unsafe impl Sync for diderot_program {}

/// The version of this interface; it is incremented when clients must be recompiled.
#[unsafe(no_mangle)]
pub extern "C" fn diderot_abi_version() -> u32 {
    2
}

/// Compiles the text of a program, of the given length in bytes. Messages use the name, and imports are found relative to it. The
/// configuration may be NULL. If the program has errors, the error has them as diagnostics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_compile(
    name: *const c_char,
    text: *const c_char,
    length: usize,
    config: *const diderot_config,
    program: *mut *mut diderot_program,
) -> *mut diderot_error {
    fenced(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { place(program, "program")? };
        *program = ptr::null_mut();
        // SAFETY: the caller's promise.
        let (name, bytes, config) = unsafe {
            let bytes = slice(text.cast::<u8>(), length, "text")?;
            (file_name(name, "name")?, bytes, config.as_ref())
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(diderot_error::misuse("the program is not UTF-8 text"));
        };
        let defaults = Config::new();
        let engine = Engine::new(config.map_or(&defaults, |config| &config.config));
        let compiled = engine.compile(name.to_path_buf(), text)?;
        *program = Box::into_raw(Box::new(diderot_program::new(compiled)));
        Ok(())
    })
}

impl diderot_program {
    fn new(program: Program) -> diderot_program {
        let mut texts = Texts::default();
        let takes = program.inputs();
        let takes = takes.iter().map(|input| diderot_variable {
            name: texts.keep(&input.name),
            type_name: texts.keep(&input.type_name),
            description: match &input.description {
                Some(description) => texts.keep(description),
                None => ptr::null(),
            },
            is_required: input.default.is_none(),
            is_varying: false,
        });
        let takes = takes.collect();
        let gives = program.outputs();
        let gives = gives.iter().map(|output| diderot_variable {
            name: texts.keep(&output.name),
            type_name: texts.keep(&output_type(output)),
            description: ptr::null(),
            is_required: false,
            is_varying: output.length == OutputLength::Dynamic,
        });
        let gives = gives.collect();
        diderot_program {
            warnings: Diagnostics::new(&program.warnings()),
            program,
            inputs: takes,
            outputs: gives,
            _texts: texts,
        }
    }
}

/// The warnings of a program; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_diagnostics(
    program: *const diderot_program,
    list: *mut *const diderot_diagnostic,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(program, |program| program.warnings.list(), list) }
}

/// The inputs of a program; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_program_inputs(
    program: *const diderot_program,
    list: *mut *const diderot_variable,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(program, |program| &program.inputs, list) }
}

/// The outputs of a program; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_program_outputs(
    program: *const diderot_program,
    list: *mut *const diderot_variable,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(program, |program| &program.outputs, list) }
}

/// Frees a program; its runs may continue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_program(program: *mut diderot_program) {
    // SAFETY: promised by the caller.
    unsafe { free(program) }
}
