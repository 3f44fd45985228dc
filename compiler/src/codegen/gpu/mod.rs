//! NVIDIA GPUs: independent strands run there, one per thread, until they end.
//!
//! ```text
//! Low-IR ──expand──► Device-IR ──[ptx]──► text ──[driver]──► kernel ──[launch]──► states
//!                               └──[c]──► CUDA C, to read and to embed
//! ```
//!
//! The CPU computes the globals and writes the outputs. Strands that nothing but outputs is wanted of are made on the device, and only
//! these come back. Of others the CPU makes the strands; a run copies the blocks of states to the
//! device, launches the kernel until no strand is active or the limit is reached, and copies the outputs back, or all of the
//! states if strands are to go on. Images and memory stay there for the next run of the same program. If strands run in step, every
//! super-step is a launch, and the states stay on the device until the CPU needs them; text and new strands come back after it. A
//! strand that the kernel does not finish (a run-time error, an argument that only the primitives of the CPU support) is left
//! unchanged, and the CPU runs it. If there are very many strands, several GPUs share them. So every result and every message is
//! that of the CPU, bit for bit.

mod build;
mod c;
mod contacts;
mod driver;
mod events;
mod fleet;
mod header;
mod kept;
mod kernel;
mod launch;
mod memory;
mod meshes;
mod near;
mod nursery;
mod operations;
mod pack;
mod ptx;
mod reduce;
mod resident;
mod results;
mod samples;
mod sequences;
mod times;

pub use driver::{Cuda, DeviceInfo, DriverError, device_of};
pub use fleet::Fleet;
pub use header::Header;
pub use kept::KeptResults;
pub use kernel::{Cell, Iteration, Kernel, Near, PARAMETER_CELLS};
pub use launch::{Accelerator, Machine, Phases};
pub use meshes::{MeshCell, MeshData};
pub use pack::Pack;
pub use samples::{Contents, Samples};

use crate::device::Construct;

/// Why strands cannot run on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What only the CPU does.
    pub construct: Construct,
    /// Where the program does it, as a byte offset.
    pub place: Option<u32>,
}
