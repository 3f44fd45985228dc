//! The numbers of a dataset, slab by slab along its slowest axis.

use hdf5_reader::{ByteOrder, Dataset, Datatype, H5Type, SliceInfo, SliceInfoElem};

use crate::formats::{ImageError, Sink};
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
pub(in crate::formats) enum Stored {
    /// Numbers that the reader of the format knows.
    Plain(SampleType),
    /// Truth values and other enumerations: the integers behind the names.
    Named(SampleType, Endian),
    /// Half precision.
    Half(Endian),
    /// Two numbers, the real and the imaginary part.
    Complex(SampleType, Endian),
}

fn endian(order: ByteOrder) -> Endian {
    match order {
        ByteOrder::LittleEndian => Endian::Little,
        ByteOrder::BigEndian => Endian::Big,
    }
}

/// The bytes of an element as they are stored.
#[derive(Clone, Copy)]
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
        let integer = |size: u8, signed: bool| {
            Some(match (size, signed) {
                (1, true) => SampleType::I8,
                (1, false) => SampleType::U8,
                (2, true) => SampleType::I16,
                (2, false) => SampleType::U16,
                (4, true) => SampleType::I32,
                (4, false) => SampleType::U32,
                (8, true) => SampleType::I64,
                (8, false) => SampleType::U64,
                _ => return None,
            })
        };
        let real = |size: u8| match size {
            4 => Some(SampleType::F32),
            8 => Some(SampleType::F64),
            _ => None,
        };
        match datatype {
            Datatype::FixedPoint { size, signed, .. } => integer(*size, *signed).map(Stored::Plain),
            Datatype::FloatingPoint {
                size: 2,
                byte_order,
            } => Some(Stored::Half(endian(*byte_order))),
            Datatype::FloatingPoint { size, .. } => real(*size).map(Stored::Plain),
            Datatype::Enum { base, .. } => match **base {
                Datatype::FixedPoint {
                    size,
                    signed,
                    byte_order,
                } => Some(Stored::Named(integer(size, signed)?, endian(byte_order))),
                _ => None,
            },
            Datatype::Compound { size, fields } => match &fields[..] {
                [re, im] if re.datatype == im.datatype && re.byte_offset == 0 => {
                    let Datatype::FloatingPoint {
                        size: of_part,
                        byte_order,
                    } = re.datatype
                    else {
                        return None;
                    };
                    let packed = im.byte_offset == u32::from(of_part);
                    let whole = packed && *size == 2 * u32::from(of_part);
                    whole.then(|| real(of_part).map(|t| Stored::Complex(t, endian(byte_order))))?
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(in crate::formats) fn sample_type(self) -> SampleType {
        match self {
            Stored::Plain(of) | Stored::Named(of, _) | Stored::Complex(of, _) => of,
            Stored::Half(_) => SampleType::F32,
        }
    }

    /// Samples per element.
    pub(in crate::formats) fn parts(self) -> usize {
        if matches!(self, Stored::Complex(..)) {
            2
        } else {
            1
        }
    }

    /// The type, for messages.
    pub(in crate::formats) fn name(self) -> String {
        match self {
            Stored::Half(_) => "half".to_string(),
            Stored::Complex(of, _) => format!("complex {of}"),
            Stored::Plain(of) | Stored::Named(of, _) => of.to_string(),
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
        let _claim = memory::claim(row.saturating_mul(step).saturating_mul(2))
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

    fn read(self, dataset: &Dataset, selection: &SliceInfo) -> Result<Samples, ImageError> {
        match self {
            Stored::Plain(of) => plain(of, dataset, selection),
            Stored::Half(endian) => {
                let bits = <u16 as Sample>::from_bytes(&raw::<2>(dataset, selection)?, endian);
                Ok(Samples::F32(bits.into_iter().map(half).collect()))
            }
            Stored::Named(of, endian) => {
                let bytes = match of.size() {
                    Some(1) => raw::<1>(dataset, selection)?,
                    Some(2) => raw::<2>(dataset, selection)?,
                    Some(4) => raw::<4>(dataset, selection)?,
                    _ => raw::<8>(dataset, selection)?,
                };
                Ok(typed(of, &bytes, endian))
            }
            Stored::Complex(of, endian) => {
                let bytes = match of {
                    SampleType::F32 => raw::<8>(dataset, selection)?,
                    _ => raw::<16>(dataset, selection)?,
                };
                Ok(typed(of, &bytes, endian))
            }
        }
    }
}

fn raw<const N: usize>(dataset: &Dataset, selection: &SliceInfo) -> Result<Vec<u8>, ImageError> {
    let elements = dataset.read_slice::<Raw<N>>(selection).map_err(fail)?;
    Ok(elements.iter().flat_map(|element| element.0).collect())
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

fn plain(of: SampleType, dataset: &Dataset, selection: &SliceInfo) -> Result<Samples, ImageError> {
    fn numbers<T: H5Type + Sample>(
        dataset: &Dataset,
        selection: &SliceInfo,
    ) -> Result<Samples, ImageError> {
        let array = dataset.read_slice_parallel::<T>(selection).map_err(fail)?;
        // A slab is contiguous; a copy is made only where the reader made it otherwise.
        let values = match array.is_standard_layout() {
            true => array.into_raw_vec_and_offset().0,
            false => array.iter().copied().collect(),
        };
        Ok(T::into_samples(values))
    }
    match of {
        SampleType::I8 => numbers::<i8>(dataset, selection),
        SampleType::U8 | SampleType::Block => numbers::<u8>(dataset, selection),
        SampleType::I16 => numbers::<i16>(dataset, selection),
        SampleType::U16 => numbers::<u16>(dataset, selection),
        SampleType::I32 => numbers::<i32>(dataset, selection),
        SampleType::U32 => numbers::<u32>(dataset, selection),
        SampleType::I64 => numbers::<i64>(dataset, selection),
        SampleType::U64 => numbers::<u64>(dataset, selection),
        SampleType::F32 => numbers::<f32>(dataset, selection),
        SampleType::F64 => numbers::<f64>(dataset, selection),
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
