//! The properties of images for generated code: a table of 8-byte cells, filled when the images are loaded.

use crate::ir::leaf::ImageInfo;
use runtime::grid::TimeAxis;

/// Cells per image: 3 sizes, a 3×3 matrix, a vector of 3, and 4 about its frames.
const CELLS: usize = 19;

/// The cell that holds a property.
pub(crate) fn cell(image: u32, info: ImageInfo) -> usize {
    let within = match info {
        ImageInfo::Size(axis) => usize::from(axis),
        ImageInfo::ToIndex(row, column) => 3 + 3 * usize::from(row) + usize::from(column),
        ImageInfo::Offset(row) => 12 + usize::from(row),
        ImageInfo::Frames => 15,
        ImageInfo::Start => 16,
        ImageInfo::End => 17,
        ImageInfo::Rate => 18,
    };
    image as usize * CELLS + within
}

/// The properties of an image.
#[derive(Clone, Copy, Debug)]
pub struct ImageFacts<'a> {
    /// Samples along each axis.
    pub sizes: &'a [usize],
    /// The matrix that takes the world to the index space, row by row, and the vector that is added after it.
    pub to_index: (&'a [f64], &'a [f64]),
    /// The number of frames.
    pub frames: usize,
    /// Their times, if the image is over time.
    pub time: Option<&'a TimeAxis>,
}

/// The cells of images.
pub fn cells<'a>(images: impl Iterator<Item = ImageFacts<'a>>, double: bool) -> Vec<u64> {
    let real = |x: f64| {
        if double {
            x.to_bits()
        } else {
            u64::from((x as f32).to_bits())
        }
    };
    let mut table = Vec::new();
    for (n, image) in images.enumerate() {
        table.resize((n + 1) * CELLS, 0);
        let mut set = |info, bits| table[cell(n as u32, info)] = bits;
        let dim = image.sizes.len();
        let (matrix, offset) = image.to_index;
        for row in 0..dim {
            let axis = row as u8;
            set(ImageInfo::Size(axis), image.sizes[row] as u64);
            set(ImageInfo::Offset(axis), real(offset[row]));
            for column in 0..dim {
                let entry = matrix[row * dim + column];
                set(ImageInfo::ToIndex(axis, column as u8), real(entry));
            }
        }
        set(ImageInfo::Frames, image.frames as u64);
        if let Some(axis) = image.time {
            set(ImageInfo::Start, real(axis.start()));
            set(ImageInfo::End, real(axis.end(image.frames)));
            if let TimeAxis::Regular { step, .. } = axis {
                set(ImageInfo::Rate, real(1.0 / step));
            }
        }
    }
    table
}
