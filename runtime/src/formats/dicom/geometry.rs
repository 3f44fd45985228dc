//! The grid of the slices of a series: sorted by position along the normal, never by name or number.
//!
//! Steps are fitted to the positions. A gantry tilt is a shear: the third direction is the step as it is.

use crate::formats::missing::{Missing, listed};
use crate::formats::{ImageError, Note};

/// A slice as the rules of the grid see it.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) position: [f64; 3],
    /// Times that distinguish slices at one position, the most reliable first: temporal position, trigger, acquisition.
    pub(super) times: [Option<f64>; 3],
    /// The name of its file, for messages.
    pub(super) name: String,
}

/// The grid of slices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stack {
    /// The numbers of the slices, position by position, once for each moment; nothing where one is missing.
    pub(super) order: Vec<Option<usize>>,
    pub(super) positions: usize,
    pub(super) moments: usize,
    /// The seconds of the moments, if they are known.
    pub(super) times: Option<Vec<f64>>,
    pub(super) origin: [f64; 3],
    /// From one slice to the next; nothing if there is only one position.
    pub(super) step: Option<[f64; 3]>,
    pub(super) notes: Vec<Note>,
}

/// Numbers of the times of a slice: positions in time are counted, the others are seconds.
const TEMPORAL_POSITION: usize = 0;
const TRIGGER: usize = 1;
/// Millimetres within which two slices are at the same position.
const SAME: f64 = 1e-3;
/// The gap, in steps, from which on a slice is missing.
const MISSING: f64 = 1.5;
/// Parts of a step that positions may be beside the grid: with a warning, and at most.
const BESIDE: f64 = 0.01;
const TOO_FAR: f64 = 0.1;
/// Degrees from which on slices count as sheared.
const SHEARED: f64 = 0.1;

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The unit vector across slices.
pub(super) fn normal(row: [f64; 3], column: [f64; 3]) -> Option<[f64; 3]> {
    let across = cross(row, column);
    let length = dot(across, across).sqrt();
    (length.is_finite() && length > 1e-6).then(|| across.map(|x| x / length))
}

/// Puts slices on a grid, by their positions along `normal`.
pub(super) fn stack(
    slices: &[Slice],
    normal: [f64; 3],
    missing: Missing,
) -> Result<Stack, ImageError> {
    let along = |slice: usize| dot(slices[slice].position, normal);
    let mut order: Vec<usize> = (0..slices.len()).collect();
    order.sort_by(|&a, &b| along(a).total_cmp(&along(b)));
    let mut places: Vec<Vec<usize>> = Vec::new();
    for slice in order {
        match places.last_mut() {
            Some(place) if along(slice) - along(place[0]) <= SAME => place.push(slice),
            _ => places.push(vec![slice]),
        }
    }
    let Some(first) = places.first() else {
        return Err(ImageError::new("there are no slices"));
    };
    let (moments, mut notes) = (first.len(), Vec::new());
    let times = in_time(&mut places, slices, normal)?;
    let levels: Vec<f64> = places.iter().map(|place| along(place[0])).collect();
    let at: Vec<[f64; 3]> = places
        .iter()
        .map(|place| slices[place[0]].position)
        .collect();
    let mut numbers = vec![0];
    let step = match levels.len() {
        1 => None,
        _ => {
            let median = median_gap(&levels);
            numbers = numbered(&levels, median);
            without_gaps(&levels, &numbers, median, (missing, &mut notes))?;
            Some(fitted(&at, &numbers, (normal, median), &mut notes)?)
        }
    };
    let (origin, step) = match step {
        Some((origin, step)) => (origin, Some(step)),
        None => (at[0], None),
    };
    let positions = numbers[numbers.len() - 1] + 1;
    let mut order = vec![None; positions * moments];
    for (place, number) in places.iter().zip(&numbers) {
        for (moment, &slice) in place.iter().enumerate() {
            order[moment * positions + number] = Some(slice);
        }
    }
    Ok(Stack {
        order,
        positions,
        moments,
        times,
        origin,
        step,
        notes,
    })
}

/// Sorts the slices at each position by time, and gives the seconds of the moments.
fn in_time(
    places: &mut [Vec<usize>],
    slices: &[Slice],
    normal: [f64; 3],
) -> Result<Option<Vec<f64>>, ImageError> {
    let Some(crowded) = places.iter().find(|place| place.len() > 1) else {
        return Ok(None);
    };
    let twice = || {
        let names: Vec<&str> = crowded
            .iter()
            .take(4)
            .map(|&s| slices[s].name.as_str())
            .collect();
        let more = if crowded.len() > 4 { ", …" } else { "" };
        ImageError::new(format!(
            "{} slices are at {} mm ({}{more})",
            crowded.len(),
            shown(dot(slices[crowded[0]].position, normal)),
            names.join(", ")
        ))
        .hint("nothing in the files says in which order they are; keep one of them per position")
    };
    let moments = crowded.len();
    if places.iter().any(|place| place.len() != moments) {
        return Err(twice());
    }
    // A time that tells apart all slices of a position.
    let telling = (0..3).find(|&by| {
        places.iter().all(|place| {
            let mut times: Vec<f64> = place.iter().filter_map(|&s| slices[s].times[by]).collect();
            times.sort_by(f64::total_cmp);
            times.len() == moments && times.windows(2).all(|pair| pair[0] < pair[1])
        })
    });
    let by = telling.ok_or_else(twice)?;
    let time = |slice: usize| slices[slice].times[by].unwrap_or(0.0);
    for place in places.iter_mut() {
        place.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
    }
    let times: Vec<f64> = places[0].iter().map(|&s| time(s)).collect();
    Ok(match by {
        TEMPORAL_POSITION => None,
        TRIGGER => Some(times),
        // Days are not those of a calendar, so only differences are times.
        _ => Some(times.iter().map(|time| time - times[0]).collect()),
    })
}

fn median_gap(levels: &[f64]) -> f64 {
    let mut gaps: Vec<f64> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_by(f64::total_cmp);
    gaps[(gaps.len() - 1) / 2]
}

/// The number of each level on the grid: a wide gap has room for slices that are missing.
fn numbered(levels: &[f64], step: f64) -> Vec<usize> {
    let mut numbers = vec![0];
    for pair in levels.windows(2) {
        let gap = (pair[1] - pair[0]) / step;
        let steps = if gap < MISSING {
            1
        } else {
            gap.round() as usize
        };
        numbers.push(steps.saturating_add(numbers[numbers.len() - 1]));
    }
    numbers
}

/// Refuses gaps in which slices are missing, or tells that they are filled.
fn without_gaps(
    levels: &[f64],
    numbers: &[usize],
    step: f64,
    (missing, notes): (Missing, &mut Vec<Note>),
) -> Result<(), ImageError> {
    let all = numbers[numbers.len() - 1].saturating_add(1);
    let is_gap = |n: &usize| numbers[n + 1] > numbers[*n] + 1;
    let Some(gap) = (0..numbers.len() - 1).find(is_gap) else {
        return Ok(());
    };
    let lost = all - numbers.len();
    if missing == Missing::Nan && lost <= numbers.len() {
        let there = |n: &usize| numbers.binary_search(n).is_ok();
        let lost: Vec<u64> = (0..all)
            .filter(|n| !there(n))
            .map(|n| n as u64 + 1)
            .collect();
        let (slices, are) = match lost.len() {
            1 => ("slice", "is"),
            _ => ("slices", "are"),
        };
        notes.push(Note::warning(format!(
            "{slices} {} of {all} {are} missing and became NaN",
            listed(&lost)
        )));
        return Ok(());
    }
    // People count from 1.
    let (first, last) = (numbers[gap] + 2, numbers[gap + 1]);
    let at = shown(levels[gap] + step);
    let error = ImageError::new(match first == last {
        true => format!("slice {first} of {all} is missing, at {at} mm"),
        false => format!("slices {first} to {last} of {all} are missing, from {at} mm on"),
    });
    Err(match missing {
        Missing::Refuse => error.hint(
            "copy the missing files into the directory, or fill their places with NaN: `--missing nan`",
        ),
        Missing::Nan => error.hint(format!(
            "{lost} slices are too many to fill for {} that are there",
            numbers.len()
        )),
    })
}

type Line = ([f64; 3], [f64; 3]);

/// The line of regular steps that is nearest to the positions: its origin and step.
fn fitted(
    at: &[[f64; 3]],
    numbers: &[usize],
    (normal, median): ([f64; 3], f64),
    notes: &mut Vec<Note>,
) -> Result<Line, ImageError> {
    let count = at.len() as f64;
    let numbers: Vec<f64> = numbers.iter().map(|&n| n as f64).collect();
    let middle = numbers.iter().sum::<f64>() / count;
    let mean: [f64; 3] = std::array::from_fn(|c| at.iter().map(|p| p[c]).sum::<f64>() / count);
    let spread: f64 = numbers.iter().map(|n| (n - middle).powi(2)).sum();
    let step: [f64; 3] = std::array::from_fn(|c| {
        let moment = |(n, p): (&f64, &[f64; 3])| (n - middle) * (p[c] - mean[c]);
        numbers.iter().zip(at).map(moment).sum::<f64>() / spread
    });
    let origin: [f64; 3] = std::array::from_fn(|c| mean[c] - middle * step[c]);
    let beside = |(n, p): (&f64, &[f64; 3])| {
        let off: [f64; 3] = std::array::from_fn(|c| p[c] - origin[c] - n * step[c]);
        dot(off, off).sqrt()
    };
    let worst = numbers.iter().zip(at).map(beside).fold(0.0, f64::max);
    let length = dot(step, step).sqrt();
    let message = format!(
        "slices are up to {} mm beside a regular grid (step {} mm)",
        shown(worst),
        shown(length)
    );
    if worst > TOO_FAR * median {
        let error = ImageError::new(message);
        return Err(error.hint("resample the series to equal steps, for example in 3D Slicer"));
    }
    if worst > BESIDE * median {
        notes.push(Note::warning(message));
    }
    let shear = (dot(step, normal).abs() / length)
        .min(1.0)
        .acos()
        .to_degrees();
    if shear > SHEARED {
        notes.push(Note::new(format!("slices are sheared by {shear:.1}°")));
    }
    Ok((origin, step))
}

/// A number with as many digits as matter, with a true minus.
fn shown(x: f64) -> String {
    let text = format!("{x:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_string(),
        text => text.replace('-', "−"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: [f64; 3] = [0.0, 0.0, 1.0];

    fn slices(levels: &[f64], tilt: f64) -> Vec<Slice> {
        let slice = |(i, &z): (usize, &f64)| Slice {
            position: [-10.0, -20.0 + tilt * (z - levels[0]), z],
            times: [None; 3],
            name: format!("IM{i:04}.dcm"),
        };
        levels.iter().enumerate().map(slice).collect()
    }

    fn regular(count: usize) -> Vec<f64> {
        (0..count).map(|i| -30.0 + 2.5 * i as f64).collect()
    }

    #[test]
    fn slices_are_sorted_by_position_and_not_by_name() {
        let found = stack(&slices(&[5.0, -2.5, 0.0, 2.5], 0.0), UP, Missing::Refuse).unwrap();
        assert_eq!(found.order, [1, 2, 3, 0].map(Some));
        assert_eq!((found.positions, found.moments), (4, 1));
        assert_eq!(found.origin, [-10.0, -20.0, -2.5]);
        assert_eq!(found.step, Some([0.0, 0.0, 2.5]));
        assert_eq!(found.notes, []);
    }

    #[test]
    fn a_tilt_is_a_shear() {
        let found = stack(&slices(&regular(20), 0.25), UP, Missing::Refuse).unwrap();
        let step = found.step.unwrap();
        for (found, wanted) in step.iter().zip([0.0, 0.625, 2.5]) {
            assert!((found - wanted).abs() < 1e-12, "{step:?}");
        }
        assert_eq!(found.notes[0].text, "slices are sheared by 14.0°");
    }

    #[test]
    fn a_missing_slice_is_refused_with_its_place() {
        let mut levels = regular(20);
        levels.remove(7);
        let error = stack(&slices(&levels, 0.0), UP, Missing::Refuse).unwrap_err();
        assert_eq!(error.message(), "slice 8 of 20 is missing, at −12.5 mm");
        levels.remove(7);
        let error = stack(&slices(&levels, 0.0), UP, Missing::Refuse).unwrap_err();
        assert_eq!(
            error.message(),
            "slices 8 to 9 of 20 are missing, from −12.5 mm on"
        );
    }

    #[test]
    fn missing_slices_are_filled_if_they_are_not_too_many() {
        let whole = stack(&slices(&regular(20), 0.25), UP, Missing::Nan).unwrap();
        let lost = [7, 11, 12];
        let mut all = slices(&regular(20), 0.25);
        for n in lost.iter().rev() {
            all.remove(*n);
        }
        // At two moments, the later one first.
        let mut timed = all.clone();
        timed.extend(all.iter().cloned());
        for (i, slice) in timed.iter_mut().enumerate() {
            slice.times[1] = Some(if i < all.len() { 0.5 } else { 0.0 });
        }
        for (given, moments) in [(&all, 1), (&timed, 2)] {
            let found = stack(given, UP, Missing::Nan).unwrap();
            assert_eq!((found.positions, found.moments), (20, moments));
            for (n, slice) in found.order.iter().enumerate() {
                assert_eq!(slice.is_none(), lost.contains(&(n % 20)), "{n}");
                let level = -30.0 + 2.5 * (n % 20) as f64;
                assert!(slice.is_none_or(|s| given[s].position[2] == level), "{n}");
            }
            let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-12);
            assert!(near(found.origin, whole.origin), "{:?}", found.origin);
            assert!(near(found.step.unwrap(), whole.step.unwrap()));
            assert_eq!(
                found.notes[0].text,
                "slices 8, 12 to 13 of 20 are missing and became NaN"
            );
        }
        // One position that is far away would make a grid of nothing.
        let far = slices(&[0.0, 1.0, 2.0, 1e12], 0.0);
        let error = stack(&far, UP, Missing::Nan).unwrap_err();
        assert!(error.hints()[0].contains("too many to fill"), "{error}");
    }

    #[test]
    fn two_slices_at_one_position_are_refused_unless_time_tells_them_apart() {
        let mut levels = regular(4);
        levels.push(levels[1]);
        let error = stack(&slices(&levels, 0.0), UP, Missing::Refuse).unwrap_err();
        assert_eq!(
            error.message(),
            "2 slices are at −27.5 mm (IM0001.dcm, IM0004.dcm)"
        );
        let twice: Vec<f64> = regular(3).into_iter().chain(regular(3)).collect();
        let mut timed = slices(&twice, 0.0);
        for (i, slice) in timed.iter_mut().enumerate() {
            slice.times[1] = Some(if i < 3 { 0.5 } else { 0.0 });
        }
        let found = stack(&timed, UP, Missing::Refuse).unwrap();
        assert_eq!(found.order, [3, 4, 5, 0, 1, 2].map(Some));
        assert_eq!((found.positions, found.moments), (3, 2));
        assert_eq!(found.times, Some(vec![0.0, 0.5]));
    }

    #[test]
    fn small_deviations_are_told_and_large_ones_refused() {
        let mut levels = regular(20);
        levels[5] += 0.05;
        let found = stack(&slices(&levels, 0.0), UP, Missing::Refuse).unwrap();
        assert!(
            found.notes[0]
                .text
                .contains("beside a regular grid (step 2.5 mm)"),
            "{found:?}"
        );
        levels[5] += 0.5;
        assert!(stack(&slices(&levels, 0.0), UP, Missing::Refuse).is_err());
    }

    #[test]
    fn one_slice_has_no_step() {
        let found = stack(&slices(&[1.0], 0.0), UP, Missing::Refuse).unwrap();
        assert_eq!((found.step, found.positions), (None, 1));
    }
}
