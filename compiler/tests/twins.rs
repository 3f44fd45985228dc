//! An operator of the table and its definition by index are one thing: they become the same Low-IR.

use compiler::{
    front::{self, CheckOptions, source::Source},
    pipeline::{self, Lowered, Options, Session, Stopped},
};
use ein_ir::{
    Comparison, Continuity, Ein, Index, Region, Shape, Term, Type,
    ops::{Meaning, OPERATORS, Variety},
    region::{Def, ValueId},
    surface::{Expr, Layout},
};
use std::collections::BTreeMap;

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
    ("vec3", "lerp(u, v, s)", "[i]", "lerp(u[i], v[i], s)"),
    ("real", "u[0]*u[1]*u[2]", "", "product[k](u[k])"),
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

/// What a function without control flow yields, with the operations in the place of the numbers of their values: the order of
/// independent operations does not count.
fn written_out(function: &str) -> String {
    let mut values: Vec<(String, String)> = Vec::new();
    let mut result = String::new();
    for line in function.lines() {
        let mut text = line.trim().to_owned();
        let defined = text.split_once(": ").filter(|(name, _)| is_value(name));
        let defined = defined.map(|(name, _)| name.to_owned());
        if let Some(name) = &defined {
            text = text[name.len()..].to_owned();
        }
        let pieces = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        let resolved = pieces.map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            match values.iter().find(|(name, _)| name == word) {
                Some((_, value)) => format!("({value}){}", &piece[word.len()..]),
                None => piece.to_owned(),
            }
        });
        let resolved: String = resolved.collect();
        match defined {
            Some(name) => values.push((name, resolved)),
            None => result += &format!("{resolved}\n"),
        }
    }
    result
}

fn is_value(name: &str) -> bool {
    name.strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The program of a value, as Low-IR.
fn low(ty: &str, left: &str, right: &str) -> String {
    let text = format!(
        "{COMMON}\nstrand S (int n) {{\n    output {ty} y{left} = {right};\n    update {{ stabilize; }}\n}}\n\
         create_array {{ S(n) | n in 0..9 }}\n"
    );
    let source = Source::new("twin.diderot", text.clone());
    let lowered = pipeline::lower(&mut Session::default(), &source, &Options::default());
    let lowered = lowered.unwrap_or_else(|stopped| panic!("{text}\n{stopped:?}"));
    low_of(&lowered)
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
    // What is computed once for all strands has numbers that depend on the order of definitions.
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

/// Many definitions are checked in a time that nobody notices; the number is that of a program, not of a clock.
#[test]
fn a_hundred_definitions_are_checked() {
    let definitions: String = (0..100)
        .map(|n| format!("mat3 M{n}[i,j] = sum[k](A[i,k]*B[k,j]) + δ[i,j]*{n}.0;\n"))
        .collect();
    let total: Vec<String> = (0..100).map(|n| format!("M{n}[0,0]")).collect();
    let text = format!(
        "#version 2.0\ninput mat3 A = identity[3];\ninput mat3 B = identity[3];\n{definitions}\
         strand S (int n) {{ output real y = {} + n; update {{ stabilize; }} }}\ncreate_array {{ S(n) | n in 0..9 }}\n",
        total.join(" + ")
    );
    let source = Source::new("many.diderot", text);
    let begun = std::time::Instant::now();
    let checked = front::check(&source, &CheckOptions::default());
    println!("100 definitions are checked in {:?}", begun.elapsed());
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
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
            let row = OPERATORS.iter().find(|row| row.meaning == meaning)?;
            format!("{}({})", row.syntax[0].spelling(), all(args)?.join(", "))
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
        Term::Probe { field, at } => match &all(at)?[..] {
            [at] => format!("(({})({at}))", one(field)?),
            at => format!("(({})([{}]))", one(field)?, at.join(", ")),
        },
        Term::Eigen { .. } | Term::Position { .. } => return None,
    })
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

/// A program that computes what is defined of arguments of some types, as Low-IR; or what is wrong with it.
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
    low_of(&lowered)
}

fn low_of(lowered: &Lowered) -> String {
    let functions = lowered.hoisted.functions.iter();
    let printed = functions
        .map(|(role, function)| format!("{role:?}\n{}", written_out(&function.to_string())));
    printed.collect::<Vec<_>>().join("\n")
}

/// Rows whose definition by index becomes other code, and why.
const EXCUSED: &[(&str, &[&str])] = &[
    (
        "a choice in a program is a branch that computes one side; the row computes both and selects",
        &[
            "min",
            "max",
            "clamp",
            "clamp_components",
            "clerp",
            "clerp_between",
        ],
    ),
    (
        "the same products with their factors in another order",
        &["det2", "inverse2", "inverse3"],
    ),
];

/// How many instances of a row are tried.
const TRIED: usize = 3;

/// Every row of the operator table that index notation can say, at several shapes, on tensors and on fields: what it says in
/// index notation is printed as a definition, and becomes the same code.
#[test]
fn every_row_and_its_definition_by_index_become_the_same_code() {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    let variety = Variety {
        dims: vec![2, 3],
        extents: vec![2, 3],
        shapes: vec![Shape::SCALAR, Shape::new([3])],
        counts: vec![2],
        continuity: Continuity::Finite(4),
    };
    let (mut compared, mut different) = (0, Vec::new());
    let is_excused = |name: &str| EXCUSED.iter().any(|(_, rows)| rows.contains(&name));
    for row in OPERATORS.iter().filter(|row| !is_excused(row.name)) {
        let instances = row.instances(&variety);
        let usable = instances.iter().filter(|instance| {
            let is_tensor = |ty: &Type| matches!(ty, Type::Tensor(_) | Type::Field { .. });
            instance.args.iter().all(is_tensor) && is_tensor(&instance.result)
        });
        let usable: Vec<_> = usable.collect();
        for instance in usable.iter().step_by(usable.len().div_ceil(TRIED).max(1)) {
            let Some(ein) = instance.ein() else { continue };
            let names = &NAMES[..instance.args.len()];
            let Some(right) = by_index(&ein.body, names) else {
                continue;
            };
            // A composition has whole fields, and programs have no expression for a choice of fields.
            if row.name == "compose" {
                continue;
            }
            let is_field = |ty: &Type| matches!(ty, Type::Field { .. });
            if right.contains(" if ") && instance.args.iter().any(is_field) {
                continue;
            }
            let axes: Vec<String> = (0..ein.axes.len()).map(|axis| format!("i{axis}")).collect();
            let left = match axes.is_empty() {
                true => String::new(),
                false => format!("[{}]", axes.join(",")),
            };
            let operator = by_row(&ein, names);
            let (args, result) = (&instance.args, &instance.result);
            compared += 1;
            let both = [("", &operator), (left.as_str(), &right)]
                .map(|(left, right)| defined(args, names, result, left, right));
            if both[0] != both[1] {
                let [operator, defined] = &both;
                different.push(format!(
                    "{}: {left} = {right}\n{operator}\n{defined}",
                    row.name
                ));
            }
        }
    }
    println!("{compared} definitions by index were compared with their rows");
    assert!(different.is_empty(), "{}", different.join("\n\n"));
    assert!(compared > 100, "only {compared}");
}
