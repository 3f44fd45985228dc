//! The viewer in conversation with pages: pictures, changes of inputs and texts, programs that evolve, and strangers at its port.

mod page;
mod pictures;
mod reload;
mod strangers;
mod surface;
