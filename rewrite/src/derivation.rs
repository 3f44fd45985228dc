//! Derivations: the equations that lead from a region as written to its normal form, and their replay.

use crate::{
    closure::Closure,
    journal::{Head, Notes, TermId},
    meaning::definition,
    node::Node,
};
use egg::Id;
use ein_ir::{
    Input, Jet, LeafField, Param, PolynomialField, Shape, Tensor, random_numbers,
    region::{Def, Region, ValueId},
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An equation between two values of a derivation's region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// One side.
    pub left: ValueId,
    /// The other side.
    pub right: ValueId,
    /// The laws by which they are equal; none if they differ in notation only: the order of factors, the names of indices.
    pub laws: Vec<&'static str>,
}

/// Equations from which it follows, by putting equals for equals, that a region computes the same as another.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// All terms that the equations mention, over the inputs of both regions. Terms may be fields.
    pub region: Region,
    /// The equations, in the order in which they were found.
    pub equations: Vec<Equation>,
    /// For each root the term that was written and the one that became of it.
    pub roots: Vec<(ValueId, ValueId)>,
    /// For each definition the number of its operator; whether an argument is a field or known to be constant does not matter
    /// of the operator.
    heads: Vec<u32>,
}

/// What follows from the equations of a journal.
pub(crate) struct Consequences<'a> {
    notes: &'a Notes,
    /// The number of each term's head.
    heads: Vec<u32>,
    closure: Closure,
}

impl<'a> Consequences<'a> {
    pub(crate) fn new(notes: &'a Notes) -> Consequences<'a> {
        let bank = &notes.bank;
        let mut numbers: FxHashMap<&Head, u32> = FxHashMap::default();
        let mut number = |head| {
            let next = numbers.len() as u32;
            *numbers.entry(head).or_insert(next)
        };
        let heads: Vec<u32> = bank.heads.iter().map(&mut number).collect();
        let terms = heads.iter().copied().zip(bank.args.iter().cloned());
        let mut closure = Closure::new(terms.collect());
        for (number, equation) in notes.equations.iter().enumerate() {
            closure.equate(equation.left, equation.right, number);
        }
        Consequences {
            notes,
            heads,
            closure,
        }
    }

    /// Whether two terms are equal by the equations.
    pub(crate) fn are_equal(&self, a: TermId, b: TermId) -> bool {
        self.closure.are_equal(a, b)
    }

    /// Why the terms of each pair are equal; nothing if the equations do not say.
    pub(crate) fn derivation(
        &self,
        pairs: &[(TermId, TermId)],
        inputs: &[Param],
    ) -> Option<Derivation> {
        let (notes, closure) = (self.notes, &self.closure);
        if !pairs.iter().all(|&(a, b)| closure.are_equal(a, b)) {
            return None;
        }
        let needed = closure.explain(pairs);
        let equations: Vec<_> = needed
            .iter()
            .map(|&number| &notes.equations[number])
            .collect();
        let sides = equations.iter().flat_map(|e| [e.left, e.right]);
        let ends = pairs.iter().flat_map(|&(a, b)| [a, b]);
        let (region, value) = region_of(notes, sides.chain(ends), inputs);
        let mut heads = vec![0; region.defs.len()];
        for (term, value) in &value {
            if let Some(def) = value.0.checked_sub(inputs.len()) {
                heads[def] = self.heads[*term];
            }
        }
        let equation = |e: &&crate::journal::Equality| Equation {
            left: value[&e.left],
            right: value[&e.right],
            laws: e.laws.clone(),
        };
        Some(Derivation {
            region,
            equations: equations.iter().map(equation).collect(),
            roots: pairs.iter().map(|(a, b)| (value[a], value[b])).collect(),
            heads,
        })
    }
}

impl Derivation {
    /// The laws on the way, with the number of equations that each has a part in.
    pub fn laws(&self) -> BTreeMap<&'static str, usize> {
        let mut laws = BTreeMap::new();
        for law in self.equations.iter().flat_map(|equation| &equation.laws) {
            *laws.entry(*law).or_default() += 1;
        }
        laws
    }

    /// The part of it about some of the roots, which are given by their numbers.
    pub fn of_roots(&self, roots: &[usize]) -> Derivation {
        let roots: Vec<_> = roots.iter().map(|&root| self.roots[root]).collect();
        let pairs: Vec<_> = roots.iter().map(|(a, b)| (a.0, b.0)).collect();
        let needed = self.closure().explain(&pairs);
        let needed = needed.into_iter().map(|number| &self.equations[number]);
        Derivation {
            region: self.region.clone(),
            equations: needed.cloned().collect(),
            roots,
            heads: self.heads.clone(),
        }
    }

    /// Whether the equations lead from the first term to the last for every root.
    pub fn is_complete(&self) -> bool {
        let closure = self.closure();
        self.roots.iter().all(|(a, b)| closure.are_equal(a.0, b.0))
    }

    /// What follows from the equations.
    fn closure(&self) -> Closure {
        let inputs = (0..self.region.inputs.len()).map(|k| (u32::MAX - k as u32, Vec::new()));
        let defs = self.region.defs.iter().zip(&self.heads);
        let defs = defs.map(|(def, head)| (*head, def.args.iter().map(|arg| arg.0).collect()));
        let mut closure = Closure::new(inputs.chain(defs).collect());
        for (number, equation) in self.equations.iter().enumerate() {
            closure.equate(equation.left.0, equation.right.0, number);
        }
        closure
    }

    /// Evaluates both sides of every equation and both ends of every root on random inputs; gives the largest relative
    /// difference. Only sides with finite values are compared.
    pub fn replay(&self) -> f64 {
        let equations = self.equations.iter().map(|e| (e.left, e.right));
        let pairs = equations.chain(self.roots.iter().copied());
        let sides: Vec<ValueId> = pairs.flat_map(|(left, right)| [left, right]).collect();
        let values = sample(&self.region, &sides);
        let differences = values.chunks(2).map(|pair| difference(&pair[0], &pair[1]));
        differences.fold(0.0, f64::max)
    }
}

/// The largest difference of components that are finite, relative to the largest of them.
fn difference(x: &Tensor<f64>, y: &Tensor<f64>) -> f64 {
    let both = || x.components().iter().zip(y.components());
    let size = both().fold(1e-3f64, |size, (x, y)| size.max(x.abs()).max(y.abs()));
    let differences = both().map(|(x, y)| (x - y).abs() / size);
    differences.filter(|d| d.is_finite()).fold(0.0, f64::max)
}

/// The terms and all that they are made of, as a region.
fn region_of(
    notes: &Notes,
    terms: impl Iterator<Item = TermId>,
    inputs: &[Param],
) -> (Region, FxHashMap<TermId, ValueId>) {
    let bank = &notes.bank;
    let mut wanted = vec![false; bank.heads.len()];
    terms.for_each(|term| wanted[term] = true);
    for term in (0..wanted.len()).rev() {
        if wanted[term] {
            bank.args[term].iter().for_each(|&arg| wanted[arg] = true);
        }
    }
    let mut region = Region {
        inputs: inputs.to_vec(),
        ..Region::default()
    };
    let mut kinds = inputs.to_vec();
    let mut values: FxHashMap<TermId, ValueId> = FxHashMap::default();
    for term in (0..wanted.len()).filter(|&term| wanted[term]) {
        let args: Vec<ValueId> = bank.args[term].iter().map(|arg| values[arg]).collect();
        let params: Vec<Param> = args.iter().map(|arg| kinds[arg.0].clone()).collect();
        let def = match &bank.heads[term] {
            Head::Input(input) => {
                values.insert(term, ValueId(*input));
                continue;
            }
            Head::Operator(op) => {
                let mut op = op.clone();
                for (wanted, found) in op.params.iter_mut().zip(params) {
                    // What an operator on fields is given may have turned out to be constant; it is a field all the same.
                    if found.dim().is_some() || wanted.dim().is_none() {
                        *wanted = found;
                    }
                }
                Def { op, args }
            }
            Head::Node(op) => {
                let children: Vec<Id> = (0..args.len()).map(Id::from).collect();
                let shape = bank.shapes[term].iter().map(|&n| n as usize);
                let result = Param::Tensor(Shape::new(shape));
                definition(
                    &Node::new(op.clone(), &children),
                    &result,
                    params,
                    args,
                    inputs,
                )
            }
        };
        kinds.push(def.op.result());
        region.defs.push(def);
        values.insert(term, ValueId(kinds.len() - 1));
    }
    (region, values)
}

/// Values of a region on random inputs that are the same at every call, fields at a position: equal values are equal up to
/// rounding, and others are not.
pub fn sample(region: &Region, wanted: &[ValueId]) -> Vec<Tensor<f64>> {
    const DEGREE: usize = 5;
    const POSITION: [f64; 3] = [0.31, -0.42, 0.18];
    let numbers = |input: usize| random_numbers(7919 * (input as u64 + 1));
    let field = |(k, param): (usize, &Param)| {
        let dim = param.dim()?;
        let mut numbers = numbers(k);
        // Coefficients fall with the degree, so that compositions of fields stay of moderate size.
        let mut coefficient = |exponents: &[usize]| {
            let degree: usize = exponents.iter().sum();
            numbers.next().unwrap_or_default() * 0.5f64.powi(degree as i32)
        };
        let components = 0..param.shape().size();
        let components = components.map(|_| Jet::from_fn(dim, DEGREE, &mut coefficient));
        Some(PolynomialField::new(
            dim,
            param.shape().clone(),
            components.collect(),
        ))
    };
    let fields: Vec<_> = region.inputs.iter().enumerate().map(field).collect();
    let given = region.inputs.iter().zip(&fields).enumerate();
    let given = given.map(|(k, (param, field))| match field {
        Some(field) => Input::Field(field as &dyn LeafField),
        None => {
            let mut numbers = numbers(k);
            let tensor = Tensor::from_fn(param.shape(), |_| numbers.next().unwrap_or_default());
            Input::Tensor(tensor)
        }
    });
    region.sample(&given.collect::<Vec<_>>(), wanted, &POSITION)
}
