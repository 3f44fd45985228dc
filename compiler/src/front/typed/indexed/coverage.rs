//! The places that clauses are for: what two have in common, what all leave out, and where along an axis they change.

use super::super::indices::{Point, Range};
use std::collections::BTreeSet;

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

/// The parts of an axis, in their order, along which the same clauses hold.
pub(super) fn stretches(clauses: &[&[Range]], axis: usize, length: usize) -> Vec<Range> {
    let mut cuts = BTreeSet::from([0, length as i64]);
    for clause in clauses {
        cuts.extend([clause[axis].low, clause[axis].end()]);
    }
    let cuts: Vec<i64> = cuts.into_iter().filter(|&at| at <= length as i64).collect();
    let between = |pair: &[i64]| Range {
        low: pair[0],
        count: (pair[1] - pair[0]) as usize,
    };
    cuts.windows(2).map(between).collect()
}

/// An order of the places of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The axes, the slowest first.
    pub(super) axes: Vec<usize>,
    /// For each axis, by its number, whether places along it come from the last to the first.
    pub(super) backward: Vec<bool>,
}

/// All combinations of places along some axes, those along the first slowest.
pub(super) fn points(lengths: &[usize], axes: &[usize], backward: &[bool]) -> Vec<Point> {
    let start = vec![vec![0; lengths.len()]];
    axes.iter().fold(start, |points, &axis| {
        let last = lengths[axis] - 1;
        let along = |point: &Point| -> Vec<Point> {
            let at = |place: usize| {
                let mut point = point.clone();
                point[axis] = if backward[axis] { last - place } else { place } as i64;
                point
            };
            (0..=last).map(at).collect()
        };
        points.iter().flat_map(along).collect()
    })
}

/// Sequences with more axes than this are computed forward only.
const TURNED_AXES: usize = 3;

/// All orders of places, axis by axis: forward along all axes first, and with the axes in the order of their numbers first.
pub(super) fn orders(axes: usize) -> Vec<Order> {
    let all_axes = (0..axes).fold(vec![Vec::new()], |orders, _| {
        let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let rest = (0..axes).filter(|axis| !order.contains(axis));
            rest.map(|axis| [order.as_slice(), &[axis]].concat())
                .collect()
        };
        orders.iter().flat_map(longer).collect()
    });
    let turned = if axes <= TURNED_AXES { 1 << axes } else { 1 };
    let in_direction = |directions: usize| {
        let backward: Vec<bool> = (0..axes)
            .map(|axis| (directions >> axis) & 1 == 1)
            .collect();
        let order = |axes: &Vec<usize>| Order {
            axes: axes.clone(),
            backward: backward.clone(),
        };
        all_axes.iter().map(order).collect::<Vec<_>>()
    };
    (0..turned).flat_map(in_direction).collect()
}

/// A place as messages write it.
pub(super) fn shown(point: &[i64]) -> String {
    let places: Vec<String> = point.iter().map(i64::to_string).collect();
    format!("[{}]", places.join(","))
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
                let all = points(&[3, 3], &[0, 1], &[false, false]);
                let both = all.iter().find(|p| covers(a, p) && covers(b, p));
                assert_eq!(common(a, b).as_ref(), both);
                let neither = all.iter().find(|p| !covers(a, p) && !covers(b, p));
                assert_eq!(hole(&[&a[..], &b[..]], &[3, 3]).as_ref(), neither);
            }
        }
    }

    #[test]
    fn the_first_axis_of_an_order_is_slowest() {
        assert_eq!(
            points(&[2, 2], &[1, 0], &[false, false]),
            [[0, 0], [1, 0], [0, 1], [1, 1]].map(|p| p.to_vec())
        );
        assert_eq!(
            points(&[2, 2], &[1, 0], &[true, false]),
            [[1, 0], [0, 0], [1, 1], [0, 1]].map(|p| p.to_vec())
        );
    }

    #[test]
    fn orders_are_forward_first_and_all_different() {
        let all = orders(2);
        assert_eq!((all[0].axes.as_slice(), all.len()), (&[0, 1][..], 8));
        assert!(
            all[..2]
                .iter()
                .all(|order| order.backward == [false, false])
        );
        let differ = |(k, order): (usize, &Order)| !all[..k].contains(order);
        assert!(all.iter().enumerate().all(differ));
        assert_eq!(orders(4).len(), 24);
    }
}
