//! The properties of images for generated code: a table of 8-byte cells, filled when the images are loaded.

use crate::ir::leaf::ImageInfo;

/// Cells per image: 3 sizes, a 3×3 matrix, a vector of 3.
const CELLS: usize = 15;

/// The cell that holds a property.
pub(crate) fn cell(image: u32, info: ImageInfo) -> usize {
    let within = match info {
        ImageInfo::Size(axis) => usize::from(axis),
        ImageInfo::ToIndex(row, column) => 3 + 3 * usize::from(row) + usize::from(column),
        ImageInfo::Offset(row) => 12 + usize::from(row),
    };
    image as usize * CELLS + within
}

/// The cells of images given by sizes, world-to-index matrix (row-major) and offset.
pub fn cells<'a>(
    images: impl Iterator<Item = (&'a [usize], &'a [f64], &'a [f64])>,
    double: bool,
) -> Vec<u64> {
    let real = |x: f64| {
        if double {
            x.to_bits()
        } else {
            u64::from((x as f32).to_bits())
        }
    };
    let mut table = Vec::new();
    for (n, (sizes, to_index, offset)) in images.enumerate() {
        table.resize((n + 1) * CELLS, 0);
        let dim = sizes.len();
        for row in 0..dim {
            let axis = row as u8;
            table[cell(n as u32, ImageInfo::Size(axis))] = sizes[row] as u64;
            table[cell(n as u32, ImageInfo::Offset(axis))] = real(offset[row]);
            for column in 0..dim {
                table[cell(n as u32, ImageInfo::ToIndex(axis, column as u8))] =
                    real(to_index[row * dim + column]);
            }
        }
    }
    table
}
