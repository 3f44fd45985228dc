//! The values of a variable: read piece by piece, unpacked, and NaN where they are missing.

use std::ops::Range;

use hdf5_reader::{Dataset, Hdf5File};
use netcdf_reader::classic::ClassicFile;
use netcdf_reader::classic::data::NcReadType;
use netcdf_reader::{NcFile, NcSliceInfo, NcSliceInfoElem, NcType, NcVariable};

use super::variables::{fail, text};
use crate::formats::boxes::contiguous;
use crate::formats::hdf5::{self, Stored};
use crate::formats::{ImageError, Sink};
use crate::memory;
use crate::nrrd::{Sample, SampleType, Samples};

/// Where samples are read from.
pub(super) enum Data {
    Classic(NcFile),
    Hdf5(Hdf5File),
}

/// The type of the samples of a variable, if they are numbers.
pub(super) fn sample_type(variable: &NcVariable) -> Option<SampleType> {
    Some(match variable.dtype() {
        NcType::Byte => SampleType::I8,
        NcType::UByte => SampleType::U8,
        NcType::Short => SampleType::I16,
        NcType::UShort => SampleType::U16,
        NcType::Int => SampleType::I32,
        NcType::UInt => SampleType::U32,
        NcType::Int64 => SampleType::I64,
        NcType::UInt64 => SampleType::U64,
        NcType::Float => SampleType::F32,
        NcType::Double => SampleType::F64,
        NcType::Char
        | NcType::String
        | NcType::Enum { .. }
        | NcType::Compound { .. }
        | NcType::Opaque { .. }
        | NcType::Array { .. }
        | NcType::VLen { .. } => return None,
    })
}

/// The value that stands for missing ones where a variable does not name one; bytes have none.
fn usual_fill(of: SampleType) -> Option<f64> {
    match of {
        SampleType::I16 => Some(-32767.0),
        SampleType::U16 => Some(65535.0),
        SampleType::I32 => Some(-2147483647.0),
        SampleType::U32 => Some(4294967295.0),
        SampleType::I64 => Some(-9223372036854775806.0),
        SampleType::U64 => Some(18446744073709551614.0),
        SampleType::F32 | SampleType::F64 => Some(9.969_209_968_386_869e36),
        SampleType::I8 | SampleType::U8 | SampleType::Block => None,
    }
}

/// How the values of a variable are read.
pub(super) struct Values {
    path: String,
    shape: Vec<u64>,
    stored: SampleType,
    /// The number to add to negative values of a type that counts as unsigned.
    wrap: Option<f64>,
    /// The stored values that mean missing ones.
    missing: Vec<f64>,
    /// A factor for stored values, and an offset that is added to the product.
    packing: Option<(f64, f64)>,
}

fn classic(file: &NcFile) -> Result<&ClassicFile, ImageError> {
    let classic = file.as_classic();
    classic.ok_or_else(|| ImageError::new("the file is not NetCDF 3"))
}

/// Bytes of a slab that is read at a time.
const SLAB: u64 = 4 << 20;

impl Values {
    pub(super) fn of(path: &str, variable: &NcVariable) -> Values {
        let stored = sample_type(variable).unwrap_or(SampleType::F32);
        let number = |name: &str| variable.attribute(name).and_then(|a| a.value.as_f64());
        let unsigned = text(variable, "_Unsigned").is_some_and(|word| word == "true");
        let wrap = match stored {
            SampleType::I8 if unsigned => Some(256.0),
            SampleType::I16 if unsigned => Some(65536.0),
            SampleType::I32 if unsigned => Some(4294967296.0),
            _ => None,
        };
        let listed = variable.attribute("missing_value");
        let mut missing = listed
            .and_then(|a| a.value.as_f64_vec())
            .unwrap_or_default();
        missing.extend(number("_FillValue").or_else(|| usual_fill(stored)));
        if stored == SampleType::F32 {
            missing.iter_mut().for_each(|x| *x = f64::from(*x as f32));
        }
        // Samples that are NaN stay as they are.
        missing.retain(|x| !x.is_nan());
        let packing = (number("scale_factor"), number("add_offset"));
        let packing = (packing.0.unwrap_or(1.0), packing.1.unwrap_or(0.0));
        Values {
            path: path.to_string(),
            shape: variable.shape(),
            stored,
            wrap,
            missing,
            packing: (packing != (1.0, 0.0)).then_some(packing),
        }
    }

    /// Gives all values to `sink`, and the number of missing ones to the caller.
    pub(super) fn pieces(&self, data: &Data, sink: &mut Sink<'_>) -> Result<u64, ImageError> {
        let mut missing = 0;
        let mut unpack = |piece: Samples| sink(self.unpacked(piece, &mut missing));
        match data {
            Data::Hdf5(file) => {
                let (dataset, stored) = self.dataset(file)?;
                stored.pieces(&dataset, &mut unpack)?;
            }
            Data::Classic(file) => {
                self.slabs(classic(file)?, &mut unpack)?;
            }
        }
        Ok(missing)
    }

    /// The dataset of a variable, and how its numbers are stored.
    fn dataset(&self, file: &Hdf5File) -> Result<(Dataset, Stored), ImageError> {
        let dataset = file.dataset(&self.path).map_err(hdf5::fail)?;
        // Records that were not written yet are missing: the variable is longer than its samples.
        let dataset = dataset.with_padded_shape(&self.shape).map_err(hdf5::fail)?;
        let stored = Stored::of(dataset.dtype()).filter(|s| s.sample_type() == self.stored);
        let stored = stored.ok_or_else(|| ImageError::new("the type is not one of numbers"))?;
        Ok((dataset, stored))
    }

    /// Samples along each axis of the boxes in which the variable is read in any order, the fastest first.
    pub(super) fn extents(&self, data: &Data) -> Option<Vec<usize>> {
        match data {
            Data::Hdf5(file) => {
                let (dataset, stored) = self.dataset(file).ok()?;
                stored.extents(&dataset)
            }
            Data::Classic(_) => {
                let size = |n: &u64| usize::try_from(*n).ok();
                let sizes: Vec<usize> = self.shape.iter().rev().map(size).collect::<Option<_>>()?;
                Some(contiguous(&sizes, self.stored.size()?))
            }
        }
    }

    /// The values of a box, whose ranges are along the axes of the variable, the fastest first, and the number of missing ones.
    pub(super) fn one(
        &self,
        data: &Data,
        place: &[Range<usize>],
    ) -> Result<(Samples, u64), ImageError> {
        let samples = match data {
            Data::Hdf5(file) => {
                let (dataset, stored) = self.dataset(file)?;
                stored.one(&dataset, place)?
            }
            Data::Classic(file) => {
                let mut selection = NcSliceInfo::all(place.len());
                for (along, range) in selection.selections.iter_mut().zip(place.iter().rev()) {
                    *along = NcSliceInfoElem::Slice {
                        start: range.start as u64,
                        end: range.end as u64,
                        step: 1,
                    };
                }
                self.read(classic(file)?, &selection)?
            }
        };
        let mut missing = 0;
        let unpacked = self.unpacked(samples, &mut missing);
        Ok((unpacked, missing))
    }

    fn slabs(&self, file: &ClassicFile, sink: &mut Sink<'_>) -> Result<(), ImageError> {
        let Some((&rows, rest)) = self.shape.split_first() else {
            return Err(ImageError::new("the variable has no dimensions"));
        };
        let size = self.stored.size().unwrap_or(8) as u64;
        let row = rest.iter().fold(size, |bytes, &n| bytes.saturating_mul(n));
        let step = (SLAB / row.max(1)).clamp(1, rows.max(1));
        let _claim = memory::claim(row.saturating_mul(step).saturating_mul(2))
            .map_err(|e| ImageError::new(format!("a part of the variable: {e}")))?;
        let mut start = 0;
        while start < rows {
            let end = (start + step).min(rows);
            let mut selection = NcSliceInfo::all(self.shape.len());
            selection.selections[0] = NcSliceInfoElem::Slice {
                start,
                end,
                step: 1,
            };
            let piece = self.read(file, &selection)?;
            if piece.len() as u64 != (end - start) * row / size {
                return Err(ImageError::new(
                    "the variable is not as long as its dimensions say",
                ));
            }
            sink(piece);
            start = end;
        }
        Ok(())
    }

    fn read(&self, file: &ClassicFile, selection: &NcSliceInfo) -> Result<Samples, ImageError> {
        fn numbers<T: NcReadType + Sample>(
            file: &ClassicFile,
            path: &str,
            selection: &NcSliceInfo,
        ) -> Result<Samples, ImageError> {
            let array = file
                .read_variable_slice::<T>(path, selection)
                .map_err(fail)?;
            let values = match array.is_standard_layout() {
                true => array.into_raw_vec_and_offset().0,
                false => array.iter().copied().collect(),
            };
            Ok(T::into_samples(values))
        }
        let path = &self.path;
        match self.stored {
            SampleType::I8 => numbers::<i8>(file, path, selection),
            SampleType::U8 | SampleType::Block => numbers::<u8>(file, path, selection),
            SampleType::I16 => numbers::<i16>(file, path, selection),
            SampleType::U16 => numbers::<u16>(file, path, selection),
            SampleType::I32 => numbers::<i32>(file, path, selection),
            SampleType::U32 => numbers::<u32>(file, path, selection),
            SampleType::I64 => numbers::<i64>(file, path, selection),
            SampleType::U64 => numbers::<u64>(file, path, selection),
            SampleType::F32 => numbers::<f32>(file, path, selection),
            SampleType::F64 => numbers::<f64>(file, path, selection),
        }
    }

    /// The values that stored samples stand for.
    fn unpacked(&self, piece: Samples, missing: &mut u64) -> Samples {
        let is_missing = |x: f64| self.missing.contains(&x);
        let plain = self.wrap.is_none() && self.packing.is_none();
        if plain && let Samples::F32(mut values) = piece {
            for x in values.iter_mut().filter(|x| is_missing(f64::from(**x))) {
                *x = f32::NAN;
                *missing += 1;
            }
            return Samples::F32(values);
        }
        let Some(mut values) = piece.convert::<f64>() else {
            return piece;
        };
        // Integers stay as they are stored unless one of them is missing.
        if plain && !values.iter().any(|&x| is_missing(x)) {
            return piece;
        }
        let (factor, offset) = self.packing.unwrap_or((1.0, 0.0));
        for x in &mut values {
            if is_missing(*x) {
                *x = f64::NAN;
                *missing += 1;
                continue;
            }
            if let Some(wrap) = self.wrap
                && *x < 0.0
            {
                *x += wrap;
            }
            *x = *x * factor + offset;
        }
        Samples::F64(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_missing_values_are_unpacked() {
        let values = Values {
            path: String::new(),
            shape: vec![4],
            stored: SampleType::I8,
            wrap: Some(256.0),
            missing: vec![-1.0],
            packing: Some((0.5, 10.0)),
        };
        let mut missing = 0;
        let found = values.unpacked(Samples::I8(vec![0, 2, -2, -1]), &mut missing);
        let Samples::F64(found) = found else {
            panic!("{found:?}");
        };
        assert_eq!(found[..3], [10.0, 11.0, 137.0]);
        assert!(found[3].is_nan());
        assert_eq!(missing, 1);
    }
}
