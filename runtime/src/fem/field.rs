//! Values on a mesh: the polynomials of one array of a file.

use super::element::MAX_NODES;
use super::file::{ArrayPlace, FemArray, FemFile};
use super::locate::prefetch;
use super::number::Number;
use super::polynomial::Space;
use super::{Block, FemError, Mesh, mutants};
use crate::grid::TimeAxis;
use crate::memory::{self, Claim};
use rayon::prelude::*;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Which array of a file a program asks for.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The name that the program or the user gives.
    pub array: Option<&'a str>,
    /// The name of the variable: an array of that name is taken if none is given.
    pub variable: &'a str,
    /// The shape of a value.
    pub shape: &'a [usize],
}

/// Values on a mesh, as coefficients by frame, then cell, component and monomial.
#[derive(Debug)]
pub struct FemValues {
    pub(super) components: usize,
    pub(super) coefficients: Vec<f64>,
    pub(super) frames: usize,
    /// From the coefficients of one frame to those of the next.
    pub(super) frame_stride: usize,
    /// The times of the frames, if the values are over time.
    pub(super) times: Option<TimeAxis>,
    /// Where the coefficients of each block of the mesh begin.
    pub(super) starts: Vec<usize>,
    /// The polynomials of values that belong to cells as a whole.
    pub(super) constant: Option<Space>,
    jumps: bool,
    _claim: Claim,
}

impl Choice<'_> {
    /// The array that is meant.
    ///
    /// # Errors
    /// There is none, or several, or it does not have the components.
    pub fn find<'f>(&self, file: &'f FemFile) -> Result<&'f FemArray, FemError> {
        if let Some(name) = self.array {
            let array = file.array(name)?;
            self.components(array)?;
            return Ok(array);
        }
        if let Ok(array) = file.array(self.variable)
            && self.components(array).is_ok()
        {
            return Ok(array);
        }
        let mut fitting = file
            .arrays
            .iter()
            .filter(|array| self.components(array).is_ok());
        match (fitting.next(), fitting.next()) {
            (Some(array), None) => Ok(array),
            (None, _) => Err(FemError::new(format!(
                "no array has {} components, as a value of shape {:?} has; {}",
                self.size(),
                self.shape,
                file.list_of_arrays()
            ))),
            _ => Err(
                FemError::new(format!("several arrays fit; {}", file.list_of_arrays())).hint(
                    format!(
                        "name one: `FILE#{}`, or the second argument of `load_fem`",
                        file.arrays[0].name
                    ),
                ),
            ),
        }
    }

    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// The component of the array for each component of a value.
    ///
    /// # Errors
    /// They do not fit.
    pub fn components(&self, array: &FemArray) -> Result<Vec<usize>, FemError> {
        let zero = |rest: &[usize]| {
            let tuples = array.values.chunks_exact(array.components);
            tuples
                .flat_map(|t| rest.iter().map(|&c| t[c]))
                .all(|x| x == 0.0)
        };
        match (self.shape, array.components) {
            (_, n) if n == self.size() => Ok((0..n).collect()),
            ([2], 3) if zero(&[2]) => Ok(vec![0, 1]),
            ([2, 2], 9) if zero(&[2, 5, 6, 7, 8]) => Ok(vec![0, 1, 3, 4]),
            // Symmetric: xx yy zz xy yz xz.
            ([3, 3], 6) => Ok(vec![0, 3, 5, 3, 1, 4, 5, 4, 2]),
            ([2, 2], 6) if zero(&[2, 4, 5]) => Ok(vec![0, 3, 3, 1]),
            (shape, n) => {
                let of = |n: usize| {
                    if n == 1 {
                        "1 component".into()
                    } else {
                        format!("{n} components")
                    }
                };
                Err(FemError::new(format!(
                    "array `{}` has {}, but a value of shape {shape:?} has {}",
                    array.name,
                    of(n),
                    of(self.size())
                )))
            }
        }
    }
}

impl FemValues {
    /// The values of an array on the mesh of its file.
    ///
    /// # Errors
    /// The components do not fit, or a value is not finite.
    pub fn new(mesh: &Mesh, file: &FemFile, choice: &Choice<'_>) -> Result<FemValues, FemError> {
        FemValues::with_frames(mesh, file, choice, (1, None))
    }

    /// The values of an array over time. Those of the first frame are taken from its file; [`FemValues::set_frame`] takes the others.
    ///
    /// # Errors
    /// As for [`FemValues::new`].
    pub fn over_time(
        mesh: &Mesh,
        first: &FemFile,
        choice: &Choice<'_>,
        (frames, times): (usize, &TimeAxis),
    ) -> Result<FemValues, FemError> {
        FemValues::with_frames(mesh, first, choice, (frames, Some(times.clone())))
    }

    fn with_frames(
        mesh: &Mesh,
        file: &FemFile,
        choice: &Choice<'_>,
        (frames, times): (usize, Option<TimeAxis>),
    ) -> Result<FemValues, FemError> {
        let array = choice.find(file)?;
        let picks = choice.components(array)?;
        let by_cell = array.place == ArrayPlace::Cells;
        let mut values = FemValues {
            components: picks.len(),
            coefficients: Vec::new(),
            frames,
            frame_stride: 0,
            times,
            starts: Vec::new(),
            constant: by_cell.then(|| Space::total(mesh.dim, 0)),
            jumps: by_cell || array.place == ArrayPlace::CellNodes,
            _claim: Claim::default(),
        };
        let sizes = mesh.blocks.iter().zip(mesh.ends_of_blocks());
        let numbers: usize = sizes
            .map(|(block, end)| {
                values.components * values.space(block).len() * (end - block.first) as usize
            })
            .sum();
        // The first cell of a frame begins on a cache line, so that a small cell takes only one line.
        let line = LINE / size_of::<f64>();
        values.frame_stride = numbers.next_multiple_of(line);
        let all = values.frame_stride.checked_mul(frames - 1);
        let all = all.and_then(|others| others.checked_add(numbers));
        let all = all.ok_or("the frames have too many values")?;
        values._claim = memory::claim((all * size_of::<f64>()) as u64)?;
        values.coefficients = memory::roomy(all + line);
        let before = values.coefficients.as_ptr().align_offset(LINE);
        values.coefficients.resize(before + all, 0.0);
        let mut start = before;
        for (block, end) in mesh.blocks.iter().zip(mesh.ends_of_blocks()) {
            values.starts.push(start);
            let stride = values.components * values.space(block).len();
            start += stride * (end - block.first) as usize;
        }
        values.fill_frame(mesh, 0, (file, array, &picks))?;
        Ok(values)
    }

    /// Takes the values of a frame from its file, whose mesh is that of the first one, and the array the one of its name.
    ///
    /// # Errors
    /// There is no such array, it is another kind of array, or a value is not finite.
    pub fn set_frame(
        &mut self,
        mesh: &Mesh,
        frame: usize,
        file: &FemFile,
        choice: &Choice<'_>,
    ) -> Result<(), FemError> {
        let array = choice.find(file)?;
        let picks = choice.components(array)?;
        if (array.place == ArrayPlace::Cells) != self.constant.is_some() {
            let message = format!("array `{}` is at other places than before", array.name);
            return Err(FemError::new(message));
        }
        self.jumps |= array.place == ArrayPlace::CellNodes;
        self.fill_frame(mesh, frame, (file, array, &picks))
    }

    fn fill_frame(
        &mut self,
        mesh: &Mesh,
        frame: usize,
        (file, array, picks): (&FemFile, &FemArray, &[usize]),
    ) -> Result<(), FemError> {
        let first = self.starts.first().copied().unwrap_or(0) + frame * self.frame_stride;
        let mut rest = &mut self.coefficients[first..];
        for (block, end) in mesh.blocks.iter().zip(mesh.ends_of_blocks()) {
            let space = self.constant.as_ref().unwrap_or(&block.basis.space);
            let stride = self.components * space.len();
            let own = rest.split_off_mut(..stride * (end - block.first) as usize);
            let own = own.expect("room for all blocks");
            let cells = own.par_chunks_mut(stride).enumerate();
            let bad = cells.find_map_first(|(n, out)| {
                let cell = block.first + n as u32;
                fill((mesh, file, array), block, cell, picks, out).err()
            });
            if let Some(error) = bad {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether the values are over time.
    pub fn is_timed(&self) -> bool {
        self.times.is_some()
    }

    /// The frames between which a time is; the nearest one beyond them all. Without times it is the only frame.
    #[inline(always)]
    pub(super) fn between(&self, time: f64) -> Between {
        let last = self.frames - 1;
        let position = self
            .times
            .as_ref()
            .map_or(0.0, |axis| axis.position(time).0);
        let position = position.clamp(0.0, last as f64);
        let before = (position as usize).min(last.saturating_sub(1));
        Between {
            before: before * self.frame_stride,
            after: (before + 1).min(last) * self.frame_stride,
            fraction: position - before as f64,
        }
    }

    /// The number of components of a value.
    pub fn components(&self) -> usize {
        self.components
    }

    /// The largest degree of its polynomials, above which all derivatives vanish; none if some cell is curved.
    pub fn degree(&self, mesh: &Mesh) -> Option<usize> {
        let spaces = mesh.blocks.iter().map(|block| &block.element.basis().space);
        let degree = match &self.constant {
            Some(_) => Some(0),
            None => spaces.map(Space::total_degree).max(),
        };
        degree.filter(|_| mesh.curved_cells() == 0 || self.constant.is_some())
    }

    /// Whether cells have values of their own, so that the field may jump between them.
    pub fn may_jump(&self) -> bool {
        self.jumps
    }

    /// The polynomials of a cell and their coefficients, component by component, in the frame that begins at an offset.
    #[inline(always)]
    pub(super) fn of_cell<'a>(
        &'a self,
        mesh: &'a Mesh,
        cell: u32,
        frame: usize,
    ) -> (&'a Space, &'a [f64]) {
        let number = usize::from(mesh.records[cell as usize].block);
        let block = &mesh.blocks[number];
        let space = self.space(block);
        let stride = self.components * space.len();
        let first = frame + self.starts[number] + (cell - block.first) as usize * stride;
        (space, &self.coefficients[first..first + stride])
    }

    #[inline(always)]
    pub(super) fn space<'a>(&'a self, block: &'a Block) -> &'a Space {
        self.constant.as_ref().unwrap_or(&block.basis.space)
    }

    /// The number of coefficients of a component, and all of them from the first cell on, if the cells have one element whose
    /// polynomials are simple.
    pub(super) fn simple(&self, mesh: &Mesh) -> Option<(usize, &[f64])> {
        let [block] = &mesh.blocks[..] else {
            return None;
        };
        let space = self.space(block);
        space
            .is_simple()
            .then(|| (space.len(), &self.coefficients[self.starts[0]..]))
    }

    /// Asks for the first coefficients of a cell in a frame.
    #[inline(always)]
    pub(super) fn prefetch(&self, mesh: &Mesh, cell: u32, frame: usize) {
        let (_, coefficients) = self.of_cell(mesh, cell, frame);
        prefetch::<1>(coefficients.as_ptr());
        if size_of_val(coefficients) > LINE {
            prefetch::<1>(coefficients.as_ptr().wrapping_add(LINE / size_of::<f64>()));
        }
    }
}

/// The place of a time between two frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    /// Where the coefficients of the frame before it begin.
    pub(super) before: usize,
    /// Where those of the frame after it begin.
    pub(super) after: usize,
    /// How far it is from the one to the other, from 0 to 1.
    pub(super) fraction: f64,
}

/// The coefficients at a time between two frames. At a frame itself they are those of the frame, to the bit.
#[inline(always)]
pub(super) fn mixed<S: Number>(before: S, after: S, fraction: S) -> S {
    before * (S::constant(1.0) - fraction) + after * fraction
}

/// Computes the coefficients of a cell.
fn fill(
    (mesh, file, array): (&Mesh, &FemFile, &FemArray),
    block: &Block,
    cell: u32,
    picks: &[usize],
    out: &mut [f64],
) -> Result<(), FemError> {
    let by_cell = array.place == ArrayPlace::Cells;
    let own = mutants::source(&mesh.sources, cell);
    let first = file.cells.at(own).first;
    let tuple = |n: usize| match array.place {
        ArrayPlace::Cells => own,
        ArrayPlace::CellNodes => first + n,
        ArrayPlace::Points => file.connectivity[first + n] as usize,
    };
    let mut nodal = [0.0; MAX_NODES];
    let nodes = if by_cell {
        1
    } else {
        block.element.nodes().len()
    };
    let nodal = &mut nodal[..nodes];
    let length = out.len() / picks.len();
    for (&component, out) in picks.iter().zip(out.chunks_exact_mut(length)) {
        for (n, value) in nodal.iter_mut().enumerate() {
            *value = array.values[tuple(n) * array.components + component];
        }
        mutants::order_nodes(nodal);
        // What belongs to cells of another dimension may be missing.
        if let Some(bad) = nodal.iter().position(|x| !x.is_finite()) {
            return Err(FemError::new(format!(
                "array `{}` has the value {} at {} {}",
                array.name,
                nodal[bad],
                if by_cell { "cell" } else { "node" },
                tuple(bad)
            )));
        }
        if by_cell {
            out.copy_from_slice(nodal);
        } else {
            block.basis.coefficients(nodal, out);
        }
    }
    Ok(())
}
