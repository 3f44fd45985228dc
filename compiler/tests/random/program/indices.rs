//! Index notation: reductions over indices, definitions by component, sequences by clauses; and derivatives of variables.

use super::types::{Kind, Origin, Ty};
use super::writer::Writer;

impl Writer {
    /// A reduction over an index.
    pub(crate) fn by_index(&mut self, d: usize) -> String {
        let n = 2 + self.dice.below(2);
        let v = |this: &mut Writer| {
            let found = this.variable(&Ty::tensor(&[n]));
            found.unwrap_or_else(|| format!("({})", this.tensor(&[n], 0)))
        };
        let [a, b] = [v(self), v(self)];
        // An index cannot be bound again inside its own range, and this may become a part of any expression.
        let [k, j] = ["k", "j"].map(|index| self.fresh(index));
        let list = self.variable(&Ty::list(Ty::Real));
        if let (Some(list), true) = (list, self.dice.once_in(2)) {
            return match self.dice.below(4) {
                0 => format!("sum[{k}](0.5*{list}[{k}] + {a}[1])"),
                1 => format!("sum[{k}]({list}[{k}]*sum[{j}]({a}[{j}]*{b}[{j}]))"),
                2 => format!("(1.25 if all[{k}]({list}[{k}] > {a}[0]) else 0.5)"),
                _ => format!("(0.75 if exists[{k}]({list}[{k}] > {a}[0]) else {b}[1])"),
            };
        }
        match self.dice.below(7) {
            0 => format!("sum[{k}]({a}[{k}]*{b}[{k}])"),
            5 => format!("(1.25 if all[{k}]({a}[{k}] > {b}[{k}]) else 0.5)"),
            6 => format!("(0.75 if exists[{k}]({a}[{k}] > {b}[{k}]) else {a}[0])"),
            1 => format!("max[{k}]({a}[{k}] - {b}[{k}])"),
            2 => format!("sum[{k} in 1..{}]({a}[{k}]*real({k}))", n - 1),
            3 => format!("product[{k}](1.5 + 0.1*{a}[{k}])"),
            _ => {
                let m = self.tensor(&[n, n], d.min(1));
                format!("sum[{k}]((({m})[{k},{k}])*{a}[{k}])")
            }
        }
    }

    /// A definition of a local variable by index or by clauses.
    pub(crate) fn indexed_definition(&mut self) -> String {
        let origin = match self.place {
            super::types::Place::Globals => Origin::Global,
            _ => Origin::Local,
        };
        let kind = match origin {
            Origin::Global => Kind::Common,
            _ => Kind::Varying,
        };
        let [u, v] = [0, 1].map(|_| {
            let found = self.variable(&Ty::tensor(&[3]));
            found.unwrap_or_else(|| format!("({})", self.tensor(&[3], 0)))
        });
        let name = self.fresh("d");
        let e = self.real(1);
        let (ty, text) = match self.dice.below(8) {
            0 => (
                Ty::tensor(&[3]),
                format!("vec3 {name}[i] = {u}[i]*{e} - {v}[i];\n"),
            ),
            1 => (
                Ty::tensor(&[3, 3]),
                format!("mat3 {name}[i,j] = 0.5*{u}[i]*{v}[j] + (1.0 if i <= j else {e});\n"),
            ),
            2 => (
                Ty::tensor(&[3]),
                format!("vec3 {name}[i] = 0.5*sum[j,k](ε[i,j,k]*{u}[j]*{v}[k]);\n"),
            ),
            3 => (
                Ty::fixed(Ty::fixed(Ty::Real, 3), 2),
                format!("real[2,3] {name}[i,j] = 0.25*real(i + j)*{e};\n"),
            ),
            4 => (
                Ty::fixed(Ty::Real, 5),
                format!(
                    "real[5] {name} {{ {name}[0] = sin({e}); {name}[k in 1..4] = 0.5*{name}[k-1] + {u}[1]; }}\n"
                ),
            ),
            5 => (
                Ty::fixed(Ty::Real, 4),
                format!(
                    "real[4] {name} {{ {name}[3] = sin({e}); {name}[k in 0..2] {{ real here = {name}[k+1]; \
                     return 0.5*here*here - 0.25; }} }}\n"
                ),
            ),
            6 => (
                Ty::fixed(Ty::Real, 4),
                format!(
                    "real[4] {name} {{ {name}[0] = sin({e}); {name}[k in 1..3] {{ \
                     vec2 w[j] = 0.25*{name}[k-1]*real(j + 1) + {u}[1]*real(k); return 0.5*w[0] - w[1]; }} }}\n"
                ),
            ),
            _ => (
                Ty::Int,
                format!("int {name} = argmin[i]({u}[i]) + argmax[i]({v}[i]);\n"),
            ),
        };
        self.define(&name, ty, origin, kind);
        text
    }

    /// A derivative of a variable by another one.
    pub(crate) fn request(&mut self) -> String {
        let Some(target) = self.target(|ty| *ty == Ty::Real) else {
            return String::new();
        };
        let [x, y] = ["x", "y"].map(|letter| self.fresh(letter));
        let (e, c) = (self.real(1), self.dice.odd_number());
        let of_x = self.dice.pick(&[
            "sin(X)*X",
            "exp(-X*X) + C*X",
            "X^3/(2 + X*X)",
            "X*C if X > 0.5137 else cos(X)",
        ]);
        let of_x = of_x.replace('X', &x).replace('C', &c);
        // Statements between the definition and the derivative, which it goes through.
        let between = self.dice.pick(&[
            "",
            "foreach (int K in 1..3) { Y = 0.5*sin(Y*X) + 0.25*Y; }",
            "foreach (int K in 0..2) { if (Y > C) { Y = Y*X; } else { foreach (int L in 1..K) { Y = cos(Y) + 0.1*X; } } }",
            "if (Y > 0.2571) { real Q = Y*Y*X; Y = 0.1*∂Q/∂Y; }",
            "Y = sum {0.5*Y*L | L in {X, C, Y}};",
        ]);
        let [k, l, q] = ["k", "l", "q"].map(|letter| self.fresh(letter));
        let between = between
            .replace('X', &x)
            .replace('Y', &y)
            .replace('C', &c)
            .replace('K', &k)
            .replace('L', &l)
            .replace('Q', &q);
        format!(
            "{{ real {x} = sin({e}); real {y} = {of_x}; {between} {} = sin(∂{y}/∂{x}); }}\n",
            target.name
        )
    }
}
