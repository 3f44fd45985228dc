//! The command as a user sees it: its files, its messages and its exit status.

mod commands;
mod compare;
mod early;
mod frames;
mod images;
mod interrupts;
mod limits;
#[cfg(unix)]
mod mapped;
mod meshes;
#[cfg(unix)]
mod missed;
mod names;
mod outputs;
mod places;
mod ranks;
mod repeated;
mod running;
mod stored;
mod sweeps;
mod together;
mod words;
