//! Operators as definitions by index: what one component of the result is.

use crate::operator::{Operator, Syntax};
use crate::types::{Shape, Type};

/// An operand: its text, which can be followed by indices, and its type.
pub(super) type Operand = (String, Type);

/// Operators that are not defined by their components, and why.
pub const WITHOUT_COMPONENTS: &[(&str, &[&str])] = &[
    ("it takes a whole field", &["compose"]),
    ("a condition chooses between wholes", &["choice"]),
    (
        "eigensystems are functions of a whole matrix",
        &[
            "evals[0]",
            "evals[1]",
            "evals[2]",
            "eigenprojector[0]",
            "eigenprojector[1]",
            "eigenprojector[2]",
        ],
    ),
];

/// The indices of the left side.
pub(super) fn left(shape: Shape) -> Vec<String> {
    let letters = ["i", "j", "k"];
    (0..shape.order())
        .map(|axis| letters[axis].to_string())
        .collect()
}

/// A component.
pub(super) fn component(name: &str, indices: &[String]) -> String {
    match indices.is_empty() {
        true => name.to_string(),
        false => format!("{name}[{}]", indices.join(",")),
    }
}

fn words(indices: &[&str]) -> Vec<String> {
    indices.iter().map(|index| index.to_string()).collect()
}

fn sum(over: &[String], body: &str) -> String {
    match over.is_empty() {
        true => body.to_string(),
        false => format!("sum[{}]({body})", over.join(",")),
    }
}

/// The component of an operator's result at the indices of the left side, for operators that do more than act on
/// corresponding components.
pub(super) fn body(
    operator: &Operator,
    operands: &[Operand],
    left: &[String],
    position: &str,
) -> Option<String> {
    let (a, ty) = operands.first()?;
    let (order, dim) = (ty.shape.order(), ty.dim);
    let at = |indices: &[&str]| component(a, &words(indices));
    let b = |indices: &[String]| component(&operands[1].0, indices);
    // Axes of the operands that are summed over: as many of the last of the first and of the first of the second.
    let contracted = |count: usize| {
        let over = words(&["p", "q"][..count]);
        let (first, second) = left.split_at(order - count);
        let first = component(a, &[first, &over].concat());
        let second = b(&[&over, second].concat());
        sum(&over, &format!("{first}*{second}"))
    };
    let square = || {
        let all = words(&["p", "q", "r"][..order]);
        let one = component(a, &all);
        format!("sqrt({})", sum(&all, &format!("{one}*{one}")))
    };
    let determinant = |n: Option<u8>| match n {
        Some(2) => Some(format!(
            "sum[u,v](ε[u,v]*{}*{})",
            at(&["0", "u"]),
            at(&["1", "v"])
        )),
        Some(3) => Some(format!(
            "sum[u,v,w](ε[u,v,w]*{}*{}*{})",
            at(&["0", "u"]),
            at(&["1", "v"]),
            at(&["2", "w"])
        )),
        _ => None,
    };
    Some(match operator.name {
        "norm" if order > 0 => square(),
        "normalize" => format!("{}/{}", component(a, left), square()),
        "trace" => sum(
            &words(&["p"]),
            &component(a, &[left, &words(&["p", "p"])].concat()),
        ),
        "transpose" => at(&[&left[1], &left[0]]),
        "det" => determinant(ty.shape.square())?,
        "inv" => {
            let n = ty.shape.square();
            let whole = determinant(n)?;
            match n {
                Some(2) => format!("sum[p,r](ε[j,p]*ε[i,r]*{})/{whole}", at(&["p", "r"])),
                _ => format!(
                    "sum[p,q,r,s](ε[j,p,q]*ε[i,r,s]*{}*{})/(2.0*{whole})",
                    at(&["p", "r"]),
                    at(&["q", "s"])
                ),
            }
        }
        "grad" if dim == 1 => format!("∂[0] {a}"),
        "grad" => format!("∂[i] {a}"),
        "divergence" => format!(
            "sum[p](∂[p] {})",
            component(a, &[left, &words(&["p"])].concat())
        ),
        "curl" if dim == 2 => format!("sum[p,q](ε[p,q]*∂[p] {})", at(&["q"])),
        "curl" => format!("sum[p,q](ε[i,p,q]*∂[p] {})", at(&["q"])),
        "jacobian" => {
            let (last, own) = left.split_last()?;
            format!("∂[{last}] {}", component(a, own))
        }
        "hessian" => format!("∂[i,j] {a}"),
        "laplacian" if dim == 1 => format!("∂[0,0] {}", component(a, left)),
        "laplacian" => format!("sum[p](∂[p,p] {})", component(a, left)),
        "probe" => format!("{}({position})", component(a, left)),
        "outer" => contracted(0),
        "inner" => contracted(1),
        "colon" => contracted(2),
        "cross" => match order == 1 && left.is_empty() {
            true => format!("sum[p,q](ε[p,q]*{}*{})", at(&["p"]), b(&words(&["q"]))),
            false => format!("sum[p,q](ε[i,p,q]*{}*{})", at(&["p"]), b(&words(&["q"]))),
        },
        "modulate" => format!("{}*{}", component(a, left), b(left)),
        "concat2" | "concat3" | "concat4" => {
            let (first, own) = left.split_first()?;
            let parts = operands.iter().enumerate();
            let parts: Vec<String> = parts
                .map(|(n, (part, _))| format!("δ[{first},{n}]*{}", component(part, own)))
                .collect();
            parts.join(" + ")
        }
        _ => match operator.syntax {
            Syntax::Suffix(mask) => {
                let mut kept = left.iter();
                let mask = mask.trim_matches(['[', ']']).split(',');
                let indices: Option<Vec<String>> = mask
                    .map(|index| match index {
                        ":" => kept.next().cloned(),
                        fixed => Some(fixed.to_string()),
                    })
                    .collect();
                component(a, &indices?)
            }
            _ => return None,
        },
    })
}

/// Whether an operator can act on corresponding components: its operands have the shape of the result, or are scalars.
pub(super) fn is_by_components(operator: &Operator, operands: &[Operand], result: Shape) -> bool {
    let has_reason = WITHOUT_COMPONENTS
        .iter()
        .any(|(_, names)| names.contains(&operator.name));
    let fits = |(_, ty): &Operand| ty.shape == result || ty.shape.is_scalar();
    !has_reason && operands.iter().all(fits)
}
