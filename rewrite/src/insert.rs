//! Regions become nodes: substitution and composition by insertion.
//!
//! Each definition's body is translated to closed nodes over the classes of its arguments. Indices are resolved here
//! once and for all, so nothing can be captured later. The nodes are canonical but not simplified, because proofs start
//! from the region as written.

use crate::{
    arena::{Arena, Mode},
    build::{Context, as_constant, constant, contract_raw, zero},
    laws::{Construction, note},
    log::Left,
    mutants,
    node::{Extents, Function, Node, Op, Slot, Slots},
    numbers::{Power, times},
    product::{Operand, Product, view},
    recognize::is_inverse,
    symmetry::Symmetries,
};
use egg::Id;
use ein_ir::{Comparison, Ein, Elementary, Index, Param, Rational, Term, region::Region};
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

/// Summation indices of one product; a nest with more is split into several products.
const DUMMY_LIMIT: usize = 20;
/// Powers of tensors up to this one are written as repeated factors.
const REPEATED_FACTORS: i32 = 3;

/// A source with its roots under one tuple.
pub(crate) struct Source {
    pub(crate) arena: Arena,
    pub(crate) values: Vec<Id>,
    pub(crate) root: Id,
}

impl Source {
    /// The source of a region; of its definitions may be known how they are symmetric.
    pub(crate) fn new(region: &Region, known: &[Symmetries], log: bool) -> Source {
        let mut arena = Arena::new(Mode::Source, usize::MAX).logging(log);
        let values = insert_region(&mut arena, region, known);
        let roots: Vec<Id> = region.roots.iter().map(|root| values[root.0]).collect();
        let root = arena.add(Node::new(Op::Tuple, &roots));
        Source {
            arena,
            values,
            root,
        }
    }
}

/// Inserts a region; gives the class of each value, inputs first. Of its definitions may be known how they are symmetric.
pub(crate) fn insert_region(arena: &mut Arena, region: &Region, known: &[Symmetries]) -> Vec<Id> {
    let mut values: Vec<Id> = Vec::with_capacity(region.inputs.len() + region.defs.len());
    for (input, param) in region.inputs.iter().enumerate() {
        values.push(arena.add(Node::leaf(match param {
            Param::Tensor(shape) => Op::Tensor {
                input,
                shape: extents(shape.dims()),
            },
            Param::Field { dim, shape } => Op::Field {
                input,
                dim: small(*dim),
                shape: extents(shape.dims()),
                order: 0,
            },
        })));
    }
    for (number, def) in region.defs.iter().enumerate() {
        let arguments: Vec<Id> = def.args.iter().map(|arg| values[arg.0]).collect();
        let left = || Left::Definition(number);
        let insert = |arena: &mut Arena| insert_operator(arena, &def.op, &arguments);
        let value = arena.logged(left, None, insert);
        if let Some(symmetries) = known.get(number) {
            arena.learn(value, *symmetries);
        }
        values.push(value);
    }
    values
}

/// The class of an operator applied to classes.
pub(crate) fn insert_operator(arena: &mut Arena, op: &Ein, arguments: &[Id]) -> Id {
    if is_inverse(op) {
        return arena.inverse(arguments[0]);
    }
    let mut translation = Translation {
        arena,
        op,
        arguments,
        ranges: FxHashMap::default(),
    };
    let result: Vec<Index> = (0..op.axes.len()).map(Index::Axis).collect();
    translation.class_over(&op.body, &result)
}

fn extents(dims: &[usize]) -> Extents {
    dims.iter().map(|&n| small_extent(n)).collect()
}

fn small_extent(n: usize) -> u32 {
    u32::try_from(n).expect("an axis has fewer than 2³² components")
}

fn small(dim: usize) -> u8 {
    u8::try_from(dim).expect("a domain has few dimensions")
}

/// A product over index variables.
struct Factors {
    coefficient: Rational,
    dummies: Vec<Index>,
    operands: Vec<(Id, Vec<Index>, Power)>,
}

/// A class whose axes are these index variables, each once and in order.
struct Indexed {
    id: Id,
    variables: Vec<Index>,
}

struct Translation<'a> {
    arena: &'a mut Arena,
    op: &'a Ein,
    arguments: &'a [Id],
    /// The ranges of the summation indices met so far.
    ranges: FxHashMap<u32, usize>,
}

impl Translation<'_> {
    fn extent(&self, variable: Index) -> u32 {
        small_extent(match variable {
            Index::Axis(axis) => self.op.axes[axis],
            Index::Bound(binder) => self.ranges[&binder],
            Index::Const(_) => 1,
        })
    }

    /// The class of a term; its axes are the variables that occur free in it.
    fn class(&mut self, term: &Term) -> Indexed {
        let factors = self.factors(term);
        self.close_free(factors)
    }

    /// The class of a term with the given axes, among which are all its free variables.
    fn class_over(&mut self, term: &Term, variables: &[Index]) -> Id {
        let factors = self.factors(term);
        self.close(factors, variables)
    }

    fn factors(&mut self, term: &Term) -> Factors {
        let mut factors = Factors {
            coefficient: Rational::one(),
            dummies: Vec::new(),
            operands: Vec::new(),
        };
        self.multiply(&mut factors, term);
        factors
    }

    /// The contraction of `factors` with the given result axes.
    fn close(&mut self, factors: Factors, variables: &[Index]) -> Id {
        let labels: Vec<Index> = variables.iter().chain(&factors.dummies).copied().collect();
        let slot = |index: &Index| match *index {
            Index::Const(component) => Slot::Fixed(small_extent(component)),
            variable => {
                let label = labels.iter().position(|&label| label == variable);
                Slot::Label(label.expect("a well-formed operator binds its indices") as u8)
            }
        };
        let operands = factors.operands.iter().map(|(id, indices, power)| Operand {
            id: *id,
            slots: indices.iter().map(slot).collect(),
            power: *power,
        });
        let product = Product {
            coefficient: Rational::one(),
            results: variables.len(),
            extents: labels.iter().map(|&label| self.extent(label)).collect(),
            operands: operands.collect(),
        };
        if factors.coefficient.is_zero() {
            note(self.arena, Construction::Zero);
            return zero(self.arena, product.shape());
        }
        let (sign, id) = contract_raw(self.arena, &product);
        let coefficient = if sign.is_one() {
            factors.coefficient
        } else {
            sign * factors.coefficient
        };
        if coefficient.is_one() {
            id
        } else {
            self.arena.add(Node::new(Op::sum([coefficient]), &[id]))
        }
    }

    /// Multiplies `term` into `factors`.
    fn multiply(&mut self, factors: &mut Factors, term: &Term) {
        match term {
            Term::Const(value) => self.scale(factors, *value),
            Term::Access { param, indices } => {
                let argument = self.arguments[*param];
                let indices = mutants::indices(indices, self.arena.node(argument));
                factors.operands.push((argument, indices, Power::ONE));
            }
            Term::Eigen {
                part,
                param,
                indices,
            } => {
                let node = Node::new(Op::Eigen(*part), &[self.arguments[*param]]);
                let system = self.arena.add(node);
                factors.operands.push((system, indices.clone(), Power::ONE));
            }
            Term::Position { dim, index } => {
                let position = self
                    .arena
                    .add(Node::leaf(Op::Position { dim: small(*dim) }));
                let slots = if *dim > 1 { vec![*index] } else { Vec::new() };
                factors.operands.push((position, slots, Power::ONE));
            }
            Term::Delta(a, b) => self.multiply_delta(factors, *a, *b),
            Term::Epsilon(indices) => {
                let epsilon = self
                    .arena
                    .add(Node::leaf(Op::Epsilon(small_extent(indices.len()))));
                factors
                    .operands
                    .push((epsilon, indices.clone(), Power::ONE));
            }
            Term::Neg(body) => {
                factors.coefficient = -factors.coefficient;
                self.multiply(factors, body);
            }
            Term::Mul(terms) => terms.iter().for_each(|term| self.multiply(factors, term)),
            Term::Div(a, b) => {
                self.multiply(factors, a);
                self.multiply_power(factors, b, Power::MINUS_ONE);
            }
            Term::Pow(_, 0) => {}
            Term::Pow(body, exponent) => {
                self.multiply_power(factors, body, Power::integer(*exponent))
            }
            Term::Apply(Elementary::Sqrt, arguments) => {
                self.multiply_power(factors, &arguments[0], Power::HALF)
            }
            Term::Apply(Elementary::Pow, arguments) => match self.small_integer(&arguments[1]) {
                Some(0) => {}
                Some(exponent) => {
                    self.multiply_power(factors, &arguments[0], Power::integer(exponent))
                }
                None => {
                    let class = self.node(term);
                    push(factors, class);
                }
            },
            Term::Sum {
                binder,
                range,
                body,
            } => {
                self.ranges.insert(*binder, *range);
                let index = Index::Bound(*binder);
                if factors.dummies.len() < DUMMY_LIMIT && !factors.dummies.contains(&index) {
                    factors.dummies.push(index);
                    self.multiply(factors, body);
                } else {
                    let mut nested = self.factors(body);
                    nested.dummies.push(index);
                    let class = self.close_free(nested);
                    push(factors, class);
                }
            }
            Term::Deriv { index, body } => self.multiply_derivative(factors, *index, body),
            Term::Probe { field, at } => self.multiply_probe(factors, field, at),
            Term::Add(_) | Term::Sub(..) | Term::Apply(..) | Term::Cond { .. } => {
                let class = self.node(term);
                push(factors, class);
            }
        }
    }

    /// As [`Translation::class`], for factors at hand.
    fn close_free(&mut self, factors: Factors) -> Indexed {
        let mut variables: Vec<Index> = factors
            .operands
            .iter()
            .flat_map(|(_, slots, _)| slots)
            .copied()
            .filter(|index| !matches!(index, Index::Const(_)) && !factors.dummies.contains(index))
            .collect();
        variables.sort_unstable();
        variables.dedup();
        let id = self.close(factors, &variables);
        Indexed { id, variables }
    }

    /// The integer that a term is known to be, if it is one that an exponent can be.
    fn small_integer(&mut self, term: &Term) -> Option<i32> {
        let class = self.class(term);
        let value = as_constant(self.arena, class.id).filter(|value| value.is_integer())?;
        i32::try_from(*value.numer()).ok()
    }

    fn scale(&mut self, factors: &mut Factors, value: Rational) {
        match times(factors.coefficient, value) {
            Some(product) => factors.coefficient = product,
            None => {
                let value = constant(self.arena, value);
                factors.operands.push((value, Vec::new(), Power::ONE));
            }
        }
    }

    fn multiply_delta(&mut self, factors: &mut Factors, a: Index, b: Index) {
        let extent = match (a, b) {
            (Index::Const(a), Index::Const(b)) => {
                if a != b {
                    factors.coefficient = Rational::zero();
                }
                return;
            }
            (Index::Const(component), variable) | (variable, Index::Const(component)) => {
                let extent = self.extent(variable);
                if small_extent(component) >= extent {
                    factors.coefficient = Rational::zero();
                    return;
                }
                extent
            }
            (a, _) => self.extent(a),
        };
        let delta = self.arena.add(Node::leaf(Op::Delta(extent)));
        factors.operands.push((delta, vec![a, b], Power::ONE));
    }

    fn multiply_power(&mut self, factors: &mut Factors, body: &Term, exponent: Power) {
        let body = mutants::base(body, &mut self.ranges, &mut factors.dummies);
        let class = self.class(body);
        if class.variables.is_empty() {
            factors.operands.push((class.id, Vec::new(), exponent));
            return;
        }
        let repeated = (1..=REPEATED_FACTORS).find(|&n| Power::integer(n) == exponent);
        if let Some(count) = repeated {
            for _ in 0..count {
                factors
                    .operands
                    .push((class.id, class.variables.clone(), Power::ONE));
            }
            return;
        }
        let id = self
            .arena
            .add(Node::new(Op::Apply(Function::Power(exponent)), &[class.id]));
        push(factors, Indexed { id, ..class });
    }

    fn multiply_derivative(&mut self, factors: &mut Factors, index: Index, body: &Term) {
        let mut class = self.class(body);
        let dim = self.arena.facts(class.id).dim;
        if dim == 0 {
            note(self.arena, Construction::Constants);
            factors.coefficient = Rational::zero();
            return;
        }
        let id = self.arena.derivative(dim, class.id);
        class.variables.extend((dim > 1).then_some(index));
        factors.operands.push((id, class.variables, Power::ONE));
    }

    fn multiply_probe(&mut self, factors: &mut Factors, field: &Term, at: &[Term]) {
        let class = self.class(field);
        if self.arena.facts(class.id).dim == 0 {
            note(self.arena, Construction::Probes);
            push(factors, class);
            return;
        }
        let coordinates: Vec<Indexed> = at.iter().map(|term| self.class(term)).collect();
        if let Some(&variable) = coordinates.iter().flat_map(|c| &c.variables).next() {
            // A position for each value of an index: one probe for each, put together by δ.
            let terms = (0..self.extent(variable) as usize).map(|value| {
                let value = Index::Const(value);
                let probe = Term::Probe {
                    field: Box::new(field.clone()),
                    at: at.to_vec(),
                };
                Term::Mul(vec![
                    Term::Delta(variable, value),
                    probe.with_index(variable, value),
                ])
            });
            self.multiply(factors, &Term::Add(terms.collect()));
            return;
        }
        let coordinates: Vec<Id> = coordinates.iter().map(|c| c.id).collect();
        let position = self.position(&coordinates);
        let id = self.arena.probe(class.id, position);
        push(factors, Indexed { id, ..class });
    }

    /// The position with these coordinates.
    fn position(&mut self, coordinates: &[Id]) -> Id {
        let dim = small_extent(coordinates.len());
        if let [only] = coordinates {
            return *only;
        }
        if let Some(vector) = self.common_vector(coordinates) {
            return vector;
        }
        let delta = self.arena.add(Node::leaf(Op::Delta(dim)));
        let mut terms: Vec<(Id, Rational)> = Vec::new();
        for (component, &coordinate) in coordinates.iter().enumerate() {
            let unit = Operand::new(delta, [Slot::Fixed(component as u32), Slot::Label(0)]);
            let operands = vec![unit, Operand::new(coordinate, [])];
            let (coefficient, id) = contract_raw(
                self.arena,
                &Product::pointwise(&[dim].into_iter().collect(), operands),
            );
            terms.push((id, coefficient));
        }
        self.arena.add(Node::sum(terms))
    }

    /// The vector whose components, all of them in order, the coordinates are.
    fn common_vector(&mut self, coordinates: &[Id]) -> Option<Id> {
        let vector = *self.arena.node(coordinates[0]).children.first()?;
        let shape = &self.arena.facts(vector).shape;
        if shape[..] != [coordinates.len() as u32] {
            return None;
        }
        coordinates
            .iter()
            .enumerate()
            .all(|(component, &coordinate)| {
                let slots: Slots = [Slot::Fixed(component as u32)].into_iter().collect();
                contract_raw(self.arena, &view(vector, slots, Extents::new())).1 == coordinate
            })
            .then_some(vector)
    }

    /// Several terms over the union of their variables.
    fn aligned(&mut self, terms: &[&Term]) -> (Vec<Id>, Vec<Index>) {
        let classes: Vec<Indexed> = terms.iter().map(|term| self.class(term)).collect();
        let mut variables: Vec<Index> = classes
            .iter()
            .flat_map(|class| &class.variables)
            .copied()
            .collect();
        variables.sort_unstable();
        variables.dedup();
        let mut ids = Vec::with_capacity(classes.len());
        for class in classes {
            let id = if class.variables == variables {
                class.id
            } else {
                let operands = vec![(class.id, class.variables, Power::ONE)];
                let factors = Factors {
                    coefficient: Rational::one(),
                    dummies: Vec::new(),
                    operands,
                };
                self.close(factors, &variables)
            };
            ids.push(id);
        }
        (ids, variables)
    }

    /// A term that is a node of its own.
    fn node(&mut self, term: &Term) -> Indexed {
        let (id, variables) = match term {
            Term::Add(terms) => {
                let (ids, variables) = self.aligned(&terms.iter().collect::<Vec<_>>());
                let terms: Vec<(Id, Rational)> =
                    ids.into_iter().map(|id| (id, Rational::one())).collect();
                if terms.is_empty() {
                    (zero(self.arena, Extents::new()), variables)
                } else {
                    (self.arena.add(Node::sum(terms)), variables)
                }
            }
            Term::Sub(a, b) => {
                let (ids, variables) = self.aligned(&[a, b]);
                let one = Rational::one();
                let terms = mutants::difference(self.arena, [(ids[0], one), (ids[1], -one)]);
                (self.arena.add(Node::sum(terms)), variables)
            }
            Term::Apply(function, arguments) => {
                let (ids, variables) = self.aligned(&arguments.iter().collect::<Vec<_>>());
                let op = Op::Apply(Function::Elementary(*function));
                (self.arena.add(Node::new(op, &ids)), variables)
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => {
                let test: Comparison = *test;
                let (ids, variables) = self.aligned(&[&sides[0], &sides[1], then, otherwise]);
                (self.arena.add(Node::new(Op::Cond(test), &ids)), variables)
            }
            _ => return self.class(term),
        };
        Indexed { id, variables }
    }
}

fn push(factors: &mut Factors, class: Indexed) {
    factors
        .operands
        .push((class.id, class.variables, Power::ONE));
}
