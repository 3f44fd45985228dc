//! HDF5: groups of arrays under names. `FILE#/path/to/dataset` chooses one, and `FILE#a,b` several of equal sizes as components.
//!
//! `a[k, j, i]` is the sample at index (i, j, k), as for NumPy, and the grid is in index space. A file with dimension scales is
//! NetCDF 4, which has coordinates.

mod filters;
mod samples;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use hdf5_reader::group::Group;
use hdf5_reader::storage::DynStorage;
use hdf5_reader::{Dataset, FilterRegistry, Hdf5File, OpenOptions};

use super::boxes::Boxes;
use super::container::{self, Member};
use super::{ImageError, Numbering, Opened, Sink, Source, check_length, sniff};
use crate::hdf5::limits;
use crate::memory::MOST_OF_A_BYTE;
use crate::nrrd::{Axis, Header, Kind};
pub(super) use samples::{Stored, fail, half, typed};

/// Limits for a file of `length` bytes, and all compressions that are known.
pub(super) fn options(length: u64) -> OpenOptions {
    limits(length).with_filter_registry(registry())
}

fn registry() -> FilterRegistry {
    let mut registry = FilterRegistry::new();
    filters::register(&mut registry);
    registry
}

/// A dataset of numbers.
pub(super) struct Numbers {
    pub(super) dataset: Dataset,
    pub(super) stored: Stored,
}

/// The datasets of numbers in a file, and whether one of all datasets is a scale of a dimension.
struct Contents {
    members: Vec<Member>,
    numbers: Vec<Numbers>,
    has_scales: bool,
}

/// Groups within groups, and datasets: more are a sign of damage.
const DEEPEST: usize = 64;
const MOST_DATASETS: usize = 10_000;

impl Contents {
    /// Adds a dataset, if it is one of numbers.
    fn add(&mut self, name: String, dataset: Dataset) {
        let class = dataset.attribute("CLASS").and_then(|a| a.read_string());
        self.has_scales |= class.is_ok_and(|class| class == "DIMENSION_SCALE");
        let sizes = dataset.shape().to_vec();
        let is_empty = sizes.is_empty() || sizes.contains(&0);
        if is_empty || self.members.len() >= MOST_DATASETS {
            return;
        }
        if let Some(stored) = Stored::of(dataset.dtype()) {
            let type_name = stored.name();
            self.members.push(Member {
                name,
                sizes,
                type_name,
            });
            self.numbers.push(Numbers { dataset, stored });
        }
    }

    /// Adds the datasets of names, with commas between them.
    fn look_up(&mut self, file: &Hdf5File, names: &str) {
        self.members.clear();
        self.numbers.clear();
        for name in names.split(',').map(|name| name.trim().trim_matches('/')) {
            if let Ok(dataset) = file.dataset(name) {
                self.add(name.to_string(), dataset);
            }
        }
    }

    fn walk(
        &mut self,
        group: &Group,
        path: &str,
        depth: usize,
        seen: &mut HashSet<u64>,
    ) -> Result<(), ImageError> {
        if depth > DEEPEST || !seen.insert(group.address()) {
            return Ok(());
        }
        let (groups, datasets) = group.member_names().map_err(fail)?;
        for name in datasets {
            // One dataset that cannot be understood does not hide the others.
            if let Ok(dataset) = group.dataset(&name) {
                self.add(format!("{path}{name}"), dataset);
            }
        }
        for name in groups {
            if let Ok(inner) = group.group(&name) {
                self.walk(&inner, &format!("{path}{name}/"), depth + 1, seen)?;
            }
        }
        Ok(())
    }
}

/// Opens a file of NetCDF 4, which has the bytes of HDF5: its bytes, their number, and the array that is asked for.
type OpenNetcdf = fn(DynStorage, u64, Option<&str>) -> Result<Source<'static>, ImageError>;

/// Opens a file of HDF5, or by `netcdf` one of NetCDF 4.
pub(super) fn open(opened: Opened<'_>, netcdf: OpenNetcdf) -> Result<Source<'_>, ImageError> {
    let (array, name) = (opened.array.clone(), opened.name.clone());
    let (storage, length) = container::storage(opened)?;
    let file = Hdf5File::from_storage_with_options(storage.clone(), options(length));
    let file = file.map_err(fail)?;
    let root = file.root_group().map_err(fail)?;
    if root.group("minc-2.0").is_ok() {
        return Err(sniff::refuse_minc("MINC 2", &name));
    }
    let mut contents = Contents {
        members: Vec::new(),
        numbers: Vec::new(),
        has_scales: false,
    };
    if let Err(error) = contents.walk(&root, "", 0, &mut HashSet::new()) {
        // Something that is not understood does not hide an array that is asked for by name.
        contents.look_up(&file, array.as_deref().unwrap_or_default());
        if contents.members.is_empty() {
            return Err(error);
        }
    }
    if contents.has_scales || root.attribute("_NCProperties").is_ok() {
        return netcdf(storage, length, array.as_deref());
    }
    let chosen = container::chosen(&contents.members, array.as_deref())?;
    let sizes = contents.members[chosen[0]].sizes.clone();
    let mut numbers: Vec<Option<Numbers>> = contents.numbers.into_iter().map(Some).collect();
    let arrays: Vec<Numbers> = chosen.iter().filter_map(|&m| numbers[m].take()).collect();
    if arrays.len() < chosen.len() {
        return Err(ImageError::new("an array is asked for twice"));
    }
    let header = header(&sizes, &arrays)?;
    check_length(&header, length, MOST_OF_A_BYTE)?;
    let arrays = Arc::new(arrays);
    let boxes = Datasets::of(Arc::clone(&arrays));
    let decode = move |sink: &mut Sink<'_>| {
        for Numbers { dataset, stored } in &*arrays {
            stored.pieces(dataset, sink)?;
        }
        Ok(Vec::new())
    };
    let mut source = Source::decoded("HDF5", header, Box::new(decode));
    source.facts.numbering = Numbering::SlowestFirst;
    source.boxes = boxes.map(|boxes| Arc::new(boxes) as Arc<dyn Boxes>);
    Ok(source)
}

/// Datasets that are read in any order.
struct Datasets {
    arrays: Arc<Vec<Numbers>>,
    extents: Vec<usize>,
}

impl Datasets {
    /// Those with these numbers, if all are cut in the same way.
    fn of(arrays: Arc<Vec<Numbers>>) -> Option<Datasets> {
        let mut all = arrays.iter().map(|n| n.stored.extents(&n.dataset));
        let mut extents = all.next()??;
        if all.any(|other| other.as_ref() != Some(&extents)) {
            return None;
        }
        extents.extend((arrays.len() > 1).then_some(1));
        Some(Datasets { arrays, extents })
    }
}

impl Boxes for Datasets {
    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn read(&self, place: &[Range<usize>], sink: &mut Sink<'_>) -> Result<u64, ImageError> {
        let (place, array) = match (place, self.arrays.len()) {
            ([place @ .., which], 2..) => (place, which.start),
            _ => (place, 0),
        };
        let Numbers { dataset, stored } = &self.arrays[array];
        let place = &place[usize::from(stored.parts() > 1)..];
        sink(stored.one(dataset, place)?);
        Ok(0)
    }
}

/// The axes as NumPy has them; those of a complex number are the fastest, and several arrays are the slowest.
fn header(sizes: &[u64], arrays: &[Numbers]) -> Result<Header, ImageError> {
    let large = |_| ImageError::new("the array is too large for the address space");
    let first = arrays.first().map(|numbers| numbers.stored);
    let first = first.ok_or_else(|| ImageError::new("the file has no array of numbers"))?;
    if arrays
        .iter()
        .any(|other| other.stored.parts() != first.parts())
    {
        return Err(ImageError::new(
            "real and complex arrays do not make components",
        ));
    }
    let mut header = Header::new(first.sample_type(), &[]);
    let of_size = |size: usize, kind: Option<Kind>| Axis {
        size,
        kind,
        ..Axis::default()
    };
    if first.parts() > 1 {
        header
            .axes
            .push(of_size(first.parts(), Some(Kind::Complex)));
    }
    for &size in sizes.iter().rev() {
        let size = usize::try_from(size).map_err(large)?;
        header.axes.push(of_size(size, None));
    }
    if arrays.len() > 1 {
        header.axes.push(of_size(arrays.len(), Some(Kind::List)));
    }
    header.check().map_err(|v| ImageError::new(v.message))?;
    Ok(header)
}
