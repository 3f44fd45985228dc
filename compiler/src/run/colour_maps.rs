//! Colour maps inside the compiler: `std:NAME` where a program or its options name an image file.

use super::Failure;
use ndarray::Array2;
use runtime::image::{ImageArray, Orientation};

/// A colour map: 256 colours over an interval.
pub(super) struct ColourMap {
    name: &'static str,
    /// The numbers that have the first and the last colour.
    interval: (f64, f64),
    /// Red, green and blue of each colour, from 0 to 255.
    colours: &'static [u8; 768],
}

macro_rules! maps {
    ($($name:literal over $low:literal to $high:literal;)*) => {
        &[$(ColourMap {
            name: $name,
            interval: ($low, $high),
            colours: include_bytes!(concat!("../../std/maps/", $name, ".rgb")),
        },)*]
    };
}

const MAPS: &[ColourMap] = maps! {
    "cyclic" over 0.0 to 1.0;
    "diverging" over -1.0 to 1.0;
    "grey" over 0.0 to 1.0;
    "heat" over 0.0 to 1.0;
    "inferno" over 0.0 to 1.0;
    "magma" over 0.0 to 1.0;
    "plasma" over 0.0 to 1.0;
    "viridis" over 0.0 to 1.0;
};

/// The names of all maps, as files.
pub fn colour_map_names() -> impl Iterator<Item = String> {
    MAPS.iter().map(|map| format!("std:{}", map.name))
}

/// The map that a file name means; nothing if it means a file.
pub(super) fn find(file: &str) -> Option<Result<&'static ColourMap, Failure>> {
    let name = file.strip_prefix("std:")?;
    let found = MAPS.iter().find(|map| map.name == name);
    Some(found.ok_or_else(|| {
        let names: Vec<String> = colour_map_names().collect();
        Failure::input(format!(
            "there is no colour map `{file}`; there are {}",
            names.join(", ")
        ))
    }))
}

impl ColourMap {
    /// Its colours, with components between 0 and 1.
    pub(super) fn image(&self) -> ImageArray {
        let (low, high) = self.interval;
        let colours = Array2::from_shape_fn((256, 3), |(n, c)| {
            f64::from(self.colours[3 * n + c]) / 255.0
        });
        let orientation = Orientation::new(&[vec![(high - low) / 255.0]], &[low]);
        ImageArray::new(
            colours.into_dyn(),
            orientation.expect("an interval has a length"),
        )
    }
}
