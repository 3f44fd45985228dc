//! Messages as text for people, and as data and JSON for tools.

mod excerpt;
mod json;
mod render;

pub use json::{Located, LocatedLabel, Location, located, to_json_lines};
pub use render::render;
