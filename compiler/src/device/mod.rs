//! Device-IR: Low-IR with all primitives expanded, for machines that the runtime's primitives are not compiled for.
//!
//! Probes, elementary functions and eigensystems are scalar operations here, the same ones in the same order as in the
//! primitives, so that the results are the same bits. Fields on meshes stay as they are in Low-IR until a mesh is known, and
//! are expanded for it by [`specialize`]. Sequences of varying length, printing and other strands stay as they are for good; [`unsupported`]
//! says which programs have none of these where strands run.

mod dialect;
mod expand;
mod extremes;
mod mesh;
mod probe;
mod support;
mod tape;
mod taps;
mod time;

pub use dialect::{Arithmetic, Device, Op, Table, Ty, Width};
pub use expand::{expand, lower};
pub use mesh::{Form, MeshDemand, MeshOp, MeshTraits, mesh_demands, refuse_meshes, specialize};
pub use support::{
    Construct, Demand, METHODS, creation, demands, has_wide_probes, planes, reduces, sphere,
    unsupported,
};
