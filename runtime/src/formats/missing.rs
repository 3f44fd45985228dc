//! Slices and files that are not there, and NaN in their place.

use crate::nrrd::{SampleType, Samples};

/// What becomes of slices that a series does not have, and of numbered files that there are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// The image is refused.
    #[default]
    Refuse,
    /// Their samples are NaN.
    Nan,
}

/// The least type that has NaN and all numbers of a type.
pub(super) fn type_with_nan(kind: SampleType) -> SampleType {
    match kind {
        SampleType::I8 | SampleType::U8 | SampleType::I16 | SampleType::U16 | SampleType::F32 => {
            SampleType::F32
        }
        _ => SampleType::F64,
    }
}

/// Samples that are NaN.
pub(super) fn nans(kind: SampleType, count: usize) -> Samples {
    match type_with_nan(kind) {
        SampleType::F32 => Samples::F32(vec![f32::NAN; count]),
        _ => Samples::F64(vec![f64::NAN; count]),
    }
}

/// Samples as numbers of the type that has NaN as well.
pub(super) fn beside_nans(samples: Samples, kind: SampleType) -> Samples {
    let converted = match type_with_nan(kind) {
        SampleType::F32 => samples.convert().map(Samples::F32),
        _ => samples.convert().map(Samples::F64),
    };
    converted.unwrap_or(samples)
}

/// Numbers in ascending order with their neighbours joined, for messages: `3, 5 to 8`. The first of many are enough.
pub(super) fn listed(numbers: &[u64]) -> String {
    const MOST: usize = 5;
    let runs: Vec<&[u64]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    let shown = runs.iter().take(MOST).map(|run| match run {
        [one] => one.to_string(),
        run => format!("{} to {}", run[0], run[run.len() - 1]),
    });
    let shown: Vec<String> = shown.collect();
    let more = if runs.len() > MOST { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_listed_with_their_neighbours_joined() {
        for (numbers, wanted) in [
            (&[4][..], "4"),
            (&[1, 2], "1 to 2"),
            (&[3, 5, 6, 7, 8, 12], "3, 5 to 8, 12"),
            (&[1, 3, 5, 7, 9, 11], "1, 3, 5, 7, 9, …"),
        ] {
            assert_eq!(listed(numbers), wanted);
        }
    }

    #[test]
    fn a_type_with_nan_has_all_numbers() {
        let stored = Samples::I32(vec![i32::MIN, 1, i32::MAX]);
        let Samples::F64(found) = beside_nans(stored, SampleType::I32) else {
            panic!("another type");
        };
        assert_eq!(found, [f64::from(i32::MIN), 1.0, f64::from(i32::MAX)]);
        let Samples::F32(found) = beside_nans(Samples::U16(vec![65535]), SampleType::U16) else {
            panic!("another type");
        };
        assert_eq!(found, [65535.0]);
    }
}
