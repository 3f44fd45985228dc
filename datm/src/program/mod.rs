//! Source text of a case, as a user would write it, in versions 2.0 and 1.0 of the language.

mod by_index;
mod expression;
mod forms;

pub use by_index::WITHOUT_COMPONENTS;
pub use expression::expression;
use forms::OverTime;
pub use forms::{FormChoice, PROGRAM_FORMS, ProgramForm};

use crate::data::{Datum, variable_name};
use crate::experiment::{Experiment, probed_directly};
use crate::mesh::ARRAY;
use crate::tree::Tree;
use crate::types::{Shape, Type};
use expression::{Parts, write};

/// A program in both versions of the language. Its images are files named after the variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramText {
    /// The program in version 2.0.
    pub version2: String,
    /// The program in version 1.0, if that version can say it.
    pub version1: Option<String>,
}

/// The words in which the versions differ.
pub(crate) struct Dialect {
    pub(crate) version: &'static str,
    pub(crate) load: &'static str,
    load_fem: &'static str,
    sequence: (&'static str, &'static str),
    create: (&'static str, &'static str),
    field_functions: bool,
}

pub(crate) const VERSION_2: Dialect = Dialect {
    version: "#version 2.0",
    load: "load_image",
    load_fem: "load_fem",
    sequence: ("[", "]"),
    create: ("create_array {", "}"),
    field_functions: true,
};

const VERSION_1: Dialect = Dialect {
    version: "#version 1.0",
    load: "image",
    load_fem: "fem",
    sequence: ("{", "}"),
    create: ("initially [", "];"),
    field_functions: false,
};

/// A real literal; the shortest text that reads back as the same double, with a point before any exponent.
pub(crate) fn literal(x: f64) -> String {
    let text = format!("{x:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// Components, nested by axis.
fn nested(shape: &[u8], components: &[String]) -> String {
    let Some((&extent, rest)) = shape.split_first() else {
        return components.concat();
    };
    let part = components.len() / usize::from(extent);
    let parts: Vec<String> = components
        .chunks(part)
        .map(|chunk| nested(rest, chunk))
        .collect();
    format!("[{}]", parts.join(", "))
}

fn tensor_literal(shape: Shape, components: &[f64]) -> String {
    let texts: Vec<String> = components.iter().copied().map(literal).collect();
    nested(shape.extents(), &texts)
}

/// A vector literal, or a plain real in one dimension.
pub(crate) fn vector_literal(coordinates: &[f64]) -> String {
    match coordinates {
        [x] => literal(*x),
        _ => format!(
            "[{}]",
            coordinates
                .iter()
                .copied()
                .map(literal)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    }
}

/// The time at which the derivative of t² is 1.
const TIME: &str = "0.5";

/// The end of the name of an image over time.
pub(crate) const FRAMES: &str = "-frames";

/// A type as that of a field over time, with this many derivatives by time.
fn over_time(source: &str, derivatives: u32) -> String {
    source.replacen(')', &format!(",time#{derivatives})"), 1)
}

/// The declarations of all variables; as inputs, if they can be, or with their values.
pub(crate) fn declarations(tree: &Tree, data: &[Datum], inputs: bool, dialect: &Dialect) -> String {
    declared(tree, data, (inputs, None), dialect)
}

/// The same, where images may become fields over time whose values at [`TIME`] are theirs.
fn declared(
    tree: &Tree,
    data: &[Datum],
    (inputs, over): (bool, Option<OverTime>),
    dialect: &Dialect,
) -> String {
    let input = if inputs { "input " } else { "" };
    let mut text = String::new();
    for (number, (ty, datum)) in tree.variables().into_iter().zip(data).enumerate() {
        let (name, source) = (variable_name(ty, number), ty.source());
        match datum {
            Datum::Tensor(components) => {
                let value = tensor_literal(ty.shape, components);
                text += &format!("{input}{source} {name} = {value};\n");
            }
            Datum::Field(field) => {
                if let Some(polynomials) = datum.formulas() {
                    let texts: Vec<String> = polynomials.iter().map(|p| p.source(ty.dim)).collect();
                    let value = nested(ty.shape.extents(), &texts);
                    text += &format!("{source} {name} (p) = {value};\n");
                    continue;
                }
                if field.mesh.is_some() {
                    let (k, d, shape) = (ty.continuity, ty.dim, ty.shape);
                    let load = format!("{}(\"{name}.vtu\", \"{ARRAY}\")", dialect.load_fem);
                    text += &format!("{input}fem#{k}({d}){shape} mesh{number} = {load};\n");
                    text += &format!("{source} {name} = toField(mesh{number});\n");
                    continue;
                }
                let mut image = format!("{}(\"{name}.nrrd\")", dialect.load);
                if inputs {
                    let (d, shape) = (ty.dim, ty.shape);
                    text += &format!("input image({d}){shape} image{number} = {image};\n");
                    image = format!("image{number}");
                }
                let outside = || tensor_literal(ty.shape, &field.outside);
                let image = field.border.around(&image, outside);
                let kernels = field.kernels.source();
                match over {
                    None => text += &format!("{source} {name} = {kernels} ⊛ {image};\n"),
                    Some(OverTime::Formulas) => {
                        let [square, slope] = [9, 8].map(|m| over_time(&source, m));
                        text += &format!("{source} S{number} = {kernels} ⊛ {image};\n");
                        text += &format!("{square} Q{number} (p, t) = t*t*S{number}(p);\n");
                        text += &format!("{slope} {name} = ∂[time] Q{number};\n");
                    }
                    Some(OverTime::Frames) => {
                        let [square, slope] = [1, 0].map(|m| over_time(&source, m));
                        let (d, shape) = (ty.dim, ty.shape);
                        let load = format!("{}(\"{name}{FRAMES}.nrrd\")", dialect.load);
                        text += &format!("image({d},time){shape} frames{number} = {load};\n");
                        let image = field.border.around(&format!("frames{number}"), outside);
                        let kernels = field.kernels.with_time("ctmr");
                        text += &format!("{square} Q{number} = {kernels} ⊛ {image};\n");
                        text += &format!("{slope} {name} = ∂[time] Q{number};\n");
                    }
                }
            }
        }
    }
    text
}

/// The definition of the field `G`, and the definitions that it needs, in version 2.0.
pub(crate) fn definitions(tree: &Tree) -> String {
    lines(write(tree, Parts::Whole, "x", &VERSION_2).globals)
}

fn lines(list: Vec<String>) -> String {
    list.into_iter().map(|line| line + "\n").collect()
}

fn zero(shape: Shape) -> String {
    if shape.is_scalar() {
        "0.0".to_string()
    } else {
        format!("zeros{shape}")
    }
}

fn position_type(dim: u8) -> String {
    if dim == 1 {
        "real".to_string()
    } else {
        format!("vec{dim}")
    }
}

/// The sequence of all positions.
fn positions(experiment: &Experiment, dialect: &Dialect) -> String {
    let list: Vec<String> = experiment
        .positions
        .iter()
        .map(|position| vector_literal(&position.to_f64()))
        .collect();
    let input = if experiment.form.inputs { "input " } else { "" };
    let place = position_type(experiment.result.dim);
    let ((open, close), count) = (dialect.sequence, list.len());
    let list = list.join(",\n    ");
    format!("{input}{place}{open}{count}{close} positions = {{\n    {list}\n}};\n")
}

/// Whether the position is inside all images that are probed there.
fn inside(experiment: &Experiment, is_over_time: bool) -> String {
    let place = match is_over_time {
        true => format!("x, {TIME}"),
        false => "x".to_string(),
    };
    let is_sampled = |number: &usize| experiment.data[*number].formulas().is_none();
    let tests: Vec<String> = probed_directly(&experiment.case.tree)
        .into_iter()
        .filter(is_sampled)
        .map(|number| format!("inside({place}, F{number})"))
        .collect();
    if tests.is_empty() {
        "true".to_string()
    } else {
        tests.join(" && ")
    }
}

/// A form with the parts of a program in the places of their names. Lines that become empty are left out.
fn fill(form: &str, words: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut pieces = form.split('$');
    text += pieces.next().unwrap_or_default();
    for piece in pieces {
        let end = piece
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        match words.iter().find(|(known, _)| *known == name) {
            Some((_, word)) => text += word,
            // A slip of the pen in the table must not make a program that is merely shorter.
            None => text += &format!("${name}"),
        }
        text += rest;
    }
    let kept = text.lines().filter(|line| !line.trim().is_empty());
    kept.map(|line| format!("{line}\n")).collect()
}

/// The program, if it can be said in this version.
fn text(experiment: &Experiment, dialect: &Dialect) -> Option<String> {
    let Experiment {
        case, result, form, ..
    } = experiment;
    let (open, close) = dialect.sequence;
    let in_dialect = |text: &str| text.replace('⟨', open).replace('⟩', close);
    let mut here = write(&case.tree, form.parts, "x", dialect);
    let there = write(&case.tree, form.parts, form.there, dialect);
    let by_formulas = experiment
        .data
        .iter()
        .any(|datum| datum.formulas().is_some());
    let on_mesh = |datum: &Datum| matches!(datum, Datum::Field(field) if field.mesh.is_some());
    let are_images = !by_formulas && !experiment.data.iter().any(on_mesh);
    // Field functions of the position alone stay as they are.
    let is_timed = are_images && !here.field_functions;
    let over = form.over_time.filter(|_| is_timed);
    if over.is_some() {
        here = write(&case.tree, form.parts, &format!("x, {TIME}"), dialect);
        for definition in &mut here.globals {
            *definition = over_time(definition, 0);
        }
    }
    if (here.field_functions || by_formulas) && !dialect.field_functions {
        return None;
    }
    let place = position_type(result.dim);
    let varies = |text: String| if result.varies() { text } else { String::new() };
    let words = [
        ("type", Type::tensor(result.shape).source()),
        ("field", result.source()),
        ("zero", zero(result.shape)),
        ("value", here.value),
        ("there", there.value),
        ("inside", inside(experiment, over.is_some())),
        ("own", varies(format!("{place} x = positions⟨i⟩;"))),
        // The same position, which a program cannot know.
        ("other", varies(format!("{place} y = 0.5*(x + x);"))),
        ("parameter", varies(format!(", {place} x"))),
        ("argument", varies(", x".to_string())),
        ("last", (experiment.expected.len() - 1).to_string()),
        ("locals", here.locals.join("\n        ")),
        ("place", place.clone()),
    ];
    let (create, end) = dialect.create;
    Some(format!(
        "{}\n// {case}\n{}{}{}{}{create} evaluate(i) | i in 0..{} {end}\n",
        dialect.version,
        declared(&case.tree, &experiment.data, (form.inputs, over), dialect),
        lines(here.globals),
        varies(positions(experiment, dialect)),
        in_dialect(&fill(form.strand, &words)),
        experiment.expected.len() - 1,
    ))
}

/// The programs of an experiment.
pub fn program(experiment: &Experiment) -> ProgramText {
    let version1 = experiment.form.in_version_1.then_some(&VERSION_1);
    // Version 2.0 can say everything.
    ProgramText {
        version2: text(experiment, &VERSION_2).unwrap_or_default(),
        version1: version1.and_then(|dialect| text(experiment, dialect)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::prepare;
    use crate::label::Case;
    use crate::number::Arithmetic;

    #[track_caller]
    fn check(label: &str, wanted: &str) {
        assert_eq!(expression(&label.parse::<Tree>().expect(label)), wanted);
    }

    #[test]
    fn parentheses_follow_precedence() {
        check("sub(T[],sub(T[],T[]))", "T0 - (T1 - T2)");
        check("sub(sub(T[],T[]),T[])", "T0 - T1 - T2");
        check("mul(add(T[],T[]),T[])", "(T0 + T1) * T2");
        check("div(T[3],mul(T[],T[]))", "T0 / (T1 * T2)");
        check("grad(add(F2#4[],T[]))", "∇(F0 + T1)");
        check("slice[0](grad(F2#4[]))", "∇F0[0]");
        check("grad(slice[0](F2#4[2]))", "∇(F0[0])");
        check("grad(sin(F2#4[]))", "∇sin(F0)");
        check("slice[0](grad(sin(F2#4[])))", "∇sin(F0)[0]");
        check("grad(slice[0](normalize(F2#4[2])))", "∇(normalize(F0)[0])");
        check("laplacian(det(F2#4[2,2]))", "∇²det(F0)");
        check("grad(norm(F2#4[2]))", "∇|F0|");
        check("jacobian(grad(F3#4[]))", "∇⊗∇F0");
        check("power[2](neg(T[]))", "(-T0)^2");
        check("neg(power[2](T[]))", "-T0^2");
        check("power[3](power[2](T[]))", "(T0^2)^3");
        check("inner(neg(T[3]),neg(T[3]))", "-T0 • -T1");
        check("acos(mul(0.01,F1#2[]))", "acos(0.01 * F0)");
        check("mul(T[],-1.5)", "T0 * -1.5");
        check("neg(neg(T[]))", "--T0");
        check("sub(copy(T[]),copy(sub(T[],T[])))", "T0 - (T1 - T2)");
        check("power(power(T[],T[]),T[])", "(T0 ^ T1) ^ T2");
        check("evals[1](probe(hessian(F2#4[])))", "evals(∇⊗∇F0(x))[1]");
        check("slice[0](probe(neg(F2#4[2])))", "(-F0)(x)[0]");
        check(
            "add(eigenprojector[0](T[2,2]),T[2,2])",
            "evecs(T0)[0] ⊗ evecs(T0)[0] + T1",
        );
    }

    #[test]
    fn literals_have_a_point() {
        for (x, text) in [
            (2.0, "2.0"),
            (-1e30, "-1.0e30"),
            (1.5e-9, "1.5e-9"),
            (1e-9, "1.0e-9"),
        ] {
            assert_eq!(literal(x), text);
        }
    }

    #[test]
    fn a_program_declares_data_and_probes_every_position() {
        let case: Case = "inner(grad(F2#4[]),T[2])|grid=axis|pos=2"
            .parse()
            .expect("a label");
        let text = program(&prepare(&case, Arithmetic::Near).expect("not vacuous"));
        for part in [
            "#version 2.0\n",
            "field#4(2)[] F0 = c4hexic ⊛ load_image(\"F0.nrrd\");",
            "tensor[2] T1 = [",
            "field#3(2)[] G = ∇F0 • T1;",
            "vec2[2] positions = {",
            "x = positions[i];",
            "output real value = 0.0;",
            "if (inside(x, F0)) valid = 1;",
            "create_array { evaluate(i) | i in 0..1 }",
        ] {
            assert!(text.version2.contains(part), "{part}\n{}", text.version2);
        }
        for part in [
            "#version 1.0\n",
            "c4hexic ⊛ image(\"F0.nrrd\")",
            "vec2{2} positions",
            "positions{i}",
            "initially [ evaluate(i) | i in 0..1 ];",
        ] {
            let text = text.version1.as_deref().expect("a program");
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
    #[test]
    fn every_form_is_filled_and_different_from_the_others() {
        let mut texts = std::collections::BTreeSet::new();
        for form in PROGRAM_FORMS {
            let label = format!("grad(sin(mul(T[],F2#4[])))|pos=2|prog={form}|seed=1");
            let case: Case = label.parse().expect("a label");
            assert_eq!(case.to_string().parse::<Case>().as_ref(), Ok(&case));
            let experiment = prepare(&case, Arithmetic::Near).expect("not vacuous");
            let program = program(&experiment);
            for text in [Some(program.version2), program.version1]
                .into_iter()
                .flatten()
            {
                assert!(!text.contains(['$', '⟨', '⟩']), "{text}");
                let body = text.split_once("T0 = ").expect("a declaration").1;
                assert!(
                    texts.insert(body.replace(|c: char| c.is_ascii_digit(), "")),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn fields_are_chosen_in_field_functions_and_values_in_place() {
        for (label, parts) in [
            (
                "grad(choice(F2#4[],T[],F2#4[]))|pos=1",
                &[
                    "field#4(2)[] G1 (p) = F0(p) if F2(p) > 0 else T1;",
                    "G = ∇G1;",
                ][..],
            ),
            (
                "choice(probe(F2#4[]),T[],T[])|pos=1",
                &["value = F0(x) if T2 > 0 else T1;"],
            ),
            (
                "grad(sin(mul(T[],F2#4[])))|pos=1|prog=functions",
                &["field#4(2)[] G1 (p) = sin(T0 * F1(p));", "G2 (p) = ∇G1(p);"],
            ),
            (
                "evals[0](probe(hessian(F2#4[])))|pos=1|prog=functions",
                &[
                    "field#0(2)[] G1 (p) = evals(∇⊗∇F0(p))[0];",
                    "value = G1(x);",
                ],
            ),
            (
                "add(grad(F2#4[]),T[2])|pos=1|prog=values",
                &["value = ∇F0(x) + T1;"],
            ),
            (
                "neg(add(probe(F2#4[]),T[]))|pos=1|prog=parts",
                &["real G1 = F0(x);", "real G2 = G1 + T1;", "real G3 = -G2;"],
            ),
        ] {
            let case: Case = label.parse().expect(label);
            let text = program(&prepare(&case, Arithmetic::Near).expect("not vacuous")).version2;
            for part in parts {
                assert!(text.contains(part), "{part}\n{text}");
            }
        }
    }
}
