//! Volume renderings.

use super::{Outcome, outcome};
use crate::arguments::{ExecutionArguments, SceneArguments};
use datm::{
    ArgumentKinds, FailedAt, Form, Rules, Scene, SpaceOptions, StepList, Stream, Template, Tree,
    TreeSpace,
};
use rayon::prelude::*;

/// DAVm: every scene with each template, or a random choice of them.
pub(super) fn render(
    arguments: &SceneArguments,
    execution: &ExecutionArguments,
) -> Result<Outcome, String> {
    let &SceneArguments {
        ops,
        cases,
        width,
        seed,
    } = arguments;
    let space = TreeSpace::new(&SpaceOptions {
        list: StepList::Isotropic,
        arguments: ArgumentKinds::Ball,
        ..SpaceOptions::full(ops, Form::Left)
    });
    let is_scalar = |tree: &Tree| {
        tree.type_of(Rules::Language)
            .is_some_and(|ty| ty.shape.is_scalar())
    };
    let mut trees: Vec<Tree> = (0..space.len())
        .filter_map(|rank| space.unrank(rank))
        .filter(is_scalar)
        .collect();
    if let Some(cases) = cases {
        let mut stream = Stream::new(&["render", &seed.to_string()]);
        while trees.len() > cases {
            trees.swap_remove(stream.below(trees.len() as u64) as usize);
        }
    }
    let options = execution.options();
    let runner = execution.runner();
    let scenes: Vec<(&Tree, Template)> = trees
        .iter()
        .flat_map(|tree| [(tree, Template::Maximum), (tree, Template::Sum)])
        .collect();
    // The spread of each picture over its bound, nothing where there is none.
    let spread = |&(tree, template): &(&Tree, Template)| -> Option<Result<f64, String>> {
        let scene = Scene::new(tree, template, width, seed).ok()?;
        let picture = runner
            .render(&scene, &options.run)
            .map_err(|failure| format!("{}: {}", FailedAt::from(failure.stage), failure.message));
        let spread = picture.and_then(|picture| scene.spread(&picture, options.run.precision));
        Some(spread.map(|spread| spread.ratio))
    };
    let spreads: Vec<_> = execution.in_pool(|| scenes.par_iter().map(spread).collect())?;
    let (mut failures, mut vacuous, mut worst) = (0, 0, 0.0);
    for ((tree, template), spread) in scenes.iter().zip(spreads) {
        match spread {
            None => vacuous += 1,
            Some(Ok(ratio)) if ratio <= 1.0 => worst = f64::max(worst, ratio),
            Some(Ok(ratio)) => {
                failures += 1;
                println!("{tree} {template:?}: spread {ratio:.3} of its bound");
            }
            Some(Err(message)) => {
                failures += 1;
                println!("{tree} {template:?}: {message}");
            }
        }
    }
    let count = scenes.len();
    println!(
        "{count} cases, {failures} failures, {vacuous} vacuous, largest spread {worst:.3} of its bound"
    );
    Ok(outcome(failures))
}
