//! The reference meaning of operations on the tables of meshes.

use super::low::{Datum, Machine};
use crate::device::{Form, MeshOp};
use runtime::fem::{
    FemValues, Mesh,
    tables::{Table, Traits},
};
use std::{collections::HashMap, sync::Arc};

/// The tables of a mesh, and of values on it.
#[derive(Debug)]
pub struct EvalTables {
    mesh: Arc<Mesh>,
    traits: Traits,
    tables: HashMap<Table, Vec<u8>>,
    /// For each values and block, the place of the coefficients of its cells.
    bases: HashMap<(u32, u8), i64>,
    /// For each values, how many frames there are, and from the coefficients of one to those of the next.
    frames: HashMap<u32, [i64; 2]>,
}

impl EvalTables {
    /// Those of a mesh and of values by their numbers in the program.
    pub fn new(mesh: &Arc<Mesh>, values: &[(u32, &FemValues)]) -> EvalTables {
        let traits = mesh.traits();
        let mut tables = HashMap::new();
        for (table, _) in Table::OF_MESHES {
            let mut all = Vec::new();
            mesh.table(table, &mut |bytes| all.extend_from_slice(bytes));
            assert_eq!(
                all.len(),
                mesh.entries(table) * table.stride(&traits),
                "{table:?}"
            );
            tables.insert(table, all);
        }
        let (mut bases, mut frames) = (HashMap::new(), HashMap::new());
        for &(fem, values) in values {
            let mut all = Vec::new();
            values.bytes(&mut |bytes| all.extend_from_slice(bytes));
            tables.insert(Table::Values(fem), all);
            let times = values.times().into_iter();
            let times = times.flat_map(|time| time.to_le_bytes()).collect();
            tables.insert(Table::Times(fem), times);
            let numbers = [values.frames(), values.frame_stride()];
            frames.insert(fem, numbers.map(|n| n as i64));
            for block in 0..traits.blocks.len() {
                bases.insert((fem, block as u8), values.base(mesh, block));
            }
        }
        EvalTables {
            mesh: Arc::clone(mesh),
            traits,
            tables,
            bases,
            frames,
        }
    }

    fn load(&self, table: Table, form: Form, entry: i64, ahead: u32) -> Datum {
        let first = usize::try_from(entry).expect("an entry") * table.stride(&self.traits);
        let ahead = ahead as usize;
        let all = &self.tables[&table];
        let word = |at: usize| all[at..at + 4].try_into().expect("four bytes");
        match form {
            Form::Double => {
                let at = first + 8 * ahead;
                let bytes = all[at..at + 8].try_into().expect("eight bytes");
                Datum::Real(f64::from_le_bytes(bytes))
            }
            Form::Int => {
                let at = first + table.integers() + 4 * ahead;
                Datum::Int(i32::from_le_bytes(word(at)).into())
            }
            Form::Byte => Datum::Int(all[first + table.bytes() + ahead].into()),
        }
    }
}

impl Machine {
    /// What an operation on a mesh gives.
    pub(super) fn mesh(&mut self, op: MeshOp, args: &[&Datum]) -> Vec<Datum> {
        let of = |mesh: u32| &self.meshes.tables[mesh as usize];
        vec![match op {
            MeshOp::Load {
                mesh,
                table,
                form,
                ahead,
            } => of(mesh).load(table, form, args[0].int(), ahead),
            MeshOp::Fact(mesh, fact) => Datum::Real(of(mesh).mesh.fact(fact)),
            MeshOp::Cells(mesh) => Datum::Int(of(mesh).mesh.cells() as i64),
            MeshOp::Base(mesh, fem, block) => Datum::Int(of(mesh).bases[&(fem, block)]),
            MeshOp::Frames(mesh, fem) => Datum::Int(of(mesh).frames[&fem][0]),
            MeshOp::FrameStride(mesh, fem) => Datum::Int(of(mesh).frames[&fem][1]),
            MeshOp::Hint(mesh) => Datum::Int(self.cells.get(&mesh).copied().unwrap_or(-1)),
            MeshOp::Visit(mesh) => {
                if args[0].int() >= 0 {
                    self.cells.insert(mesh, args[0].int());
                }
                return vec![];
            }
            MeshOp::Truncate => Datum::Int(args[0].real() as i64),
            MeshOp::FromInt => Datum::Real(args[0].int() as f64),
            MeshOp::PowerOfTwo => Datum::Real(2.0_f64.powi(args[0].int() as i32)),
        }]
    }
}
