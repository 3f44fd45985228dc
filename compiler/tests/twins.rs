//! An operator of the table and its definition by index are one thing: they become the same Low-IR.

mod same_code;
#[allow(dead_code, reason = "other tests use the rest of it")]
mod stages;

use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session, Stopped},
};
use ein_ir::{
    Comparison, Continuity, ELEMENTARY, Ein, Index, Region, Shape, Term, Type,
    ops::{Instance, Meaning, OPERATORS, Variety},
    region::{Def, ValueId},
    surface::{Expr, Layout},
};
use same_code::{low_of, normal_of, written_out};
use stages::Case;
use std::collections::{BTreeMap, BTreeSet};

/// What both sides of a twin can use.
const COMMON: &str = "#version 2.0
input real s = 0.75;
input vec3 u = [1, 2, 3];
input vec3 v = [2, -1, 0.5];
input vec2 p = [0.25, -1.5];
input vec2 q = [1.5, 0.5];
input mat3 A = [[1, 2, 0], [0, 1, 3], [2, 0, 1]];
input mat3 B = [[2, 0, 1], [1, 1, 0], [0, 3, 1]];
input tensor[2,3] C = [[1, 2, 3], [4, 5, 6]];
input tensor[3,3,3] T = zeros[3,3,3];
image(2)[] flat = load_image(\"data/check-rings.nrrd\");
image(3)[3] vectors = load_image(\"data/check-flow.nrrd\");
field#2(2)[] E = bspln3 ⊛ flat;
field#2(3)[3] V = bspln3 ⊛ vectors;
field#2(3)[] F = V•V;
";

/// The type of a value, the operator, the indices of the left side and the right side.
#[rustfmt::skip]
const VALUES: &[(&str, &str, &str, &str)] = &[
    ("vec3", "u + v", "[i]", "u[i] + v[i]"),
    ("mat3", "A - B", "[i,j]", "A[i,j] - B[i,j]"),
    ("vec3", "-u", "[i]", "-u[i]"),
    ("vec3", "s*u", "[i]", "s*u[i]"),
    ("mat3", "A*s", "[i,j]", "A[i,j]*s"),
    ("vec3", "u/s", "[i]", "u[i]/s"),
    ("real", "u•v", "", "sum[k](u[k]*v[k])"),
    ("vec3", "A•u", "[i]", "sum[k](A[i,k]*u[k])"),
    ("vec3", "u•A", "[j]", "sum[k](u[k]*A[k,j])"),
    ("mat3", "A•B", "[i,j]", "sum[k](A[i,k]*B[k,j])"),
    ("vec2", "C•u", "[i]", "sum[k](C[i,k]*u[k])"),
    ("real", "A:B", "", "sum[i,j](A[i,j]*B[i,j])"),
    ("vec3", "T:A", "[i]", "sum[j,k](T[i,j,k]*A[j,k])"),
    ("mat3", "u⊗v", "[i,j]", "u[i]*v[j]"),
    ("vec3", "u×v", "[i]", "sum[j,k](ε[i,j,k]*u[j]*v[k])"),
    ("real", "p×q", "", "sum[i,j](ε[i,j]*p[i]*q[j])"),
    ("vec3", "modulate(u, v)", "[i]", "u[i]*v[i]"),
    ("real", "|u|", "", "sqrt(sum[k](u[k]*u[k]))"),
    ("real", "|A|", "", "sqrt(sum[i,j](A[i,j]*A[i,j]))"),
    ("vec3", "normalize(u)", "[i]", "u[i]/sqrt(sum[k](u[k]*u[k]))"),
    ("real", "trace(A)", "", "sum[k](A[k,k])"),
    ("vec3", "trace(T)", "[i]", "sum[k](T[i,k,k])"),
    ("tensor[3,2]", "transpose(C)", "[i,j]", "C[j,i]"),
    ("mat3", "s*identity[3]", "[i,j]", "s*δ[i,j]"),
    ("vec3", "A[1,:]", "[j]", "A[1,j]"),
    ("vec3", "A[:,2]", "[i]", "A[i,2]"),
    ("vec3", "clamp(u, v, 2.0*u)", "[i]", "clamp(u[i], v[i], 2.0*u[i])"),
    ("vec3", "clerp(u, v, s)", "[i]", "clerp(u[i], v[i], s)"),
    ("vec3", "swap(2, u, v)", "[i]", "swap(2, u[i], v[i])"),
    ("real", "det(A)", "", "sum[i,j,k](ε[i,j,k]*A[0,i]*A[1,j]*A[2,k])"),
    ("mat3", "inv(A)", "[i,j]", "0.5*sum[p,q,r,s](ε[i,r,s]*ε[j,p,q]*A[p,r]*A[q,s])/sum[p,q,r](ε[p,q,r]*A[p,0]*A[q,1]*A[r,2])"),
    ("mat3", "[u, v, u]", "[i,j]", "δ[i,0]*u[j] + δ[i,1]*v[j] + δ[2,i]*u[j]"),
    ("vec3", "lerp(u, v, s)", "[i]", "lerp(u[i], v[i], s)"),
    ("mat3", "A + zeros[3,3]", "[i,j]", "A[i,j] + 0.0"),
    ("real", "sin(u•v)", "", "sin(sum[k](u[k]*v[k]))"),
    ("vec2", "∇E(p)", "[i]", "∂[i] E(p)"),
    ("mat2", "∇⊗∇E(p)", "[i,j]", "∂[j,i] E(p)"),
    ("mat3", "∇⊗V(u)", "[i,j]", "∂[j] V[i](u)"),
    ("real", "∇•V(u)", "", "sum[k](∂[k] V[k](u))"),
    ("vec3", "∇×V(u)", "[i]", "sum[j,k](ε[i,j,k]*∂[j] V[k](u))"),
    ("real", "∇²E(p)", "", "sum[k](∂[k,k] E(p))"),
    ("vec3", "∇F(u)", "[i]", "∂[i] F(u)"),
    ("vec3", "∇(V•V)(u)", "[i]", "∂[i] (sum[k](V[k]*V[k]))(u)"),
];

/// The program of a value: its operators in normal form, and its Low-IR.
fn low(ty: &str, left: &str, right: &str) -> String {
    let text = format!(
        "{COMMON}\nstrand S (int n) {{\n    output {ty} y{left} = {right};\n    update {{ stabilize; }}\n}}\n\
         create_array {{ S(n) | n in 0..9 }}\n"
    );
    let source = Source::new("twin.diderot", text.clone());
    let lowered = pipeline::lower(&mut Session::default(), &source, &Options::default());
    let lowered = lowered.unwrap_or_else(|stopped| panic!("{text}\n{stopped:?}"));
    normal_of(&lowered) + &low_of(&lowered)
}

#[test]
fn an_operator_and_its_definition_by_index_become_the_same_code() {
    let mut different = Vec::new();
    for (ty, operator, left, right) in VALUES {
        if low(ty, "", operator) != low(ty, left, right) {
            different.push(format!("{operator} and {left} = {right}"));
        }
    }
    assert_eq!(different, [""; 0]);
}

#[test]
fn a_derivative_by_the_position_reads_what_the_gradient_reads() {
    let program = |definition: &str| {
        let text = format!(
            "{COMMON}\nstrand S (int n) {{\n    {definition}\n}}\ncreate_array {{ S(n) | n in 0..9 }}\n"
        );
        let source = Source::new("request.diderot", text);
        let lowered = pipeline::lower(&mut Session::default(), &source, &Options::default());
        let lowered = lowered.unwrap_or_else(|stopped| panic!("{definition}\n{stopped:?}"));
        let functions = lowered.hoisted.functions.iter();
        let printed: Vec<String> = functions
            .map(|(_, function)| function.to_string())
            .collect();
        printed.concat()
    };
    let requested = program(
        "output vec2 g = [0, 0]; update { vec2 x = s*[real(n), 1.0]; real f = E(x); g = ∂f/∂x; stabilize; }",
    );
    let written = program(
        "output vec2 g = [0, 0]; update { vec2 x = s*[real(n), 1.0]; g = ∇E(x); stabilize; }",
    );
    assert!(written.contains("probe"), "{written}");
    // Values that are computed once for all strands have numbers that depend on the order of definitions.
    let unnumbered = |text: &str| {
        let text = written_out(text);
        let mut parts = text.split("global ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| {
            all + "global " + part.trim_start_matches(|c: char| c.is_ascii_digit())
        })
    };
    assert_eq!(unnumbered(&requested), unnumbered(&written));
}

/// Renaming indices and reordering those of a reduction changes nothing.
#[test]
fn names_and_order_of_indices_do_not_matter() {
    let as_it_is = low("vec3", "[i]", "sum[j,k](ε[i,j,k]*∂[j] V[k](u))");
    assert_eq!(
        as_it_is,
        low("vec3", "[a]", "sum[b,c](ε[a,b,c]*∂[b] V[c](u))")
    );
    assert_eq!(
        as_it_is,
        low("vec3", "[i]", "sum[k,j](ε[i,j,k]*∂[j] V[k](u))")
    );
}

/// A term in index notation, with letters for its indices and names for its parameters. None if it has an eigensystem.
fn by_index(term: &Term, names: &[&str]) -> Option<String> {
    let letter = |index: &Index| match index {
        Index::Const(component) => component.to_string(),
        Index::Axis(axis) => format!("i{axis}"),
        Index::Bound(binder) => format!("k{binder}"),
    };
    let subscripts = |indices: &[Index]| {
        let letters: Vec<String> = indices.iter().map(letter).collect();
        match letters.is_empty() {
            true => String::new(),
            false => format!("[{}]", letters.join(",")),
        }
    };
    let all = |terms: &[Term]| -> Option<Vec<String>> {
        terms.iter().map(|term| by_index(term, names)).collect()
    };
    let one = |term: &Term| by_index(term, names);
    Some(match term {
        Term::Const(n) if n.is_integer() => format!("({}.0)", n.numer()),
        Term::Const(n) => format!("({}.0/{}.0)", n.numer(), n.denom()),
        Term::Access { param, indices } => format!("{}{}", names[*param], subscripts(indices)),
        Term::Delta(i, j) => format!("δ{}", subscripts(&[*i, *j])),
        Term::Epsilon(indices) => format!("ε{}", subscripts(indices)),
        Term::Neg(body) => format!("(-{})", one(body)?),
        Term::Add(terms) => format!("({})", all(terms)?.join(" + ")),
        Term::Sub(a, b) => format!("({} - {})", one(a)?, one(b)?),
        Term::Mul(factors) => format!("({})", all(factors)?.join("*")),
        Term::Div(a, b) => format!("({}/{})", one(a)?, one(b)?),
        Term::Pow(base, exponent) => format!("(({})^({exponent}))", one(base)?),
        Term::Apply(function, args) => {
            let meaning = Meaning::Elementary(*function);
            let row = OPERATORS.iter().find(|row| row.meaning == meaning);
            let name = match row {
                Some(row) => row.syntax[0].spelling(),
                None => {
                    ELEMENTARY
                        .iter()
                        .find(|row| row.function == *function)?
                        .name
                }
            };
            format!("{name}({})", all(args)?.join(", "))
        }
        Term::Cond {
            test,
            sides,
            then,
            otherwise,
        } => {
            let test = match test {
                Comparison::Less => "<",
                Comparison::LessEqual => "<=",
                Comparison::Equal => "==",
            };
            let [a, b] = [one(&sides[0])?, one(&sides[1])?];
            format!(
                "({} if {a} {test} {b} else {})",
                one(then)?,
                one(otherwise)?
            )
        }
        Term::Sum {
            binder,
            range,
            body,
        } => format!("sum[k{binder}:{range}]({})", one(body)?),
        Term::Deriv { index, body } => format!("(∂[{}] ({}))", letter(index), one(body)?),
        Term::Probe { field, at } => {
            let at = match &all(at)?[..] {
                [at] => at.clone(),
                // The position by its name, if these are its components.
                at => match whole(at) {
                    Some(name) => name.to_owned(),
                    None => format!("[{}]", at.join(", ")),
                },
            };
            format!("(({})({at}))", one(field)?)
        }
        Term::Eigen { .. } | Term::Position { .. } => return None,
    })
}

/// The name of the tensor that has exactly these components: `b` for `b[0]`, `b[1]`.
fn whole(components: &[String]) -> Option<&str> {
    let name = components.first()?.strip_suffix("[0]")?;
    let mut all = components.iter().enumerate();
    all.all(|(n, component)| *component == format!("{name}[{n}]"))
        .then_some(name)
}

/// How a program writes a row applied to arguments.
fn by_row(ein: &Ein, names: &[&str]) -> String {
    let inputs: Vec<Expr> = names
        .iter()
        .map(|name| Expr::Name(name.to_string()))
        .collect();
    let layout = Layout {
        inputs: &inputs,
        names: &BTreeMap::new(),
        symmetry: &[],
        temporaries: "t",
        shares: true,
        width: 500,
    };
    let root = ValueId(names.len());
    let region = Region {
        inputs: ein.params.clone(),
        defs: vec![Def {
            op: ein.clone(),
            args: (0..names.len()).map(ValueId).collect(),
        }],
        roots: vec![root],
    };
    layout.write(&region, &[root]).values[0].to_string()
}

/// A program that computes a definition for arguments of some types: its operators in normal form and its Low-IR, or its errors.
fn defined(args: &[Type], names: &[&str], result: &Type, left: &str, right: &str) -> String {
    let mut text = String::from("#version 2.0\n");
    for (ty, name) in args.iter().zip(names) {
        text += &match ty {
            Type::Field { dim, shape, .. } => format!(
                "input image({dim}){shape} of_{name};\nfield#4({dim}){shape} {name} = c4hexic ⊛ of_{name};\n"
            ),
            other => format!("input {other} {name};\n"),
        };
    }
    let (output, value) = match result {
        Type::Field { dim, shape, .. } => {
            text += &format!("input tensor[{dim}] at;\n{result} y{left} = {right};\n");
            (format!("tensor{shape} value"), "y(at)".to_owned())
        }
        other => (format!("{other} value{left}"), right.to_owned()),
    };
    text += &format!(
        "strand S (int n) {{\n    output {output} = {value};\n    update {{ stabilize; }}\n}}\n\
         create_array {{ S(n) | n in 0..9 }}\n"
    );
    let source = Source::new("twin.diderot", text.clone());
    let lowered = pipeline::lower(&mut Session::default(), &source, &Options::default());
    let lowered = match lowered {
        Ok(lowered) => lowered,
        Err(Stopped::Errors(found)) => {
            let messages: Vec<String> = found.into_iter().map(|d| d.message).collect();
            return format!("{}: {}\n{text}", right, messages.join("; "));
        }
        Err(stopped) => return format!("{stopped:?}\n{text}"),
    };
    // Without indices it is not a definition by index but an expression of other operators, each with an EIN of its own.
    match args.iter().chain([result]).any(has_axes) {
        true => normal_of(&lowered) + &low_of(&lowered),
        false => low_of(&lowered),
    }
}

fn has_axes(ty: &Type) -> bool {
    match ty {
        Type::Tensor(shape) | Type::Field { shape, .. } => !shape.is_scalar(),
        _ => false,
    }
}

/// Rows whose definition by index becomes other code, and why. It gives the same values.
const OTHER_CODE: &[(&str, &[&str])] = &[(
    "a choice that no index is in is a branch, as anywhere in a program; the row computes both sides and selects",
    &["clerp", "clerp_between"],
)];

/// Rows that have no definition by index, with the reason. Rows that EIN cannot express have the meaning `Builtin`.
const NO_DEFINITION: &[(&str, &[&str])] = &[
    (
        "it has parameters in the program besides its arguments; its twins are among the values above",
        &["identity", "slice", "zeros"],
    ),
    ("a power of a scalar, which has no axes", &["power"]),
    (
        "a choice between scalars, which have no axes",
        &["min", "max"],
    ),
    ("the number of the chosen argument is an int", &["swap"]),
    ("it takes a whole field", &["compose"]),
    (
        "eigensystems are functions of a whole matrix",
        &["evals2", "evals3", "evecs2", "evecs3"],
    ),
];

/// How many instances of a row are tried.
const TRIED: usize = 3;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// An operator of a row at some types, and its definition in index notation.
struct Twin {
    instance: Instance,
    ein: Ein,
    left: String,
    right: String,
}

impl Twin {
    /// None if index notation does not say it.
    fn of(instance: &Instance) -> Option<Twin> {
        let is_tensor = |ty: &Type| matches!(ty, Type::Tensor(_) | Type::Field { .. });
        if !(instance.args.iter().all(is_tensor) && is_tensor(&instance.result)) {
            return None;
        }
        let ein = instance.ein()?;
        let right = by_index(&ein.body, &NAMES[..instance.args.len()])?;
        // A composition has whole fields; programs have no expression for a choice of fields, and without axes it has no index.
        let types = || instance.args.iter().chain([&instance.result]);
        let of_fields = types().any(|ty| matches!(ty, Type::Field { .. }));
        let chooses = right.contains(" if ");
        if instance.row.name == "compose" || chooses && (of_fields || !types().any(has_axes)) {
            return None;
        }
        let axes: Vec<String> = (0..ein.axes.len()).map(|axis| format!("i{axis}")).collect();
        let left = match axes.is_empty() {
            true => String::new(),
            false => format!("[{}]", axes.join(",")),
        };
        let instance = instance.clone();
        Some(Twin {
            instance,
            ein,
            left,
            right,
        })
    }

    fn names(&self) -> &'static [&'static str] {
        &NAMES[..self.instance.args.len()]
    }

    /// How the program writes the row.
    fn operator(&self) -> String {
        by_row(&self.ein, self.names())
    }

    /// What the row and its definition give for some numbers.
    fn values(&self) -> [Vec<f64>; 2] {
        let (args, result) = (&self.instance.args, &self.instance.result);
        let mut text = String::from("#version 2.0\n");
        for ((ty, name), k) in args.iter().zip(self.names()).zip(0..) {
            let Type::Tensor(shape) = ty else {
                panic!("a field")
            };
            let numbers = (0..shape.size()).map(|n| {
                let seed = (37 * n + 11 * k + 5) % 17;
                format!("{:.2}", seed as f64 / 4.0 - 1.3)
            });
            let numbers: Vec<String> = numbers.collect();
            text += &format!("input {ty} {name} = {};\n", nested(shape.dims(), &numbers));
        }
        [("", &self.operator()), (&self.left, &self.right)].map(|(left, right)| {
            let text = format!(
                "{text}strand S (int n) {{\n    output {result} value{left} = {right};\n    update {{ stabilize; }}\n}}\n\
                 create_array {{ S(n) | n in 0..0 }}\n"
            );
            let case = Case::new(Source::new("twin.diderot", text));
            let (_, outcome) = case.stages_agree();
            outcome.outputs[0].1.clone()
        })
    }
}

/// Components, nested by axis.
fn nested(dims: &[usize], components: &[String]) -> String {
    let Some((n, rest)) = dims.split_first() else {
        return components.concat();
    };
    let parts = components.chunks(components.len() / n);
    let parts: Vec<String> = parts.map(|part| nested(rest, part)).collect();
    format!("[{}]", parts.join(", "))
}

/// Every row of the operator table that index notation can express, at several shapes, on tensors and on fields: its definition in
/// index notation is printed, and becomes the same operators in normal form and the same code. The exceptions have a reason.
#[test]
fn every_row_and_its_definition_by_index_become_the_same_code() {
    let variety = Variety {
        dims: vec![2, 3],
        extents: vec![2, 3],
        shapes: vec![Shape::SCALAR, Shape::new([3])],
        counts: vec![2],
        continuity: Continuity::Finite(4),
    };
    let reasons = |list: &'static [(&'static str, &'static [&'static str])]| {
        let names = list.iter().flat_map(|(_, rows)| rows.iter().copied());
        names.collect::<BTreeSet<&'static str>>()
    };
    let (other_code, no_definition) = (reasons(OTHER_CODE), reasons(NO_DEFINITION));
    let (mut compared, mut wrong) = (0, Vec::new());
    let (mut same, mut without) = (BTreeSet::new(), BTreeSet::new());
    for row in OPERATORS.iter() {
        let twins: Vec<Twin> = row
            .instances(&variety)
            .iter()
            .filter_map(Twin::of)
            .collect();
        if twins.is_empty() && !matches!(row.meaning, Meaning::Builtin(_)) {
            without.insert(row.name);
        }
        for twin in twins.iter().step_by(twins.len().div_ceil(TRIED).max(1)) {
            compared += 1;
            let (args, result) = (&twin.instance.args, &twin.instance.result);
            let (left, right) = (&twin.left, &twin.right);
            if other_code.contains(row.name) {
                if args.iter().all(|ty| matches!(ty, Type::Tensor(_))) {
                    let [a, b] = twin.values();
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
                    if a.len() != b.len() || !a.iter().zip(&b).all(near) {
                        wrong.push(format!("{}: {left} = {right}: {a:?}, {b:?}", row.name));
                    }
                }
                continue;
            }
            let operator = twin.operator();
            let both = [("", &operator), (left, right)]
                .map(|(left, right)| defined(args, twin.names(), result, left, right));
            match both[0] == both[1] {
                true => {
                    same.insert(row.name);
                }
                false => {
                    let [operator, defined] = &both;
                    wrong.push(format!(
                        "{}: {left} = {right}\n{operator}\n{defined}",
                        row.name
                    ));
                }
            }
        }
    }
    println!(
        "{compared} definitions by index of {} rows were compared with them",
        same.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(
        without, no_definition,
        "rows without a definition by index, and those with a reason"
    );
    assert!(
        same.is_disjoint(&other_code),
        "a row has the same code after all"
    );
    assert!(compared > 100, "only {compared}");
}
