//! The command as a user meets it: what it writes, says and returns.

mod commands;
mod early;
mod images;
mod interrupts;
mod limits;
mod meshes;
#[cfg(unix)]
mod names;
mod outputs;
mod places;
mod repeated;
mod running;
mod words;
