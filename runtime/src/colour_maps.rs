//! Colour maps: 256 colours over an interval.

/// A colour map.
#[derive(Debug)]
pub struct ColourMap {
    /// Its name.
    pub name: &'static str,
    /// The numbers that have the first and the last colour where it is an image.
    pub interval: (f64, f64),
    /// Red, green and blue of each colour, from 0 to 255.
    pub colours: &'static [u8; 768],
}

macro_rules! maps {
    ($($name:literal over $low:literal to $high:literal;)*) => {
        &[$(ColourMap {
            name: $name,
            interval: ($low, $high),
            colours: include_bytes!(concat!("../maps/", $name, ".rgb")),
        },)*]
    };
}

static MAPS: &[ColourMap] = maps! {
    "cyclic" over 0.0 to 1.0;
    "diverging" over -1.0 to 1.0;
    "grey" over 0.0 to 1.0;
    "heat" over 0.0 to 1.0;
    "inferno" over 0.0 to 1.0;
    "magma" over 0.0 to 1.0;
    "plasma" over 0.0 to 1.0;
    "viridis" over 0.0 to 1.0;
};

/// Maps are the same if their names are.
impl PartialEq for ColourMap {
    fn eq(&self, other: &ColourMap) -> bool {
        self.name == other.name
    }
}

impl ColourMap {
    /// All maps.
    pub fn all() -> &'static [ColourMap] {
        MAPS
    }

    /// The map of a name.
    ///
    /// # Errors
    /// A message with the names that there are.
    pub fn named(name: &str) -> Result<&'static ColourMap, String> {
        let unknown = || {
            let names: Vec<&str> = MAPS.iter().map(|map| map.name).collect();
            let names = names.join(", ");
            format!("there is no colour map `{name}`; there are {names}")
        };
        let found = MAPS.iter().find(|map| map.name == name);
        found.ok_or_else(unknown)
    }

    /// Whether its middle stands for 0.
    pub fn is_diverging(&self) -> bool {
        self.interval.0 < 0.0
    }

    /// Red, green and blue between 0 and 1, at a part of the way from the first colour to the last: those of the two nearest colours,
    /// mixed.
    pub fn colour(&self, part: f64) -> [f64; 3] {
        // A range without extent has no parts.
        let part = if part.is_nan() { 0.0 } else { part };
        let at = part.clamp(0.0, 1.0) * 255.0;
        let (first, mix) = (at.floor(), at.fract());
        let of = |n: usize| {
            let colour = &self.colours[3 * n..3 * n + 3];
            [colour[0], colour[1], colour[2]].map(f64::from)
        };
        let low = of(first as usize);
        let high = of(at.ceil() as usize);
        [0, 1, 2].map(|c| (low[c] + (high[c] - low[c]) * mix) / 255.0)
    }
}
