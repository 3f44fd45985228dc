//! Colour maps as images: `std:NAME` where a program or its options name an image file.

use super::Failure;
use ndarray::Array2;
use runtime::{
    colour_maps::ColourMap,
    file_name::FileName,
    file_reference::library_name,
    image::{ImageArray, Orientation},
};

/// The names of all maps, as files.
pub fn colour_map_names() -> impl Iterator<Item = String> {
    let maps = ColourMap::all().iter();
    maps.map(|map| format!("std:{}", map.name))
}

/// The map that a file name means; nothing if it means a file.
pub(super) fn find(file: &FileName) -> Option<Result<&'static ColourMap, Failure>> {
    let found = ColourMap::named(library_name(file)?);
    Some(found.map_err(|_| {
        let names: Vec<String> = colour_map_names().collect();
        Failure::input(format!(
            "there is no colour map `{file}`; there are {}",
            names.join(", ")
        ))
    }))
}

/// The colours of a map, with components between 0 and 1.
pub(super) fn image(map: &ColourMap) -> ImageArray {
    let (low, high) = map.interval;
    let colours =
        Array2::from_shape_fn((256, 3), |(n, c)| f64::from(map.colours[3 * n + c]) / 255.0);
    let orientation = Orientation::new(&[vec![(high - low) / 255.0]], &[low]);
    ImageArray::new(
        colours.into_dyn(),
        orientation.expect("an interval has a length"),
    )
}
