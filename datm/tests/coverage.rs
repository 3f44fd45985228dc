//! Every row of the compiler's operator table is generated at tensors, at fields and at both, and below a derivative, wherever
//! the language has it; each with a truth that a compiled program meets. Every exception has a reason.

use datm::{
    Arithmetic, Case, CompiledRunner, Form, Kinds, Rules, RunOptions, SpaceOptions, Syntax, Tree,
    TreeSpace, Type, Verdict, check,
};
use ein_ir::OpDef;
use ein_ir::ops::{Lift, OPERATORS, resolve};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

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
        "facts about files and images made from others, which `programs/checks` compares",
        &[
            "blur",
            "blur_axes",
            "image_bounds",
            "mesh_bounds",
            "fem_bounds",
            "image_spacing",
            "mesh_spacing",
            "fem_spacing",
            "image_range",
            "fem_range",
            "field_range",
            "bounds_2",
            "bounds_3",
            "spacing_2",
            "spacing_3",
        ],
    ),
    (
        "fields on meshes; tested with exact data in the runtime and with the programs of the compiler",
        &[
            "load_fem",
            "load_fem_array",
            "load_fem_on",
            "load_mesh",
            "to_field",
            "to_field_on",
            "border_fem",
            "get_cell",
        ],
    ),
    (
        "a field, an image or a mesh over time; tested against exact values in `compiler/tests/time`",
        &[
            "probe_time",
            "time_derivative",
            "frames",
            "start_time",
            "end_time",
            "fem_frames",
            "fem_start_time",
            "fem_end_time",
        ],
    ),
    (
        "takes a sequence or a set of strands; tested with the programs of the compiler",
        &[
            "sum",
            "product",
            "least",
            "greatest",
            "mean",
            "variance",
            "argmin",
            "argmax",
            "sum_at_points",
            "least_at_points",
            "greatest_at_points",
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

/// A row and its use: which of its arguments are fields, and whether it is differentiated.
type RowUse = (&'static str, Kinds, bool);

/// Uses that the table has but the enumeration has not, and why.
const EXCUSED: &[(&str, &[RowUse])] = &[(
    "a field function is differentiated that probes others: the form `functions` of programs",
    &[("probe", Kinds::Fields, true)],
)];

/// The spellings by which the table knows a generated operator.
fn spelling(syntax: Syntax) -> Option<&'static str> {
    match syntax {
        // The choice of fields is a field function.
        Syntax::Invisible | Syntax::Choice => None,
        Syntax::Infix(symbol, _) | Syntax::Nabla(symbol) => Some(symbol),
        Syntax::Negation => Some("-"),
        Syntax::Bars => Some("|"),
        Syntax::Call(name) | Syntax::CallWith(name, _) => Some(name),
        Syntax::Suffix(_) => Some("[:]"),
        Syntax::Probe => Some("(x)"),
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
            time: None,
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
        Syntax::Probe => return Some("probe"),
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

/// What the table says can be asked of a row.
fn accepted(row: &'static OpDef) -> Vec<RowUse> {
    let arguments = row.sig.split("->").next().unwrap_or_default();
    let takes_fields = arguments.contains("field(");
    let several = arguments.contains('×') || arguments.matches('[').count() > 1;
    let kinds = match row.lift {
        _ if takes_fields => vec![Kinds::Fields],
        Lift::Derivative => vec![Kinds::Fields],
        Lift::None => vec![Kinds::Tensors],
        Lift::Pointwise if several => vec![Kinds::Tensors, Kinds::Mixed, Kinds::Fields],
        Lift::Pointwise => vec![Kinds::Tensors, Kinds::Fields],
    };
    let both = |kinds| [false, true].map(|differentiated| (row.name, kinds, differentiated));
    kinds.into_iter().flat_map(both).collect()
}

/// The rows that are the business of tensor algebra: not those of integers, strings, truth values and strands.
fn rows() -> impl Iterator<Item = &'static OpDef> {
    let excused = |name: &str| NOT_GENERATED.iter().any(|(_, rows)| rows.contains(&name));
    OPERATORS
        .iter()
        .filter(|row| row.sig.contains('[') && !row.sig.ends_with("bool"))
        .filter(move |row| !excused(row.name))
}

/// A derivative of an expression, if it has one. A tensor is a factor of a field.
fn derivatives(tree: &Tree) -> Vec<Tree> {
    let varies = |tree: &Tree| tree.type_of(Rules::Language).is_some_and(|ty| ty.varies());
    let text = tree.to_string();
    let arguments = if varies(tree) {
        vec![text]
    } else {
        vec![format!("mul({text},F2#4[])")]
    };
    let names = ["grad", "jacobian", "divergence", "curl"];
    let trees = arguments
        .iter()
        .flat_map(|argument| names.map(|name| format!("{name}({argument})").parse().ok()));
    trees.flatten().collect()
}

/// Every use of a row with the expressions of the enumeration that have it.
fn generated() -> BTreeMap<RowUse, Vec<Tree>> {
    let space = TreeSpace::new(&SpaceOptions::full(1, Form::Left));
    let mut found: BTreeMap<RowUse, Vec<Tree>> = BTreeMap::new();
    let single = (0..space.len()).filter_map(|rank| space.unrank(rank));
    for tree in single.flat_map(|tree| [derivatives(&tree), vec![tree]].concat()) {
        for (part, operator_use) in tree.uses() {
            if let Some(row) = row_of(part) {
                let key = (row, operator_use.kinds, operator_use.differentiated);
                found.entry(key).or_default().push(tree.clone());
            }
        }
    }
    found
}

#[test]
fn every_use_of_a_row_is_generated_or_excused() {
    let generated: BTreeSet<RowUse> = generated().into_keys().collect();
    let excused: BTreeSet<RowUse> = EXCUSED
        .iter()
        .flat_map(|(_, uses)| uses.iter().copied())
        .collect();
    let wanted: BTreeSet<RowUse> = rows().flat_map(accepted).collect();
    let missing: Vec<&RowUse> = wanted
        .iter()
        .filter(|row_use| !generated.contains(row_use) && !excused.contains(row_use))
        .collect();
    assert!(
        missing.is_empty(),
        "no truth in DATm and no reason why not: {missing:?}"
    );
    for (reason, uses) in EXCUSED {
        for row_use in *uses {
            assert!(wanted.contains(row_use), "{reason}: no use of {row_use:?}");
            assert!(
                !generated.contains(row_use),
                "{reason}: but {row_use:?} is generated"
            );
        }
    }
    for (reason, names) in NOT_GENERATED {
        for name in *names {
            assert!(
                OPERATORS.iter().any(|row| row.name == *name),
                "`{name}` is not a row of the table"
            );
            assert!(
                generated.iter().all(|(row, ..)| row != name),
                "{reason}: but `{name}` is generated"
            );
        }
    }
}

/// Expressions that are tried for each use.
const TRIED: usize = 3;

#[test]
fn a_program_with_every_use_of_a_row_computes_what_is_true() {
    let spaces = [1, 2, 3].map(|steps| TreeSpace::new(&SpaceOptions::full(steps, Form::Left)));
    let unproven: Vec<String> = generated()
        .into_par_iter()
        .filter_map(|(row_use, trees)| {
            let stride = trees.len().div_ceil(TRIED);
            let verdicts = trees.iter().step_by(stride).map(|tree| {
                assert!(
                    spaces.iter().any(|space| space.rank(tree).is_some()),
                    "{tree} is not in the enumeration"
                );
                let case = Case {
                    tree: tree.clone(),
                    settings: "pos=2|prog=any|seed=31".parse().expect("settings"),
                };
                let runner = CompiledRunner::default();
                let verdict = check(&case, &runner, &RunOptions::default(), Arithmetic::Near);
                assert!(
                    !matches!(verdict, Verdict::Fail { .. }),
                    "{case}: {verdict:?}"
                );
                verdict
            });
            let verdicts: Vec<Verdict> = verdicts.collect();
            let is_proven = |verdict: &Verdict| matches!(verdict, Verdict::Pass { .. });
            (!verdicts.iter().any(is_proven)).then(|| format!("{row_use:?}: {verdicts:?}"))
        })
        .collect();
    assert!(
        unproven.is_empty(),
        "always vacuous:\n{}",
        unproven.join("\n")
    );
}
