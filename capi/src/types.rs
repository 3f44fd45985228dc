//! Numbers, arrays and structures that both sides read, as `diderot.h` declares them.

use std::ffi::{c_char, c_void};

/// The kind of an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum diderot_status {
    /// Success.
    DIDEROT_OK = 0,
    /// The program has errors.
    DIDEROT_COMPILE_ERROR = 1,
    /// An input is missing or wrong.
    DIDEROT_INPUT_ERROR = 2,
    /// The run failed.
    DIDEROT_RUN_ERROR = 3,
    /// The run was stopped.
    DIDEROT_STOPPED = 4,
    /// A file does not exist, or cannot be read or written.
    DIDEROT_FILE_ERROR = 5,
    /// The call is invalid: a null pointer, an unknown name, a run that is already running.
    DIDEROT_MISUSE = 6,
    /// An internal error of the library.
    DIDEROT_INTERNAL = 99,
}

/// The type of numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum diderot_type {
    /// Truth values, one byte each: 0 or 1. Outputs only.
    DIDEROT_BOOL = 0,
    /// 8 bits with a sign.
    DIDEROT_INT8 = 1,
    /// 8 bits.
    DIDEROT_UINT8 = 2,
    /// 16 bits with a sign.
    DIDEROT_INT16 = 3,
    /// 16 bits.
    DIDEROT_UINT16 = 4,
    /// 32 bits with a sign.
    DIDEROT_INT32 = 5,
    /// 32 bits.
    DIDEROT_UINT32 = 6,
    /// 64 bits with a sign.
    DIDEROT_INT64 = 7,
    /// 64 bits.
    DIDEROT_UINT64 = 8,
    /// Single precision.
    DIDEROT_FLOAT = 9,
    /// Double precision.
    DIDEROT_DOUBLE = 10,
}

/// Axes that an array may have.
pub const DIDEROT_MAX_AXES: usize = 16;

/// A place in a file of a program. Lines and columns count from 1, columns in characters; the end is one past the last character.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_location {
    /// The path of the file: the program's own or an imported one.
    pub file: *const c_char,
    /// The line of the first character.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// Its column.
    pub end_column: u32,
}

/// A further place of a message.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_label {
    /// The place.
    pub location: diderot_location,
    /// The text about it.
    pub text: *const c_char,
}

/// A part of a program that is replaced by a text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_edit {
    /// The part.
    pub location: diderot_location,
    /// The text.
    pub text: *const c_char,
}

/// Edits that remove the cause of a message.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_fix {
    /// A description of the edits.
    pub title: *const c_char,
    /// The edits.
    pub edits: *const diderot_edit,
    /// The number of edits.
    pub edit_count: usize,
}

/// A message about a place in a program.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_diagnostic {
    /// The place.
    pub location: diderot_location,
    /// Whether it is an error rather than a warning.
    pub is_error: bool,
    /// Its code, such as `type-mismatch`.
    pub code: *const c_char,
    /// The text of the message.
    pub message: *const c_char,
    /// Further places.
    pub labels: *const diderot_label,
    /// Their number.
    pub label_count: usize,
    /// Advice on how to correct the program.
    pub hints: *const *const c_char,
    /// The number of these texts.
    pub hint_count: usize,
    /// Edits that remove its cause.
    pub fixes: *const diderot_fix,
    /// The number of fixes.
    pub fix_count: usize,
}

/// An input or an output.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_variable {
    /// Its name.
    pub name: *const c_char,
    /// Its type as programs spell it.
    pub type_name: *const c_char,
    /// Its description, or null.
    pub description: *const c_char,
    /// Whether an input is required.
    pub is_required: bool,
    /// Whether each strand has a sequence of its own length.
    pub is_varying: bool,
}

/// Numbers with their axes, the slowest first: those of a grid, then those of a sample or a strand's value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_array {
    /// The first number.
    pub data: *const c_void,
    /// Their type.
    pub r#type: diderot_type,
    /// The number of axes.
    pub axes: usize,
    /// The number of elements along each axis.
    pub sizes: [usize; DIDEROT_MAX_AXES],
    /// The bytes from one element to the next along each axis; all zero if they are contiguous.
    pub strides: [isize; DIDEROT_MAX_AXES],
    /// The dimension of the world that the grid is placed in; 0 if it has no place.
    pub world: usize,
    /// For each axis of the grid, the fastest first, the step in the world from one sample to the next.
    pub directions: [[f64; 3]; 3],
    /// The position of the first sample.
    pub origin: [f64; 3],
    /// For sequences of varying length, the number of elements of each strand, or null.
    pub lengths: *const usize,
    /// The number of these lengths.
    pub strands: usize,
}

/// An option about files: one of the command, by its long name without dashes, such as `output`, `range`, `snapshot` or `fps`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct diderot_option {
    /// The output that it is about, or null for all.
    pub output: *const c_char,
    /// Its name.
    pub name: *const c_char,
    /// Its value as the command spells it.
    pub value: *const c_char,
}

/// A callback for printed text.
pub type diderot_printer =
    Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char, length: usize)>;

/// A callback for progress: super-steps, and active, stable and dead strands.
pub type diderot_watcher = Option<
    unsafe extern "C" fn(user: *mut c_void, steps: u64, active: u64, stable: u64, dead: u64),
>;
