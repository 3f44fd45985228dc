//! Expressions that are tensors.

use super::types::Ty;
use super::writer::Writer;

impl Writer {
    fn tensor_leaf(&mut self, shape: &[usize]) -> String {
        if !self.dice.once_in(3)
            && let Some(v) = self.variable(&Ty::tensor(shape))
        {
            return v;
        }
        match *shape {
            [n, m] if n == m && self.dice.once_in(3) => format!("identity[{n}]"),
            _ if self.dice.once_in(8) => format!("zeros{shape:?}"),
            _ => self.of_parts(shape, 0),
        }
    }

    /// `[a, b, …]`
    fn of_parts(&mut self, shape: &[usize], d: usize) -> String {
        let parts: Vec<String> = (0..shape[0])
            .map(|_| self.expr(&Ty::tensor(&shape[1..]), d))
            .collect();
        format!("[{}]", parts.join(", "))
    }

    /// Some components of a tensor that is longer along its first axis: `(t)[1:3,:]`.
    fn part_of_longer(&mut self, shape: &[usize], depth: usize) -> String {
        let longer: Vec<usize> = [&[shape[0] + 1], &shape[1..]].concat();
        let whole = self.tensor(&longer, depth);
        let low = self.dice.below(2);
        let others = ",:".repeat(shape.len() - 1);
        format!("({whole})[{low}:{}{others}]", low + shape[0])
    }

    pub(crate) fn tensor(&mut self, shape: &[usize], depth: usize) -> String {
        if shape.is_empty() {
            return self.real(depth);
        }
        if depth == 0 {
            return self.tensor_leaf(shape);
        }
        let d = self.below(depth);
        let ty = Ty::tensor(shape);
        match self.dice.below(17) {
            15 if shape[0] < 4 => self.part_of_longer(shape, d),
            0 => format!("({} + {})", self.tensor(shape, d), self.tensor(shape, d)),
            1 => format!("({} - {})", self.tensor(shape, d), self.tensor(shape, d)),
            2 => format!("({} * {})", self.real(d), self.tensor(shape, d)),
            3 => format!("({} / (1.25 + |{}|))", self.tensor(shape, d), self.real(d)),
            4 => self.of_parts(shape, d),
            5 => {
                let [a, b] = [0, 1].map(|_| self.tensor(shape, d));
                format!("({a} if {} else {b})", self.truth(d))
            }
            6 => self.between(&ty, d),
            7 | 8 => self
                .probe(shape, d)
                .unwrap_or_else(|| self.tensor(shape, d)),
            9 => self.reduction(&ty, d),
            10 => self.item(&ty, d),
            11 => self.call(&ty, d).unwrap_or_else(|| self.tensor_leaf(shape)),
            12 => format!("(-{})", self.tensor(shape, d)),
            13 | 14 => self.product(shape, d),
            _ => self.tensor_leaf(shape),
        }
    }

    /// Products and parts that give a shape.
    fn product(&mut self, shape: &[usize], d: usize) -> String {
        let k = 2 + self.dice.below(2);
        match *shape {
            [3] if self.dice.once_in(3) => {
                format!("({} × {})", self.tensor(&[3], d), self.tensor(&[3], d))
            }
            [n] => match self.dice.below(5) {
                0 => format!("({} • {})", self.tensor(&[n, k], d), self.tensor(&[k], d)),
                1 => format!("({})[{},:]", self.tensor(&[k, n], d), self.dice.below(k)),
                2 => format!("({})[:,{}]", self.tensor(&[n, k], d), self.dice.below(k)),
                3 => format!(
                    "modulate({}, {})",
                    self.tensor(shape, d),
                    self.tensor(shape, d)
                ),
                _ => {
                    let far: Vec<String> = (0..n).map(|k| format!("{}.5", 2 + k)).collect();
                    let near = format!("{}/(1 + |{}|)", self.tensor(shape, d), self.real(d));
                    format!("normalize([{}] + 0.25*{near})", far.join(", "))
                }
            },
            [n, m] if n == m && n <= 3 => match self.dice.below(5) {
                0 => format!("transpose({})", self.tensor(shape, d)),
                1 => format!("({} • {})", self.tensor(shape, d), self.tensor(shape, d)),
                2 => format!("({} ⊗ {})", self.tensor(&[n], d), self.tensor(&[m], d)),
                3 => format!("inv({})", self.separated(n, d)),
                _ => {
                    // The sign of an eigenvector is not specified.
                    let vectors = format!("evecs({})", self.separated(n, d));
                    let k = self.dice.below(n).to_string();
                    let v = self.element(&vectors, &k);
                    format!("({v} ⊗ {v})")
                }
            },
            [n, m] => match self.dice.below(3) {
                0 => format!("transpose({})", self.tensor(&[m, n], d)),
                1 => format!(
                    "({} • {})",
                    self.tensor(&[n, k], d),
                    self.tensor(&[k, m], d)
                ),
                _ => format!("({} ⊗ {})", self.tensor(&[n], d), self.tensor(&[m], d)),
            },
            _ => format!(
                "({} ⊗ {})",
                self.tensor(&shape[..1], d),
                self.tensor(&shape[1..], d)
            ),
        }
    }

    /// A symmetric matrix whose eigenvalues are far from each other and from zero.
    pub(crate) fn separated(&mut self, n: usize, d: usize) -> String {
        let v = self.tensor(&[n], d.min(1));
        let bounded = format!("({v} ⊗ {v})/(1 + {v} • {v})");
        let diagonal = match n {
            2 => "[[2.0, 0.0], [0.0, 5.0]]",
            _ => "[[2.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 9.0]]",
        };
        format!("({diagonal} + {bounded})")
    }
}
