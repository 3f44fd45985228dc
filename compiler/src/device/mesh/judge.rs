//! What one cell says of a position: that it holds it, that the position is within the tolerance of its faces, or beyond one.

use super::{
    super::{dialect::Arithmetic, expand::Expander},
    Form, MeshOp, OfMesh,
};
use crate::{ir::Simple, ssa::Value};
use runtime::fem::{
    recorded,
    tables::{BLOCK, BlockTraits, Fact, MARGIN, MARGIN_OFFSET, Table},
};

/// What a cell says.
pub(super) struct Verdict {
    /// It holds the position.
    pub(super) holds: Value,
    /// It does not hold the position, which is within the tolerance of all faces.
    pub(super) near: Value,
    /// The number of the face that the position is farthest beyond, as a double.
    pub(super) face: Value,
    /// The value of its constraint.
    pub(super) constraint: Value,
    /// The reference position, where one of the first two is true.
    pub(super) xi: Vec<Value>,
}

impl Verdict {
    pub(super) fn from_values(values: &[Value]) -> Verdict {
        let &[holds, near, face, constraint, ref xi @ ..] = values else {
            unreachable!("as many as there are")
        };
        Verdict {
            holds,
            near,
            face,
            constraint,
            xi: xi.to_vec(),
        }
    }

    pub(super) fn into_values(self) -> Vec<Value> {
        let first = vec![self.holds, self.near, self.face, self.constraint];
        [first, self.xi].concat()
    }
}

/// A cell that is judged.
pub(super) struct Judged<'a> {
    pub(super) mesh: OfMesh<'a>,
    pub(super) block: &'a BlockTraits,
    pub(super) cell: Value,
    /// The position, and the same relative to the centre of the cell.
    pub(super) x: &'a [Value],
    pub(super) off: Vec<Value>,
    /// The inverse of the Jacobian at the centre.
    pub(super) at_centre: Vec<Value>,
    /// The estimate of the reference position, its least constraint with the margin of the cell, and the value of that.
    pub(super) estimate: Vec<Value>,
    pub(super) face: Value,
    pub(super) constraint: Value,
    /// Whether the rule goes through a list.
    pub(super) listing: Value,
}

impl Judged<'_> {
    fn dim(&self) -> usize {
        self.mesh.dim()
    }
}

impl Expander {
    /// What a cell says of a position.
    pub(super) fn judge(
        &mut self,
        mesh: OfMesh<'_>,
        cell: Value,
        x: &[Value],
        listing: Value,
    ) -> Verdict {
        let blocks = &mesh.traits.mesh.blocks;
        let number = match blocks.len() {
            1 => self.int(0),
            _ => self.load(Form::Byte, (mesh.number, Table::Records), cell, BLOCK),
        };
        let cases: Vec<i64> = (0..blocks.len() as i64).collect();
        let values = self.by_case(number, &cases, &mut |e, block| {
            e.judge_in(mesh, &blocks[block], (cell, x, listing))
                .into_values()
        });
        Verdict::from_values(&values)
    }

    /// The first entry of the map of a cell, or a negative number.
    pub(super) fn curved_entry(&mut self, mesh: OfMesh<'_>, cell: Value) -> Value {
        self.load(Form::Int, (mesh.number, Table::Records), cell, 0)
    }

    /// The inverse of the Jacobian at the centre of a cell.
    pub(super) fn at_centre(&mut self, mesh: OfMesh<'_>, cell: Value) -> Vec<Value> {
        let (dim, records) = (mesh.dim(), (mesh.number, Table::Records));
        let zero = self.wide_number(0.0);
        let mut rows = vec![zero; 9];
        for row in 0..dim {
            let first = 3 + 3 * row as u32;
            let own = self.loads(records, cell, first, dim);
            rows[3 * row..][..dim].copy_from_slice(&own);
        }
        rows
    }

    fn judge_in(
        &mut self,
        mesh: OfMesh<'_>,
        block: &BlockTraits,
        (cell, x, listing): (Value, &[Value], Value),
    ) -> Verdict {
        let records = (mesh.number, Table::Records);
        let centre = self.loads(records, cell, 0, mesh.dim());
        let centre = self.padded(centre);
        let pairs = x.iter().zip(&centre);
        let off: Vec<Value> = pairs
            .map(|(&x, &c)| self.wide(Arithmetic::Sub, &[x, c]))
            .collect();
        let at_centre = self.at_centre(mesh, cell);
        // Straight cells have none.
        let none = self.wide_number(-0.0);
        let mut entry = None;
        let margin = match block.maps.is_empty() {
            true => none,
            false => {
                let curved = self.curved_entry(mesh, cell);
                entry = Some(curved);
                let power = |e: &mut Expander| {
                    let byte = e.load(Form::Byte, records, cell, MARGIN);
                    let offset = e.int(MARGIN_OFFSET);
                    let power = e.simple(Simple::IntSub, &[byte, offset]);
                    vec![e.mesh_op(MeshOp::PowerOfTwo, &[power])]
                };
                match block.has_straight {
                    false => power(self)[0],
                    true => {
                        let is_straight = self.is_negative(curved);
                        self.choose(is_straight, |_| vec![none], power)[0]
                    }
                }
            }
        };
        let tape = recorded::estimate(block.element.cell);
        let estimate = self.repeat(&tape, &[&off, &at_centre, &[margin]]);
        let judged = Judged {
            mesh,
            block,
            cell,
            x,
            off,
            at_centre,
            face: estimate[3],
            constraint: estimate[4],
            estimate: estimate[..3].to_vec(),
            listing,
        };
        match entry {
            None => self.judge_straight(&judged),
            Some(entry) if !block.has_straight => self.judge_curved(&judged, entry),
            Some(entry) => {
                let is_straight = self.is_negative(entry);
                let values = self.choose(
                    is_straight,
                    |e| e.judge_straight(&judged).into_values(),
                    |e| e.judge_curved(&judged, entry).into_values(),
                );
                Verdict::from_values(&values)
            }
        }
    }

    fn judge_straight(&mut self, judged: &Judged<'_>) -> Verdict {
        let clear = self.fact(judged.mesh.number, Fact::Clear);
        let estimate = judged.estimate[..judged.dim()].to_vec();
        let found = (judged.face, judged.constraint, estimate);
        self.by_clearance(found, clear, |e| e.judge_closely(judged))
    }

    /// A verdict by the least constraint, if that is clearly on one side; else by another way.
    pub(super) fn by_clearance(
        &mut self,
        (face, constraint, xi): (Value, Value, Vec<Value>),
        clear: Value,
        closely: impl FnOnce(&mut Expander) -> Vec<Value>,
    ) -> Verdict {
        let is_inside = self.wide(Arithmetic::Less, &[clear, constraint]);
        let beyond = self.wide(Arithmetic::Neg, &[clear]);
        let is_beyond = self.wide(Arithmetic::Less, &[constraint, beyond]);
        let is_clear = self.simple(Simple::Or, &[is_inside, is_beyond]);
        let verdict = self.choose(
            is_clear,
            |e| vec![is_inside, e.truth(false)],
            |e| {
                let [holds, near] = closely(e)[..] else {
                    unreachable!("two truth values")
                };
                let not_held = e.not(holds);
                vec![holds, e.both(not_held, near)]
            },
        );
        Verdict {
            holds: verdict[0],
            near: verdict[1],
            face,
            constraint,
            xi,
        }
    }

    /// Whether a straight cell holds a position near one of its faces, and whether that is within the tolerance.
    fn judge_closely(&mut self, judged: &Judged<'_>) -> Vec<Value> {
        let theta = self.fact(judged.mesh.number, Fact::Theta);
        let kind = judged.block.element.cell;
        if !kind.is_simplex() {
            let tape = recorded::slopes(kind);
            return self.repeat(&tape, &[&judged.estimate, &judged.at_centre, &[theta]]);
        }
        let corners = self.corners(judged.mesh, judged.cell, kind.corners());
        let tape = recorded::distances(kind);
        self.repeat(&tape, &[&corners.concat(), judged.x, &[theta]])
    }
}
