//! The reference meaning of operators and regions: every value is a jet.
//!
//! Nothing is rewritten: derivatives are read off Taylor series, a probe at a position that is itself a field is the
//! substitution of one series in another. Operators must be well-formed ([`Ein::verify`]).

use crate::leaf::LeafField;
use crate::region::{Def, Region, ValueId};
use crate::{Comparison, Ein, Index, Jet, Param, Tensor, Term, rational};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What an input stands for.
#[derive(Clone)]
pub enum Input<'a> {
    /// A tensor.
    Tensor(Tensor<f64>),
    /// A leaf field.
    Field(&'a dyn LeafField),
}

impl Ein {
    /// The tensor that the operator gives for these arguments.
    pub fn eval(&self, args: &[Input]) -> Tensor<f64> {
        self.expand(args, &[], 0).map(Jet::value)
    }

    /// The field that the operator gives, as jets of this order around a position.
    pub fn expand(&self, args: &[Input], at: &[f64], order: usize) -> Tensor<Jet> {
        let region = Region::of(self.clone());
        region.expand(args, region.roots[0], at, order)
    }
}

impl Region {
    /// The region of a single operator.
    fn of(op: Ein) -> Region {
        let inputs = op.params.clone();
        let args = (0..inputs.len()).map(ValueId).collect();
        let roots = vec![ValueId(inputs.len())];
        Region {
            inputs,
            defs: vec![Def { op, args }],
            roots,
        }
    }

    /// The tensors that the region gives for these inputs; its roots must not be fields.
    pub fn eval(&self, inputs: &[Input]) -> Vec<Tensor<f64>> {
        let mut evaluation = Evaluation::new(self, inputs);
        let tensor = |&root| evaluation.tensor(root, Site::NOWHERE).map(Jet::value);
        self.roots.iter().map(tensor).collect()
    }

    /// Values of the region; those that are fields at the position with the first of these coordinates.
    pub fn sample(&self, inputs: &[Input], values: &[ValueId], at: &[f64]) -> Vec<Tensor<f64>> {
        let mut evaluation = Evaluation::new(self, inputs);
        let mut sample = |value: &ValueId| {
            let at = &at[..evaluation.kinds[value.0].dim().unwrap_or(0)];
            evaluation
                .tensor(*value, Site { at, order: 0 })
                .map(Jet::value)
        };
        values.iter().map(&mut sample).collect()
    }

    /// A value of the region, as jets of this order around a position.
    pub fn expand(
        &self,
        inputs: &[Input],
        value: ValueId,
        at: &[f64],
        order: usize,
    ) -> Tensor<Jet> {
        Evaluation::new(self, inputs).tensor(value, Site { at, order })
    }
}

/// Where a term is evaluated: jets are in as many variables as there are coordinates.
#[derive(Clone, Copy)]
struct Site<'s> {
    at: &'s [f64],
    order: usize,
}

impl Site<'_> {
    /// Where tensors are evaluated: jets without variables are numbers.
    const NOWHERE: Site<'static> = Site { at: &[], order: 0 };

    fn constant(self, value: f64) -> Jet {
        Jet::constant(self.at.len(), self.order, value)
    }
}

/// The components of one value around one position.
type Components = Rc<Vec<Jet>>;

struct Evaluation<'a> {
    region: &'a Region,
    inputs: &'a [Input<'a>],
    kinds: Vec<Param>,
    /// Earlier results, by value and position, to the highest order so far.
    known: BTreeMap<(usize, Vec<u64>), (usize, Components)>,
}

/// What indices stand for while one component is computed.
struct Indices {
    axes: Vec<usize>,
    bound: Vec<(u32, usize)>,
}

impl Indices {
    fn get(&self, index: Index) -> usize {
        match index {
            Index::Const(component) => component,
            Index::Axis(axis) => self.axes[axis],
            Index::Bound(binder) => {
                let innermost = self.bound.iter().rev().find(|(bound, _)| *bound == binder);
                innermost
                    .unwrap_or_else(|| panic!("the index {index} is not bound"))
                    .1
            }
        }
    }
}

impl<'a> Evaluation<'a> {
    fn new(region: &'a Region, inputs: &'a [Input<'a>]) -> Evaluation<'a> {
        assert_eq!(region.inputs.len(), inputs.len(), "inputs of a region");
        for (param, input) in region.inputs.iter().zip(inputs) {
            let given = match input {
                Input::Tensor(tensor) => Param::Tensor(tensor.shape().clone()),
                Input::Field(leaf) => Param::Field {
                    dim: leaf.dim(),
                    shape: leaf.shape(),
                },
            };
            assert_eq!(*param, given, "input of a region");
        }
        Evaluation {
            region,
            inputs,
            kinds: region.kinds(),
            known: BTreeMap::new(),
        }
    }

    fn tensor(&mut self, value: ValueId, site: Site) -> Tensor<Jet> {
        let shape = self.kinds[value.0].shape().clone();
        let components = self.components(value, site);
        Tensor::new(
            shape,
            components
                .iter()
                .map(|jet| jet.truncate(site.order))
                .collect(),
        )
    }

    /// All components of a value, to at least the order of the site.
    fn components(&mut self, value: ValueId, site: Site) -> Components {
        if self.kinds[value.0].dim().is_none() && !site.at.is_empty() {
            let constants = self.components(value, Site::NOWHERE);
            return Rc::new(
                constants
                    .iter()
                    .map(|jet| site.constant(jet.value()))
                    .collect(),
            );
        }
        let key = (value.0, site.at.iter().map(|x| x.to_bits()).collect());
        if let Some((order, components)) = self.known.get(&key)
            && *order >= site.order
        {
            return Rc::clone(components);
        }
        let region = self.region;
        let components = Rc::new(match value.0.checked_sub(region.inputs.len()) {
            None => match &self.inputs[value.0] {
                Input::Tensor(tensor) => tensor
                    .components()
                    .iter()
                    .map(|&x| site.constant(x))
                    .collect(),
                Input::Field(leaf) => leaf.expand(site.at, site.order),
            },
            Some(def) => {
                let def = &region.defs[def];
                let shape = self.kinds[value.0].shape().clone();
                let component = |axes| {
                    let mut indices = Indices {
                        axes,
                        bound: Vec::new(),
                    };
                    self.term(&def.op.body, def, &mut indices, site)
                };
                shape.indices().map(component).collect()
            }
        });
        self.known.insert(key, (site.order, Rc::clone(&components)));
        components
    }

    fn term(&mut self, term: &Term, def: &Def, indices: &mut Indices, site: Site) -> Jet {
        match term {
            Term::Const(number) => site.constant(rational::to_f64(*number)),
            Term::Access {
                param,
                indices: places,
            } => {
                let value = def.args[*param];
                let index: Vec<usize> = places.iter().map(|&place| indices.get(place)).collect();
                let offset = self.kinds[value.0].shape().offset(&index);
                self.components(value, site)[offset].truncate(site.order)
            }
            Term::Eigen {
                part,
                param,
                indices: places,
            } => {
                let matrix = self.components(def.args[*param], site);
                let matrix: Vec<Jet> = matrix.iter().map(|x| x.truncate(site.order)).collect();
                let index: Vec<usize> = places.iter().map(|&place| indices.get(place)).collect();
                part.expand(&matrix, &index)
            }
            Term::Position { dim, index } => {
                assert_eq!(*dim, site.at.len(), "a position outside its space");
                let axis = indices.get(*index);
                Jet::variable(*dim, site.order, axis, site.at[axis])
            }
            Term::Delta(i, j) => site.constant(f64::from(indices.get(*i) == indices.get(*j))),
            Term::Epsilon(places) => {
                let places: Vec<usize> = places.iter().map(|&place| indices.get(place)).collect();
                site.constant(sign_of_permutation(&places))
            }
            Term::Neg(body) => -&self.term(body, def, indices, site),
            Term::Add(terms) => terms.iter().fold(site.constant(0.0), |sum, term| {
                &sum + &self.term(term, def, indices, site)
            }),
            Term::Sub(left, right) => {
                &self.term(left, def, indices, site) - &self.term(right, def, indices, site)
            }
            Term::Mul(factors) => factors.iter().fold(site.constant(1.0), |product, factor| {
                &product * &self.term(factor, def, indices, site)
            }),
            Term::Div(left, right) => {
                &self.term(left, def, indices, site) / &self.term(right, def, indices, site)
            }
            Term::Pow(base, exponent) => self.term(base, def, indices, site).powi(*exponent),
            Term::Apply(function, args) => {
                let args: Vec<Jet> = args
                    .iter()
                    .map(|arg| self.term(arg, def, indices, site))
                    .collect();
                function.expand(&args)
            }
            Term::Cond {
                test,
                sides,
                then,
                otherwise,
            } => {
                let here = Site { order: 0, ..site };
                let [left, right] =
                    [0, 1].map(|k| self.term(&sides[k], def, indices, here).value());
                let chosen = if test.holds(left, right) {
                    then
                } else {
                    otherwise
                };
                self.term(chosen, def, indices, site)
            }
            Term::Sum {
                binder,
                range,
                body,
            } => {
                let mut sum = site.constant(0.0);
                for value in 0..*range {
                    indices.bound.push((*binder, value));
                    sum = &sum + &self.term(body, def, indices, site);
                    indices.bound.pop();
                }
                sum
            }
            Term::Deriv { index, body } => {
                let more = Site {
                    order: site.order + 1,
                    ..site
                };
                self.term(body, def, indices, more)
                    .derivative(indices.get(*index))
            }
            Term::Probe { field, at } => {
                let place: Vec<Jet> = at
                    .iter()
                    .map(|term| self.term(term, def, indices, site))
                    .collect();
                let at: Vec<f64> = place.iter().map(Jet::value).collect();
                self.term(
                    field,
                    def,
                    indices,
                    Site {
                        at: &at,
                        order: site.order,
                    },
                )
                .compose(&place)
            }
        }
    }
}

impl Comparison {
    /// Whether the comparison holds between two numbers.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Equal => left == right,
        }
    }
}

/// 1 for an even permutation of 0, 1, …, −1 for an odd one, 0 if two are equal.
fn sign_of_permutation(places: &[usize]) -> f64 {
    let pairs = (0..places.len()).flat_map(|j| (0..j).map(move |i| (places[i], places[j])));
    pairs.fold(1.0, |sign, (a, b)| match a.cmp(&b) {
        std::cmp::Ordering::Less => sign,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => -sign,
    })
}
