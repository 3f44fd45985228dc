//! Eigenvalues and eigenvectors as fields, with derivatives: programs against the roots of the characteristic polynomial and
//! the cofactors of A − λ, expanded as Taylor series.
//!
//! The images are polynomials that the kernel reproduces, so that only rounding is left. The sign of an eigenvector is
//! arbitrary, so every eigenvector occurs twice in the compared expressions.

mod coincidence;
#[path = "../stages/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod stages;

use compiler::{
    front::{self, source::Source},
    run::ImageSource,
};
use ein_ir::{Jet, LeafField, OpDef, PolynomialField, Shape, Tensor, ops::Domain, random_numbers};
use ndarray::{ArrayD, IxDyn};
use runtime::image::{ImageArray, Orientation};
use stages::{Case, DOUBLE};

/// Samples along each axis: two more on each side than positions need.
const SAMPLES: usize = 10;
/// How far apart eigenvalues are at the positions; nearer, rounding would count.
const GAP: f64 = 0.2;

/// A grid that is neither aligned with the axes of the world nor square.
fn grid(dim: usize) -> Orientation {
    let directions: Vec<Vec<f64>> = (0..dim)
        .map(|axis| {
            (0..dim)
                .map(|k| match k == axis {
                    true => 0.25 + 0.05 * axis as f64,
                    false => 0.03 * (axis as f64 - k as f64),
                })
                .collect()
        })
        .collect();
    Orientation::new(&directions, &vec![-1.2; dim]).expect("a grid")
}

/// The image of a polynomial.
fn image(field: &PolynomialField) -> ImageSource {
    let (dim, orientation) = (field.dim(), grid(field.dim()));
    let extents = [&vec![SAMPLES; dim][..], field.shape().dims()].concat();
    let mut samples = Vec::new();
    for mut place in Shape::new(vec![SAMPLES; dim]).indices() {
        // The fastest axis of the array is the first one of the image.
        place.reverse();
        let index: Vec<f64> = place.iter().map(|&i| i as f64).collect();
        let at = orientation.to_world(&index);
        samples.extend(field.expand(&at, 0).iter().map(Jet::value));
    }
    let samples = ArrayD::from_shape_vec(IxDyn(&extents), samples).expect("samples");
    ImageSource::Array(ImageArray::new(samples, orientation))
}

/// The eigensystem of a matrix of jets, by the oracles of the operator table.
fn system(matrix: &Tensor<Jet>) -> (Vec<Jet>, Vec<Vec<Jet>>) {
    let n = matrix.shape().dims()[0];
    let part = |name: &str| {
        let row = OpDef::named(&format!("{name}{n}")).expect("a row");
        let found = row.expected(std::slice::from_ref(matrix));
        found.expect("an oracle").components().to_vec()
    };
    let vectors = part("evecs").chunks(n).map(<[Jet]>::to_vec).collect();
    (part("evals"), vectors)
}

/// Positions in the middle of the image at which the matrix that `expand` gives has its eigenvalues apart.
fn positions(dim: usize, expand: impl Fn(&[f64]) -> Tensor<Jet>) -> Vec<Vec<f64>> {
    let center = grid(dim).to_world(&vec![(SAMPLES as f64 - 1.0) / 2.0; dim]);
    let candidates = (1..200).map(|seed| -> Vec<f64> {
        let offsets = random_numbers(seed).take(dim);
        center
            .iter()
            .zip(offsets)
            .map(|(c, x)| c + 0.3 * x)
            .collect()
    });
    let apart =
        |at: &Vec<f64>| Domain::DistinctEigenvalues.margin(&expand(at).map(Jet::value)) > GAP;
    let found: Vec<Vec<f64>> = candidates.filter(apart).take(5).collect();
    assert_eq!(found.len(), 5, "positions with distinct eigenvalues");
    found
}

/// Runs a program with the positions in the place of `POINTS`: all stages and the machine code must agree with each other, and
/// the outputs with the values `wanted` at every position.
fn compare(
    name: &str,
    text: &str,
    images: Vec<ImageSource>,
    points: &[Vec<f64>],
    wanted: impl Fn(&[f64]) -> Vec<Vec<f64>>,
) {
    // In one dimension a position is a number.
    let point = |point: &Vec<f64>| {
        let coordinates: Vec<String> = point.iter().map(f64::to_string).collect();
        match &coordinates[..] {
            [x] => x.clone(),
            _ => format!("[{}]", coordinates.join(", ")),
        }
    };
    let list: Vec<String> = points.iter().map(point).collect();
    let mut case = Case::new(Source::new(name, text.replace("POINTS", &list.join(", "))));
    case.images = images;
    let agreed = case.stages_agree();
    let wanted: Vec<Vec<Vec<f64>>> = points.iter().map(|at| wanted(at)).collect();
    for (k, (output, found)) in agreed.1.outputs.iter().enumerate() {
        let wanted: Vec<f64> = wanted.iter().flat_map(|all| all[k].clone()).collect();
        assert_eq!(found.len(), wanted.len(), "{name}: `{output}`");
        for (f, w) in found.iter().zip(&wanted) {
            assert!(
                (f - w).abs() <= DOUBLE * (1.0 + w.abs()),
                "{name}: `{output}` is {found:?}, wanted {wanted:?}"
            );
        }
    }
    case.machine_code_agrees(&agreed, 0);
}

/// All derivatives of this order, row-major.
fn derivatives(jet: &Jet, order: usize) -> Vec<f64> {
    // Not by a shape, which would have no axes in one dimension.
    let axis = |flat: usize, k: usize| flat / jet.dim().pow(k as u32) % jet.dim();
    (0..jet.dim().pow(order as u32))
        .map(|flat| {
            let axes: Vec<usize> = (0..order).map(|k| axis(flat, k)).collect();
            jet.partial(&axes)
        })
        .collect()
}

/// Eigenvalues of a Hessian with gradients and Hessians, and the slope along the last eigenvector.
#[test]
fn ridges_and_valleys_of_a_polynomial() {
    for dim in [2, 3] {
        let last = dim - 1;
        let field = PolynomialField::random(dim, Shape::SCALAR, 3, 5 + dim as u64);
        let hessian = |at: &[f64], order: usize| {
            let f = &field.expand(at, order + 2)[0];
            Tensor::from_fn(&Shape::new([dim, dim]), |i| {
                f.derivative(i[0]).derivative(i[1])
            })
        };
        let wanted = |at: &[f64]| {
            let f = &field.expand(at, 3)[0];
            let (values, vectors) = system(&hessian(at, 2));
            let zero = Jet::constant(dim, 2, 0.0);
            let slope = (0..dim).fold(zero, |sum, i| {
                &sum + &(&vectors[last][i] * &f.derivative(i))
            });
            let of_values = |order| values.iter().flat_map(move |x| derivatives(x, order));
            let of_slope = |order| {
                let all = derivatives(&slope, order).into_iter();
                all.map(|x| slope.value() * x).collect()
            };
            vec![
                of_values(0).collect(),
                of_values(1).collect(),
                of_values(2).collect(),
                of_slope(0),
                of_slope(1),
                of_slope(2),
            ]
        };
        let each = |what: &str| -> String {
            let list: Vec<String> = (0..dim)
                .map(|k| what.replace('K', &k.to_string()))
                .collect();
            list.join(", ")
        };
        let text = format!(
            "#version 2.0
field#4({dim})[] F = c4hexic ⊛ load_image(\"f.nrrd\");
field#2({dim})[{dim},{dim}] H = ∇⊗∇F;
field#2({dim})[{dim}] L = [{}];
field#2({dim})[] C = evecs(H)[{last}]•∇F;
vec{dim}[] points = {{ POINTS }};
strand s (int i) {{
    vec{dim} p = points[i];
    output vec{dim} values = L(p);
    output mat{dim} gradients = ∇⊗L(p);
    output tensor[{dim},{dim},{dim}] hessians = [{}];
    output real slope = C(p)*C(p);
    output vec{dim} gradient = C(p)*∇C(p);
    output mat{dim} hessian = C(p)*∇⊗∇C(p);
    update {{ stabilize; }}
}}
create_array {{ s(i) | i in 0..4 }}
",
            each("evals(H)[K]"),
            each("(∇⊗∇(evals(H)[K]))(p)"),
        );
        let points = positions(dim, |at| hessian(at, 0));
        let name = format!("a polynomial in {dim} dimensions");
        compare(&name, &text, vec![image(&field)], &points, wanted);
    }
}

/// Only the upper triangle of a matrix counts, in domains of every dimension: derivatives of its eigenvalues and eigenvectors.
#[test]
fn images_of_matrices_that_are_not_symmetric() {
    for (dim, n) in [(1, 3), (2, 3), (3, 2)] {
        let shape = Shape::new([n, n]);
        let field = PolynomialField::random(dim, shape.clone(), 3, 40 + dim as u64);
        let expand = |at: &[f64]| Tensor::new(shape.clone(), field.expand(at, 1));
        let wanted = |at: &[f64]| {
            let (values, vectors) = system(&expand(at));
            let first = &vectors[0];
            let turning = |a: &Jet| {
                let a = a.value();
                let all = first.iter().flat_map(|b| derivatives(b, 1));
                all.map(|b| a * b).collect::<Vec<f64>>()
            };
            vec![
                derivatives(&values[1], 1),
                first.iter().flat_map(turning).collect(),
            ]
        };
        let (position, axes) = match dim {
            1 => ("real".to_owned(), [String::new(), format!("{n},{n}")]),
            _ => (
                format!("vec{dim}"),
                [dim.to_string(), format!("{n},{n},{dim}")],
            ),
        };
        let text = format!(
            "#version 2.0
field#4({dim})[{n},{n}] M = c4hexic ⊛ load_image(\"m.nrrd\");
field#4({dim})[] L = evals(M)[1];
field#4({dim})[{n}] E = evecs(M)[0];
{position}[] points = {{ POINTS }};
strand s (int i) {{
    {position} p = points[i];
    output tensor[{}] gradient = ∇L(p);
    output tensor[{}] turning = E(p)⊗(∇⊗E)(p);
    update {{ stabilize; }}
}}
create_array {{ s(i) | i in 0..4 }}
",
            axes[0], axes[1],
        );
        let points = positions(dim, expand);
        let name = format!("{n}×{n} matrices in {dim} dimensions");
        compare(&name, &text, vec![image(&field)], &points, wanted);
    }
}

/// A field function whose eigensystem has no closed form in the position needs code; the message names the obstacle.
#[test]
fn what_has_no_closed_form_is_said_at_its_place() {
    let text = "#version 2.0
input int k = 0;
field#2(2)[] E(x) = evals([[x[0], 1], [1, x[1]]])[k];
strand s (int i) { output real y = 0; update { y = E([i, 1]) + |∇E([i, 1])|; stabilize; } }
create_array { s(i) | i in 0..9 }
";
    let source = Source::new("p.diderot", text);
    let found = front::check(&source, &front::CheckOptions::default()).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].message, "`E` as a field cannot be run yet");
    assert_eq!(
        found[0].labels[0].1,
        "it has an index that is not a constant"
    );
}
