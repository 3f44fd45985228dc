//! Eigenvectors where the eigenvalues of the others coincide.

use super::{compare, derivatives};
use ein_ir::{Jet, OpDef, Shape, Tensor, random_numbers};

/// A symmetric matrix of polynomials in two coordinates: 1, x, y, x², xy and y² with these coefficients, entry by entry of the upper
/// triangle.
struct Polynomials {
    n: usize,
    coefficients: Vec<[f64; 6]>,
}

impl Polynomials {
    /// The constant part is given; the others are multiples of 1/8, so that programs have the same numbers.
    fn new(constant: &[&[f64]], seed: u64) -> Polynomials {
        let n = constant.len();
        let mut random = random_numbers(seed).map(|x| (8.0 * x).round() / 8.0);
        let entries = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
        let coefficients = entries.map(|(i, j)| {
            std::array::from_fn(|k| match k {
                0 => constant[i][j],
                _ => random.next().expect("numbers without end"),
            })
        });
        Polynomials {
            n,
            coefficients: coefficients.collect(),
        }
    }

    fn entry(&self, i: usize, j: usize) -> [f64; 6] {
        let (i, j) = (i.min(j), i.max(j));
        self.coefficients[i * self.n - i * (i + 1) / 2 + j]
    }

    /// The matrix as programs write it, of the position `x`.
    fn text(&self) -> String {
        let entry = |i: usize, j: usize| {
            let [c, x, y, xx, xy, yy] = self.entry(i, j);
            format!(
                "{c} + ({x})*x[0] + ({y})*x[1] + ({xx})*x[0]^2 + ({xy})*x[0]*x[1] + ({yy})*x[1]^2"
            )
        };
        let rows = (0..self.n).map(|i| {
            let entries: Vec<String> = (0..self.n).map(|j| entry(i, j)).collect();
            format!("[{}]", entries.join(", "))
        });
        format!("[{}]", rows.collect::<Vec<_>>().join(", "))
    }

    fn expand(&self, at: &[f64], order: usize) -> Tensor<Jet> {
        let [x, y] = [0, 1].map(|axis| Jet::variable(2, order, axis, at[axis]));
        let powers = [
            Jet::constant(2, order, 1.0),
            x.clone(),
            y.clone(),
            &x * &x,
            &x * &y,
            &y * &y,
        ];
        Tensor::from_fn(&Shape::new([self.n; 2]), |place| {
            let terms = self.entry(place[0], place[1]).into_iter().zip(&powers);
            let zero = Jet::constant(2, order, 0.0);
            terms.fold(zero, |sum, (c, power)| &sum + &power.scale(c))
        })
    }
}

/// The projector to the eigenvectors with values above a bound, or below it, by Newton's iteration for the sign of a matrix. It
/// knows nothing of single eigenvectors.
fn projector(matrix: &Tensor<Jet>, bound: f64, above: bool) -> Tensor<Jet> {
    let n = matrix.shape().dims()[0];
    let inverse = OpDef::named(&format!("inverse{n}")).expect("a row");
    let constant = |x: &Jet, value: f64| Jet::constant(x.dim(), x.order(), value);
    let diagonal = |place: &[usize]| if place[0] == place[1] { 1.0 } else { 0.0 };
    let mut sign = Tensor::from_fn(matrix.shape(), |place| {
        let entry = matrix.at(place);
        entry - &constant(entry, bound * diagonal(place))
    });
    for _ in 0..20 {
        let inverted = inverse.expected(std::slice::from_ref(&sign));
        let inverted = inverted.expect("an oracle");
        sign = Tensor::from_fn(matrix.shape(), |place| {
            (sign.at(place) + inverted.at(place)).scale(0.5)
        });
    }
    Tensor::from_fn(matrix.shape(), |place| {
        let entry = sign.at(place).scale(if above { 0.5 } else { -0.5 });
        &entry + &constant(&entry, diagonal(place) / 2.0)
    })
}

/// The projector to one eigenvector is smooth where the other eigenvalues coincide: derivatives of it to the third, as a field and
/// by a variable, at such a position and near it.
#[test]
fn projectors_are_smooth_where_the_other_eigenvalues_coincide() {
    // 1 + w⊗w and 1 − w⊗w for w = [1, 2, 2], and a matrix of two rows for each of its vectors.
    let three: [&[&[f64]]; 2] = [
        &[&[2.0, 2.0, 2.0], &[2.0, 5.0, 4.0], &[2.0, 4.0, 5.0]],
        &[&[0.0, -2.0, -2.0], &[-2.0, -3.0, -4.0], &[-2.0, -4.0, -3.0]],
    ];
    let two: &[&[f64]] = &[&[1.0, 2.0], &[2.0, -1.0]];
    let cases = [
        (three[0], 0, 5.5),
        (three[1], 2, -3.5),
        (two, 0, 0.0),
        (two, 1, 0.0),
    ];
    for (seed, (constant, k, bound)) in (1..).zip(cases) {
        let matrix = Polynomials::new(constant, seed);
        let n = matrix.n;
        let wanted = |at: &[f64]| {
            let found = projector(&matrix.expand(at, 3), bound, k == 0);
            let all = |order| -> Vec<f64> {
                let components = found.components().iter();
                components.flat_map(|x| derivatives(x, order)).collect()
            };
            vec![all(2), all(2), all(3)]
        };
        let text = format!(
            "#version 2.0
field#4(2)[{n},{n}] A(x) = {matrix};
field#4(2)[{n}] E = evecs(A)[{k}];
field#4(2)[{n},{n}] P = E⊗E;
vec2[] points = {{ POINTS }};
strand s (int i) {{
    vec2 p = points[i];
    output tensor[{n},{n},2,2] of_field = (∇⊗∇⊗P)(p);
    output tensor[{n},{n},2,2] second = of_field;
    output tensor[{n},{n},2,2,2] third = (∇⊗∇⊗∇⊗P)(p);
    update {{
        vec2 x = p;
        mat{n} m = {matrix};
        mat{n} projector = evecs(m)[{k}]⊗evecs(m)[{k}];
        tensor[{n},{n},2] first = ∂projector/∂x;
        second = ∂first/∂x;
        stabilize;
    }}
}}
create_array {{ s(i) | i in 0..3 }}
",
            matrix = matrix.text(),
        );
        let points = [
            vec![0.0, 0.0],
            vec![1e-9, 0.0],
            vec![-1e-5, 2e-5],
            vec![0.02, 0.01],
        ];
        let name = format!("the projector to vector {k} of {n}");
        compare(&name, &text, Vec::new(), &points, wanted);
    }
}
