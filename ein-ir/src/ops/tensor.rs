//! Rows of tensor algebra: norms, products, matrices, and how tensors are built and taken apart.

use super::{
    Domain, Form as EinForm, Level, Meaning, OpDef, Oracle, PLAIN, POINTWISE, Syntax, spelling,
};
use crate::tensor::{gauss_jordan, leibniz};
use crate::{Jet, Shape, Tensor};
use Level::{Atom, Product, Suffix};
use Syntax::{Call, Form, Infix};

const NORM: &[Syntax] = &[Form(spelling::NORM, "|a|", Atom), Call("norm")];
const DOT: &[Syntax] = &[
    Infix("•", Product),
    Infix("⋅", Product),
    Infix("\\dot", Product),
    Call("dot"),
];
const CROSS: &[Syntax] = &[
    Infix("×", Product),
    Infix("\\cross", Product),
    Call("cross"),
];
const OUTER: &[Syntax] = &[
    Infix("⊗", Product),
    Infix("\\otimes", Product),
    Call("outer"),
];
const CONCAT: &[Syntax] = &[Form(spelling::CONCAT, "[a, b, …]", Atom), Call("concat")];

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    OpDef {
        name: "norm",
        syntax: NORM,
        sig: "[n α] -> []",
        meaning: Meaning::Ein("sqrt(Σ k:n. Σ β:α. a[k β] a[k β])"),
        domain: &[(0, Domain::NonZero)],
        oracle: Oracle::Components(|x| Tensor::scalar(length(&x[0]))),
        doc: "Frobenius norm: the root of the sum of squares",
        ..POINTWISE
    },
    OpDef {
        name: "inner",
        syntax: DOT,
        sig: "[α n] [n β] -> [α β]",
        meaning: Meaning::Ein("α β | Σ k:n. a[α k] b[k β]"),
        oracle: Oracle::Components(|x| contract(&x[0], &x[1], 1)),
        doc: "inner product: last axis with first axis",
        ..POINTWISE
    },
    OpDef {
        name: "colon",
        syntax: &[Infix(":", Product)],
        sig: "[α n m] [n m β] -> [α β]",
        meaning: Meaning::Ein("α β | Σ k:n. Σ l:m. a[α k l] b[k l β]"),
        oracle: Oracle::Components(|x| contract(&x[0], &x[1], 2)),
        doc: "double inner product: last two axes with first two, in the same order",
        ..POINTWISE
    },
    OpDef {
        name: "outer",
        syntax: OUTER,
        sig: "[α] [β] -> [α β]",
        meaning: Meaning::Ein("α β | a[α] b[β]"),
        oracle: Oracle::Components(|x| contract(&x[0], &x[1], 0)),
        doc: "tensor product",
        ..POINTWISE
    },
    OpDef {
        name: "cross3",
        syntax: CROSS,
        sig: "[3] [3] -> [3]",
        meaning: Meaning::Ein("i:3 | Σ j:3. Σ k:3. ε[i j k] a[j] b[k]"),
        oracle: Oracle::Components(|x| Tensor::from_fn(&Shape::new([3]), |i| {
            let (j, k) = ((i[0] + 1) % 3, (i[0] + 2) % 3);
            &(&x[0][[j]] * &x[1][[k]]) - &(&x[0][[k]] * &x[1][[j]])
        })),
        doc: "cross product",
        ..POINTWISE
    },
    OpDef {
        name: "cross2",
        syntax: CROSS,
        sig: "[2] [2] -> []",
        meaning: Meaning::Ein("Σ i:2. Σ j:2. ε[i j] a[i] b[j]"),
        oracle: Oracle::Components(|x| Tensor::scalar(&(&x[0][[0]] * &x[1][[1]]) - &(&x[0][[1]] * &x[1][[0]]))),
        doc: "cross product in the plane: a₀b₁ − a₁b₀",
        ..POINTWISE
    },
    OpDef {
        name: "modulate",
        syntax: &[Call("modulate")],
        sig: "[n] [n] -> [n]",
        meaning: Meaning::Ein("i:n | a[i] b[i]"),
        oracle: Oracle::Components(|x| Tensor::from_fn(x[0].shape(), |i| x[0].at(i) * x[1].at(i))),
        doc: "product of vectors, component by component",
        ..POINTWISE
    },
    OpDef {
        name: "normalize",
        syntax: &[Call("normalize")],
        sig: "[n α] -> [n α]",
        meaning: Meaning::Ein("i:n α | a[i α] / sqrt(Σ k:n. Σ β:α. a[k β] a[k β])"),
        domain: &[(0, Domain::NonZero)],
        oracle: Oracle::Components(|x| {
            let length = length(&x[0]);
            x[0].map(|c| c / &length)
        }),
        doc: "divided by its norm; not defined for zero",
        ..POINTWISE
    },
    OpDef {
        name: "trace",
        syntax: &[Call("trace")],
        sig: "[α n n] -> [α]",
        meaning: Meaning::Ein("α | Σ k:n. a[α k k]"),
        oracle: Oracle::Components(trace),
        doc: "sum of the diagonal of the last two axes",
        ..POINTWISE
    },
    OpDef {
        name: "transpose",
        syntax: &[Call("transpose")],
        sig: "[n m] -> [m n]",
        meaning: Meaning::Ein("i:m j:n | a[j i]"),
        oracle: Oracle::Components(transpose),
        doc: "rows and columns of a matrix exchanged",
        ..POINTWISE
    },
    OpDef {
        name: "det2",
        syntax: &[Call("det")],
        sig: "[2 2] -> []",
        meaning: Meaning::Ein("Σ i:2. Σ j:2. ε[i j] a[0 i] a[1 j]"),
        oracle: Oracle::Components(|x| Tensor::scalar(leibniz(&x[0]))),
        doc: "determinant",
        ..POINTWISE
    },
    OpDef {
        name: "det3",
        syntax: &[Call("det")],
        sig: "[3 3] -> []",
        meaning: Meaning::Ein("Σ i:3. Σ j:3. Σ k:3. ε[i j k] a[0 i] a[1 j] a[2 k]"),
        oracle: Oracle::Components(|x| Tensor::scalar(leibniz(&x[0]))),
        doc: "determinant",
        ..POINTWISE
    },
    OpDef {
        name: "inverse1",
        syntax: &[Call("inv")],
        sig: "[] -> []",
        meaning: Meaning::Ein("1 / a"),
        domain: &[(0, Domain::NonZero)],
        oracle: Oracle::Components(|x| x[0].map(|c| c.powi(-1))),
        doc: "reciprocal",
        ..POINTWISE
    },
    OpDef {
        name: "inverse2",
        syntax: &[Call("inv")],
        sig: "[2 2] -> [2 2]",
        meaning: Meaning::Ein(
            "i:2 j:2 | (Σ p:2. Σ q:2. ε[j p] ε[i q] a[p q]) / (Σ p:2. Σ q:2. ε[p q] a[0 p] a[1 q])",
        ),
        domain: &[(0, Domain::NonZeroDet)],
        oracle: Oracle::Components(|x| gauss_jordan(&x[0])),
        doc: "inverse matrix",
        ..POINTWISE
    },
    OpDef {
        name: "inverse3",
        syntax: &[Call("inv")],
        sig: "[3 3] -> [3 3]",
        meaning: Meaning::Ein(
            "i:3 j:3 | (Σ p:3. Σ q:3. Σ r:3. Σ s:3. ε[j p q] ε[i r s] a[p r] a[q s]) \
             / (2 (Σ p:3. Σ q:3. Σ r:3. ε[p q r] a[0 p] a[1 q] a[2 r]))",
        ),
        domain: &[(0, Domain::NonZeroDet)],
        oracle: Oracle::Components(|x| gauss_jordan(&x[0])),
        doc: "inverse matrix",
        ..POINTWISE
    },
    OpDef {
        name: "concat",
        syntax: CONCAT,
        sig: "n×[α] -> [n α]",
        meaning: Meaning::Form(EinForm::Concat),
        oracle: Oracle::Components(concat),
        doc: "a tensor or field from its parts, along a new first axis",
        ..POINTWISE
    },
    OpDef {
        name: "slice",
        syntax: &[Form(spelling::SLICE, "a[0,:]", Suffix)],
        sig: "[α] -> [β]",
        meaning: Meaning::Form(EinForm::Slice),
        doc: "a component or a part; indices are constants, `:` keeps an axis",
        ..POINTWISE
    },
    OpDef {
        name: "identity",
        syntax: &[Form(spelling::IDENTITY, "identity[3]", Atom)],
        sig: "-> [n n]",
        meaning: Meaning::Ein("i:n j:n | δ[i j]"),
        doc: "identity matrix",
        ..PLAIN
    },
    OpDef {
        name: "zeros",
        syntax: &[Form(spelling::ZEROS, "zeros[2,3]", Atom)],
        sig: "-> [α]",
        meaning: Meaning::Ein("α | 0"),
        doc: "tensor of zeros",
        ..PLAIN
    },
];

pub(super) fn length(x: &Tensor<Jet>) -> Jet {
    let first = &x.components()[0];
    let zero = Jet::constant(first.dim(), first.order(), 0.0);
    let squares = x.components().iter().fold(zero, |sum, c| &sum + &c.powi(2));
    root(&squares)
}

/// The square root by Newton's iteration, which doubles the number of right coefficients.
fn root(square: &Jet) -> Jet {
    let mut root = Jet::constant(square.dim(), square.order(), square.value().sqrt());
    for _ in 0..=square.order() {
        root = (&root + &(square / &root)).scale(0.5);
    }
    root
}

/// Sums the products of components over the last `axes` axes of `a` and the first ones of `b`.
fn contract(a: &Tensor<Jet>, b: &Tensor<Jet>, axes: usize) -> Tensor<Jet> {
    let kept = a.shape().order() - axes;
    let summed = Shape::from(&a.shape().dims()[kept..]);
    let shape = Shape::from(&a.shape().dims()[..kept]).append(&b.shape().dims()[axes..]);
    Tensor::from_fn(&shape, |i| {
        let products = summed.indices().map(|k| {
            let (left, right) = ([&i[..kept], &k].concat(), [&k, &i[kept..]].concat());
            a.at(&left) * b.at(&right)
        });
        products
            .reduce(|sum, product| &sum + &product)
            .expect("shapes are not empty")
    })
}

pub(super) fn trace(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let dims = x[0].shape().dims();
    let kept = dims.len() - 2;
    Tensor::from_fn(&Shape::from(&dims[..kept]), |i| {
        let diagonal = (0..dims[kept]).map(|k| x[0].at(&[i, &[k, k]].concat()).clone());
        diagonal
            .reduce(|sum, c| &sum + &c)
            .expect("extents are positive")
    })
}

fn transpose(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let dims = x[0].shape().dims();
    Tensor::from_fn(&Shape::new([dims[1], dims[0]]), |i| {
        x[0][[i[1], i[0]]].clone()
    })
}

fn concat(x: &[Tensor<Jet>]) -> Tensor<Jet> {
    let shape = Shape::new([x.len()]).append(x[0].shape().dims());
    let components = x.iter().flat_map(|part| part.components().to_vec());
    Tensor::new(shape, components.collect())
}
