//! Random classes, products and inputs.

use crate::{
    arena::{Arena, Mode},
    build::{Context, contract_raw, scaled},
    class::{Facts, Leaf},
    node::{Extents, Function, Node, Op, Slot, Slots},
    numbers::{Power, integer},
    product::{Operand, Product},
};
use egg::Id;
use ein_ir::{
    Comparison, Eigen, Elementary, Input, Jet, LeafField, Param, PolynomialField, Shape, Tensor,
    random_numbers,
};

/// All axes and domains have this extent: the smallest in which ε is not trivial.
const N: u32 = 2;

/// An arena with random classes, and inputs for them.
pub(super) struct World {
    pub(super) arena: Arena,
    pub(super) inputs: Vec<Param>,
    tensors: Vec<Option<Tensor<f64>>>,
    fields: Vec<Option<PolynomialField>>,
    pool: Vec<Id>,
    /// An inverse and its matrix.
    inverse: Option<(Id, Id)>,
    state: u64,
}

impl World {
    /// Leaves of every kind, and a few classes that steps look for.
    pub(super) fn new(seed: u64, mode: Mode) -> World {
        let mut world = World {
            arena: Arena::new(mode, usize::MAX),
            inputs: Vec::new(),
            tensors: Vec::new(),
            fields: Vec::new(),
            pool: Vec::new(),
            inverse: None,
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        };
        for order in [0, 0, 1, 1, 2, 2] {
            world.tensor_input(order);
        }
        for leaf in [
            Op::Delta(N),
            Op::Epsilon(N),
            Op::One,
            Op::Zero(Extents::new()),
            Op::Zero([N].into_iter().collect()),
        ] {
            world.add(Node::leaf(leaf));
        }
        if mode == Mode::Source {
            for order in [0, 1, 2] {
                world.field_input(order);
            }
            world.add(Node::leaf(Op::Position { dim: N as u8 }));
        }
        world.compounds();
        world
    }

    /// Multiples, a square, a view, sums, one of them nested, contractions and inverses.
    fn compounds(&mut self) {
        let [x, y, a, b, m, ..] = self.pool[..] else {
            return;
        };
        self.add(Node::new(Op::sum([integer(3)]), &[x]));
        self.add(Node::new(Op::sum([integer(-2)]), &[a]));
        let sum = self.add(Node::new(Op::sum([integer(2), integer(-1)]), &[a, b]));
        self.add(Node::new(Op::sum([integer(1), integer(3)]), &[b, sum]));
        self.add(Node::new(Op::sum([integer(1), integer(1)]), &[x, y]));
        let scalar = Extents::new();
        let vector: Extents = [N].into_iter().collect();
        let label = Slot::Label;
        let square = Product::pointwise(&scalar, vec![Operand::scalar(x, Power::integer(2))]);
        let two = Product::pointwise(
            &scalar,
            vec![
                Operand::scalar(x, Power::ONE),
                Operand::scalar(y, Power::ONE),
            ],
        );
        let transposed = Product::pointwise(
            &[N; 2].into_iter().collect(),
            vec![Operand::new(m, [label(1), label(0)])],
        );
        let mut applied = Product::pointwise(&vector, vec![Operand::new(m, [label(0), label(1)])]);
        applied.extents.push(N);
        applied.operands.push(Operand::new(a, [label(1)]));
        let mut views = Vec::new();
        for product in [square, two, transposed, applied] {
            let class = contract_raw(&mut self.arena, &product);
            let class = scaled(&mut self.arena, class);
            views.push(class);
        }
        let inverse = self.arena.inverse(m);
        let again = self.arena.inverse(inverse);
        let of_transposed = self.arena.inverse(views[2]);
        self.inverse = Some((inverse, m));
        self.pool.extend(views);
        self.pool.extend([inverse, again, of_transposed]);
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        for _ in 0..2 {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
        }
        (self.state >> 11) as usize % n
    }

    fn add(&mut self, node: Node) -> Id {
        let id = self.arena.add(node);
        self.pool.push(id);
        id
    }

    fn tensor_input(&mut self, order: usize) -> Id {
        let shape = Shape::new(std::iter::repeat_n(N as usize, order));
        let input = self.inputs.len();
        let mut numbers = random_numbers(self.state.wrapping_add(input as u64));
        self.tensors.push(Some(Tensor::from_fn(&shape, |_| {
            numbers.next().unwrap_or_default()
        })));
        self.fields.push(None);
        self.inputs.push(Param::Tensor(shape));
        let shape = std::iter::repeat_n(N, order).collect();
        self.add(Node::leaf(Op::Tensor { input, shape }))
    }

    fn field_input(&mut self, order: usize) -> Id {
        let shape = Shape::new(std::iter::repeat_n(N as usize, order));
        let input = self.inputs.len();
        let mut numbers = random_numbers(self.state.wrapping_add(input as u64));
        let mut coefficient = |_: &[usize]| numbers.next().unwrap_or_default();
        let components = (0..shape.size())
            .map(|_| Jet::from_fn(N as usize, 4, &mut coefficient))
            .collect();
        self.fields.push(Some(PolynomialField::new(
            N as usize,
            shape.clone(),
            components,
        )));
        self.tensors.push(None);
        self.inputs.push(Param::Field {
            dim: N as usize,
            shape,
        });
        let shape = std::iter::repeat_n(N, order).collect();
        self.add(Node::leaf(Op::Field {
            input,
            dim: N as u8,
            shape,
            order: 0,
        }))
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = Id> + use<> {
        (0..self.arena.len()).map(Id::from)
    }

    pub(super) fn given(&self) -> Vec<Input<'_>> {
        let tensors = self.tensors.iter().zip(&self.fields);
        tensors
            .map(|(tensor, field)| match (tensor, field) {
                (Some(tensor), _) => Input::Tensor(tensor.clone()),
                (None, Some(field)) => Input::Field(field as &dyn LeafField),
                (None, None) => unreachable!("an input is one or the other"),
            })
            .collect()
    }

    fn pick(&mut self, wanted: impl Fn(&Facts) -> bool) -> Option<Id> {
        let fitting: Vec<Id> = self
            .pool
            .iter()
            .copied()
            .filter(|&id| wanted(self.arena.facts(id)))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let k = self.below(fitting.len());
        Some(fitting[k])
    }

    /// A product of one to four operands over up to five labels, each slot any of them or a component; every fourth
    /// with a matrix and its inverse in it.
    pub(super) fn product(&mut self) -> Product {
        let results = self.below(3);
        let labels = results + self.below(4);
        let mut product = Product {
            coefficient: integer(1 + self.below(3) as i64),
            results,
            extents: std::iter::repeat_n(N, labels).collect(),
            operands: Vec::new(),
        };
        let slot = |world: &mut World| match world.below(8) {
            0 => Slot::Fixed(world.below(N as usize) as u32),
            _ if labels == 0 => Slot::Fixed(1),
            _ => Slot::Label(world.below(labels) as u8),
        };
        if let Some((inverse, matrix)) = self.inverse
            && self.below(4) == 0
        {
            let (i, j, k) = (slot(self), slot(self), slot(self));
            product.operands.push(Operand::new(inverse, [i, j]));
            product.operands.push(Operand::new(matrix, [j, k]));
        }
        for _ in 0..1 + self.below(4) {
            // δ and ε are what most steps look for.
            let symbol = self.below(3) == 0;
            let wanted = |facts: &Facts| match facts.leaf {
                Leaf::Delta | Leaf::Epsilon => true,
                Leaf::No | Leaf::One | Leaf::Position => !symbol && facts.shape.len() < 4,
            };
            let Some(id) = self.pick(wanted) else {
                continue;
            };
            let order = self.arena.facts(id).shape.len();
            let slots: Slots = (0..order).map(|_| slot(self)).collect();
            let powers = [
                Power::ONE,
                Power::ONE,
                Power::integer(2),
                Power::integer(3),
                Power::MINUS_ONE,
                Power::HALF,
            ];
            let power = if order == 0 {
                powers[self.below(powers.len())]
            } else {
                Power::ONE
            };
            product.operands.push(Operand { id, slots, power });
        }
        product
    }

    /// Adds random nodes of all kinds.
    pub(super) fn grow(&mut self, count: usize) {
        for _ in 0..count {
            match self.below(11) {
                0..4 => {
                    let mut product = self.product();
                    // Powers that are undefined half of the time would leave little to compare.
                    product.operands.iter_mut().for_each(|operand| {
                        if !operand.power.is_integer() || !operand.power.is_positive() {
                            operand.power = Power::integer(2);
                        }
                    });
                    let class = contract_raw(&mut self.arena, &product);
                    let class = scaled(&mut self.arena, class);
                    self.pool.push(class);
                }
                4 | 5 => self.sum(),
                6 => {
                    let Some(id) = self.pick(|facts| facts.shape.len() < 3) else {
                        continue;
                    };
                    let functions = [Elementary::Sin, Elementary::Exp, Elementary::Atan];
                    let function = functions[self.below(3)];
                    self.add(Node::new(Op::Apply(Function::Elementary(function)), &[id]));
                }
                7 => {
                    let Some(a) = self.pick(|facts| facts.shape.len() < 3) else {
                        continue;
                    };
                    let shape = self.arena.facts(a).shape.clone();
                    let same = |facts: &Facts| facts.shape == shape;
                    let parts = [a; 4].map(|a| self.pick(same).unwrap_or(a));
                    self.add(Node::new(Op::Cond(Comparison::Less), &parts));
                }
                8 => {
                    let Some(id) = self.pick(|facts| facts.shape[..] == [N, N]) else {
                        continue;
                    };
                    let part = Eigen::ALL[self.below(Eigen::ALL.len())];
                    self.add(Node::new(Op::Eigen(part), &[id]));
                }
                9 => {
                    let small = |facts: &Facts| {
                        facts.dim > 0 && facts.shape.len() < 3 && facts.derivatives < 2
                    };
                    let Some(id) = self.pick(small) else { continue };
                    let id = self.arena.derivative(N as u8, id);
                    self.pool.push(id);
                }
                _ => {
                    let Some(field) = self.pick(|facts| facts.dim > 0) else {
                        continue;
                    };
                    let Some(position) = self.pick(|facts| facts.shape[..] == [N]) else {
                        continue;
                    };
                    self.add(Node::new(Op::Probe, &[field, position]));
                }
            }
        }
    }

    /// A sum, often of products with a common factor.
    fn sum(&mut self) {
        let Some(a) = self.pick(|facts| facts.shape.len() < 3) else {
            return;
        };
        let shape = self.arena.facts(a).shape.clone();
        let mut terms: Vec<Id> = vec![a];
        for _ in 0..1 + self.below(2) {
            terms.extend(self.pick(|facts| facts.shape == shape));
        }
        let factor = self.pick(|facts| facts.shape.is_empty());
        if let (Some(factor), true) = (factor, self.below(2) == 0) {
            for (k, term) in terms.iter_mut().enumerate() {
                let power =
                    [Power::ONE, Power::integer(2), Power::MINUS_ONE][(k + self.below(2)) % 3];
                let operands = vec![
                    Operand::scalar(factor, power),
                    Operand::new(*term, crate::product::axes(shape.len())),
                ];
                *term = contract_raw(&mut self.arena, &Product::pointwise(&shape, operands)).1;
            }
        } else if let Some(row) = self.pick(|facts| facts.shape.len() == 1) {
            // Terms that differ by the fixed component of a common factor.
            for (k, term) in terms.iter_mut().enumerate() {
                let operands = vec![
                    Operand::new(row, [Slot::Fixed((k % 2) as u32)]),
                    Operand::new(*term, crate::product::axes(shape.len())),
                ];
                *term = contract_raw(&mut self.arena, &Product::pointwise(&shape, operands)).1;
            }
        }
        terms.sort_unstable();
        let coefficients: Vec<_> = terms
            .iter()
            .map(|_| integer(self.below(5) as i64 - 2))
            .collect();
        self.add(Node::new(Op::sum(coefficients), &terms));
    }

    /// Probes of a few classes at an input position.
    pub(super) fn probed_roots(&mut self) -> Vec<Id> {
        let position = self.tensor_input(1);
        let count = self.pool.len();
        let last: Vec<Id> = self.pool[count.saturating_sub(4)..].to_vec();
        last.into_iter()
            .map(|id| match self.arena.facts(id).dim {
                0 => id,
                _ => self.arena.probe(id, position),
            })
            .collect()
    }

    pub(super) fn tuple(&mut self, roots: &[Id]) -> Id {
        self.arena.add(Node::new(Op::Tuple, roots))
    }
}

/// Whether values agree within rounding. A value that is not a number says nothing; an infinite one must not become
/// finite.
pub(super) fn close(before: &[f64], after: &[f64]) -> bool {
    let size = before
        .iter()
        .chain(after)
        .filter(|x| x.is_finite())
        .fold(1e-3f64, |size, x| size.max(x.abs()));
    before.len() == after.len()
        && before
            .iter()
            .zip(after)
            .all(|(x, y)| match (x.is_nan(), x.is_infinite()) {
                (true, _) => true,
                (_, true) => !y.is_finite(),
                _ => (x - y).abs() <= 1e-6 * size,
            })
}
