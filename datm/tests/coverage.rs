//! Every row of the compiler's operator table is generated and has a truth of its own, or there is a reason why not.

use datm::{Form, Rules, SpaceOptions, Syntax, Tree, TreeSpace, Type};
use ein_ir::ops::{OPERATORS, resolve};
use std::collections::BTreeSet;

/// Rows that no expression of tensors and fields reaches, and what tests them instead.
const NOT_GENERATED: &[(&str, &[&str])] = &[
    (
        "part of every generated program",
        &["convolve", "inside", "load_image", "zeros"],
    ),
    (
        "a constant that steps of the enumeration put beside their arguments",
        &["identity"],
    ),
    (
        "another order of the arguments of `convolve`",
        &["convolve_image"],
    ),
    (
        "no expression but part of a frame: the kernels and the borders of images",
        &[
            "axis_kernels",
            "clamp_image",
            "wrap_image",
            "mirror_image",
            "border_image",
        ],
    ),
    ("the size of an image, an integer", &["image_size"]),
    (
        "takes a sequence or a set of strands; tested with the programs of the compiler",
        &[
            "sum",
            "product",
            "least",
            "greatest",
            "mean",
            "variance",
            "sphere",
            "sphere_at",
        ],
    ),
    (
        "no arguments, and not finite or a mere number",
        &["pi", "infinity", "nan"],
    ),
    ("takes an integer", &["int_to_real"]),
];

/// The spellings by which the table knows a generated operator.
fn spelling(syntax: Syntax) -> Option<&'static str> {
    match syntax {
        Syntax::Invisible => None,
        Syntax::Infix(symbol, _) | Syntax::Nabla(symbol) => Some(symbol),
        Syntax::Negation => Some("-"),
        Syntax::Bars => Some("|"),
        Syntax::Call(name) | Syntax::CallWith(name, _) => Some(name),
        Syntax::Suffix(_) => Some("[:]"),
        Syntax::Power(_) => Some("^"),
        Syntax::List => Some("["),
        Syntax::Around(text, _) => text.split('(').next(),
    }
}

fn table_type(ty: Type) -> ein_ir::Type {
    let dims: Vec<usize> = ty.shape.extents().iter().map(|&n| n.into()).collect();
    let shape = ein_ir::Shape::new(dims);
    if ty.is_field() {
        ein_ir::Type::Field {
            continuity: ein_ir::Continuity::Finite(ty.continuity.into()),
            dim: ty.dim.into(),
            shape,
        }
    } else {
        ein_ir::Type::Tensor(shape)
    }
}

/// The row that the top of a tree is, as the compiler would resolve it.
fn row_of(tree: &Tree) -> Option<&'static str> {
    let Tree::Apply(operator, arguments) = tree else {
        return None;
    };
    match operator.syntax {
        // Forms are not resolved by the types of their operands alone.
        Syntax::Suffix("(x)") => return Some("probe"),
        Syntax::Suffix(_) => return Some("slice"),
        Syntax::Power(_) => return Some("power"),
        Syntax::CallWith("swap", _) => return Some("swap"),
        _ => {}
    }
    let types: Option<Vec<Type>> = arguments
        .iter()
        .map(|a| a.type_of(Rules::Language))
        .collect();
    let types: Vec<ein_ir::Type> = types?.into_iter().map(table_type).collect();
    let instance = resolve(spelling(operator.syntax)?, &types).ok()?;
    Some(instance.row.name)
}

#[test]
fn every_row_of_the_table_is_generated_or_excused() {
    let space = TreeSpace::new(&SpaceOptions::full(1, Form::Left));
    let generated: BTreeSet<&str> = (0..space.len())
        .filter_map(|rank| row_of(&space.unrank(rank)?))
        .collect();
    let excused: BTreeSet<&str> = NOT_GENERATED
        .iter()
        .flat_map(|(_, rows)| rows.iter().copied())
        .collect();
    let is_tensor_algebra = |row: &&ein_ir::OpDef| {
        // Integers, strings, truth values and strands are not the business of tensor algebra.
        row.sig.contains('[') && !row.sig.ends_with("bool") || row.name == "inside"
    };
    let missing: Vec<&str> = OPERATORS
        .iter()
        .filter(is_tensor_algebra)
        .map(|row| row.name)
        .filter(|name| !generated.contains(name) && !excused.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "no truth in DATm and no reason why not: {missing:?}"
    );
    let needless: Vec<&&str> = excused.intersection(&generated).collect();
    assert!(
        needless.is_empty(),
        "generated, so without need of an excuse: {needless:?}"
    );
    for name in excused {
        assert!(
            OPERATORS.iter().any(|row| row.name == name),
            "`{name}` is no row of the table"
        );
    }
}
