//! What operations cost in machine code, next to the weights that normalization believes in.
//!
//! Each row is a small program whose strands do one operation many times, in several independent chains as expressions
//! have them; what the same loop takes without the operation is subtracted. Times are relative to an addition and for one
//! strand. `cargo bench -p diderot-compiler --bench costs`; the weights are those of `rewrite::weight` and `rewrite::probe_weight`.

use compiler::{
    front::source::Source,
    pipeline::{self, Options, Session},
    run::{ImageSource, Inputs, Run},
};
use ein_ir::{ELEMENTARY, KERNELS};
use ndarray::ArrayD;
use rewrite::Operation;
use runtime::image::{ImageArray, Orientation};
use std::time::{Duration, Instant};

/// Strands of a program, all in the cache.
const STRANDS: usize = 512;
/// Iterations of the loop in which a strand does the operation: few, so that a run ends before another job gets its turn.
const ITERATIONS: usize = 20;
/// Independent chains of operations.
const CHAINS: usize = 8;
/// Each program runs so often; the shortest time counts.
const RUNS: usize = 12;
/// Samples along an axis of an image.
const SAMPLES: usize = 24;

fn main() {
    let nothing = arithmetic("x");
    let add = arithmetic("x + a") - nothing;
    println!("an addition takes {:.3} ns per strand", add);
    println!("{:<18} {:>9} {:>7}", "operation", "additions", "weight");
    let rows = [
        ("a + b", "x + a", Operation::Add),
        ("a * b", "x * a", Operation::Multiply),
        ("a / b", "x / a", Operation::Divide),
        ("if", "a if x < b else x", Operation::Select),
    ];
    for (name, text, operation) in rows {
        let cost = (arithmetic(text) - nothing) / add;
        println!("{name:<18} {cost:>9.1} {:>7}", rewrite::weight(operation));
    }
    for def in ELEMENTARY {
        let (function, name) = (def.function, def.name);
        // The second argument of functions of two is near 1.
        let text = if function.arity() == 2 {
            format!("{name}(x, a)")
        } else {
            format!("{name}(x)")
        };
        // Not every function can be written in a program.
        let Some(time) = try_arithmetic(&text) else {
            continue;
        };
        let weight = rewrite::weight(Operation::Apply(function));
        println!("{name:<18} {:>9.1} {weight:>7}", (time - nothing) / add);
    }
    println!(
        "\n{:<9} {:>3} {:>10} {:>5} {:>9} {:>13} {:>7}",
        "kernel", "dim", "components", "order", "additions", "per component", "weight"
    );
    for kernel in KERNELS.iter().filter(|k| !k.doc.contains("claimed")) {
        for dim in 1..=3 {
            for components in [1, 3] {
                // A field of vectors over a line has no derivative.
                let highest = if dim == 1 && components > 1 {
                    0
                } else {
                    kernel.continuity.min(2)
                };
                for order in 0..=highest as usize {
                    let cost = probe(kernel.name, dim, components, order) / add;
                    let distinct = components * choose(dim + order - 1, order);
                    let weight = rewrite::probe_weight(&vec![kernel.support; dim]);
                    println!(
                        "{:<9} {dim:>3} {components:>10} {order:>5} {cost:>9.0} {:>13.0} {weight:>7}",
                        kernel.name,
                        cost / distinct as f64
                    );
                }
            }
        }
    }
}

/// Nanoseconds for one strand to do `operation` once; `x` is the value of the chain, `a` is near 1 and `b` near 0.
fn arithmetic(operation: &str) -> f64 {
    try_arithmetic(operation).unwrap_or_else(|| panic!("`{operation}` does not compile"))
}

fn try_arithmetic(operation: &str) -> Option<f64> {
    let chains = |line: &dyn Fn(usize) -> String| (0..CHAINS).map(line).collect::<String>();
    let text = format!(
        "#version 2.0\n\
         strand S (int i) {{\n\
         {}\
         real a = 1 + real(i)*0.00001;\n\
         real b = real(i)*0.00001;\n\
         output real r = 0;\n\
         update {{\n\
         foreach (int k in 1..{ITERATIONS}) {{ {} }}\n\
         r = {}; stabilize;\n\
         }}\n\
         }}\n\
         create_array {{ S(i) | i in 1..{STRANDS} }}\n",
        chains(&|c| format!("real x{c} = 0.5 + 0.01*real(i)*{}/{STRANDS};\n", c + 1)),
        chains(&|c| {
            let value = format!("x{c}");
            let words = operation.split_inclusive(|l: char| !l.is_alphanumeric());
            let renamed = words.map(|word| match word.strip_prefix('x') {
                Some(rest) if !rest.starts_with(char::is_alphanumeric) => format!("{value}{rest}"),
                _ => word.to_string(),
            });
            format!("{value} = {}; ", renamed.collect::<String>())
        }),
        (0..CHAINS)
            .map(|c| format!("x{c}"))
            .collect::<Vec<_>>()
            .join(" + "),
    );
    let time = run(text, &[])?;
    Some(time / CHAINS as f64)
}

/// Nanoseconds for one strand to probe a derivative of a field once.
fn probe(kernel: &str, dim: usize, components: usize, order: usize) -> f64 {
    // The derivative of a field of scalars is written ∇, over a line again and again.
    let derivative = match (components, order) {
        (_, 0) => "F".to_string(),
        (1, _) if dim == 1 => format!("{}F", "∇".repeat(order)),
        (1, _) => format!("{}∇F", "∇⊗".repeat(order - 1)),
        _ => format!("{}F", "∇⊗".repeat(order)),
    };
    let voxel: &[usize] = if components == 1 { &[] } else { &[components] };
    let mut shape = voxel.to_vec();
    shape.extend(std::iter::repeat_n(dim, if dim > 1 { order } else { 0 }));
    let list = |extents: &[usize]| {
        let extents: Vec<String> = extents.iter().map(usize::to_string).collect();
        extents.join(",")
    };
    let vector = |coordinate: &str| match dim {
        1 => coordinate.to_string(),
        _ => format!("[{}]", vec![coordinate; dim].join(", ")),
    };
    let position = if dim == 1 { vec![] } else { vec![dim] };
    let zero = if shape.is_empty() {
        "0".to_string()
    } else {
        format!("zeros[{}]", list(&shape))
    };
    let program = |body: &str| {
        format!(
            "#version 2.0\n\
             field#{order}({dim})[{}] F = {kernel} ⊛ load_image(\"f.nrrd\");\n\
             strand S (int i) {{\n\
             tensor[{}] p = {};\n\
             tensor[{}] s = {zero};\n\
             output real r = 0;\n\
             update {{\n\
             foreach (int k in 1..{ITERATIONS}) {{ s = s + {body}; p = p + {}; }}\n\
             r = |s| + |p|; stabilize;\n\
             }}\n\
             }}\n\
             create_array {{ S(i) | i in 1..{STRANDS} }}\n",
            list(voxel),
            list(&position),
            vector(&format!("4 + 16*real(i)/{STRANDS}")),
            list(&shape),
            vector("0.001"),
        )
    };
    let sizes: Vec<usize> = std::iter::repeat_n(SAMPLES, dim)
        .chain((components > 1).then_some(components))
        .collect();
    let count = sizes.iter().product();
    let values = (0..count).map(|k: usize| (k * 37 % 101) as f64 / 101.0);
    let directions: Vec<Vec<f64>> = (0..dim)
        .map(|i| (0..dim).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let samples: ArrayD<f64> =
        ArrayD::from_shape_vec(sizes, values.collect()).expect("as many samples as given");
    let orientation = Orientation::new(&directions, &vec![0.0; dim]).expect("unit directions");
    let images = [ImageSource::Array(ImageArray::new(samples, orientation))];
    let with = run(program(&format!("{derivative}(p)")), &images);
    let without = run(program("s"), &images);
    match (with, without) {
        (Some(with), Some(without)) => with - without,
        _ => panic!("the program that probes {derivative} does not compile"),
    }
}

/// Nanoseconds per strand and iteration; nothing if the program does not compile.
fn run(text: String, images: &[ImageSource]) -> Option<f64> {
    let source = Source::new("costs.diderot", text);
    let options = Options::default();
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let compiled = pipeline::compile(&mut Session::default(), &source, &options).ok()?;
        let mut inputs = Inputs::of(&compiled);
        for (n, image) in images.iter().enumerate() {
            inputs.set_source(n, image.clone());
        }
        let mut running = Run::new(&compiled, &inputs, 1).unwrap_or_else(|e| panic!("{e}"));
        let start = Instant::now();
        running
            .run(None, &mut std::io::sink(), &mut [])
            .unwrap_or_else(|e| panic!("{e}"));
        best = best.min(start.elapsed());
    }
    Some(best.as_secs_f64() * 1e9 / (STRANDS * ITERATIONS) as f64)
}

fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}
