use super::*;

/// A grid by sizes, extents, the order of the image, and spans of the file.
fn grid(sizes: &[usize], extents: &[usize], order: &[usize], spans: &[(usize, usize)]) -> Grid {
    let mut axes: Vec<Axis> = (0..sizes.len())
        .map(|n| Axis {
            size: sizes[n],
            extent: extents[n],
            first: spans[n].0,
            count: spans[n].1,
            stride: 0,
        })
        .collect();
    let mut count = 1;
    for &axis in order {
        axes[axis].stride = count;
        count *= axes[axis].count;
    }
    let order = order.iter().copied().filter(|&a| axes[a].count > 1);
    Grid {
        order: order.collect(),
        axes,
        count,
    }
}

/// Every sample is in one range of one part, and `around` finds it.
#[test]
fn parts_divide_the_samples() {
    let sizes = [5, 4, 3, 2];
    let orders = [[0, 1, 2, 3], [1, 2, 0, 3], [3, 2, 1, 0], [2, 0, 3, 1]];
    let mut tried = 0;
    for order in orders {
        for extents in 0..3_usize.pow(4) {
            let extent = |n: usize| [1, 2, sizes[n]][extents / 3_usize.pow(n as u32) % 3];
            let extents: Vec<usize> = (0..4).map(extent).collect();
            for spans in [
                [(0, 5), (0, 4), (0, 3), (0, 2)],
                [(2, 2), (0, 4), (1, 2), (1, 1)],
                [(0, 5), (3, 1), (0, 3), (0, 2)],
            ] {
                let grid = grid(&sizes, &extents, &order, &spans);
                let mut owner = vec![None; grid.count];
                for part in 0..grid.parts() {
                    for range in grid.ranges(part) {
                        for sample in range.clone() {
                            assert_eq!(owner[sample], None, "{grid:?}");
                            owner[sample] = Some((part, range.clone()));
                        }
                    }
                }
                for (sample, owner) in owner.into_iter().enumerate() {
                    assert_eq!(owner, Some(grid.around(sample)), "{sample} of {grid:?}");
                }
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 4 * 81 * 3);
}

/// Boxes of an array whose samples are their places in it.
struct Counted {
    sizes: Vec<usize>,
    extents: Vec<usize>,
}

impl Boxes for Counted {
    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn read(
        &self,
        place: &[Range<usize>],
        sink: &mut (dyn FnMut(crate::nrrd::Samples) + '_),
    ) -> Result<u64, ImageError> {
        let mut values = vec![0.0];
        let mut stride = 1;
        for (range, size) in place.iter().zip(&self.sizes) {
            let along = |at: usize| values.iter().map(move |value| value + (at * stride) as f64);
            values = range.clone().flat_map(along).collect();
            stride *= size;
        }
        let (start, end) = values.split_at(values.len() / 2);
        sink(crate::nrrd::Samples::F64(start.to_vec()));
        sink(crate::nrrd::Samples::F64(end.to_vec()));
        Ok(1)
    }
}

#[test]
fn samples_are_put_where_the_image_has_them() {
    let sizes = [5, 4, 3, 2];
    for order in [[0, 1, 2, 3], [1, 2, 0, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        for extents in [[5, 4, 1, 1], [2, 3, 2, 1], [5, 1, 1, 1], [1, 4, 3, 2]] {
            for spans in [
                [(0, 5), (0, 4), (0, 3), (0, 2)],
                [(2, 2), (0, 4), (1, 2), (1, 1)],
            ] {
                let grid = grid(&sizes, &extents, &order, &spans);
                let count = grid.count;
                let mut expected = vec![-1.0; count];
                for place in 0..5 * 4 * 3 * 2 {
                    let (mut rest, mut to, mut is_inside) = (place, 0, true);
                    for (axis, size) in grid.axes.iter().zip(sizes) {
                        let at = rest % size;
                        rest /= size;
                        is_inside &= (axis.first..axis.first + axis.count).contains(&at);
                        to += at.saturating_sub(axis.first) * axis.stride;
                    }
                    if is_inside {
                        expected[to] = 2.0 * place as f64 + 1.0;
                    }
                }
                let samples = Samples::<f64> {
                    grid,
                    boxes: Arc::new(Counted {
                        sizes: sizes.to_vec(),
                        extents: extents.to_vec(),
                    }),
                    convert: Box::new(|piece, beyond| converted(piece, Some((2.0, 1.0)), beyond)),
                    findings: Arc::new(Findings::of("counted")),
                };
                let mut found = vec![-1.0_f64; count];
                for part in 0..samples.count() {
                    // SAFETY: there is room for all samples.
                    unsafe { samples.make(part, found.as_mut_ptr().cast()) }.expect("a part");
                }
                assert_eq!(found, expected, "{order:?} {extents:?} {spans:?}");
                // A sample of every box is missing; those of a part that is made again do not count again.
                // SAFETY: as above.
                unsafe { samples.make(0, found.as_mut_ptr().cast()) }.expect("a part");
                let boxes: usize = samples.grid.axes.iter().map(|a| a.boxes().len()).product();
                assert_eq!(samples.findings.counts(), (boxes as u64, 0));
            }
        }
    }
}
