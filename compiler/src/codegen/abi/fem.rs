//! Operations of generated code on meshes: one function, which takes a description of the operation.

use super::{Frame, Lanes};
use runtime::fem::{FemValues, FemWanted, Mesh};
use std::{collections::BTreeMap, sync::Arc};

/// Does something with a mesh: the lanes it is about, planes of the arguments, and room for those of the results.
pub type Fem = unsafe extern "C" fn(*mut Frame<'_>, u32, *const FemCall, *const u8, *mut u8);

/// An operation on a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FemOp {
    /// Position to cell and reference position. Where the search begins is what the strand found last; it changes no result.
    Locate {
        /// The mesh.
        mesh: u32,
        /// Bytes from the start of a block of the state to the hints for this mesh, a plane of 4-byte lanes.
        hints: usize,
    },
    /// Cell to its number in the file.
    Number {
        /// The mesh.
        mesh: u32,
    },
    /// Cell and reference position to fields.
    Probe {
        /// The mesh.
        mesh: u32,
        /// The number of the request in the linker's list.
        wanted: usize,
    },
}

/// A call of [`Fem`].
#[derive(Debug)]
pub struct FemCall {
    /// The operation.
    pub op: FemOp,
    /// The lanes of the code that it belongs to.
    pub lanes: Lanes,
}

/// The meshes of a running program, and what its code wants of them.
#[derive(Debug, Default)]
pub struct FemTable {
    /// The meshes by their numbers.
    pub meshes: Vec<Arc<Mesh>>,
    /// The values that are probed, by their numbers.
    pub values: BTreeMap<u32, Arc<FemValues>>,
    /// For each probe in the linker's list, the fields and orders.
    pub wanted: Vec<Vec<FemWanted>>,
}
