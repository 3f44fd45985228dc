//! Printing and reading operators and regions.

use ein_ir::region::{Def, ValueId};
use ein_ir::{Comparison, ELEMENTARY, Eigen, Ein, Index, Param, Rational, Region, Shape, Term};
use proptest::prelude::*;

/// Chooses from a finite supply of random numbers; zero when it is used up, so that every choice ends.
struct Chooser(std::vec::IntoIter<u32>);

impl Chooser {
    fn below(&mut self, n: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % n
    }

    fn list<T>(
        &mut self,
        least: usize,
        most: usize,
        mut item: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| item(self)).collect()
    }

    fn shape(&mut self) -> Shape {
        Shape::new(self.list(0, 3, |choose| 2 + choose.below(3)))
    }

    fn param(&mut self) -> Param {
        match self.below(2) {
            0 => Param::Tensor(self.shape()),
            _ => Param::Field {
                dim: 1 + self.below(3),
                shape: self.shape(),
            },
        }
    }

    fn operator(&mut self) -> Ein {
        let params = self.list(0, 30, Chooser::param);
        let axes = self.list(0, 8, |choose| 2 + choose.below(3));
        let mut names = Names {
            params: params.len(),
            axes: axes.len(),
            binders: Vec::new(),
            next: 0,
        };
        let body = self.term(&mut names, 5);
        Ein { params, axes, body }
    }

    fn index(&mut self, names: &Names) -> Index {
        match self.below(3) {
            1 if names.axes > 0 => Index::Axis(self.below(names.axes)),
            2 if !names.binders.is_empty() => {
                Index::Bound(names.binders[self.below(names.binders.len())])
            }
            _ => Index::Const(self.below(4)),
        }
    }

    fn term(&mut self, names: &mut Names, depth: usize) -> Term {
        let leaves = 6;
        let kinds = if depth == 0 { leaves } else { 17 };
        match self.below(kinds) {
            1 if names.params > 0 => Term::Access {
                param: self.below(names.params),
                indices: self.list(0, 3, |choose| choose.index(names)),
            },
            2 => Term::Position {
                dim: 1 + self.below(3),
                index: self.index(names),
            },
            3 => Term::Delta(self.index(names), self.index(names)),
            4 => Term::Epsilon(self.list(2, 3, |choose| choose.index(names))),
            5 if names.params > 0 => Term::Eigen {
                part: Eigen::ALL[self.below(Eigen::ALL.len())],
                param: self.below(names.params),
                indices: self.list(1, 3, |choose| choose.index(names)),
            },
            6 => Term::Neg(self.inner(names, depth)),
            7 => Term::Add(self.list(2, 4, |choose| choose.term(names, depth - 1))),
            8 => Term::Sub(self.inner(names, depth), self.inner(names, depth)),
            9 => Term::Mul(self.list(2, 4, |choose| choose.term(names, depth - 1))),
            10 => Term::Div(self.inner(names, depth), self.inner(names, depth)),
            11 => Term::Pow(self.inner(names, depth), self.below(9) as i32 - 4),
            12 => {
                let function = ELEMENTARY[self.below(ELEMENTARY.len())].function;
                let args = (0..function.arity())
                    .map(|_| self.term(names, depth - 1))
                    .collect();
                Term::Apply(function, args)
            }
            13 => Term::Cond {
                test: [Comparison::Less, Comparison::LessEqual, Comparison::Equal][self.below(3)],
                sides: Box::new([self.term(names, depth - 1), self.term(names, depth - 1)]),
                then: self.inner(names, depth),
                otherwise: self.inner(names, depth),
            },
            14 => {
                names.next += 1 + self.below(3) as u32;
                let (binder, range) = (names.next, 1 + self.below(4));
                names.binders.push(binder);
                let body = self.inner(names, depth);
                names.binders.pop();
                Term::Sum {
                    binder,
                    range,
                    body,
                }
            }
            15 => Term::Deriv {
                index: self.index(names),
                body: self.inner(names, depth),
            },
            16 => Term::Probe {
                field: self.inner(names, depth),
                at: self.list(1, 3, |choose| choose.term(names, depth - 1)),
            },
            _ => Term::Const(Rational::new(
                self.below(19) as i128 - 9,
                1 + self.below(4) as i128,
            )),
        }
    }

    fn inner(&mut self, names: &mut Names, depth: usize) -> Box<Term> {
        Box::new(self.term(names, depth - 1))
    }
}

/// What a term may refer to.
struct Names {
    params: usize,
    axes: usize,
    binders: Vec<u32>,
    next: u32,
}

fn numbers() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_a_printed_operator_gives_it_back(numbers in numbers()) {
        let operator = Chooser(numbers.into_iter()).operator();
        let text = operator.to_string();
        let back: Ein = text.parse().map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(&back, &operator, "{}", text);
        prop_assert_eq!(back.to_string(), text);
    }

    #[test]
    fn reading_a_printed_region_gives_it_back(numbers in numbers()) {
        let mut choose = Chooser(numbers.into_iter());
        let mut region = Region { inputs: choose.list(0, 3, Chooser::param), ..Region::default() };
        for op in choose.list(0, 3, Chooser::operator) {
            let args = choose.list(0, 3, |choose| ValueId(choose.below(9)));
            region.defs.push(Def { op, args });
        }
        region.roots = choose.list(1, 3, |choose| ValueId(choose.below(9)));
        let text = region.to_string();
        let back: Region = text.parse().map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(&back, &region, "{}", text);
        prop_assert_eq!(back.to_string(), text);
    }

    #[test]
    fn no_text_makes_reading_panic(text in "[λ()a-e0-9:,|Σ∂δεijs.\\[\\]@^/+− -]{0,60}") {
        let _ = text.parse::<Ein>();
        let _ = text.parse::<Region>();
    }

    #[test]
    fn no_damage_to_a_text_makes_reading_panic(numbers in numbers(), at in any::<prop::sample::Index>(), with in any::<char>()) {
        let mut text: Vec<char> = Chooser(numbers.into_iter()).operator().to_string().chars().collect();
        let at = at.index(text.len());
        text[at] = with;
        let _ = text.iter().collect::<String>().parse::<Ein>();
        text.remove(at);
        let _ = text.iter().collect::<String>().parse::<Ein>();
    }
}

#[track_caller]
fn prints_as(text: &str, printed: &str) {
    let operator: Ein = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(operator.to_string(), printed);
    assert_eq!(printed.parse(), Ok(operator));
}

#[test]
fn names_are_free_in_texts_and_fixed_in_print() {
    prints_as(
        "λ(U:[3], V:[3]) p:3 | Σ q:3. Σ r:3. ε[p q r] U[q] V[r]",
        "λ(a:[3], b:[3]) i:3 | Σ s0:3. Σ s1:3. ε[i s0 s1] a[s0] b[s1]",
    );
    prints_as(
        "λ(F:field(2)[], x:[2]) | F@x",
        "λ(a:field(2)[], b:[2]) | a@(b[0], b[1])",
    );
    prints_as(
        "λ(u:[3]) | let n = (Σ k:3. u[k]^2). n / sqrt(n)",
        "λ(a:[3]) | (Σ s1:3. a[s1]^2) / sqrt(Σ s2:3. a[s2]^2)",
    );
    prints_as(
        "λ(u:[3]) i:3 | Σ s4:3. Σ k:3. u[s4] u[k]",
        "λ(a:[3]) i:3 | Σ s4:3. Σ s5:3. a[s4] a[s5]",
    );
}

#[test]
fn a_let_is_read_in_its_own_scope_and_uses_no_other() {
    prints_as(
        "λ(a:[3]) k:3 | let x = a[k]. Σ k:3. x a[k]",
        "λ(a:[3]) i:3 | Σ s0:3. a[i] a[s0]",
    );
    let nested = "λ() | let x = 1 + 1. let y = x x. y y".parse::<Ein>();
    assert_eq!(
        nested.expect_err("no operator").message,
        "nothing is called `x`"
    );
}

#[test]
fn juxtaposition_binds_tighter_than_division_and_signs_looser() {
    let body = |text: &str| text.parse::<Ein>().expect("an operator").body;
    assert_eq!(
        body("λ(a:[], b:[], c:[]) | a b / c a"),
        body("λ(a:[], b:[], c:[]) | (a b) / (c a)")
    );
    assert_eq!(
        body("λ(a:[], b:[]) | −a b / b"),
        body("λ(a:[], b:[]) | −((a b) / b)")
    );
    assert_eq!(
        body("λ(a:[], b:[]) | a − b + a"),
        body("λ(a:[], b:[]) | (a − b) + a")
    );
    assert_ne!(body("λ(a:[]) | a + a + a"), body("λ(a:[]) | a + (a + a)"));
    assert_eq!(body("λ() | 1/2"), Term::Const(Rational::new(1, 2)));
    assert!(matches!(body("λ() | 1 / 2"), Term::Div(..)));
    assert_eq!(body("λ() | -3"), Term::Const(Rational::from_integer(-3)));
    assert!(matches!(body("λ() | −3"), Term::Neg(_)));
}

#[test]
fn errors_say_where_and_what() {
    let error = |text: &str| text.parse::<Ein>().expect_err("no operator").to_string();
    assert_eq!(
        error("λ(a:[3]) i:3 | a[j]"),
        "byte 18: no index is called `j`"
    );
    assert_eq!(error("λ(a:[3]) | b"), "byte 12: nothing is called `b`");
    assert_eq!(
        error("λ(a:[3]) | a +"),
        "byte 15: wanted an expression, found the end"
    );
    assert_eq!(error("λ(a:[3]) | 1/0"), "byte 12: `1/0` is not a number");
    assert_eq!(
        error("λ(a:[3]) | a ? a"),
        "byte 14: `?` is not part of the notation"
    );
    assert_eq!(
        error("λ() | if 1 then"),
        "byte 12: wanted a comparison, found `then`"
    );
    let deep = format!("λ() | {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(error(&deep).ends_with("nested too deep"));
    assert!(error(&format!("λ() | {}1", "−".repeat(100_000))).ends_with("nested too deep"));
    assert!(error(&format!("λ() | {}1", "∂0 ".repeat(100_000))).ends_with("nested too deep"));
    assert!(error(&format!("λ() | {}1", "Σ k:2. ".repeat(100_000))).ends_with("nested too deep"));
    let region = "input v0: [3]\nv2 = (λ() | 1)()\nreturn v2".parse::<Region>();
    assert_eq!(
        region.expect_err("no region").to_string(),
        "byte 14: wanted `v1`, found `v2`"
    );
}
