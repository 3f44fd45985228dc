//! The spatial index of a mesh: where a search begins, and the list of cells that may contain a position.

use super::{
    super::{dialect::Arithmetic, expand::Expander},
    Form, MeshOp, OfMesh, WITHOUT_END,
};
use crate::{ir::Simple, low, ssa::Value};
use runtime::fem::tables::Table;

/// The aim of a search.
#[derive(Clone, Copy, PartialEq)]
enum Sought {
    /// A cell to begin with.
    Start,
    /// The place of a list.
    List,
}

impl Expander {
    /// The cell in which a search for a position begins, or a negative number if no cell contains it.
    pub(super) fn start_in_index(&mut self, mesh: OfMesh<'_>, x: &[Value]) -> Value {
        self.look_up(mesh, x, Sought::Start)
    }

    /// The place of the list of the cells that may contain a position, and its length.
    pub(super) fn list_in_index(&mut self, mesh: OfMesh<'_>, x: &[Value]) -> [Value; 2] {
        let place = self.look_up(mesh, x, Sought::List);
        let members = (mesh.number, Table::Members);
        let length = self.load(Form::Int, members, place, 0);
        let one = self.int(1);
        [self.simple(Simple::IntAdd, &[place, one]), length]
    }

    /// Looks into one grid after the other, each inside a bin of the one before.
    fn look_up(&mut self, mesh: OfMesh<'_>, x: &[Value], sought: Sought) -> Value {
        let [first, last] = [1, WITHOUT_END].map(|n| self.int(n));
        let (going, zero) = (self.truth(true), self.int(0));
        let open = self.b.begin_for(first, last, true, vec![going, zero, zero]);
        let grid = open.carried[1];
        let found = self.look_into(mesh, x, grid, sought);
        // Starts keep −1 for no cell.
        let behind = self.int(if sought == Sought::Start { -2 } else { -1 });
        let is_inner = self.simple(Simple::IntLessEqual, &[found, behind]);
        let inner = self.simple(Simple::IntSub, &[behind, found]);
        let grid = self.select(low::Ty::Int, is_inner, inner, grid);
        self.b.for_(open, vec![is_inner, grid, found])[2]
    }

    /// What a grid has at a position.
    fn look_into(&mut self, mesh: OfMesh<'_>, x: &[Value], grid: Value, sought: Sought) -> Value {
        let (dim, grids) = (mesh.dim(), (mesh.number, Table::Grids));
        let mut number: Option<Value> = None;
        for axis in (0..dim).rev() {
            let along = axis as u32;
            let low = self.load(Form::Double, grids, grid, along);
            let mut scale = self.load(Form::Double, grids, grid, 3 + along);
            let mut size = self.load(Form::Int, grids, grid, along);
            if sought == Sought::Start {
                let two = self.wide_number(2.0);
                scale = self.wide(Arithmetic::Mul, &[two, scale]);
                size = self.simple(Simple::IntAdd, &[size, size]);
            }
            let off = self.wide(Arithmetic::Sub, &[x[axis], low]);
            let at = self.wide(Arithmetic::Mul, &[off, scale]);
            let (zero, one) = (self.wide_number(0.0), self.int(1));
            let last = self.simple(Simple::IntSub, &[size, one]);
            let last = self.mesh_op(MeshOp::FromInt, &[last]);
            let at = self.wide(Arithmetic::Max, &[at, zero]);
            let at = self.wide(Arithmetic::Min, &[at, last]);
            let at = self.mesh_op(MeshOp::Truncate, &[at]);
            number = Some(match number {
                None => at,
                Some(others) => {
                    let others = self.simple(Simple::IntMul, &[others, size]);
                    self.simple(Simple::IntAdd, &[others, at])
                }
            });
        }
        let mut first = self.load(Form::Int, grids, grid, 3);
        let table = match sought {
            Sought::Start => {
                let halves = self.int(1 << dim);
                first = self.simple(Simple::IntMul, &[first, halves]);
                Table::Starts
            }
            Sought::List => Table::Bins,
        };
        let number = number.expect("a mesh has axes");
        let place = self.simple(Simple::IntAdd, &[first, number]);
        self.load(Form::Int, (mesh.number, table), place, 0)
    }
}
