//! The numbers of a dataset, slab by slab along its slowest axis.

use std::ops::Range;

use hdf5_reader::{Dataset, Datatype, H5Type, SliceInfo, SliceInfoElem};

use crate::formats::boxes::contiguous;
use crate::formats::{ImageError, Sink};
use crate::hdf5::{endian, number_type};
use crate::memory;
use crate::nrrd::{Endian, Sample, SampleType, Samples};

/// An error of the reader of the format.
pub(in crate::formats) fn fail(error: hdf5_reader::error::Error) -> ImageError {
    let message = error.to_string();
    ImageError::new(match message.contains("unsupported layout class 3") {
        true => "virtual datasets are not read".to_string(),
        false => message,
    })
}

/// How the numbers of a dataset are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) struct Stored {
    of: SampleType,
    endian: Endian,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    /// Half precision, which becomes single precision.
    Half,
    /// Two numbers, the real and the imaginary part.
    Complex,
}

/// The bytes of an element as they are stored. One type for all numbers of a size keeps the program small.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Raw<const N: usize>([u8; N]);

impl<const N: usize> H5Type for Raw<N> {
    fn hdf5_type() -> Datatype {
        Datatype::Opaque {
            size: N as u32,
            tag: String::new(),
        }
    }

    fn from_bytes(bytes: &[u8], _: &Datatype) -> hdf5_reader::error::Result<Self> {
        let element = bytes.first_chunk::<N>().copied().map(Raw);
        let short = || hdf5_reader::error::Error::InvalidData("an element is cut off".to_string());
        element.ok_or_else(short)
    }

    fn element_size(_: &Datatype) -> usize {
        N
    }

    /// Any bytes are a value, if an element has this many.
    fn native_copy_compatible(datatype: &Datatype) -> bool {
        let size = match datatype {
            Datatype::FixedPoint { size, .. } | Datatype::FloatingPoint { size, .. } => *size,
            _ => return false,
        };
        usize::from(size) == N
    }
}

/// The number in half precision with these bits.
pub(in crate::formats) fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}

/// Bytes of a slab that is read at a time, where chunks do not ask for more.
const SLAB: u64 = 4 << 20;

impl Stored {
    /// How a type is stored; `None` if it is not one of numbers.
    pub(in crate::formats) fn of(datatype: &Datatype) -> Option<Stored> {
        let plain = |datatype: &Datatype, form: Form| {
            let (of, endian) = number_type(datatype)?;
            Some(Stored { of, endian, form })
        };
        match datatype {
            Datatype::FloatingPoint {
                size: 2,
                byte_order,
            } => Some(Stored {
                of: SampleType::F32,
                endian: endian(*byte_order),
                form: Form::Half,
            }),
            // Truth values and the like: the integers behind the names.
            Datatype::Enum { base, .. } => plain(base, Form::Plain),
            Datatype::Compound { size, fields } => match &fields[..] {
                [re, im] if re.datatype == im.datatype && re.byte_offset == 0 => {
                    let Datatype::FloatingPoint { size: part, .. } = re.datatype else {
                        return None;
                    };
                    let is_packed = im.byte_offset == u32::from(part);
                    let is_whole = is_packed && *size == 2 * u32::from(part);
                    plain(&re.datatype, Form::Complex).filter(|_| is_whole)
                }
                _ => None,
            },
            other => plain(other, Form::Plain),
        }
    }

    pub(in crate::formats) fn sample_type(self) -> SampleType {
        self.of
    }

    /// Samples per element.
    pub(in crate::formats) fn parts(self) -> usize {
        if self.form == Form::Complex { 2 } else { 1 }
    }

    /// The type, for messages.
    pub(in crate::formats) fn name(self) -> String {
        match self.form {
            Form::Plain => self.of.to_string(),
            Form::Half => "half".to_string(),
            Form::Complex => format!("complex {}", self.of),
        }
    }

    /// Gives all samples of a dataset to `sink`. A slab goes over whole chunks, so that each is decoded once.
    pub(in crate::formats) fn pieces(
        self,
        dataset: &Dataset,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImageError> {
        let shape = dataset.shape().to_vec();
        let Some((&rows, rest)) = shape.split_first() else {
            return Err(ImageError::new("the array has no axes"));
        };
        let size = self.sample_type().size().unwrap_or(8) * self.parts();
        let row = rest
            .iter()
            .fold(size as u64, |bytes, &n| bytes.saturating_mul(n));
        let chunk = dataset.chunks().and_then(|chunks| chunks.first().copied());
        let chunk = u64::from(chunk.unwrap_or(1)).max(1);
        // As many rows of chunks as fit, and at least one.
        let step = (SLAB / row.max(1) / chunk)
            .max(1)
            .saturating_mul(chunk)
            .min(rows);
        let _claim = memory::claim(row.saturating_mul(step).saturating_mul(3))
            .map_err(|e| ImageError::new(format!("a part of the array: {e}")))?;
        let mut start = 0;
        while start < rows {
            let end = start.saturating_add(step).min(rows);
            let mut selection = SliceInfo::all(shape.len());
            selection.selections[0] = SliceInfoElem::Slice {
                start,
                end,
                step: 1,
            };
            let piece = self.read(dataset, &selection)?;
            let expected = (end - start).saturating_mul(row) / (size as u64).max(1);
            if piece.len() as u64 != expected.saturating_mul(self.parts() as u64) {
                return Err(ImageError::new("the array is not as long as its sizes say"));
            }
            sink(piece);
            start = end;
        }
        Ok(())
    }

    /// Samples along each axis of the boxes in which a dataset is read in any order, the fastest first: whole chunks.
    pub(in crate::formats) fn extents(self, dataset: &Dataset) -> Option<Vec<usize>> {
        let size = |n: &u64| usize::try_from(*n).ok();
        let sizes: Vec<usize> = dataset
            .shape()
            .iter()
            .rev()
            .map(size)
            .collect::<Option<_>>()?;
        let mut extents = match dataset.chunks() {
            Some(chunks) => chunks.iter().rev().map(|&n| n.max(1) as usize).collect(),
            None => contiguous(&sizes, self.of.size().unwrap_or(8) * self.parts()),
        };
        if extents.len() != sizes.len() {
            return None;
        }
        if self.parts() > 1 {
            extents.insert(0, self.parts());
        }
        Some(extents)
    }

    /// The samples of a box, whose ranges are along the axes of the dataset, the fastest first.
    pub(in crate::formats) fn one(
        self,
        dataset: &Dataset,
        place: &[Range<usize>],
    ) -> Result<Samples, ImageError> {
        let mut selection = SliceInfo::all(place.len());
        for (along, range) in selection.selections.iter_mut().zip(place.iter().rev()) {
            *along = SliceInfoElem::Slice {
                start: range.start as u64,
                end: range.end as u64,
                step: 1,
            };
        }
        let samples = self.read(dataset, &selection)?;
        let count: usize = place.iter().map(|range| range.len()).product();
        match samples.len() == count * self.parts() {
            true => Ok(samples),
            false => Err(ImageError::new("the array is not as long as its sizes say")),
        }
    }

    fn read(self, dataset: &Dataset, selection: &SliceInfo) -> Result<Samples, ImageError> {
        let Stored { of, endian, form } = self;
        macro_rules! numbers {
            ($variant:ident, $type:ty) => {{
                let raw = raw::<{ size_of::<$type>() }>(dataset, selection)?;
                let number = |raw: &Raw<{ size_of::<$type>() }>| match endian {
                    Endian::Little => <$type>::from_le_bytes(raw.0),
                    Endian::Big => <$type>::from_be_bytes(raw.0),
                };
                Samples::$variant(raw.iter().map(number).collect())
            }};
        }
        Ok(match (form, of) {
            (Form::Half, _) => {
                let raw = raw::<2>(dataset, selection)?;
                let bits = raw.iter().map(|raw| match endian {
                    Endian::Little => u16::from_le_bytes(raw.0),
                    Endian::Big => u16::from_be_bytes(raw.0),
                });
                Samples::F32(bits.map(half).collect())
            }
            (Form::Complex, SampleType::F32) => {
                let bytes: Vec<u8> = raw::<8>(dataset, selection)?
                    .iter()
                    .flat_map(|raw| raw.0)
                    .collect();
                typed(of, &bytes, endian)
            }
            (Form::Complex, _) => {
                let bytes: Vec<u8> = raw::<16>(dataset, selection)?
                    .iter()
                    .flat_map(|raw| raw.0)
                    .collect();
                typed(of, &bytes, endian)
            }
            (Form::Plain, SampleType::I8) => numbers!(I8, i8),
            (Form::Plain, SampleType::U8 | SampleType::Block) => numbers!(U8, u8),
            (Form::Plain, SampleType::I16) => numbers!(I16, i16),
            (Form::Plain, SampleType::U16) => numbers!(U16, u16),
            (Form::Plain, SampleType::I32) => numbers!(I32, i32),
            (Form::Plain, SampleType::U32) => numbers!(U32, u32),
            (Form::Plain, SampleType::I64) => numbers!(I64, i64),
            (Form::Plain, SampleType::U64) => numbers!(U64, u64),
            (Form::Plain, SampleType::F32) => numbers!(F32, f32),
            (Form::Plain, SampleType::F64) => numbers!(F64, f64),
        })
    }
}

/// The bytes of a slab, element by element.
fn raw<const N: usize>(
    dataset: &Dataset,
    selection: &SliceInfo,
) -> Result<Vec<Raw<N>>, ImageError> {
    let array = dataset
        .read_slice_parallel::<Raw<N>>(selection)
        .map_err(fail)?;
    // A slab is contiguous; a copy is made only where the reader made it otherwise.
    Ok(match array.is_standard_layout() {
        true => array.into_raw_vec_and_offset().0,
        false => array.iter().copied().collect(),
    })
}

/// Bytes as samples of a type.
pub(in crate::formats) fn typed(of: SampleType, bytes: &[u8], endian: Endian) -> Samples {
    fn samples<T: Sample>(bytes: &[u8], endian: Endian) -> Samples {
        T::into_samples(T::from_bytes(bytes, endian))
    }
    match of {
        SampleType::I8 => samples::<i8>(bytes, endian),
        SampleType::U8 | SampleType::Block => samples::<u8>(bytes, endian),
        SampleType::I16 => samples::<i16>(bytes, endian),
        SampleType::U16 => samples::<u16>(bytes, endian),
        SampleType::I32 => samples::<i32>(bytes, endian),
        SampleType::U32 => samples::<u32>(bytes, endian),
        SampleType::I64 => samples::<i64>(bytes, endian),
        SampleType::U64 => samples::<u64>(bytes, endian),
        SampleType::F32 => samples::<f32>(bytes, endian),
        SampleType::F64 => samples::<f64>(bytes, endian),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_exact() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
