//! What generated code is given and what it gives back; names no code generator.

mod calls;
mod frame;
pub mod images;
mod lanes;
mod state;

pub(in crate::codegen) use calls::read_int;
pub use calls::{CallPlanes, Host, HostCall, Operate, Print, PrintStatement, Report};
pub(in crate::codegen) use frame::offset;
pub use frame::{Frame, Sink, StatePlane};
pub use lanes::Lanes;
pub(crate) use state::machine_type;
pub use state::{StateMap, abilities, state_map};
