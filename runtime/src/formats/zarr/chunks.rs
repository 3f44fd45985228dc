//! The samples of an array, a row of chunks at a time. A chunk that is not there has the fill value.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::metadata::{Array, Codecs, Serial};
use crate::formats::hdf5::{half, typed};
use crate::formats::{ImageError, Sink};
use crate::memory;
use crate::nrrd::{Endian, Sample, Samples};

/// An element of an array: its bytes, those of one number of it, and the bytes of one that is missing.
#[derive(Clone, Copy)]
struct Cell<'a> {
    size: usize,
    number: usize,
    fill: &'a [u8],
}

impl Cell<'_> {
    fn of(array: &Array) -> Cell<'_> {
        let size = array.element.size();
        Cell {
            size,
            number: size / array.element.parts.max(1),
            fill: &array.fill,
        }
    }

    /// Bytes of missing elements.
    fn fill(self, room: &mut Vec<u8>, bytes: usize) {
        room.clear();
        match self.fill.iter().all(|byte| *byte == 0) {
            true => room.resize(bytes, 0),
            false => room.extend(self.fill.iter().cycle().take(bytes)),
        }
    }
}

/// The product of sizes, if it can be addressed.
fn product(sizes: &[u64], size: usize) -> Option<usize> {
    let bytes = sizes
        .iter()
        .try_fold(size as u64, |n, &m| n.checked_mul(m))?;
    usize::try_from(bytes)
        .ok()
        .filter(|n| *n <= isize::MAX as usize)
}

fn large() -> String {
    "a chunk is too large for the address space".to_string()
}

/// Gives all samples of the array in a directory to `sink`.
pub(super) fn pieces(array: &Array, path: &Path, sink: &mut Sink<'_>) -> Result<(), ImageError> {
    let fail = |message: String| ImageError::new(message);
    let cell = Cell::of(array);
    let size = cell.size;
    let (rows, step) = (array.shape[0], array.chunk[0]);
    let mut slab_shape = array.shape.clone();
    slab_shape[0] = step.min(rows);
    let slab_bytes = product(&slab_shape, size).ok_or_else(|| fail(large()))?;
    let chunk_bytes = product(&array.chunk, size).ok_or_else(|| fail(large()))?;
    // The row of chunks and its samples, and a chunk before and after its axes are in order.
    let wanted = (slab_bytes as u64)
        .saturating_mul(3)
        .saturating_add((chunk_bytes as u64).saturating_mul(3));
    let _claim = memory::claim(wanted).map_err(|e| fail(format!("a row of chunks: {e}")))?;
    let grid: Vec<u64> = array
        .shape
        .iter()
        .zip(&array.chunk)
        .map(|(n, c)| n.div_ceil(*c))
        .collect();
    let per_row = grid[1..].iter().try_fold(1_u64, |n, &m| n.checked_mul(m));
    let per_row = per_row.ok_or_else(|| fail(large()))?;
    let mut slab = Vec::new();
    for row in 0..grid[0] {
        slab_shape[0] = step.min(rows - row * step);
        let bytes = product(&slab_shape, size).ok_or_else(|| fail(large()))?;
        cell.fill(&mut slab, bytes);
        for number in 0..per_row {
            let mut index = vec![row; grid.len()];
            let mut rest = number;
            for axis in (1..grid.len()).rev() {
                (index[axis], rest) = (rest % grid[axis], rest / grid[axis]);
            }
            let file = key(array, path, &index);
            let Some(chunk) = read(&file).map_err(|e| fail(e).in_file(&file))? else {
                continue;
            };
            let decoded = decode(&array.codecs, chunk, &array.chunk, cell);
            let decoded = decoded.map_err(|e| fail(e).in_file(&file))?;
            let mut start: Vec<u64> = index.iter().zip(&array.chunk).map(|(i, c)| i * c).collect();
            start[0] = 0;
            copy(&decoded, &array.chunk, &mut slab, &slab_shape, &start, size);
        }
        sink(samples(array, &slab));
    }
    Ok(())
}

/// The samples of the chunk that begins at an element, cut off to a shape.
pub(super) fn one(
    array: &Array,
    path: &Path,
    from: &[u64],
    shape: &[u64],
) -> Result<Samples, ImageError> {
    let fail = |message: String| ImageError::new(message);
    let cell = Cell::of(array);
    let bytes = product(shape, cell.size).ok_or_else(|| fail(large()))?;
    let mut elements = Vec::new();
    cell.fill(&mut elements, bytes);
    let index: Vec<u64> = from.iter().zip(&array.chunk).map(|(i, c)| i / c).collect();
    let file = key(array, path, &index);
    if let Some(chunk) = read(&file).map_err(|e| fail(e).in_file(&file))? {
        let decoded = decode(&array.codecs, chunk, &array.chunk, cell);
        let decoded = decoded.map_err(|e| fail(e).in_file(&file))?;
        let start = vec![0; shape.len()];
        copy(
            &decoded,
            &array.chunk,
            &mut elements,
            shape,
            &start,
            cell.size,
        );
    }
    Ok(samples(array, &elements))
}

fn samples(array: &Array, bytes: &[u8]) -> Samples {
    match array.element.is_half {
        true => {
            let bits = <u16 as Sample>::from_bytes(bytes, Endian::Little);
            Samples::F32(bits.into_iter().map(half).collect())
        }
        false => typed(array.element.of, bytes, Endian::Little),
    }
}

/// The file of a chunk.
fn key(array: &Array, path: &Path, index: &[u64]) -> PathBuf {
    let numbers: Vec<String> = index.iter().map(u64::to_string).collect();
    let separator = array.separator.to_string();
    let name = match array.prefix {
        "" => numbers.join(&separator),
        prefix => format!("{prefix}{separator}{}", numbers.join(&separator)),
    };
    path.join(name)
}

/// All bytes of a chunk's file; `None` if there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound) => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    let metadata = file.metadata().map_err(|e| e.to_string())?;
    if !metadata.is_file() {
        return Err("a chunk is not a regular file".to_string());
    }
    let _claim = memory::claim(metadata.len()).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(metadata.len()).read_to_end(&mut bytes);
    read.map(|_| Some(bytes)).map_err(|e| e.to_string())
}

/// The elements of a chunk of a shape, the last axis fastest, the lowest byte of each number first.
fn decode(
    codecs: &Codecs,
    bytes: Vec<u8>,
    shape: &[u64],
    cell: Cell<'_>,
) -> Result<Vec<u8>, String> {
    let stored = codecs
        .transposes
        .iter()
        .fold(shape.to_vec(), |shape, order| {
            order.iter().map(|&axis| shape[axis]).collect()
        });
    let expected = product(&stored, cell.size).ok_or_else(large)?;
    // Sums and the index of shards are beside the elements.
    let most = match &codecs.serial {
        Serial::Plain(_) => expected.saturating_add(64),
        Serial::Shards { .. } => expected.saturating_mul(2).saturating_add(1 << 20),
    };
    let mut bytes = bytes;
    for packing in codecs.packings.iter().rev() {
        bytes = packing.unpack(&bytes, most)?;
    }
    let mut elements = match &codecs.serial {
        Serial::Plain(endian) => {
            if bytes.len() != expected {
                return Err(format!(
                    "a chunk has {} bytes, expected {expected}",
                    bytes.len()
                ));
            }
            if *endian == Endian::Big {
                let numbers = bytes.chunks_exact_mut(cell.number.max(1));
                numbers.for_each(<[u8]>::reverse);
            }
            bytes
        }
        Serial::Shards { .. } => shards(codecs, &bytes, &stored, cell)?,
    };
    let mut shapes = vec![shape.to_vec()];
    for order in &codecs.transposes {
        let last = &shapes[shapes.len() - 1];
        shapes.push(order.iter().map(|&axis| last[axis]).collect());
    }
    for (at, order) in codecs.transposes.iter().enumerate().rev() {
        elements = in_order(&elements, &shapes[at], order, cell.size);
    }
    Ok(elements)
}

/// Elements of an array of a shape, whose axes were stored in another order.
fn in_order(bytes: &[u8], shape: &[u64], order: &[usize], size: usize) -> Vec<u8> {
    // The distance from one element to the next along each axis of the shape, as it is stored.
    let mut strides = vec![0_usize; shape.len()];
    let mut stride = size;
    for &axis in order.iter().rev() {
        strides[axis] = stride;
        stride *= shape[axis] as usize;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0_u64; shape.len()];
    for _ in 0..bytes.len() / size.max(1) {
        let at: usize = index
            .iter()
            .zip(&strides)
            .map(|(&i, s)| i as usize * s)
            .sum();
        out.extend_from_slice(&bytes[at..at + size]);
        advance(&mut index, shape);
    }
    out
}

/// The next index, the last axis fastest.
fn advance(index: &mut [u64], shape: &[u64]) {
    for (i, n) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < *n {
            return;
        }
        *i = 0;
    }
}

/// The elements of a shard: smaller chunks, with an index of where each is and how long.
fn shards(codecs: &Codecs, bytes: &[u8], shape: &[u64], cell: Cell<'_>) -> Result<Vec<u8>, String> {
    let Serial::Shards {
        shape: inner_shape,
        inner,
        index,
        index_first,
    } = &codecs.serial
    else {
        return Err("a chunk has no shards".to_string());
    };
    let damaged = || "the index of a shard is damaged".to_string();
    let grid: Vec<u64> = shape
        .iter()
        .zip(inner_shape)
        .map(|(n, c)| n.div_ceil(*c))
        .collect();
    let count = product(&grid, 1).ok_or_else(large)?;
    let sums = 4 * index.packings.len();
    let length = count.checked_mul(16).and_then(|n| n.checked_add(sums));
    let length = length.filter(|n| *n <= bytes.len()).ok_or_else(damaged)?;
    let table = match index_first {
        true => &bytes[..length],
        false => &bytes[bytes.len() - length..],
    };
    let number = Cell {
        size: 8,
        number: 8,
        fill: &[0; 8],
    };
    let table = decode(index, table.to_vec(), &[2 * count as u64], number)?;
    let table = u64::from_bytes(&table, Endian::Little);
    let total = product(shape, cell.size).ok_or_else(large)?;
    let mut out: Vec<u8> = cell.fill.iter().copied().cycle().take(total).collect();
    let mut at = vec![0_u64; grid.len()];
    for place in table.chunks_exact(2) {
        if place != [u64::MAX; 2] {
            let start = usize::try_from(place[0]).map_err(|_| damaged())?;
            let end = usize::try_from(place[1])
                .ok()
                .and_then(|n| start.checked_add(n));
            let piece = end
                .and_then(|end| bytes.get(start..end))
                .ok_or_else(damaged)?;
            let piece = decode(inner, piece.to_vec(), inner_shape, cell)?;
            let start: Vec<u64> = at.iter().zip(inner_shape).map(|(i, c)| i * c).collect();
            copy(&piece, inner_shape, &mut out, shape, &start, cell.size);
        }
        advance(&mut at, &grid);
    }
    Ok(out)
}

/// Copies the part of a chunk that is within an array to its place there.
fn copy(
    chunk: &[u8],
    chunk_shape: &[u64],
    out: &mut [u8],
    shape: &[u64],
    start: &[u64],
    size: usize,
) {
    let axes = shape.len();
    let inside: Vec<u64> = (0..axes)
        .map(|a| chunk_shape[a].min(shape[a].saturating_sub(start[a])))
        .collect();
    if inside.contains(&0) {
        return;
    }
    let run = inside[axes - 1] as usize * size;
    let rows: u64 = inside[..axes - 1].iter().product();
    let mut index = vec![0_u64; axes - 1];
    for _ in 0..rows {
        let (mut from, mut to) = (0_u64, 0_u64);
        for axis in 0..axes {
            let i = index.get(axis).copied().unwrap_or(0);
            from = from * chunk_shape[axis] + i;
            to = to * shape[axis] + start[axis] + i;
        }
        let (from, to) = (from as usize * size, to as usize * size);
        out[to..to + run].copy_from_slice(&chunk[from..from + run]);
        advance(&mut index, &inside[..axes - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_cut_at_the_edge() {
        let mut out = vec![0; 6];
        copy(&[1, 2, 3, 4], &[2, 2], &mut out, &[2, 3], &[0, 2], 1);
        assert_eq!(out, [0, 0, 1, 0, 0, 3]);
    }

    #[test]
    fn axes_are_put_in_order() {
        // Two rows of three, stored column by column.
        assert_eq!(
            in_order(&[1, 4, 2, 5, 3, 6], &[2, 3], &[1, 0], 1),
            [1, 2, 3, 4, 5, 6]
        );
        let pairs = in_order(&[1, 1, 3, 3, 2, 2, 4, 4], &[2, 2], &[1, 0], 2);
        assert_eq!(pairs, [1, 1, 2, 2, 3, 3, 4, 4]);
    }
}
