//! The compiler against exact truth: one operator exhaustively, samples of deeper expressions, the corpus of known bugs.

mod judging;

use datm::{
    Arithmetic, CORPUS, Case, CompiledRunner, Form, PROGRAM_FORMS, Precision, RunOptions, Runner,
    Scene, Settings, SpaceOptions, Template, TreeSpace, check,
};
use judging::none_fails;

/// Few positions: what varies here is the expression.
const SETTINGS: &str = "pos=2|seed=11";

/// Judges cases; none may fail, and few may be vacuous.
#[track_caller]
fn all_pass(cases: Vec<Case>, precision: Precision, width: usize) {
    let options = RunOptions { precision, width };
    let runner = CompiledRunner::default();
    none_fails(cases, 0.1, |case| {
        check(case, &runner, &options, Arithmetic::Near)
    });
}

/// Every `stride`-th case of a space.
fn cases(options: &SpaceOptions, stride: u128) -> Vec<Case> {
    framed(options, stride, SETTINGS)
}

/// The same in a frame.
fn framed(options: &SpaceOptions, stride: u128, frame: &str) -> Vec<Case> {
    let settings: Settings = frame.parse().expect(frame);
    let space = TreeSpace::new(&SpaceOptions {
        continuity: settings.continuity(),
        ..options.clone()
    });
    (0..space.len())
        .step_by(stride as usize)
        .filter_map(|rank| space.unrank(rank))
        .map(|tree| Case {
            tree,
            settings: Clone::clone(&settings),
        })
        .collect()
}

#[test]
fn one_operator_exhaustively_in_double_precision() {
    let all = cases(&SpaceOptions::published(1), 1);
    // As many as the table of DATm's dissertation counts for one operator.
    assert_eq!(all.len(), 695);
    all_pass(all, Precision::Double, 0);
}

#[test]
fn one_operator_sampled_in_single_precision_one_strand_at_a_time() {
    all_pass(cases(&SpaceOptions::published(1), 7), Precision::Single, 1);
}

#[test]
fn two_operators_sampled() {
    all_pass(
        cases(&SpaceOptions::published(2), 149),
        Precision::Double,
        4,
    );
    all_pass(
        cases(&SpaceOptions::published(2), 397),
        Precision::Single,
        16,
    );
}

#[test]
fn balanced_and_right_nested_trees_of_the_whole_language_sampled() {
    let space = TreeSpace::new(&SpaceOptions::full(3, Form::Any));
    let stride = space.len() / 80;
    all_pass(
        cases(&SpaceOptions::full(3, Form::Any), stride),
        Precision::Double,
        0,
    );
}

#[test]
fn every_form_of_programs_sampled() {
    let options = SpaceOptions::full(2, Form::Any);
    let stride = TreeSpace::new(&options).len() / 61;
    for (n, form) in PROGRAM_FORMS.iter().enumerate() {
        let frame = format!("prog={form}|{SETTINGS}");
        // Some forms need a field, so half of the cases may be without a program.
        let cases = framed(&options, stride + n as u128, &frame);
        let run = RunOptions {
            precision: Precision::Double,
            width: [0, 1, 4, 8, 16][n % 5],
        };
        let runner = CompiledRunner::default();
        none_fails(cases, 0.5, |case| {
            check(case, &runner, &run, Arithmetic::Near)
        });
    }
}

#[test]
fn fields_by_formulas_sampled() {
    let options = SpaceOptions::full(2, Form::Any);
    let stride = TreeSpace::new(&options).len() / 97;
    let frame = format!("data=formula|prog=any|{SETTINGS}");
    all_pass(framed(&options, stride, &frame), Precision::Double, 4);
}

#[test]
fn fields_on_meshes_sampled() {
    let options = SpaceOptions::full(2, Form::Any);
    for (mesh, precision) in [
        ("p1-shaken", Precision::Double),
        ("p2", Precision::Single),
        ("p3-shaken", Precision::Double),
        ("p4", Precision::Double),
        ("q1", Precision::Double),
        ("q2-shaken", Precision::Double),
        ("p2-shaken-bent", Precision::Double),
        ("q3-bent", Precision::Double),
        ("w1-shaken", Precision::Double),
        ("w2-shaken-bent", Precision::Double),
        ("w3", Precision::Single),
    ] {
        let frame = format!("data=fem-{mesh}|deg=3|prog=any|{SETTINGS}");
        let mut cases = framed(&options, 9973, &frame);
        // There are no meshes in one dimension.
        cases.retain(|case| case.tree.variables().iter().all(|ty| ty.dim != 1));
        cases.truncate(24);
        all_pass(cases, precision, 4);
    }
}

#[test]
fn every_kernel_and_border_sampled() {
    for (frame, precision) in [
        ("krn=tent|data=image", Precision::Double),
        ("krn=ctmr", Precision::Single),
        ("krn=bspln3|data=image", Precision::Double),
        ("krn=bspln5|data=image", Precision::Single),
        (
            "krn=c2ctmr,bspln3,c4hexic+bspln5,c2tent|data=image",
            Precision::Double,
        ),
        ("krn=ctmr|data=image|border=unsaid", Precision::Double),
        ("krn=bspln5|data=image|border=unsaid", Precision::Single),
        ("krn=c4hexic|data=image|border=clamp", Precision::Double),
        ("krn=bspln3|data=image|border=wrap", Precision::Double),
        ("krn=ctmr|data=image|border=mirror", Precision::Double),
        ("krn=bspln3|data=image|border=constant", Precision::Single),
        (
            "krn=tent,bspln5+ctmr|data=image|border=any",
            Precision::Double,
        ),
    ] {
        let options = SpaceOptions::full(2, Form::Left);
        let space = TreeSpace::new(&options);
        let frame = format!("{frame}|{SETTINGS}");
        all_pass(framed(&options, space.len() / 31, &frame), precision, 0);
    }
}

#[test]
fn renderings_of_symmetric_fields_are_symmetric() {
    let options = RunOptions {
        precision: Precision::Double,
        width: 0,
    };
    for (tree, template) in [
        ("norm(F3#4[3])", Template::Maximum),
        ("inner(F3#4[3],grad(F3#4[]))", Template::Maximum),
        ("divergence(mul(F3#4[],F3#4[3]))", Template::Sum),
        ("det(jacobian(F3#4[3]))", Template::Sum),
    ] {
        let scene = Scene::new(&tree.parse().expect(tree), template, 13, 1).expect(tree);
        let picture = CompiledRunner::default()
            .render(&scene, &options)
            .unwrap_or_else(|failure| panic!("{tree}: {failure:?}"));
        let spread = scene.spread(&picture, options.precision).expect("finite");
        assert!(
            spread.ratio <= 1.0 && spread.groups > 20,
            "{tree}: {spread:?}"
        );
    }
}

#[test]
fn the_corpus_of_known_bugs_passes() {
    for (what, expression) in CORPUS {
        let label = format!("{expression}|{SETTINGS}");
        let case: Case = label.parse().unwrap_or_else(|e| panic!("{what}: {e:?}"));
        all_pass(vec![case], Precision::Double, 8);
    }
}
