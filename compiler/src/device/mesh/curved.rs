//! Curved cells: their maps, and the reference position of a position (`runtime/src/fem/invert.rs`).
//!
//! Where Newton's iteration does not end in a solution, and where a cell has collapsed, the strand is left to the CPU, which looks into
//! the parts of the cell.

use super::{
    super::{
        dialect::{Arithmetic, Op},
        expand::Expander,
    },
    Form, OfMesh,
    judge::{Judged, Verdict},
};
use crate::{ir::Simple, ssa::Value};
use runtime::fem::{
    recorded::{self, CLEAR, MILD, MILD_STEPS, TOO_FAR},
    tables::{BlockTraits, DEGREE, Fact, Table},
};
use runtime::simd::trace::Tape;

/// The map of a curved cell.
pub(super) struct Map<'a> {
    block: &'a BlockTraits,
    entry: Value,
    /// The coefficients along each axis.
    coefficients: Vec<Value>,
    /// The image of a position and the Jacobian there.
    image: Tape,
}

/// A solution: where there is one, the reference position and the Jacobian of the last step.
pub(super) type Solution = Vec<Value>;

impl Expander {
    /// What code for the degree of the map of a cell gives.
    pub(super) fn by_map<'a>(
        &mut self,
        (mesh, block): (OfMesh<'a>, &'a BlockTraits),
        (cell, entry): (Value, Value),
        mut code: impl FnMut(&mut Expander, &Map<'a>, usize) -> Vec<Value>,
    ) -> Vec<Value> {
        let degree = match block.maps.len() {
            1 => self.int(0),
            _ => self.load(Form::Byte, (mesh.number, Table::Records), cell, DEGREE),
        };
        let cases: Vec<i64> = block.maps.iter().map(|&degree| degree as i64).collect();
        self.by_case(degree, &cases, &mut |e, case| {
            let map = e.map((mesh, block), entry, block.maps[case]);
            code(e, &map, block.maps[case])
        })
    }

    fn map<'a>(
        &mut self,
        (mesh, block): (OfMesh<'a>, &'a BlockTraits),
        entry: Value,
        degree: usize,
    ) -> Map<'a> {
        let geometry = (mesh.number, Table::Geometry);
        // The map is relative to the image of the centre.
        let zero = self.wide_number(0.0);
        let mut coefficients = vec![zero; 3];
        for n in 1..recorded::map_length(block.element, degree) as u32 {
            let own = self.loads(geometry, entry, 4 * n, mesh.dim());
            coefficients.extend(self.padded(own));
        }
        Map {
            block,
            entry,
            coefficients,
            image: recorded::image(block.element, degree),
        }
    }

    /// The image of a position relative to the centre (3), and the Jacobian there (9).
    pub(super) fn image(&mut self, map: &Map<'_>, t: &[Value]) -> Vec<Value> {
        self.repeat(&map.image, &[t, &map.coefficients])
    }

    /// The second derivatives of a map.
    pub(super) fn bend(&mut self, map: &Map<'_>, degree: usize, t: &[Value]) -> Vec<Value> {
        let tape = recorded::bend(map.block.element, degree);
        self.repeat(&tape, &[t, &map.coefficients])
    }

    /// What a curved cell says of a position.
    pub(super) fn judge_curved(&mut self, judged: &Judged<'_>, entry: Value) -> Verdict {
        let clear = self.fact(judged.mesh.number, Fact::Clear);
        let far = self.wide_number(TOO_FAR);
        let far = self.wide(Arithmetic::Mul, &[far, clear]);
        let far = self.wide(Arithmetic::Neg, &[far]);
        let is_asked = self.wide(Arithmetic::LessEqual, &[far, judged.constraint]);
        let beyond = |e: &mut Expander| {
            let no = e.truth(false);
            let at = vec![no, no, judged.face, judged.constraint];
            [&at, &judged.estimate[..judged.mesh.dim()]].concat()
        };
        let values = self.choose(
            is_asked,
            |e| {
                let wanted = e.choose(
                    judged.listing,
                    |e| vec![e.is_near_curved(judged.mesh, (judged.cell, entry), judged.x)],
                    |e| vec![e.truth(true)],
                )[0];
                e.choose(
                    wanted,
                    |e| {
                        let (of, at) = ((judged.mesh, judged.block), (judged.cell, entry));
                        e.by_map(of, at, |e, map, _| {
                            e.judge_by_map(judged, map).into_values()
                        })
                    },
                    beyond,
                )
            },
            beyond,
        );
        Verdict::from_values(&values)
    }

    /// Whether a position is within the tolerance of the box of a curved cell.
    pub(super) fn is_near_curved(
        &mut self,
        mesh: OfMesh<'_>,
        (cell, entry): (Value, Value),
        x: &[Value],
    ) -> Value {
        let blocks = &mesh.traits.mesh.blocks;
        let lengths = blocks.iter().enumerate().flat_map(|(number, block)| {
            let length = move |&degree: &usize| {
                let length = recorded::map_length(block.element, degree) as u32;
                ((number as i64, degree as i64), length)
            };
            block.maps.iter().map(length)
        });
        let lengths: Vec<((i64, i64), u32)> = lengths.collect();
        let [block, degree] =
            [runtime::fem::tables::BLOCK, DEGREE].map(|ahead| match lengths.len() {
                1 => self.int(0),
                _ => self.load(Form::Byte, (mesh.number, Table::Records), cell, ahead),
            });
        // Both in one number.
        let sixteen = self.int(16);
        let number = self.simple(Simple::IntMul, &[block, sixteen]);
        let number = self.simple(Simple::IntAdd, &[number, degree]);
        let cases: Vec<i64> = lengths.iter().map(|((b, d), _)| 16 * b + d).collect();
        let geometry = (mesh.number, Table::Geometry);
        self.by_case(number, &cases, &mut |e, case| {
            let first = 4 * lengths[case].1;
            let low = e.loads(geometry, entry, first, mesh.dim());
            let high = e.loads(geometry, entry, first + 4, mesh.dim());
            let ends: Vec<[Value; 2]> = low.into_iter().zip(high).map(|(l, h)| [l, h]).collect();
            vec![e.is_within(mesh, &ends, x)]
        })[0]
    }

    fn judge_by_map(&mut self, judged: &Judged<'_>, map: &Map<'_>) -> Verdict {
        let (kind, dim) = (judged.block.element.cell, judged.mesh.dim());
        let geometry = (judged.mesh.number, Table::Geometry);
        let curvature = self.load(Form::Double, geometry, map.entry, 3);
        let most = self.wide_number(MILD);
        let is_mild = self.wide(Arithmetic::LessEqual, &[curvature, most]);
        let nothing = |e: &mut Expander| {
            let (no, zero) = (e.truth(false), e.wide_number(0.0));
            [vec![no], vec![zero; 12]].concat()
        };
        let quick = self.choose(is_mild, |e| e.quick(judged, map, curvature), nothing);
        let solution = self.choose(quick[0], |_| quick[1..].to_vec(), |e| e.newton(judged, map));
        let (xi, jacobian) = solution.split_at(3);
        let least = self.repeat(&recorded::least(kind), &[xi]);
        let clear = self.fact(judged.mesh.number, Fact::Clear);
        let theta = self.fact(judged.mesh.number, Fact::Theta);
        let clear = self.choose(
            is_mild,
            |e| {
                let factor = e.wide_number(CLEAR);
                vec![e.wide(Arithmetic::Mul, &[factor, clear])]
            },
            |e| {
                let tape = recorded::has_collapsed(dim);
                let has_collapsed = e.repeat(&tape, &[jacobian, &judged.at_centre]);
                e.b.op(Op::Leave, &has_collapsed);
                let inverse = e.repeat(&recorded::inverted(dim), &[jacobian]);
                let steepest = e.repeat(&recorded::steepness(), &[&inverse])[0];
                let two = e.wide_number(2.0);
                let twice = e.wide(Arithmetic::Mul, &[two, theta]);
                vec![e.wide(Arithmetic::Mul, &[twice, steepest])]
            },
        )[0];
        let found = (least[0], least[1], xi[..dim].to_vec());
        self.by_clearance(found, clear, |e| {
            let inverse = e.repeat(&recorded::inverted(dim), &[jacobian]);
            e.repeat(&recorded::slopes(kind), &[xi, &inverse, &[theta]])
        })
    }

    /// Newton's iteration in mild cells: whether it has found a solution, and that.
    fn quick(&mut self, judged: &Judged<'_>, map: &Map<'_>, curvature: Value) -> Vec<Value> {
        let dim = judged.mesh.dim();
        let t = self.repeat(&recorded::product(), &[&judged.at_centre, &judged.off]);
        let image = self.image(map, &t);
        let second = recorded::second();
        let t = self.repeat(&second, &[&judged.off, &judged.at_centre, &t, &image[..3]]);
        let [first, last] = [1, MILD_STEPS].map(|n| self.int(n));
        let yes = self.truth(true);
        let init = [vec![yes, yes], t, image[3..].to_vec()].concat();
        let open = self.b.begin_for(first, last, true, init);
        let t = open.carried[2..5].to_vec();
        let image = self.image(map, &t);
        let further = recorded::further(dim);
        let stepped = self.repeat(&further, &[&judged.off, &[curvature], &t, &image]);
        let (short, ended) = (stepped[3], stepped[4]);
        let open_end = self.not(ended);
        let going = self.both(short, open_end);
        let next = [&[going, short], &stepped[..3], &image[3..]].concat();
        let ended = self.b.for_(open, next);
        let stopped = self.not(ended[0]);
        let found = self.both(ended[1], stopped);
        let xi = self.reference_position(judged, &ended[2..5]);
        [vec![found], xi, ended[5..].to_vec()].concat()
    }

    /// A reference position from one relative to the centre.
    pub(super) fn reference_position(&mut self, judged: &Judged<'_>, t: &[Value]) -> Vec<Value> {
        let centre = self.wide_number(judged.block.element.cell.centre());
        let along = t[..judged.mesh.dim()].iter();
        let xi: Vec<Value> = along
            .map(|&t| self.wide(Arithmetic::Add, &[t, centre]))
            .collect();
        self.padded(xi)
    }
}
