//! `diderotc compare`: how much two images differ, in numbers, as an exit status, and as an image.

use super::{FAILURE, SUCCESS, USAGE, args::CompareWords, complain, say};
use runtime::{
    colour_maps::ColourMap,
    file_name::{FileName, escaped},
    grid::Place,
    image::{AsImage, Image, Orientation, describe, grid_of_file},
    memory::{self, Claim},
    output::{
        Column, Domain, FileUse, Length, Output, Scalar, Values,
        format::Destination,
        options::FileOptions,
        plan::{OtherFiles, plan},
        write::{Contents, Style, Written, write},
    },
    png::Range,
    print::short,
    text::visible,
};
use std::path::Path;

/// The colours of pictures of differences.
const COLOURS: &str = "viridis";

/// Compares two files. The status says whether they are equal.
pub(super) fn compare(words: &CompareWords) -> u8 {
    if let Some(bytes) = words.memory {
        memory::set_limit(bytes);
    }
    let compared = read(&words.one, &words.other).and_then(|[one, other]| {
        let difference = Difference::of(&one, &other)?;
        let written = match &words.output {
            Some(file) => write_difference(words, file, &difference)?,
            None => Vec::new(),
        };
        Ok((difference, written))
    });
    match compared {
        Ok((difference, written)) => {
            say(&visible(&difference.lines(words)));
            for Written {
                file,
                description,
                tally,
                ..
            } in written
            {
                complain(&format!("wrote {file} ({description})\n"));
                let notes = tally.map(|tally| tally.notes(&file.to_string(), false));
                for note in notes.into_iter().flatten() {
                    complain(&format!("note: {note}\n"));
                }
            }
            match difference.is_within(words.tolerance) {
                true => SUCCESS,
                false => FAILURE,
            }
        }
        Err(message) => {
            complain(&format!("error: {message}\n"));
            USAGE
        }
    }
}

/// Reads two images, which must have the same sizes and components.
fn read(one: &Path, other: &Path) -> Result<[Image<f64>; 2], String> {
    let described = [described(one)?, described(other)?];
    let shape = |image: &AsImage| (image.sizes.clone(), image.shape.clone(), image.frames);
    if shape(&described[0]) != shape(&described[1]) {
        let text = |path: &Path, image: &AsImage| {
            let sizes: Vec<String> = image.sizes.iter().map(usize::to_string).collect();
            let components = numbers(image);
            let of = match components {
                1 => String::new(),
                n => format!(" of {n} components"),
            };
            format!(
                "{} has {} samples{of}",
                escaped(path.as_os_str()),
                sizes.join(" × ")
            )
        };
        let [a, b] = [text(one, &described[0]), text(other, &described[1])];
        return Err(format!("{a}, and {b}"));
    }
    let read = |path: &Path, image: &AsImage| {
        let numbers = [numbers(image)];
        let shape = match image.frames {
            1 => &image.shape[..],
            _ => &numbers,
        };
        let loaded = Image::<f64>::read(path, image.sizes.len(), shape);
        loaded.map(|loaded| loaded.image).map_err(|e| e.to_string())
    };
    Ok([read(one, &described[0])?, read(other, &described[1])?])
}

/// The numbers at each place of the grid: those of all components in all frames.
fn numbers(image: &AsImage) -> usize {
    image.shape.iter().product::<usize>() * image.frames
}

fn described(path: &Path) -> Result<AsImage, String> {
    let description = describe(path).map_err(|e| e.to_string())?;
    description.image.ok_or_else(|| {
        let axes = description.header.sizes().len();
        let file = escaped(path.as_os_str());
        format!("{file} has {axes} axes, which are not those of an image of 1 to 3 dimensions")
    })
}

/// How much two images differ.
struct Difference {
    /// The sizes of the grid, fastest axis first.
    sizes: Vec<usize>,
    components: usize,
    /// Absolute differences, the components of a place together. NaN where one of two samples is not a number.
    values: Vec<f64>,
    /// The largest, if they differ, with its place.
    largest: Option<Largest>,
    mean: f64,
    root_mean_square: f64,
    /// Samples that differ.
    differing: usize,
    /// Samples that are a number in one image only.
    unlike: usize,
    /// Whether the grids are at the same place in the world.
    is_same_place: bool,
    /// The memory of the values.
    _claim: Claim,
}

/// The largest difference.
struct Largest {
    value: f64,
    /// By axes, the fastest first.
    index: Vec<usize>,
    world: Vec<f64>,
    component: usize,
    samples: [f64; 2],
}

impl Difference {
    fn of(one: &Image<f64>, other: &Image<f64>) -> Result<Difference, String> {
        let (places, components) = (one.plane_stride(), one.components());
        let count = places * components;
        let claim = memory::claim(count as u64 * 8).map_err(|shortage| shortage.to_string())?;
        let mut values = Vec::with_capacity(count);
        let (mut sum, mut squares) = (0.0, 0.0);
        let (mut differing, mut unlike) = (0, 0);
        let mut largest: Option<(f64, usize, usize)> = None;
        for place in 0..places {
            for component in 0..components {
                let at = component * places + place;
                let difference = distance(one.samples()[at], other.samples()[at]);
                values.push(difference);
                differing += usize::from(difference != 0.0);
                if difference.is_nan() {
                    unlike += 1;
                    continue;
                }
                sum += difference;
                squares += difference * difference;
                if difference > largest.map_or(0.0, |(most, ..)| most) {
                    largest = Some((difference, place, component));
                }
            }
        }
        let compared = (count - unlike).max(1) as f64;
        let orientation = one.orientation();
        let largest = largest.map(|(value, place, component)| {
            let mut rest = place;
            let index = one.sizes().iter().map(|size| {
                let n = rest % size;
                rest /= size;
                n
            });
            let index: Vec<usize> = index.collect();
            let position: Vec<f64> = index.iter().map(|&n| n as f64).collect();
            let at = component * places + place;
            Largest {
                value,
                world: orientation.to_world(&position),
                index,
                component,
                samples: [one.samples()[at], other.samples()[at]],
            }
        });
        Ok(Difference {
            sizes: one.sizes().to_vec(),
            components,
            values,
            largest,
            mean: sum / compared,
            root_mean_square: (squares / compared).sqrt(),
            differing,
            unlike,
            is_same_place: is_near(orientation, other.orientation()),
            _claim: claim,
        })
    }

    /// Whether no two samples differ by more than the tolerance.
    fn is_within(&self, tolerance: f64) -> bool {
        let most = self.largest.as_ref().map_or(0.0, |largest| largest.value);
        self.unlike == 0 && most <= tolerance
    }

    /// The largest difference of any component at each place.
    fn of_places(&self) -> Vec<f64> {
        let places = self.values.chunks(self.components);
        let largest = |values: &[f64]| {
            let more = |a: f64, &b: &f64| {
                if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else {
                    a.max(b)
                }
            };
            values.iter().fold(0.0, more)
        };
        places.map(largest).collect()
    }

    fn lines(&self, words: &CompareWords) -> String {
        let [one, other] = [&words.one, &words.other].map(|path| escaped(path.as_os_str()));
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let sizes = sizes.join(" × ");
        let all = self.values.len();
        let mut text = match self.differing {
            0 => format!("{one} and {other} are equal: {sizes}, {all} samples\n"),
            _ => format!("{one} and {other} differ: {sizes}, {all} samples\n"),
        };
        if let Some(largest) = &self.largest {
            let list = |numbers: &[f64]| {
                let numbers: Vec<String> = numbers.iter().map(|&x| short(x)).collect();
                numbers.join(", ")
            };
            let index: Vec<String> = largest.index.iter().map(usize::to_string).collect();
            let component = match self.components {
                1 => String::new(),
                _ => format!(", component {}", largest.component),
            };
            let [a, b] = largest.samples.map(short);
            text += &format!(
                "  largest    {} at index [{}], world [{}]{component}: {a} and {b}\n",
                short(largest.value),
                index.join(", "),
                list(&largest.world)
            );
            text += &format!("  mean       {}\n", short(self.mean));
            text += &format!("  rms        {}\n", short(self.root_mean_square));
        }
        if self.differing > 0 {
            let percent = 100.0 * self.differing as f64 / all as f64;
            let percent = short(percent);
            text += &format!(
                "  differing  {} of {all} samples ({percent} %)\n",
                self.differing
            );
        }
        if self.unlike > 0 {
            text += &format!(
                "  NaN        in one image only at {} of {all} samples\n",
                self.unlike
            );
        }
        if words.tolerance > 0.0 && self.differing > 0 {
            let beyond = |x: &&f64| x.is_nan() || **x > words.tolerance;
            let beyond = self.values.iter().filter(beyond).count();
            let tolerance = short(words.tolerance);
            text += &format!("  tolerance  {tolerance}, exceeded by {beyond} samples\n");
        }
        if !self.is_same_place {
            text += "  world      the grids have different places\n";
        }
        text
    }
}

/// Whether two grids have the same place, up to the rounding of single precision.
fn is_near(one: &Orientation, other: &Orientation) -> bool {
    const ROUNDING: f64 = 1e-5;
    let near = |a: &[f64], b: &[f64]| {
        let largest = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut pairs = a.iter().zip(b);
        pairs.all(|(a, b)| (a - b).abs() <= ROUNDING * largest)
    };
    near(one.index_to_world(), other.index_to_world()) && near(one.origin(), other.origin())
}

/// The absolute difference of two samples: 0 for two that are equal or both not numbers.
fn distance(a: f64, b: f64) -> f64 {
    match a == b || a.is_nan() && b.is_nan() {
        true => 0.0,
        false => (a - b).abs(),
    }
}

/// Writes the differences, as the suffix of the file asks: a picture shows the largest of all components in colours.
fn write_difference(
    words: &CompareWords,
    file: &Path,
    difference: &Difference,
) -> Result<Vec<Written>, String> {
    let file = FileName::from(file);
    let is_picture = Destination::parse(file.clone())?.format.suffix() == "png";
    let (values, components) = match is_picture {
        true => (difference.of_places(), 1),
        false => (difference.values.clone(), difference.components),
    };
    let output = Output {
        name: "difference".to_string(),
        shape: if components == 1 {
            Vec::new()
        } else {
            vec![components]
        },
        length: Length::One,
        scalar: Scalar::Real,
        is_position: false,
    };
    let domain = Domain::Grid(difference.sizes.iter().rev().copied().collect());
    let mut options = FileOptions::new(1);
    options.outputs[0].file = Some(file);
    let read = [&words.one, &words.other];
    let others = OtherFiles {
        read: read
            .map(|path| FileUse::of(path.clone(), "a file that is compared"))
            .into(),
        written: Vec::new(),
    };
    let planned = plan(std::slice::from_ref(&output), &domain, &options, &others);
    let planned = planned.map_err(|problems| problems.join("\nerror: "))?;
    let place = grid_of_file(&words.one, difference.sizes.len());
    let place: Option<Place> = place.ok().map(|(_, place)| place);
    let most = difference
        .largest
        .as_ref()
        .map_or(1.0, |largest| largest.value);
    let column = Column {
        output: &output,
        values: Values::F64(&values),
        lengths: None,
        range: Range::Between(0.0, if most.is_finite() { most } else { 1.0 }),
        colours: is_picture.then(|| ColourMap::named(COLOURS)).transpose()?,
    };
    let contents = Contents {
        columns: &[column],
        domain: &domain,
        place: place.as_ref(),
    };
    let mut all = Vec::new();
    for target in &planned.results {
        let written = write(&target.destination, None, contents, &Style::default());
        all.extend(written.map_err(|e| e.to_string())?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_may_differ_by_rounding() {
        let place = |step: f64, x: f64| Orientation::new(&[vec![step]], &[x]).expect("a place");
        assert!(is_near(
            &place(0.1, 7.0),
            &place(f64::from(0.1_f32), 7.000_000_1)
        ));
        assert!(!is_near(&place(0.1, 7.0), &place(0.1, 7.05)));
        assert!(!is_near(&place(0.1, 0.0), &place(0.1001, 0.0)));
    }

    #[test]
    fn what_is_not_a_number_equals_only_its_like() {
        assert_eq!(distance(1.0, 1.5), 0.5);
        assert_eq!(distance(f64::NAN, f64::NAN), 0.0);
        assert_eq!(distance(f64::INFINITY, f64::INFINITY), 0.0);
        assert_eq!(distance(f64::INFINITY, 0.0), f64::INFINITY);
        assert!(distance(f64::NAN, 0.0).is_nan());
    }
}
