//! The fields of a NIfTI header: where each version keeps them, in either byte order.

use crate::nrrd::Endian;

/// Where the fields of a version stand: byte offsets.
pub(crate) struct Layout {
    pub(crate) wide: bool,
    pub(crate) dim: usize,
    pub(crate) datatype: usize,
    pub(crate) pixdim: usize,
    pub(crate) vox_offset: usize,
    pub(crate) slope: usize,
    pub(crate) qform: usize,
    pub(crate) sform: usize,
    pub(crate) quaternion: usize,
    pub(crate) rows: usize,
    pub(crate) units: usize,
    pub(crate) first_time: usize,
    pub(crate) intent: usize,
    pub(crate) intent_parameters: usize,
    pub(crate) magic: usize,
    pub(crate) length: usize,
}

/// The first version.
#[rustfmt::skip]
pub(crate) const FIRST: Layout = Layout {
    wide: false, dim: 40, datatype: 70, pixdim: 76, vox_offset: 108, slope: 112, qform: 252, sform: 254, quaternion: 256,
    rows: 280, units: 123, first_time: 136, intent: 68, intent_parameters: 56, magic: 344, length: 348,
};

#[rustfmt::skip]
const SECOND: Layout = Layout {
    wide: true, dim: 16, datatype: 12, pixdim: 104, vox_offset: 168, slope: 176, qform: 344, sform: 348, quaternion: 352,
    rows: 400, units: 500, first_time: 216, intent: 504, intent_parameters: 80, magic: 4, length: 540,
};

/// The fields of a header.
pub(super) struct Fields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) endian: Endian,
    pub(super) layout: &'static Layout,
}

impl Fields<'_> {
    /// An integer of `N` bytes; missing bytes are 0, but the length was checked.
    pub(super) fn integer<const N: usize>(&self, at: usize) -> i64 {
        let mut wide = [0; 8];
        for (i, byte) in self.bytes.iter().skip(at).take(N).enumerate() {
            let place = match self.endian {
                Endian::Little => i,
                Endian::Big => N - 1 - i,
            };
            wide[place] = *byte;
        }
        // Shifting up and down again copies the sign.
        let unused = 64 - 8 * N;
        i64::from_le_bytes(wide) << unused >> unused
    }

    pub(super) fn real(&self, first: usize, index: usize) -> f64 {
        match self.layout.wide {
            true => f64::from_bits(self.integer::<8>(first + 8 * index) as u64),
            false => f64::from(f32::from_bits(self.integer::<4>(first + 4 * index) as u32)),
        }
    }

    pub(super) fn dim(&self, index: usize) -> i64 {
        match self.layout.wide {
            true => self.integer::<8>(self.layout.dim + 8 * index),
            false => self.integer::<2>(self.layout.dim + 2 * index),
        }
    }

    /// The codes of the units of space and time.
    pub(super) fn units(&self) -> i64 {
        match self.layout.wide {
            true => self.integer::<4>(self.layout.units),
            false => self.integer::<1>(self.layout.units),
        }
    }

    /// A code, which the second version keeps in four bytes.
    pub(super) fn code(&self, at: usize) -> i64 {
        match self.layout.wide {
            true => self.integer::<4>(at),
            false => self.integer::<2>(at),
        }
    }
}

/// The version and byte order, by the first number: the length of the header.
pub(super) fn fields(head: &[u8]) -> Result<Fields<'_>, String> {
    for layout in [&FIRST, &SECOND] {
        for endian in [Endian::Little, Endian::Big] {
            let fields = Fields {
                bytes: head,
                endian,
                layout,
            };
            if fields.integer::<4>(0) == layout.length as i64 {
                return match head.len() >= layout.length {
                    true => Ok(fields),
                    false => Err("the header is cut off".to_string()),
                };
            }
        }
    }
    Err("the header is not as long as it says".to_string())
}
