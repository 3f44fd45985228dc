//! Operations of Device-IR on meshes: loads from their tables, their numbers, and the cell that a strand was in last.

use super::super::dialect::{Device, Ty};
use crate::{ir::words::Words, ssa::Dialect};
use runtime::fem::tables::{Fact, Table};
use std::fmt;

/// The form of a value in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A number in double precision.
    Double,
    /// An integer of 32 bits.
    Int,
    /// An integer of 8 bits without a sign.
    Byte,
}

/// An operation on a mesh, or one that only meshes need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshOp {
    /// Loads from the entry of a table with a number: this many places behind the first of the form.
    Load {
        /// The mesh.
        mesh: u32,
        /// The table.
        table: Table,
        /// The form.
        form: Form,
        /// The place.
        ahead: u32,
    },
    /// A number of a mesh.
    Fact(u32, Fact),
    /// How many cells a mesh has.
    Cells(u32),
    /// The place of the coefficients of the cells of a block, if its first one were cell 0: mesh, values, block.
    Base(u32, u32, u8),
    /// How many frames values on a mesh have: mesh, values.
    Frames(u32, u32),
    /// From the coefficients of one frame to those of the next: mesh, values.
    FrameStride(u32, u32),
    /// A cell that the strand was in before, or a negative number. It changes nothing but the time that a search takes.
    Hint(u32),
    /// Takes note of the cell that a position is in; it is negative outside.
    Visit(u32),
    /// A double without its fraction, as an integer.
    Truncate,
    /// An integer as a double.
    FromInt,
    /// Two to the power of an integer, which is that of a normal number.
    PowerOfTwo,
}

impl MeshOp {
    /// Types of arguments and results.
    pub(in crate::device) fn signature(self) -> (Vec<Ty>, Vec<Ty>) {
        const INT: Ty = Device::INT;
        match self {
            MeshOp::Load {
                form: Form::Double, ..
            } => (vec![INT], vec![Ty::Double]),
            MeshOp::Load { .. } => (vec![INT], vec![INT]),
            MeshOp::Fact(..) => (vec![], vec![Ty::Double]),
            MeshOp::Cells(_)
            | MeshOp::Base(..)
            | MeshOp::Frames(..)
            | MeshOp::FrameStride(..)
            | MeshOp::Hint(_) => (vec![], vec![INT]),
            MeshOp::Visit(_) => (vec![INT], vec![]),
            MeshOp::Truncate => (vec![Ty::Double], vec![INT]),
            MeshOp::FromInt | MeshOp::PowerOfTwo => (vec![INT], vec![Ty::Double]),
        }
    }

    /// Whether the order matters in which it is executed.
    pub(in crate::device) fn has_effect(self) -> bool {
        matches!(self, MeshOp::Hint(_) | MeshOp::Visit(_))
    }

    /// The operation with this text.
    pub(in crate::device) fn parse(words: &Words<'_>) -> Option<Result<MeshOp, String>> {
        let number = |n: usize| words.number::<u32>(n);
        let load = |form: Form| {
            Ok(MeshOp::Load {
                mesh: number(1)?,
                table: table(&words.number::<String>(2)?).ok_or_else(|| words.bad())?,
                form,
                ahead: number(3)?,
            })
        };
        let fact = || {
            let name: String = words.number(2)?;
            let known = Fact::ALL.iter().find(|(_, known)| *known == name);
            let (fact, _) = known.ok_or_else(|| words.bad())?;
            Ok(MeshOp::Fact(number(1)?, *fact))
        };
        Some(match words.name() {
            "mesh-double" => load(Form::Double),
            "mesh-int" => load(Form::Int),
            "mesh-byte" => load(Form::Byte),
            "mesh-fact" => fact(),
            "mesh-cells" => number(1).map(MeshOp::Cells),
            "mesh-base" => (|| Ok(MeshOp::Base(number(1)?, number(2)?, words.number(3)?)))(),
            "mesh-frames" => (|| Ok(MeshOp::Frames(number(1)?, number(2)?)))(),
            "mesh-frame-stride" => (|| Ok(MeshOp::FrameStride(number(1)?, number(2)?)))(),
            "mesh-hint" => number(1).map(MeshOp::Hint),
            "mesh-visit" => number(1).map(MeshOp::Visit),
            "truncate" => Ok(MeshOp::Truncate),
            "from-int" => Ok(MeshOp::FromInt),
            "power-of-two" => Ok(MeshOp::PowerOfTwo),
            _ => return None,
        })
    }
}

impl fmt::Display for MeshOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeshOp::Load {
                mesh,
                table,
                form,
                ahead,
            } => {
                let form = match form {
                    Form::Double => "double",
                    Form::Int => "int",
                    Form::Byte => "byte",
                };
                write!(f, "mesh-{form} {mesh} {} {ahead}", table_name(*table))
            }
            MeshOp::Fact(mesh, fact) => {
                let known = Fact::ALL.iter().find(|(known, _)| known == fact);
                write!(f, "mesh-fact {mesh} {}", known.expect("all have names").1)
            }
            MeshOp::Cells(mesh) => write!(f, "mesh-cells {mesh}"),
            MeshOp::Base(mesh, fem, block) => write!(f, "mesh-base {mesh} {fem} {block}"),
            MeshOp::Frames(mesh, fem) => write!(f, "mesh-frames {mesh} {fem}"),
            MeshOp::FrameStride(mesh, fem) => write!(f, "mesh-frame-stride {mesh} {fem}"),
            MeshOp::Hint(mesh) => write!(f, "mesh-hint {mesh}"),
            MeshOp::Visit(mesh) => write!(f, "mesh-visit {mesh}"),
            MeshOp::Truncate => f.write_str("truncate"),
            MeshOp::FromInt => f.write_str("from-int"),
            MeshOp::PowerOfTwo => f.write_str("power-of-two"),
        }
    }
}

/// The name of a table.
fn table_name(table: Table) -> String {
    let known = Table::OF_MESHES.iter().find(|(known, _)| *known == table);
    match (table, known) {
        (Table::Values(fem), _) => format!("values:{fem}"),
        (Table::Times(fem), _) => format!("times:{fem}"),
        (_, Some((_, name))) => (*name).to_string(),
        _ => unreachable!("all tables have names"),
    }
}

fn table(name: &str) -> Option<Table> {
    if let Some(fem) = name.strip_prefix("values:") {
        return fem.parse().ok().map(Table::Values);
    }
    if let Some(fem) = name.strip_prefix("times:") {
        return fem.parse().ok().map(Table::Times);
    }
    let known = Table::OF_MESHES.iter().find(|(_, known)| *known == name);
    known.map(|(table, _)| *table)
}
