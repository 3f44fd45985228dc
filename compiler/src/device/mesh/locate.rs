//! The cell of a position: the walk and the rule of the runtime (`runtime/src/fem/locate.rs`), as one loop that looks at one cell in
//! every round.
//!
//! A search walks until a cell holds the position, or until it is known that the rule has to decide; then it goes through the cells of
//! the position's bin.

use super::{
    super::{
        dialect::{Arithmetic, Op},
        expand::Expander,
    },
    Form, MeshOp, OfMesh, WITHOUT_END,
};
use crate::{ir::Simple, low, ssa::Value};
use runtime::fem::{
    recorded::{FAR_AWAY, LONGEST_WALK},
    tables::{Fact, MOST_FACES, Table},
};

impl Expander {
    /// The cell of a position, or −1, and the reference position.
    pub(super) fn locate_in(&mut self, mesh: OfMesh<'_>, position: &[Value]) -> Vec<Value> {
        let dim = mesh.dim();
        let x: Vec<Value> = (position.iter())
            .map(|&x| self.b.op1(Op::Widen, &[x]))
            .collect();
        let mut near = None;
        for (axis, &x) in x.iter().enumerate() {
            let [low, high] = [Fact::Low(axis as u8), Fact::High(axis as u8)];
            let [low, high] = [low, high].map(|fact| self.fact(mesh.number, fact));
            let after = self.wide(Arithmetic::LessEqual, &[low, x]);
            let before = self.wide(Arithmetic::LessEqual, &[x, high]);
            let both = self.both(after, before);
            near = Some(match near {
                None => both,
                Some(near) => self.both(near, both),
            });
        }
        let x = self.padded(x);
        let found = self.choose(
            near.expect("a mesh has axes"),
            |e| e.search(mesh, &x),
            |e| e.nowhere(dim),
        );
        self.b.op(Op::Mesh(MeshOp::Visit(mesh.number)), &found[..1]);
        let reference = found[1..].iter();
        let reference: Vec<Value> = reference.map(|&t| self.b.op1(Op::Narrow, &[t])).collect();
        [&found[..1], &reference].concat()
    }

    fn nowhere(&mut self, dim: usize) -> Vec<Value> {
        let (outside, nan) = (self.int(-1), self.wide_number(f64::NAN));
        [vec![outside], vec![nan; dim]].concat()
    }

    /// The same for a position that is near the box of the mesh.
    fn search(&mut self, mesh: OfMesh<'_>, x: &[Value]) -> Vec<Value> {
        let dim = mesh.dim();
        let number = mesh.number;
        let hint = self.mesh_op(MeshOp::Hint(number), &[]);
        let is_none = self.is_negative(hint);
        let first = self.choose(is_none, |e| vec![e.start_in_index(mesh, x)], |_| vec![hint])[0];
        let outside = self.is_negative(first);
        let going = self.not(outside);
        let (no, zero) = (self.truth(false), self.int(0));
        let nothing = self.nowhere(dim);
        let init = [vec![going, no, first, zero, is_none, zero, zero], nothing].concat();
        let [low, high] = [1, WITHOUT_END].map(|n| self.int(n));
        let open = self.b.begin_for(low, high, true, init);
        let &[_, listing, cell, steps, indexed, at, left, ref best @ ..] = &open.carried[..] else {
            unreachable!("as many as at the beginning")
        };
        let best = best.to_vec();
        let verdict = self.judge(mesh, cell, x, listing);
        let walking = self.not(listing);
        let undecided = self.not(verdict.holds);
        let walks = self.both(walking, undecided);
        // Where the walk goes.
        let one = self.int(1);
        let steps = self.simple(Simple::IntAdd, &[steps, one]);
        let next = self.choose(
            walks,
            |e| vec![e.neighbour(mesh, cell, verdict.face)],
            |e| vec![e.int(-1)],
        )[0];
        let at_rim = self.is_negative(next);
        let most = self.int(LONGEST_WALK);
        let is_long = self.simple(Simple::IntEqual, &[steps, most]);
        let lost = self.simple(Simple::Or, &[at_rim, is_long]);
        let is_last = self.both(indexed, lost);
        let ends = self.simple(Simple::Or, &[verdict.near, is_last]);
        let begins = self.both(walks, ends);
        let far = self.wide_number(FAR_AWAY);
        let is_far = self.wide(Arithmetic::Less, &[verdict.constraint, far]);
        let by_hint = self.not(indexed);
        let is_far = self.both(by_hint, is_far);
        let is_astray = self.simple(Simple::Or, &[lost, is_far]);
        let goes_on = self.not(begins);
        let goes_on = self.both(walks, goes_on);
        let looks = self.both(goes_on, is_astray);
        let next = self.choose(looks, |e| vec![e.start_in_index(mesh, x)], |_| vec![next])[0];
        let steps = self.select(low::Ty::Int, looks, zero, steps);
        let indexed = self.simple(Simple::Or, &[indexed, looks]);
        // The list of the bin.
        let list = self.choose(
            begins,
            |e| e.list_in_index(mesh, x).to_vec(),
            |_| vec![at, left],
        );
        let (at, left) = (list[0], list[1]);
        // The best cell so far.
        let accepts = self.both(listing, verdict.near);
        let taken = self.choose(
            accepts,
            |e| vec![e.is_better(mesh, (cell, best[0]), x)],
            |e| vec![e.truth(false)],
        )[0];
        let taken = self.simple(Simple::Or, &[verdict.holds, taken]);
        let mut chosen = vec![self.select(low::Ty::Int, taken, cell, best[0])];
        for (&xi, &best) in verdict.xi.iter().zip(&best[1..]) {
            chosen.push(self.b.op1(Op::SelectDouble, &[taken, xi, best]));
        }
        // The next cell.
        let listing = self.simple(Simple::Or, &[listing, begins]);
        let has_more = self.simple(Simple::IntLess, &[zero, left]);
        let takes = self.both(listing, has_more);
        let members = (number, Table::Members);
        let next = self.choose(
            takes,
            |e| vec![e.load(Form::Int, members, at, 0)],
            |_| vec![next],
        )[0];
        let none_left = self.not(takes);
        let is_through = self.both(listing, none_left);
        let is_outside = self.is_negative(next);
        let is_outside = self.both(goes_on, is_outside);
        let stops = self.simple(Simple::Or, &[is_through, is_outside]);
        let going = self.not(stops);
        let going = self.both(undecided, going);
        let at = self.simple(Simple::IntAdd, &[at, one]);
        let left = self.simple(Simple::IntSub, &[left, one]);
        let carried = vec![going, listing, next, steps, indexed, at, left];
        let found = self.b.for_(open, [carried, chosen].concat());
        found[7..].to_vec()
    }

    /// The cell beyond a face, whose number is a double.
    fn neighbour(&mut self, mesh: OfMesh<'_>, cell: Value, face: Value) -> Value {
        let most = self.int(MOST_FACES);
        let first = self.simple(Simple::IntMul, &[cell, most]);
        let face = self.mesh_op(MeshOp::Truncate, &[face]);
        let at = self.simple(Simple::IntAdd, &[first, face]);
        self.load(Form::Int, (mesh.number, Table::Neighbours), at, 0)
    }

    /// Whether a cell that accepts a position comes before the best one so far, if there is one.
    fn is_better(&mut self, mesh: OfMesh<'_>, (cell, best): (Value, Value), x: &[Value]) -> Value {
        let is_first = self.is_negative(best);
        let numbers = (mesh.number, Table::Numbers);
        let is_lower = self.choose(
            is_first,
            |e| vec![e.truth(true)],
            |e| {
                let [own, other] = [cell, best].map(|cell| e.load(Form::Int, numbers, cell, 0));
                vec![e.simple(Simple::IntLess, &[own, other])]
            },
        )[0];
        let near = self.is_near_box(mesh, cell, x);
        self.both(is_lower, near)
    }

    /// Whether a position is within the tolerance of the box of a cell.
    fn is_near_box(&mut self, mesh: OfMesh<'_>, cell: Value, x: &[Value]) -> Value {
        let blocks = &mesh.traits.mesh.blocks;
        let is_bent = mesh.traits.mesh.are_curved();
        if !is_bent {
            return self.is_near_corners(mesh, cell, x);
        }
        let curved = self.curved_entry(mesh, cell);
        if !blocks.iter().any(|block| block.has_straight) {
            return self.is_near_curved(mesh, (cell, curved), x);
        }
        let is_straight = self.is_negative(curved);
        self.choose(
            is_straight,
            |e| vec![e.is_near_corners(mesh, cell, x)],
            |e| vec![e.is_near_curved(mesh, (cell, curved), x)],
        )[0]
    }

    /// The same for a straight cell.
    fn is_near_corners(&mut self, mesh: OfMesh<'_>, cell: Value, x: &[Value]) -> Value {
        let count = mesh.traits.mesh.corners();
        let corners = self.corners(mesh, cell, count);
        let mut ends = Vec::new();
        for axis in 0..mesh.dim() {
            let [mut low, mut high] = [corners[0][axis]; 2];
            for corner in &corners[1..] {
                low = self.wide(Arithmetic::Min, &[low, corner[axis]]);
                high = self.wide(Arithmetic::Max, &[high, corner[axis]]);
            }
            ends.push([low, high]);
        }
        self.is_within(mesh, &ends, x)
    }

    /// The corners of a cell.
    pub(super) fn corners(
        &mut self,
        mesh: OfMesh<'_>,
        cell: Value,
        count: usize,
    ) -> Vec<Vec<Value>> {
        let corner = |n: usize| {
            let point = self.load(Form::Int, (mesh.number, Table::Corners), cell, n as u32);
            let at = self.loads((mesh.number, Table::Points), point, 0, mesh.dim());
            self.padded(at)
        };
        (0..count).map(corner).collect()
    }

    /// Whether a position is within the tolerance of a box.
    pub(super) fn is_within(
        &mut self,
        mesh: OfMesh<'_>,
        ends: &[[Value; 2]],
        x: &[Value],
    ) -> Value {
        let theta = self.fact(mesh.number, Fact::Theta);
        let mut all = self.truth(true);
        for (&[low, high], &x) in ends.iter().zip(x) {
            let low = self.wide(Arithmetic::Sub, &[low, theta]);
            let high = self.wide(Arithmetic::Add, &[high, theta]);
            let after = self.wide(Arithmetic::LessEqual, &[low, x]);
            let before = self.wide(Arithmetic::LessEqual, &[x, high]);
            let both = self.both(after, before);
            all = self.both(all, both);
        }
        all
    }
}
