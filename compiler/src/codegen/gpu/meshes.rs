//! Meshes and the values on them in the memory of a machine, as tables.

use super::{
    driver::DriverError,
    kernel::{Cell, Kernel},
    launch::Machine,
    memory::{Memory, words_as_bytes_mut},
};
use crate::{
    device::{MeshTraits, refuse_meshes},
    ir::interface::Interface,
};
use runtime::{
    fem::{
        FemValues, Mesh,
        tables::{Fact, Table, Traits},
    },
    grid::AskedBox,
};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// What a kernel reads of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshCell {
    /// The address of a table.
    Table(Table),
    /// A number.
    Fact(Fact),
    /// How many cells there are.
    Cells,
    /// The place of the coefficients of the cells of a block, if its first one were cell 0: values, block.
    Base(u32, u8),
    /// How many frames values have.
    Frames(u32),
    /// From the coefficients of one frame to those of the next.
    FrameStride(u32),
    /// The address of two words: whether positions were looked for, and whether one was inside.
    Contact,
}

/// A mesh, and the values on it that are probed, by their numbers in the program.
#[derive(Clone, Debug)]
pub struct MeshData<'a> {
    /// The mesh.
    pub mesh: &'a Arc<Mesh>,
    /// The values.
    pub values: Vec<(u32, &'a FemValues)>,
}

impl MeshData<'_> {
    /// What code for it depends on.
    pub fn traits(&self) -> MeshTraits {
        let constant = self
            .values
            .iter()
            .filter(|(_, values)| values.are_constant());
        let irregular = self
            .values
            .iter()
            .filter(|(_, values)| values.has_irregular_times());
        MeshTraits {
            mesh: self.mesh.traits(),
            constants: constant.map(|(fem, _)| *fem).collect(),
            irregular: irregular.map(|(fem, _)| *fem).collect(),
        }
    }

    /// Why a kernel cannot probe fields on it, in words.
    pub(super) fn refused(&self, kernel: &Kernel, number: u32) -> Option<String> {
        let many = i32::MAX as usize;
        if self.mesh.is_huge() || self.values.iter().any(|(_, values)| values.count() > many) {
            return Some("a mesh has 2^31 cells, corners or coefficients or more".to_string());
        }
        let has_collapsed = || self.mesh.has_collapsed_cells();
        refuse_meshes(
            &kernel.mesh_demands,
            number,
            &self.mesh.traits(),
            has_collapsed,
        )
    }
}

/// What meshes are taken to be like until they are loaded: straight simplices of degree 1.
pub(super) fn plain(interface: &Interface) -> Vec<MeshTraits> {
    let plain = interface.meshes.iter().map(|mesh| MeshTraits {
        mesh: Traits::plain(mesh.dim),
        constants: Vec::new(),
        irregular: Vec::new(),
    });
    plain.collect()
}

/// A mesh in the memory of a machine.
pub(super) struct MeshRoom {
    mesh: Arc<Mesh>,
    tables: Vec<(Table, Memory)>,
    /// The numbers of values that the kernel reads.
    numbers: HashMap<MeshCell, i64>,
    contact: Memory,
    /// Whether it is known that some position was inside.
    was_met: AtomicBool,
}

impl MeshRoom {
    /// Copies what a kernel reads of the mesh with a number.
    pub(super) fn copy(
        machine: &Arc<dyn Machine>,
        kernel: &Kernel,
        number: u32,
        data: &MeshData<'_>,
    ) -> Result<MeshRoom, DriverError> {
        let mut tables = Vec::new();
        let mut numbers = HashMap::new();
        let traits = data.mesh.traits();
        for cell in &kernel.cells {
            match *cell {
                Cell::Mesh(mesh, MeshCell::Table(table)) if mesh == number => {
                    tables.push((table, copy_table(machine, data, table, &traits)?));
                }
                Cell::Mesh(mesh, cell) if mesh == number => {
                    let value = match cell {
                        MeshCell::Base(fem, block) => data.of(fem).base(data.mesh, block.into()),
                        MeshCell::Frames(fem) => data.of(fem).frames() as i64,
                        MeshCell::FrameStride(fem) => data.of(fem).frame_stride() as i64,
                        _ => continue,
                    };
                    numbers.insert(cell, value);
                }
                _ => {}
            }
        }
        let contact = Memory::new(machine, 8)?;
        machine.write(contact.address, &[0; 8])?;
        Ok(MeshRoom {
            mesh: Arc::clone(data.mesh),
            tables,
            numbers,
            contact,
            was_met: AtomicBool::new(false),
        })
    }

    /// The value of a cell of a kernel.
    pub(super) fn cell(&self, cell: MeshCell) -> u64 {
        match cell {
            MeshCell::Table(table) => {
                let found = self.tables.iter().find(|(known, _)| *known == table);
                found.expect("a table that was copied").1.address
            }
            MeshCell::Fact(fact) => self.mesh.fact(fact).to_bits(),
            MeshCell::Cells => self.mesh.cells() as u64,
            MeshCell::Base(..) | MeshCell::Frames(_) | MeshCell::FrameStride(_) => {
                self.numbers[&cell] as u64
            }
            MeshCell::Contact => self.contact.address,
        }
    }

    /// Tells the mesh whether positions were looked for, and whether one was inside, until one was.
    pub(super) fn notice(&self) -> Result<(), DriverError> {
        if self.was_met.load(Relaxed) {
            return Ok(());
        }
        let mut words = [0u32; 2];
        let bytes = words_as_bytes_mut(&mut words);
        self.contact.machine.read(self.contact.address, bytes)?;
        let [probed, inside] = words.map(u64::from);
        self.mesh
            .learn_contact([probed, inside, 0], AskedBox::default().bits());
        self.was_met.store(inside != 0, Relaxed);
        Ok(())
    }
}

impl MeshData<'_> {
    /// Values, by their number in the program.
    fn of(&self, fem: u32) -> &FemValues {
        let mut values = self.values.iter();
        values
            .find(|(known, _)| *known == fem)
            .expect("values that are probed")
            .1
    }
}

/// Copies a table to a machine.
fn copy_table(
    machine: &Arc<dyn Machine>,
    data: &MeshData<'_>,
    table: Table,
    traits: &Traits,
) -> Result<Memory, DriverError> {
    let entries = match table {
        Table::Values(fem) => data.of(fem).count(),
        Table::Times(fem) => data.of(fem).times().len(),
        _ => data.mesh.entries(table),
    };
    let memory = Memory::new(machine, entries * table.stride(traits))?;
    let (mut at, mut result) = (memory.address, Ok(()));
    let mut write = |bytes: &[u8]| {
        if result.is_ok() && !bytes.is_empty() {
            result = machine.write(at, bytes);
            at += bytes.len() as u64;
        }
    };
    match table {
        Table::Values(fem) => data.of(fem).bytes(&mut write),
        Table::Times(fem) => {
            let times = data.of(fem).times();
            times.iter().for_each(|time| write(&time.to_le_bytes()));
        }
        _ => data.mesh.table(table, &mut write),
    }
    result.map(|()| memory)
}
