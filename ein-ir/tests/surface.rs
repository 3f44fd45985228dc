//! Surface notation has the meaning of its operator, and looks like the program it came from.

use ein_ir::{
    Continuity, Ein, Index, Input, LeafField, OpDef, Param, PolynomialField, Rational, Region,
    Shape, Symmetry, Tensor, Term, Type,
    ops::{OPERATORS, Variety, special},
    random_numbers,
    region::{Def, ValueId},
    surface::{Expr, Layout, Line},
};
use std::collections::BTreeMap;

/// The lines of a region whose inputs have these names, and what its roots are.
fn write(region: &Region, names: &[&str], symmetry: &[Symmetry]) -> (Vec<Line>, Vec<Expr>) {
    let inputs: Vec<Expr> = names
        .iter()
        .map(|name| Expr::Name(name.to_string()))
        .collect();
    let layout = Layout {
        inputs: &inputs,
        names: &BTreeMap::new(),
        symmetry,
        temporaries: "t",
        shares: true,
        width: 90,
    };
    let written = layout.write(region, &region.roots);
    (written.lines, written.values)
}

/// The text of a region that is given in EIN, one line.
fn text(region: &str, names: &[&str]) -> String {
    let region: Region = region.parse().unwrap_or_else(|e| panic!("{e}: {region}"));
    let (lines, values) = write(&region, names, &[]);
    let lines = lines.iter().map(Line::text);
    let values = values.iter().map(Expr::to_string);
    lines.chain(values).collect::<Vec<_>>().join("; ")
}

/// A region that computes expressions by the rows they are made of.
struct Meaning {
    region: Region,
    names: BTreeMap<String, ValueId>,
}

impl Meaning {
    fn define(&mut self, op: Ein, args: Vec<ValueId>) -> ValueId {
        self.region.defs.push(Def { op, args });
        ValueId(self.region.inputs.len() + self.region.defs.len() - 1)
    }

    fn param(&self, value: ValueId) -> Param {
        self.region.kinds()[value.0].clone()
    }

    fn value(&mut self, expr: &Expr) -> ValueId {
        match expr {
            Expr::Name(name) => self.names[name],
            Expr::Number(number) => {
                let (params, axes) = (vec![], vec![]);
                let body = Term::Const(*number);
                self.define(Ein { params, axes, body }, vec![])
            }
            Expr::Apply(row, args) => {
                let args: Vec<ValueId> = args.iter().map(|arg| self.value(arg)).collect();
                let params: Vec<Param> = args.iter().map(|&arg| self.param(arg)).collect();
                self.define(instance(row, &params), args)
            }
            Expr::Slice(base, mask) => {
                let base = self.value(base);
                self.define(special::slice(self.param(base), mask), vec![base])
            }
            Expr::Power(base, exponent) => {
                let base = self.value(base);
                self.define(special::power(self.param(base), *exponent), vec![base])
            }
            Expr::Identity(n) => {
                let (params, axes) = (vec![], vec![*n, *n]);
                let body = Term::Delta(Index::Axis(0), Index::Axis(1));
                self.define(Ein { params, axes, body }, vec![])
            }
            Expr::Zeros(shape) => {
                let zeros = vec![Rational::from_integer(0); shape.size()];
                self.define(special::literal(shape, &zeros), vec![])
            }
            Expr::If { test, parts } => {
                let args: Vec<ValueId> = parts.iter().map(|part| self.value(part)).collect();
                let params: Vec<Param> = args.iter().map(|&arg| self.param(arg)).collect();
                let axes = params[2].shape().dims().to_vec();
                let whole = |param: usize| Term::Access {
                    param,
                    indices: (0..params[param].shape().order())
                        .map(Index::Axis)
                        .collect(),
                };
                let body = Term::Cond {
                    test: *test,
                    sides: Box::new([whole(0), whole(1)]),
                    then: Box::new(whole(2)),
                    otherwise: Box::new(whole(3)),
                };
                self.define(Ein { params, axes, body }, args)
            }
            other => panic!("{other} is index notation"),
        }
    }
}

fn instance(row: &'static OpDef, params: &[Param]) -> Ein {
    let ty = |param: &Param| match param {
        Param::Tensor(shape) => Type::Tensor(shape.clone()),
        Param::Field { dim, shape } => Type::Field {
            continuity: Continuity::Infinite,
            dim: *dim,
            time: None,
            shape: shape.clone(),
        },
    };
    let mut types: Vec<Type> = params.iter().map(ty).collect();
    if row.name == "swap" {
        types[0] = Type::Int;
    }
    let instance = row
        .accept(&types, true)
        .unwrap_or_else(|_| panic!("{} {types:?}", row.name));
    instance
        .ein_over(params)
        .unwrap_or_else(|| panic!("{} has no EIN", row.name))
}

/// Values of a region on random inputs away from zero, fields at a position.
fn sample(region: &Region, value: ValueId) -> Tensor<f64> {
    let fields: Vec<Option<PolynomialField>> = (0..)
        .zip(&region.inputs)
        .map(|(k, param)| {
            let dim = param.dim()?;
            Some(PolynomialField::random(
                dim,
                param.shape().clone(),
                3,
                77 + k,
            ))
        })
        .collect();
    let given: Vec<Input> = (0u64..)
        .zip(region.inputs.iter().zip(&fields))
        .map(|(k, (param, field))| match field {
            Some(field) => Input::Field(field as &dyn LeafField),
            None => {
                let mut numbers = random_numbers(500 + k);
                Input::Tensor(Tensor::from_fn(param.shape(), |_| {
                    numbers.next().unwrap_or_default()
                }))
            }
        })
        .collect();
    region.sample(&given, &[value], &[0.3, -0.2, 0.4]).remove(0)
}

fn assert_close(what: &str, x: &Tensor<f64>, y: &Tensor<f64>) {
    assert_eq!(x.shape(), y.shape(), "{what}");
    for (x, y) in x.components().iter().zip(y.components()) {
        let both_undefined = !x.is_finite() && !y.is_finite();
        assert!(
            both_undefined || (x - y).abs() <= 1e-9 * (1.0 + x.abs()),
            "{what}: {x} and {y}"
        );
    }
}

#[test]
fn every_row_is_recognised_and_keeps_its_value() {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    let variety = Variety {
        dims: vec![2, 3],
        extents: vec![2, 3],
        shapes: vec![Shape::SCALAR, Shape::new([3])],
        counts: vec![2, 3],
        continuity: Continuity::Infinite,
    };
    let mut count = 0;
    for row in &OPERATORS {
        for op in row
            .instances(&variety)
            .iter()
            .filter_map(|instance| instance.ein())
        {
            let inputs = op.params.clone();
            let root = ValueId(inputs.len());
            let region = Region {
                defs: vec![Def {
                    op: op.clone(),
                    args: (0..inputs.len()).map(ValueId).collect(),
                }],
                inputs: inputs.clone(),
                roots: vec![root],
            };
            let (lines, values) = write(&region, &NAMES[..inputs.len()], &[]);
            let what = format!("{}: {op} as {}", row.name, values[0]);
            assert!(lines.is_empty(), "{what}");
            let names = NAMES
                .iter()
                .map(|name| name.to_string())
                .zip((0..).map(ValueId));
            let mut meaning = Meaning {
                region: Region {
                    inputs,
                    ..Region::default()
                },
                names: names.collect(),
            };
            let value = meaning.value(&values[0]);
            assert_close(
                &what,
                &sample(&region, root),
                &sample(&meaning.region, value),
            );
            count += 1;
        }
    }
    assert!(count > 800, "only {count} instances");
}

#[test]
fn parentheses_stand_where_the_language_needs_them() {
    let cases = [
        (
            "v3 = (λ(a:[3], b:[3]) i:3 | a[i] + b[i])(v0, v1)\nv4 = (λ(a:[3], b:[3]) | Σ s0:3. a[s0] b[s0])(v3, v2)",
            "(a + b)•c",
        ),
        (
            "v3 = (λ(a:[3], b:[3]) | Σ s0:3. a[s0] b[s0])(v1, v2)\nv4 = (λ(a:[], b:[3]) i:3 | a b[i])(v3, v0)",
            "b•c*a",
        ),
        (
            "v3 = (λ(a:[3], b:[3]) i:3 | a[i] − b[i])(v1, v2)\nv4 = (λ(a:[3], b:[3]) i:3 | a[i] − b[i])(v0, v3)",
            "a - (b - c)",
        ),
        (
            "v3 = (λ(a:[3], b:[3]) i:3 j:3 | a[i] b[j])(v0, v1)\nv4 = (λ(a:[3,3]) i:3 j:3 | −a[i j])(v3)",
            "-(a⊗b)",
        ),
        (
            "v3 = (λ(a:[3]) | Σ s0:3. a[s0] a[s0])(v0)\nv4 = (λ(a:[]) | sqrt(a))(v3)",
            "|a|",
        ),
        (
            "v3 = (λ(a:[3]) | sqrt(Σ s0:3. a[s0] a[s0]))(v0)\nv4 = (λ(a:[]) | abs(a))(v3)",
            "| |a| |",
        ),
        (
            "v3 = (λ(a:[3]) | a[1])(v0)\nv4 = (λ(a:[]) | a^-2)(v3)",
            "a[1]^(-2)",
        ),
        (
            "v3 = (λ(a:[3], b:[3]) i:3 | 1/3 a[i] − 1/2 b[i])(v0, v1)\nv4 = (λ(a:[3]) i:3 | 2 a[i])(v3)",
            "2*(a/3 - 0.5*b)",
        ),
    ];
    for (defs, wanted) in cases {
        let region = format!("input v0: [3]\ninput v1: [3]\ninput v2: [3]\n{defs}\nreturn v4\n");
        assert_eq!(text(&region, &["a", "b", "c"]), wanted);
    }
}

#[test]
fn probes_of_derivatives_and_tensors_from_parts() {
    let region = "input v0: field(3)[]\ninput v1: [3]\n\
        v2 = (λ(a:field(3)[], b:[3]) i:3 j:3 | (∂j ∂i a)@(b[0], b[1], b[2]))(v0, v1)\n\
        v3 = (λ(a:field(3)[], b:[3]) i:3 | (∂i a)@(b[0], b[1], b[2]))(v0, v1)\n\
        v4 = (λ(a:[3,3], b:[3]) i:3 | Σ s0:3. a[i s0] b[s0])(v2, v3)\nreturn v4\n";
    assert_eq!(text(region, &["F", "x"]), "∇⊗∇F(x)•∇F(x)");
    let region = "input v0: []\ninput v1: []\n\
        v2 = (λ(a:[]) i:3 | a δ[0 i])(v0)\nv3 = (λ(a:[]) i:3 | a δ[2 i])(v1)\n\
        v4 = (λ(a:[3], b:[3]) i:3 | a[i] + b[i])(v2, v3)\nreturn v4\n";
    assert_eq!(text(region, &["a", "b"]), "[a, 0, b]");
}

#[test]
fn constants_in_terms_of_unit_vectors_are_put_together() {
    let region = "input v0: [3]\n\
        v1 = (λ() i:3 | δ[0 i])()\nv2 = (λ() i:3 | δ[2 i])()\n\
        v3 = (λ(a:[3], b:[3]) i:3 | 1/5 a[i] − 3/10 b[i])(v1, v2)\n\
        v4 = (λ(a:[3], b:[3], c:[3], d:[3]) i:3 | a[i] + b[i] + 2 c[i] − d[i])(v1, v2, v3, v0)\nreturn v4\n";
    assert_eq!(text(region, &["x"]), "[1.4, 0, 0.4] - x");
    for (dims, components, wanted) in [
        (
            &[2, 2][..],
            &[(3, 4), (2, 1), (0, 1), (-1, 1)][..],
            "[[0.75, 2], [0, -1]]",
        ),
        (&[3], &[(1, 2); 3], "[0.5, 0.5, 0.5]"),
        (&[3], &[(0, 1); 3], "zeros[3]"),
        (&[3], &[(0, 1), (0, 1), (1, 3)], "[0, 0, 1.0/3]"),
    ] {
        let components: Vec<_> = components
            .iter()
            .map(|&(n, d)| Rational::new(n, d))
            .collect();
        let op = special::literal(&Shape::from(dims), &components);
        let region = format!("v0 = ({op})()\nreturn v0\n");
        assert_eq!(text(&region, &[]), wanted);
    }
}

#[test]
fn what_no_row_says_is_written_by_components_and_shared_values_get_lines() {
    let region = "input v0: [3,3]\ninput v1: [3,3,3]\n\
        v2 = (λ(a:[3,3], b:[3,3,3]) i:3 j:3 k:3 | Σ s0:3. a[i s0] b[j s0 k])(v0, v1)\n\
        v3 = (λ(a:[3,3,3]) i:3 | Σ s0:3. a[s0 i s0])(v2)\n\
        v4 = (λ(a:[3]) i:3 j:3 | a[i] a[j])(v3)\nreturn v4\n";
    let wanted = "t1[i] = sum[p,q](A[p,q]*T[i,q,p]); t1⊗t1";
    assert_eq!(text(region, &["A", "T"]), wanted);
}

/// Indices are not called what a value is called.
#[test]
fn indices_do_not_hide_names() {
    let region = "input v0: [3,3]\ninput v1: [3,3,3]\n\
        v2 = (λ(a:[3,3], b:[3,3,3]) i:3 j:3 k:3 | Σ s0:3. a[i s0] b[j s0 k])(v0, v1)\n\
        v3 = (λ(a:[3,3,3]) i:3 | Σ s0:3. a[s0 i s0])(v2)\n\
        v4 = (λ(a:[3]) i:3 j:3 | a[i] a[j])(v3)\nreturn v4\n";
    let wanted = "t1[j] = sum[q,r](p[q,r]*i[j,r,q]); t1⊗t1";
    assert_eq!(text(region, &["p", "i"]), wanted);
}

#[test]
fn symmetric_matrices_need_no_transpose() {
    let region: Region = "input v0: [3]\ninput v1: [3,3]\n\
        v2 = (λ(a:[3]) i:3 j:3 | a[i] a[j])(v0)\n\
        v3 = (λ(a:[3,3], b:[3,3]) i:3 j:3 | Σ s0:3. a[i s0] b[j s0])(v1, v2)\nreturn v3\n"
        .parse()
        .expect("a region");
    let text = |symmetry: &[Symmetry]| write(&region, &["a", "B"], symmetry).1[0].to_string();
    assert_eq!(text(&[]), "B•transpose(a⊗a)");
    let symmetric = Symmetry {
        symmetric: vec![vec![0, 1]],
        ..Symmetry::default()
    };
    assert_eq!(text(&[symmetric, Symmetry::default()]), "B•(a⊗a)");
}

#[test]
fn latex_is_the_same_in_other_symbols() {
    let region = "input v0: field(3)[]\ninput v1: [3]\n\
        v2 = (λ(a:field(3)[]) i:3 | ∂i a)(v0)\nv3 = (λ(a:field(3)[3]) | sqrt(Σ s0:3. a[s0] a[s0]))(v2)\n\
        v4 = (λ(a:field(3)[3], b:field(3)[]) i:3 | a[i] / b)(v2, v3)\n\
        v5 = (λ(a:field(3)[3], b:[3]) i:3 | a[i]@(b[0], b[1], b[2]))(v4, v1)\nreturn v5\n";
    let region: Region = region.parse().expect("a region");
    let inputs = ["F", "pos"].map(|name| Expr::Name(name.to_string()));
    let layout = Layout {
        inputs: &inputs,
        names: &BTreeMap::from([(ValueId(2), "g1".to_string())]),
        symmetry: &[],
        temporaries: "t",
        shares: false,
        width: 90,
    };
    let written = layout.write(&region, &region.roots);
    assert_eq!(written.lines[0].latex(), "g_{1} &= \\nabla F");
    let root = written.values[0].latex();
    assert_eq!(
        root,
        "\\left(\\frac{g_{1}}{\\lVert g_{1}\\rVert}\\right)(\\mathrm{pos})"
    );
}

#[test]
fn long_lines_are_broken_by_temporaries() {
    let mut defs = String::new();
    for k in 2..12 {
        let op = "λ(a:[3], b:[3]) i:3 | a[i] + b[i]";
        defs += &format!("v{k} = ({op})(v{}, v1)\n", k - 1);
    }
    let region = format!("input v0: [3]\ninput v1: [3]\n{defs}return v11\n");
    let region: Region = region.parse().expect("a region");
    let inputs = ["a", "long_name"].map(|name| Expr::Name(name.to_string()));
    let layout = Layout {
        inputs: &inputs,
        names: &BTreeMap::new(),
        symmetry: &[],
        temporaries: "t",
        shares: false,
        width: 40,
    };
    let written = layout.write(&region, &region.roots);
    assert!(written.lines.len() > 1);
    assert!(
        written
            .lines
            .iter()
            .all(|line| line.text().chars().count() <= 40)
    );
    let half = Rational::new(1, 2);
    assert_eq!(Expr::Number(half).to_string(), "0.5");
}
