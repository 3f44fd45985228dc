//! Which components of a tensor are equal or opposite to others.

/// Groups of axes.
pub type Groups = Vec<Vec<usize>>;

/// The facts about the exchange of axes of a tensor. No axis is in two groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symmetry {
    /// Axes that may be permuted freely without changing a component.
    pub symmetric: Groups,
    /// Axes such that exchanging two of them changes the sign of a component.
    pub antisymmetric: Groups,
}

impl Symmetry {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.symmetric.is_empty() && self.antisymmetric.is_empty()
    }

    /// The index tuple that stands for all components equal or opposite to this one, and whether this one is the opposite;
    /// nothing if it is its own opposite, hence zero.
    pub fn representative(&self, index: &[usize]) -> Option<(Vec<usize>, bool)> {
        let mut index = index.to_vec();
        for group in &self.symmetric {
            sort_along(&mut index, group);
        }
        let mut negative = false;
        for group in &self.antisymmetric {
            let pairs = || (1..group.len()).flat_map(|b| (0..b).map(move |a| (group[a], group[b])));
            if pairs().any(|(a, b)| index[a] == index[b]) {
                return None;
            }
            negative ^= pairs().filter(|&(a, b)| index[a] > index[b]).count() % 2 == 1;
            sort_along(&mut index, group);
        }
        Some((index, negative))
    }
}

/// Sorts the numbers in these places.
fn sort_along(numbers: &mut [usize], places: &[usize]) {
    let mut sorted: Vec<usize> = places.iter().map(|&place| numbers[place]).collect();
    sorted.sort_unstable();
    for (&place, number) in places.iter().zip(sorted) {
        numbers[place] = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_by_their_symmetry() {
        let symmetry = Symmetry {
            symmetric: vec![vec![0, 2]],
            antisymmetric: vec![vec![1, 3, 4]],
        };
        let of = |index: [usize; 5]| symmetry.representative(&index);
        assert_eq!(of([2, 0, 1, 1, 2]), Some((vec![1, 0, 2, 1, 2], false)));
        assert_eq!(of([0, 1, 0, 0, 2]), Some((vec![0, 0, 0, 1, 2], true)));
        assert_eq!(of([0, 1, 0, 2, 0]), Some((vec![0, 0, 0, 1, 2], false)));
        assert_eq!(of([0, 2, 0, 1, 2]), None);
    }
}
