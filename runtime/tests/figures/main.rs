//! Figures: the places of things on a page, and what the files say.

mod files;
mod layout;
mod read;
mod refused;
