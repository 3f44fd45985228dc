//! Regions sketched with surface operators, as the tests and the benchmark write them.

#![allow(dead_code, reason = "each test file uses a part of this")]

pub(crate) mod generate;
pub(crate) mod operators;
pub(crate) mod values;

use ein_ir::{
    Continuity, Ein, Param, Shape, Type, ops,
    region::{Def, Region, ValueId},
};

/// A value of a sketch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum V {
    Input(usize),
    Def(usize),
}

/// A region under construction; inputs may be added at any time.
#[derive(Default)]
pub(crate) struct Sketch {
    names: Vec<String>,
    inputs: Vec<Param>,
    defs: Vec<(Ein, Vec<V>)>,
}

impl Sketch {
    fn input(&mut self, name: &str, param: Param) -> V {
        if let Some(known) = self.names.iter().position(|known| known == name) {
            assert_eq!(self.inputs[known], param);
            return V::Input(known);
        }
        self.names.push(name.to_string());
        self.inputs.push(param);
        V::Input(self.inputs.len() - 1)
    }

    pub(crate) fn tensor(&mut self, name: &str, dims: &[usize]) -> V {
        self.input(name, Param::Tensor(Shape::from(dims)))
    }

    pub(crate) fn field(&mut self, name: &str, dim: usize, dims: &[usize]) -> V {
        let shape = Shape::from(dims);
        self.input(name, Param::Field { dim, shape })
    }

    pub(crate) fn param(&self, value: V) -> Param {
        match value {
            V::Input(k) => self.inputs[k].clone(),
            V::Def(k) => self.defs[k].0.result(),
        }
    }

    pub(crate) fn dims(&self, value: V) -> Vec<usize> {
        self.param(value).shape().dims().to_vec()
    }

    fn ty(&self, value: V) -> Type {
        match self.param(value) {
            Param::Tensor(shape) => Type::Tensor(shape),
            Param::Field { dim, shape } => Type::Field {
                continuity: Continuity::Infinite,
                dim,
                time: None,
                shape,
            },
        }
    }

    pub(crate) fn apply(&mut self, op: Ein, args: &[V]) -> V {
        self.defs.push((op, args.to_vec()));
        V::Def(self.defs.len() - 1)
    }

    /// A surface operator by its spelling.
    pub(crate) fn op(&mut self, spelling: &str, args: &[V]) -> V {
        let types: Vec<Type> = args.iter().map(|&arg| self.ty(arg)).collect();
        let instance = ops::resolve(spelling, &types)
            .unwrap_or_else(|_| panic!("no {spelling} for {types:?}"));
        let op = instance
            .ein()
            .unwrap_or_else(|| panic!("{spelling} is not an EIN operator"));
        self.apply(op, args)
    }

    /// An operator in EIN notation, its parameters left out: `"i:3 | a[i] b"`.
    pub(crate) fn ein(&mut self, text: &str, args: &[V]) -> V {
        let letters = "abcdefgh".chars();
        let params: Vec<String> = letters
            .zip(args)
            .map(|(letter, &arg)| format!("{letter}:{}", self.param(arg)))
            .collect();
        let text = format!("λ({}) {text}", params.join(", "));
        let op: Ein = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        self.apply(op, args)
    }

    pub(crate) fn add(&mut self, a: V, b: V) -> V {
        self.op("+", &[a, b])
    }

    pub(crate) fn sub(&mut self, a: V, b: V) -> V {
        self.op("-", &[a, b])
    }

    pub(crate) fn neg(&mut self, a: V) -> V {
        self.op("-", &[a])
    }

    pub(crate) fn mul(&mut self, a: V, b: V) -> V {
        self.op("*", &[a, b])
    }

    pub(crate) fn div(&mut self, a: V, b: V) -> V {
        self.op("/", &[a, b])
    }

    pub(crate) fn dot(&mut self, a: V, b: V) -> V {
        self.op("•", &[a, b])
    }

    pub(crate) fn outer(&mut self, a: V, b: V) -> V {
        self.op("⊗", &[a, b])
    }

    pub(crate) fn colon(&mut self, a: V, b: V) -> V {
        self.op(":", &[a, b])
    }

    pub(crate) fn cross(&mut self, a: V, b: V) -> V {
        self.op("×", &[a, b])
    }

    pub(crate) fn norm(&mut self, a: V) -> V {
        self.op("|", &[a])
    }

    pub(crate) fn trace(&mut self, a: V) -> V {
        self.op("trace", &[a])
    }

    pub(crate) fn transpose(&mut self, a: V) -> V {
        self.op("transpose", &[a])
    }

    pub(crate) fn inverse(&mut self, a: V) -> V {
        self.op("inv", &[a])
    }

    pub(crate) fn det(&mut self, a: V) -> V {
        self.op("det", &[a])
    }

    /// ∇ of a scalar field, ∇⊗ of others.
    pub(crate) fn grad(&mut self, a: V) -> V {
        let spelling = if self.dims(a).is_empty() {
            "∇"
        } else {
            "∇⊗"
        };
        self.op(spelling, &[a])
    }

    pub(crate) fn divergence(&mut self, a: V) -> V {
        self.op("∇•", &[a])
    }

    pub(crate) fn curl(&mut self, a: V) -> V {
        self.op("∇×", &[a])
    }

    /// The Laplacian of a scalar or vector field in three dimensions.
    pub(crate) fn laplacian(&mut self, a: V) -> V {
        match self.dims(a).len() {
            0 => self.ein("| Σ s:3. ∂s ∂s a", &[a]),
            _ => self.ein("i:3 | Σ s:3. ∂s ∂s a[i]", &[a]),
        }
    }

    pub(crate) fn number(&mut self, n: i128, d: i128) -> V {
        self.ein(&format!("| {n}/{d}"), &[])
    }

    pub(crate) fn scaled(&mut self, n: i128, d: i128, a: V) -> V {
        let factor = self.number(n, d);
        self.mul(factor, a)
    }

    pub(crate) fn power(&mut self, a: V, n: i32) -> V {
        let op = ops::special::power(self.param(a), n);
        self.apply(op, &[a])
    }

    fn constant(&mut self, spelling: &str, dims: &[usize]) -> V {
        let instance = ops::resolve_as(spelling, &[], Some(&Type::tensor(dims)));
        let ein = instance.ok().and_then(|instance| instance.ein());
        self.apply(ein.expect("a constant tensor"), &[])
    }

    pub(crate) fn identity(&mut self, n: usize) -> V {
        self.constant(ops::spelling::IDENTITY, &[n, n])
    }

    pub(crate) fn zeros(&mut self, dims: &[usize]) -> V {
        self.constant(ops::spelling::ZEROS, dims)
    }

    pub(crate) fn concat(&mut self, parts: &[V]) -> V {
        let params: Vec<Param> = parts.iter().map(|&part| self.param(part)).collect();
        self.apply(ops::special::concat(&params), parts)
    }

    pub(crate) fn slice(&mut self, a: V, mask: &[Option<usize>]) -> V {
        let op = ops::special::slice(self.param(a), mask);
        self.apply(op, &[a])
    }

    pub(crate) fn probe(&mut self, field: V, position: V) -> V {
        let op = ops::special::probe(self.param(field), self.param(position));
        self.apply(op, &[field, position])
    }

    /// The region that gives these values.
    pub(crate) fn region(&self, roots: &[V]) -> Region {
        let id = |value: &V| match *value {
            V::Input(k) => ValueId(k),
            V::Def(k) => ValueId(self.inputs.len() + k),
        };
        Region {
            inputs: self.inputs.clone(),
            defs: self
                .defs
                .iter()
                .map(|(op, args)| Def {
                    op: op.clone(),
                    args: args.iter().map(id).collect(),
                })
                .collect(),
            roots: roots.iter().map(id).collect(),
        }
    }
}
