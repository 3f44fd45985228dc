//! What a figure shows, before anything has a place on a page.

use crate::colour_maps::ColourMap;
use crate::png::Png;

/// What a figure shows.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// A further text beside the title, such as the place of a slice.
    pub note: Option<String>,
    /// The exact facts for programs that read the file.
    pub facts: Option<String>,
    /// The axis along the lower edge.
    pub across: Axis,
    /// The axis along the left edge.
    pub down: Axis,
    /// The contents between them.
    pub drawing: Drawing,
    /// The meaning of the colours, if they stand for numbers.
    pub colours: Option<Colours>,
    /// Whether a bar shows a length; the axes then have the same unit.
    pub has_scale_bar: bool,
}

/// The contents of a figure, in the coordinates of its axes.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// A picture that fills the frame.
    Picture(Png),
    /// Points.
    Points(Vec<[f64; 2]>),
    /// Lines through points.
    Lines(Vec<Vec<[f64; 2]>>),
    /// Triangles, by their corners.
    Triangles(Vec<[[f64; 2]; 3]>),
}

/// A coordinate along an edge of the frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name of the coordinate.
    pub name: String,
    /// Its unit, if it is known.
    pub unit: Option<String>,
    /// The coordinate at the left or at the top.
    pub from: f64,
    /// The coordinate at the right or at the bottom; it differs from the other, and their distance is finite.
    pub to: f64,
    /// Whether only whole numbers have a meaning.
    pub is_whole: bool,
}

/// The numbers that colours stand for.
#[derive(Clone, Debug)]
pub struct Colours {
    /// What the numbers are.
    pub label: String,
    /// The numbers of the first and the last colour, in either order; one number if all have the same colour.
    pub range: (f64, f64),
    /// The colours; from black to white without a map.
    pub map: Option<&'static ColourMap>,
    /// Whether the numbers are whole.
    pub is_whole: bool,
    /// Whether there are numbers below and above the range.
    pub exceeded: (bool, bool),
}

impl Axis {
    /// The part of the way from the left to the right, or from the top to the bottom, at which a coordinate is.
    pub(super) fn part(&self, coordinate: f64) -> f64 {
        (coordinate - self.from) / (self.to - self.from)
    }

    /// The distance between its ends.
    pub(super) fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }
}
