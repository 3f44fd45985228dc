//! What generated code is given: one structure, by address.

use crate::ir::Scalar as Ty;
use runtime::strands::Sharing;
use std::{ffi::c_void, sync::Arc};

/// The environment of one call of generated code.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    /// Global variables, one 8-byte cell per slot.
    pub globals: *mut u64,
    /// The state of the strands that run: a block of planes.
    pub state: *mut u8,
    /// Arguments of the call: one plane of 8-byte lanes per argument, of which a value takes the first bytes of a
    /// plane.
    pub args: *const u8,
    /// Where a reduction's body puts its results: one plane per scalar.
    pub results: *mut u8,
    /// What is known of the images, one 8-byte cell each; see [`super::images`].
    pub images: *const u64,
    /// One probe image per leaf field of the program.
    pub fields: *const *const c_void,
    /// Whom to tell of prints and errors.
    pub host: *mut c_void,
    /// The strings of the program by their numbers.
    pub strings: *const Vec<Arc<str>>,
    /// Strands per call.
    pub width: u32,
    /// Bytes of an integer lane.
    pub int_bytes: u32,
    /// The lanes that run.
    pub mask: u32,
    /// Out: lanes that stabilize.
    pub stable: u32,
    /// Out: lanes that die.
    pub dead: u32,
    /// How many strands there are: active and stable, active, stable.
    pub counts: [i64; 3],
}

/// The plane of a state slot.
#[derive(Clone, Copy, Debug)]
pub struct StatePlane {
    /// The type of the slot.
    pub ty: Ty,
    /// Bytes from the start of a block to lane 0.
    pub offset: usize,
    /// Bytes from one lane to the next.
    pub stride: usize,
    /// Whether it is one half of a sequence's handle, of 32 bits.
    pub is_handle: bool,
    /// Where other strands find it.
    pub sharing: Sharing,
}

/// Where the results of a function go.
#[derive(Clone, Debug)]
pub enum Sink {
    /// To the strands' state, one slot after the other. With `status`, the first result is how the method ended.
    State {
        /// Whether the first result is a status.
        status: bool,
    },
    /// To global variables: the slot of each result. With `status`, the first result is how the block ended.
    Globals {
        /// Whether the first result is a status.
        status: bool,
        /// The slots of the other results.
        slots: Vec<u32>,
    },
    /// To planes in the frame.
    Results,
}

/// The offset of each member, for generated code.
pub(in crate::codegen) mod offset {
    use super::Frame;
    use std::mem::offset_of;

    pub(crate) const GLOBALS: i32 = offset_of!(Frame, globals) as i32;
    pub(crate) const STATE: i32 = offset_of!(Frame, state) as i32;
    pub(crate) const ARGS: i32 = offset_of!(Frame, args) as i32;
    pub(crate) const RESULTS: i32 = offset_of!(Frame, results) as i32;
    pub(crate) const HOST: i32 = offset_of!(Frame, host) as i32;
    pub(crate) const COUNTS: i32 = offset_of!(Frame, counts) as i32;
    pub(crate) const IMAGES: i32 = offset_of!(Frame, images) as i32;
    pub(crate) const FIELDS: i32 = offset_of!(Frame, fields) as i32;
    pub(crate) const MASK: i32 = offset_of!(Frame, mask) as i32;
    pub(crate) const STABLE: i32 = offset_of!(Frame, stable) as i32;
    pub(crate) const DEAD: i32 = offset_of!(Frame, dead) as i32;
}
