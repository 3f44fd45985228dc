//! Samples in memory, one vector per type, and their bytes in a file.

use num_traits::AsPrimitive;

use super::number::{Written, parse_real};
use super::vocabulary::{Endian, SampleType};

/// The samples of an array in file order: axis 0 fastest.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Signed 8-bit integers.
    I8(Vec<i8>),
    /// Unsigned 8-bit integers.
    U8(Vec<u8>),
    /// Signed 16-bit integers.
    I16(Vec<i16>),
    /// Unsigned 16-bit integers.
    U16(Vec<u16>),
    /// Signed 32-bit integers.
    I32(Vec<i32>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Signed 64-bit integers.
    I64(Vec<i64>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Opaque blocks of equal size.
    Block {
        /// Bytes of one block.
        size: usize,
        /// The blocks, one after the other.
        bytes: Vec<u8>,
    },
}

/// Does the same with the vector of every numeric type, and something else with blocks.
macro_rules! with_samples {
    ($samples:expr, $values:ident => $numeric:expr, ($size:pat, $bytes:pat) => $block:expr) => {
        match $samples {
            Samples::I8($values) => $numeric,
            Samples::U8($values) => $numeric,
            Samples::I16($values) => $numeric,
            Samples::U16($values) => $numeric,
            Samples::I32($values) => $numeric,
            Samples::U32($values) => $numeric,
            Samples::I64($values) => $numeric,
            Samples::U64($values) => $numeric,
            Samples::F32($values) => $numeric,
            Samples::F64($values) => $numeric,
            Samples::Block {
                size: $size,
                bytes: $bytes,
            } => $block,
        }
    };
}
pub(super) use with_samples;

/// A numeric type of NRRD samples.
pub trait Sample:
    Copy
    + PartialEq
    + AsPrimitive<i8>
    + AsPrimitive<u8>
    + AsPrimitive<i16>
    + AsPrimitive<u16>
    + AsPrimitive<i32>
    + AsPrimitive<u32>
    + AsPrimitive<i64>
    + AsPrimitive<u64>
    + AsPrimitive<i128>
    + AsPrimitive<f32>
    + AsPrimitive<f64>
    + Send
    + Sync
    + 'static
{
    /// The type as headers name it.
    const TYPE: SampleType;

    /// The samples whose bytes in a file are `bytes`; a rest shorter than one sample is dropped.
    fn from_bytes(bytes: &[u8], endian: Endian) -> Vec<Self>;

    /// Appends the bytes of `samples` in a file.
    fn append_bytes(samples: &[Self], endian: Endian, bytes: &mut Vec<u8>);

    /// The sample spelled `text`, if it is one of this type.
    fn from_text(text: &str) -> Option<Self>;

    /// The shortest text that [`Sample::from_text`] takes back.
    fn to_text(self) -> String;

    /// Samples of this type.
    fn into_samples(samples: Vec<Self>) -> Samples;

    /// The samples if they are of this type.
    fn view(samples: &Samples) -> Option<&[Self]>;
}

/// A number that every sample can be converted to, by the conversion of `as`.
pub trait FromSample: Copy + 'static {
    /// The number that a sample becomes.
    fn from_sample<S: Sample>(sample: S) -> Self;
}

macro_rules! from_sample {
    ($($type:ty)*) => {
        $(impl FromSample for $type {
            fn from_sample<S: Sample>(sample: S) -> Self {
                AsPrimitive::<$type>::as_(sample)
            }
        })*
    };
}

from_sample!(i8 u8 i16 u16 i32 u32 i64 u64 i128 f32 f64);

macro_rules! sample_type {
    ($type:ty, $variant:ident, $from_text:expr) => {
        impl Sample for $type {
            const TYPE: SampleType = SampleType::$variant;

            fn from_bytes(bytes: &[u8], endian: Endian) -> Vec<Self> {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                match endian {
                    Endian::Little => chunks.iter().map(|c| <$type>::from_le_bytes(*c)).collect(),
                    Endian::Big => chunks.iter().map(|c| <$type>::from_be_bytes(*c)).collect(),
                }
            }

            fn append_bytes(samples: &[Self], endian: Endian, bytes: &mut Vec<u8>) {
                bytes.reserve(size_of_val(samples));
                for sample in samples {
                    bytes.extend(match endian {
                        Endian::Little => sample.to_le_bytes(),
                        Endian::Big => sample.to_be_bytes(),
                    });
                }
            }

            fn from_text(text: &str) -> Option<Self> {
                $from_text(text)
            }

            fn to_text(self) -> String {
                Written(self).to_string()
            }

            fn into_samples(samples: Vec<Self>) -> Samples {
                Samples::$variant(samples)
            }

            fn view(samples: &Samples) -> Option<&[Self]> {
                match samples {
                    Samples::$variant(samples) => Some(samples),
                    _ => None,
                }
            }
        }
    };
}

sample_type!(i8, I8, parse_plain);
sample_type!(u8, U8, parse_plain);
sample_type!(i16, I16, parse_plain);
sample_type!(u16, U16, parse_plain);
sample_type!(i32, I32, parse_plain);
sample_type!(u32, U32, parse_plain);
sample_type!(i64, I64, parse_plain);
sample_type!(u64, U64, parse_plain);
// Single precision is read as such: rounding twice, by way of double precision, can miss the nearest number.
sample_type!(f32, F32, |text: &str| parse_plain(text)
    .or_else(|| parse_real(text).map(|x| x as f32)));
sample_type!(f64, F64, parse_real);

fn parse_plain<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

impl Samples {
    /// An empty array of the given type with room for `room` samples; `None` if there is no memory for them.
    pub(super) fn with_room(
        sample_type: SampleType,
        block_size: Option<usize>,
        room: usize,
    ) -> Option<Samples> {
        fn typed<T: Sample>(room: usize) -> Option<Samples> {
            reserved(room).map(T::into_samples)
        }
        match sample_type {
            SampleType::I8 => typed::<i8>(room),
            SampleType::U8 => typed::<u8>(room),
            SampleType::I16 => typed::<i16>(room),
            SampleType::U16 => typed::<u16>(room),
            SampleType::I32 => typed::<i32>(room),
            SampleType::U32 => typed::<u32>(room),
            SampleType::I64 => typed::<i64>(room),
            SampleType::U64 => typed::<u64>(room),
            SampleType::F32 => typed::<f32>(room),
            SampleType::F64 => typed::<f64>(room),
            SampleType::Block => {
                let size = block_size.unwrap_or(1);
                let bytes = reserved(room.checked_mul(size)?)?;
                Some(Samples::Block { size, bytes })
            }
        }
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        with_samples!(self, values => values.len(), (size, bytes) => bytes.len() / (*size).max(1))
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the samples.
    pub fn sample_type(&self) -> SampleType {
        fn type_of<T: Sample>(_: &[T]) -> SampleType {
            T::TYPE
        }
        with_samples!(self, values => type_of(values), (_, _) => SampleType::Block)
    }

    /// Every sample as a number of another type, by the conversion of `as`; `None` for blocks.
    pub fn convert<T: FromSample>(&self) -> Option<Vec<T>> {
        self.convert_range(0..self.len())
    }

    /// Some of the samples as numbers of another type; those that there are not are left out.
    pub fn convert_range<T: FromSample>(&self, range: std::ops::Range<usize>) -> Option<Vec<T>> {
        let end = range.end.min(self.len());
        let range = range.start.min(end)..end;
        with_samples!(self, values => Some(values[range].iter().map(|v| T::from_sample(*v)).collect()), (_, _) => None)
    }

    /// Appends samples of the same type, growing no further than to `expected` samples in all; `None` if there is no
    /// memory for them.
    pub(super) fn append(&mut self, more: Samples, expected: usize) -> Option<()> {
        macro_rules! append {
            ($($variant:ident),*) => {
                match (self, more) {
                    $((Samples::$variant(all), Samples::$variant(more)) => grow(all, &more, expected),)*
                    (Samples::Block { size, bytes }, Samples::Block { bytes: more, .. }) => {
                        grow(bytes, &more, expected.saturating_mul(*size))
                    }
                    // A stream decodes to samples of one type.
                    _ => Some(()),
                }
            };
        }
        append!(I8, U8, I16, U16, I32, U32, I64, U64, F32, F64)
    }
}

fn reserved<T>(room: usize) -> Option<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(room).ok()?;
    Some(values)
}

/// Appends. The capacity doubles, but never exceeds `expected`, so memory grows with the data that were read and not with the
/// sizes that a header claims.
fn grow<T: Copy>(all: &mut Vec<T>, more: &[T], expected: usize) -> Option<()> {
    let needed = all.len() + more.len();
    if needed > all.capacity() {
        let room = (2 * all.len()).clamp(needed, expected.max(needed));
        all.try_reserve_exact(room - all.len()).ok()?;
    }
    all.extend_from_slice(more);
    Some(())
}
