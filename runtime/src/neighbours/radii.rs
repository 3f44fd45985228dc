//! The radii of queries: the size of the cells of the next super-step suits most of them.

use crate::cluster::wire::{Reader, put};

/// The octaves that are distinguished: 2⁻⁴⁰ to 2²³. The first and the last also take the radii beyond.
const OCTAVES: usize = 64;
const LOWEST: i32 = -40;

/// Number of queries and largest radius per octave. Merging is independent of order.
#[derive(Clone, Debug)]
pub struct RadiusStatistics {
    octaves: [(u64, f64); OCTAVES],
    /// How far strands looked from their own positions, on any axis.
    span: f64,
}

impl Default for RadiusStatistics {
    fn default() -> RadiusStatistics {
        RadiusStatistics {
            octaves: [(0, 0.0); OCTAVES],
            span: 0.0,
        }
    }
}

impl RadiusStatistics {
    /// Notes one query.
    pub fn note(&mut self, radius: f64) {
        if radius > 0.0 && radius.is_finite() {
            let exponent = (radius.to_bits() >> 52) as i32 - 1023;
            let (count, largest) =
                &mut self.octaves[(exponent - LOWEST).clamp(0, OCTAVES as i32 - 1) as usize];
            *count += 1;
            *largest = largest.max(radius);
        }
    }

    /// Notes how far from its own position, on any axis, a strand looked.
    #[inline]
    pub fn note_span(&mut self, span: f64) {
        self.span = self.span.max(span);
    }

    /// How far strands looked from their own positions; 0 if none did.
    pub fn span(&self) -> f64 {
        self.span
    }

    /// Adds what another worker noted and clears it there.
    pub fn take(&mut self, other: &mut RadiusStatistics) {
        let RadiusStatistics { octaves, span } = std::mem::take(other);
        self.span = self.span.max(span);
        for ((count, largest), (more, larger)) in self.octaves.iter_mut().zip(octaves) {
            *count += more;
            *largest = largest.max(larger);
        }
    }

    /// Appends them to a letter to another rank.
    pub(crate) fn put(&self, letter: &mut Vec<u8>) {
        let noted = self.octaves.iter().enumerate();
        let noted: Vec<_> = noted.filter(|(_, (count, _))| *count > 0).collect();
        put(letter, noted.len() as u64);
        for (octave, (count, largest)) in noted {
            put(letter, octave as u64);
            put(letter, *count);
            put(letter, largest.to_bits());
        }
    }

    /// Reads them from such a letter.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<RadiusStatistics> {
        let mut statistics = RadiusStatistics::default();
        for _ in 0..reader.count()? {
            let octave = statistics.octaves.get_mut(reader.count()?)?;
            *octave = (reader.number()?, f64::from_bits(reader.number()?));
        }
        Some(statistics)
    }

    /// The smallest radius, to an octave, that serves at least three quarters of the queries.
    pub fn typical(&self) -> Option<f64> {
        let total: u64 = self.octaves.iter().map(|(count, _)| count).sum();
        let mut seen = 0;
        self.octaves.iter().find_map(|&(count, largest)| {
            seen += count;
            (count > 0 && seen * 4 >= total * 3).then_some(largest)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_huge_radii_do_not_decide() {
        let mut statistics = RadiusStatistics::default();
        assert_eq!(statistics.typical(), None);
        for i in 0..90 {
            statistics.note(1.0 + f64::from(i) / 128.0);
        }
        let mut other = RadiusStatistics::default();
        for radius in [1e30, f64::INFINITY, f64::NAN, -1.0, 0.0, 1e-60] {
            other.note(radius);
        }
        statistics.take(&mut other);
        assert_eq!(statistics.typical(), Some(1.0 + 89.0 / 128.0));
        assert_eq!(other.typical(), None);
    }
}
