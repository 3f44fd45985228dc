//! Figures: a drawing with axes, a colour bar, a scale bar and a title, as vector graphics.
//!
//! [`layout`] turns a [`Figure`] into a [`Page`], a list of strokes, areas, texts and images at places in points (1/72 inch). The printers
//! [`svg`] and [`pdf`] put a page into a file and decide nothing, so both files show the same. Nothing here knows outputs or options.

mod colour_bar;
mod contact;
mod frame;
mod layout;
mod measure;
mod model;
mod page;
pub mod pdf;
pub mod svg;
mod ticks;

pub use contact::contact;
pub use layout::layout;
pub use model::{Axis, Colours, Drawing, Figure};
pub use page::{Anchor, Ink, Item, Page, Span, Spot, Text};
pub use ticks::{Tick, Ticks};
