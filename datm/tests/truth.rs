//! The truth against the independent evaluator, against itself in another arithmetic, and against identities.

mod judging;

use datm::{
    Arithmetic, Case, DirectRunner, Evaluator, Form, OPERATORS, Point, Precision, Rules,
    RunOptions, Settings, SpaceOptions, Stream, Tree, TreeSpace, check, draw, prepare,
    share_leaves,
};
use judging::none_fails;
use num_traits::Zero;
use rayon::prelude::*;

fn case(tree: Tree, settings: &str) -> Case {
    Case {
        tree,
        settings: settings.parse().expect("settings"),
    }
}

/// Judges cases with the direct runner; none may fail, and few may be vacuous.
#[track_caller]
fn all_agree(cases: Vec<Case>, precision: Precision) {
    let options = RunOptions {
        precision,
        width: 0,
    };
    none_fails(cases, 0.1, |case| {
        check(case, &DirectRunner, &options, Arithmetic::Near)
    });
}

#[test]
#[should_panic(expected = "3 of 3 cases are vacuous")]
fn cases_that_prove_nothing_are_no_success() {
    let tree = "log(neg(norm(F2#4[2])))".parse().expect("a tree");
    all_agree(vec![case(tree, "pos=1"); 3], Precision::Double);
}

#[test]
fn every_published_operator_agrees_with_the_independent_evaluator() {
    let space = TreeSpace::new(&SpaceOptions::published(1));
    let cases = (0..space.len())
        .filter_map(|rank| space.unrank(rank))
        .map(|tree| case(tree, "pos=3"))
        .collect();
    all_agree(cases, Precision::Double);
}

#[test]
fn every_operator_of_the_language_agrees_with_the_independent_evaluator() {
    let space = TreeSpace::new(&SpaceOptions::full(1, Form::Left));
    let mut seen = std::collections::BTreeSet::new();
    let mut cases = Vec::new();
    for rank in 0..space.len() {
        let tree = space.unrank(rank).expect("a rank in range");
        // A few argument types of each operator here; the random tests below draw from all of them.
        let names = tree.operator_names();
        if rank % 7 == 0 || !names.iter().all(|name| seen.contains(name)) {
            seen.extend(names);
            cases.push(case(tree, "pos=2|seed=2"));
        }
    }
    // No argument is of third order: its indexing needs a step below.
    for row in OPERATORS.iter().filter(|row| !seen.contains(row.name)) {
        let tree = format!("{}(outer(F2#4[3,3],F2#4[3]))", row.name);
        cases.push(case(
            tree.parse().expect("indexing of third order"),
            "pos=2|seed=2",
        ));
    }
    all_agree(cases, Precision::Single);
}

fn random_cases(form: Form, steps: usize, count: usize, settings: &str) -> Vec<Case> {
    let parsed: Settings = settings.parse().expect("settings");
    let options = SpaceOptions {
        continuity: parsed.continuity(),
        ..SpaceOptions::full(steps, form)
    };
    let space = TreeSpace::new(&options);
    (0..count)
        .map(|n| {
            let mut stream = Stream::new(&["tests", settings, &n.to_string()]);
            let tree = space.draw_stratified(&mut stream).expect("a tree");
            case(share_leaves(&tree, &mut stream), settings)
        })
        .collect()
}

#[test]
fn random_trees_of_every_form_agree() {
    all_agree(
        random_cases(Form::Left, 2, 250, "pos=2|seed=3"),
        Precision::Double,
    );
    all_agree(
        random_cases(Form::Right, 3, 150, "pos=2|seed=4"),
        Precision::Double,
    );
    all_agree(
        random_cases(Form::Balanced, 3, 150, "pos=2|seed=5"),
        Precision::Single,
    );
    all_agree(
        random_cases(Form::Any, 2, 250, "pos=2|seed=6"),
        Precision::Single,
    );
}

#[test]
fn images_under_every_kernel_agree() {
    for kernel in [
        "tent", "c1tent", "ctmr", "c2ctmr", "bspln3", "bspln5", "c4hexic",
    ] {
        let settings = format!("krn={kernel}|data=image|pos=2|seed=7");
        all_agree(random_cases(Form::Any, 2, 30, &settings), Precision::Double);
    }
}

#[test]
fn kernels_of_axes_and_borders_agree() {
    for frame in [
        "krn=tent,bspln3,c4hexic",
        "krn=c2ctmr,bspln5+c4hexic,c2tent",
        "krn=tent,bspln3|border=unsaid",
        "krn=c4hexic|border=clamp",
        "krn=bspln5|border=wrap",
        "krn=bspln3|border=mirror",
        "krn=ctmr|border=constant",
        "krn=bspln3,c2ctmr|border=any",
    ] {
        let settings = format!("{frame}|data=image|pos=3|seed=12");
        all_agree(random_cases(Form::Any, 2, 30, &settings), Precision::Double);
    }
}

#[test]
fn exact_and_close_arithmetic_agree() {
    let cases = random_cases(Form::Any, 2, 120, "pos=2|seed=8");
    cases.into_par_iter().for_each(|case| {
        let (Ok(exact), Ok(near)) = (
            prepare(&case, Arithmetic::Exact),
            prepare(&case, Arithmetic::Near),
        ) else {
            return;
        };
        assert_eq!(exact.positions, near.positions, "{case}");
        for (a, b) in exact
            .expected
            .iter()
            .flatten()
            .zip(near.expected.iter().flatten())
        {
            let off = a.minus(b).to_f64().abs();
            assert!(off <= 1e-18 * a.size().max(1.0), "{case}: {off:e}");
        }
    });
}

/// Left and right sides with shared leaves; their difference is zero exactly.
const IDENTITIES: &[&str] = &[
    "curl(grad(F3#4[]))",
    "curl(grad(F2#4[]))",
    "divergence(curl(F3#4[3]))",
    "sub(trace(outer(F2#4[3]:a,F2#4[3]:b)),inner(F2#4[3]:a,F2#4[3]:b))",
    "sub(trace(jacobian(F3#4[3]:a)),divergence(F3#4[3]:a))",
    "add(cross(F3#4[3]:a,F3#4[3]:b),cross(F3#4[3]:b,F3#4[3]:a))",
    "inner(F3#4[3]:a,cross(F3#4[3]:a,F3#4[3]:b))",
    "sub(cross(F3#4[3]:a,cross(F3#4[3]:b,F3#4[3]:c)),sub(mul(F3#4[3]:b,inner(F3#4[3]:a,F3#4[3]:c)),mul(F3#4[3]:c,inner(F3#4[3]:a,F3#4[3]:b))))",
    "sub(inner(cross(F3#4[3]:a,F3#4[3]:b),cross(F3#4[3]:c,F3#4[3]:d)),sub(mul(inner(F3#4[3]:a,F3#4[3]:c),inner(F3#4[3]:b,F3#4[3]:d)),mul(inner(F3#4[3]:a,F3#4[3]:d),inner(F3#4[3]:b,F3#4[3]:c))))",
    "sub(divergence(mul(F3#4[]:a,F3#4[3]:b)),add(mul(F3#4[]:a,divergence(F3#4[3]:b)),inner(grad(F3#4[]:a),F3#4[3]:b)))",
    "sub(curl(curl(F3#4[3]:a)),sub(grad(divergence(F3#4[3]:a)),divergence(jacobian(F3#4[3]:a))))",
    "sub(grad(div(F2#4[]:a,F2#4[]:b)),div(sub(mul(F2#4[]:b,grad(F2#4[]:a)),mul(F2#4[]:a,grad(F2#4[]:b))),mul(F2#4[]:b,F2#4[]:b)))",
    "sub(det(inner(F1#4[3,3]:a,F1#4[3,3]:b)),mul(det(F1#4[3,3]:a),det(F1#4[3,3]:b)))",
    "sub(inner(F2#4[3,3]:a,inv(F2#4[3,3]:a)),identity[3])",
    "sub(inner(inv(F2#4[2,2]:a),F2#4[2,2]:a),identity[2])",
    "sub(hessian(F3#4[]:a),transpose(jacobian(grad(F3#4[]:a))))",
    "sub(colon(F2#4[3,3]:a,F2#4[3,3]:b),trace(inner(F2#4[3,3]:a,transpose(F2#4[3,3]:b))))",
    "sub(slice[1](grad(compose(F1#4[]:a,F2#4[]:b))),mul(compose(grad(F1#4[]:a),F2#4[]:b),slice[1](grad(F2#4[]:b))))",
    "sub(power[-2](F2#4[]:a),div(power[0](F2#4[]:a),power[2](F2#4[]:a)))",
];

#[test]
fn identities_of_vector_calculus_hold_exactly() {
    for text in IDENTITIES {
        let case = case(text.parse().expect(text), "pos=1|grid=axis|coef=unit");
        let result = case.tree.type_of(Rules::Language).expect(text);
        let mut judged = 0;
        for attempt in 0..40 {
            let data = draw(&case, attempt);
            let evaluator = Evaluator::new(&data, Arithmetic::Exact);
            let fields: Vec<_> = data
                .iter()
                .filter_map(|datum| match datum {
                    datm::Datum::Field(field) if field.grid.dim() == usize::from(result.dim) => {
                        Some(field)
                    }
                    datm::Datum::Field(_) | datm::Datum::Tensor(_) => None,
                })
                .collect();
            let mut stream = Stream::new(&[text, &attempt.to_string()]);
            let position =
                fields[0]
                    .grid
                    .draw_position(&fields[0].kernels, false, true, &mut stream);
            let Ok(values) = evaluator.value(&case.tree, result, Some(&Point::Drawn(position)))
            else {
                continue;
            };
            judged += 1;
            for value in values {
                let value = value.to_rational().expect("a rational expression");
                assert!(value.is_zero(), "{text}");
            }
        }
        assert!(judged > 0, "{text}");
    }
}
