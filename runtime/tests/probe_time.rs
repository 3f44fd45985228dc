//! Probes of images over time: sums over frames, whatever frames the other lanes are in; and the location of times.

mod kernels;
mod probing;

use kernels::{Kernel, kernel};
use probing::{Version, Volume, naive, noise, run, versions};
use runtime::grid::TimeAxis;
use runtime::probe::{
    Border, Isa, Missed, ProbeImage, ProbeKernel, ProbeSpec, Real, TimeSteps, lookup_for,
    lookup_time_for, outputs,
};
use runtime::simd::Float;

/// An image over time.
struct Film<T> {
    samples: Vec<T>,
    sizes: Vec<usize>,
    components: usize,
    frames: usize,
    border: Border<'static>,
}

impl<T: Float> Film<T> {
    fn new(sizes: &[usize], components: usize, frames: usize, border: Border<'static>) -> Self {
        let count = sizes.iter().product::<usize>() * components * frames;
        Film {
            samples: noise(count as u64).take(count).map(T::from_f64).collect(),
            sizes: sizes.to_vec(),
            components,
            frames,
            border,
        }
    }

    /// One of its frames.
    fn frame(&self, frame: usize) -> Volume<T> {
        let length = self.samples.len() / self.frames;
        Volume {
            samples: self.samples[frame * length..(frame + 1) * length].to_vec(),
            sizes: self.sizes.clone(),
            components: self.components,
            border: self.border,
        }
    }

    fn spec(&self, version: Version, kernels: &[&Kernel], orders: u32, taps: usize) -> ProbeSpec {
        ProbeSpec {
            frames: taps,
            ..probing::spec(version, &self.frame(0), kernels, orders)
        }
    }
}

/// The frame of a tap, by the definition: the first or the last for those beyond, and for NaN the first.
fn frame_of(below: f64, tap: usize, taps: usize, frames: usize) -> usize {
    if below.is_nan() {
        return 0;
    }
    let wanted = below + (tap as f64 + 1.0 - taps as f64 / 2.0);
    wanted.clamp(0.0, (frames - 1) as f64) as usize
}

/// A position, the frame at or below its time, and the weights of its taps in time.
type Point<T> = ([T; 3], T, [T; 6]);

/// `a·b + c` as an instruction set computes it.
fn times_plus<T: Float>(isa: Isa, [a, b, c]: [T; 3]) -> T {
    let is_fused = isa != Isa::Baseline || cfg!(target_arch = "aarch64");
    let [x, y, z] = [a, b, c].map(Float::to_f64);
    T::from_f64(match (T::REAL, is_fused) {
        (Real::F32, true) => f64::from((x as f32).mul_add(y as f32, z as f32)),
        (Real::F32, false) => f64::from(x as f32 * y as f32 + z as f32),
        (Real::F64, true) => x.mul_add(y, z),
        (Real::F64, false) => x * y + z,
    })
}

/// The sum over the frames of a point, sample by sample.
fn summed<T: Float>(
    film: &Film<T>,
    isa: Isa,
    taps: usize,
    (_, below, weights): &Point<T>,
) -> Volume<T> {
    let frames: Vec<Volume<T>> = (0..taps)
        .map(|tap| film.frame(frame_of(below.to_f64(), tap, taps, film.frames)))
        .collect();
    // The first product is not added to anything, and −0 added to anything changes nothing.
    let nothing = T::from_f64(-0.0);
    let sum = |sample: &dyn Fn(usize) -> T| {
        (0..taps).fold(nothing, |sum, tap| {
            times_plus(isa, [weights[tap], sample(tap), sum])
        })
    };
    let samples = (0..frames[0].samples.len()).map(|n| sum(&|tap| frames[tap].samples[n]));
    let border = match film.border {
        Border::Constant(values) => {
            let values = values.iter().map(|&x| sum(&|_| T::from_f64(x)).to_f64());
            Border::Constant(values.collect::<Vec<_>>().leak())
        }
        border => border,
    };
    Volume {
        samples: samples.collect(),
        border,
        ..film.frame(0)
    }
}

/// Probes all positions, each in its frame; result `[position][slot]`. Lanes that the pattern does not have are not active.
fn run_film<T: Float>(
    version: Version,
    film: &Film<T>,
    (kernels, orders, taps): (&[&Kernel], u32, usize),
    points: &[Point<T>],
    pattern: u32,
) -> Vec<Vec<f64>> {
    let spec = film.spec(version, kernels, orders, taps);
    let pieces: Vec<_> = kernels.iter().map(|k| &k.pieces).collect();
    let table = ProbeKernel::new(&spec, &pieces).expect("a table");
    let axis = TimeAxis::regular(0.0, 1.0).expect("an axis");
    let time = (film.frames, &axis);
    let image = ProbeImage::over_time(
        &film.samples,
        &film.sizes,
        film.components,
        time,
        film.border,
    );
    let image = image.expect("an image");
    let probe = lookup_for(version.isa, &spec).expect("a primitive");
    let (width, count) = (version.width, outputs(&spec).len());
    let all = (1_u32 << (width - 1) << 1).wrapping_sub(1);
    let mask = if pattern & all == 0 {
        all
    } else {
        pattern & all
    };
    let lanes: Vec<usize> = (0..width).filter(|lane| mask >> lane & 1 == 1).collect();
    let mut results = Vec::new();
    for block in points.chunks(lanes.len()) {
        let mut positions = vec![T::from_f64(f64::NAN); (spec.dim + 1 + taps) * width];
        let mut active = 0;
        for (&lane, (x, below, weights)) in lanes.iter().zip(block) {
            active |= 1 << lane;
            for axis in 0..spec.dim {
                positions[axis * width + lane] = x[axis];
            }
            positions[spec.dim * width + lane] = *below;
            for (tap, &weight) in weights.iter().enumerate().take(taps) {
                positions[(spec.dim + 1 + tap) * width + lane] = weight;
            }
        }
        let guard = T::from_f64(123.25);
        let mut out = vec![guard; (count + 1) * width];
        // SAFETY: the buffers have the sizes of the specification and the instruction set is available.
        unsafe {
            probe(
                &image,
                &table,
                active,
                positions.as_ptr().cast(),
                out.as_mut_ptr().cast(),
            )
        };
        assert!(
            out[count * width..].iter().all(|&x| x == guard),
            "wrote outside"
        );
        for &lane in &lanes[..block.len()] {
            let slots = (0..count).map(|slot| out[slot * width + lane].to_f64());
            results.push(slots.collect());
        }
    }
    results
}

/// Positions inside and around the grid, and frames inside and around the film: some far away, some not numbers. Points near
/// each other mostly have their frames and weights in common.
fn points<T: Float>(film: &Film<T>, seed: u64, near: bool) -> Vec<Point<T>> {
    let mut noise = noise(seed);
    let mut next = move || noise.next().expect("endless");
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e20, -7.0];
    let around = |x: f64, size: usize, margin: f64| {
        let (size, half) = (size as f64, 0.5 * (size as f64 - 1.0));
        half + x * (0.5 * size + margin)
    };
    let point = |n: usize| {
        let mut x = [T::from_f64(0.0); 3];
        let margin = if n.is_multiple_of(4) { 3.0 } else { -2.0 };
        for (x, &size) in x.iter_mut().zip(&film.sizes) {
            let place = if near { 0.1 * next() } else { next() };
            *x = T::from_f64(around(place, size, margin));
        }
        let place = next();
        let below = match n % 11 {
            3 => odd[n / 11 % odd.len()],
            _ if near => (n / 16 % film.frames) as f64,
            _ => around(place, film.frames, 4.0).floor(),
        };
        let of_block = (n / 16) as u64;
        let weights = match near && !n.is_multiple_of(37) {
            true => self::noise(seed + of_block).take(6).collect::<Vec<_>>(),
            false => (0..6).map(|_| next()).collect(),
        };
        let weights = std::array::from_fn(|tap| T::from_f64(weights[tap]));
        (x, T::from_f64(below), weights)
    };
    (0..96).map(point).collect()
}

fn bits(results: &[Vec<f64>]) -> Vec<Vec<u64>> {
    let row = |row: &Vec<f64>| row.iter().map(|x| x.to_bits()).collect();
    results.iter().map(row).collect()
}

/// One film with one kernel: against the definition, against probes of the sums over its frames, and between versions.
fn check<T: Float>(film: &Film<T>, kernels: &[&Kernel], orders: u32, taps: usize, seed: u64) {
    let accuracy = match T::REAL {
        Real::F32 => 1e-3,
        Real::F64 => 1e-11,
    };
    let slots = probing::slots(&film.frame(0), kernels, orders);
    for near in [false, true] {
        let points = points(film, seed, near);
        let what = format!(
            "{:?} {:?} × {} frames of {} components, {} taps in time, near: {near}",
            film.border, film.sizes, film.frames, film.components, taps
        );
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let single = Version { isa, width: 1 };
            let alone = run_film(single, film, (kernels, orders, taps), &points, 1);
            for (point, found) in points.iter().zip(&alone) {
                let (x, below, _) = point;
                let volume = summed(film, isa, taps, point);
                let of_sum = run(single, &volume, kernels, orders, &[*x], 0).remove(0);
                assert_eq!(
                    bits(std::slice::from_ref(found)),
                    bits(&[of_sum]),
                    "{what}, {isa:?}, {x:?} in {below:?}"
                );
                for (slot, found) in slots.iter().zip(found) {
                    let wanted = naive(&volume, kernels, slot, x);
                    assert!(
                        (found - wanted).abs() <= accuracy,
                        "{what}, {isa:?}, {x:?} in {below:?}, {slot:?}: {found}, not {wanted}"
                    );
                }
            }
            for width in [4, 8, 16] {
                for pattern in [u32::MAX, 0b0110_1101_1011_0110, 0b1000_0000_0000_1000] {
                    let version = Version { isa, width };
                    let found = run_film(version, film, (kernels, orders, taps), &points, pattern);
                    assert!(
                        bits(&found) == bits(&alone),
                        "{what}, {isa:?} by {width}, lanes {pattern:#b}"
                    );
                }
            }
        }
    }
}

#[test]
fn probes_are_sums_over_frames_whatever_the_other_lanes_do() {
    let [tent, ctmr, quintic] = ["tent", "ctmr", "bspln5"].map(kernel);
    let borders = [Border::Clamp, Border::Mirror, Border::Wrap];
    let sizes: [&[usize]; 3] = [&[23], &[19, 11], &[17, 9, 10]];
    let mut seed = 0;
    for (n, sizes) in sizes.into_iter().enumerate() {
        let dim = n + 1;
        for (kernel, orders) in [
            (&tent, 0b1),
            (&ctmr, 0b11),
            (&quintic, 0b111),
            (&ctmr, 0b100),
        ] {
            seed += 1;
            let taps = [2, 4, 6][seed % 3];
            let components = 1 + seed % 3;
            let frames = [5, 1, 2, 7][seed % 4];
            let border = borders[seed % 3];
            let kernels = vec![kernel; dim];
            let film = Film::<f32>::new(sizes, components, frames, border);
            check(&film, &kernels, orders, taps, seed as u64);
            let film = Film::<f64>::new(sizes, components, frames, border);
            check(&film, &kernels, orders, taps, seed as u64);
        }
    }
    // Several kernels, and a constant beyond the border, go to the general primitive.
    let film = Film::<f32>::new(&[12, 9], 2, 3, Border::Constant(&[0.5, -2.0]));
    check(&film, &[&tent, &ctmr], 0b11, 4, 99);
}

/// Axes of both kinds, with the number of frames.
fn axes() -> Vec<(usize, TimeAxis)> {
    let irregular = [-1.5, -1.0, 0.125, 0.25, 4.0, 100.0, 100.5];
    vec![
        (6, TimeAxis::regular(0.0, 2.5).unwrap()),
        (1, TimeAxis::regular(-3.0, 0.1).unwrap()),
        (40, TimeAxis::regular(1e4, 1.0 / 3.0).unwrap()),
        (7, TimeAxis::of_times(&irregular).unwrap()),
        (2, TimeAxis::Table(vec![1.0, 1.75])),
    ]
}

/// Locates times by a version of the primitive: frame, fraction and derivative of each, and those that are not active.
fn locate<T: Float>(version: Version, image: &ProbeImage<'_>, times: &[T]) -> Vec<[T; 3]> {
    let width = version.width;
    let locate = lookup_time_for(version.isa, T::REAL, width).expect("a primitive");
    let mut found = Vec::new();
    for block in times.chunks(width) {
        let mut lanes = vec![T::from_f64(f64::NAN); width];
        lanes[..block.len()].copy_from_slice(block);
        let guard = T::from_f64(123.25);
        let mut out = vec![guard; 4 * width];
        let mask = (1_u32 << (block.len() - 1) << 1).wrapping_sub(1);
        // SAFETY: there is room for three rows, and the instruction set is available.
        unsafe { locate(image, mask, lanes.as_ptr().cast(), out.as_mut_ptr().cast()) };
        assert!(
            out[3 * width..].iter().all(|&x| x == guard),
            "wrote outside"
        );
        found.extend((0..block.len()).map(|l| [out[l], out[width + l], out[2 * width + l]]));
    }
    found
}

/// The location of a time, operation by operation.
macro_rules! located {
    ($real:ident, $steps:expr, $frames:expr, $time:expr) => {{
        let (time, frames): ($real, usize) = ($time, $frames);
        let (position, rate) = match $steps {
            TimeSteps::Regular { start, rate } => {
                let (start, rate) = (*start as $real, *rate as $real);
                ((time - start) * rate, rate)
            }
            TimeSteps::Table { times, rates } => {
                let mut i = 0;
                while i + 2 < times.len() && times[i + 1] as $real <= time {
                    i += 1;
                }
                let rate = rates[i] as $real;
                let product = (time - times[i] as $real) * rate;
                (i as $real + product, rate)
            }
        };
        let position = position.clamp(-4.0, (frames + 3) as $real);
        let frame = position.floor();
        let below = if frame.is_nan() { 0.0 } else { frame };
        [below, position - frame, rate]
    }};
}

macro_rules! check_times {
    ($real:ident, $accuracy:expr) => {
        for (frames, axis) in axes() {
            let samples = vec![0.0 as $real; 2 * frames];
            let time = (frames, &axis);
            let image = ProbeImage::over_time(&samples, &[2], 1, time, Border::Clamp).unwrap();
            let steps = image.time().expect("an image over time");
            let (start, end) = (axis.start(), axis.end(frames));
            let span = (end - start).max(1.0);
            let mut times: Vec<$real> = (noise(frames as u64).take(200))
                .map(|x| (0.5 * (start + end) + 0.7 * x * span) as $real)
                .collect();
            times.extend((0..frames).map(|n| axis.time(n) as $real));
            times.extend([<$real>::NAN, <$real>::INFINITY, <$real>::NEG_INFINITY, 1e30]);
            let wanted: Vec<[$real; 3]> = times
                .iter()
                .map(|&time| located!($real, steps, frames, time))
                .collect();
            for version in versions() {
                let found = locate::<$real>(version, &image, &times);
                for (n, time) in times.iter().enumerate() {
                    let same = found[n].iter().zip(&wanted[n]);
                    assert!(
                        same.clone()
                            .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()),
                        "{version:?}, {axis:?}, {time}: {:?}, not {:?}",
                        found[n],
                        wanted[n]
                    );
                }
            }
            for (&time, found) in times.iter().zip(&wanted) {
                let (position, rate) = axis.position(f64::from(time));
                let inside = -3.9 < position && position < (frames as f64) + 2.9;
                if inside {
                    let off = f64::from(found[0]) + f64::from(found[1]) - position;
                    assert!(
                        off.abs() <= $accuracy * (1.0 + start.abs()),
                        "{axis:?}, {time}: {off}"
                    );
                    let at_frame = (position - position.round()).abs() < 1e-3;
                    let off = f64::from(found[2]) / rate - 1.0;
                    assert!(at_frame || off.abs() < $accuracy, "{axis:?}, {time}: {off}");
                }
            }
        }
    };
}

#[test]
fn times_are_located_alike_by_all_versions() {
    check_times!(f32, 1e-5);
    check_times!(f64, 1e-12);
}

#[test]
fn an_image_over_time_knows_whether_it_was_probed_inside_in_space_and_in_time() {
    let kernel = kernel("tent");
    let samples = vec![1.0_f32; 8 * 3];
    let axis = TimeAxis::regular(10.0, 2.0).unwrap();
    for version in versions() {
        let width = version.width;
        let fresh = || ProbeImage::over_time(&samples, &[8], 1, (3, &axis), Border::Clamp).unwrap();
        let film = Film::<f32>::new(&[8], 1, 3, Border::Clamp);
        let spec = film.spec(version, &[&kernel], 1, 2);
        let table = ProbeKernel::new(&spec, &[&kernel.pieces]).unwrap();
        let primitive = lookup_for(version.isa, &spec).unwrap();
        let probe = |image: &ProbeImage<'_>, x: f32, time: f32| {
            let below = locate::<f32>(version, image, &[time])[0][0];
            let mut positions = vec![x; 4 * width];
            positions[width..2 * width].fill(below);
            let mut out = vec![0.0_f32; width];
            // SAFETY: an axis, the frames, two weights and a result, with room for every lane.
            unsafe {
                primitive(
                    image,
                    &table,
                    1,
                    positions.as_ptr().cast(),
                    out.as_mut_ptr().cast(),
                )
            };
            image.missed()
        };
        let image = fresh();
        assert_eq!(image.missed(), None, "not probed");
        locate::<f32>(version, &image, &[12.0]);
        assert!(
            !image.was_probed() && !image.was_missed(),
            "a time is not a probe"
        );
        let image = fresh();
        assert_eq!(probe(&image, 3.0, 14.5), Some(Missed::InTime));
        assert_eq!(probe(&image, -3.0, 12.0), Some(Missed::Either));
        assert_eq!(probe(&image, 3.0, 14.0), None, "the last frame is inside");
        assert_eq!(probe(&image, -3.0, 14.0), None, "and stays so");
        let image = fresh();
        assert_eq!(probe(&image, -3.0, 10.0), Some(Missed::InSpace));
        assert_eq!(probe(&fresh(), -3.0, 9.0), Some(Missed::Either));
        assert_eq!(probe(&fresh(), 3.0, f32::NAN), Some(Missed::InTime));
        assert_eq!(
            probe(&fresh(), 3.0, 10.0),
            None,
            "the first frame is inside"
        );
        // Another rank was inside.
        let other = fresh();
        probe(&other, 3.0, 11.0);
        image.learn_contact(other.contact());
        assert!(!image.was_missed());
    }
}

#[test]
fn images_over_time_that_cannot_be_probed_are_refused() {
    let samples = [0.0_f64; 24];
    let axis = TimeAxis::regular(0.0, 1.0).unwrap();
    let table = TimeAxis::Table(vec![0.0, 1.0, 3.0]);
    let describe = |frames: usize, axis: &TimeAxis| {
        ProbeImage::over_time(&samples, &[4], 2, (frames, axis), Border::Clamp).map(|_| ())
    };
    assert!(describe(3, &axis).is_ok());
    assert!(describe(3, &table).is_ok());
    assert!(describe(2, &axis).is_err());
    assert!(describe(0, &axis).is_err());
    let error = ProbeImage::over_time(&samples, &[4], 3, (2, &table), Border::Clamp).err();
    assert_eq!(error.as_deref(), Some("3 times were given for 2 frames"));
    let spec = ProbeSpec {
        real: Real::F64,
        width: 4,
        dim: 1,
        support: [1; 3],
        degree: 1,
        orders: 1,
        components: 1,
        frames: 3,
    };
    let error = "probe has 3 taps in time, wanted 2, 4 or 6, or none";
    assert_eq!(spec.check(), Err(error.to_string()));
    assert!(ProbeSpec { frames: 8, ..spec }.check().is_err());
}
