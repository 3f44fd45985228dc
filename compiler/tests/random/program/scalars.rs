//! Expressions that are reals, integers, truth values or strings.
//!
//! Values stay bounded, divisors and arguments of functions stay inside of domains, and no comparison is decided by rounding, so that
//! the mathematics of the stages before machine code can be compared within a tolerance.

use super::types::{Kind, Ty};
use super::writer::Writer;

const SHAPES: [&[usize]; 5] = [&[2], &[3], &[2, 2], &[3, 3], &[2, 3]];

impl Writer {
    /// An expression of a type.
    pub(crate) fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Bool => self.truth(depth),
            Ty::Int => self.int(depth),
            Ty::Text => self.string(depth),
            Ty::Real => self.real(depth),
            Ty::Tensor(shape) => self.tensor(shape, depth),
            Ty::Fixed(element, n) => self.fixed(element, *n, depth),
            Ty::List(element) => self.list(element, depth),
        }
    }

    fn real_leaf(&mut self) -> String {
        match self.dice.below(8) {
            0 => self.dice.odd_number(),
            1 => self.dice.pick(&["0.5", "1.0", "0.25", "-0.75", "π"]).into(),
            2 => {
                let n = 2 + self.dice.below(2);
                match self.variable(&Ty::tensor(&[n])) {
                    Some(v) => format!("{v}[{}]", self.dice.below(n)),
                    None => "0.375".into(),
                }
            }
            _ => self
                .variable(&Ty::Real)
                .unwrap_or_else(|| self.dice.odd_number()),
        }
    }

    pub(crate) fn real(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.real_leaf();
        }
        let d = self.below(depth);
        match self.dice.below(32) {
            0 | 1 => format!("({} + {})", self.real(d), self.real(d)),
            2 => format!("({} - {})", self.real(d), self.real(d)),
            3 | 4 => format!("({} * {})", self.real(d), self.real(d)),
            5 => format!("({} / (1.5 + |{}|))", self.real(d), self.real(d)),
            6 => {
                let shape = self.dice.pick(&SHAPES);
                format!("(|{}|)", self.tensor(shape, d))
            }
            7 => {
                let n = 2 + self.dice.below(2);
                format!("({} • {})", self.tensor(&[n], d), self.tensor(&[n], d))
            }
            8 => {
                let n = 2 + self.dice.below(2);
                format!(
                    "({} : {})",
                    self.tensor(&[n, n], d),
                    self.tensor(&[n, n], d)
                )
            }
            9 => format!(
                "({} if {} else {})",
                self.real(d),
                self.truth(d),
                self.real(d)
            ),
            10 | 11 => self.call(&Ty::Real, d).unwrap_or_else(|| self.real(d)),
            12 | 13 => match self.dice.once_in(6) {
                true => self.at_points(d),
                false => self.probe(&[], d),
            }
            .unwrap_or_else(|| self.elementary(d)),
            14 => self.reduction(&Ty::Real, d),
            15 => self.item(&Ty::Real, d),
            16 => format!("real({})", self.int(d)),
            17 => self.elementary(d),
            18 => match self.dice.below(3) {
                0 => format!("(sin({}))^{}", self.real(d), 1 + self.dice.below(4)),
                1 => format!("(1.25 + |{}|)^0.5", self.real(d)),
                _ => format!("pow(1.5 + |{}|, sin({}))", self.real(d), self.real(d)),
            },
            19 => {
                let function = self.dice.pick(&["max", "min"]);
                format!("{function}({}, {})", self.real(d), self.real(d))
            }
            20 => {
                let n = 2 + self.dice.below(2);
                let function = self.dice.pick(&["trace", "det"]);
                format!("{function}({})", self.tensor(&[n, n], d))
            }
            21 => self.between(&Ty::Real, d),
            22 => {
                let n = 2 + self.dice.below(2);
                let values = format!("evals({})", self.separated(n, d));
                let k = self.dice.below(n);
                self.element(&values, &k.to_string())
            }
            23 if self.is_new() => self.by_index(d),
            24 => {
                let n = 2 + self.dice.below(2);
                let k = self.dice.below(n);
                format!("({})[{k}]", self.tensor(&[n], d))
            }
            25 => {
                let function = self.dice.pick(&["floor", "ceil", "round", "trunc"]);
                format!(
                    "{function}(3.7*{} + {})",
                    self.real(d),
                    self.dice.odd_number()
                )
            }
            26 => match self.dice.below(2) {
                0 => format!("atan2({}, 2.3 + |{}|)", self.real(d), self.real(d)),
                _ => format!("fmod({} + {}, 1.37)", self.real(d), self.dice.odd_number()),
            },
            27 => format!("(-{})", self.real(d)),
            28 => format!("({} × {})", self.tensor(&[2], d), self.tensor(&[2], d)),
            29 => self
                .neighbours(&Ty::Real, d)
                .unwrap_or_else(|| self.real(d)),
            30 => {
                let [a, b] = [0, 1].map(|_| self.dice.below(2));
                format!("({})[{a},{b}]", self.tensor(&[2, 2], d))
            }
            _ => self.real_leaf(),
        }
    }

    /// An elementary function inside of its domain.
    fn elementary(&mut self, d: usize) -> String {
        let a = self.real(d);
        match self.dice.below(14) {
            0 | 1 => format!("sin({a})"),
            2 => format!("cos({a})"),
            3 => format!("atan({a})"),
            4 => format!("exp(sin({a}))"),
            5 => format!("sqrt(0.125 + |{a}|)"),
            6 => format!("log(1.1 + |{a}|)"),
            7 => format!("log2(1.1 + |{a}|)"),
            8 => format!("log10(1.1 + |{a}|)"),
            9 => format!("asin(0.9*sin({a}))"),
            10 => format!("acos(0.9*sin({a}))"),
            11 => format!("tan(0.7*sin({a}))"),
            12 => format!("{}({a})", self.dice.pick(&["erf", "erfc"])),
            _ => format!("{}({a})", self.dice.pick(&["abs", "norm"])),
        }
    }

    /// `lerp` and `clamp`.
    pub(crate) fn between(&mut self, ty: &Ty, d: usize) -> String {
        let [a, b, c] = [0, 1, 2].map(|_| self.expr(ty, d));
        let t = self.real(d);
        match self.dice.below(4) {
            0 => format!("lerp({a}, {b}, {t})"),
            1 => format!("lerp({a}, {b}, -0.5, {t}, 1.25)"),
            2 => format!("clamp({a}, {b}, {c})"),
            _ => format!("clerp({a}, {b}, {t})"),
        }
    }

    fn int_leaf(&mut self) -> String {
        match self.dice.below(5) {
            0 => self.dice.below(5).to_string(),
            _ => self.variable(&Ty::Int).unwrap_or_else(|| "2".into()),
        }
    }

    pub(crate) fn int(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.int_leaf();
        }
        let d = self.below(depth);
        match self.dice.below(16) {
            0 | 1 => format!("({} + {})", self.int(d), self.int(d)),
            2 => format!("({} - {})", self.int(d), self.int(d)),
            3 => format!("({} * {})", self.int(d), self.int(d)),
            4 if !self.is_quiet => format!("({} / (3 + |{} % 5|))", self.int(d), self.int(d)),
            5 if !self.is_quiet => format!("({} % (2 + |{} % 4|))", self.int(d), self.int(d)),
            6 => format!(
                "({} if {} else {})",
                self.int(d),
                self.truth(d),
                self.int(d)
            ),
            7 => self.reduction(&Ty::Int, d),
            8 => self.item(&Ty::Int, d),
            9 => {
                let function = self.dice.pick(&["max", "min"]);
                format!("{function}({}, {})", self.int(d), self.int(d))
            }
            10 => self.neighbours(&Ty::Int, d).unwrap_or_else(|| self.int(d)),
            11 => self.call(&Ty::Int, d).unwrap_or_else(|| self.int(d)),
            12 if self.place.is_method() && self.position.is_some() => {
                let count = self
                    .dice
                    .pick(&["numActive()", "numStable()", "numStrands()"]);
                count.to_string()
            }
            13 => format!("(-{})", self.int(d)),
            14 => match self.dice.below(8) {
                0 => format!("printIR({})", self.real(d)),
                1 => format!("printIR({}, \"file\")", self.int(d)),
                _ => self.cell(d).unwrap_or_else(|| self.int(d)),
            },
            _ => self.int_leaf(),
        }
    }

    fn truth_leaf(&mut self) -> String {
        match self.dice.below(6) {
            0 => self.dice.pick(&["true", "false"]).into(),
            1 | 2 => self
                .variable(&Ty::Bool)
                .unwrap_or_else(|| "true".to_string()),
            _ => format!("{} > {}", self.int_leaf(), self.dice.below(4)),
        }
    }

    pub(crate) fn truth(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("({})", self.truth_leaf());
        }
        let d = self.below(depth);
        match self.dice.below(14) {
            0 | 1 => {
                let compare = self.dice.pick(&["<", "<=", ">", ">="]);
                format!("({} {compare} {})", self.real(d), self.dice.odd_number())
            }
            2 | 3 => {
                let compare = self.dice.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {compare} {})", self.int(d), self.int(d))
            }
            4 => format!("({} && {})", self.truth(d), self.truth(d)),
            5 => format!("({} || {})", self.truth(d), self.truth(d)),
            6 => format!("!{}", self.truth(d)),
            7 => {
                let compare = self.dice.pick(&["==", "!="]);
                format!("({} {compare} {})", self.truth(d), self.truth(d))
            }
            8 => {
                let compare = self.dice.pick(&["==", "!="]);
                format!("({} {compare} {})", self.string(d), self.string(d))
            }
            9 => self.inside(d).unwrap_or_else(|| self.truth(d)),
            10 => self.reduction(&Ty::Bool, d),
            11 => self
                .neighbours(&Ty::Bool, d)
                .unwrap_or_else(|| self.truth(d)),
            12 => self.range_in_box(d).unwrap_or_else(|| self.truth(d)),
            _ => format!("({})", self.truth_leaf()),
        }
    }

    /// The condition of a branch: one that bounds of an image may decide, one that is the same for all strands, one on the variable of a
    /// loop, or any.
    pub(crate) fn condition(&mut self) -> String {
        if self.dice.once_in(4)
            && let Some(threshold) = self.threshold()
        {
            return threshold;
        }
        let kind = match self.dice.below(3) {
            0 => Kind::Common,
            1 => Kind::Counter,
            _ => return self.truth(2),
        };
        let found: Vec<(String, Ty)> = self
            .vars
            .iter()
            .filter(|var| var.kind == kind)
            .map(|var| (var.name.clone(), var.ty.clone()))
            .collect();
        if found.is_empty() {
            return self.truth(2);
        }
        let (name, ty) = &found[self.dice.below(found.len())];
        match ty {
            Ty::Bool => format!("({name})"),
            Ty::Int => {
                let compare = match self.is_quiet {
                    true => self.dice.pick(&["> 0", "< 2", "== 1"]),
                    false => self.dice.pick(&["> 0", "< 2", "% 2 == 0", "== 1"]),
                };
                format!("({name} {compare})")
            }
            Ty::Real => format!("({name} > {})", self.dice.odd_number()),
            Ty::Text => format!("({name} == \"ring\")"),
            _ => self.truth(2),
        }
    }

    fn string(&mut self, depth: usize) -> String {
        let leaf = match self.dice.below(2) {
            0 => self.variable(&Ty::Text),
            _ => None,
        };
        let leaf = leaf.unwrap_or_else(|| self.dice.pick(&["\"ring\"", "\"\"", "\"a b\""]).into());
        if depth == 0 || !self.dice.once_in(3) {
            return leaf;
        }
        let d = self.below(depth);
        format!("({leaf} if {} else \"ring\")", self.truth(d))
    }

    /// A call of a function of the program that gives a type.
    pub(crate) fn call(&mut self, ty: &Ty, d: usize) -> Option<String> {
        let found: Vec<_> = self
            .functions
            .iter()
            .filter(|function| function.result == *ty)
            .cloned()
            .collect();
        if found.is_empty() {
            return None;
        }
        let function = &found[self.dice.below(found.len())];
        let arguments: Vec<String> = function
            .parameters
            .iter()
            .map(|parameter| self.expr(parameter, d))
            .collect();
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }
}
