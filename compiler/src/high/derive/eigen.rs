//! The tangents of eigensystems.
//!
//! The formulas are those of fields, see the law `derivative-of-eigensystem` of `rewrite`. Every part of the system is a value of its
//! own, so that a derivative of the tangent finds it again.

use super::{Fact, rules::Writing, tangents::Pass, term};
use crate::ssa::Value;
use ein_ir::{Eigen, Ein, Index, Rational, Term};

/// What the tangents of an eigensystem are made of.
struct System {
    /// The rows of the matrix.
    n: usize,
    vectors: Value,
    resolvents: Value,
    /// The tangent of the matrix.
    change: Value,
    /// The tangent times each of the vectors.
    changed: Value,
}

impl Pass<'_> {
    /// The tangent of an operator with the eigensystem of a matrix that has a tangent; none if it has no such.
    pub(super) fn eigensystem(
        &mut self,
        ein: &Ein,
        args: &[Value],
        result: Value,
    ) -> Result<Option<Value>, Fact> {
        let systems = term::eigensystems(&ein.body).into_iter();
        let mut active = systems.filter_map(|(part, param)| {
            let tangent = self.tangent(args[param])?;
            Some((part, param, tangent))
        });
        let Some((part, param, tangent)) = active.next() else {
            return Ok(None);
        };
        let is_whole = |indices: &[Index]| {
            let own = (0..ein.axes.len()).map(Index::Axis);
            own.eq(indices.iter().copied())
        };
        if matches!(&ein.body, Term::Eigen { indices, .. } if is_whole(indices)) {
            let tangent = self.tangent_of_eigensystem(part, args[param], tangent)?;
            return Ok(Some(tangent));
        }
        let value = self.part_of_eigensystem(part, args[param])?;
        let tangent = self.tangent_of_eigensystem(part, args[param], tangent)?;
        self.known.insert(value, Some(tangent));
        let operator = Ein {
            params: [&ein.params[..], &[self.param(value)]].concat(),
            axes: ein.axes.clone(),
            body: term::with_part(ein.body.clone(), (part, param), args.len()),
        };
        self.operator(&operator, &[args, &[value]].concat(), result)
    }

    /// A part of the eigensystem of a matrix, as a value.
    fn part_of_eigensystem(&mut self, part: Eigen, matrix: Value) -> Result<Value, Fact> {
        let mut writing = Writing::default();
        let param = writing.add(self.param(matrix), matrix);
        let axes = vec![self.rows(matrix); part.order()];
        let indices = (0..axes.len()).map(Index::Axis).collect();
        let body = Term::Eigen {
            part,
            param,
            indices,
        };
        self.write(&writing, &axes, body)
    }

    /// The tangent of a part of the eigensystem of a matrix with this tangent.
    fn tangent_of_eigensystem(
        &mut self,
        part: Eigen,
        matrix: Value,
        tangent: Value,
    ) -> Result<Value, Fact> {
        let n = self.rows(matrix);
        let vectors = self.part_of_eigensystem(Eigen::Vectors, matrix)?;
        let resolvents = self.part_of_eigensystem(Eigen::Resolvents, matrix)?;
        let change = self.tangent_of_triangle(n, tangent)?;
        let changed = self.sums(n, "ki∂", &[(1, &[(change, "ip∂"), (vectors, "kp")])])?;
        let system = System {
            n,
            vectors,
            resolvents,
            change,
            changed,
        };
        match part {
            Eigen::Values => self.tangent_of_values(&system),
            Eigen::Vectors => self.tangent_of_vectors(&system),
            Eigen::Resolvents => self.tangent_of_resolvents(&system),
        }
    }

    fn tangent_of_values(&mut self, system: &System) -> Result<Value, Fact> {
        let factors = [(system.vectors, "kp"), (system.changed, "kp∂")];
        self.sums(system.n, "k∂", &[(1, &factors)])
    }

    fn tangent_of_vectors(&mut self, system: &System) -> Result<Value, Fact> {
        let factors = [(system.resolvents, "kip"), (system.changed, "kp∂")];
        self.sums(system.n, "ki∂", &[(1, &factors)])
    }

    fn tangent_of_resolvents(&mut self, system: &System) -> Result<Value, Fact> {
        let (n, r, e) = (system.n, system.resolvents, system.vectors);
        let (rates, turning) = (
            self.tangent_of_values(system)?,
            self.tangent_of_vectors(system)?,
        );
        let bent = self.sums(n, "ki∂", &[(1, &[(r, "kip"), (turning, "kp∂")])])?;
        let terms: [(i128, &[(Value, &str)]); 4] = [
            (1, &[(r, "kip"), (system.change, "pq∂"), (r, "kqj")]),
            (-1, &[(rates, "k∂"), (r, "kip"), (r, "kpj")]),
            (-1, &[(bent, "ki∂"), (e, "kj")]),
            (-1, &[(e, "ki"), (bent, "kj∂")]),
        ];
        self.sums(n, "kij∂", &terms)
    }

    /// The sum of products of factors with the given indices, each of n values. A product is summed over those that the
    /// result does not have. The index ∂, which is the last, stands for those of the variable.
    fn sums(
        &mut self,
        n: usize,
        result: &str,
        terms: &[(i128, &[(Value, &str)])],
    ) -> Result<Value, Fact> {
        let own: Vec<char> = result.chars().filter(|&index| index != '∂').collect();
        let by: Vec<Index> = (own.len()..own.len() + self.by.order())
            .map(Index::Axis)
            .collect();
        let mut writing = Writing::default();
        let mut products = Vec::with_capacity(terms.len());
        for (sign, factors) in terms {
            let mut product = vec![Term::Const(Rational::from_integer(*sign))];
            let mut summed: Vec<char> = Vec::new();
            for (value, names) in *factors {
                let mut indices = Vec::new();
                for name in names.chars() {
                    if name == '∂' {
                        indices.extend(&by);
                    } else if let Some(axis) = own.iter().position(|&axis| axis == name) {
                        indices.push(Index::Axis(axis));
                    } else {
                        if !summed.contains(&name) {
                            summed.push(name);
                        }
                        indices.push(Index::Bound(name.into()));
                    }
                }
                let param = writing.add(self.param(*value), *value);
                product.push(Term::Access { param, indices });
            }
            let product = Term::Mul(product);
            products.push(summed.into_iter().fold(product, |body, name| Term::Sum {
                binder: name.into(),
                range: n,
                body: Box::new(body),
            }));
        }
        let axes = [&vec![n; own.len()], self.by.dims()].concat();
        self.write(&writing, &axes, Term::Add(products))
    }

    /// The tangent of a matrix with its upper triangle on both sides.
    fn tangent_of_triangle(&mut self, n: usize, tangent: Value) -> Result<Value, Fact> {
        let mut writing = Writing::default();
        let param = writing.add(self.param(tangent), tangent);
        let by: Vec<Index> = (2..2 + self.by.order()).map(Index::Axis).collect();
        let places = (0..n).flat_map(|row| (0..n).map(move |column| (row, column)));
        let terms = places.map(|(row, column)| {
            let entry = [row.min(column), row.max(column)].map(Index::Const);
            let indices = entry.iter().chain(&by).copied().collect();
            Term::Mul(vec![
                Term::Delta(Index::Axis(0), Index::Const(row)),
                Term::Delta(Index::Axis(1), Index::Const(column)),
                Term::Access { param, indices },
            ])
        });
        let terms = terms.collect();
        let axes = [&[n, n], self.by.dims()].concat();
        self.write(&writing, &axes, Term::Add(terms))
    }

    fn rows(&self, matrix: Value) -> usize {
        self.param(matrix).shape().dims()[0]
    }
}
