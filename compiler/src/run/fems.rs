//! The meshes of a running program and the values on them.

use super::{Failure, facts::Extent};
use crate::{
    codegen::{Compiled, abi::FemTable},
    ir::{
        fem::FemField,
        interface::{Data, Fact, InputTarget, Interface},
    },
};
use runtime::{
    fem::{Choice, FemError, FemFile, FemValues, FemWanted, Mesh, Outside},
    file_name::FileName,
    image::{NO_RANGE, beyond_single, finite_range},
    memory::Claim,
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
    /// For all values on meshes, the array that was named.
    pub(super) arrays: Vec<Option<String>>,
}

impl FemSources {
    /// Whether the same is read from the same files.
    pub(super) fn is_same(&self, other: &FemSources) -> bool {
        let mut pairs = self.meshes.iter().zip(&other.meshes);
        self.arrays == other.arrays
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
    /// For all values on meshes, their mesh, and their range if the program asks for it.
    values: Vec<(usize, (f64, f64))>,
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
        let mut files: Vec<Arc<FemFile>> = Vec::new();
        // What the files say is kept until the values have been taken from them.
        let mut held = Claim::default();
        for (n, (mesh, source)) in interface.meshes.iter().zip(&sources.meshes).enumerate() {
            // A file that the program names is a matter of its text, any other one of an option.
            let (name, place) = match source {
                FemSource::File(file)
                    if mesh.file.as_ref().is_some_and(|named| *file == **named) =>
                {
                    (file.to_string(), Some(mesh.span.start))
                }
                FemSource::File(file) => match input_of_mesh(interface, n as u32) {
                    Some(input) => (format!("-{input} {file}"), None),
                    None => (file.to_string(), None),
                },
                FemSource::Memory(_) => ("the mesh in memory".to_string(), None),
            };
            let failed = |error: FemError| failure(error.in_file(&name), place);
            let file = match source {
                FemSource::File(file) => Arc::new(FemFile::read(file).map_err(failed)?),
                FemSource::Memory(file) => {
                    file.check().map_err(failed)?;
                    file.clone()
                }
            };
            held.grow(file.bytes())
                .map_err(|shortage| failed(shortage.into()))?;
            let made = Mesh::new(&file, mesh.dim, real).map_err(failed)?;
            let notes = made.notes().iter().map(|note| format!("{name}: {note}"));
            loaded.notes.extend(notes);
            loaded.table.meshes.push(Arc::new(made));
            loaded.names.push(name);
            files.push(file);
        }
        let mut values: Vec<Arc<FemValues>> = Vec::new();
        for (fem, array) in interface.fems.iter().zip(&sources.arrays) {
            let number = fem.mesh as usize;
            let choice = Choice {
                array: array.as_deref(),
                variable: &fem.variable,
                shape: fem.shape.dims(),
            };
            let made = FemValues::new(&loaded.table.meshes[number], &files[number], &choice);
            let place = (*array == fem.array).then_some(fem.span.start);
            let failed = |error: FemError| failure(error.in_file(&loaded.names[number]), place);
            values.push(Arc::new(made.map_err(failed)?));
            let fact = Fact::Range(Data::Fem(loaded.values.len() as u32));
            let range = match interface.facts.iter().any(|known| known.fact == fact) {
                true => finite_range(&choice.find(&files[number]).map_err(failed)?.values),
                false => NO_RANGE,
            };
            loaded.values.push((number, range));
            if real == Real::F32 {
                let name = &loaded.names[number];
                let array = choice.find(&files[number]).map_err(failed)?;
                let warning = beyond_single(array.beyond_single());
                let note = |warning| format!("{name}: array `{}`: {warning}", array.name);
                loaded.notes.extend(warning.map(note));
            }
        }
        let mut highest: BTreeMap<u32, usize> = BTreeMap::new();
        for probe in program.code.linker().fem_probes() {
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

    /// The space that a mesh takes.
    pub(super) fn extent(&self, mesh: usize) -> Extent {
        let mesh = &self.table.meshes[mesh];
        Extent::of_mesh(mesh.world_box(), mesh.cells())
    }

    /// The mesh of values, and their range if the program asks for it.
    pub(super) fn values(&self, fem: usize) -> (usize, (f64, f64)) {
        self.values[fem]
    }

    /// The meshes that were probed, but never inside: their names, and their extent along each coordinate of the world.
    pub(super) fn missed(&self) -> impl Iterator<Item = (&str, Vec<(f64, f64)>)> {
        let all = self.names.iter().zip(&self.table.meshes);
        all.filter(|(_, mesh)| mesh.was_missed())
            .map(|(name, mesh)| (name.as_str(), mesh.world_box()))
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
