//! Operations on meshes: loads from their tables, and the cells that strands were in last.

use super::{Class, KnownAddress, PtxPrinter};
use crate::{
    codegen::gpu::{kernel::Cell, meshes::MeshCell},
    device::{Form, MeshOp, Op},
    ssa::Value,
};
use runtime::fem::tables::Table;

/// The registers about a mesh while a strand runs: one more than the cell that it was in last, or 0, and whether it has looked for
/// one.
pub(super) struct Hint {
    mesh: u32,
    cell: String,
    has_looked: String,
}

impl PtxPrinter<'_> {
    /// An operation on a mesh; nothing if it gives nothing.
    pub(in crate::codegen::gpu) fn mesh(
        &mut self,
        op: MeshOp,
        args: &[Value],
        given: &[&str],
    ) -> Option<String> {
        let int = self.ty(Class::Int);
        Some(match op {
            MeshOp::Load {
                mesh,
                table,
                form,
                ahead,
            } => self.load_entry((mesh, table), form, (args[0], given[0]), ahead),
            MeshOp::Fact(mesh, fact) => {
                self.cell(Cell::Mesh(mesh, MeshCell::Fact(fact)), "f64", Class::Double)
            }
            MeshOp::Cells(mesh) => self.number_of(mesh, MeshCell::Cells),
            MeshOp::Base(mesh, fem, block) => self.number_of(mesh, MeshCell::Base(fem, block)),
            MeshOp::Frames(mesh, fem) => self.number_of(mesh, MeshCell::Frames(fem)),
            MeshOp::FrameStride(mesh, fem) => self.number_of(mesh, MeshCell::FrameStride(fem)),
            MeshOp::Hint(mesh) => {
                let cell = self.hint(mesh).cell.clone();
                let before = self.compute(Class::Word, "sub.u32", &[&cell, "1"]);
                self.extended(&before)
            }
            MeshOp::Visit(mesh) => {
                let hint = self.hint(mesh);
                let (cell, has_looked) = (hint.cell.clone(), hint.has_looked.clone());
                self.line(&format!("mov.u32 {has_looked}, 1"));
                let word = match int {
                    "s32" => self.compute(Class::Word, "mov.b32", given),
                    _ => {
                        let wide = self.compute(Class::Wide, "mov.b64", given);
                        self.compute(Class::Word, "cvt.u32.u64", &[&wide])
                    }
                };
                let inside =
                    self.compute(Class::Truth, &format!("setp.ge.{int}"), &[given[0], "0"]);
                self.line(&format!("@{inside} add.u32 {cell}, {word}, 1"));
                return None;
            }
            MeshOp::Truncate => self.compute(Class::Int, &format!("cvt.rzi.{int}.f64"), given),
            MeshOp::FromInt => self.compute(Class::Double, &format!("cvt.rn.f64.{int}"), given),
            MeshOp::PowerOfTwo => {
                let exponent = self.compute(Class::Int, &format!("add.{int}"), &[given[0], "1023"]);
                let wide = match int {
                    "s32" => self.compute(Class::Wide, "cvt.s64.s32", &[&exponent]),
                    _ => self.compute(Class::Wide, "mov.b64", &[&exponent]),
                };
                let bits = self.compute(Class::Wide, "shl.b64", &[&wide, "52"]);
                self.compute(Class::Double, "mov.b64", &[&bits])
            }
        })
    }

    /// An integer of a mesh.
    fn number_of(&mut self, mesh: u32, cell: MeshCell) -> String {
        self.cell(Cell::Mesh(mesh, cell), self.ty(Class::Int), Class::Int)
    }

    /// A word of 32 bits with a sign as an integer.
    fn extended(&mut self, word: &str) -> String {
        match self.ty(Class::Int) {
            "s32" => self.compute(Class::Int, "mov.b32", &[word]),
            _ => self.compute(Class::Int, "cvt.s64.s32", &[word]),
        }
    }

    fn load_entry(
        &mut self,
        (mesh, table): (u32, Table),
        form: Form,
        (entry, given): (Value, &str),
        ahead: u32,
    ) -> String {
        let known = KnownAddress::Number(entry, mesh, table, ahead);
        if form == Form::Double
            && let Some(loaded) = self.places.get(&known)
        {
            return loaded.clone();
        }
        let generic = self.cell(Cell::Mesh(mesh, MeshCell::Table(table)), "u64", Class::Wide);
        let base = self.compute(Class::Wide, "cvta.to.global.u64", &[&generic]);
        let traits = &self.kernel.meshes[mesh as usize].mesh;
        let stride = table.stride(traits);
        let address = self.address_of(
            KnownAddress::Entry(entry, mesh, table),
            given,
            stride,
            &base,
        );
        match form {
            // Entries of these begin at multiples of 16 bytes.
            Form::Double if matches!(table, Table::Records | Table::Geometry) => {
                let [a, b] = [0; 2].map(|_| self.register(Class::Double));
                let first = ahead / 2 * 2;
                self.line(&format!(
                    "ld.global.nc.v2.f64 {{{a}, {b}}}, [{address}+{}]",
                    8 * first
                ));
                let numbers = [a, b];
                for (number, register) in (first..).zip(&numbers) {
                    let place = KnownAddress::Number(entry, mesh, table, number);
                    self.places.insert(place, register.clone());
                }
                numbers[(ahead - first) as usize].clone()
            }
            Form::Double => {
                let register = self.register(Class::Double);
                self.line(&format!(
                    "ld.global.nc.f64 {register}, [{address}+{}]",
                    8 * ahead
                ));
                register
            }
            Form::Int => {
                let at = table.integers() + 4 * ahead as usize;
                let word = self.register(Class::Word);
                self.line(&format!("ld.global.nc.u32 {word}, [{address}+{at}]"));
                self.extended(&word)
            }
            Form::Byte => {
                let at = table.bytes() + ahead as usize;
                let word = self.register(Class::Word);
                self.line(&format!("ld.global.nc.u8 {word}, [{address}+{at}]"));
                self.extended(&word)
            }
        }
    }

    fn hint(&self, mesh: u32) -> &Hint {
        let known = self.hints.iter().find(|hint| hint.mesh == mesh);
        known.expect("a mesh that strands look at")
    }

    /// Loads the cells that the strand whose lanes these are was in last.
    pub(super) fn load_hints(&mut self, lanes: &[String; 2]) {
        let meshes = self.kernel.numbers(|op| match op {
            Op::Mesh(MeshOp::Visit(mesh)) => Some(*mesh),
            _ => None,
        });
        for mesh in meshes {
            let offset = self.kernel.hints[mesh as usize];
            let cell = self.load("global", &lanes[0], offset);
            let has_looked = self.compute(Class::Word, "mov.u32", &["0"]);
            self.hints.push(Hint {
                mesh,
                cell,
                has_looked,
            });
        }
    }

    /// Stores them, and tells the meshes that they were looked at.
    pub(super) fn store_hints(&mut self, lanes: &[String; 2]) {
        for hint in std::mem::take(&mut self.hints) {
            let offset = self.kernel.hints[hint.mesh as usize];
            self.line(&format!(
                "st.global.u32 [{}+{offset}], {}",
                lanes[0], hint.cell
            ));
            let contact = Cell::Mesh(hint.mesh, MeshCell::Contact);
            self.tell(contact, [&hint.has_looked, &hint.cell]);
        }
    }
}
