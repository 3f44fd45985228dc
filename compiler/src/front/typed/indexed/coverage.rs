//! The places that clauses are for: what two have in common, and what all leave out.

use super::super::tree::notation::{Point, Range, stretches};

/// The first place that two clauses have in common. A clause has a range along each axis.
pub(super) fn common(a: &[Range], b: &[Range]) -> Option<Point> {
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            let low = a.low.max(b.low);
            (a.contains(low) && b.contains(low)).then_some(low)
        })
        .collect()
}

/// The first place of a grid that no clause is for.
pub(super) fn hole(clauses: &[&[Range]], lengths: &[usize]) -> Option<Point> {
    let Some((&length, rest)) = lengths.split_first() else {
        return clauses.is_empty().then(Point::new);
    };
    stretches(clauses, 0, length)
        .into_iter()
        .find_map(|stretch| {
            let here = clauses.iter().filter(|c| c[0].contains(stretch.low));
            let inside: Vec<&[Range]> = here.map(|clause| &clause[1..]).collect();
            let mut place = hole(&inside, rest)?;
            place.insert(0, stretch.low);
            Some(place)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i64, count: usize) -> Range {
        Range { low, count }
    }

    /// Every partition of small grids by clauses, against a plain count of how many clauses are for each place.
    #[test]
    fn overlaps_and_holes_are_those_of_counting() {
        let ranges: Vec<Range> = (0..3)
            .flat_map(|low| (1..=3 - low as usize).map(move |count| range(low, count)))
            .collect();
        let clauses: Vec<Vec<Range>> = ranges
            .iter()
            .flat_map(|a| ranges.iter().map(move |b| vec![*a, *b]))
            .collect();
        let covers = |clause: &[Range], point: &[i64]| {
            clause.iter().zip(point).all(|(r, &at)| r.contains(at))
        };
        for a in &clauses {
            for b in &clauses {
                let all: Vec<Point> = (0..9).map(|n| vec![n / 3, n % 3]).collect();
                let both = all.iter().find(|p| covers(a, p) && covers(b, p));
                assert_eq!(common(a, b).as_ref(), both);
                let neither = all.iter().find(|p| !covers(a, p) && !covers(b, p));
                assert_eq!(hole(&[&a[..], &b[..]], &[3, 3]).as_ref(), neither);
            }
        }
    }
}
