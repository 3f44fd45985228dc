//! Source text of a case, as a user would write it, in versions 2.0 and 1.0 of the language.
//!
//! Parentheses are written only where precedence needs them, so the parser is under test too.

use crate::data::{Datum, variable_name};
use crate::experiment::{Experiment, probed_directly};
use crate::operator::{Level, Operator, Syntax};
use crate::tree::Tree;
use crate::types::{Shape, Type};

/// A program in both versions of the language. Its images are files named after the variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramText {
    /// The program in version 2.0.
    pub version2: String,
    /// The program in version 1.0.
    pub version1: String,
}

/// The words in which the versions differ.
pub(crate) struct Dialect {
    pub(crate) version: &'static str,
    pub(crate) load: &'static str,
    sequence: (char, char),
    create: (&'static str, &'static str),
}

pub(crate) const VERSION_2: Dialect = Dialect {
    version: "#version 2.0",
    load: "load_image",
    sequence: ('[', ']'),
    create: ("create_array {", "}"),
};

const VERSION_1: Dialect = Dialect {
    version: "#version 1.0",
    load: "image",
    sequence: ('{', '}'),
    create: ("initially [", "];"),
};

/// The text of an expression in version 2.0, with variables by their names.
pub fn expression(tree: &Tree) -> String {
    VERSION_2.expression(tree)
}

impl Dialect {
    /// The text of an expression, in which only sequences have braces.
    fn expression(&self, tree: &Tree) -> String {
        let (open, close) = self.sequence;
        let text = write(tree).0;
        text.replace('{', &open.to_string())
            .replace('}', &close.to_string())
    }
}

/// The text with blanks where it begins or ends with a bar.
fn apart(text: &str) -> String {
    let blank = |bar: bool| if bar { " " } else { "" };
    format!(
        "{}{text}{}",
        blank(text.starts_with('|')),
        blank(text.ends_with('|'))
    )
}

fn at_least(tree: &Tree, level: Level) -> String {
    let (text, found) = write(tree);
    if found >= level {
        text
    } else {
        format!("({text})")
    }
}

fn write(tree: &Tree) -> (String, Level) {
    match tree {
        Tree::Variable { ty, number } => (variable_name(*ty, *number), Level::Atom),
        Tree::Constant(constant) => {
            let text = constant.to_string();
            let level = if text.starts_with('-') {
                Level::Negation
            } else {
                Level::Atom
            };
            (text, level)
        }
        Tree::Apply(operator, arguments) => write_application(operator, arguments),
    }
}

fn write_application(operator: &Operator, arguments: &[Tree]) -> (String, Level) {
    let list = || {
        arguments
            .iter()
            .map(|argument| write(argument).0)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match operator.syntax {
        Syntax::Invisible => write(&arguments[0]),
        // Infix operators group from the left, so only a right operand of the same level needs parentheses.
        Syntax::Infix(symbol, level) => {
            let (left, right) = match level {
                Level::Sum => (Level::Sum, Level::Product),
                Level::Product => (Level::Product, Level::Negation),
                // Only powers are left; they group from neither side.
                _ => (Level::Suffix, Level::Suffix),
            };
            let (left, right) = (
                at_least(&arguments[0], left),
                at_least(&arguments[1], right),
            );
            (format!("{left} {symbol} {right}"), level)
        }
        Syntax::Negation => (
            format!("-{}", at_least(&arguments[0], Level::Negation)),
            Level::Negation,
        ),
        Syntax::Nabla(symbol) => (
            format!("{symbol}{}", at_least(&arguments[0], Level::Nabla)),
            Level::Nabla,
        ),
        // Two bars that touch would be the logical operator.
        Syntax::Bars => (format!("|{}|", apart(&write(&arguments[0]).0)), Level::Atom),
        // A call binds like a suffix: under a nabla it needs parentheses.
        Syntax::Call(name) => (format!("{name}({})", list()), Level::Suffix),
        Syntax::CallWith(name, first) => (format!("{name}({first}, {})", list()), Level::Suffix),
        Syntax::Suffix(text) => (
            format!("{}{text}", at_least(&arguments[0], Level::Suffix)),
            Level::Suffix,
        ),
        Syntax::Power(text) => (
            format!("{}{text}", at_least(&arguments[0], Level::Suffix)),
            Level::Power,
        ),
        Syntax::List => (format!("[{}]", list()), Level::Atom),
        Syntax::Around(text, level) => (text.replace('$', &write(&arguments[0]).0), level),
    }
}

/// A real literal; the shortest text that reads back as the same double, with a point before any exponent.
pub(crate) fn literal(x: f64) -> String {
    let text = format!("{x:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// A tensor literal, nested by axis.
fn tensor_literal(shape: &[u8], components: &[f64]) -> String {
    let Some((&extent, rest)) = shape.split_first() else {
        return components
            .first()
            .copied()
            .map_or_else(String::new, literal);
    };
    let part = components.len() / usize::from(extent);
    let parts: Vec<String> = components
        .chunks(part)
        .map(|chunk| tensor_literal(rest, chunk))
        .collect();
    format!("[{}]", parts.join(", "))
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

/// The declarations of all variables.
pub(crate) fn declarations(tree: &Tree, data: &[Datum], dialect: &Dialect) -> String {
    let mut text = String::new();
    for (number, (ty, datum)) in tree.variables().into_iter().zip(data).enumerate() {
        let name = variable_name(ty, number);
        let value = match datum {
            Datum::Tensor(components) => tensor_literal(ty.shape.extents(), components),
            Datum::Field(field) => {
                let image = format!("{}(\"{name}.nrrd\")", dialect.load);
                let outside = || tensor_literal(ty.shape.extents(), &field.outside);
                let image = field.border.around(&image, outside);
                format!("{} ⊛ {image}", field.kernels.source())
            }
        };
        text += &format!("{} {name} = {value};\n", ty.source());
    }
    text
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

fn text(experiment: &Experiment, dialect: &Dialect) -> String {
    let Experiment {
        case,
        result,
        data,
        positions,
        ..
    } = experiment;
    let value = Type::tensor(result.shape).source();
    let mut text = format!(
        "{}\n// {}\n{}",
        dialect.version,
        case,
        declarations(&case.tree, data, dialect)
    );
    let expression = dialect.expression(&case.tree);
    let ((open, close), (create, end)) = (dialect.sequence, dialect.create);
    if !result.varies() {
        text += &format!(
            "strand evaluate (int i) {{\n    output {value} value = {};\n    output int valid = 0;\n    \
             update {{\n        value = {expression};\n        valid = 1;\n        stabilize;\n    }}\n}}\n\
             {create} evaluate(i) | i in 0..0 {end}\n",
            zero(result.shape)
        );
        return text;
    }
    let place = position_type(result.dim);
    let list: Vec<String> = positions
        .iter()
        .map(|position| vector_literal(&position.to_f64()))
        .collect();
    let inside: Vec<String> = probed_directly(&case.tree)
        .iter()
        .map(|number| format!("inside(x, F{number})"))
        .collect();
    let value_at_x = if result.is_field() {
        text += &format!("{} G = {expression};\n", result.source());
        "G(x)".to_string()
    } else {
        expression
    };
    text += &format!(
        "{place}{open}{}{close} positions = {{\n    {}\n}};\n",
        list.len(),
        list.join(",\n    ")
    );
    text += &format!(
        "strand probe_at (int i) {{\n    {place} x = positions{open}i{close};\n    output {value} value = {};\n    \
         output int valid = 0;\n    update {{\n        value = {value_at_x};\n        \
         if ({}) valid = 1;\n        stabilize;\n    }}\n}}\n{create} probe_at(i) | i in 0..{} {end}\n",
        zero(result.shape),
        inside.join(" && "),
        list.len() - 1
    );
    text
}

/// The programs of an experiment.
pub fn program(experiment: &Experiment) -> ProgramText {
    ProgramText {
        version2: text(experiment, &VERSION_2),
        version1: text(experiment, &VERSION_1),
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
        check("grad(sin(F2#4[]))", "∇(sin(F0))");
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
            "create_array { probe_at(i) | i in 0..1 }",
        ] {
            assert!(text.version2.contains(part), "{part}\n{}", text.version2);
        }
        for part in [
            "#version 1.0\n",
            "c4hexic ⊛ image(\"F0.nrrd\")",
            "vec2{2} positions",
            "positions{i}",
            "initially [ probe_at(i) | i in 0..1 ];",
        ] {
            assert!(text.version1.contains(part), "{part}\n{}", text.version1);
        }
    }
}
