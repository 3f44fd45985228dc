//! Probes at and beyond the edges of images: whatever the width, the instruction set and the precision, a position gives the same
//! bits, and an image without border control gives those of `clamp`.

use compiler::{
    front::source::Source,
    pipeline::{Options, Session, compile},
    run::{Inputs, Run},
};
use ndarray::{ArrayD, IxDyn};
use runtime::{
    image::{ImageArray, Orientation},
    probe::Isa,
    simd::{Float, WIDTHS},
};

/// Names of kernels, and how many derivatives their fields have.
const KERNELS: [(&str, usize); 5] = [
    ("tent", 0),
    ("ctmr", 1),
    ("bspln3", 2),
    ("bspln5", 4),
    ("c4hexic", 4),
];

const SIZES: [usize; 3] = [13, 11, 9];

/// A program that probes an image at given positions, for the value and the highest derivatives, through all kernels.
fn program(dim: usize, image: &str) -> String {
    let position = ["real", "vec2", "vec3"][dim - 1];
    let mut fields = String::new();
    let mut outputs = String::new();
    let mut updates = String::new();
    for (n, (kernel, continuity)) in KERNELS.into_iter().enumerate() {
        fields += &format!("field#{continuity}({dim})[] F{n} = {kernel} ⊛ {image};\n");
        outputs += &format!("    output real v{n} = 0;\n");
        updates += &format!("        v{n} = F{n}(at);\n");
        if continuity > 0 {
            outputs += &format!("    output {position} g{n} = 0*at;\n");
            updates += &format!("        g{n} = ∇F{n}(at);\n");
        }
        if continuity > 1 && dim > 1 {
            outputs += &format!("    output real h{n} = 0;\n");
            updates += &format!("        h{n} = ∇⊗∇F{n}(at) : (at⊗at)/(1 + at•at);\n");
        }
    }
    format!(
        "#version 2.0
input image({dim})[] img;
input {position}[] positions;
{fields}
strand probe ({position} at) {{
{outputs}
    update {{
{updates}
        stabilize;
    }}
}}
create_array {{ probe(p) | p in positions }}
"
    )
}

/// Reproducible numbers in [0, 1).
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    })
}

/// Positions in blocks of as many as run together: all of them inside, all near an edge, all far away, and mixed with samples,
/// infinities and NaN.
fn positions(dim: usize) -> Vec<f64> {
    let mut random = noise(5);
    let mut positions = Vec::new();
    for block in 0..24 {
        let near: Vec<f64> = SIZES[..dim]
            .iter()
            .map(|&n| random.next().unwrap_or(0.0) * n as f64)
            .collect();
        for lane in 0..16 {
            for axis in 0..dim {
                let (r, n) = (random.next().unwrap_or(0.0), SIZES[axis] as f64);
                positions.push(match block % 6 {
                    0 => 3.0 + r * (n - 7.0),
                    1 => near[axis] + r - 0.5,
                    2 => 4.0 * r - 2.0 + if block % 4 < 2 { 0.0 } else { n - 1.0 },
                    3 => (r - 0.5) * 1e5,
                    4 => (r * (n + 2.0)).floor() - 1.0,
                    _ => match (lane + 3 * axis) % 8 {
                        0 => f64::NAN,
                        1 => f64::INFINITY,
                        2 => f64::NEG_INFINITY,
                        3 => -0.0,
                        4 => n - 1.0,
                        5 => 1e30,
                        _ => r * n,
                    },
                });
            }
        }
    }
    positions
}

/// The bits of all outputs.
fn run(text: &str, dim: usize, options: &Options) -> Vec<Vec<u64>> {
    let source = Source::new("borders.diderot", text);
    let program = compile(&mut Session::default(), &source, options);
    let program = program.unwrap_or_else(|stopped| panic!("{stopped:?}"));
    let mut inputs = Inputs::of(&program);
    let shape: Vec<usize> = SIZES[..dim].iter().rev().copied().collect();
    let count = shape.iter().product();
    let samples: Vec<f64> = noise(9).take(count).map(|x| x - 0.5).collect();
    let samples = ArrayD::from_shape_vec(IxDyn(&shape), samples).expect("samples");
    let image = ImageArray::new(samples, Orientation::identity(dim));
    inputs.set_image("img", image).expect("an image");
    inputs.set("positions", positions(dim)).expect("positions");
    let mut running = Run::new(&program, &inputs, 1).expect("strands");
    running
        .run(None, &mut std::io::sink(), &mut [])
        .expect("an end");
    let outputs = running.outputs().expect("strands");
    let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let numbers = outputs.iter().map(|output| output.numbers());
    numbers
        .map(|values| values.into_iter().map(bits).collect())
        .collect()
}

fn check<T: Float>(dim: usize) {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let mut alone = None;
        for width in WIDTHS {
            let options = Options {
                double: T::EPSILON.to_f64() < 1e-10,
                width: Some(width),
                isa: Some(isa),
                ..Options::default()
            };
            let unsaid = run(&program(dim, "img"), dim, &options);
            let clamped = run(&program(dim, "clamp(img)"), dim, &options);
            assert!(unsaid == clamped, "{isa:?} {width}: {dim} axes");
            // Values where all coordinates are numbers are numbers, and others are not.
            for (n, &value) in unsaid[0].iter().enumerate() {
                let at = &positions(dim)[n * dim..(n + 1) * dim];
                let is_nan = at.iter().any(|x| x.is_nan());
                assert_eq!(value == u64::MAX, is_nan, "{isa:?} {width} at {at:?}");
            }
            let alone = alone.get_or_insert_with(|| unsaid.clone());
            assert!(*alone == unsaid, "{isa:?} {width}: {dim} axes");
        }
    }
}

#[test]
fn lines_give_the_same_bits_everywhere() {
    check::<f32>(1);
    check::<f64>(1);
}

#[test]
fn planes_give_the_same_bits_everywhere() {
    check::<f32>(2);
    check::<f64>(2);
}

#[test]
fn volumes_give_the_same_bits_everywhere() {
    check::<f32>(3);
    check::<f64>(3);
}
