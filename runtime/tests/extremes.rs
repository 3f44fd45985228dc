//! The extremes of boxes of samples are those that a loop over all samples finds: for all dimensions, borders, precisions, widths,
//! instruction sets and types of samples, in boxes inside, across the border and away from the image.

mod kernels;
mod probing;

use probing::{Dice, Volume, versions};
use runtime::probe::{Border, ProbeImage, lookup_extremes_for};
use runtime::simd::Float;

const CONSTANTS: [f64; 2] = [-0.25, 0.75];

/// The samples along an axis that numbers stand for; `None` is the constant of the border.
fn along(first: f64, last: f64, size: usize, border: &Border<'_>) -> Vec<Option<usize>> {
    let end = size as f64 - 1.0;
    let has_all = matches!(border, Border::Mirror | Border::Wrap) && (first < 0.0 || last > end);
    if has_all {
        return (0..size).map(Some).collect();
    }
    let (first, last) = (first.max(-2.0) as i64, last.min(end + 2.0) as i64);
    let near = |n: i64| n.clamp(0, size as i64 - 1) as usize;
    let numbers = first.min(size as i64 + 1)..=last.max(-2);
    let sample = |n: i64| match border {
        Border::Constant(_) if near(n) as i64 != n => None,
        _ => Some(near(n)),
    };
    numbers.map(sample).collect()
}

/// The least and the greatest sample of a box, one by one.
fn wanted<T: Float>(volume: &Volume<T>, first: &[f64], last: &[f64]) -> [f64; 2] {
    let everything = [f64::NEG_INFINITY, f64::INFINITY];
    if first
        .iter()
        .zip(last)
        .any(|(a, b)| a.is_nan() || b.is_nan() || a > b)
    {
        return everything;
    }
    let mut places = vec![Some(0)];
    for axis in (0..volume.sizes.len()).rev() {
        let size = volume.sizes[axis];
        let along = along(first[axis], last[axis], size, &volume.border);
        let step = |place: &Option<usize>| {
            let place = *place;
            along
                .iter()
                .map(move |n| Some(place? * size + (*n)?))
                .collect::<Vec<_>>()
        };
        places = places.iter().flat_map(step).collect();
    }
    let plane: usize = volume.sizes.iter().product();
    let mut found = [f64::INFINITY, f64::NEG_INFINITY];
    for place in places {
        for (component, &constant) in CONSTANTS.iter().enumerate().take(volume.components) {
            let sample = match place {
                Some(place) => volume.samples[component * plane + place].to_f64(),
                None => constant,
            };
            if !sample.is_finite() {
                return everything;
            }
            found = [found[0].min(sample), found[1].max(sample)];
        }
    }
    found
}

fn compare<T: Float>(dice: &mut Dice) {
    let borders: [Border<'static>; 4] = [
        Border::Clamp,
        Border::Mirror,
        Border::Wrap,
        Border::Constant(&CONSTANTS),
    ];
    let components = 1 + dice.below(2);
    let border = match borders[dice.below(4)] {
        Border::Constant(_) => Border::Constant(&CONSTANTS[..components]),
        other => other,
    };
    let sizes: Vec<usize> = (0..1 + dice.below(3)).map(|_| 1 + dice.below(40)).collect();
    let count = components * sizes.iter().product::<usize>();
    let is_odd = dice.below(4) == 0;
    let samples = (0..count).map(|_| match dice.below(400) {
        0 if is_odd => T::from_f64([f64::NAN, f64::INFINITY, f64::NEG_INFINITY][dice.below(3)]),
        1 => T::from_f64(-0.0),
        _ => T::from_f64(dice.next() - 0.5),
    });
    let volume = Volume {
        samples: samples.collect(),
        sizes: sizes.clone(),
        components,
        border,
    };
    let image = ProbeImage::new(&volume.samples, &sizes, components, border).expect("an image");
    let dim = sizes.len();
    let boxes: Vec<Vec<f64>> = (0..64)
        .map(|_| {
            let lengths = [1, 5, 7, 9, 11, 24];
            let firsts: Vec<f64> = sizes
                .iter()
                .map(|&n| (1.4 * n as f64 * dice.next() - 0.2 * n as f64).floor())
                .collect();
            let mut lasts = firsts.clone();
            for last in &mut lasts {
                let length = lengths[dice.below(6)];
                *last += dice.below(length) as f64;
            }
            match dice.below(20) {
                0 => lasts[dice.below(dim)] = f64::NAN,
                1 => lasts[dice.below(dim)] = f64::INFINITY,
                2 => lasts[dice.below(dim)] = -1e30,
                _ => {}
            }
            [firsts, lasts].concat()
        })
        .collect();
    for version in versions() {
        let extremes =
            lookup_extremes_for(version.isa, T::REAL, version.width).expect("a primitive");
        for block in boxes.chunks(version.width) {
            let mut places = vec![T::from_f64(f64::NAN); 2 * dim * version.width];
            for (lane, numbers) in block.iter().enumerate() {
                for (n, &number) in numbers.iter().enumerate() {
                    places[n * version.width + lane] = T::from_f64(number);
                }
            }
            let mask = (1u32 << block.len()) - 1;
            let mut out = vec![T::from_f64(7.0); 2 * version.width];
            // SAFETY: the buffers have the sizes of the lookup and the instruction set is available.
            unsafe {
                extremes(
                    &image,
                    mask,
                    places.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                );
            }
            for (lane, numbers) in block.iter().enumerate() {
                let (first, last) = numbers.split_at(dim);
                let wanted = wanted(&volume, first, last).map(|x| T::from_f64(x + 0.0));
                let found = [out[lane], out[version.width + lane]];
                let bits = |x: T| x.to_f64().to_bits();
                assert_eq!(
                    found.map(bits),
                    wanted.map(bits),
                    "{sizes:?}, {components} components, {first:?} to {last:?}, {version:?}: {found:?} instead of {wanted:?}"
                );
            }
        }
    }
}

#[test]
fn extremes_are_those_of_all_samples_in_a_box() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |since| since.as_nanos() as u64);
    println!("seed {seed}");
    let mut dice = Dice(seed);
    for _ in 0..500 {
        compare::<f32>(&mut dice);
        compare::<f64>(&mut dice);
    }
}
