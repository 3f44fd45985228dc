//! The harness must notice wrong programs: each mutant runner has one seeded bug, which a campaign finds and shrinks.

use datm::{
    Arithmetic, Case, Constant, DirectRunner, Failure, Form, Job, Observed, Picture, RunOptions,
    Runner, Scene, SpaceOptions, Stage, Template, Tree, TreeSpace, Verdict, check, cluster_key,
    shrink,
};
use rayon::prelude::*;

/// A runner that evaluates a wrongly rewritten tree.
struct Mutant {
    /// What each node, with its arguments already rewritten, becomes.
    rewrite: fn(&Tree) -> Option<Tree>,
}

fn rewritten(tree: &Tree, rewrite: fn(&Tree) -> Option<Tree>) -> Tree {
    let inner = match tree {
        Tree::Apply(operator, arguments) => Tree::Apply(
            operator,
            arguments
                .iter()
                .map(|argument| rewritten(argument, rewrite))
                .collect(),
        ),
        Tree::Variable { .. } | Tree::Constant(_) => tree.clone(),
    };
    rewrite(&inner).unwrap_or(inner)
}

impl Runner for Mutant {
    fn name(&self) -> &'static str {
        "mutant"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let case = Case {
            tree: rewritten(&job.case.tree, self.rewrite),
            settings: job.case.settings.clone(),
        };
        DirectRunner.run(
            &Job {
                case: &case,
                ..*job
            },
            options,
        )
    }

    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure> {
        DirectRunner.render(scene, options)
    }
}

fn apply(name: &str, arguments: &[&Tree]) -> Option<Tree> {
    let operator = datm::OPERATORS.iter().find(|row| row.name == name)?;
    Some(Tree::Apply(
        operator,
        arguments.iter().map(|&tree| tree.clone()).collect(),
    ))
}

fn parts<'a>(tree: &'a Tree, name: &str) -> Option<&'a [Tree]> {
    match tree {
        Tree::Apply(operator, arguments) if operator.name == name => Some(arguments),
        _ => None,
    }
}

type Rewrite = fn(&Tree) -> Option<Tree>;

/// Seeded bugs: name, number of operators in the space that must show it, whether it needs the full space, the rewrite, and
/// how many operators a shrunk case may have.
const MUTANTS: &[(&str, usize, bool, Rewrite, usize)] = &[
    (
        "zeros minus a is zeros",
        1,
        true,
        |tree| {
            let a = parts(tree, "sub")?;
            matches!(a[0], Tree::Constant(Constant::Zeros(_))).then(|| a[0].clone())
        },
        1,
    ),
    (
        "the transposed jacobian is not transposed",
        2,
        false,
        |tree| {
            let a = parts(tree, "transpose")?;
            parts(&a[0], "jacobian")?;
            Some(a[0].clone())
        },
        2,
    ),
    (
        "the norm of a scalar is the scalar",
        1,
        false,
        |tree| {
            let a = parts(tree, "norm")?;
            a[0].type_of(datm::Rules::Language)?
                .shape
                .is_scalar()
                .then(|| a[0].clone())
        },
        1,
    ),
    (
        "the cross product is exchanged",
        1,
        false,
        |tree| {
            let a = parts(tree, "cross")?;
            apply("cross", &[&a[1], &a[0]])
        },
        1,
    ),
    (
        "modulate by a constant row picks one component",
        1,
        true,
        |tree| {
            let a = parts(tree, "modulate")?;
            parts(&a[0], "slice[0,:]")?;
            Some(a[1].clone())
        },
        2,
    ),
    (
        "the trace of the identity is one",
        1,
        true,
        |tree| {
            let a = parts(tree, "trace")?;
            matches!(a[0], Tree::Constant(Constant::Identity(_))).then_some(Tree::Constant(
                Constant::Decimal {
                    digits: 1,
                    places: 0,
                },
            ))
        },
        2,
    ),
    (
        "min is compiled with the comparison reversed",
        1,
        true,
        |tree| {
            let a = parts(tree, "min")?;
            apply("max", &[&a[0], &a[1]])
        },
        1,
    ),
    (
        "matrices are addressed in reverse order",
        2,
        false,
        |tree| {
            let a = parts(tree, "slice[1,:]")?;
            apply("slice[1,:]", &[&apply("transpose", &[&a[0]])?])
        },
        2,
    ),
    (
        "concatenation exchanges its arguments",
        1,
        true,
        |tree| {
            let a = parts(tree, "concat2")?;
            apply("concat2", &[&a[1], &a[0]])
        },
        1,
    ),
    (
        "the divergence of a product forgets a term",
        2,
        false,
        |tree| {
            let a = parts(tree, "divergence")?;
            let product = parts(&a[0], "mul")?;
            let shapes: Option<Vec<_>> = product
                .iter()
                .map(|p| p.type_of(datm::Rules::Language))
                .collect();
            let [left, right] = shapes?[..] else {
                return None;
            };
            (left.is_field() && right.is_field() && left.shape.is_scalar())
                .then(|| apply("mul", &[&product[0], &apply("divergence", &[&product[1]])?]))?
        },
        2,
    ),
];

#[test]
fn every_seeded_bug_is_found_and_shrunk() {
    for &(name, steps, full, rewrite, size) in MUTANTS {
        let options = if full {
            SpaceOptions::full(steps, Form::Left)
        } else {
            SpaceOptions::published(steps)
        };
        let space = TreeSpace::new(&options);
        let judge = |case: &Case| {
            check(
                case,
                &Mutant { rewrite },
                &RunOptions::default(),
                Arithmetic::Near,
            )
        };
        let cases: Vec<Case> = (0..space.len())
            .filter_map(|rank| space.unrank(rank))
            .filter(|tree| rewritten(tree, rewrite) != *tree)
            .map(|tree| Case {
                tree,
                settings: "pos=2".parse().expect("settings"),
            })
            .take(40)
            .collect();
        assert!(!cases.is_empty(), "{name}: no case meets the bug");
        let failing: Vec<&Case> = cases
            .par_iter()
            .filter(|case| cluster_key(&judge(case)).is_some())
            .collect();
        assert!(
            !failing.is_empty(),
            "{name}: not found in {} cases",
            cases.len()
        );
        let (small, _) = shrink(failing[0], &judge).expect("a failing case");
        assert!(small.tree.operators() <= size, "{name}: {small}");
    }
}

/// A runner whose results are damaged.
struct Damaged(fn(&mut Observed));

impl Runner for Damaged {
    fn name(&self) -> &'static str {
        "damaged"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let mut observed = DirectRunner.run(job, options)?;
        (self.0)(&mut observed);
        Ok(observed)
    }

    fn render(&self, _: &Scene, _: &RunOptions) -> Result<Picture, Failure> {
        Err(Failure {
            stage: Stage::Run,
            code: "none".to_string(),
            message: "no picture".to_string(),
        })
    }
}

#[test]
fn nothing_is_skipped_at_comparison() {
    let case: Case = "add(F2#4[2],T[2])|pos=3".parse().expect("a label");
    let cause = |damage: fn(&mut Observed)| match check(
        &case,
        &Damaged(damage),
        &RunOptions::default(),
        Arithmetic::Near,
    ) {
        Verdict::Fail { cause, .. } => cause,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        cause(|observed| observed.values[1][0] = f64::NAN),
        "not finite"
    );
    assert_eq!(
        cause(|observed| observed.values[2][1] = f64::INFINITY),
        "not finite"
    );
    assert_eq!(
        cause(|observed| observed.values[0][1] *= 1.0 + 1e-11),
        "wrong value"
    );
    assert_eq!(
        cause(|observed| observed.values[0][1] += 1e-11),
        "wrong value"
    );
    assert_eq!(cause(|observed| observed.valid[1] = false), "outside");
    assert_eq!(cause(|observed| observed.values.truncate(2)), "missing");
    assert_eq!(cause(|observed| observed.values[0].truncate(1)), "missing");
}

#[test]
fn pictures_of_symmetric_fields_are_symmetric_and_dents_are_seen() {
    let options = RunOptions::default();
    for text in [
        "norm(F3#4[3])",
        "inner(F3#4[3],grad(F3#4[]))",
        "divergence(mul(F3#4[],F3#4[3]))",
        "det(jacobian(F3#4[3]))",
    ] {
        for template in [Template::Maximum, Template::Sum] {
            let scene = Scene::new(&text.parse().expect(text), template, 13, 1).expect(text);
            let picture = DirectRunner.render(&scene, &options).expect("a picture");
            let spread = scene.spread(&picture, options.precision).expect("finite");
            assert!(
                spread.ratio <= 1.0 && spread.groups > 20,
                "{text}: {spread:?}"
            );
            // One pixel in each quadrant in turn.
            for (column, row) in [(4, 3), (8, 3), (4, 9), (8, 9)] {
                let mut dented = picture.clone();
                dented.pixels[row * 13 + column] *= 1.0 + 1e-9;
                assert!(
                    scene
                        .spread(&dented, options.precision)
                        .expect("finite")
                        .ratio
                        > 1.0,
                    "{text}"
                );
            }
        }
    }
    assert!(
        Scene::new(
            &"slice[0](F3#4[3])".parse().expect("a tree"),
            Template::Sum,
            13,
            1
        )
        .is_err()
    );
}
