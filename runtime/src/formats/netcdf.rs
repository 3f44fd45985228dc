//! NetCDF 3 and 4: variables over named dimensions. `FILE#u` chooses one, and `FILE#u,v,w` several as components.
//!
//! Coordinates by the CF conventions place the grid. Packed values are unpacked, and missing ones become NaN.

mod coordinates;
mod values;
mod variables;

use std::ops::Range;
use std::sync::Arc;

use hdf5_reader::Hdf5File;
use hdf5_reader::storage::DynStorage;
use netcdf_reader::{NcFile, NcFormat, NcGroup, NcMetadataMode, NcOpenOptions};

use super::boxes::Boxes;
use super::container::{self, Member};
use super::{ImageError, Note, Numbering, Opened, Sink, Source, check_length, hdf5, sniff};
use crate::memory::{MOST_OF_A_BYTE, most_unpacked};
use crate::nrrd::{Axis, Header, Kind, SampleType};
use coordinates::Coordinates;
use values::{Data, Values, sample_type};
use variables::{Found, fail, text, walk};

/// Opens a file of NetCDF 3.
pub(super) fn open(opened: Opened<'_>) -> Result<Source<'_>, ImageError> {
    let (array, name) = (opened.array.clone(), opened.name.clone());
    let (storage, length) = container::storage(opened)?;
    let file = NcFile::from_storage(storage).map_err(fail)?;
    let is_minc = |group: &NcGroup| {
        let image = group
            .variable("image")
            .and_then(|image| text(image, "varid"));
        image.is_some_and(|id| id.contains("MINC"))
    };
    if is_minc(file.root_group().map_err(fail)?) {
        return Err(sniff::refuse_minc("MINC 1", &name));
    }
    describe(file, None, length, array.as_deref())
}

/// Opens a file of NetCDF 4 in the bytes of HDF5.
pub(super) fn open_storage(
    storage: DynStorage,
    length: u64,
    array: Option<&str>,
) -> Result<Source<'static>, ImageError> {
    let most = most_unpacked(length);
    let options = NcOpenOptions {
        chunk_cache_bytes: 0,
        // Types that NetCDF does not know are left out.
        metadata_mode: NcMetadataMode::Lossy,
        max_chunk_bytes: most,
        max_read_bytes: most,
        max_object_header_bytes: usize::try_from(length).unwrap_or(usize::MAX),
        ..NcOpenOptions::default()
    };
    let file = NcFile::from_storage_with_options(storage.clone(), options).map_err(fail)?;
    let samples = Hdf5File::from_storage_with_options(storage, hdf5::options(length));
    describe(file, Some(samples.map_err(hdf5::fail)?), length, array)
}

/// Whether a variable only describes others: coordinates, bounds, and what attributes name.
fn is_auxiliary(found: &Found<'_>, all: &[Found<'_>]) -> bool {
    const NAMING: [&str; 6] = [
        "coordinates",
        "bounds",
        "climatology",
        "grid_mapping",
        "ancillary_variables",
        "cell_measures",
    ];
    let name = found.variable.name();
    let named = |other: &Found<'_>| {
        NAMING.iter().any(|attribute| {
            let names = text(other.variable, attribute).unwrap_or_default();
            names.split([' ', ':']).any(|word| word == name)
        })
    };
    found.variable.is_coordinate_variable() || all.iter().any(named)
}

/// The source of the chosen variables; `samples` is the same file as HDF5, if it is that.
fn describe(
    file: NcFile,
    samples: Option<Hdf5File>,
    length: u64,
    array: Option<&str>,
) -> Result<Source<'static>, ImageError> {
    let mut all = Vec::new();
    walk(file.root_group().map_err(fail)?, "", &[], &mut all);
    let of_numbers = |found: &&Found<'_>| {
        let shape = found.variable.shape();
        sample_type(found.variable).is_some() && !shape.is_empty() && !shape.contains(&0)
    };
    let numeric: Vec<&Found<'_>> = all.iter().filter(of_numbers).collect();
    let data: Vec<&Found<'_>> = match array {
        Some(_) => numeric,
        None => numeric
            .into_iter()
            .filter(|found| !is_auxiliary(found, &all))
            .collect(),
    };
    let members: Vec<Member> = data.iter().map(|found| member(found)).collect();
    let chosen = container::chosen(&members, array)?;
    let chosen: Vec<&Found<'_>> = chosen.into_iter().map(|m| data[m]).collect();
    let first = chosen[0];
    for other in &chosen[1..] {
        check_alike(first, other)?;
    }
    let coordinates = Coordinates::of(&file, first, length)?;
    let mut header = header(first, chosen.len(), &coordinates)?;
    check_length(&header, length, MOST_OF_A_BYTE)?;
    header.content = text(first.variable, "long_name")
        .filter(|_| chosen.len() == 1)
        .unwrap_or_default();
    let values: Vec<Values> = chosen
        .iter()
        .map(|found| Values::of(&found.path, found.variable))
        .collect();
    let format = match file.format() {
        NcFormat::Classic | NcFormat::Offset64 | NcFormat::Cdf5 => "NetCDF",
        NcFormat::Nc4 | NcFormat::Nc4Classic => "NetCDF 4",
    };
    let data = match samples {
        Some(samples) => Data::Hdf5(samples),
        None => Data::Classic(file),
    };
    let variables = Arc::new(Variables { data, values });
    let boxes = Slices::of(Arc::clone(&variables));
    let decode = move |sink: &mut Sink<'_>| {
        let mut missing = 0;
        for values in &variables.values {
            missing += values.pieces(&variables.data, sink)?;
        }
        Ok(Note::missing_values(missing).into_iter().collect())
    };
    let mut source = Source::decoded(format, header, Box::new(decode));
    // Packed values are unpacked, and missing ones become NaN.
    source.is_rescaled = true;
    source.facts.numbering = Numbering::SlowestFirst;
    source.facts.times = coordinates.times;
    source.facts.since = coordinates.since;
    source.notes = coordinates.notes;
    source.unplaced = coordinates.irregular;
    source.boxes = boxes.map(|boxes| Arc::new(boxes) as Arc<dyn Boxes>);
    Ok(source)
}

/// Variables of a file.
struct Variables {
    data: Data,
    values: Vec<Values>,
}

/// Variables that are read in any order.
struct Slices {
    variables: Arc<Variables>,
    extents: Vec<usize>,
}

impl Slices {
    /// Those of a file, if all are cut in the same way.
    fn of(variables: Arc<Variables>) -> Option<Slices> {
        let Variables { data, values } = &*variables;
        let mut all = values.iter().map(|values| values.extents(data));
        let mut extents = all.next()??;
        if all.any(|other| other.as_ref() != Some(&extents)) {
            return None;
        }
        extents.extend((values.len() > 1).then_some(1));
        Some(Slices { variables, extents })
    }
}

impl Boxes for Slices {
    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn read(&self, place: &[Range<usize>], sink: &mut Sink<'_>) -> Result<u64, ImageError> {
        let Variables { data, values } = &*self.variables;
        let (place, variable) = match (place, values.len()) {
            ([place @ .., which], 2..) => (place, which.start),
            _ => (place, 0),
        };
        let (samples, missing) = values[variable].one(data, place)?;
        sink(samples);
        Ok(missing)
    }
}

fn member(found: &Found<'_>) -> Member {
    Member {
        name: found.path.clone(),
        sizes: found.variable.shape(),
        type_name: sample_type(found.variable).map_or(String::new(), |of| of.to_string()),
    }
}

/// Components are over the same dimensions and in the same unit.
fn check_alike(first: &Found<'_>, other: &Found<'_>) -> Result<(), ImageError> {
    let names = |found: &Found<'_>| -> Vec<String> {
        let dimensions = found.variable.dimensions().iter();
        dimensions.map(|dimension| dimension.name.clone()).collect()
    };
    let differ = |what: &str, a: String, b: String| {
        ImageError::new(format!(
            "components have the same {what}, but `{}` has {a}, and `{}` has {b}",
            first.path, other.path
        ))
        .hint("take them as inputs of their own")
    };
    let (a, b) = (names(first), names(other));
    if a != b {
        return Err(differ("dimensions", a.join(" × "), b.join(" × ")));
    }
    let unit = |found: &Found<'_>| text(found.variable, "units").unwrap_or_default();
    match (unit(first), unit(other)) {
        (a, b) if a == b => Ok(()),
        (a, b) => Err(differ("unit", format!("`{a}`"), format!("`{b}`"))),
    }
}

/// The dimensions from the last to the first, and the variables, if there are several, as the slowest.
fn header(
    first: &Found<'_>,
    variables: usize,
    coordinates: &Coordinates,
) -> Result<Header, ImageError> {
    let of = sample_type(first.variable).unwrap_or(SampleType::F32);
    let mut header = Header {
        axes: coordinates.axes.clone(),
        space: coordinates.space.clone(),
        space_origin: coordinates.origin.clone(),
        space_units: coordinates.units.clone(),
        sample_units: text(first.variable, "units").unwrap_or_default(),
        ..Header::new(of, &[])
    };
    if variables > 1 {
        let kind = match variables == coordinates.space.dimension() {
            true => Kind::Vector,
            false => Kind::List,
        };
        header.axes.push(Axis {
            size: variables,
            kind: Some(kind),
            ..Axis::default()
        });
    }
    header.check().map_err(|v| ImageError::new(v.message))?;
    Ok(header)
}
