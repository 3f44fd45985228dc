//! The direct runner: an evaluation of cases that shares nothing with the truth but the data.
//!
//! Operators are expanded to scalar formulas, differentiated by the rules of calculus, and evaluated in single or double
//! precision from the sampled images by direct convolution. It stands in for the compiler wherever none is at hand, and it is
//! the independent evaluator against which the truth itself is tested.

mod eigen;
mod evaluate;
mod expand;
mod expression;

use crate::davm::{Picture, Scene};
use crate::experiment::probed_directly;
use crate::runner::{Failure, Job, Observed, Precision, RunOptions, Runner, Stage};
use crate::tree::Tree;
use evaluate::Evaluation;
use expression::{Graph, Node};
use rayon::prelude::*;

/// Evaluates cases by symbolic differentiation and direct convolution.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectRunner;

fn expand(tree: &Tree) -> Result<(Graph, Vec<Node>), Failure> {
    let mut graph = Graph::new();
    let components = expand::expand(&mut graph, tree);
    let components = components.map_err(|message| Failure {
        stage: Stage::Compile,
        code: "no-formula".to_string(),
        message,
    })?;
    Ok((graph, components.components().to_vec()))
}

/// The values of some nodes at a position.
fn value(
    evaluation: &Evaluation<'_>,
    nodes: &[Node],
    place: &[f64],
    precision: Precision,
) -> Vec<f64> {
    match precision {
        Precision::Double => {
            let values = evaluation.values::<f64>(place);
            nodes.iter().map(|&node| values[node]).collect()
        }
        Precision::Single => {
            let values = evaluation.values::<f32>(place);
            nodes.iter().map(|&node| values[node].into()).collect()
        }
    }
}

/// Whether a position is inside all of these variables.
fn is_inside(
    evaluation: &Evaluation<'_>,
    variables: &[usize],
    place: &[f64],
    precision: Precision,
) -> bool {
    match precision {
        Precision::Double => evaluation.inside::<f64>(place, variables),
        Precision::Single => evaluation.inside::<f32>(place, variables),
    }
}

impl Runner for DirectRunner {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let (graph, results) = expand(&job.case.tree)?;
        let evaluation = Evaluation::new(&graph, job.data, &results);
        let places: Vec<Vec<f64>> = if job.result.varies() {
            job.positions
                .iter()
                .map(|position| position.to_f64())
                .collect()
        } else {
            vec![Vec::new()]
        };
        let probed = probed_directly(&job.case.tree);
        let (mut values, mut valid) = (Vec::new(), Vec::new());
        for place in places {
            values.push(value(&evaluation, &results, &place, options.precision));
            valid.push(is_inside(&evaluation, &probed, &place, options.precision));
        }
        Ok(Observed {
            values,
            valid,
            rules: Vec::new(),
        })
    }

    fn render(&self, scene: &Scene, options: &RunOptions) -> Result<Picture, Failure> {
        let (graph, results) = expand(&scene.tree)?;
        let evaluation = Evaluation::new(&graph, &scene.data, &results);
        let probed = probed_directly(&scene.tree);
        let probe = |place: &[f64; 3]| -> Option<f64> {
            is_inside(&evaluation, &probed, place, options.precision)
                .then(|| value(&evaluation, &results, place, options.precision)[0])
        };
        let width = scene.width;
        let pixels = (0..width * width)
            .into_par_iter()
            .map(|pixel| scene.cast(pixel % width, pixel / width, &probe));
        Ok(Picture {
            width,
            pixels: pixels.collect(),
        })
    }
}
