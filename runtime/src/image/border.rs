//! What is found outside the grid of an image.

/// A rule for samples outside the grid, applied to each axis on its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Border {
    /// No rule was asked for: as [`Border::Clamp`], so that every position has a value.
    #[default]
    None,
    /// The nearest sample of the grid.
    Clamp,
    /// The grid reflected at its ends, the last sample repeated.
    Mirror,
    /// The grid repeated.
    Wrap,
    /// One value per component.
    Constant(Vec<f64>),
}

impl Border {
    /// The index on an axis of `size` samples at which index `i` is found, or `None` if a constant stands there or the
    /// axis is empty.
    pub fn remap(&self, i: i64, size: usize) -> Option<usize> {
        let n = i64::try_from(size).unwrap_or(i64::MAX);
        if n == 0 {
            return None;
        }
        let inside = (0..n).contains(&i).then_some(i);
        let found = match self {
            Border::None | Border::Clamp => Some(i.clamp(0, n - 1)),
            Border::Mirror => {
                // Copies of the grid stand side by side, every other one reflected.
                let offset = i.rem_euclid(n);
                let forward = i.div_euclid(n) % 2 == 0;
                Some(if forward { offset } else { n - 1 - offset })
            }
            Border::Wrap => Some(i.rem_euclid(n)),
            Border::Constant(_) => inside,
        };
        found.and_then(|i| usize::try_from(i).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_far_outside_follow_each_rule() {
        let at = |border: &Border, range: std::ops::Range<i64>| {
            range.map(|i| border.remap(i, 3)).collect::<Vec<_>>()
        };
        let found = |indices: &[usize]| indices.iter().copied().map(Some).collect::<Vec<_>>();
        for border in [Border::None, Border::Clamp] {
            assert_eq!(at(&border, -2..5), found(&[0, 0, 0, 1, 2, 2, 2]));
        }
        assert_eq!(
            at(&Border::Mirror, -7..8),
            found(&[0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1])
        );
        assert_eq!(
            at(&Border::Wrap, -4..5),
            found(&[2, 0, 1, 2, 0, 1, 2, 0, 1])
        );
        let constant = Border::Constant(vec![7.0]);
        assert_eq!(at(&constant, -1..1), [None, Some(0)]);
        assert_eq!(at(&constant, 2..4), [Some(2), None]);
    }

    #[test]
    fn every_rule_stays_on_the_grid_at_the_ends_of_the_integers() {
        for border in [Border::None, Border::Clamp, Border::Mirror, Border::Wrap] {
            for i in [i64::MIN, i64::MAX] {
                assert_eq!(border.remap(i, 0), None);
                for size in [1, 2, 3, 1 << 40] {
                    assert!(border.remap(i, size).is_some_and(|found| found < size));
                }
            }
        }
    }
}
