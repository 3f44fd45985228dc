//! A page: its items with their places, in points from the upper left corner.

use super::measure::{CAPITALS, DESCENT, RAISED_SIZE, width_of};
use crate::png::Png;

/// A place on a page.
pub type Spot = [f64; 2];

/// The whole of a figure, from back to front.
#[derive(Debug)]
pub struct Page<'f> {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The title, for lists of files.
    pub title: &'f str,
    /// Exact facts, for programs that read the file.
    pub facts: Option<&'f str>,
    /// The items, the lowest first.
    pub items: Vec<Item<'f>>,
}

/// Something on a page.
#[derive(Clone, Debug)]
pub enum Item<'f> {
    /// Lines through spots, with round joins and flat ends.
    Strokes {
        /// Each at least two spots.
        paths: Vec<Vec<Spot>>,
        /// How thick they are.
        thickness: f64,
        /// Their colour.
        ink: Ink,
    },
    /// Filled polygons.
    Areas {
        /// The corners of each.
        corners: Vec<Vec<Spot>>,
        /// Their colour.
        ink: Ink,
    },
    /// Filled circles.
    Dots {
        /// Their centres.
        centres: Vec<Spot>,
        /// Half of their diameter.
        radius: f64,
        /// Their colour.
        ink: Ink,
    },
    /// A text.
    Text(Text),
    /// A picture.
    Image {
        /// Its pixels.
        png: &'f Png,
        /// Its upper left corner.
        corner: Spot,
        /// Its width and height.
        size: [f64; 2],
    },
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink(pub [u8; 3]);

impl Ink {
    /// Nearly black, for all lines and texts.
    pub const DARK: Ink = Ink([26; 3]);
    /// For less important texts.
    pub const GREY: Ink = Ink([102; 3]);
    /// For areas behind lines.
    pub const LIGHT: Ink = Ink([214, 224, 236]);
    /// The paper.
    pub const PAPER: Ink = Ink([255; 3]);
}

/// One line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Where its anchor is, on the base line.
    pub at: Spot,
    /// Which part of it is there.
    pub anchor: Anchor,
    /// Whether it runs upwards.
    pub is_upright: bool,
    /// The size of its letters.
    pub size: f64,
    /// Its colour.
    pub ink: Ink,
    /// Its parts.
    pub spans: Vec<Span>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its letters.
    pub text: String,
    /// Whether it is an exponent: smaller, and above the base line.
    pub is_raised: bool,
}

/// The part of a text that is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its begin.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

impl Span {
    /// Letters on the base line.
    pub(super) fn plain(text: impl Into<String>) -> Span {
        Span {
            text: text.into(),
            is_raised: false,
        }
    }

    /// A power of ten.
    pub(super) fn power(exponent: i32) -> [Span; 2] {
        let sign = if exponent < 0 { "\u{2212}" } else { "" };
        let exponent = Span {
            text: format!("{sign}{}", exponent.unsigned_abs()),
            is_raised: true,
        };
        [Span::plain("10"), exponent]
    }
}

impl Text {
    /// A dark text of one span from left to right.
    pub(super) fn new(at: Spot, anchor: Anchor, size: f64, spans: Vec<Span>) -> Text {
        Text {
            at,
            anchor,
            is_upright: false,
            size,
            ink: Ink::DARK,
            spans,
        }
    }

    /// The size of the letters of a span.
    pub(super) fn size_of(&self, span: &Span) -> f64 {
        self.size * if span.is_raised { RAISED_SIZE } else { 1.0 }
    }

    /// Its width.
    pub fn width(&self) -> f64 {
        let widths = self.spans.iter();
        widths
            .map(|span| width_of(&span.text) * self.size_of(span))
            .sum()
    }

    /// The way from its begin to its anchor.
    pub(super) fn before_anchor(&self) -> f64 {
        let part = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        part * self.width()
    }

    /// The smallest and the largest coordinates that it covers.
    fn bounds(&self) -> [Spot; 2] {
        let [x, y] = self.at;
        let (start, width) = (-self.before_anchor(), self.width());
        let (above, below) = (CAPITALS * self.size, DESCENT * self.size);
        match self.is_upright {
            false => [[x + start, y - above], [x + start + width, y + below]],
            true => [[x - above, y - start - width], [x + below, y - start]],
        }
    }
}

impl Item<'_> {
    /// The smallest and the largest coordinates that it covers, if it covers any.
    pub fn bounds(&self) -> Option<[Spot; 2]> {
        match self {
            Item::Strokes {
                paths, thickness, ..
            } => around(paths.iter().flatten(), thickness / 2.0),
            Item::Areas { corners, .. } => around(corners.iter().flatten(), 0.0),
            Item::Dots {
                centres, radius, ..
            } => around(centres.iter(), *radius),
            Item::Text(text) => Some(text.bounds()),
            Item::Image { corner, size, .. } => {
                Some([*corner, [corner[0] + size[0], corner[1] + size[1]]])
            }
        }
    }

    /// Moves it.
    pub(super) fn shift(&mut self, by: Spot) {
        let shift = |spot: &mut Spot| {
            spot[0] += by[0];
            spot[1] += by[1];
        };
        match self {
            Item::Strokes { paths: spots, .. } | Item::Areas { corners: spots, .. } => {
                spots.iter_mut().flatten().for_each(shift);
            }
            Item::Dots { centres, .. } => centres.iter_mut().for_each(shift),
            Item::Text(text) => shift(&mut text.at),
            Item::Image { corner, .. } => shift(corner),
        }
    }
}

fn around<'s>(spots: impl Iterator<Item = &'s Spot>, margin: f64) -> Option<[Spot; 2]> {
    let each = spots.map(|spot| [spot.map(|x| x - margin), spot.map(|x| x + margin)]);
    each.reduce(union)
}

/// The smallest box around two.
pub(super) fn union(a: [Spot; 2], b: [Spot; 2]) -> [Spot; 2] {
    let low = [0, 1].map(|c| a[0][c].min(b[0][c]));
    let high = [0, 1].map(|c| a[1][c].max(b[1][c]));
    [low, high]
}

/// The corners of a rectangle.
pub(super) fn rectangle([x, y]: Spot, [width, height]: [f64; 2]) -> Vec<Spot> {
    let (right, bottom) = (x + width, y + height);
    vec![[x, y], [right, y], [right, bottom], [x, bottom]]
}
