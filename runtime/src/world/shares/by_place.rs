//! Shares that are compact in space: it is cut in two along the longest axis of the box that strands fill, with as much work on both
//! sides as ranks, and so on until there is one rank.

/// Some strands that are near each other, all in the place of one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight {
    /// Axes that there are not are 0.
    pub(crate) place: [f64; 3],
    /// The work on the strands.
    pub(crate) work: u32,
}

/// The parts of space that belong to ranks.
#[derive(Debug)]
pub(crate) enum Cuts {
    /// One rank.
    Whole(u32),
    /// Strands in one place, which are dealt to some ranks from the first on.
    Dealt { first: u32, ranks: u32 },
    /// The part below a number on an axis, and the rest.
    Cut {
        axis: usize,
        at: f64,
        sides: Box<[Cuts; 2]>,
    },
}

impl Cuts {
    /// Parts with equal work, as far as that is possible.
    pub(crate) fn new(weights: &mut [Weight], ranks: usize) -> Cuts {
        Cuts::of(weights, 0, ranks as u32)
    }

    /// Parts for some ranks from the first on.
    fn of(weights: &mut [Weight], first: u32, ranks: u32) -> Cuts {
        if ranks == 1 {
            return Cuts::Whole(first);
        }
        let extent = |axis: usize| {
            let along = weights.iter().map(|weight| weight.place[axis]);
            let ends = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            ends.1 - ends.0
        };
        let extents = [0, 1, 2].map(extent);
        let axis = (1..3).fold(0, |longest, axis| match extents[axis] > extents[longest] {
            true => axis,
            false => longest,
        });
        weights.sort_unstable_by(|a, b| a.place[axis].total_cmp(&b.place[axis]));
        let work: u64 = weights.iter().map(|weight| u64::from(weight.work)).sum();
        let below = ranks / 2;
        let wanted = work * u64::from(below) / u64::from(ranks);
        let mut done = 0;
        let middle = weights.iter().position(|weight| {
            // A weight goes to the side on which more than half of it is.
            let is_above = done + u64::from(weight.work) / 2 >= wanted;
            done += u64::from(weight.work);
            is_above
        });
        // Strands at one number are on one side, and both sides have some.
        let lowest = weights.first().map_or(0.0, |weight| weight.place[axis]);
        let above = weights[middle.unwrap_or(weights.len())..].iter();
        let Some(at) = above.map(|weight| weight.place[axis]).find(|&x| x > lowest) else {
            return Cuts::Dealt { first, ranks };
        };
        let place = weights.partition_point(|weight| weight.place[axis] < at);
        let (low, high) = weights.split_at_mut(place);
        let low = Cuts::of(low, first, below);
        let high = Cuts::of(high, first + below, ranks - below);
        Cuts::Cut {
            axis,
            at,
            sides: Box::new([low, high]),
        }
    }

    /// The rank for a strand in a place. Those in one place are dealt to ranks by number.
    pub(crate) fn rank(&self, place: [f64; 3], number: u32) -> u32 {
        match self {
            Cuts::Whole(rank) => *rank,
            Cuts::Dealt { first, ranks } => first + number % ranks,
            Cuts::Cut { axis, at, sides } => {
                sides[usize::from(place[*axis] >= *at)].rank(place, number)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(weights: &[Weight], size: usize) -> (Vec<u32>, Vec<u32>) {
        let cuts = Cuts::new(&mut weights.to_vec(), size);
        let owners = weights.iter().zip(0..);
        let owners: Vec<u32> = owners.map(|(w, n)| cuts.rank(w.place, n)).collect();
        let mut loads = vec![0; size];
        for (weight, &owner) in weights.iter().zip(&owners) {
            loads[owner as usize] += weight.work;
        }
        (owners, loads)
    }

    #[test]
    fn shares_have_equal_work_and_little_surface() {
        // A square of 32² strands; their numbers differ a little, so that any can be cut off.
        let place = |n: u32| {
            let [x, y] = [n % 32, n / 32].map(f64::from);
            [x + 1e-3 * y, y + 1e-3 * x, 0.0]
        };
        let weights = |n: u32| Weight {
            place: place(n),
            work: 3,
        };
        let weights: Vec<Weight> = (0..1024).map(weights).collect();
        for size in 1..=9 {
            let (owners, loads) = loads(&weights, size);
            for load in loads {
                assert!(
                    (load / 3).abs_diff(1024 / size as u32) <= 3,
                    "{size}: {load}"
                );
            }
            let pairs = (0..1024).flat_map(|n| {
                let right = (n % 32 < 31).then(|| (n, n + 1));
                let above = (n < 992).then(|| (n, n + 32));
                [right, above].into_iter().flatten()
            });
            let cuts = pairs.filter(|&(a, b)| owners[a] != owners[b]).count();
            assert!(cuts <= 40 * (size - 1), "{size}: {cuts}");
        }
    }

    #[test]
    fn uneven_work_is_divided_and_all_strands_may_be_in_one_place() {
        let weight = |work: u32, x: f64| Weight {
            place: [x, 0.0, 0.0],
            work,
        };
        let heavy = (0..100).map(|n| weight(if n < 10 { 90 } else { 1 }, f64::from(n)));
        let (owners, loads_of_two) = loads(&heavy.collect::<Vec<_>>(), 2);
        assert_eq!([owners[4], owners[6]], [0, 1]);
        assert!(loads_of_two[0].abs_diff(loads_of_two[1]) <= 90);
        let (_, equal) = loads(&[weight(1, 5.0); 100], 4);
        assert_eq!(equal, [25; 4]);
        // Fewer strands than ranks, and none.
        let (_, few) = loads(&[weight(1, 0.0), weight(1, 1.0)], 8);
        assert_eq!(few.iter().sum::<u32>(), 2);
        assert!(few.iter().all(|&load| load <= 1));
        loads(&[], 3);
    }
}
