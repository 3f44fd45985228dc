//! The orders in which the elements of a sequence can be computed.

use crate::front::tree::notation::Point;

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

#[cfg(test)]
mod tests {
    use super::*;

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
