//! The contract between generated code and everything else. It names no code generator: a back end can be written from
//! this page.
//!
//! # A call
//!
//! Every function of a program becomes one `extern "C" fn(*mut Frame)` ([`super::Entry`]), in the calling convention of the
//! machine. Its only argument is a [`Frame`]; it returns nothing, and never unwinds. An `update` that reports, prints
//! and creates nothing may also be `extern "C" fn(*mut Frame, steps) -> steps left`: it then runs that many super-steps,
//! each lane until it ends, and sets `frame.stable` and `frame.dead` for all lanes that ended. Strand code (`create`, `start`, `update`,
//! `stabilize`, `reduce-N`) runs for [`Lanes::width`] strands at a time; bit *l* of `frame.mask` says whether lane *l* runs.
//! All other code runs once: it has one lane, and a mask of 1. Code is immutable; several threads call it at the same time with
//! frames of their own.
//!
//! # Values in memory
//!
//! A value of W lanes is a *plane*: W numbers side by side, as wide as [`Lanes::lane_bytes`] says: reals have the program's
//! precision; integers, strings (their numbers in `frame.strings`) and truth values have 8 bytes if reals or integers have,
//! else 4. A 32-bit integer in an 8-byte lane is sign-extended, and arithmetic keeps it so. A truth value in a plane is all ones
//! or zero. Planes that belong together follow each other.
//!
//! | data | place | form |
//! |---|---|---|
//! | global variables | `frame.globals` | one cell of 8 bytes per slot, the value in its first bytes; a truth value is a byte 0 or 1 |
//! | a strand's state | `frame.state` | a block; [`StatePlane`] has the offset of slot *n* and the distance between lanes |
//! | other strands | `frame.blocks`, `frame.published` | blocks of all strands; strand *s* is lane *s* mod W of block *s* div W |
//! | arguments | `frame.args` | a plane of 8-byte lanes per argument; a value takes the first bytes of the plane |
//! | results of `reduce-N` | `frame.results` | a plane per scalar |
//! | images | `frame.images` | cells of 8 bytes: sizes, matrix and offset, see [`images`] |
//! | leaf fields | `frame.fields` | the address of a probe image per field of the [linker](super::Linker) |
//! | meshes | `frame.fem` | a table that only [`Fem`] looks at |
//! | counts of strands | `frame.counts` | active and stable, active, stable, at the start of the super-step |
//!
//! A sequence of varying length is two slots of the state, the halves of one 64-bit handle in each lane
//! ([`StatePlane::is_handle`]): 4 bytes each, zero-extended when loaded.
//!
//! # Results
//!
//! [`Sink`] is the destination of a function's results. Only lanes of the mask may be stored: the other lanes
//! of a block belong to strands that do not run. A method's first result is its status ([`crate::ir::status`]); the function
//! also sets `frame.stable` and `frame.dead` for lanes of its mask that stabilize or die.
//!
//! # Leaving early
//!
//! Loops that may take long ([`crate::low::long_loops`]) test the byte at `frame.stop` in every round. If it is not 0 the
//! function returns at once, without storing results: a strand's state and `frame.stable` and `frame.dead` are as
//! they were before the call, or after those of its super-steps in which a lane ended. The byte is not
//! reset during the call.
//!
//! # Meaning
//!
//! Operations are those of Low-IR, with the meaning that the interpreter defines, lane by lane: reals are never contracted or
//! reassociated, so the same bits come from every back end, every width and any number of threads. A lane that does not run
//! may hold anything; nothing it holds may be seen, in memory or by a call.
//!
//! # Calls from generated code
//!
//! Primitives of the runtime (probes, elementary functions, eigensystems) take planes and give planes; the linker has their
//! addresses. Operations that need the scheduler go to the [`Host`] of the frame through three functions ([`Print`], [`Report`],
//! [`Operate`]), which take the frame, the lanes concerned, and planes. After a report a lane counts as dead, and its code runs
//! on with some value.

mod calls;
mod fem;
mod frame;
pub mod images;
mod lanes;
mod state;

pub(in crate::codegen) use calls::read_int;
pub use calls::{CallPlanes, Host, HostCall, Operate, Print, PrintStatement, Report};
pub use fem::{Fem, FemCall, FemOp, FemTable};
pub(in crate::codegen) use frame::{ALWAYS, offset};
pub use frame::{Frame, NEVER, Sink, StatePlane};
pub use lanes::Lanes;
pub(crate) use state::machine_type;
pub use state::{StateMap, abilities, state_map};
