//! The frame: the structure whose address generated code receives.

use super::{FemTable, Host};
use crate::ir::Scalar as Ty;
use runtime::strands::Sharing;
use std::{
    ffi::c_void,
    sync::{Arc, atomic::AtomicBool},
};

/// The environment of one call of generated code.
#[repr(C)]
pub struct Frame<'h> {
    /// Global variables, one 8-byte cell per slot.
    pub globals: *mut u64,
    /// The state of the strands that run: a block of planes.
    pub state: *mut u8,
    /// Arguments of the call: one plane of 8-byte lanes per argument; a value takes the first bytes of a
    /// plane.
    pub args: *const u8,
    /// Where a reduction's body puts its results: one plane per scalar.
    pub results: *mut u8,
    /// The properties of the images, one 8-byte cell each; see [`super::images`].
    pub images: *const u64,
    /// One probe image per leaf field of the program, and after them the decisions of each comparison.
    pub fields: *const *const c_void,
    /// The meshes.
    pub fem: *const FemTable,
    /// The block in which strands keep where they were found in meshes: that of the state, or none.
    pub hints: *mut u8,
    /// The strings of the program by their numbers.
    pub strings: *const Vec<Arc<str>>,
    /// The first block of the states of all strands, and the first of their published copies: where other strands are read.
    pub blocks: *const u8,
    /// See `blocks`.
    pub published: *const u8,
    /// Whether the call is to be left; see the contract.
    pub stop: *const AtomicBool,
    /// Whom to call back. Generated code only passes the frame on, so this pointer may be of any kind.
    pub host: *mut (dyn Host + 'h),
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

/// A flag for code that is never interrupted.
pub static NEVER: AtomicBool = AtomicBool::new(false);
/// A flag for code that is to be left now.
pub(in crate::codegen) static ALWAYS: AtomicBool = AtomicBool::new(true);

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

    pub(crate) const GLOBALS: i32 = offset_of!(Frame<'_>, globals) as i32;
    pub(crate) const STATE: i32 = offset_of!(Frame<'_>, state) as i32;
    pub(crate) const ARGS: i32 = offset_of!(Frame<'_>, args) as i32;
    pub(crate) const RESULTS: i32 = offset_of!(Frame<'_>, results) as i32;
    pub(crate) const BLOCKS: i32 = offset_of!(Frame<'_>, blocks) as i32;
    pub(crate) const PUBLISHED: i32 = offset_of!(Frame<'_>, published) as i32;
    pub(crate) const COUNTS: i32 = offset_of!(Frame<'_>, counts) as i32;
    pub(crate) const IMAGES: i32 = offset_of!(Frame<'_>, images) as i32;
    pub(crate) const STOP: i32 = offset_of!(Frame<'_>, stop) as i32;
    pub(crate) const FIELDS: i32 = offset_of!(Frame<'_>, fields) as i32;
    pub(crate) const MASK: i32 = offset_of!(Frame<'_>, mask) as i32;
    pub(crate) const STABLE: i32 = offset_of!(Frame<'_>, stable) as i32;
    pub(crate) const DEAD: i32 = offset_of!(Frame<'_>, dead) as i32;
}
