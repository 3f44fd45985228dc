//! The direct runner: an evaluation of cases that shares nothing with the truth but the data.
//!
//! Operators are expanded to scalar formulas, differentiated by the rules of calculus, and evaluated in single or double
//! precision from the sampled images by direct convolution. It stands in for the compiler wherever none is at hand, and it is
//! the independent evaluator against which the truth itself is tested.

mod evaluate;
mod expand;
mod expression;

use crate::davm::{Picture, Scene};
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

impl Runner for DirectRunner {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn run(&self, job: &Job<'_>, options: &RunOptions) -> Result<Observed, Failure> {
        let (graph, results) = expand(&job.case.tree)?;
        let evaluation = Evaluation::new(&graph, job.data, &results);
        let places: Vec<Vec<f64>> = if job.result.is_field() {
            job.positions
                .iter()
                .map(|position| position.to_f64())
                .collect()
        } else {
            vec![Vec::new()]
        };
        let (mut values, mut valid) = (Vec::new(), Vec::new());
        for place in places {
            let (found, inside) = match options.precision {
                Precision::Double => evaluation.values::<f64>(&place),
                Precision::Single => {
                    let (found, inside) = evaluation.values::<f32>(&place);
                    (found.into_iter().map(f64::from).collect(), inside)
                }
            };
            values.push(results.iter().map(|&node| found[node]).collect());
            valid.push(inside);
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
        let probe = |place: &[f64; 3]| -> Option<f64> {
            let (value, inside) = match options.precision {
                Precision::Double => {
                    let (values, inside) = evaluation.values::<f64>(place);
                    (values[results[0]], inside)
                }
                Precision::Single => {
                    let (values, inside) = evaluation.values::<f32>(place);
                    (f64::from(values[results[0]]), inside)
                }
            };
            inside.then_some(value)
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
