//! The operators of the dissertation's benchmarks: time, e-graph size, probes and operations before and after, by the
//! e-graph and by the directed engine.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Sketch, operators::OPERATORS};
use ein_ir::Region;
use rewrite::{Engine, Normalized, Options, normalize};
use std::time::{Duration, Instant};

fn main() {
    println!(
        "{:<18} {:>9} {:>9} {:>6} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6}",
        "operator",
        "e-graph",
        "directed",
        "nodes",
        "iter",
        "probes",
        "flops",
        "directed",
        "e-graph",
        "ratio"
    );
    // `cargo bench -p diderot-rewrite -- NAME` runs one operator.
    let only = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let mut logarithms = Vec::new();
    let mut slowest = Duration::ZERO;
    for operator in OPERATORS
        .iter()
        .filter(|operator| only.as_deref().is_none_or(|name| name == operator.name))
    {
        let region = operator.region();
        let (graph_time, graph) = timed(&region, Engine::EGraph);
        let (directed_time, directed) = timed(&region, Engine::Directed);
        let (stats, plain) = (&graph.stats, &directed.stats);
        let ratio = stats.cost_after as f64 / plain.cost_after as f64;
        logarithms.push(ratio.ln());
        slowest = slowest.max(graph_time);
        println!(
            "{:<18} {:>7.1}ms {:>7.1}ms {:>6} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6.2}",
            operator.name,
            milliseconds(graph_time),
            milliseconds(directed_time),
            stats.nodes,
            stats.iterations,
            format!("{} → {}", stats.probes_before, stats.probes_after),
            stats.cost_before,
            plain.cost_after,
            stats.cost_after,
            ratio
        );
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    println!(
        "geometric mean of e-graph / directed: {mean:.3}; slowest {:.1} ms",
        milliseconds(slowest)
    );
    let (time, _) = timed(&scalars(), Engine::EGraph);
    println!("a few scalar operations: {:.3} ms", milliseconds(time));
}

/// The shortest of three runs.
fn timed(region: &Region, engine: Engine) -> (Duration, Normalized) {
    let options = Options {
        engine,
        ..Options::default()
    };
    let run = || {
        let start = Instant::now();
        let result = normalize(region, &options);
        (start.elapsed(), result)
    };
    let runs = [run(), run(), run()];
    let [first, second, third] = runs;
    [second, third].into_iter().fold(
        first,
        |best, next| if next.0 < best.0 { next } else { best },
    )
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What most statements of a program look like.
fn scalars() -> Region {
    let mut s = Sketch::default();
    let (x, y) = (s.tensor("x", &[]), s.tensor("y", &[]));
    let sum = s.add(x, y);
    let product = s.mul(sum, x);
    let root = s.op("sqrt", &[product]);
    let quotient = s.div(root, y);
    s.region(&[quotient, sum])
}
