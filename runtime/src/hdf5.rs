//! The parts of HDF5 that readers of images and of meshes share: limits for damaged files, and types of numbers.

use crate::memory::most_unpacked;
use crate::nrrd::{Endian, SampleType};
use hdf5_reader::{ByteOrder, Datatype, OpenOptions};

/// Limits for a file of `length` bytes: nothing is decoded to more than its bytes can stand for, and slabs need no cache.
pub(crate) fn limits(length: u64) -> OpenOptions {
    OpenOptions::default()
        .with_chunk_cache_bytes(0)
        .with_max_chunk_bytes(most_unpacked(length))
        .with_max_read_bytes(most_unpacked(length))
        .with_max_object_header_bytes(usize::try_from(length).unwrap_or(usize::MAX))
}

pub(crate) fn endian(order: ByteOrder) -> Endian {
    match order {
        ByteOrder::LittleEndian => Endian::Little,
        ByteOrder::BigEndian => Endian::Big,
    }
}

/// The type of plain numbers; `None` for everything else, also for half precision.
pub(crate) fn number_type(datatype: &Datatype) -> Option<(SampleType, Endian)> {
    match datatype {
        Datatype::FixedPoint {
            size,
            signed,
            byte_order,
        } => {
            let kind = match (size, signed) {
                (1, true) => SampleType::I8,
                (1, false) => SampleType::U8,
                (2, true) => SampleType::I16,
                (2, false) => SampleType::U16,
                (4, true) => SampleType::I32,
                (4, false) => SampleType::U32,
                (8, true) => SampleType::I64,
                (8, false) => SampleType::U64,
                _ => return None,
            };
            Some((kind, endian(*byte_order)))
        }
        Datatype::FloatingPoint { size, byte_order } => match size {
            4 => Some((SampleType::F32, endian(*byte_order))),
            8 => Some((SampleType::F64, endian(*byte_order))),
            _ => None,
        },
        _ => None,
    }
}
