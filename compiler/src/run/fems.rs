//! The meshes of a running program and the values on them.

use super::{Failure, facts::Extent};
use crate::{
    codegen::{Compiled, abi::FemTable, gpu::MeshData},
    ir::{
        fem::FemField,
        interface::{Data, Fact, InputTarget, Interface},
    },
};
use runtime::{
    fem::{Choice, FemArray, FemError, FemFile, FemSeries, FemValues, FemWanted, Mesh, Outside},
    file_name::FileName,
    grid::TimeAxis,
    image::{GivenTimes, NO_RANGE, beyond_single, finite_range},
    memory::{self, Claim},
    simd::Real,
};
use std::{collections::BTreeMap, sync::Arc};

/// Where a mesh and the values on it come from.
#[derive(Clone, Debug)]
pub enum FemSource {
    /// A file.
    File(FileName),
    /// Memory: what a solver hands over.
    Memory(Arc<FemFile>),
}

/// Where the meshes of a program come from, and which arrays are wanted of them.
#[derive(Clone, Debug)]
pub(super) struct FemSources {
    /// One for each mesh.
    pub(super) meshes: Vec<FemSource>,
    /// The times of the frames of each mesh, which override those of its file.
    pub(super) times: Vec<Option<GivenTimes>>,
    /// For all values on meshes, the array that was named.
    pub(super) arrays: Vec<Option<String>>,
}

impl FemSources {
    /// Whether the same is read from the same files.
    pub(super) fn is_same(&self, other: &FemSources) -> bool {
        let mut pairs = self.meshes.iter().zip(&other.meshes);
        self.arrays == other.arrays
            && self.times == other.times
            && pairs.all(|pair| match pair {
                (FemSource::File(one), FemSource::File(another)) => one == another,
                (FemSource::Memory(one), FemSource::Memory(another)) => Arc::ptr_eq(one, another),
                _ => false,
            })
    }
}

/// Meshes as generated code takes them, and notes about them.
#[derive(Debug, Default)]
pub(super) struct LoadedFems {
    pub(super) table: FemTable,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
    /// What messages call each mesh.
    names: Vec<String>,
    /// Facts about all values on meshes.
    values: Vec<ValuesInfo>,
}

/// Facts about values on a mesh.
#[derive(Debug)]
struct ValuesInfo {
    mesh: usize,
    /// Their range, if the program asks for it.
    range: (f64, f64),
    /// How many frames there are, and their times; one at the time 0 if they are not over time.
    frames: (usize, TimeAxis),
}

/// The file of a mesh while its values are taken from it.
struct OpenMesh {
    /// The first frame, or the only one.
    file: Arc<FemFile>,
    /// All frames, if values over time are on the mesh and come from files.
    series: Option<FemSeries>,
}

impl OpenMesh {
    /// Reads the first frame of a source.
    fn read(
        source: &FemSource,
        is_over_time: bool,
        times: Option<&GivenTimes>,
    ) -> Result<OpenMesh, FemError> {
        if times.is_some() && !is_over_time {
            return Err(
                "times are given, but the program has no values over time on this mesh".into(),
            );
        }
        match source {
            FemSource::Memory(file) => {
                file.check()?;
                let (file, series) = (file.clone(), None);
                Ok(OpenMesh { file, series })
            }
            FemSource::File(file) if !is_over_time => {
                let (file, series) = (Arc::new(FemFile::read(file)?), None);
                Ok(OpenMesh { file, series })
            }
            FemSource::File(file) => {
                let series = FemSeries::open(file)?;
                let series = match times {
                    Some(GivenTimes::Axis(given)) => series.at_times(given)?,
                    Some(GivenTimes::FromFirst) => series.from_zero(),
                    None => series,
                };
                let (file, series) = (Arc::new(series.read(0)?), Some(series));
                Ok(OpenMesh { file, series })
            }
        }
    }

    /// How many frames there are, and their times.
    fn frames(&self) -> (usize, TimeAxis) {
        match &self.series {
            Some(series) => (series.frames(), series.times().clone()),
            None => (1, TimeAxis::NUMBERS),
        }
    }

    /// Notes about the times.
    fn notes(&self, real: Real, input: Option<&str>) -> Vec<String> {
        let Some(series) = &self.series else {
            return Vec::new();
        };
        let unknown = "the frames have no times; their numbers are taken as seconds";
        let unknown = (!series.has_times()).then(|| unknown.to_string());
        let option = input.map_or("--times".to_string(), |name| format!("--times-{name}"));
        let beyond = match real {
            Real::F32 => series.times().beyond_single(series.frames(), &option),
            Real::F64 => None,
        };
        unknown.into_iter().chain(beyond).collect()
    }
}

impl LoadedFems {
    /// Loads a program's meshes.
    ///
    /// # Errors
    /// One of them cannot be loaded.
    pub(super) fn load(program: &Compiled, sources: &FemSources) -> Result<LoadedFems, Failure> {
        let real = if program.lanes.double {
            Real::F64
        } else {
            Real::F32
        };
        let interface = &program.interface;
        let mut loaded = LoadedFems::default();
        let mut files: Vec<OpenMesh> = Vec::new();
        // What the files say is kept until the values have been taken from them.
        let mut held = Claim::default();
        for (n, (mesh, source)) in interface.meshes.iter().zip(&sources.meshes).enumerate() {
            let input = input_of_mesh(interface, n as u32);
            // A file that the program names is a matter of its text, any other one of an option.
            let (name, place) = match source {
                FemSource::File(file)
                    if mesh.file.as_ref().is_some_and(|named| *file == **named) =>
                {
                    (file.to_string(), Some(mesh.span.start))
                }
                FemSource::File(file) => match input {
                    Some(input) => (format!("-{input} {file}"), None),
                    None => (file.to_string(), None),
                },
                FemSource::Memory(_) => ("the mesh in memory".to_string(), None),
            };
            let failed = |error: FemError| failure(error.in_file(&name), place);
            let opened =
                OpenMesh::read(source, interface.is_over_time(n), sources.times[n].as_ref());
            let opened = opened.map_err(failed)?;
            held.grow(opened.file.bytes())
                .map_err(|shortage| failed(shortage.into()))?;
            let made = Mesh::new(&opened.file, mesh.dim, real).map_err(failed)?;
            let notes = made
                .notes()
                .iter()
                .cloned()
                .chain(opened.notes(real, input));
            let notes = notes.map(|note| format!("{name}: {note}"));
            loaded.notes.extend(notes);
            loaded.table.meshes.push(Arc::new(made));
            loaded.names.push(name);
            files.push(opened);
        }
        let values = loaded.load_values(interface, &files, &sources.arrays, real)?;
        let mut highest: BTreeMap<u32, usize> = BTreeMap::new();
        for probe in program.code.linker().fem_probes() {
            let probed = probe.wanted.iter().map(|(field, _)| field.fem);
            let probed = probed.map(|fem| (fem, values[fem as usize].clone()));
            loaded.table.values.extend(probed);
            let fields = probe.wanted.iter().map(|(field, orders)| {
                let most = orders.iter().max().unwrap_or(0);
                let known = highest.entry(field.fem).or_default();
                *known = most.max(*known);
                FemWanted {
                    values: values[field.fem as usize].clone(),
                    orders: orders.0,
                    outside: outside(field),
                }
            });
            loaded.table.wanted.push(fields.collect());
        }
        for (fem, order) in highest {
            let (values, fem) = (&values[fem as usize], &interface.fems[fem as usize]);
            let degree = values.degree(&loaded.table.meshes[fem.mesh as usize]);
            if let Some(degree) = degree.filter(|degree| order > *degree) {
                loaded.notes.push(format!(
                    "derivatives of order {} and more of `{}` (degree {degree}) are 0 in every cell",
                    degree + 1,
                    fem.variable
                ));
            }
        }
        Ok(loaded)
    }

    /// Takes the values from the files: of the first frames, and then those of the others, one frame at a time.
    fn load_values(
        &mut self,
        interface: &Interface,
        files: &[OpenMesh],
        arrays: &[Option<String>],
        real: Real,
    ) -> Result<Vec<Arc<FemValues>>, Failure> {
        let mut taken: Vec<Taken<'_>> = Vec::new();
        for (number, (fem, array)) in interface.fems.iter().zip(arrays).enumerate() {
            let mesh = fem.mesh as usize;
            let place = (*array == fem.array).then_some(fem.span.start);
            let failed = |error: FemError| failure(error.in_file(&self.names[mesh]), place);
            let frames = files[mesh].frames();
            if !fem.timed && frames.0 > 1 {
                let message = format!(
                    "the file has {} times, but `{}` is not over time",
                    frames.0, fem.variable
                );
                return Err(failed(message.into()));
            }
            let choice = Choice {
                array: array.as_deref(),
                variable: &fem.variable,
                shape: fem.shape.dims(),
            };
            let file = &files[mesh].file;
            let found = choice.find(file).map_err(failed)?;
            // The other frames have the same array.
            let choice = Choice {
                array: Some(&found.name),
                ..choice
            };
            let on = &self.table.meshes[mesh];
            let values = match fem.timed {
                true => FemValues::over_time(on, file, &choice, (frames.0, &frames.1)),
                false => FemValues::new(on, file, &choice),
            };
            let fact = Fact::Range(Data::Fem(number as u32));
            let mut one = Taken {
                choice,
                place,
                values: values.map_err(failed)?,
                wants_range: interface.facts.iter().any(|known| known.fact == fact),
                range: NO_RANGE,
                beyond: 0,
            };
            one.look_at(found, real);
            taken.push(one);
            self.values.push(ValuesInfo {
                mesh,
                range: NO_RANGE,
                frames,
            });
        }
        for (mesh, opened) in files.iter().enumerate() {
            let Some(series) = &opened.series else {
                continue;
            };
            for frame in 1..series.frames() {
                let failed =
                    |error: FemError, place| failure(error.in_file(&self.names[mesh]), place);
                let file = series.read_on(frame, &opened.file);
                let file = file.map_err(|error| failed(error, None))?;
                let _held = memory::claim(file.bytes())
                    .map_err(|shortage| failed(shortage.into(), None))?;
                let own = interface.fems.iter().zip(&mut taken);
                for (_, one) in own.filter(|(fem, _)| fem.timed && fem.mesh as usize == mesh) {
                    let array = one.choice.find(&file).and_then(|array| {
                        let on = &self.table.meshes[mesh];
                        one.values.set_frame(on, frame, &file, &one.choice)?;
                        Ok(array)
                    });
                    let at_time = |error: FemError| error.at_time(series.times().time(frame));
                    let array = array.map_err(|error| failed(at_time(error), one.place))?;
                    one.look_at(array, real);
                }
            }
        }
        for (one, info) in taken.iter().zip(&mut self.values) {
            info.range = one.range;
            let name = &self.names[info.mesh];
            let array = one.choice.array.unwrap_or_default();
            let note = |warning| format!("{name}: array `{array}`: {warning}");
            self.notes.extend(beyond_single(one.beyond).map(note));
        }
        Ok(taken.into_iter().map(|one| Arc::new(one.values)).collect())
    }

    /// The space that a mesh takes.
    pub(super) fn extent(&self, mesh: usize) -> Extent {
        let mesh = &self.table.meshes[mesh];
        Extent::of_mesh(mesh.world_box(), mesh.cells())
    }

    /// The mesh of values, and their range if the program asks for it.
    pub(super) fn values(&self, fem: usize) -> (usize, (f64, f64)) {
        let ValuesInfo { mesh, range, .. } = &self.values[fem];
        (*mesh, *range)
    }

    /// How many frames values have, and their times.
    pub(super) fn frames(&self, fem: usize) -> (usize, &TimeAxis) {
        let (frames, times) = &self.values[fem].frames;
        (*frames, times)
    }

    /// The meshes that were probed, but never inside, and their names.
    pub(super) fn missed(&self) -> impl Iterator<Item = (&str, &Mesh)> {
        let all = self.names.iter().zip(&self.table.meshes);
        all.filter(|(_, mesh)| mesh.was_missed())
            .map(|(name, mesh)| (name.as_str(), &**mesh))
    }

    /// The meshes, with the values on them that are probed.
    pub(super) fn data(&self) -> Vec<MeshData<'_>> {
        let of_mesh = |(number, mesh)| {
            let values = self.table.values.iter();
            let own = values.filter(|(fem, _)| self.values[**fem as usize].mesh == number);
            MeshData {
                mesh,
                values: own.map(|(&fem, values)| (fem, &**values)).collect(),
            }
        };
        self.table.meshes.iter().enumerate().map(of_mesh).collect()
    }

    /// The meshes.
    pub(super) fn meshes(&self) -> &[Arc<Mesh>] {
        &self.table.meshes
    }

    /// The meshes with positions for which the inverse map of a curved cell was not found, and how many these are.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = (&str, u64)> {
        let all = self.names.iter().zip(&self.table.meshes);
        all.filter(|(_, mesh)| mesh.unresolved() > 0)
            .map(|(name, mesh)| (name.as_str(), mesh.unresolved()))
    }
}

/// Values while they are taken from files.
struct Taken<'a> {
    choice: Choice<'a>,
    /// Where the program names the array.
    place: Option<u32>,
    values: FemValues,
    wants_range: bool,
    range: (f64, f64),
    /// The number of values that are infinite in single precision.
    beyond: u64,
}

impl Taken<'_> {
    /// Takes note of the numbers of a frame.
    fn look_at(&mut self, array: &FemArray, real: Real) {
        if self.wants_range {
            let (low, high) = finite_range(&array.values);
            self.range = (self.range.0.min(low), self.range.1.max(high));
        }
        if real == Real::F32 {
            self.beyond += array.beyond_single();
        }
    }
}

/// The input that a mesh is given by.
pub(super) fn input_of_mesh(interface: &Interface, mesh: u32) -> Option<&str> {
    let input = interface.inputs.iter().find(|input| match input.target {
        InputTarget::Mesh(n) => n == mesh,
        InputTarget::Fem(n) => interface.fems[n as usize].mesh == mesh,
        InputTarget::Global(_) | InputTarget::Image(_) => false,
    });
    input.map(|input| input.name.as_str())
}

fn failure(error: FemError, place: Option<u32>) -> Failure {
    Failure {
        place,
        hints: error.hints().to_vec(),
        ..Failure::input(error.headline())
    }
}

fn outside(field: &FemField) -> Outside {
    match &field.outside {
        None => Outside::Nan,
        Some(values) => Outside::Constant(values.iter().map(|x| x.get()).collect()),
    }
}
