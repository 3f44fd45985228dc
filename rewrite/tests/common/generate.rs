//! Random well-typed regions, and the comparison of their values before and after.

use super::values::{distance, is_finite, values};
use super::{Sketch, V};
use ein_ir::Region;
use rewrite::{Normalized, Options, Stats, normalize, verify_normal_form};

/// Rounding in nested quotients; wrong rules are off by far more.
const TOLERANCE: f64 = 1e-6;

/// A generator of small numbers, the same on every machine.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// Small budgets: the tests are not about the quality of the result.
pub(crate) fn quick_options() -> Options {
    Options {
        node_budget: 100,
        iterations: 3,
        ..Options::default()
    }
}

/// Observations of a random operator that passed all checks.
pub(crate) struct Checked {
    pub(crate) stats: Stats,
    /// Whether the source has finite values, so that there was something to compare.
    pub(crate) compared: bool,
}

/// Normalizes the operator of a seed and looks at all that must hold: the normal form is one, well-typed, with the same
/// values, the same on every run, and its own normal form. The first violation is a message.
pub(crate) fn check(seed: u64) -> Result<Checked, String> {
    let region = random_region(seed);
    let expect = |holds: bool, what: &str| {
        if holds {
            Ok(())
        } else {
            Err(format!("seed {seed}: {what}\n{region}"))
        }
    };
    expect(region.verify().is_empty(), "the source is not well-typed")?;
    let options = quick_options();
    let normalized = normalize(&region, &options);
    let unfinished = normalized.stats.unfinished;
    expect(unfinished == 0, "the simplifier went in a circle")?;
    let violations = verify_normal_form(&normalized.region);
    expect(violations.is_empty(), &format!("{violations:?}"))?;
    let violations = normalized.region.verify();
    expect(violations.is_empty(), &format!("{violations:?}"))?;
    let compared = compare(&region, &normalized.region, seed)?;
    let again = normalize(&region, &options);
    let is_same = |other: &Normalized| {
        other.region == normalized.region && other.symmetry == normalized.symmetry
    };
    expect(is_same(&again), "not deterministic")?;
    let knowing = Options {
        symmetry: normalized.symmetry.clone(),
        ..options
    };
    let twice = normalize(&normalized.region, &knowing);
    expect(is_same(&twice), "not idempotent")?;
    Ok(Checked {
        stats: normalized.stats,
        compared,
    })
}

/// Compares values where the source has any; says whether it has.
pub(crate) fn compare(before: &Region, after: &Region, seed: u64) -> Result<bool, String> {
    let wanted = values(before, seed);
    let huge = wanted
        .iter()
        .any(|tensor| tensor.components().iter().any(|x| x.abs() > 1e8));
    if !is_finite(&wanted) || huge {
        return Ok(false);
    }
    let found = values(after, seed);
    let error = distance(&wanted, &found);
    if error < TOLERANCE {
        Ok(true)
    } else {
        Err(format!(
            "seed {seed}: {error:e}\n{before}\n{after}\n{wanted:?}\n{found:?}"
        ))
    }
}

/// A region of one to three roots of depth up to 6.
pub(crate) fn random_region(seed: u64) -> Region {
    let mut choices = Choices(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        choices.below(2);
    }
    let mut sketch = Sketch::default();
    let dim = [3, 3, 2, 1][choices.below(4)];
    let count = 1 + choices.below(8) / 6;
    let mut roots = Vec::new();
    for _ in 0..count {
        let depth = 2 + choices.below(5);
        let order = choices.below(if dim == 1 { 1 } else { 3 });
        let mut builder = Builder {
            sketch: &mut sketch,
            choices: &mut choices,
            dim,
        };
        let field = builder.term(order, depth, 2);
        let position = builder.position();
        roots.push(if builder.is_field(field) {
            builder.sketch.probe(field, position)
        } else {
            field
        });
    }
    sketch.region(&roots)
}

struct Builder<'a> {
    sketch: &'a mut Sketch,
    choices: &'a mut Choices,
    dim: usize,
}

impl Builder<'_> {
    fn is_field(&self, value: V) -> bool {
        self.sketch.param(value).dim().is_some()
    }

    fn dims(&self, order: usize) -> Vec<usize> {
        vec![self.dim; order]
    }

    fn position(&mut self) -> V {
        let name = ["p", "q"][self.choices.below(8) / 7];
        let dims: &[usize] = if self.dim > 1 { &[self.dim] } else { &[] };
        self.sketch.tensor(name, dims)
    }

    fn leaf(&mut self, order: usize) -> V {
        let dims = self.dims(order);
        let names = [["f", "g", "x"], ["U", "V", "a"], ["M", "N", "A"]][order];
        match self.choices.below(5) {
            0 | 1 => self.sketch.field(names[0], self.dim, &dims),
            2 => self.sketch.field(names[1], self.dim, &dims),
            3 if order == 0 => self.sketch.number(1 + self.choices.below(4) as i128, 2),
            3 if order == 1 && self.dim > 1 => {
                let text = format!("i:{0} | pos{0}[i]", self.dim);
                self.sketch.ein(&text, &[])
            }
            3 if order == 2 => self.sketch.identity(self.dim),
            _ => self.sketch.tensor(names[2], &dims),
        }
    }

    /// A term of this order with at most this many derivatives on top of each other.
    fn term(&mut self, order: usize, depth: usize, derivatives: usize) -> V {
        if depth == 0 {
            return self.leaf(order);
        }
        let depth = depth - 1;
        match order {
            0 => self.scalar(depth, derivatives),
            1 => self.vector(depth, derivatives),
            _ => self.matrix(depth, derivatives),
        }
    }

    fn gradient(&mut self, order: usize, depth: usize, derivatives: usize) -> V {
        let inner = self.term(order, depth, derivatives.saturating_sub(1));
        if derivatives > 0 && self.is_field(inner) {
            self.sketch.grad(inner)
        } else {
            let leaf = if self.dim > 1 { order + 1 } else { order };
            self.leaf(leaf)
        }
    }

    fn scalar(&mut self, depth: usize, d: usize) -> V {
        let flat = self.dim == 1;
        match self.choices.below(if flat { 9 } else { 17 }) {
            0 => {
                let (a, b) = (self.term(0, depth, d), self.term(0, depth, d));
                if self.choices.below(2) == 0 {
                    self.sketch.add(a, b)
                } else {
                    self.sketch.sub(a, b)
                }
            }
            1 | 2 => {
                let (a, b) = (self.term(0, depth, d), self.term(0, depth, d));
                self.sketch.mul(a, b)
            }
            3 => {
                let a = self.term(0, depth, d);
                let text = [
                    "| (1 + a^2)^-1",
                    "| sqrt(1 + a^2)",
                    "| 1 / sqrt(2 + a^2)",
                    "| a^3",
                    "| a^2",
                    "| a^0",
                ];
                self.sketch.ein(text[self.choices.below(6)], &[a])
            }
            4 => {
                let a = self.term(0, depth, d);
                let a = self.sketch.scaled(1, 3, a);
                let name = ["sin", "cos", "exp", "atan", "erf"][self.choices.below(5)];
                self.sketch.op(name, &[a])
            }
            5 => {
                let (a, b) = (self.term(0, depth, d), self.term(0, depth, d));
                self.sketch
                    .op(["min", "max"][self.choices.below(2)], &[a, b])
            }
            6 => {
                let a = self.term(0, depth, d);
                let text = [
                    "| abs(a)",
                    "| atan2(a, 2 + a^2)",
                    "| pow(1 + a^2, a / 3)",
                    "| log(1 + a^2)",
                ];
                self.sketch.ein(text[self.choices.below(4)], &[a])
            }
            7 if flat => self.gradient(0, depth, d),
            7 | 8 => self.composed(0, depth, d),
            9 => {
                let (a, b) = (self.term(1, depth, d), self.term(1, depth, d));
                self.sketch.dot(a, b)
            }
            10 => {
                let a = self.term(2, depth, d);
                self.sketch.trace(a)
            }
            11 => {
                let a = self.term(2, depth, d);
                self.sketch.det(a)
            }
            12 => {
                let a = self.term(1, depth, d);
                let q = self.sketch.dot(a, a);
                self.sketch.ein("| sqrt(1/4 + a)", &[q])
            }
            13 => {
                let a = self.term(1, depth, d.saturating_sub(1));
                if d > 0 && self.is_field(a) {
                    self.sketch.divergence(a)
                } else {
                    self.sketch.slice(a, &[Some(1)])
                }
            }
            14 => {
                let (a, b) = (self.term(2, depth, d), self.term(2, depth, d));
                self.sketch.colon(a, b)
            }
            15 => {
                let a = self.term(2, depth, d);
                self.sketch
                    .slice(a, &[Some(self.choices.below(2)), Some(1)])
            }
            _ => {
                let (a, b) = (self.term(1, depth, d), self.term(1, depth, d));
                let c = self.sketch.cross(a, b);
                if self.dim == 2 {
                    c
                } else {
                    self.sketch.dot(c, a)
                }
            }
        }
    }

    fn vector(&mut self, depth: usize, d: usize) -> V {
        match self.choices.below(11) {
            0 => {
                let (a, b) = (self.term(1, depth, d), self.term(1, depth, d));
                self.sketch.sub(a, b)
            }
            1 => {
                let (a, b) = (self.term(0, depth, d), self.term(1, depth, d));
                self.sketch.mul(a, b)
            }
            2 if self.dim == 3 => {
                let (a, b) = (self.term(1, depth, d), self.term(1, depth, d));
                self.sketch.cross(a, b)
            }
            2 | 3 => {
                let (a, b) = (self.term(2, depth, d), self.term(1, depth, d));
                self.sketch.dot(a, b)
            }
            4 | 5 => self.gradient(0, depth, d),
            6 => {
                let a = self.term(1, depth, d.saturating_sub(1));
                if d > 0 && self.is_field(a) && self.dim == 3 {
                    self.sketch.curl(a)
                } else {
                    a
                }
            }
            7 => {
                let a = self.term(2, depth, d);
                let mask = [[Some(0), None], [None, Some(1)]][self.choices.below(2)];
                self.sketch.slice(a, &mask)
            }
            8 => {
                let (a, b) = (self.term(1, depth, d), self.term(1, depth, d));
                self.sketch.op("modulate", &[a, b])
            }
            9 => {
                let a = self.term(1, depth, d);
                let n = self.dim;
                let bodies = [
                    "| sin(a[i])",
                    "| a[i] / (2 + a[i]^2)",
                    "| if a[i] < 0 then 0 else a[i]",
                    "| sqrt(1 + a[i]^4)",
                ];
                self.sketch
                    .ein(&format!("i:{n} {}", bodies[self.choices.below(4)]), &[a])
            }
            _ => self.composed(1, depth, d),
        }
    }

    fn matrix(&mut self, depth: usize, d: usize) -> V {
        match self.choices.below(10) {
            0 => {
                let (a, b) = (self.term(2, depth, d), self.term(2, depth, d));
                self.sketch.add(a, b)
            }
            1 => {
                let (a, b) = (self.term(1, depth, d), self.term(1, depth, d));
                self.sketch.outer(a, b)
            }
            2 => {
                let (a, b) = (self.term(2, depth, d), self.term(2, depth, d));
                self.sketch.dot(a, b)
            }
            3 => {
                let a = self.term(2, depth, d);
                self.sketch.transpose(a)
            }
            4 | 5 => self.gradient(1, depth, d),
            6 => {
                let (a, b) = (self.term(0, depth, d), self.term(2, depth, d));
                self.sketch.mul(a, b)
            }
            7 if self.dim == 3 => {
                let a = self.term(1, depth, d);
                self.sketch.ein("i:3 j:3 | Σ k:3. ε[i j k] a[k]", &[a])
            }
            7 | 8 => {
                let rows: Vec<V> = (0..self.dim).map(|_| self.term(1, depth, d)).collect();
                let fields = rows.iter().any(|&row| self.is_field(row));
                let all = rows.iter().all(|&row| self.is_field(row));
                if fields == all {
                    self.sketch.concat(&rows)
                } else {
                    self.leaf(2)
                }
            }
            _ => {
                let a = self.term(2, depth, d);
                let n = self.dim;
                let text = format!("i:{n} j:{n} | δ[i j] a[i j] + δ[0 i] a[j 1]");
                self.sketch.ein(&text, &[a])
            }
        }
    }

    /// A field at a position that is a field, or an expression that probes at another position.
    fn composed(&mut self, order: usize, depth: usize, d: usize) -> V {
        let outer = self.term(order, depth, d);
        let inner = self.term(usize::from(self.dim > 1), depth / 2, d);
        if !self.is_field(outer) {
            return outer;
        }
        self.sketch.probe(outer, inner)
    }
}
