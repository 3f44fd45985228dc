//! The space of a grid: its name, its units, and the orientation of patient spaces.

use super::calendar::Since;
use crate::nrrd::{NamedSpace, Space};

/// The space of an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Its name or dimension, if the file says.
    pub space: Space,
    /// The units of its coordinates, if the file says.
    pub units: Vec<String>,
    /// The date from which the times of an image over time are counted, if the file says.
    pub since: Option<Since>,
}

/// The signs of a patient space against right, anterior, superior.
pub(crate) fn patient_signs(space: &Space) -> Option<[f64; 3]> {
    let Space::Named(named) = space else {
        return None;
    };
    match named {
        NamedSpace::Ras | NamedSpace::RasTime => Some([1.0, 1.0, 1.0]),
        NamedSpace::Las | NamedSpace::LasTime => Some([-1.0, 1.0, 1.0]),
        NamedSpace::Lps | NamedSpace::LpsTime => Some([-1.0, -1.0, 1.0]),
        _ => None,
    }
}
