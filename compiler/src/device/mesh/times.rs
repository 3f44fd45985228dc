//! The place of a time between two frames of values on a mesh, in double precision (`FemValues::between`).

use super::{
    super::{
        dialect::{Arithmetic, Op},
        expand::Expander,
    },
    Form, MeshOp, OfMesh, WITHOUT_END,
};
use crate::{ir::Simple, low, ssa::Value};
use runtime::fem::tables::Table;

/// The frames before and after a time, and how far it is from the one to the other.
pub(super) struct Between {
    /// From the coefficients of the first frame to those of the frame before, and of the frame after.
    pub(super) offsets: [Value; 2],
    /// The weights of both.
    pub(super) weights: [Value; 2],
}

impl Expander {
    /// The place of a time between the frames of values.
    pub(super) fn between(&mut self, mesh: OfMesh<'_>, fem: u32, time: Value) -> Between {
        let time = self.b.op1(Op::Widen, &[time]);
        let number = mesh.number;
        let [zero, one] = [0.0, 1.0].map(|x| self.wide_number(x));
        let [none, first] = [0, 1].map(|n| self.int(n));
        let frames = self.mesh_op(MeshOp::Frames(number, fem), &[]);
        let last = self.simple(Simple::IntSub, &[frames, first]);
        let position = match mesh.traits.irregular.contains(&fem) {
            true => self.position_in_table(mesh, fem, (time, last)),
            false => {
                let times = (number, Table::Times(fem));
                let [start, step] = [0, 1].map(|n| self.load(Form::Double, times, none, n));
                let since = self.wide(Arithmetic::Sub, &[time, start]);
                self.wide(Arithmetic::Div, &[since, step])
            }
        };
        let high = self.mesh_op(MeshOp::FromInt, &[last]);
        // The second operand of `min` and `max` keeps a NaN, the first one loses it for the frame.
        let position = self.wide(Arithmetic::Max, &[zero, position]);
        let position = self.wide(Arithmetic::Min, &[high, position]);
        let before = self.wide(Arithmetic::Max, &[position, zero]);
        let before = self.mesh_op(MeshOp::Truncate, &[before]);
        let most = self.simple(Simple::IntSub, &[last, first]);
        let is_alone = self.is_negative(most);
        let most = self.select(low::Ty::Int, is_alone, none, most);
        let is_beyond = self.simple(Simple::IntLess, &[most, before]);
        let before = self.select(low::Ty::Int, is_beyond, most, before);
        let after = self.simple(Simple::IntAdd, &[before, first]);
        let after = self.select(low::Ty::Int, is_alone, last, after);
        let floor = self.mesh_op(MeshOp::FromInt, &[before]);
        let fraction = self.wide(Arithmetic::Sub, &[position, floor]);
        let rest = self.wide(Arithmetic::Sub, &[one, fraction]);
        let stride = self.mesh_op(MeshOp::FrameStride(number, fem), &[]);
        let offset = |frame: Value| self.simple(Simple::IntMul, &[frame, stride]);
        Between {
            offsets: [before, after].map(offset),
            weights: [rest, fraction],
        }
    }

    /// The position of a time among the frames of values whose times are in a table; `last` is the number of the last frame.
    fn position_in_table(
        &mut self,
        mesh: OfMesh<'_>,
        fem: u32,
        (time, last): (Value, Value),
    ) -> Value {
        let times = (mesh.number, Table::Times(fem));
        let [low, high] = [1, WITHOUT_END].map(|n| self.int(n));
        let (zero, one, two) = (self.int(0), self.int(1), self.int(2));
        let several = self.simple(Simple::IntLess, &[one, last]);
        let open = self.b.begin_for(low, high, true, vec![several, zero, last]);
        let (found, end) = (open.carried[1], open.carried[2]);
        let left = self.simple(Simple::IntSub, &[end, found]);
        let half = self.b.op1(Op::Low(low::Op::IntDiv(0)), &[left, two]);
        let middle = self.simple(Simple::IntAdd, &[found, half]);
        let begin = self.load(Form::Double, times, middle, 0);
        let has_begun = self.wide(Arithmetic::LessEqual, &[begin, time]);
        let found = self.select(low::Ty::Int, has_begun, middle, found);
        let end = self.select(low::Ty::Int, has_begun, end, middle);
        let left = self.simple(Simple::IntSub, &[end, found]);
        let goes_on = self.simple(Simple::IntLess, &[one, left]);
        let before = self.b.for_(open, vec![goes_on, found, end])[1];
        let [begin, end] = [0, 1].map(|n| self.load(Form::Double, times, before, n));
        let length = self.wide(Arithmetic::Sub, &[end, begin]);
        let unit = self.wide_number(1.0);
        let rate = self.wide(Arithmetic::Div, &[unit, length]);
        let since = self.wide(Arithmetic::Sub, &[time, begin]);
        let part = self.wide(Arithmetic::Mul, &[since, rate]);
        let whole = self.mesh_op(MeshOp::FromInt, &[before]);
        self.wide(Arithmetic::Add, &[whole, part])
    }
}
