//! Compiled programs.

use crate::{
    diderot_diagnostic, diderot_options,
    diderot_status::{self, *},
    diderot_variable,
    object::{Message, Problem, c_text, fenced, text},
};
use compiler::library::{
    Compiled, Diagnostic, Options, OutputLength, Source, compile_source, output_type, outputs,
    report,
};
use std::{
    ffi::{CString, c_char},
    ptr,
    sync::Arc,
};

/// A program, or the errors in its text.
#[repr(C)]
pub struct diderot_program {
    pub(crate) message: Message,
    pub(crate) source: Arc<Source>,
    pub(crate) compiled: Option<Compiled>,
    diagnostics: Vec<diderot_diagnostic>,
    inputs: Vec<diderot_variable>,
    outputs: Vec<diderot_variable>,
    /// What the pointers above lead to.
    _texts: Vec<CString>,
}

// SAFETY: the pointers lead to texts that the program keeps and never changes.
unsafe impl Send for diderot_program {}
// SAFETY: as above.
unsafe impl Sync for diderot_program {}

/// The version of this interface; it is incremented when clients must be recompiled.
#[unsafe(no_mangle)]
pub extern "C" fn diderot_abi_version() -> u32 {
    1
}

/// Compiles the text of a program, of the given length in bytes. Messages use the name, and imports are found relative to it. If the
/// program has errors, there is still an object, which has them and must be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_compile(
    name: *const c_char,
    program_text: *const c_char,
    length: usize,
    options: *const diderot_options,
    program: *mut *mut diderot_program,
) -> diderot_status {
    if program.is_null() {
        return DIDEROT_MISUSE;
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { *program = ptr::null_mut() };
    let mut status = DIDEROT_OK;
    let (fault, _) = fenced(|| {
        if program_text.is_null() {
            return Err(Problem::misuse("the text is a null pointer"));
        }
        // SAFETY: the caller's promise.
        let (name, bytes, options) = unsafe {
            let bytes = std::slice::from_raw_parts(program_text.cast::<u8>(), length);
            (text(name, "name")?, bytes, options.as_ref())
        };
        let options = options.copied().unwrap_or_default();
        let options = Options {
            double: options.double_precision,
            long_int: options.long_int,
            ..Options::default()
        };
        let Ok(words) = std::str::from_utf8(bytes) else {
            return Err(Problem::misuse("the program is not UTF-8 text"));
        };
        let source = Source::new(name, words);
        let (compiled, diagnostics) = match compile_source(&source, &options) {
            Ok(compiled) => {
                let warnings = compiled.warnings.to_vec();
                (Some(compiled), warnings)
            }
            Err(errors) => (None, errors.diagnostics),
        };
        let message = Message::default();
        if compiled.is_none() {
            let shown = report::render(&source, diagnostics.clone(), false);
            status = message.keep(|| Err(Problem(DIDEROT_COMPILE_ERROR, shown)));
        }
        let made = diderot_program::new(source, compiled, diagnostics, message);
        // SAFETY: not null, and the caller's promise.
        unsafe { *program = Box::into_raw(Box::new(made)) };
        Ok(())
    });
    match fault {
        DIDEROT_OK => status,
        fault => fault,
    }
}

impl diderot_program {
    fn new(
        source: Source,
        compiled: Option<Compiled>,
        diagnostics: Vec<Diagnostic>,
        message: Message,
    ) -> diderot_program {
        let mut texts = Vec::new();
        let mut keep = |text: &str| {
            texts.push(c_text(text));
            texts[texts.len() - 1].as_ptr()
        };
        let located = report::located(&source, diagnostics).into_iter();
        let diagnostics = located.map(|message| diderot_diagnostic {
            line: message.location.line as u32,
            column: message.location.column as u32,
            is_error: message.severity == "error",
            code: keep(message.code),
            message: keep(&message.message),
        });
        let diagnostics = diagnostics.collect();
        let (mut takes, mut gives) = (Vec::new(), Vec::new());
        if let Some(compiled) = &compiled {
            for input in &compiled.interface.inputs {
                takes.push(diderot_variable {
                    name: keep(&input.name),
                    type_name: keep(&input.ty.to_string()),
                    description: input.description.as_deref().map_or(ptr::null(), &mut keep),
                    is_required: input.default.is_none(),
                    is_varying: false,
                });
            }
            for output in outputs(&compiled.interface) {
                gives.push(diderot_variable {
                    name: keep(&output.name),
                    type_name: keep(&output_type(&output)),
                    description: ptr::null(),
                    is_required: false,
                    is_varying: output.length == OutputLength::Dynamic,
                });
            }
        }
        diderot_program {
            message,
            source: Arc::new(source),
            compiled,
            diagnostics,
            inputs: takes,
            outputs: gives,
            _texts: texts,
        }
    }
}

/// Gives the address of a list that a program keeps, and its length.
unsafe fn listed<T>(
    program: *const diderot_program,
    of: fn(&diderot_program) -> &[T],
    list: *mut *const T,
) -> usize {
    // SAFETY: the caller's promise.
    let items = unsafe { program.as_ref() }.map_or(&[][..], of);
    if !list.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { *list = items.as_ptr() };
    }
    items.len()
}

/// The errors and warnings of a program; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_diagnostics(
    program: *const diderot_program,
    list: *mut *const diderot_diagnostic,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(program, |program| &program.diagnostics, list) }
}

/// The inputs of a program; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_inputs(
    program: *const diderot_program,
    list: *mut *const diderot_variable,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(program, |program| &program.inputs, list) }
}

/// The outputs of a program; returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_outputs(
    program: *const diderot_program,
    list: *mut *const diderot_variable,
) -> usize {
    // SAFETY: promised by the caller.
    unsafe { listed(program, |program| &program.outputs, list) }
}

/// Frees a program; its runs may continue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn diderot_free_program(program: *mut diderot_program) {
    if !program.is_null() {
        // SAFETY: it was made by a box, and the caller's promise.
        fenced(|| unsafe {
            drop(Box::from_raw(program));
            Ok(())
        });
    }
}
