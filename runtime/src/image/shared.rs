//! Images in memory that others own, such as arrays of Python and C: samples of any numeric type, byte order and strides, with a
//! description like that of a file. They follow the rules for files.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::load::{PIECE, bytes_of, claim_memory};
use super::normalize;
use super::planes::Planes;
use super::request::Declared;
use super::stored::small_type;
use super::{Image, Loaded, Reading, Real};
use crate::formats::{Facts, FrameTimes, ImageError};
use crate::grid::{Orientation, TimeAxis};
use crate::nrrd::{Axis, Endian, FromSample, Header, Kind, Sample, SampleType, Space};

/// Numbers in memory with any distances between them.
pub struct Strided {
    first: *const u8,
    sample_type: SampleType,
    endian: Endian,
    /// The number of samples along each axis, and the bytes from one to the next.
    axes: Vec<(usize, isize)>,
    /// Keeps the memory.
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the memory is only read, and the caller of `Strided::new` promises that its owner keeps it.
unsafe impl Send for Strided {}
// SAFETY: as above.
unsafe impl Sync for Strided {}

impl fmt::Debug for Strided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Strided {
            sample_type, axes, ..
        } = self;
        write!(f, "Strided({sample_type:?}, {axes:?})")
    }
}

impl Strided {
    /// The numbers from `first` on, with their axes in any order.
    ///
    /// # Safety
    /// As long as `owner` lives, every sample that the axes reach is readable memory that does not change.
    pub unsafe fn new(
        first: *const u8,
        sample_type: SampleType,
        endian: Endian,
        axes: Vec<(usize, isize)>,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Strided {
        Strided {
            first,
            sample_type,
            endian,
            axes,
            _owner: owner,
        }
    }

    /// The number of samples along each axis.
    pub fn sizes(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.0).collect()
    }

    /// Gives all samples in pieces, with the axes in this order, the fastest first.
    fn pieces<T: FromSample>(&self, order: &[usize], put: &mut dyn FnMut(&[T])) {
        let axes: Vec<(usize, isize)> = order.iter().map(|&axis| self.axes[axis]).collect();
        match self.sample_type {
            SampleType::I8 => self.pieces_of::<i8, T>(&axes, put),
            SampleType::U8 => self.pieces_of::<u8, T>(&axes, put),
            SampleType::I16 => self.pieces_of::<i16, T>(&axes, put),
            SampleType::U16 => self.pieces_of::<u16, T>(&axes, put),
            SampleType::I32 => self.pieces_of::<i32, T>(&axes, put),
            SampleType::U32 => self.pieces_of::<u32, T>(&axes, put),
            SampleType::I64 => self.pieces_of::<i64, T>(&axes, put),
            SampleType::U64 => self.pieces_of::<u64, T>(&axes, put),
            SampleType::F32 => self.pieces_of::<f32, T>(&axes, put),
            SampleType::F64 => self.pieces_of::<f64, T>(&axes, put),
            SampleType::Block => {}
        }
    }

    fn pieces_of<S: Sample, T: FromSample>(
        &self,
        axes: &[(usize, isize)],
        put: &mut dyn FnMut(&[T]),
    ) {
        let bytes = size_of::<S>();
        let (run, step) = axes.first().copied().unwrap_or((1, 0));
        let outer = axes.get(1..).unwrap_or_default();
        let rows: usize = outer.iter().map(|axis| axis.0).product();
        let rows = if run == 0 { 0 } else { rows };
        let mut at = vec![0; outer.len()];
        let mut stored: Vec<u8> = Vec::with_capacity(PIECE.min(run) * bytes);
        let mut offset = 0_isize;
        for _ in 0..rows {
            for start in (0..run).step_by(PIECE) {
                stored.clear();
                for n in start..run.min(start + PIECE) {
                    // SAFETY: the sample is one that the axes reach; bytes have no alignment.
                    let sample = unsafe {
                        let sample = self.first.offset(offset + n as isize * step);
                        std::slice::from_raw_parts(sample, bytes)
                    };
                    stored.extend_from_slice(sample);
                }
                let samples = S::from_bytes(&stored, self.endian);
                let piece: Vec<T> = samples.into_iter().map(T::from_sample).collect();
                put(&piece);
            }
            for (at, &(size, stride)) in at.iter_mut().zip(outer) {
                *at += 1;
                offset += stride;
                if *at < size {
                    break;
                }
                offset -= stride * size as isize;
                *at = 0;
            }
        }
    }
}

/// What the axes of samples are.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrangement {
    /// Frames of an image over time, the axes of the grid from the slowest to the fastest, then those of the tensor of a sample.
    SlowestFirst,
    /// The axes of the grid from the fastest to the slowest, frames of an image over time, then those of the tensor of a sample.
    FastestFirst,
    /// As this header says.
    Header(Box<Header>),
}

/// An image in the memory of others. Clones share it, and it is converted once for all programs that want it alike.
#[derive(Clone, Debug)]
pub struct SharedImage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    samples: Strided,
    arrangement: Arrangement,
    /// The orientation of the grid; without one, the world is the grid's own index space.
    orientation: Option<Orientation>,
    space: Space,
    /// The times of the frames, if they were given.
    time: Option<TimeAxis>,
    made: Mutex<Vec<Made>>,
}

/// A conversion: for an image of this type, read in this way, a [`Loaded`] of either precision.
#[derive(Debug)]
struct Made {
    dim: usize,
    timed: bool,
    shape: Vec<usize>,
    reading: Reading,
    loaded: Box<dyn Any + Send>,
}

impl Made {
    fn declared(&self) -> Declared<'_> {
        Declared {
            dim: self.dim,
            timed: self.timed,
            shape: &self.shape,
        }
    }
}

impl SharedImage {
    /// An image of samples whose grid has a place in a space.
    pub fn new(
        samples: Strided,
        arrangement: Arrangement,
        orientation: Option<Orientation>,
        space: Space,
    ) -> SharedImage {
        SharedImage::over_time(samples, arrangement, orientation, space, None)
    }

    /// An image whose frames are at these times, if a program takes it as one over time.
    pub fn over_time(
        samples: Strided,
        arrangement: Arrangement,
        orientation: Option<Orientation>,
        space: Space,
        time: Option<TimeAxis>,
    ) -> SharedImage {
        SharedImage(Arc::new(Shared {
            samples,
            arrangement,
            orientation,
            space,
            time,
            made: Mutex::default(),
        }))
    }

    /// The orientation of the grid, if it was given.
    pub fn orientation(&self) -> Option<&Orientation> {
        self.0.orientation.as_ref()
    }

    /// The number of samples along each axis, as they were given.
    pub fn sizes(&self) -> Vec<usize> {
        self.0.samples.sizes()
    }

    /// The image that a program declares, in its precision.
    ///
    /// # Errors
    /// Why it is none.
    pub fn image<T: Real + FromSample>(
        &self,
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        let name = reading.name.as_deref();
        let reading = Reading {
            name: None,
            ..reading.clone()
        };
        let mut made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().find_map(|made| {
            let same = (made.declared(), &made.reading) == (declared, &reading);
            same.then(|| made.loaded.downcast_ref::<Loaded<T>>())?
        });
        if let Some(loaded) = known {
            return Ok(loaded.clone());
        }
        let loaded: Loaded<T> = self
            .0
            .convert(declared, &reading)
            .map_err(|error| error.of_input(name))?;
        made.push(Made {
            dim: declared.dim,
            timed: declared.timed,
            shape: declared.shape.to_vec(),
            reading,
            loaded: Box::new(loaded.clone()),
        });
        Ok(loaded)
    }
}

impl Shared {
    fn convert<T: Real + FromSample>(
        &self,
        declared: Declared<'_>,
        reading: &Reading,
    ) -> Result<Loaded<T>, ImageError> {
        let (order, header) = self.described(declared)?;
        if header.axes.iter().any(|axis| axis.size == 0) {
            return Err(ImageError::new("the array is empty"));
        }
        let facts = Facts {
            times: match &self.time {
                Some(TimeAxis::Table(times)) => FrameTimes::Seconds(times.clone()),
                Some(TimeAxis::Regular { .. }) | None => FrameTimes::Header,
            },
            ..Facts::default()
        };
        let plan = normalize::plan(&header, &facts, declared, reading)?;
        let small = small_type::<T>(self.samples.sample_type, None, &plan, declared);
        let claim = claim_memory(bytes_of::<T>(&plan, declared, small), reading)?;
        if let Some(small) = small {
            let kept = (small, claim);
            return match small.bytes() {
                1 => Image::fill_small::<u8>(&header, plan, declared, reading, kept, |planes| {
                    self.put(&order, planes)
                }),
                _ => Image::fill_small::<u16>(&header, plan, declared, reading, kept, |planes| {
                    self.put(&order, planes)
                }),
            };
        }
        Image::fill(&header, plan, declared, reading, claim, |planes| {
            self.put(&order, planes)
        })
    }

    /// Puts all samples in place.
    fn put<S: FromSample + Default + PartialEq>(
        &self,
        order: &[usize],
        planes: &mut Planes<'_, S>,
    ) -> Result<(), ImageError> {
        self.samples.pieces(order, &mut |piece| planes.put(piece));
        Ok(())
    }

    /// The axes of the array in the order of a file, and the header that the file would have for an image of the declared type.
    fn described(&self, declared: Declared<'_>) -> Result<(Vec<usize>, Header), ImageError> {
        let dim = declared.dim;
        let sizes = self.samples.sizes();
        let slowest_first = match &self.arrangement {
            Arrangement::Header(header) => {
                let order = (0..sizes.len()).collect();
                return Ok((order, Header::clone(header)));
            }
            Arrangement::SlowestFirst => true,
            Arrangement::FastestFirst => false,
        };
        if let Some(orientation) = &self.orientation
            && orientation.dim() != dim
        {
            let found = orientation.dim();
            return Err(ImageError::new(format!(
                "the image is in a world of {found} dimensions, but the program wants {dim}"
            )));
        }
        // Time is an axis like those of the grid, and the slowest of them.
        let grid = 0..declared.axes().min(sizes.len());
        // The components of a tensor are stored row by row.
        let mut order: Vec<usize> = (grid.end..sizes.len()).rev().collect();
        let components = order.len();
        match slowest_first {
            true => order.extend(grid.rev()),
            false => order.extend(grid),
        }
        let direction = |n: usize| {
            let orientation = self.orientation.as_ref()?;
            let row = |row: usize| orientation.index_to_world()[row * dim + n];
            Some((0..dim).map(row).collect())
        };
        let axis = |(n, &axis): (usize, &usize)| match n.checked_sub(components) {
            None => Axis {
                size: sizes[axis],
                kind: Some(Kind::List),
                ..Axis::default()
            },
            Some(n) if n == dim => self.time_axis(sizes[axis]),
            Some(n) => Axis {
                size: sizes[axis],
                kind: Some(Kind::Space),
                direction: direction(n),
                ..Axis::default()
            },
        };
        let space = match (&self.orientation, &self.space) {
            (None, _) => Space::Unknown,
            (Some(_), space) if space.dimension() == dim => space.clone(),
            (Some(_), _) => Space::Dimension(dim),
        };
        let origin = self.orientation.as_ref().map(|o| o.origin().to_vec());
        let header = Header {
            axes: order.iter().enumerate().map(axis).collect(),
            space,
            space_origin: origin,
            ..Header::new(self.samples.sample_type, &[])
        };
        Ok((order, header))
    }

    fn time_axis(&self, size: usize) -> Axis {
        let regular = match self.time {
            Some(TimeAxis::Regular { start, step }) => Some((start, step)),
            Some(TimeAxis::Table(_)) | None => None,
        };
        Axis {
            size,
            kind: Some(Kind::Time),
            min: regular.map(|(start, _)| start),
            spacing: regular.map(|(_, step)| step),
            units: regular.map_or(String::new(), |_| "s".to_string()),
            ..Axis::default()
        }
    }
}
